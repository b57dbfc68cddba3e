-- Statistics of the core against distributions whose answers are known.
local core = require "perflua.core"

-- Random numbers with a fixed seed.
local function random_numbers(seed)
  math.randomseed(seed)
  local random = {}
  function random.normal()
    return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
  end
  -- A count of events of which `mean` are expected, by multiplying gaps.
  function random.count(mean)
    local n, left, product = -1, math.exp(-mean), 1
    repeat
      n, product = n + 1, product * math.random()
    until product < left
    return n
  end
  return random
end

local function near(expected, value, tolerance, what)
  assert.is_true(math.abs(value - expected) <= tolerance,
    ("%s: %.10g expected, got %.10g"):format(what, expected, value))
end

describe("distributions", function()
  -- values of printed tables
  it("have the quantiles of Student's t", function()
    for _, row in ipairs { { 0.025, 1, 12.7062047 }, { 0.025, 2, 4.3026527 },
      { 0.025, 4, 2.7764451 }, { 0.005, 10, 3.1692727 }, { 0.05, 30, 1.6972609 },
      { 0.025, 1e9, 1.9599640 }, { 0.5, 3, 0 } } do
      near(row[3], core.student_quantile(row[1], row[2]), 1e-6, "t of " .. row[2])
    end
  end)

  it("have the tails of the binomial distribution", function()
    near(0.0625, core.binomial_test(5, 5, 0.5), 1e-12, "5 of 5")
    near(0.0625, core.binomial_test(0, 5, 0.5), 1e-12, "0 of 5")
    near(2 * 1351 / 2 ^ 20, core.binomial_test(3, 20, 0.5), 1e-12, "3 of 20")
    near(1, core.binomial_test(10, 20, 0.5), 0, "10 of 20")
    near(1, core.binomial_test(0, 0, 0.5), 0, "nothing")
  end)

  it("are refused arguments outside of them", function()
    assert.error_matches(function() core.student_quantile(0, 3) end, "tail")
    assert.error_matches(function() core.student_quantile(0.1, 0) end, "degrees of freedom")
    assert.error_matches(function() core.binomial_test(6, 5, 0.5) end, "0 to n")
    assert.error_matches(function() core.binomial_test(1, 5, 1) end, "between 0 and 1")
  end)
end)

describe("comparing two estimates", function()
  it("uses Welch's degrees of freedom", function()
    -- errors of 1 with 4 degrees each are one of sqrt(2) with 8
    local low, high, p = core.compare(10, 1, 4, 12, 1, 4, 0.95)
    near(2 - 2.3060041 * math.sqrt(2), low, 1e-6, "low")
    near(2 + 2.3060041 * math.sqrt(2), high, 1e-6, "high")
    near(0.1950155, p, 1e-6, "p")
    low = core.compare(10, 0, 1, 12, 1, 2, 0.95)
    near(2 - 4.3026527, low, 1e-6, "low with the error of one side")
  end)

  it("is certain where nothing varies", function()
    assert.same({ 2.0, 2.0, 0.0 }, { core.compare(1, 0, 1, 3, 0, 1, 0.95) })
    assert.same({ 0.0, 0.0, 1.0 }, { core.compare(1, 0, 1, 1, 0, 1, 0.95) })
  end)

  it("shrinks variances, but not those that are not chance", function()
    local factor, freedom = core.shrink(0, 0, 30)
    assert.same({ 1.0, 30.0 }, { factor, freedom })
    factor, freedom = core.shrink(8, 4, 30) -- twice as large as expected
    near(38 / 34, factor, 1e-12, "the factor")
    assert.equal(34.0, freedom)
    -- 1 % of F with 4 and 30 degrees of freedom is beyond 4.018
    assert.equal(34.0, select(2, core.shrink(4 * 4.01, 4, 30)))
    assert.same({ 4.03, 4.0 }, { core.shrink(4 * 4.03, 4, 30) })
    assert.error_matches(function() core.shrink(1, 1, 0) end, "degrees of freedom")
  end)

  it("is corrected for the number of comparisons as by Benjamini and Hochberg", function()
    local q = core.adjust { 0.01, 0.04, 0.03, 0.005, 0.5 }
    for i, expected in ipairs { 0.025, 0.05, 0.05, 0.025, 0.5 } do
      near(expected, q[i], 1e-12, "q " .. i)
    end
    assert.same({}, core.adjust {})
  end)
end)

