-- Records of more than 64 KB, which Android's simpleperf alone writes: their types are from
-- 32768 on.
local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

local MB = 1 << 20
local META_INFO, VERSION = 129, "simpleperf_version\0001.1\0"

local function recording(container)
  local b = builder.new { container = container, event_desc = false }
  local event = b:event { sample_type = { "ip", "tid", "time" } }
  return b, function(from, to)
    for time = from, to do b:sample(event, { time = time, pid = 1, tid = 1 }) end
  end
end

--- A record of type 32769 as simpleperf writes it: n bytes after its header, a size that may
--- be a lie.
local function large(b, n, claimed)
  local size = claimed or 8 + n
  b:raw(0x8001, size >> 16, ("\0"):rep(n), size & 0xffff)
end

--- Types, sizes and values of misc, a line each.
local function lines(file, order)
  local list = {}
  for r in file:records { order = order or "file" } do
    list[#list + 1] = ("%d %d %d"):format(r.type_id, r.size, r.misc)
  end
  return table.concat(list, "\n")
end

describe("a record of a type from 32768 on", function()
  for _, container in ipairs { "file", "pipe" } do
    it("has a size of 16 bits and flags, like all others, in a " .. container, function()
      local b, samples = recording(container)
      samples(1, 2)
      b:raw(0x8001, 0x4002, ("x"):rep(24))
      samples(3, 4)
      local file = reading.open(b)
      assert.are.equal("9 32 2\n9 32 2\n32769 32 16386\n9 32 2\n9 32 2", lines(file))
      assert.are.equal("", reading.reasons(file))
    end)
  end

  local recorders = {
    { "by a feature of its own", function(b) b:feature(META_INFO, VERSION) end },
    { "by the command line", function(b)
      b:feature("cmdline", { "/system/bin/simpleperf64", "record" })
    end },
  }
  for _, known in ipairs(recorders) do
    for _, endian in ipairs { "little", "big" } do
      it(("has one of 32 bits in a file of simpleperf's, which is known %s, %s-endian"):format(
        known[1], endian),
        function()
          local b = builder.new { endian = endian, event_desc = false }
          local event = b:event { sample_type = { "ip", "tid", "time" } }
          known[2](b)
          b:sample(event, { time = 1 })
          large(b, 300000)
          b:sample(event, { time = 2 })
          local file = reading.open(b)
          for _, order in ipairs { "file", "time" } do
            assert.are.equal("9 32 2\n32769 300008 4\n9 32 2", lines(file, order))
          end
          assert.are.equal("", reading.reasons(file))
        end)
    end
  end

  it("has one of 16 bits if perf recorded a program of that name", function()
    local b, samples = recording()
    b:feature("hostname", "here"):feature("cmdline", { "simpleperf", "record" })
    b:raw(0x8001, 1, ("x"):rep(24))
    samples(1, 2)
    assert.are.equal("32769 32 1\n9 32 2\n9 32 2", lines(reading.open(b)))
  end)

  it("ends a file of simpleperf's", function()
    local b, samples = recording()
    b:feature(META_INFO, VERSION)
    samples(1, 1)
    large(b, 70000)
    local file = reading.open(b)
    assert.are.equal("9 32 2\n32769 70008 1", lines(file))
    assert.are.equal("", reading.reasons(file))
  end)
end)

describe("a size that cannot be", function()
  it("is more than 64 MB", function()
    warn "@off"
    local b, samples = recording()
    b:feature(META_INFO, VERSION)
    samples(1, 3)
    large(b, 120, 64 * MB + 0x800)
    samples(4, 9)
    large(b, 65 * MB - #b:apart(function() samples(4, 9) end))
    samples(10, 12)
    local file = reading.open(b)
    assert.are.equal(12, file:records():count())
    local said = "size of a record: found %d (type 32769), expected at most 67108864; "
      .. "the next record follows the skipped bytes"
    assert.are.equal(said:format(67110912) .. "\n" .. said:format(68157256),
      reading.reasons(file))
  end)

  it("leads to nothing that could be a record", function()
    warn "@off"
    local b, samples = recording()
    b:feature(META_INFO, VERSION)
    samples(1, 3)
    large(b, 100000, 90000)
    samples(4, 9)
    local file = reading.open(b)
    assert.are.equal(9, file:records():count())
    assert.are.equal(
      "size of a record: found 90000 (type 32769), expected another record after so many "
        .. "bytes; "
      .. "the next record follows the skipped bytes", reading.reasons(file))
  end)
end)
