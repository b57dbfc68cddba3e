-- Sparse files: few bytes on disk that are many to read. What they claim costs no memory.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

-- The sanitizers' own memory is not what is limited here.
local sanitized = run.binary:find("/san/", 1, true) ~= nil

local MB = 1 << 20
local SPARSE = 272 * MB
local VERSION = "simpleperf_version\0001.1\0" -- the feature 129, META_INFO

-- Reads all there is; says what it took in kB, and why the file is damaged.
local script = run.script [[
warn "@off"
local peak = require "spec.support.peak"
local before = peak()
local file = assert(require "perflua".open(arg[1]))
local n = file:records({ order = arg[2] }):count()
for _ in pairs(file.features) do end
for _, event in ipairs(file.events) do assert(#event.ids >= 0) end
print(n, peak() - before)
for _, d in ipairs(file.damage) do print(d.reason) end
]]

--- A file that has a record and a header that claims so many bytes as its last one.
local function claiming(container, size)
  local b = builder.new { container = container, event_desc = false }
  local event = b:event { sample_type = { "ip", "tid", "time" } }
  b:sample(event, { time = 1 })
  b:raw(0x8001, size >> 16, "", size & 0xffff)
  return b
end

--- Writes these bytes, then nothing up to the end of the sparse file, then a tail.
local function sparse(bytes, tail)
  local path = files.temporary(bytes)
  local out = assert(io.open(path, "r+b"))
  out:seek("set", SPARSE)
  out:write(tail or "\0")
  out:close()
  return path
end

--- Reads a file in both orders with less than so many MB; returns how many records there were,
--- and the damage.
local function read(path, most, command)
  local found
  for _, order in ipairs { "file", "time" } do
    local got = run.shell_with(command or '"$perflua" "$1" "$2" $3', script, path, order)
    local records, kb, damage = got.out:match "^(%d+)\t(%d+)\n(.*)$"
    assert.is_truthy(records, got.err)
    assert.is_true(sanitized or tonumber(kb) < most * 1024, kb .. " kB")
    found = found or records .. "\n" .. damage
    assert.are.equal(found, records .. "\n" .. damage, order)
  end
  return found
end

describe("memory is not taken by a record that claims what a sparse file has:", function()
  --- The data go on to the end of the sparse file, where a feature says that it is
  --- simpleperf's, or none does.
  local function stretched(size, simpleperf)
    local bytes = claiming("file", size):bytes {
      bitmap = simpleperf and ("\0"):rep(16) .. "\2" .. ("\0"):rep(15) or ("\0"):rep(32),
    }
    local at = string.unpack("<I8", bytes, 41)
    return sparse(bytes:sub(1, 48) .. string.pack("<I8", SPARSE - at) .. bytes:sub(57),
      string.pack("<I8I8", SPARSE + 16, #VERSION) .. VERSION)
  end

  local claims = {
    { 0xf0f0f0f0, "expected at most 67108864;" },
    { SPARSE // 2 | 0x8000, "expected at most 67108864;" },
    { 63 * MB, "expected another record after so many bytes;" },
  }
  for _, claim in ipairs(claims) do
    local size, expected = table.unpack(claim)
    it(("%d bytes in a file of simpleperf's"):format(size), function()
      assert.are.equal(
        ("1\nsize of a record: found %d (type 32769), %s no record follows\n")
        :format(size, expected), read(stretched(size, true), 4))
    end)
    it(("%d bytes in any other"):format(size), function()
      local found = read(stretched(size), 4)
      assert.is_truthy(found:find("1\nsize of a record: found " .. (size & 0xffff), 1, true),
        found)
    end)
  end

  it("a record of a pipe", function()
    local path = sparse(claiming("pipe", 0xf0f0f0f0):bytes())
    local found =
      "1\nsize of a record: found 61680 (type 32769), expected another record after so many "
        .. "bytes; "
      .. "no record follows\n"
    assert.are.equal(found, read(path, 4))
    assert.are.equal(found, read(path, 4, 'cat "$2" | "$perflua" "$1" - $3'))
  end)
end)

describe("a section that claims what a sparse file has takes little memory:", function()
  local CLAIM = SPARSE - 4096

  local function recording()
    local b = builder.new { event_desc = false }
    local event = b:event { type = 2, sample_type = { "ip", "tid", "time" } }
    b:sample(event, { time = 1 })
    return b, event
  end

  for _, name in ipairs { "hostname", "build_id", "event_desc", "pmu_mappings", "tracing_data",
      "bpf_btf" } do
    it("the feature " .. name, function()
      local b = recording()
      b:feature(name,
        ({ build_id = {}, event_desc = {}, pmu_mappings = {}, bpf_btf = {} })[name] or "x")
      local bit = next(b.sections)
      local found =
        read(sparse(b:bytes { sections = { [bit] = { offset = 4096, size = CLAIM } } }), 4)
      assert.is_truthy(found:find("^1\n[^\n]*expected at most 67108864\n$"), found)
    end)
  end

  it("a feature that nobody knows", function()
    local b = recording()
    b:feature(200, "x")
    assert.are.equal("1\nfeature unknown (bit 200): found " .. CLAIM
      .. " bytes, expected at most 67108864\n",
      read(sparse(b:bytes { sections = { [200] = { offset = 4096, size = CLAIM } } }), 4))
  end)

  it("the names of old tracepoints", function()
    local b = recording()
    assert.are.equal("1\nevent types: found " .. CLAIM .. " bytes, expected at most 67108864\n",
      read(sparse(b:bytes { event_types = { offset = 4096, size = CLAIM } }), 4))
  end)

  it("the ids of an event", function()
    local b, event = recording()
    event.ids_offset, event.ids_size = 4096, CLAIM
    assert.are.equal("1\nids of event 1: found " .. CLAIM
      .. " bytes from 4096 on, expected u64s within the file, "
      .. "of this event alone, at most 67108864 bytes\n", read(sparse(b:bytes()), 4))
  end)

  it("a pipe's tracing data, which are stepped over", function()
    local b = builder.new { container = "pipe", event_desc = false }
    local event = b:event { sample_type = { "ip", "tid", "time" } }
    local start = #b:bytes()
    b:raw(66, 0, b.w:u32(SPARSE - start - 12))
    local samples = b:apart(function()
      for time = 1, 20 do b:sample(event, { time = time }) end
    end)
    local path = sparse(b:bytes(), samples)
    local found = ("20\ntracing data: found %d bytes, expected at most 67108864\n"):format(
      SPARSE - start - 12)
    assert.are.equal(found, read(path, 4))
    assert.are.equal(found, read(path, 4, 'cat "$2" | "$perflua" "$1" - $3'))
  end)

  it("65536 attrs", function()
    local b = recording()
    local bytes = sparse(b:bytes { attr_size = 4096,
      attrs = { offset = 4096, size = 65536 * 4096 } })
    assert.are.equal("1\n", read(bytes, 64))
  end)
end)
