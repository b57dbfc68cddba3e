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
-- from, `key` (its number), `measure` (its number) and `option`, `node` (an expression), or
-- `running` (the place of another column). place, pivot and per are places of columns.

local expression = require "perflua.table.expression"
local measures = require "perflua.measures"
local suggest = require "perflua.errors.suggest"
local units = require "perflua.text.units"

local presentation = {}

local function fail(format, ...) error(format:format(...), 0) end

local function kind_of(one)
  local shows = measures[one.measure].shows
  return shows and shows(one.kind) or "unsigned"
end

-- Keys, then measures; of several quantiles of one field each has a column.
local function list_columns(data)
  local columns = {}
  for i, key in ipairs(data.keys) do
    columns[i] = { name = key.name, kind = key.kind, key = i }
  end
  for m, one in ipairs(data.measures) do
    local options, kind = one.option, kind_of(one)
    if type(options) ~= "table" then options = { one } end
    for i, option in ipairs(options) do
      columns[#columns + 1] = {
        name = option == one and one.name or one.names[i], kind = kind, measured = true,
        measure = m, option = option == one and one.option or option,
        by_magnitude = measures[one.measure].by_magnitude,
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
  fail("%s", suggest.message(("%s: no column '%s'"):format(what, text), text, names))
end

local summable = { signed = true, unsigned = true, float = true, percent = true, any = true }

local function check_running(columns, one)
  local place = find_column(columns, one.running, "running")
  local column = columns[place]
  if column.running then fail("running: '%s' adds up another column already", column.name) end
  if not (column.measured and summable[column.kind]) then
    fail("running: '%s' is not a measure whose values add up", column.name)
  end
  return place, column.kind
end

local function add_column(view, one)
  local columns, column = view.columns, { name = one.name, measured = true }
  if one.name == "event" then
    fail("column: rows have their event in 'event'; take another name")
  end
  for _, other in ipairs(columns) do
    if other.name == one.name then
      fail("two columns named '%s'", one.name)
    end
  end
  if one.running then
    column.running, column.kind = check_running(columns, one)
    column.barred = "is added up over the rows that are shown, which comes after expressions"
    column.unit = columns[column.running].unit
  else
    column.node, column.kind = expression.parse(one.expression, columns)
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
      fail("unit: '%s' is no column of numbers that have a unit", name)
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
      fail("pivot: a row's field '%s' has the cells; give the column of that name another one",
        column.name)
    elseif column.running then
      fail("pivot: '%s' is a running column, which a turned table has not", column.name)
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
  if column.kind == "histogram" then fail("histograms cannot be sorted by") end
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
  for _, one in ipairs(show.columns or {}) do add_column(view, one) end
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

---@param show table?
---@return boolean # true if it has more than an order and units: it depends on all columns
function presentation.is_final(show)
  return show ~= nil and (show.columns or show.having or show.pivot) ~= nil
end

-- A copy of a description with changes.
local function changed(show, changes)
  local copy = {}
  for name, value in pairs(show) do copy[name] = value end
  for name, value in pairs(changes) do copy[name] = value end
  return copy
end

local function appended(list, item)
  local longer = table.move(list or {}, 1, list and #list or 0, 1, {})
  longer[#longer + 1] = item
  return longer
end

local function reordered(show, how)
  local copy = changed(show, how)
  for _, name in ipairs { "column", "ascending", "top", "per" } do copy[name] = how[name] end
  return copy
end

local function check_name(name, what)
  if type(name) ~= "string" or name == "" then
    fail("%s: a column's name expected, got %s", what,
      name == "" and "an empty one" or suggest.kind(name))
  end
end

local function check_expression(text, what)
  if type(text) ~= "string" then
    fail("%s: an expression of columns expected, got %s", what, suggest.kind(text))
  end
end

-- The steps: each returns a new description, or raises a message. What names columns is checked
-- when a view is made of it.
local steps = {}

function steps.top(show, n, column, options)
  if math.type(n) ~= "integer" or n < 0 then
    fail("top: a number of rows expected, got %s", tostring(n))
  end
  local per = options and options.per
  if per ~= nil and type(per) ~= "string" then
    fail("top: per: a key's name expected, got %s", suggest.kind(per))
  end
  return reordered(show, { top = n, column = column, per = per })
end

function steps.sort(show, column, direction)
  if direction ~= nil and direction ~= "asc" and direction ~= "desc" then
    fail("sort: direction must be \"asc\" or \"desc\"")
  end
  return reordered(show, { column = column, ascending = direction == "asc" })
end

function steps.pivot(show, key, n)
  check_name(key, "pivot")
  if n ~= nil and (math.type(n) ~= "integer" or n < 1) then
    fail("pivot: how many values? got %s", tostring(n))
  end
  return changed(show, { pivot = { key = key, n = n } })
end

function steps.having(show, text)
  check_expression(text, "having")
  return changed(show, { having = appended(show.having, text) })
end

function steps.column(show, name, text)
  check_name(name, "column")
  check_expression(text, "column")
  return changed(show, { columns = appended(show.columns, { name = name, expression = text }) })
end

function steps.running(show, column)
  check_name(column, "running")
  local one = { name = "running_" .. column, running = column }
  return changed(show, { columns = appended(show.columns, one) })
end

function steps.unit(show, unit, columns)
  if not units.is(unit) then
    local text, names = tostring(unit), table.concat(units.names, ", ")
    fail("%s", suggest.message(("unit: no unit '%s'; there are %s"):format(text, names), text,
      units.names))
  end
  local list = changed(show.units or {}, {})
  for _, column in ipairs(columns) do
    check_name(column, "unit")
    list[column] = unit
  end
  return changed(show, { units = list })
end

presentation.steps = steps

local function is_text_or_nil(value) return value == nil or type(value) == "string" end

local function is_positive_or_nil(value)
  return value == nil or math.type(value) == "integer" and value > 0
end

local function all_of(list, valid)
  if list == nil then return true end
  if type(list) ~= "table" then return false end
  for name, value in pairs(list) do
    if not valid(value, name) then return false end
  end
  return true
end

local function is_item(name) return math.type(name) == "integer" end

local function is_condition(text, i) return is_item(i) and type(text) == "string" end

local function is_column(one, i)
  return is_item(i) and type(one) == "table" and type(one.name) == "string"
    and (type(one.expression) == "string" and one.running == nil
      or type(one.running) == "string" and one.expression == nil)
end

local function is_unit(unit, name) return type(name) == "string" and units.is(unit) end

---@param show any that was read from a file
---@return boolean # is it a description of this form? Its columns are checked by view().
function presentation.is(show)
  return type(show) == "table" and is_text_or_nil(show.column) and is_text_or_nil(show.per)
    and (show.top == nil or math.type(show.top) == "integer" and show.top >= 0)
    and (show.ascending == nil or type(show.ascending) == "boolean")
    and (show.pivot == nil or type(show.pivot) == "table" and type(show.pivot.key) == "string"
      and is_positive_or_nil(show.pivot.n))
    and all_of(show.having, is_condition) and all_of(show.columns, is_column)
    and all_of(show.units, is_unit)
end

return presentation
