-- A report as perf report --stdio prints it: a section for each event.

local fmt = require "perflua.text.fmt"
local names = require "perflua.report.names"

local show = {}

local function width(text) return text:find("[\x80-\xff]") and utf8.len(text) or #text end

local right = { signed = true, unsigned = true, address = true, float = true }

local ABSENT = {} -- a value for tables
local MOST = 4096 -- cells of a column that are kept

-- Columns: the value at values[at][r] is shown as cell(value, event), behind the mark of values[mark_at][r].
local function key_column(key, at)
  return {
    title = names.title(key.name), right = right[key.kind], at = at,
    cell = function(value) return fmt.cell(value, key.kind) end,
  }
end

local function symbol_column(at, mark_at)
  local marks = {}
  for cpumode, letter in pairs(names.levels) do marks[cpumode] = "[" .. letter .. "] " end
  return { title = names.title("symbol"), at = at, cell = fmt.escape, mark_at = mark_at, marks = marks, before = 4 }
end

local function percent_column(title, at)
  return {
    title = title, right = true, at = at,
    cell = function(part, event) return ("%.2f%%"):format(event.period > 0 and 100 * (part / event.period) or 0) end,
  }
end

local function columns_of(report)
  local columns, keys = {}, report.keys
  local n = #keys
  if report.children then columns[1] = percent_column("Children", n + 3) end
  columns[#columns + 1] = percent_column(report.children and "Self" or "Overhead", n + 2)
  for i, key in ipairs(keys) do
    if key.name == "symbol" then
      columns[#columns + 1] = symbol_column(i, n)
    elseif not (report.symbols and i == n) then
      columns[#columns + 1] = key_column(key, i)
    end
  end
  for _, column in ipairs(columns) do column.before = column.before or 0 end
  columns[#columns].last = not columns[#columns].right
  return columns
end

-- What is kept by value, up to MOST of it.
local function kept(make)
  local known, n = {}, 0
  local function get(value, ...)
    if value == nil then value = ABSENT end
    local text = known[value]
    if text then return text end
    if n == MOST then known, n = {}, 0 end
    text = make(value ~= ABSENT and value or nil, ...)
    known[value], n = text, n + 1
    return text
  end
  return get
end

local function text_of(column, value, event) return value == nil and "-" or column.cell(value, event) end

-- Makes columns wide enough for the titles and for all rows of an event.
local function fit(columns, event, batches)
  for _, column in ipairs(columns) do
    local most = width(column.title) - column.before
    local get = kept(function(value)
      local text = text_of(column, value, event)
      if #text > most then most = math.max(most, width(text)) end
      return true
    end)
    column.see, column.most = get, function() return most end
  end
  for values, n in batches() do
    for _, column in ipairs(columns) do
      local list, see = values[column.at], column.see
      for r = 1, n do see(list[r]) end
    end
  end
  for _, column in ipairs(columns) do column.room = column.most() end
end

local function pad(column, text)
  if column.last then return text end
  local blanks = (" "):rep(column.room - width(text))
  return column.right and blanks .. text or text .. blanks
end

-- A column's cells into `parts`: the first at parts[at], the next `step` behind.
local function put(column, values, n, parts, at, step)
  local list, cells = values[column.at], column.cells
  local marks, modes = column.marks, values[column.mark_at]
  for r = 1, n do
    local text = cells(list[r])
    parts[at] = marks and marks[modes[r]] .. text or text
    at = at + step
  end
end

local BATCH = 256 -- rows that are read and written at a time

-- Walks the rows of an event in batches: values by column, and how many. Few rows are read once for all walks.
local function batches_of(event)
  local from_before, before
  return function()
    local from = 1
    return function()
      if from > event.n then return nil end
      local n = math.min(BATCH, event.n - from + 1)
      if from_before ~= from then from_before, before = from, event.rows(from, from + n - 1) end
      from = from + n
      return before, n
    end
  end
end

local function write_rows(columns, event, batches, write)
  local parts, step = {}, 2 * #columns + 1
  for _, column in ipairs(columns) do
    local function cell(value) return pad(column, text_of(column, value, event)) end
    column.cells = column.last and cell or kept(cell)
  end
  for values, n in batches() do
    for r = 0, n - 1 do
      for c = 1, #columns do parts[r * step + 2 * c - 1] = "  " end
      parts[(r + 1) * step] = "\n"
    end
    for c, column in ipairs(columns) do put(column, values, n, parts, 2 * c, step) end
    write(table.concat(parts, "", 1, n * step))
  end
end

---@param report table of report.read
---@return fun(event: table, write: fun(text: string)) # writes one of its events
function show.sections(report)
  local columns = columns_of(report)
  return function(event, write)
    local titles, dots, batches = {}, {}, batches_of(event)
    fit(columns, event, batches)
    for c, column in ipairs(columns) do
      local room = column.room + column.before
      titles[c], dots[c] = column.title, ("."):rep(room)
      if not column.last then
        local blanks = (" "):rep(room - width(column.title))
        titles[c] = column.right and blanks .. column.title or column.title .. blanks
      end
    end
    write("# " .. table.concat(titles, "  ") .. "\n")
    write("# " .. table.concat(dots, "  ") .. "\n")
    write("#\n")
    write_rows(columns, event, batches, write)
  end
end

return show
