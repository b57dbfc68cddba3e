-- Arithmetic and comparison of filter operands, exact for every mix of signed, unsigned and
-- float.
--
-- Kinds of numbers: "signed"; "unsigned" and "address", whose 64 bits are read without a sign;
-- "natural", a constant of 0 … 2^63-1; "bits", a hex constant with the top bit set, which takes
-- the sign its other operand has; "float"; "any", known only when a record is there.
--
-- Addresses are pointers: address ± integer is an address, the difference of two is signed.
-- Other unsigned operands give unsigned results, except that a difference may be negative and
-- is signed. With a signed field among the operands integer arithmetic is Lua's own.

local arith = {}

local ult, to_integer, kind_of = math.ult, math.tointeger, math.type
local TWO63, TWO64 = 0x1p63, 0x1p64

local unsigned = { unsigned = true, address = true }
local adaptable = { natural = true, bits = true }
local integer = { signed = true, unsigned = true, address = true, natural = true, bits = true }
local numeric = { float = true, any = true }
for kind in pairs(integer) do numeric[kind] = true end

arith.is_unsigned, arith.is_number = unsigned, numeric
arith.is_constant = adaptable -- kinds that only constants have

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
function arith.comparison(a, b)
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

local function float_of(u) -- of an unsigned integer, correctly rounded
  if u >= 0 then return u + 0.0 end
  return ((u >> 1) | (u & 1)) * 2.0
end

local function divide_unsigned(n, d)
  if d == 0 then return nil end
  if d < 0 then return ult(n, d) and 0 or 1 end
  if n >= 0 then return n // d end
  local q = ((n >> 1) // d) << 1
  if not ult(n - q * d, d) then q = q + 1 end
  return q
end

local function modulo_unsigned(n, d)
  local q = divide_unsigned(n, d)
  return q and n - q * d
end

local function either_zero(fn) -- integer division by zero has no value
  return function(a, b)
    if b == 0 and kind_of(a) == "integer" and kind_of(b) == "integer" then return nil end
    return fn(a, b)
  end
end

local lua = {
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["/"] = function(a, b) return a / b end,
  ["^"] = function(a, b) return a ^ b end,
  ["//"] = either_zero(function(a, b) return a // b end),
  ["%"] = either_zero(function(a, b) return a % b end),
  ["&"] = function(a, b) return a & b end,
  ["|"] = function(a, b) return a | b end,
  ["~"] = function(a, b) return a ~ b end,
  ["<<"] = function(a, b) return a << b end,
  [">>"] = function(a, b) return a >> b end,
}
local unsigned_division = { ["//"] = divide_unsigned, ["%"] = modulo_unsigned }
local bitwise = { ["&"] = true, ["|"] = true, ["~"] = true, ["<<"] = true, [">>"] = true }
local shift = { ["<<"] = true, [">>"] = true }

arith.is_bitwise = bitwise

local function checked(op, fn) -- for operands of kind "any"
  if bitwise[op] then
    return function(a, b)
      a, b = kind_of(a) and to_integer(a), kind_of(b) and to_integer(b)
      return a and b and fn(a, b)
    end
  end
  return function(a, b) return kind_of(a) and kind_of(b) and fn(a, b) or nil end
end

local function float_operands(a, b, fn)
  if unsigned[a] and unsigned[b] then
    return function(x, y) return fn(float_of(x), float_of(y)) end
  elseif unsigned[a] then
    return function(x, y) return fn(float_of(x), y) end
  elseif unsigned[b] then
    return function(x, y) return fn(x, float_of(y)) end
  end
  return fn
end

local function wide_shift(fn) -- Lua would take a count of 2^63 and more for a negative one
  return function(a, count) return count < 0 and 0 or fn(a, count) end
end

local function integer_result(op, a, b)
  if shift[op] then return unsigned[a] and "unsigned" or "signed" end
  if not (unsigned[a] or unsigned[b]) then return "signed" end
  if op == "-" then
    return a == "address" and b ~= "address" and "address" or "signed"
  elseif op == "+" and (a == "address" or b == "address") then
    return "address"
  elseif bitwise[op] then
    return "unsigned"
  end
  return (a == "signed" or b == "signed") and "signed" or "unsigned"
end

---@param op string
---@param a string the kind of the left operand
---@param b string
---@return string kind # of the result
---@return function # of two present operands; nil: no value
function arith.operation(op, a, b)
  local fn = lua[op]
  if a == "any" or b == "any" then return "any", checked(op, fn) end
  if op == "/" or op == "^" or a == "float" or b == "float" then
    return "float", float_operands(a, b, fn)
  end
  local kind = integer_result(op, a, b)
  if kind == "unsigned" then fn = unsigned_division[op] or fn end
  if shift[op] and unsigned[b] then fn = wide_shift(fn) end
  return kind, fn
end

local function bucket_unsigned(x, n) return x - modulo_unsigned(x, n) end

-- Towards minus infinity, for which there may be no integer.
local function bucket_signed(x, n)
  local from = x - x % n
  if from <= x then return from end
end

local function bucket_any(x, n)
  x = kind_of(x) and to_integer(x)
  return x and bucket_signed(x, n) or nil
end

---@param a string the kind of a value
---@param b string
---@return string? kind # of a value that is one of them; nil: they are of different types
function arith.either(a, b)
  if a == b or a == "any" then return a end
  if b == "any" then return b end
  if not (integer[a] and integer[b]) then return nil end
  if adaptable[a] then return adaptable[b] and "unsigned" or b end
  if adaptable[b] then return a end
  return (a == "signed" or b == "signed") and "signed" or "unsigned"
end

---@param kind string of the values that are put into buckets
---@return string kind # of the buckets
---@return function # of a present operand and a width from 1 on; nil: no value
function arith.bucket(kind)
  if kind == "any" then return kind, bucket_any end
  if unsigned[kind] then return kind, bucket_unsigned end
  return "signed", bucket_signed
end

---@param kind string of a value
---@param constant number
---@return number[] # all that a value of that kind may be if it equals the constant, read in
--- one way or another
function arith.readings(kind, constant)
  local list = {}
  if kind ~= "float" then
    list[1] = to_integer(constant)
    if not list[1] and constant >= TWO63 and constant < TWO64 then
      list[1] = to_integer(constant - TWO64)
    end
  end
  if kind == "float" or kind == "any" then
    list[#list + 1] = constant + 0.0
    if kind_of(constant) == "integer" then list[#list + 1] = float_of(constant) end
  end
  return list
end

---@param op string what made it: a binary operator, "neg" or "bnot"
---@param value integer a constant result
---@param kind string
---@return string # the kind to go on with: ~0xfff is a mask for signed and unsigned alike
function arith.constant_kind(op, value, kind)
  if value >= 0 then return "natural" end
  return kind == "signed" and (bitwise[op] or op == "bnot") and "bits" or kind
end

return arith
