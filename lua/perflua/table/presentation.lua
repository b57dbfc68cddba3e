-- The presentation of a Table's groups. Its description is plain data, saved with the table:
--
--   show = { column, ascending, top, per, pivot = { key, n }, having = { EXPRESSION … },
--            columns = { { name, expression } or { name, running = COLUMN } … },
--            units = { [COLUMN] = UNIT } }
--
-- It is applied in this order: columns are computed for each group, or for each cell of a pivot
-- and each of its rows; having picks rows, which are sorted; top picks the first; running
-- columns add up what is left.
--
-- A view is made of it for a table's keys and measures: { columns, n_keys, place, pivot, per,
-- conditions, show }. A column is { name, kind, unit, measured } and, by what its values come
-- from, `key` (its number), `measure` (its number) and `option`, `tree` (an expression), or
-- `running` (the place of another column). place, pivot and per are places of columns. The core
-- takes it as it is: see core.result_view in src/binding/functions.h. A column with `words`,
-- the number of another measure, is shown to people as that is.

local expression = require "perflua.table.expression"
local measures = require "perflua.measures"
local suggest = require "perflua.errors.suggest"

local presentation = {}

local function fail(format, ...) error(format:format(...), 0) end

-- Keys, then measures; of several quantiles of one field each has a column.
local function list_columns(data)
  local columns = {}
  for i, key in ipairs(data.keys) do
    columns[i] = { name = key.name, kind = key.kind, key = i }
  end
  for m, row in ipairs(data.measures) do
    if row.hidden then break end
    local options, kind = row.option, measures[row.measure].shows(row.kind) or "unsigned"
    if type(options) ~= "table" then options = { row } end
    for i, option in ipairs(options) do
      columns[#columns + 1] = {
        name = option == row and row.name or row.names[i], kind = kind, measured = true,
        measure = m, option = option == row and row.option or option,
        by_magnitude = measures[row.measure].by_magnitude, words = row.words,
      }
    end
  end
  return columns
end

-- The place of the column of that name; raises for one that there is not.
local function find_column(columns, name, what)
  local names = {}
  for place, column in ipairs(columns) do
    if column.name == name then return place end
    names[place] = column.name
  end
  local text = tostring(name)
  fail("%s", suggest.among(("%s: no column '%s'"):format(what, text), text, names))
end

local summable = { signed = true, unsigned = true, float = true, percent = true, any = true }

local function check_running(columns, added)
  local place = find_column(columns, added.running, "running")
  local column = columns[place]
  if column.running then fail("running: '%s' adds up another column already", column.name) end
  if not (column.measured and summable[column.kind]) then
    fail("running: '%s' is not a measure whose values add up", column.name)
  end
  return place, column.kind
end

local function add_column(view, added)
  local columns, column = view.columns, { name = added.name, measured = true }
  if added.name == "event" then
    fail("column: 'event' is the event of a row; choose another name")
  end
  for _, other in ipairs(columns) do
    if other.name == added.name then
      fail("two columns named '%s'", added.name)
    end
  end
  if added.running then
    column.running, column.kind = check_running(columns, added)
    column.barred = "is added up over the rows that are shown, which comes after expressions"
    column.unit = columns[column.running].unit
  else
    column.tree, column.kind = expression.parse(added.expression, columns)
  end
  columns[#columns + 1] = column
end

local counted = {
  signed = true, unsigned = true, float = true, any = true, ["function"] = true,
    histogram = true,
}

local function set_units(view, list)
  for _, name in ipairs(suggest.names(list)) do
    local column = view.columns[find_column(view.columns, name, "unit")]
    if not counted[column.kind] then
      fail("unit: '%s' is not a column of numbers that have a unit", name)
    end
    column.unit = list[name]
  end
end

-- The place of a key.
local function find_key(view, name, what)
  local keys = {}
  for i = 1, view.n_keys do keys[i] = view.columns[i] end
  for place, column in ipairs(view.columns) do
    if column.measured and column.name == name then
      fail("%s: '%s' is a measure; a key of group_by is expected", what, name)
    end
    if column.name == name then return place end
  end
  local names, text = {}, tostring(name)
  for i, key in ipairs(keys) do names[i] = key.name end
  local message = ("%s: no key '%s'; the keys are %s")
    :format(what, text, table.concat(names, ", "))
  fail("%s", suggest.message(message, text, names))
end

-- Fields of a row that cells and the others are in.
local reserved = { pivot = true, other = true }

local function set_pivot(view, pivot)
  view.pivot = find_key(view, pivot.key, "pivot")
  if view.columns[view.pivot].kind == "event" and pivot.n then
    fail("pivot: events are not added together, so all are columns: pivot(\"%s\")", pivot.key)
  end
  view.columns[view.pivot].barred = "is turned into columns by pivot"
  for place, column in ipairs(view.columns) do
    if place ~= view.pivot and reserved[column.name] then
      fail("pivot: a row's field '%s' holds the cells; rename the column of that name",
        column.name)
    elseif column.running then
      fail("pivot: '%s' is a running column, which a pivoted table cannot have", column.name)
    end
  end
end

-- The differences of a comparison, or the first measure that has an order.
local function find_default_order(view)
  local first
  for place, column in ipairs(view.columns) do
    if column.by_magnitude then return place end
    if column.measured and column.kind ~= "histogram" then first = first or place end
  end
  return first
end

-- The column of that name; without one that of find_default_order().
local function find_order(view, name)
  if name == nil then return find_default_order(view) end
  local place = find_column(view.columns, name, view.show.top and "top" or "sort")
  local column = view.columns[place]
  if column.kind == "histogram" then fail("rows cannot be sorted by a histogram") end
  if column.running then fail("'%s' is added up in the order of another column", name) end
  if place == view.pivot then fail("'%s' %s", name, column.barred) end
  return place
end

---Makes a view of a description; raises a message if it is none for these keys and measures.
---@param data table of a Table
---@param show table
---@return table
function presentation.view(data, show)
  local view = { columns = list_columns(data), n_keys = #data.keys, show = show }
  for _, added in ipairs(show.columns or {}) do add_column(view, added) end
  set_units(view, show.units or {})
  for _, column in ipairs(view.columns) do
    if column.running then column.unit = column.unit or view.columns[column.running].unit end
  end
  if show.pivot then set_pivot(view, show.pivot) end
  view.conditions = {}
  for i, text in ipairs(show.having or {}) do
    view.conditions[i] = expression.parse_condition(text, view.columns)
  end
  view.place = find_order(view, show.column)
  if show.per ~= nil then
    view.per = find_key(view, show.per, "top: per")
    if view.per == view.pivot then
      fail("top: '%s' %s", show.per, view.columns[view.per].barred)
    end
  end
  return view
end

return presentation
