-- The columns of a grouped query: what is measured, and the names of keys and columns.

local events = require "perflua.recording.events"
local measures = require "perflua.measures"
local usage_error = require("perflua.errors").usage_error

local columns_of = {}

local weights = { signed = true, unsigned = true, any = true } -- kinds of what can be a weight

local function taken(spec, keys, columns, name)
  if name == "event" and spec.split then return true end
  for _, key in ipairs(keys) do
    if key.name == name then return true end
  end
  for _, column in ipairs(columns) do
    for _, given in ipairs(column.names or { column.name }) do
      if given == name then return true end
    end
  end
  return false
end

---Raises if a column of that name is there already.
---@param spec table
---@param keys table[]
---@param columns table[]
---@param name string
function columns_of.check_name(spec, keys, columns, name)
  if taken(spec, keys, columns, name) then
    usage_error(
      "two columns named '%s'; rename the first with as() before adding the second",
      name)
  end
end

---@param spec table
---@param ref table
---@return table # the Ref of a call chain as a Stack, for keys and sets; other Refs stay
function columns_of.stack_ref(spec, ref)
  if ref.kind ~= "view" or ref.root ~= "callchain" or #ref.path > 1 or spec.reader then
    return ref
  end
  return spec.scope:stack(ref.text, "values")
end

---@param spec table
---@param name string of the measure
---@param field string?
---@param option any
---@return {name: string, measure: string, ref: table?, kind: string?, option: any}
function columns_of.column(spec, name, field, option)
  local takes = measures[name].takes
  if not takes then return { name = name, measure = name } end
  local ref = spec.scope:ref(field)
  if takes.stack then ref = columns_of.stack_ref(spec, ref) end
  if not takes[ref.kind] then
    usage_error("%s: cannot measure %s (%s)", name, field, ref.kind)
  elseif name == "share" and spec.unnest and spec.scope:reads_items(ref.node) then
    usage_error("share: %s is a field of items, but shares are of records; use sum", field)
  end
  local column = { name = measures[name].prefix .. field, measure = name, ref = ref,
    kind = ref.kind, option = option }
  if type(option) == "table" then
    column.names = {}
    for i, q in ipairs(option) do column.names[i] = ("p%.14g_%s"):format(100 * q, field) end
    column.name = table.concat(column.names, ", ")
  end
  return column
end

-- The events of one side of a ratio, and what it is called.
local function side(spec, wanted)
  local is_event = events.is_event(wanted)
  if type(wanted) ~= "string" and not is_event then
    usage_error("ratio: an event's name expected, got a %s", type(wanted))
  end
  local set, name, read = events.resolve(spec.scope.file.events, wanted),
    is_event and wanted.name or wanted, {}
  for index in pairs(set) do
    if not spec.scope.event_set or spec.scope.event_set[index] then read[index] = true end
  end
  if next(read) == nil then usage_error("ratio: this query does not read event '%s'", name) end
  return read, name
end

---@param spec table
---@param over string|perflua.Event
---@param under string|perflua.Event
---@param field string? what is added up
---@return {name: string, measure: string, ref: table, kind: string, option: any, events:
--- table[], event: table}
function columns_of.ratio(spec, over, under, field)
  local column = columns_of.column(spec, "ratio", field or "period")
  local a, a_name = side(spec, over)
  local b, b_name = side(spec, under)
  column.name = a_name .. "/" .. b_name
  column.option, column.events, column.event = column.name, { a, b }, spec.scope:ref "event"
  return column
end

---@param spec table
---@param what string names the method in messages
---@param field string
---@return table # the Ref of what can be a weight; raises unless it is an integer
function columns_of.weight(spec, what, field)
  local ref = spec.scope:ref(field)
  if not weights[ref.kind] then
    usage_error("%s: an integer expected, but %s is not one (%s)", what, field, ref.kind)
  end
  return ref
end

---@param spec table
---@param field string
---@return {columns: table[]} # the changes: the last measure is weighted
function columns_of.weighted(spec, field)
  local columns, last = table.move(spec.columns, 1, #spec.columns, 1, {}), {}
  if #columns == 0 then
    usage_error(
      "weight: no measure to weight; count(), avg(f), quantile(f, q) or hist(f) comes first")
  end
  for key, value in pairs(columns[#columns]) do last[key] = value end
  if not measures[last.measure].weighted then
    usage_error("weight: %s cannot be weighted; count, avg, quantile and hist can",
      last.measure)
  elseif last.weight then
    usage_error("weight: '%s' is already weighted by %s", last.name, last.weight.text)
  end
  last.weight = columns_of.weight(spec, "weight", field)
  columns[#columns] = last
  return { columns = columns }
end

---@param spec table
---@param column table
---@return table[] # the columns with this one
function columns_of.added(spec, column)
  local columns = table.move(spec.columns, 1, #spec.columns, 1, {})
  local several = {}
  for _, name in ipairs(column.names or { column.name }) do
    columns_of.check_name(spec, spec.keys, columns, name)
    columns_of.check_name(spec, spec.keys, several, name)
    several[#several + 1] = { name = name }
  end
  columns[#columns + 1] = column
  return columns
end

-- The presentation with the unit of a column that gets another name; it has nothing but units
-- yet.
local function with_unit_of(show, before, name)
  if not (show and show.units) then return show end
  local renamed = { units = {} }
  for column, unit in pairs(show.units) do renamed.units[column == before and name
    or column] = unit end
  return renamed
end

---@param spec table
---@param name string
---@return table # the changes: keys or columns with the last one renamed
function columns_of.renamed(spec, name)
  if type(name) ~= "string" then usage_error("as: a name expected, got a %s", type(name)) end
  local part = #spec.columns > 0 and "columns" or "keys"
  local list = table.move(spec[part], 1, #spec[part], 1, {})
  local last = {}
  if #list == 0 then usage_error("as: there is no column to rename yet") end
  for key, value in pairs(list[#list]) do last[key] = value end
  if last.names then usage_error("as: the last measure has %d columns, which cannot be renamed",
    #last.names) end
  list[#list] = nil
  columns_of.check_name(spec, part == "keys" and list or spec.keys, part == "columns" and list
    or spec.columns, name)
  local changes = { [part] = list, show = with_unit_of(spec.show, last.name, name) }
  last.name = name
  list[#list + 1] = last
  return changes
end

return columns_of
