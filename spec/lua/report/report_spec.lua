-- The report as a module: rows as a Table, events that are not added together, callers once in
-- a sample.
local builder = require "spec.support.builder"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local model = require "spec.support.model.report"
local report = require "perflua.report"

-- A recording of these samples: { event, comm, pid, cpu, period }.
local function recording(samples)
  local b = builder.new()
  local events = {}
  for i, name in ipairs { "cycles", "faults" } do
    events[name] = b:event { name = name,
      sample_type = { "ip", "tid", "time", "id", "cpu", "period" }, ids = { i } }
  end
  local named = {}
  for i, s in ipairs(samples) do
    local event, comm, pid, cpu, period = table.unpack(s)
    if not named[pid] then
      b:record("comm", { pid = pid, tid = pid, comm = comm },
        { pid = pid, tid = pid, time = 1, cpu = 0, id = 1 })
      named[pid] = true
    end
    b:sample(events[event], { ip = 4096, pid = pid, tid = pid, time = 10 + i, cpu = cpu,
      period = period })
  end
  return perflua.open(b:write())
end

local samples = {
  { "cycles", "sh", 1, 0, 100 }, { "cycles", "cat", 2, 1, 250 }, { "faults", "sh", 1, 0, 7 },
  { "cycles", "sh", 1, 1, 50 }, { "cycles", "cat", 3, 1, 100 },
}

-- With all rows of each event as its values.
local function read(file, options, shown)
  return model.read(report.prepare(file, options), shown)
end

-- The rows of an event as lists.
local function rows_of(event)
  local rows = {}
  for r = 1, event.n do
    rows[r] = {}
    for c, values in ipairs(event.values) do rows[r][c] = values[r] end
  end
  return rows
end

describe("a report", function()
  it("adds up samples and periods by the fields that are asked for, of each event by "
    .. "itself", function()
    local result = read(recording(samples), { sort = { "comm" } })
    assert.are.equal(2, #result.events)
    local cycles, faults = table.unpack(result.events)
    assert.are.same({ "cycles", 4, 500 }, { cycles.event, cycles.samples, cycles.period })
    assert.are.same({ "faults", 1, 7 }, { faults.event, faults.samples, faults.period })
    assert.are.same({ { "cat", 2, 350 }, { "sh", 2, 150 } }, rows_of(cycles))
  end)

  it("has the samples that pass the conditions", function()
    local result = read(recording(samples),
      { sort = { "tgid" }, where = { "cpu == 1", "period > 60" } })
    assert.are.same({ 1, 2, { 2, 3 } },
      { #result.events, result.events[1].n, result.events[1].values[1] })
  end)

  it("does not add an event's samples to those of another of its name", function()
    local b = builder.new()
    for i = 1, 2 do
      local event = b:event { name = "cycles",
        sample_type = { "ip", "tid", "time", "id", "period" }, ids = { i } }
      b:sample(event, { ip = 1, pid = 1, tid = 1, time = i, period = 10 * i })
    end
    local result = read(perflua.open(b:write()), { sort = { "pid" } })
    assert.are.same({ 10, 20 }, { result.events[1].period, result.events[2].period })
  end)

  it("raises a sum that is too large for an integer", function()
    local list = {}
    for i = 1, 129 do list[i] = { "cycles", "sh", 1, 0, (1 << 56) - 1 } end
    assert.error_matches(function() read(recording(list), { sort = { "pid" } }) end, "2%^63")
  end)

  it("sets samples aside whose period is damage, and says how many", function()
    for _, huge in ipairs { 1 << 56, math.maxinteger, math.mininteger, -1 } do
      local file = recording {
        { "cycles", "sh", 1, 0, huge }, { "cycles", "sh", 1, 0, 5 },
        { "cycles", "a", 2, 0, huge },
      }
      for _, interpreted in ipairs { false, true } do
        local prepared = report.prepare(file, { sort = { "pid" } })
        interpret(prepared.query, interpreted)
        local result = model.read(prepared)
        assert.are.same({ 2, 1, 1, 5 },
          { result.aside, #result.events, result.events[1].n, result.events[1].period })
      end
    end
    local file = recording { { "cycles", "sh", 1, 0, -1 } }
    assert.error_matches(function()
      file:samples():group_by("event"):sum("period"):collect()
    end, "2%^63")
  end)

  it("raises periods of binaries of one name that add up to more than twice that", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time", "period" } }
    mapped.add(b, { "- map 7 1000-2000 /a/x", "- map 8 1000-2000 /b/x",
      "- map 9 1000-2000 /c/x" })
    local period = (1 << 56) - 1
    for i = 0, 287 do -- 2^61 is left of nearly 9 * 2^61 in 64 bits
      local pid = 7 + i % 3
      b:sample(event, { ip = 4096, pid = pid, tid = pid, time = 99, period = period })
    end
    local file = perflua.open(b:write(), { symfs = "spec/fixtures/empty" })
    assert.error_matches(function() read(file, { sort = { "dso" } }) end, "2%^63")
    assert.are.equal(96 * period, read(file,
      { sort = { "dso" }, where = { "pid == 7" },
        percentage = "relative" }).events[1].period)
  end)

  it("sorts many addresses of equal periods by value, with and without callers", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "period", "callchain" } }
    mapped.add(b, { "- map 7 1000000-2000000@1000000 /a/x" })
    local expected = {}
    for i = 1, 12000 do
      local ip = 0x1000000 + i * 7919 % 0x100000 -- a prime: no two are equal
      expected[i] = ("0x%016x"):format(ip)
      b:sample(event, { ip = ip, pid = 7, tid = 7, time = i, period = 3,
        callchain = { -512, ip } })
    end
    table.sort(expected)
    local file = perflua.open(b:write(), { symfs = "spec/fixtures/empty" })
    for _, children in ipairs { false, true } do
      local result = read(file, { sort = { "symbol" }, children = children })
      assert.are.same(expected, result.events[1].values[1])
    end
  end)

  it("raises for unknown and repeated fields, and names them", function()
    local file = recording(samples)
    assert.error_matches(function()
      report.prepare(file, { sort = { "com" } })
    end, "'com'; the closest is 'comm'")
    assert.error_matches(function()
      report.prepare(file, { sort = { "sym", "symbol" } })
    end, "'symbol' is named twice")
  end)

  it("shows fields that callers lack for the sample only", function()
    local file = recording(samples)
    assert.error_matches(function()
      report.prepare(file, { sort = { "dso", "srcline" }, children = true })
    end, "only, not for srcline: use %-%-no%-children")
    -- there are no call chains
    assert.is_false(report.prepare(file, { sort = { "dso" } }).children)
    assert.is_true(report.prepare(file, { sort = { "dso" }, children = true }).children)
  end)
end)
