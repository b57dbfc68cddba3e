-- The buckets of quantiles and histograms, by themselves: src/query/group/sketch.h says what
-- they are.

local sketch = {}

local pack, unpack = string.pack, string.unpack

-- The highest set bit of x ~= 0, read without a sign.
local function log2(x)
  local e = 0
  if x >> 32 ~= 0 then x, e = x >> 32, 32 end
  if x >> 16 ~= 0 then x, e = x >> 16, e + 16 end
  if x >> 8 ~= 0 then x, e = x >> 8, e + 8 end
  if x >> 4 ~= 0 then x, e = x >> 4, e + 4 end
  if x >> 2 ~= 0 then x, e = x >> 2, e + 2 end
  return e + (x >> 1)
end

local function bucket_of(x) -- of an unsigned integer
  if x >= 0 and x < 128 then return x end
  local shift = log2(x) - 6
  return (shift << 6) + (x >> shift)
end

local function middle_of(bucket)
  if bucket < 128 then return bucket end
  local shift = (bucket >> 6) - 1
  return (((bucket & 63) + 64) << shift) + ((1 << shift) >> 1)
end

local integers = {
  bucket = function(x)
    if x >= 0 then return bucket_of(x) end
    return -bucket_of(-x)
  end,
  value = function(b)
    local middle = middle_of(b < 0 and -b or b)
    if b >= 0 then return middle end
    return middle < 0 and math.mininteger or -middle -- a magnitude of 2^63 is that of one value
  end,
}

local unsigned = { bucket = bucket_of, value = middle_of }

local mixed = { -- integers and floats
  bucket = function(x)
    x = math.tointeger(x) or math.tointeger(math.floor(x))
      or (x > 0 and math.maxinteger or math.mininteger)
    return integers.bucket(x)
  end,
  value = integers.value,
}

-- A double's exponent and the first six bits of its fraction; +1 keeps zero apart from the
-- smallest.
local DROPPED = 52 - 6

local function float_bucket(x)
  if x == 0.0 then return 0 end
  local bits = unpack("<i8", pack("<d", x < 0 and -x or x))
  local bucket = (bits >> DROPPED) + 1
  return x < 0 and -bucket or bucket
end

local function float_value(b)
  if b == 0 then return 0.0 end
  local bits = ((b < 0 and -b or b) - 1 << DROPPED) + (1 << DROPPED - 1)
  local x = unpack("<d", pack("<i8", bits))
  if x ~= x then x = math.huge end -- an infinity's bucket has the bits of no number after it
  return b < 0 and -x or x
end

local floats = { bucket = float_bucket, value = float_value }

local scales = { signed = integers, unsigned = unsigned, address = unsigned, float = floats,
  any = mixed }

---@param kind string of the field
---@return table # bucket(value) -> integer, value(bucket) -> number
function sketch.scale(kind) return scales[kind] end

-- Powers of two: bucket 0 is zero, ±(k + 1) holds magnitudes of 2^k to 2^(k+1) - 1.

---@param kind string
---@return fun(x: number): integer
function sketch.power(kind)
  if kind == "unsigned" or kind == "address" then
    return function(x) return x == 0 and 0 or log2(x) + 1 end
  end
  return function(x)
    x = math.tointeger(x) or math.tointeger(x < 0 and math.ceil(x) or math.floor(x)) or 0
    if x == 0 then return 0 end
    return x > 0 and log2(x) + 1 or -(log2(-x) + 1)
  end
end

local function power(k) return k < 63 and 1 << k or 2.0 ^ k end

local function range_of(bucket)
  if bucket == 0 then return 0, 1 end
  if bucket > 0 then return power(bucket - 1), power(bucket) end
  if bucket == -64 then return math.mininteger, math.mininteger + 1 end
  return 1 - (1 << -bucket), 1 - (1 << -bucket - 1)
end

---@param counts table<integer, integer>
---@return {from: number, to: number, count: integer}[] # half open, from the lowest to the
--- highest
function sketch.histogram(counts)
  local low, high = math.huge, -math.huge
  for bucket in pairs(counts) do
    low, high = math.min(low, bucket), math.max(high, bucket)
  end
  local list = {}
  for bucket = low, high do
    local from, to = range_of(bucket)
    list[#list + 1] = { from = from, to = to, count = counts[bucket] or 0 }
  end
  return list
end

return sketch
