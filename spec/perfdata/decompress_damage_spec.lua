-- Compressed records that are damaged, cut, or lack the beginning of their stream.
local compressed = require "spec.support.compressed"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local zstd = require "spec.support.builder_zstd"

local start, records, pids, SIZE = compressed.start, compressed.records, compressed.pids,
  compressed.SIZE

describe("a stream of compressed records", function()
  local function file_of(fill)
    warn "@off"
    local b, payload = start(), zstd.frame()
    fill(b, payload)
    return reading.open(b), b
  end

  it("says that another file has its beginning if it begins in the middle", function()
    local file, b = file_of(function(b, payload)
      payload(records(b, 1, 2)) -- is in that file
      b:record("comm", { pid = 3, tid = 3, comm = "outside" })
      b:record("compressed2", { data = payload(records(b, 4, 5)) })
      b:record("comm", { pid = 6, tid = 6, comm = "outside" })
    end)
    assert.are.same({ 3, 6 }, pids(file))
    assert.is_false(file.complete)
    assert.are.equal(b:offsets()[2], file.damage[1].offset)
    assert.matches(
      "it begins in the file recorded before this one; the rest of its stream is lost$",
      reading.reasons(file))
  end)

  it("is delivered up to its damage, and what lies outside after it", function()
    local file, b = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2)) })
      b:record("compressed2", { data = payload(records(b, 3, 4))
        .. zstd.damage(records(b, 90, 91)) })
      b:record("comm", { pid = 5, tid = 5, comm = "outside" })
      b:record("compressed2", { data = payload(records(b, 92, 93)) })
      b:record("comm", { pid = 6, tid = 6, comm = "outside" })
    end)
    assert.are.same({ 1, 2, 3, 4, 5, 6 }, pids(file))
    assert.is_false(file.complete)
    assert.are.equal(b:offsets()[2], file.damage[1].offset)
    assert.matches("^compressed record: .*the rest of its stream is lost",
      reading.reasons(file))
  end)

  it("is delivered up to its damage if a payload begins with the end of a block", function()
    local file = file_of(function(b, payload)
      local bytes = payload(b:apart(function()
        for i = 1, 2 do -- the last three bytes, as a header, are of a long block
          b:record("comm", { pid = i, tid = i, comm = "x" }, { time = 0x0101010100000000 + i })
        end
      end))
      b:record("compressed2", { data = bytes:sub(1, -4) })
      b:record("compressed2", { data = bytes:sub(-3) .. zstd.damage "x" })
    end)
    assert.are.same({ 1, 2 }, pids(file))
    assert.are.equal(1, #file.damage)
  end)

  it("notes its damage once, however often it is passed", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2)) .. zstd.damage "x" })
    end)
    for _ = 1, 3 do
      assert.are.same({ 1, 2 }, pids(file))
      assert.are.equal(1, #file.damage)
    end
  end)

  it("goes on where a new frame begins", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2)) .. zstd.damage "x" })
      b:record("compressed2", { data = zstd.frame()(records(b, 3, 4)) })
    end)
    assert.are.same({ 1, 2, 3, 4 }, pids(file))
  end)

  it("may be a new frame without the end of the one before", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2)) })
      payload = zstd.frame()
      b:record("compressed2", { data = payload(records(b, 3, 4)) })
      b:record("compressed2", { data = payload(records(b, 5, 6)) })
    end)
    assert.are.same({ 1, 2, 3, 4, 5, 6 }, pids(file))
    assert.is_true(file.complete)
  end)

  it("may end its frame", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2), true) })
      b:record("compressed2", { data = zstd.frame()(records(b, 3, 4)) })
      b:record("comm", { pid = 5, tid = 5, comm = "outside" })
    end)
    assert.are.same({ 1, 2, 3, 4, 5 }, pids(file))
    assert.is_true(file.complete)
  end)

  it("says that it ends within a record", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2):sub(1, -5)) })
      b:record("comm", { pid = 3, tid = 3, comm = "outside" })
    end)
    assert.are.same({ 1, 3 }, pids(file))
    assert.is_false(file.complete)
    assert.matches("found the end of the recording after %d+ bytes of a record",
      reading.reasons(file))
  end)

  it("says that it holds an impossible record", function()
    for _, size in ipairs { 0, 7 } do
      local file = file_of(function(b, payload)
        local bad = b:apart(function() b:raw(3, 0, ("x"):rep(32), size) end)
        b:record("compressed2",
          { data = payload(records(b, 1, 2) .. bad .. records(b, 90, 91)) })
        b:record("comm", { pid = 3, tid = 3, comm = "outside" })
      end)
      assert.are.same({ 1, 2, 3 }, pids(file))
      assert.matches("cannot be a record", reading.reasons(file))
    end
  end)

  it("is not a danger when its records hold nothing, or each other", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = "" })
      b:record("compressed", { data = "" })
      b:raw(83, 0, "")
      b:raw(83, 0, "1234")
      b:record("compressed2", { data = payload(records(b, 1, 1) .. b:apart(function()
        b:record("compressed2", { data = zstd.frame()(records(b, 90, 91)) })
        b:record("auxtrace", { data_size = 1 << 40 })
      end) .. records(b, 2, 2)) })
      b:record("compressed2", { data = payload(records(b, 3, 3)), data_size = 1 << 40 })
    end)
    assert.are.same({ 1, "auxtrace", 2, 3 }, pids(file))
  end)

  it("cut at any byte delivers the records that are whole before the cut, and says so "
    .. "once", function()
    warn "@off"
    for _, kind in ipairs { "compressed", "compressed2" } do
      local b, payload = start(), zstd.frame()
      local head = kind == "compressed" and 8 or 16
      local starts = {} -- in each compressed record: where its first record begins
      for i = 1, 5, 2 do
        starts[#starts + 1] = head + (i == 1 and 6 or 0) + 3 -- a frame's header, a block's
        b:record(kind, { data = payload(records(b, i, i + 1)) })
      end
      local bytes, offsets = b:bytes { no_features = true, data = { size = 0 } }, b:offsets()
      local path = files.temporary()
      for n = offsets[1] + 1, #bytes - 1 do
        local expected = {}
        for i, at in ipairs(offsets) do
          for k = 1, 2 do
            if n >= at + starts[i] + k * SIZE then
              expected[#expected + 1] = #expected + 1
            end
          end
        end
        files.write(path, bytes:sub(1, n))
        local file <close> = assert(perflua.open(path))
        assert.are.same(expected, pids(file), "cut at " .. n)
        assert.is_false(file.complete)
        local inside = n ~= offsets[2] and n ~= offsets[3]
        -- the first is that it was never finished
        assert.are.equal(inside and 2 or 1, #file.damage)
      end
    end
  end)

  it("continues after a damaged size", function()
    local file = file_of(function(b, payload)
      b:record("compressed", { data = payload(records(b, 1, 2), true) })
      local bad = b:apart(function() b:record("compressed", { data = ("x"):rep(64) }) end)
      b:raw(81, 0, bad:sub(9), 65528)
      for i = 3, 5 do
        b:record("comm", { pid = i, tid = i, comm = "outside" })
      end
    end)
    assert.are.same({ 1, 2, 3, 4, 5 }, pids(file))
    assert.is_false(file.complete)
    assert.matches("size of a record: found 65528", reading.reasons(file))
  end)

  it("needs no COMPRESSED feature, and none that says something", function()
    local none = { version = 0, type = 0, level = 0, ratio = 0, mmap_len = 0 }
    for _, container in ipairs { "file", "pipe" } do
      for _, feature in ipairs { false, none } do
        local b, payload = start { container = container }, zstd.frame()
        if feature then
          b:feature("compressed", feature)
        end
        b:record("compressed2", { data = payload(records(b, 1, 2)) })
        local file = reading.open(b)
        assert.are.same({ 1, 2 }, pids(file))
        assert.are.same(feature or nil, file.features.compressed)
        assert.is_true(file.complete)
      end
    end
  end)
end)
