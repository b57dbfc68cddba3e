-- Rows as text, CSV and JSON in plain Lua: the oracle of the core's writers.

local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local units = require "perflua.text.units"

local writers = {}

-- Kinds whose columns are aligned to the right; of those that can be anything, columns of
-- numbers are.
local numbers = {
  signed = true, unsigned = true, address = true, float = true, percent = true,
}
local anything = { any = true, ["function"] = true }

local function is_right(kind, rows, i)
  if not anything[kind] then return numbers[kind] end
  for _, row in ipairs(rows) do
    if row[i] ~= nil and type(row[i]) ~= "number" then return false end
  end
  return true
end

-- All decimals of n / step, where step is a power of ten.
local function divide_exactly(n, step)
  local whole, fraction = n // step, n % step
  if fraction == 0 then return ("%d"):format(whole) end
  local decimals = ("%d"):format(step + fraction):sub(2):gsub("0+$", "")
  return ("%d.%s"):format(whole, decimals)
end

local function divide(x, step, unit)
  if math.type(x) == "integer" and unit ~= "bytes" then return divide_exactly(x, step) end
  return (unit == "bytes" and "%.17g" or "%.15g"):format(x / step)
end

-- With a unit and all the digits that it has: values that differ look different.
local function format_exactly(x, unit, is_unsigned)
  if x ~= x or x == math.huge or x == -math.huge then return tostring(x) end
  local sign, list, i = "", units.steps[unit], 1
  if x < 0 and is_unsigned and math.type(x) == "integer" then
    x = ((x >> 1) | (x & 1)) * 2.0
  elseif x < 0 then
    sign, x = "-", x == math.mininteger and -(x + 0.0) or -x
  end
  while list[i + 1] and x >= list[i + 1][1] do i = i + 1 end
  return sign .. divide(x, list[i][1], unit) .. list[i][2]
end

local count_columns = require("perflua.core").columns -- its spec has texts of known widths

local function format_bound(x)
  return math.type(x) == "integer" and ("%d"):format(x) or ("%.0f"):format(x)
end

local BAR <const> = 40 -- columns of the longest bar of a histogram

