-- Tools cost little for large inputs: memory for each row of a report, time for each event of a
-- recording.
local builder = require "spec.support.builder"
local run = require "spec.cli.run"

-- The sanitizers take memory and time of their own: nothing is asserted of them.
local sanitized = run.binary:find("/san/", 1, true) ~= nil

-- Runs a tool; says what it took: kB of memory, seconds of the processor, and how many lines it
-- wrote.
local script = run.script [[
local name, path, lines = arg[1], arg[2], 0
local words = { path }
for i = 3, #arg do words[#words + 1] = "--" .. arg[i] end
local out = io.tmpfile()
local tools = require "perflua.tools"
local args = assert(tools.parse(tools.find(name), words))
local status, message = tools.run(name, tools.find(name), args, out)
assert(not message, message)
out:seek "set"
for text in function() return out:read(65536) end do
  lines = lines + select(2, text:gsub("\n", ""))
end
print(require "spec.support.peak"(), os.clock(), lines)
]]

local function cost_of(...)
  local got = run.perflua { script, ... }
  assert.are.equal("", got.err)
  local kb, seconds, lines = got.out:match "^(%d+)\t(%S+)\t(%d+)\n$"
  return tonumber(kb), tonumber(seconds), tonumber(lines)
end

local ROWS = 100000
local MB_OF_MILLION = 300

--- Samples at ROWS addresses of a binary that is not here; with callers, of a thousand
--- functions.
local function of_rows(callers)
  local b = builder.new()
  local parts = { "ip", "tid", "time", "id", "period", callers and "callchain" or nil }
  b:event { name = "cycles", sample_type = parts, ids = { 100 } }
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x40000000, prot = 5,
    filename = "/nowhere/a.out" },
    { time = 2 })
  local format = "<I4I2I2 I8I4I4I8I8I8" .. (callers and "I8I8I8I8" or "")
  local size, list = string.packsize(format), {}
  for i = 1, ROWS do
    local ip = 0x400000 + i * 7919 % ROWS * 64
    list[i] = callers
      and format:pack(9, 2, size, ip, 7, 7, 1000 + i, 100, 1 + i % 1000, 3, -512, ip,
        0x400008 + i % 1000 * 16)
      or format:pack(9, 2, size, ip, 7, 7, 1000 + i, 100, 1 + i % 1000)
  end
  b.stream[#b.stream + 1] = { bytes = table.concat(list), extra = "" }
  return b:write()
end

describe("a report of very many rows", function()
  for _, callers in ipairs { false, true } do
    local path = of_rows(callers)
    for _, options in ipairs { { "percent-limit=0" }, { "csv" }, { "json" },
        { "sort=time,pid,ip" } } do
      local title = table.concat(options, " ") .. (callers and " with callers" or "")
      it("needs 300 MB for a million: " .. title, function()
        local kb, _, lines = cost_of("report", path, table.unpack(options))
        assert.is_true(options[1] == "json" or lines >= ROWS, lines .. " lines")
        -- 16 MB whatever it reads
        local most = (16 + MB_OF_MILLION * ROWS / 1000000) * 1024
        assert.is_true(sanitized or kb <= most, kb .. " kB")
      end)
    end
  end
end)

describe("a recording of 20 000 events", function()
  local EVENTS, FEWER = 20000, 5000
  -- Times the processor time of FEWER, at most: a little more than three on any machine, and
  -- sixteen or more if each event looks at all others.
  local MOST = 8

  local function recording(container, n)
    local b, events = builder.new { container = container, event_desc = container == "file" },
      {}
    for i = 1, n do
      events[i] = b:event {
        name = "event" .. i, type = 1, config = i, ids = { i },
        sample_type = { "ip", "tid", "time", "id", "period" },
      }
    end
    b:record("comm", { pid = 7, tid = 7, comm = "task" }, { time = 1, event = events[1] })
    for i = 1, n do
      b:sample(events[i], { ip = 0x400000 + i, pid = 7, tid = 7, time = 1000 + i, id = i,
        period = 1 })
    end
    return b:write()
  end

  for _, container in ipairs { "file", "pipe" } do
    local path, small = recording(container, EVENTS), recording(container, FEWER)
    for _, tool in ipairs { "doctor", "report", "fields" } do
      it(("costs %s little (%s)"):format(tool, container), function()
        local _, seconds, lines = cost_of(tool, path)
        local _, of_fewer = cost_of(tool, small)
        assert.is_true(lines > 5)
        assert.is_true(seconds <= MOST * of_fewer, ("%.2f s, %.2f s of a quarter of the events")
          :format(seconds, of_fewer))
      end)
    end
  end

  it("shows the fields of the first thousand with samples, and counts the others", function()
    local b = builder.new()
    for i = 1, 1003 do
      local event = b:event { name = "event" .. i, ids = { i },
        sample_type = { "ip", "tid", "time", "id" } }
      b:sample(event, { ip = i, pid = 7, tid = 7, time = i, id = i })
    end
    local got = run.perflua { "fields", b:write() }
    assert.are.same({ 0, "" }, { got.status, got.err })
    assert.matches("\nsample of event1000: 1 record\n", got.out)
    assert.is_nil(got.out:find("event1001", 1, true))
    assert.matches("\nand 3 more events, which perflua stat lists: 3 records\n", got.out)
    assert.matches("\nevery record: 1003 records\n", got.out)
  end)
end)
