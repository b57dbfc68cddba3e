-- Compressed recordings made on the spot, whole, damaged and cut, compared with what perf finds
-- in them.
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

local COMPRESSED = { [81] = true, [83] = true }

local function line(r, time)
  return ("0x%x type %d size %d time %d"):format(r.offset, r.type_id, r.size, time)
end

--- The offset in such a line.
local function offset_of(text)
  return tonumber(text:match "^0x(%x+)", 16)
end

--- Lines in the order of what follows their offsets.
local function sorted(list)
  table.sort(list, function(a, b) return a:match " .*" .. a < b:match " .*" .. b end)
  return list
end

--- A record inside compressed ones has the offset of that in which it begins.
local function lines(file)
  local list = {}
  for r in file:records({ container = true }):each() do
    if not COMPRESSED[r.type_id] then
      local id = r.type_id < 64 and r.sample_id
      list[#list + 1] = line(r, r.type_id < 64 and (id and id.time or r.time) or 0)
    end
  end
  return sorted(list)
end

--- Here it has the offset of that in which it ends.
local function perf_lines(path)
  local list = {}
  for i, r in ipairs(oracle.dump(path)) do
    list[i] = line(r, r.type_id < 64 and r.time or 0)
  end
  return sorted(list)
end

--- The offsets of the compressed records.
local function compressed_of(file)
  local offsets = {}
  for r in file:records({ container = true, order = "file" }):each() do
    if COMPRESSED[r.type_id] then
      offsets[#offsets + 1] = r.offset
    end
  end
  return offsets
end

local function compressed(path)
  local file <close> = assert(perflua.open(path))
  return compressed_of(file)
end

--- Counts the lines of records before, at, and after an offset but outside of compressed
--- records.
local function split(list, offset, inside)
  local before, at, outside = 0, 0, 0
  for _, text in ipairs(list) do
    local of = offset_of(text)
    before = before + (of < offset and 1 or 0)
    at = at + (of == offset and 1 or 0)
    outside = outside + (of > offset and not inside[of] and 1 or 0)
  end
  return before, at, outside
end

-- Returns where the largest compressed record after the first one is, and its size.
local function largest(whole, offsets)
  local offset, size = nil, 0
  for i = 2, #offsets do
    local size_of_it = string.unpack("<I2", whole, offsets[i] + 7)
    if size_of_it > size then offset, size = offsets[i], size_of_it end
  end
  return offset, size
end

needs.describe("tracepoints", "a recording made now with -z", function()
  local path, offsets, inside
  local all -- as perf has them
  local workload = "dd if=/dev/zero of=/dev/null bs=1 count=%d"

  setup(function()
    -- how often perf empties its buffer is a matter of luck, until it is full
    local count = 3000
    repeat
      path = assert(oracle.record("-z -c 1 -e raw_syscalls:sys_enter", workload:format(count)))
      offsets = compressed(path)
      count = count * 4
      local _, size = largest(files.read(path), offsets)
    until #offsets >= 3 and size > 8 + 900 or count > 1000000
    inside = {}
    for _, at in ipairs(offsets) do
      inside[at] = true
    end
    all = perf_lines(path)
  end)

  it("holds the records perf finds", function()
    assert.is_true(#offsets >= 3, #offsets .. " compressed records")
    assert.is_true(#all > 1000)
    local file <close> = assert(perflua.open(path))
    local ours, straddling = lines(file), 0
    assert.are.equal(#all, #ours)
    for i, theirs in ipairs(all) do
      if theirs ~= ours[i] then
        assert.are.equal(theirs:match " .*", ours[i]:match " .*")
        assert.is_true(offset_of(theirs) > offset_of(ours[i]) and inside[offset_of(ours[i])],
          ours[i])
        straddling = straddling + 1
      end
    end
    assert.is_true(straddling < #offsets)
  end)

  it("is complete, and can be read field by field", function()
    local file <close> = assert(perflua.open(path))
    for r in file:records():each() do
      assert.is_true(r.type ~= "sample" or r.raw ~= nil)
    end
    assert.is_true(file.complete)
    assert.is_not_nil(file.features.compressed)
    everything.read(file:records("comm"):first())
  end)

  it("has them at their places in the compressed records", function()
    local file <close> = assert(perflua.open(path))
    local last, at = nil, 0
    for r in file:records():each() do
      if r.chunk_offset then
        assert.is_true(inside[r.offset])
        if r.offset == last then
          assert.are.equal(at, r.chunk_offset)
        else
          -- more than 0 where one began before
          assert.is_true(r.chunk_offset >= 0 and r.chunk_offset < 1 << 16)
        end
        last, at = r.offset, r.chunk_offset + r.size
      end
    end
    assert.is_not_nil(last)
  end)

  it("comes through a pipe as it lies in a file", function()
    local binary = os.getenv "PERFLUA" or "build/perflua"
    local got =
      files.output(
        ("perf record -q -N -m 64 -z -c 1 -e raw_syscalls:sys_enter -o - -- %s 2>/dev/null | "
      .. "tee %s | %s dump - 2>&1 | cksum"):format(workload:format(3000), path .. ".pipe",
      binary))
    local again = files.output(("%s dump %s.pipe 2>&1 | cksum"):format(binary, path))
    local file <close> = assert(perflua.open(path .. ".pipe"))
    local n = #lines(file)
    local dump = #oracle.dump(path .. ".pipe")
    os.remove(path .. ".pipe")
    assert.are.equal(again, got)
    assert.is_true(n > 100)
    assert.are.equal(dump, n)
  end)

  --- The lines of a copy with these bytes at an offset, or cut there, and its file.
  local function changed(offset, bytes)
    warn "@off"
    local whole = files.read(path)
    local kept = bytes and whole:sub(offset + #bytes + 1) or ""
    local file =
      assert(perflua.open(files.temporary(whole:sub(1, offset) .. (bytes or "") .. kept)))
    return lines(file), file
  end

  it("is delivered up to a damaged frame, and after it what is not compressed", function()
    for _, i in ipairs { 1, 2, #offsets // 2 + 1, #offsets } do
      local offset = offsets[i]
      local got, file = changed(offset + 8, ("\255"):rep(12))
      local before, _, outside = split(all, offset, inside)
      local got_before, got_at, got_outside = split(got, offset, inside)
      assert.are.same({ before, 0, outside }, { got_before, got_at, got_outside })
      assert.are.equal(before + outside, #got)
      assert.is_false(file.complete)
      assert.are.equal(offset, file.damage[1].offset)
      file:close()
    end
  end)

  it("loses no more than what follows in its frame to a flipped byte", function()
    local whole = files.read(path)
    local offset, size = largest(whole, offsets)
    assert.is_true(size > 8 + 900, size .. " bytes")
    for step = 9, 900, 99 do
      local at = offset + 8 + step
      local byte = whole:byte(at + 1)
      local got, file = changed(at, string.char(byte ~ 0x55))
      local before, _, outside = split(all, offset, inside)
      local got_before, _, got_outside = split(got, offset, inside)
      -- the one that ends after the flipped byte may be there or not
      assert.is_true(got_before == before or got_before == before + 1, "at " .. step)
      assert.are.equal(outside, got_outside, "at " .. step)
      file:close()
    end
  end)

  it("is delivered up to where it was cut, also within a compressed record", function()
    local size, known = string.unpack("<I2", files.read(path), offsets[3] + 7), {}
    for _, text in ipairs(all) do
      local kind = text:match " .*"
      known[kind] = (known[kind] or 0) + 1
    end
    for _, at in ipairs { 1, 8, 9, size // 2, size - 1 } do
      local got, file = changed(offsets[3] + at)
      local before, inside_it = split(all, offsets[3], inside), 0
      local seen = {}
      for _, text in ipairs(got) do
        local kind = text:match " .*"
        seen[kind] = (seen[kind] or 0) + 1
        assert.is_true(seen[kind] <= (known[kind] or 0), text)
        inside_it = inside_it + (offset_of(text) == offsets[3] and 1 or 0)
      end
      -- one that begins in the record before may end here
      local across = #got - before - inside_it
      assert.is_true(across == 0 or across == 1, across .. " records too many, cut after "
        .. at)
      assert.is_false(file.complete)
      file:close()
    end
  end)

  it("says that it begins in another file when its first compressed record is gone", function()
    warn "@off"
    local whole = files.read(path)
    local size = string.unpack("<I2", whole, offsets[1] + 7)
    local data, data_size = string.unpack("<I8I8", whole, 41)
    -- neither that record nor the features after the data, whose places would be others
    local rest = whole:sub(1, 48) .. string.pack("<I8", data_size - size) .. whole:sub(57, 72)
      .. ("\0"):rep(32)
      .. whole:sub(105, offsets[1]) .. whole:sub(offsets[1] + size + 1, data + data_size)
    local file <close> = assert(perflua.open(files.temporary(rest)))
    local before, _, outside = split(all, offsets[1], inside)
    assert.are.equal(before + outside, file:records({ container = true }):where(function(r)
      return not COMPRESSED[r.type_id]
    end):count())
    assert.are.equal(offsets[2] - size, file.damage[1].offset)
    assert.matches("begins in the file recorded before this one", file.damage[1].reason)
  end)
end)

needs.describe("tracepoints",
  "the second file of a recording made now with -z --switch-output", function()
  --- The two recordings; fewer if perf was not quick enough to switch.
  local function record()
    local dir = files.output "mktemp -d":match "%S+"
    files.output(([[perf record -q -N -m 64 -z -c 1 -e raw_syscalls:sys_enter --switch-output=signal -o %s/data -- \
      sh -c 'for i in 1 2; do dd if=/dev/zero of=/dev/null bs=1 count=500; kill -USR2 $PPID; sleep 0.2; done' 2>&1]])
      :format(dir))
    local first, second
    for name in files.lines(("ls %s/*"):format(dir)) do
      second = first and not second and name or second
      first = first or name
    end
    local one, other = first and perflua.open(first), second and perflua.open(second)
    os.execute("rm -r " .. dir)
    return one, other
  end

  it("says that its stream begins in the first", function()
    warn "@off"
    local one, other
    for _ = 1, 5 do
      one, other = record()
      if one and other and one:samples():count() > 100 and #compressed_of(other) > 0 then
        break
      end
    end
    assert.is_true(one:samples():count() > 100)
    assert.is_true(one.complete)
    assert.are.equal(0, other:samples():count())
    assert.is_false(other.complete)
    assert.matches("begins in the file recorded before this one", other.damage[1].reason)
    assert.is_true(other:records():count() > 0)
    one:close()
    other:close()
  end)
end)
