-- The order of a Table's rows, beside a comparison in Lua.
local Table = require "perflua.table"

local scalars = { 1, -1, -1.5, 1.5, 0, 2 ^ 53, (1 << 53) + 1, math.maxinteger, 2.0 ^ 63,
  math.mininteger, -(2.0 ^ 64), 1 / 0, -1 / 0, true, false, "", "a", "b", "a\0", "a\0b", "a\0a",
  "ab", "\xff", "10", "9" }

local numbers, integers = {}, {}
for _, value in ipairs(scalars) do
  -- the least integer has no magnitude
  if math.type(value) and value ~= math.mininteger then numbers[#numbers + 1] = value end
  if math.type(value) == "integer" then integers[#integers + 1] = value end
end

-- Unsigned integers, and floats that a column of them may have, too.
local naturals = table.move(integers, 1, #integers, 5, { 0.5, 1.5, 2.0 ^ 63, 2.0 ^ 64 })

-- Compares an unsigned integer from 2^63 on with a float that is none below 0.
local function compare_large(a, f)
  if f < 2.0 ^ 63 then return 1 end
  local whole = f < 2.0 ^ 64 and math.tointeger(f - 2.0 ^ 63) + math.mininteger
  if whole == a then return 0 end
  return whole and math.ult(whole, a) and 1 or -1
end

local values_of = { unsigned = naturals, signed = integers, any = scalars, delta = numbers }

-- -1, 0, 1; absent (and not a number) after everything else, of which the second result tells.
local function compare(a, b, kind)
  if a ~= a then a = nil end
  if b ~= b then b = nil end
  if a == b then return 0, false end
  if a == nil or b == nil then return a == nil and 1 or -1, true end
  if math.type(a) == "integer" and math.type(b) == "integer" and kind == "unsigned" then
    return math.ult(a, b) and -1 or 1, false
  end
  if kind == "unsigned" and math.type(a) == "integer" and a < 0 then
    return compare_large(a, b), false
  elseif kind == "unsigned" and math.type(b) == "integer" and b < 0 then
    return -compare_large(b, a), false
  end
  local x, y = type(a), type(b)
  if x ~= y then return x < y and -1 or 1, false end
  if x == "boolean" then a, b = tostring(a), tostring(b) end
  return a < b and -1 or 1, false
end

-- Returns whether row a comes before row b.
local function is_before(a, b, keys, column, ascending)
  if a.event ~= b.event then return a.event < b.event end
  if column then
    local x, y = a[column.name], b[column.name]
    if column.measure == "delta" then x, y = x and math.abs(x), y and math.abs(y) end
    local order, absent = compare(x, y, column.kind)
    if order ~= 0 then return ((ascending or absent) and order or -order) < 0 end
  end
  for _, key in ipairs(keys) do
    local order = compare(a[key.name], b[key.name], key.kind)
    if order ~= 0 then return order < 0 end
  end
  return false
end

local function random_table(n, show)
  local data = { description = {}, keys = {}, measures = {}, events = { "1", "2", "3" } }
  for i = 1, math.random(1, 3) do
    data.keys[i] = { name = "k" .. i, kind = ({ "unsigned", "signed", "any" })[math.random(3)] }
  end
  for i = 1, 2 do
    local is_delta = math.random(4) == 1
    data.measures[i] = { name = "m" .. i, measure = is_delta and "delta" or "compared",
      kind = is_delta and "any" or ({ "unsigned", "signed", "any" })[math.random(3)] }
  end
  local groups = {}
  for g = 1, n do
    groups[g] = { event = math.random(3), keys = {} }
    for i, key in ipairs(data.keys) do
      local list = values_of[key.kind]
      groups[g].keys[i] = math.random(9) > 1 and list[math.random(#list)] or nil
    end
    for i, one in ipairs(data.measures) do
      local list = values_of[one.measure == "delta" and "delta" or one.kind]
      groups[g][i] = { math.random(9) > 1 and list[math.random(#list)] or nil }
    end
  end
  return Table.of(data, groups, show), data
end

describe("the rows of a table", function()
  it("are in sections, in the order of a column, then of their keys", function()
    math.randomseed(tonumber(os.getenv "SEED") or 7)
    for round = 1, 200 do
      local ascending = math.random(2) == 1
      local column = math.random(2)
      local t, data = random_table(round % 10 == 0 and 3000 or math.random(0, 40),
        { column = "m" .. column, ascending = ascending })
      local before, n = nil, 0
      for row in t:rows() do
        n = n + 1
        if before then
          assert.is_false(is_before(row, before, data.keys, data.measures[column], ascending))
        end
        before = row
      end
      assert.equal(#t, n)
    end
  end)

  it("are the same if only the first are asked for", function()
    math.randomseed(tonumber(os.getenv "SEED") or 8)
    for round = 1, 100 do
      local t = random_table(round % 10 == 0 and 3000 or math.random(0, 60), { column = "m1" })
      for _, n in ipairs { 1, 7, 200, 201 } do
        local expected, of_event = {}, {}
        for row in t:rows() do
          of_event[row.event] = (of_event[row.event] or 0) + 1
          if of_event[row.event] <= n then expected[#expected + 1] = row end
        end
        local got = {}
        for row in t:top(n, "m1"):rows() do got[#got + 1] = row end
        assert.same(expected, got)
        local first = {}
        for row in t:top(n, "m1", { per = "k1" }):rows() do first[#first + 1] = row end
        assert.is_true(#first >= math.min(#t, #got))
      end
    end
  end)
end)
