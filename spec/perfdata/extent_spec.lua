-- Records whose own parts tell where they end: what else their bytes look like counts less.
local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

--- Offsets of the records that are read of a builder's file, and the damage.
local function read(b)
  local file = reading.open(b)
  local offsets = {}
  for r in file:records({ order = "file", container = true }):each() do
    offsets[#offsets + 1] = r.offset
  end
  return offsets, file.damage
end

--- The body of an mmap2 record whose name is not padded.
local function unpadded_mmap2(tid, addr, name)
  return string.pack("<I4I4I8I8I8I4I4I8I8I4I4z", 7, tid, addr, 4096, 0, 8, 1, 9, 0, 5, 2, name)
end

describe("a recording whose writer does not pad", function()
  it("has records in which thread and address look like a header that leads to their end",
    function()
    local b = builder.new {}
    b:event { sample_type = { "ip", "tid", "time" }, sample_id_all = false }
    for i = 1, 5 do
      b:raw(3, 0, string.pack("<I4I4z", 7, 100 + i, "worker" .. ("x"):rep(i)))
    end
    -- twelve bytes in: type 124, misc 0x5000, size 79
    local body = unpadded_mmap2(124, 0x4f5000, "/system/lib/lib.so")
    assert.are.equal(91, 8 + #body)
    b:raw(10, 2, body)
    for i = 1, 5 do b:raw(3, 0, string.pack("<I4I4z", 7, 200 + i, ("y"):rep(i))) end
    for i = 1, 20 do b:sample(b.events[1], { ip = i, pid = 7, tid = 7, time = i }) end
    local offsets, damage = read(b)
    assert.are.same({}, damage)
    assert.are.same(b:offsets(), offsets)
  end)
end)
