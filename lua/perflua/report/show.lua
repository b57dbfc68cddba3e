-- A report as perf report --stdio prints it: a section for each event.

local fmt = require "perflua.text.fmt"
local names = require "perflua.report.names"

local show = {}

local function width(text) return text:find("[\x80-\xff]") and utf8.len(text) or #text end

local right = { signed = true, unsigned = true, address = true, float = true }

local ABSENT = {} -- a value for tables

-- A key's column: value(row) tells which of its cells is the row's, cell(value) makes that.
local function key_column(key, i)
  return {
    title = names.title(key.name), right = right[key.kind],
    value = function(row)
      local value = row.keys[i]
      return value == nil and ABSENT or value
    end,
    cell = function(value) return value == ABSENT and "-" or fmt.cell(value, key.kind) end,
  }
end

local function symbol_column(i, level)
  local marks = {}
  for cpumode, letter in pairs(names.levels) do marks[cpumode] = "[" .. letter .. "] " end
  return {
    title = names.title("symbol"),
    value = function(row)
      local keys = row.keys
      return marks[keys[level]] .. keys[i]
    end,
    cell = fmt.escape,
  }
end

local function percent_column(title, measure, whole)
  return {
    title = title, right = true,
    value = function(row) return row[measure] end,
    cell = function(part) return ("%.2f%%"):format(whole > 0 and 100 * (part / whole) or 0) end,
  }
end

local function columns_of(report, event)
  local columns, keys = {}, report.keys
  if report.children then columns[1] = percent_column("Children", 3, event.period) end
  columns[#columns + 1] = percent_column(report.children and "Self" or "Overhead", 2, event.period)
  for i, key in ipairs(keys) do
    if key.name == "symbol" then
      columns[#columns + 1] = symbol_column(i, #keys)
    elseif not (report.symbols and i == #keys) then
      columns[#columns + 1] = key_column(key, i)
    end
  end
  columns[#columns].last = not columns[#columns].right
  return columns
end

-- The greater of a width and a text's, which is never more than its bytes.
local function wider(most, text) return #text > most and math.max(most, width(text)) or most end

-- The cells of the rows as they are, of a column that ends the line: its values are mostly different.
local function fill_last(column, rows)
  local value, cell, cells, most = column.value, column.cell, {}, width(column.title)
  for r, row in ipairs(rows) do
    local text = cell(value(row))
    cells[r], most = text, wider(most, text)
  end
  column.cells, column.dots = cells, ("."):rep(most)
end

-- All of one width, of each value made once.
local function fill(column, rows)
  local value, cell, cells, known, most = column.value, column.cell, {}, {}, width(column.title)
  for r, row in ipairs(rows) do
    local v = value(row)
    if not known[v] then
      local text = cell(v)
      known[v], most = text, wider(most, text)
    end
    cells[r] = v
  end
  local function pad(text)
    local blanks = (" "):rep(most - width(text))
    return column.right and blanks .. text or text .. blanks
  end
  for v, text in pairs(known) do known[v] = pad(text) end
  for r, v in ipairs(cells) do cells[r] = known[v] end
  column.cells, column.title, column.dots = cells, pad(column.title), ("."):rep(most)
end

---@param report table of report.read
---@param event table one of its events
---@param rows table[] those to show
---@param write fun(line: string)
function show.section(report, event, rows, write)
  local columns, titles, dots, cells = columns_of(report, event), {}, {}, {}
  for c, column in ipairs(columns) do
    (column.last and fill_last or fill)(column, rows)
    titles[c], dots[c], cells[c] = column.title, column.dots, column.cells
  end
  write("# " .. table.concat(titles, "  "))
  write("# " .. table.concat(dots, "  "))
  write("#")
  local parts, n = {}, #cells
  for r = 1, #rows do
    for c = 1, n do parts[c] = cells[c][r] end
    write("  " .. table.concat(parts, "  "))
  end
end

return show
