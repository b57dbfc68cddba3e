-- Sums that are never wrong: those that do not fit raise.

local arith = require "perflua.filter.arith"
local usage_error = require("perflua.errors").usage_error

local sums = {}

-- Messages for sums without an answer, by the core's words for the reason.
sums.wrong = {
  sum = "a sum exceeds 2^63-1: add up fewer records, or use avg()",
  periods = "the periods add up to more than 2^63: count samples (--count) instead",
  weight = "a weight is an integer from 0 to 2^63-1: leave out other records with where()",
  weights = "weights add up to more than 2^63-1",
  average = "the averaged values add up to more than 2^94",
}

local function overflow() usage_error(sums.wrong.sum) end

-- a + x of integers, or raises; unsigned ones are never negative here.
local function add_unsigned(a, x)
  local sum = a + x
  if x < 0 or sum < 0 then overflow() end
  return sum
end

local function add_signed(a, x)
  local sum = a + x
  if (a ~ sum) & (x ~ sum) < 0 then overflow() end
  return sum
end

local function add_any(a, x)
  if math.type(a) == "integer" and math.type(x) == "integer" then return add_signed(a, x) end
  return math.type(x) and a + x or a
end

---@param kind string of the values that are added
---@return fun(a: number, x: any): number
function sums.adder(kind)
  if arith.is_unsigned[kind] then return add_unsigned end
  return kind == "signed" and add_signed or add_any
end

return sums
