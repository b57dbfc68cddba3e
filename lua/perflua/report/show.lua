-- A report as perf report --stdio prints it: a section for each event.

local fmt = require "perflua.text.fmt"
local names = require "perflua.report.names"

local show = {}

local function width(text) return text:find("[\x80-\xff]") and utf8.len(text) or #text end

local right = { signed = true, unsigned = true, address = true, float = true }

local ABSENT = {} -- a value for tables

-- Columns: of row r cell(values[r]) is shown, with what `mark` says of it before.
local function key_column(key, values)
  return {
    title = names.title(key.name), right = right[key.kind], values = values,
    cell = function(value) return value == ABSENT and "-" or fmt.cell(value, key.kind) end,
  }
end

local function symbol_column(values, levels)
  local marks = {}
  for cpumode, letter in pairs(names.levels) do marks[cpumode] = "[" .. letter .. "] " end
  return {
    title = names.title("symbol"), values = values, cell = fmt.escape,
    mark = function(r) return marks[levels[r]] end, mark_width = 4,
  }
end

local function percent_column(title, values, whole)
  return {
    title = title, right = true, values = values,
    cell = function(part) return ("%.2f%%"):format(whole > 0 and 100 * (part / whole) or 0) end,
  }
end

local function columns_of(report, event)
  local columns, keys, values = {}, report.keys, event.values
  local n = #keys
  if report.children then columns[1] = percent_column("Children", values[n + 3], event.period) end
  columns[#columns + 1] = percent_column(report.children and "Self" or "Overhead", values[n + 2], event.period)
  for i, key in ipairs(keys) do
    if key.name == "symbol" then
      columns[#columns + 1] = symbol_column(values[i], values[n])
    elseif not (report.symbols and i == n) then
      columns[#columns + 1] = key_column(key, values[i])
    end
  end
  return columns
end

-- The greater of a width and a text's, which is never more than its bytes.
local function wider(most, text) return #text > most and math.max(most, width(text)) or most end

-- A column that ends the line: its values are mostly different. Those that are shown otherwise are in `other`.
local function fit_last(column, n)
  local values, cell, before = column.values, column.cell, column.mark_width or 0
  local most, other = width(column.title) - before, {}
  for r = 1, n do
    local value = values[r]
    if value == nil then value = ABSENT end
    local text = cell(value)
    if text ~= value then other[r] = text end
    most = wider(most, text)
  end
  column.other, column.dots = other, ("."):rep(most + before)
end

-- All of one width, of each value made once.
local function fit(column, n)
  local values, cell, cells, most = column.values, column.cell, {}, width(column.title)
  local before = column.mark_width or 0
  for r = 1, n do
    local value = values[r]
    if value == nil then value = ABSENT end
    if not cells[value] then
      local text = cell(value)
      cells[value], most = text, math.max(most, before + width(text))
    end
  end
  local function pad(text, room)
    local blanks = (" "):rep(room - width(text))
    return column.right and blanks .. text or text .. blanks
  end
  for value, text in pairs(cells) do cells[value] = pad(text, most - before) end
  column.cells, column.title, column.dots = cells, pad(column.title, most), ("."):rep(most)
end

-- A column's cells into `parts`, for rows from..to: the first at parts[at], the next `step` behind.
local function put(column, parts, at, step, from, to)
  local values, cells, other, mark = column.values, column.cells, column.other, column.mark
  for r = from, to do
    local value = values[r]
    if value == nil then value = ABSENT end
    local text
    if cells then text = cells[value] else text = other[r] or value end
    parts[at] = mark and mark(r) .. text or text
    at = at + step
  end
end

local BATCH = 256 -- rows that are written at a time

local function write_rows(columns, n, write)
  local parts, step = {}, 2 * #columns + 1
  for from = 1, n, BATCH do
    local to = math.min(from + BATCH - 1, n)
    for r = 0, to - from do
      for c = 1, #columns do parts[r * step + 2 * c - 1] = "  " end
      parts[(r + 1) * step] = "\n"
    end
    for c, column in ipairs(columns) do put(column, parts, 2 * c, step, from, to) end
    write(table.concat(parts, "", 1, (to - from + 1) * step))
  end
end

---@param report table of report.read
---@param event table one of its events
---@param write fun(text: string)
function show.section(report, event, write)
  local columns, titles, dots = columns_of(report, event), {}, {}
  for c, column in ipairs(columns) do
    local is_last = c == #columns and not column.right
    if is_last then fit_last(column, event.n) else fit(column, event.n) end
    titles[c], dots[c] = column.title, column.dots
  end
  write("# " .. table.concat(titles, "  ") .. "\n")
  write("# " .. table.concat(dots, "  ") .. "\n")
  write("#\n")
  write_rows(columns, event.n, write)
end

return show