-- A histogram as lines: "[64, 128)   3  ####". Bars are in proportion; a bucket that is not
-- empty has one.
local function draw_bars(list, unit)
  local ranges, bars, most, columns = {}, {}, 0, 0
  local function format_end(x) return unit and format_exactly(x, unit) or format_bound(x) end
  for i, bucket in ipairs(list) do
    ranges[i] = ("[%s, %s)"):format(format_end(bucket.from), format_end(bucket.to))
    most, columns = math.max(most, bucket.count), math.max(columns, #ranges[i])
  end
  local line = ("%%-%ds  %%%dd  %%s"):format(columns, #("%d"):format(most))
  for i, bucket in ipairs(list) do
    local length = math.ceil(BAR * (bucket.count / most))
    bars[i] = line:format(ranges[i], bucket.count, ("#"):rep(length))
  end
  return bars
end

-- A cell, or the lines of one that has several; and how wide it is.
local function format_cell(value, column)
  if column.kind ~= "histogram" or value == nil then
    local format = column.measured and units.format or format_exactly
    local text
    if column.unit and math.type(value) then
      text = format(value, column.unit, column.kind == "unsigned" or column.kind == "address")
    else
      text = fmt.cell(value, column.kind)
    end
    return text, count_columns(text)
  end
  local bars, columns = draw_bars(value, column.unit), 0
  for _, bar in ipairs(bars) do columns = math.max(columns, #bar) end
  return bars, columns
end

-- Appends the lines of a row of cells. `pads` has the strings of blanks that were needed.
local function append_row(lines, cells, widths, right, pads)
  local height, text = 1, {}
  for _, cell in ipairs(cells) do
    if type(cell) == "table" then height = math.max(height, #cell) end
  end
  for h = 1, height do
    for i, cell in ipairs(cells) do
      if type(cell) == "table" then cell = cell[h] or "" elseif h > 1 then cell = "" end
      local blanks = widths[i] - count_columns(cell)
      local pad = pads[blanks] or (" "):rep(blanks)
      pads[blanks] = pad
      local at = 3 * i
      text[at - 2], text[at - 1] = right[i] and pad or cell, right[i] and cell or pad
      text[at] = "  "
    end
    lines[#lines + 1] = fmt.trim_end(table.concat(text))
  end
end

-- A histogram takes a line for each bucket.
---@param columns {name: string, kind: string, unit: string?, measured: boolean?}[]
---@param rows any[][] # by column
---@return string[] # the names, then the rows
function writers.lines(columns, rows)
  local cells, widths, right = { {} }, {}, {}
  for i, column in ipairs(columns) do
    right[i] = is_right(column.kind, rows, i)
    cells[1][i] = fmt.escape(column.name)
    widths[i] = count_columns(cells[1][i])
  end
  for r, row in ipairs(rows) do
    local line = {}
    for i, column in ipairs(columns) do
      local cell, n = format_cell(row[i], column)
      line[i], widths[i] = cell, math.max(widths[i], n)
    end
    cells[r + 1] = line
  end
  local lines, pads = {}, {}
  for _, line in ipairs(cells) do
    append_row(lines, line, widths, right, pads)
  end
  return lines
end


local function exact(value, kind)
  if kind ~= "histogram" or value == nil then return fmt.exact(value, kind) end
  local parts = {}
  for _, bucket in ipairs(value) do
    if bucket.count > 0 then
      parts[#parts + 1] = ("%s-%s:%d"):format(format_bound(bucket.from),
        format_bound(bucket.to), bucket.count)
    end
  end
  return table.concat(parts, " ")
end

-- Returns a text with U+FFFD for each byte that is not UTF-8.
local function utf8_of(text)
  local parts, at = {}, 1
  while true do
    local _, wrong = utf8.len(text, at)
    if not wrong then return table.concat(parts) .. text:sub(at) end
    parts[#parts + 1] = text:sub(at, wrong - 1) .. "\u{fffd}"
    at = wrong + 1
  end
end

local full_width = { ["\u{ff1d}"] = true, ["\u{ff0b}"] = true, ["\u{ff0d}"] = true,
  ["\u{ff20}"] = true }

-- Returns a cell of CSV, after RFC 4180; `safe`: with a ' before what a spreadsheet evaluates.
local function quote_cell(text, safe)
  local is_formula = text:find "^[=@\t\r\n]" or full_width[text:sub(1, 3)]
    or text:find "^[+-]" and not tonumber(text)
  text = utf8_of(safe and is_formula and "'" .. text or text)
  if not text:find('[",\r\n]') then return text end
  return '"' .. text:gsub('"', '""') .. '"'
end

---@param columns table[]
---@param rows any[][]
---@param safe boolean?
---@param line_end string? default: "\n"
---@return string
function writers.csv(columns, rows, safe, line_end)
  local lines = { {} }
  for i, column in ipairs(columns) do lines[1][i] = quote_cell(column.name, safe) end
  for r, row in ipairs(rows) do
    lines[r + 1] = {}
    for i, column in ipairs(columns) do
      lines[r + 1][i] = quote_cell(exact(row[i], column.kind),
        safe and math.type(row[i]) ~= "integer")
    end
  end
  for l = 1, #lines do lines[l] = table.concat(lines[l], ",") .. (line_end or "\n") end
  return table.concat(lines)
end

local function json_value(value, kind)
  if math.type(value) == "integer" then
    if kind == "address" then return json.encode(json.address(value)) end
    if kind == "unsigned" then return fmt.unsigned(value) end
  end
  local composite = type(value) == "table" and kind ~= "histogram"
  return json.encode(composite and tostring(value) or value)
end

---@param columns table[]
---@param rows any[][]
---@return string # what stands between [ and ]
function writers.json(columns, rows)
  local lines = {}
  for r, row in ipairs(rows) do
    local fields = {}
    for i, column in ipairs(columns) do
      fields[i] = json.string(column.name) .. ":" .. json_value(row[i], column.kind)
    end
    lines[r] = "\n{" .. table.concat(fields, ",") .. "}"
  end
  return table.concat(lines, ",")
end

return writers
