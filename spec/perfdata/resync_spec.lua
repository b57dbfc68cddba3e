-- Damage in the middle of a recording: what is whole on both sides of it is read.
local files = require "spec.support.files"
local perflua = require "perflua"

local whole = files.read(files.fixture "demo.perf.data")
local path = files.temporary()

--- Offsets of the records of these bytes, in the file's order, and what was noted.
local function offsets_in(bytes)
  warn "@off"
  files.write(path, bytes)
  local file <close> = assert(perflua.open(path))
  local offsets = {}
  for r in file:records({ order = "file", container = true }):each() do
    offsets[#offsets + 1] = r.offset
  end
  return offsets, file.damage, file.complete
end

local records = offsets_in(whole)

--- The bytes with some of them replaced.
local function damaged(at, bytes)
  return whole:sub(1, at) .. bytes .. whole:sub(at + #bytes + 1)
end

--- What has to be delivered when bytes from `from` on up to `to` are not to be trusted.
local function outside(from, to)
  local expected = {}
  for i, at in ipairs(records) do
    local ends = records[i + 1] or math.huge
    if ends <= from or at >= to then
      expected[#expected + 1] = at
    end
  end
  return expected
end

local function set_of(list)
  local set = {}
  for _, at in ipairs(list) do
    set[at] = true
  end
  return set
end

-- `make sweep` damages every byte.
local STEP = os.getenv "SWEEP" and 1 or 3

describe("damage in the middle of a recording", function()
  local middle = records[#records // 2]

  it("of zeros costs the records it covers", function()
    local got, damage, complete = offsets_in(damaged(middle, ("\0"):rep(4096)))
    assert.are.same(outside(middle, middle + 4096), got)
    assert.is_false(complete)
    assert.are.equal(1, #damage)
    assert.are.equal(middle, damage[1].offset)
    assert.is_true(damage[1].size >= 4096)
    assert.matches("found 0", damage[1].reason)
  end)

  it("of random bytes costs the records it covers", function()
    local seed = 7
    local bytes = {}
    for i = 1, 3000 do
      seed = seed * 6364136223846793005 + 1442695040888963407
      bytes[i] = string.char(seed >> 33 & 255)
    end
    local got, damage = offsets_in(damaged(middle, table.concat(bytes)))
    assert.are.same(outside(middle, middle + 3000), got)
    assert.is_true(#damage >= 1)
  end)

  it("of a size that is too small, or too large, costs that record", function()
    for _, size in ipairs { 0, 7, 16, 0xfff8 } do
      local got = set_of(offsets_in(damaged(middle + 6, string.pack("<I2", size))))
      for _, at in ipairs(outside(middle, middle + 8)) do
        assert.is_true(got[at], ("size %d: the record at %d is lost"):format(size, at))
      end
    end
  end)

  it("raises where strict reading was asked for", function()
    files.write(path, damaged(middle, ("\0"):rep(64)))
    local file <close> = assert(perflua.open(path, { strict = true }))
    assert.error_matches(function()
      for _ in file:records { order = "file" } do end -- luacheck: ignore 542
    end, ("offset %d"):format(middle))
  end)

  it("in any one byte of a record costs that record at most", function()
    for i = 100, 130 do
      local from, to = records[i], records[i + 1]
      local expected = outside(from, to)
      for at = from, to - 1, STEP do
        local flipped = string.char(whole:byte(at + 1) ~ 0xff)
        local got = set_of(offsets_in(damaged(at, flipped)))
        for _, offset in ipairs(expected) do
          if not got[offset] then error(("byte %d: the record at %d is lost"):format(at, offset)) end
        end
      end
    end
  end)
end)
