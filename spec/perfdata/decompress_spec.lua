-- Records inside compressed ones: frames made by hand, so that any split and any damage is
-- possible.
local compressed = require "spec.support.compressed"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local zstd = require "spec.support.builder_zstd"

local start, records, pids, SIZE = compressed.start, compressed.records, compressed.pids,
  compressed.SIZE

---Returns the pid and position of each record.
local function places(b)
  local list = {}
  for r in reading.open(b):records():each() do
    list[#list + 1] = { r.pid, r.offset, r.chunk_offset }
  end
  return list
end

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
            of:feature("compressed", { version = 1, type = 1, level = 1, ratio = 3,
              mmap_len = 4096 })
          end
          local function fill(of)
            of:record("mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096,
              filename = "/bin/sh" }, { time = 3 })
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
      { 1, offsets[1] }, { 2, offsets[2], 0 }, { 3, offsets[2], SIZE }, { 4, offsets[3], 0 },
      { 5, offsets[3], SIZE },
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
    assert.are.same({ { 1, offsets[1], 0 }, { 2, offsets[1], SIZE },
      { 3, offsets[4], 2 * SIZE - cuts[3] } }, places(b))
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
    local record = assert(perflua.open(path)):records("compressed2"):first()
    assert.are.equal(#zstd.frame()(records(b, 1, 2)), record.data_size)
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