describe("a bootstrap over slices", function()
  -- Returns the part of 400 rows whose 95 % interval has the true sum.
  local function coverage(n, make_series, mean, divided)
    local rows, sums, slices = {}, {}, { n = n, own = divided }
    for i = 1, 400 do
      local value, row, over, under = make_series(), {}, 0, 0
      for s = 1, n do
        local x, y = value()
        y = y or 1
        if x ~= 0 or divided then
          row[#row + 1], row[#row + 2], row[#row + 3] = s, x, y
        end
        over, under = over + x, under + y
      end
      rows[i], sums[i] = row, divided and over / under or over
    end
    local errors, freedom = core.bootstrap(slices, rows, 1)
    local covered, expected = 0, divided and mean or mean * n
    for i, sum in ipairs(sums) do
      local half = core.student_quantile(0.025, freedom[i]) * errors[i]
      if math.abs(sum - expected) <= half then covered = covered + 1 end
    end
    return covered / #rows
  end

  -- With 400 rows the standard error of 0.95 is 0.011.
  it("covers sums of independent counts", function()
    local random = random_numbers(1)
    for _, mean in ipairs { 0.3, 5 } do
      local part = coverage(200, function()
        return function() return random.count(mean) end
      end, mean)
      near(0.95, part, 0.035, "of counts of " .. mean)
    end
  end)

  it("covers sums of slices that depend on their neighbours", function()
    local random = random_numbers(2)
    for _, phi in ipairs { 0.3, 0.5, 0.8 } do
      local part = coverage(200, function()
        local x = random.normal() / math.sqrt(1 - phi ^ 2)
        return function()
          x = phi * x + random.normal()
          return 10 + x
        end
      end, 10)
      near(0.95, part, 0.035, "of an autocorrelation of " .. phi)
    end
  end)

  it("covers ratios of sums", function()
    local random = random_numbers(3)
    local part = coverage(200, function()
      return function()
        local y = 5 + random.count(3)
        return 2 * y + random.normal(), y
      end
    end, 2, true)
    near(0.95, part, 0.035, "of ratios")
  end)

  it("has no error of a row that is all of a shared total", function()
    local shared, row = {}, {}
    for s = 1, 50 do
      shared[s] = s
      row[#row + 1], row[#row + 2], row[#row + 3] = s, s, 0
    end
    local errors = core.bootstrap({ n = 50, shared = shared }, { row, {} }, 1)
    near(0, errors[1], 1e-6, "the error")
    near(0, errors[2], 0, "that of an empty row")
  end)

  it("gives the same errors for the same seed, and others for another", function()
    local row = { 1, 5, 0, 7, 2, 0, 30, 9, 0 }
    local a, b = core.bootstrap({ n = 30 }, { row }, 1), core.bootstrap({ n = 30 }, { row }, 1)
    assert.equal(a[1], b[1])
    assert.not_equal(a[1], core.bootstrap({ n = 30 }, { row }, 2)[1])
  end)

  it("refuses slices that there are not", function()
    assert.error_matches(function() core.bootstrap({ n = 201 }, {}, 1) end, "200 slices")
    assert.error_matches(function() core.bootstrap({ n = 1 }, {}, 1) end, "200 slices")
    for _, slice in ipairs { 0, 31, -1, 2 ^ 40, 0 / 0 } do
      assert.error_matches(function()
        core.bootstrap({ n = 30 }, { { slice, 1, 1 } }, 1)
      end, "no such slice")
    end
  end)
end)

describe("comparing quantiles", function()
  local function ordered(list)
    table.sort(list)
    local result = {}
    for _, x in ipairs(list) do
      result[#result + 1] = x
      result[#result + 1] = 1
    end
    return result
  end

  it("covers the difference of medians and of tails", function()
    local random = random_numbers(4)
    for _, q in ipairs { 0.5, 0.95 } do
      local covered, flagged = 0, 0
      for _ = 1, 300 do
        local a, b = {}, {}
        for i = 1, 400 do a[i], b[i] = random.normal(), random.normal() + 0.3 end
        local low, high, p = core.compare_quantiles(ordered(a), ordered(b), q, 0.95)
        if low <= 0.3 and high >= 0.3 then covered = covered + 1 end
        if p <= 0.05 then flagged = flagged + 1 end
        assert.equal(p > 0.05, low <= 0 and high >= 0)
      end
      near(0.95, covered / 300, 0.045, "of quantile " .. q)
      assert.is_true(flagged > 100)
    end
  end)

  it("has no bounds where values are too few", function()
    local low, high, p = core.compare_quantiles({ 1, 1, 2, 1 }, { 5, 1, 6, 1 }, 0.99, 0.95)
    assert.same({ -math.huge, math.huge }, { low, high })
    assert.is_true(p > 0.05)
  end)
end)
