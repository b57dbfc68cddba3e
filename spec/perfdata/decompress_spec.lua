-- Records inside compressed ones: frames made by hand, so that any split and any damage is possible.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local zstd = require "spec.support.builder_zstd"

local function start(options)
  local b = builder.new(options)
  b:event { name = "cycles", sample_type = { "ip", "tid", "time" }, ids = { 7 } }
  return b
end

--- The bytes of records from..to: COMM records that are told apart by their pid.
local function records(b, from, to)
  return b:apart(function()
    for i = from, to do
      b:record("comm", { pid = i, tid = i, comm = "number " .. i }, { time = i })
    end
  end)
end

local function pids(file, options)
  local list = {}
  for r in file:records(options):each() do
    list[#list + 1] = r.pid or r.type
  end
  return list
end

--- Of each record its pid and where it is.
local function places(b)
  local list = {}
  for r in reading.open(b):records():each() do
    list[#list + 1] = { r.pid, r.offset, r.chunk_offset }
  end
  return list
end

local function reasons(file)
  local list = {}
  for i, d in ipairs(file.damage) do
    list[i] = d.reason
  end
  return table.concat(list, "\n")
end

local SIZE = #records(start(), 1, 1)

for _, kind in ipairs { "compressed", "compressed2" } do
  for _, container in ipairs { "file", "pipe" } do
    for _, endian in ipairs { "little", "big" } do
      local function new()
        return start { container = container, endian = endian }
      end

      describe(("in %s records of a %s-endian %s"):format(kind, endian, container), function()
        it("records are like those outside", function()
          local plain, b, payload = new(), new(), zstd.frame()
          for _, of in ipairs { plain, b } do
            of:feature("compressed", { version = 1, type = 1, level = 1, ratio = 3, mmap_len = 4096 })
          end
          local function fill(of)
            of:record("mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096, filename = "/bin/sh" }, { time = 3 })
            of:sample(of.events[1], { ip = 0x1000, pid = 7, tid = 7, time = 4 })
          end
          fill(plain)
          b:record(kind, { data = payload(b:apart(fill)) })
          local one, other = {}, {}
          for r in reading.open(plain):records():each() do
            one[#one + 1] = tostring(r):gsub("^0x%x+ ", "")
          end
          for r in reading.open(b):records():each() do
            other[#other + 1] = tostring(r):gsub("^0x%x+ ", ""):gsub(" chunk_offset=%d+", "")
          end
          assert.are.equal(2, #one)
          assert.are.same(one, other)
        end)

        it("records may begin in one and end in another, at any byte", function()
          for cut = 1, 3 * SIZE - 1 do
            local b, payload = new(), zstd.frame()
            local bytes = records(b, 1, 3)
            b:record(kind, { data = payload(bytes:sub(1, cut)) })
            b:record(kind, { data = payload(bytes:sub(cut + 1)) })
            local file = reading.open(b)
            assert.are.same({ 1, 2, 3 }, pids(file), "cut at " .. cut)
            assert.is_true(file.complete)
          end
        end)

        it("records may lie in many, and other records between these", function()
          local b, payload = new(), zstd.frame()
          local bytes = records(b, 1, 4)
          for at = 1, #bytes, 7 do
            b:record(kind, { data = payload(bytes:sub(at, at + 6)) })
            b:record("finished_round")
          end
          b:record("comm", { pid = 5, tid = 5, comm = "outside" }, { time = 5 })
          local file = reading.open(b)
          assert.are.same({ 1, 2, 3, 4, 5 }, pids(file))
          assert.are.equal(0, #file.damage)
        end)
      end)
    end
  end
end

describe("a record inside a compressed one", function()
  it("has the compressed one's offset, and its own place inside", function()
    local b, payload = start(), zstd.frame()
    b:record("comm", { pid = 1, tid = 1, comm = "outside" })
    b:record("compressed2", { data = payload(records(b, 2, 3)) })
    b:record("compressed2", { data = payload(records(b, 4, 5)) })
    local offsets = b:offsets()
    assert.are.same({
      { 1, offsets[1] }, { 2, offsets[2], 0 }, { 3, offsets[2], SIZE }, { 4, offsets[3], 0 }, { 5, offsets[3], SIZE },
    }, places(b))
  end)

  it("has those of the one it begins in", function()
    local b, payload = start(), zstd.frame()
    local bytes = records(b, 1, 3)
    local cuts = { SIZE + 9, SIZE + 10, SIZE + 25, #bytes }
    local at = 1
    for _, cut in ipairs(cuts) do
      b:record("compressed2", { data = payload(bytes:sub(at, cut)) })
      at = cut + 1
    end
    local offsets = b:offsets()
    assert.are.same({ { 1, offsets[1], 0 }, { 2, offsets[1], SIZE }, { 3, offsets[4], 2 * SIZE - cuts[3] } }, places(b))
  end)

  it("comes after the compressed one to who asks for the container's records", function()
    local b, payload = start(), zstd.frame()
    b:record("compressed2", { data = payload(records(b, 1, 2)) })
    b:record("finished_round")
    b:record("compressed", { data = payload(records(b, 3, 3)) })
    local path = b:write()
    assert.are.same({ "compressed2", 1, 2, "finished_round", "compressed", 3 },
      pids(assert(perflua.open(path)), { container = true }))
    assert.are.same({ 1, 2, 3 }, pids(assert(perflua.open(path))))
    local compressed = assert(perflua.open(path)):records("compressed2"):first()
    assert.are.equal(#zstd.frame()(records(b, 1, 2)), compressed.data_size)
  end)

  it("may be kept after the loop went on", function()
    local b, payload = start(), zstd.frame()
    for i = 1, 400, 100 do
      b:record("compressed2", { data = payload(records(b, i, i + 99)) })
    end
    local list = reading.open(b):records():collect()
    assert.are.equal(400, #list)
    for i, r in ipairs(list) do
      assert.are.equal("number " .. i, r.comm)
    end
  end)

  it("may be as large as a record can be, and a payload hold more than a block", function()
    local b, payload = start(), zstd.frame()
    local bytes = b:apart(function()
      b:raw(9, 2, b.w:u64(1) .. b.w:u32(7) .. b.w:u32(7) .. b.w:u64(1) .. ("x"):rep(65528 - 32))
    end) .. records(b, 1, 1)
    b:record("compressed2", { data = payload(bytes:sub(1, 40000)) })
    b:record("compressed2", { data = payload(bytes:sub(40001)) })
    local list = reading.open(b):records():collect()
    assert.are.equal(65528, list[1].size)
    assert.are.equal("number 1", list[2].comm)
  end)
end)

describe("a stream of compressed records", function()
  local function file_of(fill)
    warn "@off"
    local b, payload = start(), zstd.frame()
    fill(b, payload)
    return reading.open(b), b
  end

  it("that begins in the middle says that another file has its beginning", function()
    local file, b = file_of(function(b, payload)
      payload(records(b, 1, 2)) -- is in that file
      b:record("comm", { pid = 3, tid = 3, comm = "outside" })
      b:record("compressed2", { data = payload(records(b, 4, 5)) })
      b:record("comm", { pid = 6, tid = 6, comm = "outside" })
    end)
    assert.are.same({ 3, 6 }, pids(file))
    assert.is_false(file.complete)
    assert.are.equal(b:offsets()[2], file.damage[1].offset)
    assert.matches("it begins in the file recorded before this one; what follows in its stream is lost$", reasons(file))
  end)

  it("is delivered up to its damage, and what lies outside after it", function()
    local file, b = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2)) })
      b:record("compressed2", { data = payload(records(b, 3, 4)) .. zstd.damage(records(b, 90, 91)) })
      b:record("comm", { pid = 5, tid = 5, comm = "outside" })
      b:record("compressed2", { data = payload(records(b, 92, 93)) })
      b:record("comm", { pid = 6, tid = 6, comm = "outside" })
    end)
    assert.are.same({ 1, 2, 3, 4, 5, 6 }, pids(file))
    assert.is_false(file.complete)
    assert.are.equal(b:offsets()[2], file.damage[1].offset)
    assert.matches("^compressed record: .*what follows in its stream is lost", reasons(file))
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

  it("that ends within a record says so", function()
    local file = file_of(function(b, payload)
      b:record("compressed2", { data = payload(records(b, 1, 2):sub(1, -5)) })
      b:record("comm", { pid = 3, tid = 3, comm = "outside" })
    end)
    assert.are.same({ 1, 3 }, pids(file))
    assert.is_false(file.complete)
    assert.matches("found the end of the recording after %d+ bytes of a record", reasons(file))
  end)

  it("that holds what cannot be a record says so", function()
    for _, size in ipairs { 0, 7 } do
      local file = file_of(function(b, payload)
        local bad = b:apart(function() b:raw(3, 0, ("x"):rep(32), size) end)
        b:record("compressed2", { data = payload(records(b, 1, 2) .. bad .. records(b, 90, 91)) })
        b:record("comm", { pid = 3, tid = 3, comm = "outside" })
      end)
      assert.are.same({ 1, 2, 3 }, pids(file))
      assert.matches("cannot be a record", reasons(file))
    end
  end)

  it("is no danger when its records hold nothing, or each other", function()
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

  it("cut at any byte delivers the whole records of the compressed ones before the cut", function()
    warn "@off"
    local b, payload = start(), zstd.frame()
    for i = 1, 5, 2 do
      b:record("compressed", { data = payload(records(b, i, i + 1)) })
    end
    local bytes, offsets = b:bytes { no_features = true, data = { size = 0 } }, b:offsets()
    local path = files.temporary()
    for n = offsets[1], #bytes - 1 do
      files.write(path, bytes:sub(1, n))
      local file <close> = assert(perflua.open(path))
      assert.are.same({ table.unpack({ 1, 2, 3, 4 }, 1, n >= offsets[3] and 4 or n >= offsets[2] and 2 or 0) },
        pids(file), "cut at " .. n)
      assert.is_false(file.complete)
    end
  end)
end)
