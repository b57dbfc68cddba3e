-- Comparison of filter operands in plain Lua, exact for every mix of signed, unsigned and float
-- (see filter/arith.lua for their kinds).

local arith = require "perflua.filter.arith"

local ult, kind_of = math.ult, math.type
local TWO63, TWO64 = 0x1p63, 0x1p64
local unsigned, adaptable = arith.is_unsigned, arith.is_constant

local function swapped(compare)
  return {
    eq = function(a, b) return compare.eq(b, a) end,
    lt = function(a, b) return compare.gt(b, a) end,
    le = function(a, b) return compare.ge(b, a) end,
    gt = function(a, b) return compare.lt(b, a) end,
    ge = function(a, b) return compare.le(b, a) end,
  }
end

local function equal(a, b) return a == b end

local native = {
  eq = equal,
  lt = function(a, b) return a < b end,
  le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end,
  ge = function(a, b) return a >= b end,
}

local both_unsigned = {
  eq = equal,
  lt = ult,
  le = function(a, b) return not ult(b, a) end,
  gt = function(a, b) return ult(b, a) end,
  ge = function(a, b) return not ult(a, b) end,
}

local signed_unsigned = {
  eq = function(s, u) return s == u and s >= 0 end,
  lt = function(s, u) return s < 0 or ult(s, u) end,
  le = function(s, u) return s < 0 or not ult(u, s) end,
  gt = function(s, u) return s >= 0 and ult(u, s) end,
  ge = function(s, u) return s >= 0 and not ult(s, u) end,
}

-- u < 0 stands for u + 2^64; for f in [2^63, 2^64) f - 2^64 is exact.
local float_unsigned = {
  eq = function(f, u)
    if u >= 0 then return f == u end
    return f >= TWO63 and f < TWO64 and f - TWO64 == u
  end,
  lt = function(f, u)
    if u >= 0 then return f < u end
    return f < TWO63 or f < TWO64 and f - TWO64 < u
  end,
  le = function(f, u)
    if u >= 0 then return f <= u end
    return f < TWO63 or f < TWO64 and f - TWO64 <= u
  end,
  gt = function(f, u)
    if u >= 0 then return f > u end
    return f >= TWO64 or f >= TWO63 and f - TWO64 > u
  end,
  ge = function(f, u)
    if u >= 0 then return f >= u end
    return f >= TWO64 or f >= TWO63 and f - TWO64 >= u
  end,
}

-- Operands that may turn out to be of different types: then they are unequal and in no order.
local function guarded(compare)
  local function guard(fn)
    return function(a, b)
      local x, y = type(a), type(b)
      return x == y and (x == "number" or x == "string") and fn(a, b)
    end
  end
  return {
    eq = function(a, b) return type(a) == type(b) and compare.eq(a, b) end,
    lt = guard(compare.lt), le = guard(compare.le), gt = guard(compare.gt),
    ge = guard(compare.ge),
  }
end

local anything = guarded(native)
local unsigned_float, unsigned_signed = swapped(float_unsigned), swapped(signed_unsigned)

-- An operand of kind "any" beside an unsigned one: an integer is taken as unsigned, too.
local unsigned_any = {}
for name in pairs(native) do
  unsigned_any[name] = function(u, x)
    local kind = kind_of(x)
    if kind == "integer" then return both_unsigned[name](u, x) end
    return kind == "float" and unsigned_float[name](u, x)
  end
end
local any_unsigned = swapped(unsigned_any)

---@param a string the kind of the left operand
---@param b string
---@return table<string, function> # eq lt le gt ge, for operands that are present
return function(a, b)
  if unsigned[a] then
    if unsigned[b] or adaptable[b] then return both_unsigned end
    if b == "signed" then return unsigned_signed end
    if b == "float" then return unsigned_float end
    return b == "any" and unsigned_any or anything
  elseif unsigned[b] then
    if adaptable[a] then return both_unsigned end
    if a == "signed" then return signed_unsigned end
    if a == "float" then return float_unsigned end
    return a == "any" and any_unsigned or anything
  end
  if b == "bits" and a == "any" then return any_unsigned end
  if a == "bits" and b == "any" then return unsigned_any end
  if a == "any" or b == "any" then return anything end
  return native
end
