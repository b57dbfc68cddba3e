-- Samples without a function in binaries that both sides have, by their build-ids: there they
-- are compared by address, or get the names that the other side knows.

local core = require "perflua.core"
local slices = require "perflua.diff.slices"

local addresses = {}

local LEAST <const> = 20 -- samples of both sides without a function: with fewer nothing is read

-- Where an address lies: bytes from the start of its map, which is pgoff in the file.
local PLACE <const> = { "map.build_id", "map.filename", "map.pgoff", "ip - map.start" }

-- Returns the build-id of an address, and its offset in that binary: that of a kernel, whose
-- map has no file, from its start. nil: no build-id is known.
local function place_of(build_id, filename, pgoff, offset)
  if not (build_id and filename and pgoff and offset) then return nil end
  return build_id, filename:find "^%[" and offset or offset + pgoff
end

-- Adds the functions that a run's samples have to those of a side, by build-id.
local function add_functions(one, run)
  local spec = run.spec
  local scope, keys = spec.scope, {}
  for i, text in ipairs { PLACE[1], PLACE[2], PLACE[3], "ip - map.start - symoff", "symbol",
    "symbol_size" } do
    keys[i] = { name = text, ref = scope:ref(text) }
  end
  for _, g in ipairs(slices.groups(spec, keys, { { name = "", measure = "count" } })) do
    local id, filename, pgoff, start, symbol, size = table.unpack(g.keys, 1, #keys)
    if id then
      local binary = one[id] or { functions = {}, unnamed = 0 }
      one[id] = binary
      local build_id, from = place_of(id, filename, pgoff, start)
      if not symbol then
        binary.unnamed = binary.unnamed + g[1]
      elseif build_id and size then
        table.insert(binary.functions, { start = from, size = size, name = symbol })
      end
    end
  end
end

local function functions_of(side)
  local one = {}
  for _, run in ipairs(side.runs) do add_functions(one, run) end
  for _, binary in pairs(one) do
    table.sort(binary.functions, function(a, b) return a.start < b.start end)
  end
  return one
end

-- Returns the function at an offset.
local function find_function(functions, offset)
  local low, high = 1, #functions
  while low <= high do
    local middle = (low + high) // 2
    if functions[middle].start <= offset then low = middle + 1 else high = middle - 1 end
  end
  local found = functions[high]
  return found and offset - found.start < found.size and found.name or nil
end

-- Names addresses of binaries that both sides have.
local function make_naming(at, own, other)
  return { at = at, keys = PLACE, name = function(symbol, ...)
    if math.type(symbol) ~= "integer" then return symbol end
    local id, offset = place_of(...)
    if not (id and own[id] and other[id]) then return nil end
    local name = find_function(other[id].functions, offset)
    if name then return name end
    return ("0x%x"):format(symbol), ("%s:%x"):format(id, offset)
  end }
end

-- Counts the samples without a function; nil if the side cannot be read again, or its rows are
-- not by function.
local function count_unnamed(side)
  if not side.symbol then return nil end
  local n = 0
  for _, run in ipairs(side.runs) do
    local spec = run.spec
    if not spec or not spec.file.size or spec.reader or spec.unnest then return nil end
    if run.keys[side.symbol].text ~= "symbol" then return nil end
  end
  for _, rows in pairs(side.rows) do
    for _, row in pairs(rows) do
      if row.is_unnamed then n = n + (row.samples or 0) end
    end
  end
  return n
end

local function build_ids_of(side)
  local ids = {}
  for _, run in ipairs(side.runs) do
    core.each_binary(run.spec.file, false, function(binary)
      if binary.build_id then ids[binary.build_id] = true end
    end)
  end
  return ids
end

local function have_common(a, b)
  for id in pairs(a) do
    if b[id] then return true end
  end
  return false
end

---Returns what names addresses of the sides, if samples without a function are in binaries that
---both have; it reads the recordings again.
---@param before table a side
---@param after table
---@return { at: integer, keys: string[], name: fun(symbol: any, ...): string?, string? }?
--- # of `before`: names the value of the key `at`, an address where no function is known, by
--- the values of more keys; the second result tells equal addresses of several binaries apart.
--- nil: there is no such binary
---@return table? # of `after`
function addresses.namings(before, after)
  local a, b = count_unnamed(before), count_unnamed(after)
  if not (a and b) or a + b < LEAST then return nil end
  if not have_common(build_ids_of(before), build_ids_of(after)) then return nil end
  local own, other, n = functions_of(before), functions_of(after), 0
  for id, binary in pairs(own) do
    if other[id] then n = n + binary.unnamed + other[id].unnamed end
  end
  if n < LEAST then return nil end
  return make_naming(before.symbol, own, other), make_naming(after.symbol, other, own)
end

return addresses
