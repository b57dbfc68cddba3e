local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local function small(options)
  local b = builder.new(options)
  local event = b:event { name = "cycles", ids = { 7 } }
  b:record("comm", { pid = 5, tid = 5, comm = "sh" }, { time = 1 })
  b:sample(event, { ip = 0x1000, pid = 5, time = 2 })
  b:feature("hostname", "here")
  return b
end

describe("what cannot be a recording", function()
  local function refused(path, code)
    local file, message, got = perflua.open(path)
    assert.is_nil(file)
    assert.is_string(message)
    assert.truthy(message:find(path, 1, true), message)
    assert.are.equal(code, got, message)
    return message
  end

  it("is refused when it does not exist", function()
    refused("/nonexistent/perf.data", "ENOENT")
  end)

  it("is refused when it is empty", function()
    refused(files.temporary "", "FORMAT")
  end)

  it("is refused when it is too short for a header", function()
    refused(files.temporary "PERFILE2", "FORMAT")
    local bytes = small():bytes()
    for n = 1, 103 do
      refused(files.temporary(bytes:sub(1, n)), "FORMAT")
    end
  end)

  it("is refused when it is something else, with what was found and what was "
    .. "expected", function()
    local message = refused(files.temporary(("#!/bin/sh\necho hello\n"):rep(10)), "FORMAT")
    assert.matches("offset 0", message)
    assert.matches("expected", message)
  end)

  it("is refused when it is a directory", function()
    local file, message = perflua.open "/"
    assert.is_nil(file)
    assert.matches("directory", message:lower())
  end)

  local lies = {
    ["whose header has a size no perf writes"] = { header_size = 105 },
    ["whose attrs are narrower than the smallest"] = { attr_size = 8 },
    ["whose attrs have no width"] = { attr_size = 0 },
    ["whose attrs lie beyond its end"] = { attrs = { offset = 1 << 40 } },
    ["whose attrs end beyond its end"] = { attrs = { size = 1 << 40 } },
    ["whose attrs wrap around"] = { attrs = { offset = -16, size = 1 << 20 } },
  }
  for what, wrong in pairs(lies) do
    it("is refused or read with a note of its damage " .. what, function()
      warn "@off"
      local path = small():write(wrong)
      local file, message, code = perflua.open(path)
      if file then
        assert.is_true(#file.damage > 0, "no damage was noted")
        file:records { order = "file" }:count()
      else
        assert.truthy(message:find(path, 1, true))
        assert.are.equal("FORMAT", code)
      end
    end)
  end

  it("says where and what when ids lie outside the file", function()
    warn "@off"
    local b = small()
    b.events[1].ids_offset = 1 << 40
    local file = perflua.open(b:write())
    if file then
      assert.is_true(#file.damage > 0)
      assert.are.equal(0, #file.events[1].ids)
    end
  end)
end)

reading.either_order(describe, function(endian)
  it("says what it is", function()
    local b = small { endian = endian }
    local path = b:write()
    local file = assert(perflua.open(path))
    assert.are.equal(path, file.path)
    assert.are.equal(#b:bytes(), file.size)
    assert.are.equal("file", file.mode)
    assert.are.equal(2, file.version)
    assert.are.equal(endian, file.byte_order)
    assert.is_true(file.complete)
    assert.are.equal(0, #file.damage)
    assert.are.equal("here", file.features.hostname)
  end)

  it("recognizes the first version, PERFFILE, by its attr size", function()
    local b = small { endian = endian, version = 1 }
    local file = reading.open(b)
    assert.are.equal(1, file.version)
    assert.are.equal(endian, file.byte_order)
    assert.are.equal("cycles", file.events[1].name)
    assert.are.equal("sh", reading.all(file)[1].comm)
  end)

  it("has the features a 32-bit recorder marked", function()
    local b = small { endian = endian, long_size = 4 }
    b:feature("cln_size", 64) -- bit 34: in the second word
    local file = reading.open(b)
    assert.are.equal("here", file.features.hostname)
    assert.are.equal(64, file.features.cln_size)
  end)

  it("has the records at the places and with the sizes they were written with", function()
    local b = small { endian = endian }
    local records = reading.all(reading.open(b))
    local offsets = b:offsets()
    assert.are.equal(2, #records)
    for i, r in ipairs(records) do
      assert.are.equal(offsets[i], r.offset)
      assert.are.equal(({ 40, 32 })[i], r.size)
    end
  end)

  it("is read to its end when the recorder was killed and wrote no size", function()
    warn "@off"
    local b = small { endian = endian }
    local file = reading.open(b, { data = { size = 0 }, no_features = true })
    assert.are.equal(2, #reading.all(file))
    assert.is_false(file.complete)
    assert.is_nil(file.features.hostname)
  end)

  it("is read to the end of the file when its data says it is longer", function()
    warn "@off"
    local b = small { endian = endian }
    local file = reading.open(b, { data = { size = 1 << 50 }, no_features = true })
    assert.are.equal(2, #reading.all(file))
    assert.is_false(file.complete)
  end)

  it("is read when it has no feature at all", function()
    local b = builder.new { endian = endian }
    b:sample(b:event {}, { ip = 1 })
    assert.are.equal(1, #reading.all(reading.open(b)))
  end)

  it("is read when it has no event and no record", function()
    local b = builder.new { endian = endian }
    local file = perflua.open(b:write())
    if file then
      assert.are.equal(0, #file.events)
      assert.are.equal(0, #reading.all(file))
    end
  end)

  it("tells its events by their ids", function()
    local b = builder.new { endian = endian }
    local kinds = { "time", "tid", "ip", "identifier", "period" }
    local one = b:event { name = "one", sample_type = kinds, ids = { 11, 12 } }
    local two = b:event { name = "two", sample_type = kinds, ids = { 21, 22 } }
    b:sample(one, { id = 12, period = 3 })
    b:sample(two, { id = 21, period = 4 })
    b:sample(two, { id = 22, period = 5 })
    b:record("comm", { comm = "x" }, { event = two, id = 21, time = 1 })
    local names = {}
    for _, r in ipairs(reading.all(reading.open(b))) do
      names[#names + 1] = r.event.name
    end
    assert.are.same({ "one", "two", "two", "two" }, names)
  end)

  it("tells its events by an id between other fields", function()
    local b = builder.new { endian = endian }
    local kinds = { "ip", "tid", "time", "addr", "id", "stream_id", "cpu" }
    local one = b:event { name = "one", sample_type = kinds, ids = { 11 } }
    local two = b:event { name = "two", sample_type = kinds, ids = { 21 } }
    b:sample(two, { id = 21, cpu = 3 })
    b:sample(one, { id = 11 })
    b:record("comm", { comm = "x" }, { event = two, id = 21, stream_id = 9, cpu = 1 })
    local names = {}
    for _, r in ipairs(reading.all(reading.open(b))) do
      names[#names + 1] = r.event.name
    end
    assert.are.same({ "two", "one", "two" }, names)
  end)
end)
