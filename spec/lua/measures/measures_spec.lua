-- Measures by themselves: what records of different types give does not depend on their order.
local Table = require "perflua.table"
local model = require "spec.support.model.measures"
local states = require "spec.support.states"

local steps = model.steps

local function of(name, kind, list)
  local g, step = { model.start(name) }, steps[name](kind, 1)
  for _, x in ipairs(list) do step(g, x) end
  return g[1], states.shown(name, kind, g[1])
end

local function shuffled(list)
  local copy = {}
  for i, x in ipairs(list) do table.insert(copy, math.random(i), x) end
  return copy
end

describe("the least and the greatest", function()
  it("are numbers before strings, in whatever order they come", function()
    for _ = 1, 50 do
      local list = shuffled { "b", 7, false, 2.5, "a", 0 / 0, {}, true, -3 }
      assert.equal(-3, select(2, of("min", "any", list)))
      assert.equal("b", select(2, of("max", "any", list)))
    end
  end)

  it("ignore NaN", function()
    for _ = 1, 10 do
      assert.equal(-1.5, select(2, of("min", "float", shuffled { 0 / 0, 2.5, -1.5 })))
      assert.equal(2.5, select(2, of("max", "float", shuffled { 0 / 0, 2.5, -1.5 })))
    end
    assert.is_nil(select(2, of("max", "float", { 0 / 0, false })))
  end)

  it("are shown in one form of equal numbers, whichever came first", function()
    for _, name in ipairs { "min", "max" } do
      assert.equal("integer", math.type(select(2, of(name, "any", shuffled { 1, 1.0 }))))
      assert.equal("0.0", tostring(select(2, of(name, "float", shuffled { -0.0, 0.0 }))))
    end
  end)

  it("merge as they are found", function()
    local function merged(name, kind, list)
      local data = { description = {}, keys = { { name = "k", kind = "signed" } },
        measures = { { name = "m", measure = name, kind = kind } } }
      local groups = {}
      for i, state in ipairs(list) do groups[i] = { keys = { 1 }, state } end
      local t = Table.of(data, groups)
      assert.equal(1, #t)
      return t[1].m
    end
    assert.equal(1, merged("min", "any", { {}, "a", 1 }))
    assert.equal("a", merged("max", "any", { "a", 1 }))
    assert.equal(-1, merged("max", "unsigned", { 5, -1 }))
    assert.equal(5, merged("min", "unsigned", { 5, -1 }))
  end)
end)

describe("an average", function()
  it("holds its sum exactly, in a form of its own", function()
    assert.same({ 3, 3, 0xfffffffd },
      (of("avg", "unsigned", { -1 >> 31, 0xffffffff, 0xffffffff })))
    assert.same({ 1, -1, 0xffffffff }, (of("avg", "signed", { -1 })))
    assert.same({ 2, 0, 0 }, (of("avg", "signed", { -5, 5 })))
  end)

  it("raises when it exceeds its range", function()
    local g = { { 1, math.maxinteger, 0xffffffff } }
    assert.error_matches(function()
      steps.avg("unsigned", 1)(g, 1)
    end, "add up to more than 2^94")
    assert.error_matches(function()
      states.merged("avg", "unsigned", { 1, math.maxinteger, 0 }, { 1, 1, 0 })
    end, "add up to more than 2^94")
  end)
end)
