-- Lists of any length come into the order that table.sort gives them; after an interrupt their
-- first ones are found.
local interrupted = require "perflua.table.interrupted"
local sort = require "perflua.table.sort"

local function random_numbers(n, range)
  local seed, list = 20261122, {}
  for i = 1, n do
    seed = seed * 6364136223846793005 + 1442695040888963407
    list[i] = (seed >> 33) % range
  end
  return list
end

local function descending(a, b) return a > b end

describe("sort", function()
  it("puts lists shorter and longer than a chunk in order, by any comparison", function()
    for _, n in ipairs { 0, 1, 8192, 10001, 3 * 8192, 40000 } do
      for _, range in ipairs { 3, 1 << 30 } do
        for _, less in ipairs { descending, false } do
          local list = random_numbers(n, range)
          local expected = table.move(list, 1, n, 1, {})
          table.sort(expected, less or nil)
          assert.same(expected, sort.all(list, less or nil))
        end
      end
    end
  end)

  it("finds the greatest of a list, also where many are equal", function()
    for _, n in ipairs { 100, interrupted.MOST + 1, 90000 } do
      for _, range in ipairs { 3, 1 << 30 } do
        local list = random_numbers(n, range)
        local found = table.move(sort.first(list, function(one)
          return one
        end), 1, interrupted.MOST, 1, {})
        table.sort(list, descending)
        table.sort(found, descending)
        assert.same(table.move(list, 1, math.min(n, interrupted.MOST), 1, {}), found)
      end
    end
  end)

  it("finds the greatest rows seen when its time is over", function()
    local list = random_numbers(90000, 1 << 30)
    local found, seen = sort.first(list, function(one)
      return one
    end, -1)
    assert.same(8191, seen)
    local first = table.move(list, 1, seen, 1, {})
    table.sort(first, descending)
    found = table.move(found, 1, #found, 1, {})
    table.sort(found, descending)
    assert.same(table.move(first, 1, interrupted.MOST, 1, {}),
      table.move(found, 1, interrupted.MOST, 1, {}))
  end)
end)
