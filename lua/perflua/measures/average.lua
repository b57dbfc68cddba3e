-- Averages: { n, high, low }, the sum being high * 2^32 + low with 0 <= low < 2^32, exact as
-- long as it is below 2^95, and raising then; floats are in `low`, which is one from the first
-- of them on.

local usage_error = require("perflua.errors").usage_error
local sums = require "perflua.measures.sums"

local average = {}

local MASK = 0xffffffff

local function overflow() usage_error(sums.wrong.average) end

local function add_parts(state, high, low)
  low = state[3] + low
  if math.type(low) == "integer" then
    high, low = high + (low >> 32), low & MASK
  end
  local sum = state[2] + high
  if (state[2] ~ sum) & (high ~ sum) < 0 then overflow() end
  state[2], state[3] = sum, low
end

function average.start() return { 0, 0, 0 } end

function average.merge(a, b)
  local merged = { sums.counted(a[1], b[1]), a[2], a[3] }
  add_parts(merged, b[2], b[3])
  return merged
end

function average.finish(state)
  local n, high, low = state[1], state[2], state[3]
  if n == 0 then return nil end
  if math.type(low) == "integer" and high >= -0x80000000 and high < 0x80000000 then
    return (high << 32 | low) / n
  end
  return (high * 4294967296.0 + low) / n
end

return average
