-- Comparisons of results in the core, as lua/perflua/diff makes them.
local core = require "perflua.core"

local shape = { keys = { { kind = "string" }, { kind = "signed" } },
  measures = { { measure = "sum", kind = "unsigned" }, { measure = "count" } } }

-- A result of rows { name, slice, sum, count }.
local function result(rows)
  local groups = {}
  for i, row in ipairs(rows) do
    groups[i] = { event = 0, keys = { row[1], row[2] }, row[3], row[4] }
  end
  return core.result_put(core.result(shape), groups)
end

local function comparison(options)
  local made = { keys = { { kind = "string" } }, per = "run", before = 1, after = 1,
    measures = { { measure = "sum", kind = "unsigned" } }, matched = { false } }
  for name, value in pairs(options or {}) do made[name] = value end
  return core.comparison(made)
end

local function add(c, side, rows, options)
  local run = { side = side, number = 1, count = 2, events = { [0] = 0 } }
  for name, value in pairs(options or {}) do run[name] = value end
  return core.comparison_add(c, result(rows), run)
end

local function rows_of(c)
  local rows = {}
  for _, row in ipairs(core.comparison_rows(c)) do
    rows[row.keys[1]] = { row.before.value, row.after.value, row.samples }
  end
  return rows
end

describe("a comparison of the core", function()
  it("has the sums of both sides by key, and 0 where a side has no row", function()
    local c = comparison()
    add(c, "before", { { "x", 0, 5, 1 }, { "x", 1, 6, 2 }, { "y", 0, 7, 3 } })
    add(c, "after", { { "z", 2, 1, 4 }, { "x", 0, 8, 5 } })
    core.comparison_judge(c, { method = "none" })
    assert.same({ x = { 11, 8, 8 }, y = { 7, 0, 3 }, z = { 0, 1, 4 } }, rows_of(c))
  end)

  it("asks for the name of each text once, and joins rows of one name", function()
    local asked = {}
    local c = comparison { matched = { true }, match = function(text, key)
      asked[text] = (asked[text] or 0) + key
      return (text:gsub("%d", ""))
    end }
    add(c, "before", { { "x1", 0, 5, 1 }, { "x1", 1, 6, 1 }, { "x2", 0, 7, 1 } })
    core.comparison_judge(add(c, "after", { { "x", 0, 1, 1 } }) and c, { method = "none" })
    assert.same({ x1 = 1, x2 = 1, x = 1 }, asked)
    assert.same({ x = { 18, 1, 4 } }, rows_of(c))
  end)

  it("passes on an error of the function that matches", function()
    local c = comparison { matched = { true }, match = function() error("no name", 0) end }
    assert.error_matches(function() add(c, "before", { { "x", 0, 1, 1 } }) end, "^no name$")
    c = comparison { matched = { true }, match = function() return {} end }
    assert.error_matches(function() add(c, "before", { { "x", 0, 1, 1 } }) end, "string")
  end)

  it("does not depend on the order in which slices were met", function()
    local function low(from, to, step)
      local before, after = {}, {}
      for slice = from, to, step do
        before[#before + 1] = { "x", slice, 1000 + slice * slice % 37, 10 }
        after[#after + 1] = { "x", slice, 1000 + slice * slice % 41, 10 }
      end
      local c = comparison()
      local slices = { key = 2, least = 0, joined = 1, n = 100, offset = 0 }
      add(c, "before", before, { slices = slices })
      add(c, "after", after, { slices = slices })
      local prior = { dispersion = 1, drift = 0.02, freedom = 30 }
      local priors = { program = prior, kernel = prior }
      core.comparison_judge(c, { method = "slices", confidence = 0.95, sampled = { false },
        priors = { idle = priors, loaded = priors } })
      return core.comparison_rows(c)[1].low
    end
    assert.equal(low(0, 99, 1), low(99, 0, -1))
    assert.is_true(low(0, 99, 1) < 0)
  end)

  it("says that a sum is too large", function()
    local c = comparison()
    assert.same({ n = 2, nil, "sum" }, table.pack(add(c, "before",
      { { "x", 0, math.maxinteger, 1 }, { "x", 1, 1, 1 } })))
  end)

  it("frees a result that it may take", function()
    local taken = result { { "x", 0, 1, 1 } }
    core.comparison_add(comparison(), taken, { side = "after", number = 1, count = 2,
      events = { [0] = 0 }, is_taken = true })
    assert.error_matches(function() return #taken end, "no result")
  end)

  it("counts as memory for the collector", function()
    local rows = {}
    for i = 1, 2000 do rows[i] = { "row" .. i, 0, 1, 1 } end
    local added, made = result(rows), setmetatable({}, { __mode = "v" })
    collectgarbage()
    for i = 1, 400 do
      made[i] = comparison()
      core.comparison_add(made[i], added, { side = "before", number = 1, count = 2,
        events = { [0] = 0 } })
    end
    local n = 0
    for _ in pairs(made) do n = n + 1 end
    assert.is_true(n < 200, n .. " were left")
  end)

  it("refuses runs, measures and slices that there are not", function()
    local function refuses(options, pattern)
      assert.error_matches(function() add(comparison(), "before", { { "x", 0, 1, 1 } }, options)
        end, pattern)
    end
    refuses({ number = 2 }, "no such run")
    refuses({ number = 0 }, "no such run")
    refuses({ side = "between" }, "invalid option")
    refuses({ count = 3 }, "no such measure")
    refuses({ slices = { key = 3, least = 0, joined = 1, n = 1, offset = 0 } }, "no slices")
    refuses({ slices = { key = 2, least = 0, joined = 0, n = 1, offset = 0 } }, "no slices")
    refuses({ slices = { key = 2, least = 0, joined = 1, n = 1, offset = 200 } },
      "no such slice")
    refuses({ naming = { build_id = 9 } }, "no key of build%-ids")
  end)
end)
