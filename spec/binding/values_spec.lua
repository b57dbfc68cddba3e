local core = require "perflua.core"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local N = 24000 -- samples: enough for a thread to be worth it

local written

-- Samples of two processors, each in the order of its times, in pieces as perf copies its
-- buffers; their raw data are texts of all kinds.
local function recording()
  if written then return written end
  local b = builder.new()
  local parts = { "identifier", "ip", "tid", "time", "cpu", "period" }
  local one = b:event { name = "one", sample_type = parts, ids = { 1 } }
  local two = b:event {
    name = "two", type = 1, sample_type = table.move(parts, 1, #parts, 1, { [7] = "raw" }),
    ids = { 2 },
  }
  b:record("comm", { pid = 7, tid = 7, comm = "first" }, { time = 1 })
  b:record("comm", { pid = 7, tid = 7, comm = "second" }, { time = N // 2 })
  local texts = { "", "a\0b", ("x"):rep(64), ("y"):rep(65), ("z"):rep(3000), "one" }
  for piece = 0, N // 100 - 1 do
    for i = 0, 99 do
      local k = piece * 100 + i
      local event = k % 5 == 0 and two or one
      b:sample(event, {
        identifier = event.ids[1], ip = 0x1000 + k, pid = k % 3 == 0 and -1 or 7, tid = 7,
        cpu = piece % 2,
        time = 10 + (piece // 2 * 100 + i) * 2 + piece % 2, period = k % 7 == 0 and -1 or k,
        raw = event == two and (k % 10 == 0 and texts[k // 10 % #texts + 1] or tostring(k)),
      })
    end
  end
  written = b:write()
  return written
end

local FIELDS = { "time", "ip", "pid", "period", "cpu", "raw", "event", "comm", "id" }

-- Returns the values that a loop over records finds in these fields, each k-th line.
local function by_records(query, k)
  local lines, n = {}, 0
  for r in query do
    n = n + 1
    if n % k == 0 then
      local line = {}
      for i, name in ipairs(FIELDS) do
        local value = r[name]
        line[i] = tostring(value ~= nil and value)
      end
      lines[#lines + 1] = table.concat(line, " ")
    end
  end
  return lines, n
end

local function by_values(query, k)
  local lines, n = {}, 0
  query:select(table.unpack(FIELDS)):each(function(...)
    n = n + 1
    if n % k == 0 then
      local line = { ... }
      for i = 1, #FIELDS do line[i] = tostring(line[i]) end
      lines[#lines + 1] = table.concat(line, " ")
    end
  end)
  return lines, n
end

-- A report shows one line of many.
local function same(expected, got)
  assert.are.equal(#expected, #got)
  for i, line in ipairs(expected) do
    if line ~= got[i] then assert.are.equal(line, got[i]) end
  end
end

describe("values of records", function()
  local path, file
  setup(function() path = recording() end)
  before_each(function() file = assert(perflua.open(path)) end)
  after_each(function() file:close() end)

  for _, order in ipairs { "time", "file" } do
    it("are those that records have, in the order of " .. order, function()
      local lines, n = by_records(file:samples { order = order }, 3)
      local values, m = by_values(file:samples { order = order }, 3)
      assert.are.equal(N, n)
      assert.are.equal(N, m)
      same(lines, values)
    end)

    it("selects events and times, "
      .. order, function()
      local q = file:samples { event = "two", order = order }:between(N // 4, N // 2)
      local lines, n = by_records(q, 1)
      assert.is_true(n > 1000)
      same(lines, (by_values(q, 1)))
    end)
  end

  it("come in loops over one file side by side, while its records are asked for "
    .. "theirs", function()
    local a = file:samples():select("time", "comm", "raw"):each()
    local b = file:samples { order = "file" }:select("ip", "comm"):each()
    local n = 0
    for r in file:samples() do
      local time, comm, raw = a()
      local ip, _ = b()
      assert(time == r.time and comm == (r.comm or false) and raw == (r.raw or false))
      assert(ip == 0x1000 + n)
      n = n + 1
    end
    assert.are.equal(N, n)
    assert.is_nil(a())
    assert.is_nil(b())
  end)

  it("may be left half way, and begun again", function()
    local q = file:samples():select("time", "ip")
    for i = 1, 30 do
      local n = 0
      for _ in q do
        n = n + 1
        if n == i * 200 then break end
      end
    end
    for _ = 1, 30 do
      local step = q:each()
      for _ = 1, 2000 do step() end
    end
    collectgarbage()
    local n = 0
    for _ in q do n = n + 1 end
    assert.are.equal(N, n)
  end)

  it("end with an error when the file is closed between two of them", function()
    for _, at in ipairs { 1, 2, 3000 } do
      local other = assert(perflua.open(path))
      local n = 0
      assert.error_matches(function()
        for _ in other:samples():select("ip", "comm") do
          n = n + 1
          if n == at then other:close() end
        end
      end, "loop over a closed file")
      assert.are.equal(at, n)
    end
  end)

  it("are false for fields that a record does not have", function()
    local n = 0
    for raw in file:samples():select("raw") do
      if raw == false then n = n + 1 end
    end
    assert.are.equal(N - N // 5, n)
  end)

  it("are more texts than are kept", function()
    local seen, n = {}, 0
    for raw in file:samples("two"):select("raw") do
      if not seen[raw] then
        seen[raw] = true
        n = n + 1
      end
    end
    assert.are.equal(N // 10 + 6, n)
  end)
end)

describe("values of a recording that is harmed", function()
  local function damaged()
    local bytes = files.read(recording())
    local at = #bytes // 2
    return files.temporary(bytes:sub(1, at) .. ("\0"):rep(8000) .. bytes:sub(at + 8001))
  end

  it("are read from the whole records, and the damage is reported at the end", function()
    local path = damaged()
    for _, order in ipairs { "time", "file" } do
      reading.quietly(function()
        local file <close> = assert(perflua.open(path))
        local n, m = 0, 0
        for _ in file:samples { order = order } do n = n + 1 end
        for _ in file:samples { order = order }:select "ip" do m = m + 1 end
        assert.is_true(n > N // 2 and n < N)
        assert.are.equal(n, m)
      end)
    end
    local file <close> = assert(perflua.open(path, { strict = true }))
    local n = 0
    assert.error_matches(function()
      for _ in file:samples { order = "file" }:select "ip" do n = n + 1 end
    end, path:gsub("%p", "%%%0") .. ": offset %d+: ")
    assert.is_true(n > N // 2)
  end)
end)

describe("a cursor", function()
  local ip = { op = "field", kind = "address", ref = { path = { "ip" } } }
  local small = { op = "<", kind = "boolean", left = ip,
    right = { op = "const", kind = "natural", value = 0x1000 + 5000 } }
  local file
  setup(function() file = assert(perflua.open(recording())) end)
  teardown(function() file:close() end)

  local function count(options)
    local n, cursor = 0, core.cursor(file, options)
    for first in cursor do
      assert(first ~= false)
      n = n + 1
    end
    return n
  end

  it("yields records, values and fields of records for which a filter is true", function()
    assert.are.equal(5000, count { types = { [9] = true }, filter = small })
    assert.are.equal(5000, count { types = { [9] = true }, filter = small, reuse = true })
    assert.are.equal(5000, count { types = { [9] = true }, filter = small, values = { ip } })
    assert.are.equal(5000, count { types = { [9] = true }, filter = small, fields = { "ip" } })
    assert.are.equal(5000, count { filter = small })
  end)

  it("hands records for which a filter is true to handlers", function()
    local n = 0
    core.dispatch(file, { filter = small, other = function() n = n + 1 end })
    assert.are.equal(5000, n)
  end)

  it("asks the recorded system for a filter", function()
    local second = { op = "==", kind = "boolean",
      left = { op = "field", kind = "string", ref = { path = { "comm" } } },
      right = { op = "const", kind = "string", value = "second" } }
    local n = 0
    for s in file:samples() do
      if s.comm == "second" then n = n + 1 end
    end
    assert.is_true(n > 0 and n < N)
    assert.are.equal(n, count { types = { [9] = true }, filter = second })
    assert.are.equal(n, count { types = { [9] = true }, filter = second, values = { ip } })
  end)

  it("yields computed values", function()
    local sum = { op = "+", kind = "address", left = ip,
      right = { op = "const", kind = "natural", value = 2 } }
    local step = core.cursor(file,
      { types = { [9] = true }, order = "file", values = { sum, ip, sum } })
    assert.are.same({ 0x1002, 0x1000, 0x1002 }, { step() })
    assert.are.same({ 0x1003, 0x1001, 0x1003 }, { step() })
  end)

  it("refuses trees that are neither a filter nor a value", function()
    for _, options in ipairs {
      { filter = {} }, { filter = { op = "nope" } }, { values = { 5 } }, { values = { {} } },
      { values = { { op = "field", kind = "any", ref = { path = { "nope" } } } } },
    } do
      assert.has_error(function() core.cursor(file, options) end)
    end
  end)
end)
