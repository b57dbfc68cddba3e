-- States of measures in a file, as one token each: { write(state, value_token) → token,
-- read(token, value_of, column) → state, or nil if it is invalid }, by measure.
--
-- Within a token | separates; a bucket of a sketch is BUCKET:COUNT.

local arith = require "perflua.filter.arith"
local has = require("perflua.filter.kinds").has
local values = require "perflua.table.values"

local states = {}

local MAX_BUCKET = 1 << 17 -- of floats: their 11 bits of exponent and 6 of fraction
-- buckets of a histogram: all between the least and the greatest are shown
local MAX_POWER = 64

local function split_parts(token) return token:gmatch("[^|]+") end

-- Returns the number of a text; nil if it has none.
local function parse_number(text) return text and (tonumber(text) or values.floats[text]) end

local function parse_count(text)
  local n = parse_number(text)
  return math.type(n) == "integer" and n >= 0 and n or nil
end

-- Returns whether a number can be a sum of values of that kind.
local function is_sum(n, kind)
  if arith.is_unsigned[kind] then return math.type(n) == "integer" and n >= 0 end
  return math.type(n) == "integer" or kind ~= "signed" and n ~= nil
end

local function write_counts(counts)
  local order, texts = {}, {}
  for bucket in pairs(counts) do order[#order + 1] = bucket end
  table.sort(order)
  for i, bucket in ipairs(order) do texts[i] = bucket .. ":" .. counts[bucket] end
  return table.concat(texts, "|")
end

local function bucket_of(part, limit)
  local b, n = part:match("^(-?%d+):(%d+)$")
  b, n = parse_number(b), parse_count(n)
  if n and math.type(b) == "integer" and b >= -limit and b <= limit then return b, n end
end

local function read_counts(token, limit)
  local counts = {}
  for part in split_parts(token) do
    local b, n = bucket_of(part, limit)
    if not b or counts[b] then return nil end
    counts[b] = n
  end
  return counts
end

states.count = {
  write = function(n) return n end,
  read = function(token) return parse_count(token) end,
}

states.sum = {
  write = function(sum, value_token) return value_token(sum) end,
  read = function(token, _, column)
    local sum = parse_number(token)
    return is_sum(sum, column.kind) and sum or nil
  end,
}

states.share = states.sum

-- Sums of two events' records.
states.ratio = {
  write = function(s, value_token)
    return ("%s|%s"):format(value_token(s[1]), value_token(s[2]))
  end,
  read = function(token, _, column)
    local a, b = token:match("^([^|]+)|([^|]+)$")
    a, b = parse_number(a), parse_number(b)
    return is_sum(a, column.kind) and is_sum(b, column.kind) and { a, b } or nil
  end,
}

-- See measures/average.lua.
states.avg = {
  write = function(s, value_token)
    return ("%d|%d|%s"):format(s[1], s[2], value_token(s[3]))
  end,
  read = function(token)
    local n, high, low = token:match("^([^|]+)|([^|]+)|([^|]+)$")
    n, high, low = parse_count(n), parse_number(high), parse_number(low)
    local is_low = math.type(low) == "float" or low and low >= 0 and low < 1 << 32
    return n and math.type(high) == "integer" and is_low and { n, high, low } or nil
  end,
}

-- A value, or false for none.
states.min = {
  write = function(value, value_token)
    if value == false then value = nil end
    return value_token(value)
  end,
  read = function(token, value_of, column)
    local value = value_of(token)
    if value == nil then return false end
    return type(value) ~= "boolean" and has[column.kind](value) and value or nil
  end,
}

states.max = states.min

-- A table of one value or none.
states.first = {
  write = function(state, value_token) return value_token(state[1]) end,
  read = function(token, value_of, column)
    local value = value_of(token)
    return (value == nil or has[column.kind](value)) and { value } or nil
  end,
}

states.last = states.first
states.compared, states.delta = states.first, states.first

states.hist = {
  write = write_counts,
  read = function(token) return read_counts(token, MAX_POWER) end,
}

-- LEAST|GREATEST|BUCKET:COUNT|…
states.quantile = {
  write = function(s, value_token)
    if s[2] == nil then return "" end
    return ("%s|%s|%s"):format(value_token(s[2]), value_token(s[3]), write_counts(s[1]))
  end,
  read = function(token, _, column)
    if token == "" then return { {} } end
    local least, greatest, rest = token:match("^([^|]+)|([^|]+)|(.+)$")
    least, greatest = parse_number(least), parse_number(greatest)
    if not (least and greatest and has[column.kind](least) and has[column.kind](greatest)) then
      return nil
    end
    local counts = read_counts(rest, MAX_BUCKET)
    return counts and { counts, least, greatest }
  end,
}

states.distinct = {
  write = function(set, value_token)
    local order, texts = {}, {}
    for value in pairs(set) do order[#order + 1] = value end
    table.sort(order, values.less)
    for i, value in ipairs(order) do texts[i] = value_token(value) end
    return table.concat(texts, "|")
  end,
  read = function(token, value_of, column)
    local set, valid = {}, has[column.kind]
    for part in split_parts(token) do
      local value = value_of(part)
      if value == nil or value ~= value or not valid(value) then return nil end
      set[value] = true
    end
    return set
  end,
}

return states
