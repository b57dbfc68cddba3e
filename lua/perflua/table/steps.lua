-- The description of a presentation, as presentation.lua has it: the steps that it is made in.

local suggest = require "perflua.errors.suggest"
local units = require "perflua.text.units"

local steps = {}

local function fail(format, ...) error(format:format(...), 0) end

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
local by_name = {}
steps.by_name = by_name

function by_name.top(show, n, column, options)
  if math.type(n) ~= "integer" or n < 0 then
    fail("top: a number of rows expected, got %s", suggest.value(n))
  end
  local per = options and options.per
  if per ~= nil and type(per) ~= "string" then
    fail("top: per: a key's name expected, got %s", suggest.kind(per))
  end
  return reordered(show, { top = n, column = column, per = per })
end

function by_name.sort(show, column, direction)
  if direction ~= nil and direction ~= "asc" and direction ~= "desc" then
    fail("sort: direction must be \"asc\" or \"desc\"")
  end
  return reordered(show, { column = column, ascending = direction == "asc" })
end

function by_name.pivot(show, key, n)
  check_name(key, "pivot")
  if n ~= nil and (math.type(n) ~= "integer" or n < 1) then
    fail("pivot: a number of values from 1 on expected, got %s", suggest.value(n))
  end
  return changed(show, { pivot = { key = key, n = n } })
end

function by_name.having(show, text)
  check_expression(text, "having")
  return changed(show, { having = appended(show.having, text) })
end

function by_name.column(show, name, text)
  check_name(name, "column")
  check_expression(text, "column")
  return changed(show, { columns = appended(show.columns, { name = name, expression = text }) })
end

function by_name.running(show, column)
  check_name(column, "running")
  local added = { name = "running_" .. column, running = column }
  return changed(show, { columns = appended(show.columns, added) })
end

function by_name.unit(show, unit, columns)
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

local function is_column(column, i)
  return is_item(i) and type(column) == "table" and type(column.name) == "string"
    and (type(column.expression) == "string" and column.running == nil
      or type(column.running) == "string" and column.expression == nil)
end

local function is_unit(unit, name) return type(name) == "string" and units.is(unit) end

---@param show any that was read from a file
---@return boolean # true if it is a description of this form; view() checks its columns
function steps.is(show)
  return type(show) == "table" and is_text_or_nil(show.column) and is_text_or_nil(show.per)
    and (show.top == nil or math.type(show.top) == "integer" and show.top >= 0)
    and (show.ascending == nil or type(show.ascending) == "boolean")
    and (show.pivot == nil or type(show.pivot) == "table" and type(show.pivot.key) == "string"
      and is_positive_or_nil(show.pivot.n))
    and all_of(show.having, is_condition) and all_of(show.columns, is_column)
    and all_of(show.units, is_unit)
end

---@param show table?
---@return boolean # true if it has more than an order and units: it depends on all columns
function steps.is_final(show)
  return show ~= nil and (show.columns or show.having or show.pivot) ~= nil
end

return steps
