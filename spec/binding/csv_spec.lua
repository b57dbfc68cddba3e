-- core.csv(), beside lines that Lua makes of the same rows.
local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

local SPELL <const> = fmt.exact

local function lines(columns, rows, from, to, safe)
  local list = {}
  for r = from, to do
    local cells = {}
    for i, column in ipairs(columns) do
      cells[i] = fmt.csv(fmt.exact(rows[r][i], column.kind), safe)
    end
    list[#list + 1] = table.concat(cells, ",") .. "\r\n"
  end
  return table.concat(list)
end

local kinds = { "unsigned", "address", "signed", "float", "percent", "string", "any",
  "histogram", "boolean" }

local texts = { "", "sh", "a,b", 'say "x"', "\r", "two\nlines", "=1+1", "-x", "-1", "+2.5",
  "@", "\tx", "-1\0", "0x10", "-0x1p4", "é", "\xff", '="",', ("x"):rep(40000) }

local function random_float()
  local n = math.random(8)
  if n == 1 then return 0.0 elseif n == 2 then return -0.0 elseif n == 3 then return 1 / 0
  elseif n == 4 then return -1 / 0 elseif n == 5 then return 0.1 + math.random(9) / 10
  elseif n == 6 then return 100 * (math.random(1000) / 1000)
  elseif n == 7 then return string.unpack("d", string.pack("j", math.random(0))) end
  return math.random(-5, 5) * 1.0
end

local function random_value(kind)
  local n = math.random(8)
  if n == 1 then return nil end
  if kind == "histogram" then return { { from = 1, to = 2, count = math.random(0, 2) } } end
  if kind == "boolean" then return n > 4 end
  if n <= 4 then return texts[math.random(#texts)] end
  if n <= 6 then return random_float() end
  return n == 7 and math.random(0) or math.random(-3, 3)
end

describe("lines of CSV", function()
  it("have all values as Lua spells them", function()
    math.randomseed(tonumber(os.getenv "SEED") or 7)
    for _ = 1, 200 do
      local columns, rows, by_column = {}, {}, {}
      for i = 1, math.random(0, 6) do
        columns[i], by_column[i] = { kind = kinds[math.random(#kinds)] }, {}
      end
      for r = 1, math.random(0, 9) do
        rows[r] = {}
        for i, column in ipairs(columns) do
          -- rows in order often have the same value
          local value = r > 1 and math.random(3) == 1 and rows[r - 1][i]
            or random_value(column.kind)
          if value ~= value then value = 0.5 end -- its sign differs
          rows[r][i], by_column[i][r] = value, value
        end
      end
      local from = math.random(1, #rows + 1)
      for _, safe in ipairs { false, true } do
        local expected = lines(columns, rows, from, #rows, safe)
        assert.equal(expected, core.csv(columns, rows, from, #rows, SPELL, { safe = safe }))
        assert.equal(expected, core.csv(columns, by_column, from, #rows, SPELL,
          { safe = safe, by_column = true }))
      end
    end
  end)

  it("repeat a value that stands for a column", function()
    assert.equal('"a,b",1\r\n"a,b",2\r\n', core.csv({ { kind = "string" },
      { kind = "unsigned" } }, { "a,b", { 1, 2 } }, 1, 2, SPELL, { by_column = true }))
  end)

  it("have what a value without a text raises", function()
    assert.error_matches(function()
      core.csv({ { kind = "any" } }, { { {} } }, 1, 1, function() error("no text", 0) end, {})
    end, "^no text$")
    assert.error_matches(function() core.csv({ {} }, { 1 }, 1, 1, SPELL, {}) end,
      "table expected, got number")
  end)
end)
