-- The rows of a report: a view of its result, and which of them each event shows.

local core = require "perflua.core"
local sums = require "perflua.measures.sums"
local usage_error = require("perflua.errors").usage_error

local rows = {}

local MEASURES <const> = { "samples", "period", "children" }

-- Returns the columns of the view.
local function list_columns(keys, children)
  local columns = { { name = "percent", kind = "percent", measure = 2, share = true } }
  if children then
    columns[2] = columns[1]
    columns[1] = { name = "children_percent", kind = "percent", measure = children,
      share = true }
  end
  for i, key in ipairs(keys) do
    columns[#columns + 1] = { name = key.name, kind = key.kind, key = i }
  end
  for i, measure in ipairs { 1, 2, children or nil } do
    columns[#columns + 1] = { name = MEASURES[i], kind = "unsigned", measure = measure }
  end
  for _, column in ipairs(columns) do column.measured = column.measure ~= nil end
  return columns
end

-- Returns columns in the order of their names, of two with one name the last, as objects of
-- JSON have them.
local function by_name(columns)
  local last, names, sorted = {}, {}, {}
  for _, column in ipairs(columns) do
    if not last[column.name] then names[#names + 1] = column.name end
    last[column.name] = column
  end
  table.sort(names)
  for i, name in ipairs(names) do sorted[i] = last[name] end
  return sorted
end

-- Returns the sums that shares are of.
local function totals_of(sections, children)
  local totals = {}
  for i, section in ipairs(sections) do
    for measure = 2, children or 2 do
      totals[#totals + 1] = { measure = measure, whole = i,
        sum = (section.whole or section).period }
    end
  end
  return totals
end

-- Returns the last of rows first … last for which a condition holds, which holds for the first
-- of them; first - 1: for none.
local function last_row(first, last, holds)
  local low, high = first - 1, last
  while low < high do
    local middle = (low + high + 1) // 2
    if holds(middle) then low = middle else high = middle - 1 end
  end
  return low
end

-- Finds the rows of each section.
local function place_sections(sections, view, share, limit)
  local first = 1
  for i, section in ipairs(sections) do
    local last = last_row(first, #view, function(row)
      return core.view_section(view, row) == i
    end)
    section.first, section.all = first, last - first + 1
    if limit > 0 then
      last = last_row(first, last, function(row)
        return core.view_row(view, row)[share] >= limit
      end)
    end
    section.n, first = last - first + 1, first + section.all
  end
end

---Makes the view, and sets first, n and all of the sections.
---@param result userdata of the core
---@param keys { name: string, kind: string }[]
---@param sections table[] of report.read
---@param children integer? number of the measure with callers
---@param shown { limit: number, count: integer?, by_name: boolean? } as report.read takes it
---@return userdata view
---@return table<integer|string, integer> places of columns, as of report.read
function rows.view(result, keys, sections, children, shown)
  local columns, places, by = list_columns(keys, children), {}, nil
  if shown.by_name then columns = by_name(columns) end
  for place, column in ipairs(columns) do
    places[column.key or column.name] = place
    if column.name == (children and "children" or "period") and column.measure then
      by = place
    end
  end
  local view, wrong = core.result_view(result, { columns = columns, by = by,
    top = shown.count, totals = totals_of(sections, children) })
  if not view then usage_error("%s", sums.wrong[wrong]) end
  place_sections(sections, view, children and "children_percent" or "percent", shown.limit)
  return view, places
end

return rows
