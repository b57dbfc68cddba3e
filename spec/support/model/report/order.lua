-- The order of rows: the greatest first, equal ones by their keys. Rows are sorted by strings
-- that compare as they do, which is much faster than a function that compares them.

local ZERO, X = ("0x"):byte(1, 2)

-- Behind every name: addresses, and what is absent.
local LAST = "\xff"

local function format_hex(x) return ("%016x"):format(x) end

local function encode_key(value, kind)
  if value == nil then return LAST end
  if math.type(value) == "integer" then
    return format_hex(kind == "signed" and value ~ math.mininteger or value)
  end
  return tostring(value)
end

local function symbol_text(value)
  local a, b = value:byte(1, 2)
  return a == ZERO and b == X and LAST .. value or value
end

-- Returns a table that encodes measures, the greatest first, and remembers them: many rows have
-- the same.
local function make_descending()
  return setmetatable({}, { __index = function(known, value)
    known[value] = format_hex(~value)
    return known[value]
  end })
end

---@param list table[] # rows
---@param measure integer place of what decides; not negative
---@param keys {name: string, kind: string}[]
---@param symbol integer? the place of the symbol among the keys
---@return table[]
return function(list, measure, keys, symbol)
  local lines, rows, parts, first = {}, {}, {}, make_descending()
  for r, row in ipairs(list) do
    local values = row.keys
    parts[1] = first[row[measure]]
    for i, key in ipairs(keys) do
      parts[i + 1] = i == symbol and symbol_text(values[i]) or encode_key(values[i], key.kind)
    end
    local line = table.concat(parts, "\0")
    while rows[line] do line = line .. "\0" end
    lines[r], rows[line] = line, row
  end
  table.sort(lines)
  for i, line in ipairs(lines) do lines[i] = rows[line] end
  return lines
end
