-- Text, CSV and JSON of rows, beside writers in plain Lua.
local core = require "perflua.core"
local random_rows = require "spec.support.random_rows"
local Table = require "perflua.table"
local writers = require "spec.support.model.writers"

local FIRST = tonumber(os.getenv "SEED") or 1
local TABLES = 300

local function written(format, columns, rows, options)
  local parts = {}
  local n = core.write_table(format, function(text) parts[#parts + 1] = text end,
    options or {}, columns, rows)
  assert.equal(#rows, n)
  return table.concat(parts)
end

-- Checks a writer of random tables against the model's.
local function compare(write, model)
  for seed = FIRST, FIRST + TABLES - 1 do
    local columns, rows = random_rows.make(seed)
    local expected, got = model(columns, rows), write(columns, rows)
    if expected ~= got then assert.equal(expected, got, "SEED=" .. seed) end
  end
end

describe("rows", function()
  it("are aligned in the columns of a terminal, which nothing in them can drive", function()
    compare(function(columns, rows) return written("text", columns, rows) end,
      function(columns, rows)
        return table.concat(writers.lines(columns, rows), "\n") .. "\n"
      end)
  end)

  it("are CSV that reads back as the same values, also safe for spreadsheets", function()
    for _, form in ipairs { {}, { safe = true }, { crlf = true } } do
      compare(function(columns, rows) return written("csv", columns, rows, form) end,
        function(columns, rows)
          local text = writers.csv(columns, rows, form.safe, form.crlf and "\r\n")
          return assert(utf8.len(text)) and text
        end)
    end
  end)

  it("are JSON with exact integers", function()
    compare(function(columns, rows) return written("json", columns, rows) end, writers.json)
  end)

  it("may be read, and not written again, by the function that they are written to", function()
    local data = { description = {}, keys = { { name = "k", kind = "string" } },
      measures = { { name = "m", measure = "compared", kind = "string" } } }
    local groups = {}
    for i = 1, 5000 do groups[i] = { keys = { "key " .. i }, { ("x"):rep(i % 50) } } end
    local t = Table.of(data, groups):column("low", "lower(k)")
    local expected, parts, wrong = {}, {}, {}
    t:csv { write = function(_, text) expected[#expected + 1] = text return true end }
    t:csv { write = function(_, text)
      parts[#parts + 1] = text
      assert.equal(t[1].k, t[1].low)
      local ok, message = pcall(tostring, t)
      if not ok then wrong[#wrong + 1] = message end
      return true
    end }
    assert.equal(table.concat(expected), table.concat(parts))
    assert.is_true(#wrong > 1)
    assert.matches("the rows of this table are being written$", wrong[1])
    assert.matches("^k ", tostring(t))
  end)

  it("raise the error of a value that has no text", function()
    local value = setmetatable({}, { __tostring = function() error("no text", 0) end })
    for _, format in ipairs { "text", "csv", "json" } do
      local parts = {}
      assert.error_matches(function()
        core.write_table(format, function(text) parts[#parts + 1] = text end, {},
          { { name = "x", kind = "any" } }, { { "before" }, { value }, { "after" } })
      end, "^no text$")
      local text = table.concat(parts)
      assert.is_nil(text:find("no text", 1, true) or text:find("after", 1, true))
      assert.equal(format ~= "text", text:find("before", 1, true) ~= nil)
    end
  end)

  it("raise the error of the function that they are written to, and call it no more", function()
    local columns, rows = random_rows.make(7)
    for _, format in ipairs { "text", "csv", "json" } do
      local n = 0
      assert.error_matches(function()
        local function write()
          n = n + 1
          error("no room", 0)
        end
        core.write_table(format, write, {}, columns, rows)
      end, "^no room$")
      assert.equal(1, n)
    end
  end)
end)
