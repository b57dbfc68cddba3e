local core = require "perflua.core"
local sketch = require "spec.support.model.sketch"
local states = require "spec.support.states"
local steps = require "spec.support.model.measures"

-- Returns the state of a quantile, as the model makes it.
local function state_of(values, kind)
  local g, step = { steps.start "quantile" }, steps.steps.quantile(kind, 1)
  for _, x in ipairs(values) do step(g, x) end
  return g[1]
end

local function quantile(values, q, kind)
  return states.shown("quantile", kind, state_of(values, kind), q)
end

local function number(x, kind) return kind == "unsigned" and x < 0 and x + 0x1p64 or x + 0.0 end

local function check(values, kind)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted, kind == "unsigned" and math.ult or nil)
  for _, q in ipairs { 0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 1 } do
    local exact = number(sorted[math.max(1, math.ceil(q * #sorted - 1e-9))], kind)
    local got = number(quantile(values, q, kind), kind)
    assert.is_true(math.abs(got - exact) <= 0.01 * math.abs(exact),
      ("%s %g: %s for %s"):format(kind, q, got, exact))
  end
end

describe("a quantile", function()
  local random = math.random

  it("is within 1 % for integers of any size", function()
    local small, large, signed, huge = {}, {}, {}, {}
    for i = 1, 2000 do
      small[i], large[i] = random(0, 300), random(0) >> random(1, 60)
      signed[i], huge[i] = random(0) // (1 << random(0, 60)), random(0) | math.mininteger
    end
    check(small, "unsigned")
    check(large, "unsigned")
    check(huge, "unsigned")
    check(signed, "signed")
    check({ math.mininteger, math.maxinteger, 0, -1 }, "signed")
  end)

  it("is exact below 128", function()
    for x = -127, 127 do
      assert.equal(x, quantile({ x }, 0.5, "signed"))
    end
  end)

  it("is within 1 % for floats", function()
    local values = { 0.0 }
    for i = 2, 2000 do values[i] = (random() - 0.5) * 10.0 ^ random(-300, 300) end
    check(values, "float")
  end)

  it("is infinite for infinite values", function()
    for _, x in ipairs { math.huge, -math.huge } do
      assert.equal(x, quantile({ x }, 0.5, "float"))
      assert.equal(x, quantile({ x, 5.0 }, x < 0 and 0 or 1, "float"))
    end
  end)

  it("is nothing of nothing", function() assert.is_nil(quantile({}, 0.5, "signed")) end)

  it("knows the middle of every bucket", function()
    for _, kind in ipairs { "signed", "unsigned", "any", "float" } do
      local scale, last = sketch.scale(kind), kind == "float" and 131009 or 3775
      for bucket = kind == "unsigned" and 0 or -last, last do
        if scale.value(bucket) ~= core.bucket_middle(kind, bucket) then
          assert.equal(scale.value(bucket), core.bucket_middle(kind, bucket), kind .. bucket)
        end
      end
    end
  end)
end)

describe("a histogram", function()
  local function histogram(kind, ...)
    local counts, bucket = {}, sketch.power(kind)
    for _, x in ipairs { ... } do
      local b = bucket(x)
      counts[b] = (counts[b] or 0) + 1
      if kind == "signed" then assert.equal(b, core.power_bucket(x)) end
    end
    assert.same(sketch.histogram(counts), core.histogram(counts))
    return core.histogram(counts)
  end

  it("has powers of two, those without values between others, too", function()
    assert.same({ { from = 0, to = 1, count = 1 }, { from = 1, to = 2, count = 2 },
      { from = 2, to = 4, count = 0 },
      { from = 4, to = 8, count = 2 } }, histogram("unsigned", 0, 1, 1, 4, 7))
    assert.same({}, histogram("unsigned"))
  end)

  it("holds each value within its bucket's bounds, whatever its sign", function()
    for _, x in ipairs { -1, -2, -3, -4, -1000, math.mininteger + 1, 0, 1, 2, 3, 1023, 1024 } do
      local list = histogram("signed", x)
      assert.equal(1, #list)
      assert.is_true(list[1].from <= x and x < list[1].to, x)
    end
    assert.same({ { from = math.mininteger, to = math.mininteger + 1, count = 1 } },
      histogram("signed", math.mininteger))
    assert.same({ { from = 0x1p63, to = 0x1p64, count = 1 } }, histogram("unsigned", -1))
  end)
end)
