-- Plain Lua values as text and back, exactly, for Tables that are saved. Reading runs nothing
-- and believes nothing: a damaged text is an error, never a wrong value.
--
-- Each value is one letter and what it needs: N nil, T true, F false, I<decimal>; D<hex float>;
-- S<length>:<bytes>, and {<key><value>…} for tables.

local values = {}

-- The floats that tonumber does not read, as %a writes them.
local floats = { inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0, ["-nan"] = 0 / 0 }

-- An order of numbers, strings and booleans.
local function less(a, b)
  local x, y = type(a), type(b)
  if x ~= y then return x < y end
  if x == "boolean" then return not a and b end
  return a < b
end

local MAX_DEPTH = 32

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, less)
  return keys
end

local write

local writers = {
  ["nil"] = function(_, out) out[#out + 1] = "N" end,
  boolean = function(value, out) out[#out + 1] = value and "T" or "F" end,
  number = function(value, out)
    local integer = math.type(value) == "integer"
    out[#out + 1] = integer and ("I%d;"):format(value) or ("D%a;"):format(value)
  end,
  string = function(value, out) out[#out + 1] = ("S%d:%s"):format(#value, value) end,
  table = function(value, out)
    out[#out + 1] = "{"
    for _, key in ipairs(sorted_keys(value)) do
      write(key, out)
      write(value[key], out)
    end
    out[#out + 1] = "}"
  end,
}

function write(value, out)
  local writer = writers[type(value)]
  if not writer then error("a " .. type(value) .. " cannot be saved", 0) end
  writer(value, out)
end

---@param value any nil, booleans, numbers, strings and tables of them
---@return string
function values.encode(value)
  local out = {}
  write(value, out)
  return table.concat(out)
end

local read

local function fail_at(at, expected)
  error(("at byte %d: %s expected"):format(at, expected), 0)
end

local readers = {
  N = function(_, at) return nil, at end,
  T = function(_, at) return true, at end,
  F = function(_, at) return false, at end,
  I = function(text, at)
    local digits, stop = text:match("^(-?%d+);()", at)
    local value = digits and math.tointeger(tonumber(digits))
    if not value or ("%d"):format(value) ~= digits then fail_at(at, "an integer") end
    return value, stop
  end,
  D = function(text, at)
    local digits, stop = text:match("^([-+%w.]+);()", at)
    local value = digits and (floats[digits] or tonumber(digits))
    if not value then fail_at(at, "a number") end
    return value + 0.0, stop
  end,
  S = function(text, at)
    local digits, start = text:match("^(%d+):()", at)
    local length = digits and math.tointeger(tonumber(digits))
    if not length or length > #text - start + 1 then fail_at(at, "a string") end
    return text:sub(start, start + length - 1), start + length
  end,
  ["{"] = function(text, at, depth)
    if depth > MAX_DEPTH then fail_at(at, "less nesting") end
    local t = {}
    while text:sub(at, at) ~= "}" do
      local key, value
      key, at = read(text, at, depth + 1)
      if key == nil or key ~= key then fail_at(at, "a key") end
      value, at = read(text, at, depth + 1)
      t[key] = value
    end
    return t, at + 1
  end,
}

function read(text, at, depth)
  local reader = readers[text:sub(at, at)]
  if not reader then fail_at(at, "a value") end
  return reader(text, at + 1, depth)
end

---@param text string
---@return any value # raises a message with the place if text is not what encode wrote
function values.decode(text)
  local value, at = read(text, 1, 1)
  if at ~= #text + 1 then fail_at(at, "the end") end
  return value
end

return values
