-- Recordings with one bit flipped: which of their other records are lost, and whether that is
-- said.
local files = require "spec.support.files"
local perflua = require "perflua"

local flips = {}

local Subject = {}
Subject.__index = Subject

--- Returns keys of all records in file order, ascending but for damage, and the file, which is
--- to be closed; nil if it is refused. Keys of records outside of compressed ones are their
--- offsets shifted left by 32 bits.
local function read(path)
  local file = perflua.open(path)
  if not file then return nil end
  local keys, n = {}, 0
  for offset, inside in file:records({ order = "file", container = true })
    :select("offset", "chunk_offset"):each() do
    n = n + 1
    keys[n] = offset << 32 | (inside and inside + 1 or 0)
  end
  return keys, file
end

--- Returns the recording in `bytes`, ready to be harmed, with the offsets of its records in
--- `starts` and the end of the last one in `ends`; nil if it is not whole or has too few
--- records.
function flips.subject(bytes, name)
  local path = files.temporary(bytes)
  local keys, file <close> = read(path)
  if not keys or #keys < 10 or #file.damage > 0 or not file.complete then return nil end
  local self = setmetatable({ name = name, path = path, bytes = bytes, keys = keys,
    starts = {}, compressed = {}, types = {} }, Subject)
  for at, kind, inside, size in file:records({ order = "file", container = true })
    :select("offset", "type", "chunk_offset", "size"):each() do
    if not inside then
      self.ends = at + size
      self.starts[#self.starts + 1] = at
      self.types[at] = kind
      self.compressed[at] = kind:find "^compressed" ~= nil
    end
  end
  self.ends = math.min(self.ends, #bytes)
  self.handle = assert(io.open(path, "r+b"))
  self.handle:setvbuf "no"
  return self
end

function Subject:close()
  self.handle:close()
  os.remove(self.path)
end

function Subject:write(at, byte)
  self.handle:seek("set", at)
  self.handle:write(string.char(byte))
end

--- Returns the offset of the record, payload included, of which the byte at `at` is one.
function Subject:record_at(at)
  local starts, low, high = self.starts, 1, #self.starts
  while low < high do
    local middle = (low + high + 1) // 2
    if starts[middle] <= at then low = middle else high = middle - 1 end
  end
  return starts[low]
end

--- Returns the key of the last record inside a compressed one that begins before the offset
--- `at`, which may end after it.
function Subject:inside_before(at)
  local found = at << 32
  for _, key in ipairs(self.keys) do
    if key >> 32 >= at then break end
    if key & 0xffffffff > 0 then found = key end
  end
  return found
end

--- Returns how many records besides the one that is hit are lost if the byte at `at` is changed
--- by `mask`, how many are delivered that are none, and how much damage is noted.
function Subject:flip(at, mask)
  self:write(at, self.bytes:byte(at + 1) ~ mask)
  local got, file <close> = read(self.path)
  self:write(at, self.bytes:byte(at + 1))
  if not got then return #self.keys - 1, 0, 1 end
  local hit = self:record_at(at)
  local whole, lost, wrong, i, j = self.keys, 0, 0, 1, 1
  -- a compressed stream may be lost from there on, with a record that begins before
  local opaque = self.compressed[hit] and self:inside_before(hit)
  while i <= #whole or j <= #got do
    local expected, found = whole[i] or math.maxinteger, got[j] or math.maxinteger
    if expected == found then
      i, j = i + 1, j + 1
    elseif expected < found then
      if expected ~= hit << 32 and not (opaque and expected & 0xffffffff > 0
        and expected >= opaque) then
        lost = lost + 1
      end
      i = i + 1
    else
      if not (opaque and found & 0xffffffff > 0 and found >= opaque) then
        wrong = wrong + 1
      end
      j = j + 1
    end
  end
  return lost, wrong, #file.damage
end

return flips
