-- The rows of a report: a view of its result, and which of them each event has.

local columns = require "perflua.report.columns"
local core = require "perflua.core"
local expression = require "perflua.table.expression"
local sums = require "perflua.measures.sums"
local usage_error = require("perflua.errors").usage_error

local rows = {}

-- Returns the columns of the view.
local function list_columns(made)
  local list, children = {}, made.children
  local function add(name, kind, column)
    column.name, column.kind, column.measured = name, kind, column.measure ~= nil
    list[#list + 1] = column
  end
  if children then add("children_percent", "percent", { measure = children, share = true }) end
  add("percent", "percent", { measure = 2, share = true })
  for i, key in ipairs(made.keys) do add(key.name, key.kind, { key = i }) end
  add("samples", "unsigned", { measure = 1 })
  add("period", "unsigned", { measure = 2 })
  if children then add("children", "unsigned", { measure = children }) end
  for i, name in ipairs(made.extra) do
    local is_share = columns.measure(name).share
    add(name, is_share and "percent" or "unsigned", { measure = 2 + i, share = is_share })
  end
  return list
end

-- Returns columns in the order of their names, of two with one name the last, as objects of
-- JSON have them.
local function by_name(list)
  local last, names, sorted = {}, {}, {}
  for _, column in ipairs(list) do
    if not last[column.name] then names[#names + 1] = column.name end
    last[column.name] = column
  end
  table.sort(names)
  for i, name in ipairs(names) do sorted[i] = last[name] end
  return sorted
end

-- Returns the sums that shares are of.
local function totals_of(sections, list)
  local totals, seen = {}, {}
  for _, column in ipairs(list) do
    local measure = column.share and column.measure
    for i, section in ipairs(measure and not seen[measure] and sections or {}) do
      totals[#totals + 1] = { measure = measure, whole = i,
        sum = (section.whole or section).period }
    end
    seen[measure or false] = true
  end
  return totals
end

-- Finds the rows of each section.
local function place_sections(sections, view)
  local first = 1
  for i, section in ipairs(sections) do
    local low, high = first - 1, #view -- the last row of the section is between them
    while low < high do
      local middle = (low + high + 1) // 2
      if core.view_section(view, middle) <= i then low = middle else high = middle - 1 end
    end
    section.first, section.n, first = first, low - first + 1, low + 1
  end
end

local in_view = { overhead_children = "children", overhead = "period", period = "period",
  sample = "samples" }

-- Returns the places of what rows are sorted by: { column, ascending }.
local function order_of(order, made, places)
  local list = {}
  for _, name in ipairs(order or { made.children and "overhead_children" or "overhead" }) do
    local place = places[in_view[name] or name]
    for i, field in ipairs(in_view[name] and {} or made.fields) do
      if field.name == name or field.word == name then place = places[i] end
    end
    if place then list[#list + 1] = { column = place, ascending = columns.ascends(name) } end
  end
  return list
end

---Makes the view, and sets first and n of the sections.
---@param result userdata of the core
---@param made { keys: table[], extra: string[], children: integer?, fields: table[] } keys: {
--- name, kind } of the result; extra: measures after samples and period; children: number of
--- the measure with callers; fields: the keys that were asked for, the first of all
---@param sections table[] of report.read
---@param shown table as report.read takes it
---@return userdata view
---@return table<integer|string, integer> places of columns, as of report.read
function rows.view(result, made, sections, shown)
  local list, places, conditions = list_columns(made), {}, nil
  if shown.by_name then list = by_name(list) end
  for place, column in ipairs(list) do
    places[column.key or column.name] = place
  end
  if shown.limit > 0 then
    conditions = { expression.parse_condition(("%s >= %.17g"):format(
      made.children and "children_percent" or "percent", shown.limit), list) }
  end
  local order = order_of(shown.order, made, places)
  local by = table.remove(order, 1)
  local view, wrong = core.result_view(result, { columns = list, by = by and by.column,
    ascending = by and by.ascending, ties = order, conditions = conditions, top = shown.count,
    totals = totals_of(sections, list) })
  if not view then usage_error("%s", sums.wrong[wrong]) end
  place_sections(sections, view)
  return view, places
end

return rows
