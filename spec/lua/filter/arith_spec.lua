-- Filter arithmetic, equality, and the model's comparison, held against an oracle that splits
-- numbers into 32-bit halves.
local arith = require "perflua.filter.arith"
local comparison = require "spec.support.model.comparison"

-- A number's value as (n, m) with value = n * 2^32 + m, 0 <= m < 2^32: exact for every kind.
local function halves(x, kind)
  if kind == "unsigned" then return x >> 32, x & 0xffffffff end
  if math.type(x) == "integer" then return x // 4294967296, x & 0xffffffff end
  local high = math.floor(x / 0x1p32)
  return high, x - high * 0x1p32
end

local function oracle(a, kind_a, b, kind_b)
  local n, m = halves(a, kind_a)
  local o, p = halves(b, kind_b)
  if n ~= o then return n < o and -1 or 1 end
  return m == p and 0 or m < p and -1 or 1
end

local integers = {
  0, 1, -1, 2, 100, -100, 1 << 31, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 53) + 1,
  math.maxinteger,
  math.maxinteger - 1, math.mininteger, math.mininteger + 1, -2, 0xffffffff80000000,
  0x8000000000000400,
  0xfffffffffffffbff, 0xfffffffffffff800,
}
local floats = {
  0.0, -0.5, 0.5, 1.5, -1.5, 0x1p31, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 0x1.8p63,
  0x1.fffffffffffffp63, 0x1p62,
  0x1.fffffffffffffp62, 1e300, -1e300, 0x1.0000000000001p63,
}

local function each_pair(check)
  local values = {}
  for _, i in ipairs(integers) do
    values[#values + 1] = { i, "signed" }
    values[#values + 1] = { i, "unsigned" }
  end
  for _, f in ipairs(floats) do values[#values + 1] = { f, "float" } end
  for _, a in ipairs(values) do
    for _, b in ipairs(values) do check(a[1], a[2], b[1], b[2]) end
  end
end

describe("comparison in filters", function()
  it("is by value for every mix of signed, unsigned and float", function()
    each_pair(function(a, kind_a, b, kind_b)
      local want, got = oracle(a, kind_a, b, kind_b), comparison(kind_a, kind_b)
      local what = ("%s %s against %s %s"):format(kind_a, a, kind_b, b)
      assert.equal(want == 0, got.eq(a, b), what)
      assert.equal(want == 0, arith.equal(a, kind_a, b, kind_b), what)
      assert.equal(want < 0, got.lt(a, b), what)
      assert.equal(want <= 0, got.le(a, b), what)
      assert.equal(want > 0, got.gt(a, b), what)
      assert.equal(want >= 0, got.ge(a, b), what)
    end)
  end)

  it("finds nothing equal to, below or above NaN", function()
    local nan = 0 / 0
    for _, kind in ipairs { "signed", "unsigned", "float" } do
      for _, fn in pairs(comparison("float", kind)) do
        assert.is_false(fn(nan, kind == "float" and 1.0 or -1))
      end
      assert.is_false(arith.equal(nan, "float", kind == "float" and 1.0 or -1, kind))
      for _, fn in pairs(comparison(kind, "float")) do
        assert.is_false(fn(kind == "float" and 1.0 or -1, nan))
      end
    end
  end)

  it("reads a hex constant with the top bit set as its other operand is", function()
    local kernel = 0xffffffff80000000
    assert.is_true(comparison("address", "bits").ge(0xffffffff81000000, kernel))
    assert.is_false(comparison("address", "bits").ge(0x400000, kernel))
    assert.is_true(comparison("signed", "bits").eq(-1, 0xffffffffffffffff))
    assert.is_true(arith.equal(-1, "signed", 0xffffffffffffffff, "bits"))
    assert.is_true(arith.equal(0x1p63, "any", 1 << 63, "bits"))
    assert.is_false(comparison("any", "bits").ge(0x400000, kernel))
  end)

  it("finds values of different types unequal and in no order", function()
    local any = comparison("any", "any")
    for _, pair in ipairs { { 1, "1" }, { "a", true }, { true, 1 } } do
      for _, fn in pairs(any) do assert.is_false(fn(pair[1], pair[2])) end
    end
    assert.is_true(any.lt("a", "b"))
    assert.is_true(any.eq(true, true))
    assert.is_false(comparison("unsigned", "any").eq(1, "1"))
    assert.is_false(arith.equal(1, "unsigned", "1", "any"))
  end)
end)

describe("arithmetic in filters", function()
  local function kind_of(op, a, b) return (arith.operation(op, a, b)) end

  it("treats addresses as pointers", function()
    assert.equal("address", kind_of("+", "address", "unsigned"))
    assert.equal("address", kind_of("+", "natural", "address"))
    assert.equal("address", kind_of("-", "address", "natural"))
    assert.equal("signed", kind_of("-", "address", "address"))
    assert.equal("unsigned", kind_of("&", "address", "bits"))
  end)

  it("gives a signed difference of unsigned values", function()
    assert.equal("signed", kind_of("-", "unsigned", "natural"))
    assert.equal("unsigned", kind_of("+", "unsigned", "unsigned"))
    assert.equal("signed", kind_of("*", "unsigned", "signed"))
  end)

  it("divides unsigned values without a sign", function()
    local _, divide = arith.operation("//", "unsigned", "unsigned")
    local _, modulo = arith.operation("%", "unsigned", "unsigned")
    for _, n in ipairs(integers) do
      for _, d in ipairs(integers) do
        if d ~= 0 then
          local q, r = divide(n, d), modulo(n, d)
          assert.equal(n, q * d + r)
          assert.is_true(math.ult(r, d))
          if math.ult(n, d) then assert.equal(0, q) end
        end
      end
    end
  end)

  it("has no value for a division by zero", function()
    for _, op in ipairs { "//", "%" } do
      for _, kind in ipairs { "signed", "unsigned" } do
        local _, fn = arith.operation(op, kind, "signed")
        assert.is_nil(fn(5, 0))
      end
    end
  end)

  it("makes floats of unsigned values without losing their top bit", function()
    local _, divide = arith.operation("/", "unsigned", "natural")
    assert.equal(0x1p63, divide(math.mininteger, 1))
    assert.equal(0x1p64, divide(-1, 1))
    assert.equal(0x1p62, divide(math.mininteger, 2))
  end)

  it("shifts by a huge unsigned count to nothing", function()
    local _, shift = arith.operation("<<", "signed", "unsigned")
    assert.equal(0, shift(1, -1))
    assert.equal(8, shift(1, 3))
  end)

  it("has no value where an operand turns out to be not a number", function()
    local kind, add = arith.operation("+", "any", "natural")
    assert.equal("any", kind)
    assert.is_nil(add("x", 1))
    assert.equal(3, add(2, 1))
    local _, bits = arith.operation("&", "any", "natural")
    assert.is_nil(bits(1.5, 1))
  end)
end)
