-- The order of rows: the greatest first, of equal ones those with the greater period of their
-- own; then by their keys: booleans, numbers, texts, addresses, which stand for functions, and
-- what is absent.

local PERIOD <const> = 2 -- place in a row

local RANKS <const> = { boolean = 1, number = 2, string = 3, ["nil"] = 5 }
local ADDRESS <const> = 4 -- its rank

local function is_less(a, b, kind)
  if type(a) == "boolean" then return not a and b end
  if math.type(a) == "integer" and math.type(b) == "integer" and kind ~= "signed" then
    return math.ult(a, b)
  end
  return a < b
end

-- An address is a text here, as it is shown.
local function address_of(value)
  local digits = type(value) == "string" and value:match "^0x(%x+)$"
  return digits and #digits == 16 and tonumber(digits, 16) or nil
end

local function rank_of(value, is_symbol)
  return is_symbol and type(value) == "number" and ADDRESS or RANKS[type(value)]
end

---@param list table[] # rows
---@param measure integer place of what decides; not negative
---@param keys {name: string, kind: string}[]
---@param symbol integer? the place of the symbol among the keys
---@return table[]
return function(list, measure, keys, symbol)
  local function value_of(row, i)
    local value = row.keys[i]
    return i == symbol and row.unresolved and address_of(value) or value
  end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted, function(a, b)
    if a[measure] ~= b[measure] then return a[measure] > b[measure] end
    if a[PERIOD] ~= b[PERIOD] then return a[PERIOD] > b[PERIOD] end
    for i, key in ipairs(keys) do
      local x, y = value_of(a, i), value_of(b, i)
      if x ~= y then
        local left, right = rank_of(x, i == symbol), rank_of(y, i == symbol)
        if left ~= right then return left < right end
        return is_less(x, y, i == symbol and "address" or key.kind)
      end
    end
    return false
  end)
  return sorted
end
