-- Averages added up value by value, to the states that the core has: { n, high, low }, the sum
-- being high * 2^32 + low with 0 <= low < 2^32; floats are in `low`, which is one from the
-- first of them on.

local arith = require "perflua.filter.arith"
local sums = require "perflua.measures.sums"

local average = {}

local MASK = 0xffffffff
local MOST = 0x1p94 -- of a product: the sum of two is still told from what does not fit

local function overflow() error(sums.wrong.average, 0) end

local function add_parts(state, high, low)
  low = state[3] + low
  if math.type(low) == "integer" then
    high, low = high + (low >> 32), low & MASK
  end
  local sum = state[2] + high
  if (state[2] ~ sum) & (high ~ sum) < 0 then overflow() end
  state[2], state[3] = sum, low
end

-- x * n in parts of 32 bits: their products may wrap around, but what they add up to does not.
local function add_product(state, x, high, n)
  local low, n_high, n_low = x & MASK, n >> 32, n & MASK
  if math.abs(high * 0x1p32 + low) * n >= MOST then overflow() end
  local product = low * n_low
  add_parts(state, (high * n_high << 32) + high * n_low + low * n_high + (product >> 32),
    product & MASK)
end

---@param a integer how often by now
---@param n integer how often more
---@return integer
function average.counted(a, n)
  if a + n < 0 then error(sums.wrong.weights, 0) end
  return a + n
end

---@param kind string of the averaged values
---@return fun(state: table, x: number, n: integer) # adds x n times
function average.adder(kind)
  local is_unsigned = arith.is_unsigned[kind]
  return function(state, x, n)
    state[1] = average.counted(state[1], n)
    if math.type(x) == "float" then
      state[3] = state[3] + x * n
      return
    end
    local high = is_unsigned and x >> 32 or x // 4294967296
    if n == 1 then return add_parts(state, high, x & MASK) end
    add_product(state, x, high, n)
  end
end

return average
