-- Damage in the middle of a recording: what is whole on both sides of it is read.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"

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

---Returns what has to be delivered when bytes from `from` up to `to` cannot be trusted.
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

  it("costs the records that zeros cover, however many they are", function()
    for n = 8, 160 do
      assert.are.same(outside(middle, middle + n), (offsets_in(damaged(middle, ("\0"):rep(n)))),
        n .. " zeros")
    end
  end)

  it("costs the records that zeros cover", function()
    local got, damage, complete = offsets_in(damaged(middle, ("\0"):rep(4096)))
    assert.are.same(outside(middle, middle + 4096), got)
    assert.is_false(complete)
    assert.are.equal(1, #damage)
    assert.are.equal(middle, damage[1].offset)
    assert.is_true(damage[1].size >= 4096)
    assert.matches("found 0", damage[1].reason)
  end)

  it("costs the records that random bytes cover", function()
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

  it("costs that record if its size is too small or too large", function()
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

  it("costs at most one record if it is one byte", function()
    for i = 100, 130 do
      local from, to = records[i], records[i + 1]
      local expected = outside(from, to)
      for at = from, to - 1, STEP do
        local flipped = string.char(whole:byte(at + 1) ~ 0xff)
        local got = set_of(offsets_in(damaged(at, flipped)))
        for _, offset in ipairs(expected) do
          if not got[offset] then
            error(("byte %d: the record at %d is lost"):format(at, offset))
          end
        end
      end
    end
  end)
end)

--- A recording of n samples of an event with these members; more: other events.
local function samples(n, members, more, container)
  local b = builder.new { container = container or "file" }
  b:event(members)
  for _, other in ipairs(more or {}) do b:event(other) end
  for i = 1, n do
    b:sample(b.events[1], { ip = i, pid = 1, tid = 1, time = 10 + i, addr = 5, cpu = 1,
      period = 1, stream_id = 7 })
  end
  return b
end

--- These bytes with others from `at` on.
local function with(bytes, at, others)
  return bytes:sub(1, at) .. others .. bytes:sub(at + #others + 1)
end

--- Offsets of the records of a builder that are read, but for those that describe a pipe, and
--- the damage.
local function read_with(b, at, others)
  local offsets, damage, complete = offsets_in(with(b:bytes(), at, others))
  local first, list = b:offsets()[1], {}
  for _, offset in ipairs(offsets) do
    if offset >= first then list[#list + 1] = offset end
  end
  return list, damage, complete
end

--- Asserts that all records of a builder but the one at `lost` were read, and nothing else.
local function is_all_but(lost, b, list, what)
  local found, wrong = set_of(list), {}
  for _, at in ipairs(b:offsets()) do
    if at ~= lost and not found[at] then wrong[#wrong + 1] = at .. " is lost" end
    found[at] = nil
  end
  for at in pairs(found) do
    wrong[#wrong + 1] = at .. " is not a record"
  end
  assert.are.same({}, table.move(wrong, 1, math.min(#wrong, 9), 1, {}), what)
end

-- Counts the records of standard input, without those that describe it.
local counting = run.script [[
warn "@off"
local n, file = 0, require "perflua".open "-"
for r in file:records { order = "file", container = true, reuse = true } do
  n = n + (r.type:find "^header_" and 0 or 1)
end
print(n .. " " .. #file.damage)
]]

local UNIFORM = { sample_type = { "ip", "tid", "time", "addr", "cpu", "period", "stream_id" },
  ids = { 7 } }
local TOO_SMALL = string.pack("<I2", 4)

describe("the search after a damaged record", function()
  it("finds the next ones if it was not aligned", function()
    local b = samples(5, UNIFORM)
    for _ = 1, 3 do b:raw(67, 0, ("\1"):rep(92)) end -- 100 bytes, as perf inject -b writes them
    for i = 1, 200 do b:sample(b.events[1], { ip = i, time = 20 + i }) end
    for i = 6, 8 do
      local at = b:offsets()[i]
      for _, others in ipairs { "\4\0", "\0\0", "\104\0" } do
        local list, damage = read_with(b, at + 6, others)
        is_all_but(at, b, list)
        assert.are.equal(1, #damage)
        assert.are.equal(at, damage[1].offset)
        assert.are.equal(100, damage[1].size)
      end
    end
  end)

  it("finds the next ones of several events without ids", function()
    local b = samples(300, { sample_type = { "ip", "tid", "time" }, ids = {} },
      { { sample_type = { "ip", "tid", "time" }, config = 1, ids = {} } })
    local at = b:offsets()[100]
    local list, damage = read_with(b, at + 6, TOO_SMALL)
    is_all_but(at, b, list)
    assert.are.equal(1, #damage)
  end)

  it("finds the next ones if it claims more than is left in a pipe", function()
    local b = samples(300, UNIFORM, nil, "pipe")
    for _, i in ipairs { 1, 150, 290, 297 } do
      local at = b:offsets()[i]
      local list, damage = read_with(b, at + 6, "\248\255")
      is_all_but(at, b, list)
      local piped = run.shell_with('cat "$1" | "$perflua" "$2" -', path, counting)
      assert.are.equal(("%d %d\n"):format(#b:offsets() - 1, #damage), piped.out)
      assert.are.equal(at, damage[1].offset)
      assert.matches(
        "found 65528, expected at most the %d+ bytes that are left; the next record follows",
        damage[1].reason)
    end
  end)

  it("finds nothing if it is the last of a pipe, and reports the cut", function()
    local b = samples(300, UNIFORM, nil, "pipe")
    local offsets, damage = offsets_in(b:bytes():sub(1, b:offsets()[300] + 30))
    assert.are.equal(b:offsets()[299], offsets[#offsets])
    assert.matches("found 64, expected at most the 30 bytes that are left; it was cut off$",
      damage[1].reason)
  end)
end)

describe("a bit of a type", function()
  local cases = {
    { "in a file", "file", nil,
      "type of a record: found 32777, expected 9, which fits its parts;" },
    { "in a pipe", "pipe", nil,
      "type of a record: found 32777, expected 9, which fits its parts;" },
    { "in a file of simpleperf's, where it makes the size one of 32 bits,", "file", 129,
      "type of a record: found 32777 and so a size of %d+, expected one whose size is 64;" },
  }
  for _, case in ipairs(cases) do
    local where, container, feature, expected = table.unpack(case)
    it("costs that record, which is said, if it makes it one of simpleperf's, "
      .. where, function()
      local b = samples(6000, UNIFORM, nil, container)
      if feature then b:feature(feature, "") end
      local at = b:offsets()[100]
      for _, misc in ipairs { 1, 2, 0x4002 } do
        local list, damage, complete = read_with(b, at, string.pack("<I4I2", 9 | 0x8000, misc))
        is_all_but(at, b, list)
        assert.are.equal(1, #damage)
        assert.is_false(complete)
        assert.are.equal(at, damage[1].offset)
        assert.are.equal(64, damage[1].size)
        assert.matches(expected, damage[1].reason)
      end
    end)
  end

  it("is damage of samples and of compressed records in its upper half", function()
    local b = samples(100, UNIFORM)
    local at = b:offsets()[50]
    local list, damage = read_with(b, at, string.pack("<I4", 9 | 1 << 20))
    is_all_but(at, b, list)
    assert.matches("type of a record: found 1048585, expected 9, which fits its parts",
      damage[1].reason)
  end)
end)

describe("damage after a whole record", function()
  it("costs not that record, and names the one that is bad", function()
    for _, size in ipairs { 13, 24, 101, 3000, 40000 } do
      for _, others in ipairs { ("\0"):rep(8), ("\255"):rep(8), "\9\0\0\0\2\0\3\0" } do
        local b = samples(20, UNIFORM)
        b:raw(81 + 19, 0, ("x"):rep(size - 8))
        for i = 1, 20 do b:sample(b.events[1], { ip = i, time = 100 + i }) end
        local at = b:offsets()[22]
        local list, damage = read_with(b, at, others)
        is_all_but(at, b, list, size)
        assert.are.equal(1, #damage)
        assert.are.equal(at, damage[1].offset)
        local found, least = damage[1].reason:match "found (%d+), expected at least (%d+)"
        if found then
          assert.is_true(tonumber(found) < tonumber(least), damage[1].reason)
        else
          local most
          found, most = damage[1].reason:match "found (%d+), expected at most the (%d+) bytes"
          assert.is_true(tonumber(found) > tonumber(most), damage[1].reason)
        end
      end
    end
  end)

  it("is reported if it leaves less than a header at the end", function()
    local offsets, damage = offsets_in(samples(20, UNIFORM, nil, "pipe"):bytes()
      .. "\1\2\3\4\5")
    assert.is_true(#offsets >= 20)
    assert.are.equal("found 5 bytes after the last record, expected none or a header of 8",
      damage[1].reason)
  end)
end)
