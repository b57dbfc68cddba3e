-- core.sort(), beside the comparison of lines in Lua.
local core = require "perflua.core"
local order = require "perflua.table.order"

local scalars = { 1, 1.0, -1, -1.5, 1.5, 0, 2 ^ 53, (1 << 53) + 1, math.maxinteger, 2.0 ^ 63,
  math.mininteger, -(2.0 ^ 63), -(2.0 ^ 64), 1 / 0, -1 / 0, 0 / 0, true, false, "", "a", "b",
  "a\0", "a\0b", "a\0a", "ab", "\xff", "10", "9" }

local numbers, integers = {}, {}
for _, value in ipairs(scalars) do
  -- the least integer has no magnitude
  if math.type(value) and value ~= math.mininteger then numbers[#numbers + 1] = value end
  if math.type(value) == "integer" then integers[#integers + 1] = value end
end

local function random_lines(columns, n)
  local lines = {}
  for l = 1, n do
    lines[l] = { event = math.random(0, 2), number = l }
    for i, column in ipairs(columns) do
      local values = column.kind == "unsigned" and integers
        or column.by_magnitude and numbers or scalars
      lines[l][i] = math.random(9) > 1 and values[math.random(#values)] or nil
    end
  end
  return lines
end

-- Checks that the lines are in order, and equal ones in that of their numbers.
local function check_order(sorted, less)
  for l = 2, #sorted do
    local a, b = sorted[l - 1], sorted[l]
    assert.is_false(less(b, a))
    if not less(a, b) then assert.is_true(a.number < b.number) end
  end
end

describe("core.sort", function()
  it("puts lines in the order of the comparison in Lua, and leaves equal ones as they are",
    function()
      math.randomseed(tonumber(os.getenv "SEED") or 7)
      for round = 1, 150 do
        local columns = {}
        for i = 1, math.random(1, 4) do
          columns[i] = { kind = ({ "unsigned", "signed", "any" })[math.random(3)],
            measured = math.random(2) == 1, by_magnitude = math.random(4) == 1 }
        end
        local by = order.by(columns, math.random(4) > 1 and math.random(#columns) or nil,
          math.random(2) == 1)
        local lines = random_lines(columns, round % 10 == 0 and 3000 or math.random(0, 40))
        local sorted = core.sort(lines, by.columns)
        assert.equal(#lines, #sorted)
        check_order(sorted, by.less)
      end
    end)

  it("raises for lines that are no tables", function()
    assert.error_matches(function() core.sort({ 1, 2 }, { { place = 1 } }) end, "no table")
  end)

  it("says that values are of types that only Lua compares", function()
    local lines = { { event = 1, { 2 } }, { event = 1, { 1 } } }
    assert.same({ nil, true }, { core.sort(lines, { { place = 1 } }) })
    assert.same(lines, core.sort(lines, { { place = "event" } }))
  end)
end)
