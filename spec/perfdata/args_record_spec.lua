-- Tracepoints' fields by name: of any record, from any container, as long as their record
-- lives.
local perflua = require "perflua"
local reading = require "spec.support.reading"
local tracing = require "spec.support.builder_tracing"

--- A recording of two tracepoints and an event that is none.
local function two(container)
  local t = tracing.new()
  local one = t:event("sys", "one",
    { fields = { { "u32", "a" }, { "char", "text", count = 8 } } })
  local other = t:event("sys", "other",
    { fields = { { "u64", "b" }, { "__data_loc char[]", "name" } } })
  local b, events = t:recording { container = container }
  local cycles = b:event { name = "cycles",
    sample_type = { "ip", "tid", "time", "cpu", "period", "raw", "identifier" },
    ids = { 7 } }
  for i = 1, 3 do
    b:sample(events[1], { time = 10 * i, raw = t:raw(one, { a = i, text = "t" .. i }) })
    b:sample(events[2], { time = 10 * i + 1, raw = t:raw(other, { b = -i, name = "n" .. i }) })
    b:sample(cycles, { time = 10 * i + 2, raw = "other" })
  end
  return b
end

local function shown(file)
  local got = {}
  for s in file:samples() do
    local a = s.args
    got[#got + 1] = a and (a.a and a.a .. a.text or a.b and a.b .. a.name) or "-"
  end
  return table.concat(got, " ")
end

local expected = "1t1 -1n1 - 2t2 -2n2 - 3t3 -3n3 -"

describe("a field that the event lacks", function()
  it("is nil if another event of the file has it", function()
    local file = reading.open(two())
    local s = file:samples():first()
    assert.are.equal(1, s.args.a)
    assert.is_nil(s.args.b)
    assert.is_nil(s.args.name)
  end)

  it("is not another one whose name it begins with, though it goes on after a NUL", function()
    local s = reading.open(two()):samples():first()
    for _, name in ipairs { "a\0", "a\0" .. ("b"):rep(30), "text\0" .. ("b"):rep(100000) } do
      local ok, value = pcall(function() return s.args[name] end)
      assert.is_true(not ok or value == nil)
    end
  end)

  it("is an error if none has it", function()
    local file = reading.open(two())
    local s = file:samples():first()
    local ok, message = pcall(function() return s.args.nonesuch end)
    assert.is_false(ok)
    assert.matches("nonesuch", message)
    ok, message = pcall(function() return s.args.tex end)
    assert.is_false(ok)
    assert.matches("text", message) -- the closest one
  end)
end)

describe("s.args", function()
  for _, container in ipairs { "file", "pipe", "directory" } do
    it("can be read from a recording that is a " .. container, function()
      assert.are.equal(expected, shown(reading.open(two(container))))
    end)
  end

  it("can be read for an event whose attr comes late through a pipe", function()
    local t = tracing.new()
    local early = t:event("sys", "early", { fields = { { "u32", "a" } } })
    local late = t:event("sys", "late", { fields = { { "u64", "z" } } })
    local b, events = t:recording { container = "pipe", event_desc = false }
    table.remove(b.events)
    b:sample(events[1], { time = 1, raw = t:raw(early, { a = 5 }) })
    b:record("header_attr", { event = events[2] })
    b:sample(events[2], { time = 2, raw = t:raw(late, { z = 6 }) })
    local got = {}
    for s in reading.open(b):samples() do
      got[#got + 1] = s.event.name .. " "
        .. (s.event.name == "sys:early" and s.args.a or s.args.z)
    end
    assert.are.same({ "sys:early 5", "sys:late 6" }, got)
  end)

  it("can be read from several recordings, each with formats of its own", function()
    local t = tracing.new { endian = "big", long_size = 4 }
    local one = t:event("sys", "one", {
      fields = { { "u64", "first" }, { "u32", "a" }, { "char", "text", count = 4 } },
    })
    local b, events = t:recording()
    b:sample(events[1], { time = 100, raw = t:raw(one, { first = 9, a = 50, text = "big" }) })
    local file = assert(perflua.open { two():write(), b:write() })
    local got = {}
    for s in file:samples() do
      if s.event.name == "sys:one" then
        got[#got + 1] = s.args.a .. s.args.text
      end
    end
    table.sort(got)
    assert.are.equal("1t1 2t2 3t3 50big", table.concat(got, " "))
  end)

  it("can be read from copies, after their file was closed", function()
    local file = reading.open(two())
    local copies = {}
    for s in file:samples { reuse = true } do
      copies[#copies + 1] = s:copy()
    end
    file:close()
    collectgarbage()
    assert.are.equal(1, copies[1].args.a)
    assert.are.equal("t1", copies[1].args.text)
    assert.are.equal("n2", copies[5].args.name)
  end)

  it("can be read when records are reused, but not for the previous record", function()
    local file = reading.open(two())
    local old
    local got = {}
    for s in file:samples { reuse = true } do
      if s.event.name == "sys:one" then
        got[#got + 1] = s.args.a
        old = old or s.args
      end
    end
    assert.are.same({ 1, 2, 3 }, got)
    assert.is_false((pcall(function() return old.a end)))
  end)

  it("can be read in any order of fields and samples", function()
    local file = reading.open(two())
    local all = file:samples():collect()
    for i = #all, 1, -1 do
      local s = all[i]
      if s.event.name == "sys:other" then
        assert.are.equal("n" .. s.time // 10, s.args.name)
        assert.are.equal(-(s.time // 10), s.args.b)
      end
    end
  end)
end)
