-- core.health() counts records that came too late for their round.
local core = require "perflua.core"
local files = require "spec.support.files"
local helper = require "spec.support.health"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local health, one_event, samples_at = helper.of, helper.one_event, helper.samples_at
local START, MS = helper.START, 1000000

local function late(times)
  local b, event = one_event()
  samples_at(b, event, times)
  return health(b).order
end

describe("records that come too late for perf", function()
  it("are none within a round, nor in the one after it", function()
    assert.are.equal(0, late({ 5, 3, 4, 1 }).late)
    assert.are.equal(0, late({ 5, "round", 3, "round", 6 }).late)
    assert.are.equal(0, late({ 5, "round", 1, 2, 7 }).late)
  end)

  it("are those before what the rounds have delivered", function()
    -- the second round delivers up to 5, and the last of those is 5
    local order = late { 5, "round", 8, "round", 4, 6, 1 }
    assert.are.equal(2, order.late)
    assert.are.equal(4 * MS, order.worst)
    assert.are.equal(START + 4 * MS, order.first)
    assert.are.equal(0, late({ 5, "round", 8, "round", 5, 6 }).late)
  end)

  it("are judged by what was delivered, which can be earlier than the limit", function()
    -- round 3 delivers the 8; the late 2 alone is what round 4 delivers, and 7 is not late any
    -- more
    assert.are.equal(2, late({ 5, "round", 8, "round", "round", 2, 7, "round", "round",
      7 }).late)
    assert.are.equal(1, late({ 5, "round", 8, "round", "round", 2, "round", 7 }).late)
  end)

  it("do not count rounds in which nothing came", function()
    assert.are.equal(0, late({ 5, "round", "round", "round", 6, "round", 5 }).late)
  end)

  it("are records of all types of the kernel that have a time", function()
    local b, event = one_event()
    samples_at(b, event, { 5, "round", 8, "round" })
    b:record("comm", { pid = 1, tid = 1, comm = "late" }, { time = START })
    b:record("comm", { pid = 1, tid = 1, comm = "made by perf" })
    assert.are.equal(1, health(b).order.late)
  end)

  it("are sorted by the time in the trailer, as perf sorts them", function()
    local b, event = one_event()
    samples_at(b, event, { 5, "round", 8, "round" })
    b:record("throttle", { time = START, id = 100 }, { time = START + 6 * MS })
    b:record("throttle", { time = START + 6 * MS, id = 100 }, { time = START })
    assert.are.equal(1, health(b).order.late)
  end)

  needs.it("perf", "are what perf counts", function()
    local seed = 7
    local function random(n)
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed // 65536 % n
    end
    local total = 0
    for _ = 1, 6 do
      local b, event = one_event()
      local base = 1
      for _ = 1, 60 do
        base = base + random(4)
        samples_at(b, event, random(5) == 0 and { "round" } or { base + random(12) })
      end
      local path = b:write()
      local text =
        files.output(
          "perf script -f -F time --symfs=spec/fixtures/empty --kallsyms=/dev/null -i " .. path
        .. " 2>&1 >/dev/null")
      local theirs = tonumber(text:match "(%d+) out of order events" or 0)
      local file <close> = assert(perflua.open(path))
      assert.are.equal(theirs, core.health(file).order.late)
      total = total + theirs
    end
    assert.is_true(total > 0)
  end)
end)
