-- Arithmetic and equality of constants in filters, exact for every mix of signed, unsigned and
-- float. The core does the same with the operands of records (src/query/program/arith.c).
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

-- u < 0 stands for u + 2^64; for f in [2^63, 2^64) f - 2^64 is exact.
local function equal_unsigned(u, x, kind)
  if kind_of(x) == "float" and u < 0 then
    return x >= TWO63 and x < TWO64 and x - TWO64 == u
  end
  return u == x and (kind ~= "signed" or x >= 0)
end

---@param a any a present value
---@param kind_a string
---@param b any
---@param kind_b string
---@return boolean # an operand of kind "any" beside an unsigned one is taken as unsigned, too
function arith.equal(a, kind_a, b, kind_b)
  if unsigned[kind_a] or kind_a == "bits" and kind_b == "any" then
    return equal_unsigned(a, b, kind_b)
  elseif unsigned[kind_b] or kind_b == "bits" and kind_a == "any" then
    return equal_unsigned(b, a, kind_a)
  end
  return a == b
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
