local everything = require "spec.support.everything"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local path = files.temporary()

--- Opens these bytes and reads all that can be read; the number of records delivered, nil if
--- refused.
local function read_all(bytes, deep)
  files.write(path, bytes)
  local file, message, code = perflua.open(path)
  if not file then
    assert.is_string(message)
    assert.is_string(code)
    return nil
  end
  local n = 0
  for r in file:records({ order = "file", container = true }):each() do
    n = n + 1
    if deep then
      everything.read(r)
      tostring(r)
    end
  end
  if deep then
    everything.read(file.features)
    everything.read(file.damage)
    for _, event in ipairs(file.events) do
      everything.read(event.ids)
    end
  end
  file:close()
  return n
end

-- `make sweep` cuts at every byte, and damages more often.
local STEP, TIMES = 5, 120
if os.getenv "SWEEP" then STEP, TIMES = 1, 400 end

describe("a recording that was cut", function()
  for endian, step in pairs { little = STEP, big = 3 * STEP } do
    it("delivers the records before any cut, whose payload may be cut, " .. endian
      .. "-endian", function()
      warn "@off"
      local b = everything.builder(endian)
      local bytes, offsets = b:bytes(), b:offsets()
      local ends = {}
      for i, at in ipairs(offsets) do
        ends[i] = at + #b.stream[i].bytes
      end
      local whole = 0
      for n = 0, #bytes - 1, step do
        while ends[whole + 1] and ends[whole + 1] <= n do
          whole = whole + 1
        end
        local got = read_all(bytes:sub(1, n), n // step % 16 == 0)
        if n >= offsets[1] then
          assert.are.equal(whole, got, "cut at byte " .. n)
        end
      end
      assert.are.equal(#offsets, read_all(bytes, true))
    end)
  end

  it("is not complete, and says where it ends", function()
    warn "@off"
    local b = everything.builder "little"
    local offsets = b:offsets()
    local file = reading.open(b, { truncate = offsets[20] + 12 })
    assert.are.equal(19, #reading.all(file))
    assert.is_false(file.complete)
    assert.is_true(#file.damage >= 1)
    for _, d in ipairs(file.damage) do
      assert.is_true(math.type(d.offset) == "integer" and math.type(d.size) == "integer")
      assert.is_true(#d.reason > 0)
    end
  end)

  it("notes each damage once, however often it is passed", function()
    warn "@off"
    local b = everything.builder "little"
    local file = reading.open(b, { truncate = b:offsets()[20] + 12 })
    reading.all(file)
    local n = #file.damage
    reading.all(file)
    assert.are.equal(n, #file.damage)
  end)

  it("raises where strict reading was asked for", function()
    local b = everything.builder "little"
    local file_path = b:write { truncate = b:offsets()[20] + 12 }
    local ok, message = pcall(function()
      reading.all(assert(perflua.open(file_path, { strict = true })))
    end)
    assert.is_false(ok)
    assert.truthy(tostring(message):find(file_path, 1, true), message)
  end)
end)

describe("a record that is shorter than its fields", function()
  for _, endian in ipairs { "little", "big" } do
    it("is read as far as it goes, " .. endian .. "-endian", function()
      warn "@off"
      local b, one = everything.empty(endian)
      for _, r in ipairs(everything.records) do
        b:record(r[1], r[2], { time = 10 })
      end
      b:sample(one, everything.sample)
      local whole = b.stream
      b.stream = {}
      local written = 0
      for _, r in ipairs(whole) do
        local type_id, misc = string.unpack(b.w.order .. "I4I2", r.bytes)
        if r.extra == "" then
          for n = 0, math.min(#r.bytes - 8, 700) do
            b:raw(type_id, misc, r.bytes:sub(9, 8 + n))
            written = written + 1
          end
        end
      end
      assert.are.equal(written, read_all(b:bytes(), true))
    end)
  end
end)

describe("a record whose size cannot be", function()
  local function with_size(size)
    local b = everything.empty "little"
    b:record("comm", { comm = "before" })
    b:raw(3, 0, ("x"):rep(32), size)
    b:record("comm", { comm = "after" })
    return b
  end

  for _, size in ipairs { 0, 1, 7, 65528, 65535 } do
    it("ends neither the script nor the reading of earlier records: " .. size, function()
      warn "@off"
      local file = reading.open(with_size(size))
      local records = reading.all(file)
      assert.is_true(#records >= 1)
      assert.are.equal("before", records[1].comm)
      assert.is_true(#file.damage >= 1)
    end)
  end
end)

describe("random damage", function()
  for _, endian in ipairs { "little", "big" } do
    it("anywhere is survived, " .. endian .. "-endian", function()
      warn "@off"
      local bytes = everything.builder(endian):bytes()
      local seed = 20240501
      local function random(n)
        seed = (seed * 6364136223846793005 + 1442695040888963407)
        return (seed >> 33) % n
      end
      for _ = 1, TIMES do
        local damaged = bytes
        for _ = 0, random(6) do
          local at = 1 + random(#damaged)
          local noise = random(3) == 0 and ("\255"):rep(1 + random(8))
            or string.char(random(256))
          damaged = damaged:sub(1, at - 1) .. noise .. damaged:sub(at + #noise)
        end
        read_all(damaged, true)
      end
    end)
  end
end)
