-- The grouped half of a Query's description: its keys, its columns, and the Table it ends in.

local usage_error = require("perflua.errors").usage_error
local aggregate = require "perflua.group.aggregate"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local measures = require "perflua.measures"
local events = require "perflua.recording.events"
local interrupted = require "perflua.table.interrupted"
local origin = require "perflua.table.origin"
local suggest = require "perflua.errors.suggest"
local Table = require "perflua.table"

local group = {}

local weights = { signed = true, unsigned = true, any = true } -- kinds of what can be a weight

local function taken(spec, keys, columns, name)
  if name == "event" and spec.split then return true end
  for _, key in ipairs(keys) do
    if key.name == name then return true end
  end
  for _, column in ipairs(columns) do
    for _, other in ipairs(column.names or { column.name }) do
      if other == name then return true end
    end
  end
  return false
end

local function check_name(spec, keys, columns, name)
  if taken(spec, keys, columns, name) then
    usage_error(
      "two columns named '%s'; rename the first with as() before adding the second",
      name)
  end
end

local function function_key(name, fn)
  if type(name) ~= "string" or type(fn) ~= "function" then
    usage_error(
      "group_by: the table is not of the form { name = function(record) … end }")
  end
  return { name = name, ref = { text = name, kind = "function", plain = false, get = fn } }
end

-- The Ref of a call chain as a Stack, for keys and sets; other Refs stay.
local function stack_ref(spec, ref)
  if ref.kind ~= "view" or ref.root ~= "callchain" or #ref.path > 1 or spec.reader then
    return ref
  end
  local stack = { text = ref.text, kind = "stack", root = "stack", path = { "stack" },
    plain = false }
  stack.node = { op = "field", kind = "stack", ref = stack, path = stack.path, text = ref.text }
  return stack
end

local function field_key(spec, text)
  local ref = stack_ref(spec, spec.scope:ref(text))
  if ref.kind == "view" then
    usage_error(
      "group_by: %s is a view; name one of its fields, or give a function: { name = fn }", text)
  end
  return { name = text, ref = ref }
end

-- group_by(…): the changes that it makes. With the event as a key among others the groups need
-- no splitting by it.
---@param spec table
---@param ... string|table<string, function>
---@return {keys: {name: string, ref: table}[], columns: table[], split: boolean, refs: false}
function group.by(spec, ...)
  local keys = {}
  local changed = { keys = keys, columns = {}, split = spec.split, refs = false }
  local function add(key)
    if key.ref.kind == "event" then changed.split = false end
    check_name(changed, keys, {}, key.name)
    keys[#keys + 1] = key
  end
  for i = 1, select("#", ...) do
    local one = select(i, ...)
    if type(one) == "table" then
      local named = suggest.names(one)
      if #named == 0 then
        usage_error("group_by: { name = function } expected, got an empty table")
      end
      for _, name in ipairs(named) do add(function_key(name, one[name])) end
    elseif type(one) == "string" then
      add(field_key(spec, one))
    else
      usage_error("group_by: a field's name or { name = function } expected, got %s",
        suggest.kind(one))
    end
  end
  return changed
end

---@param spec table
---@param name string of the measure
---@param field string?
---@param option any
---@return {name: string, measure: string, ref: table?, kind: string?, option: any}
function group.column(spec, name, field, option)
  local takes = measures[name].takes
  if not takes then return { name = name, measure = name } end
  local ref = spec.scope:ref(field)
  if takes.stack then ref = stack_ref(spec, ref) end
  if not takes[ref.kind] then
    usage_error("%s: cannot measure %s (%s)", name, field, ref.kind)
  elseif name == "share" and spec.unnest and spec.scope:reads_items(ref.node) then
    usage_error("share: %s is a field of items, but shares are of records; use sum", field)
  end
  local prefix = measures[name].prefix or name .. "_"
  local column = { name = prefix .. field, measure = name, ref = ref, kind = ref.kind,
    option = option }
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
function group.ratio(spec, over, under, field)
  local column = group.column(spec, "ratio", field or "period")
  local a, a_name = side(spec, over)
  local b, b_name = side(spec, under)
  column.name = a_name .. "/" .. b_name
  column.option, column.events, column.event = column.name, { a, b }, spec.scope:ref "event"
  return column
end

---@param spec table
---@param field string
---@return {columns: table[]} # the changes: the last measure is weighted
function group.weighted(spec, field)
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
  last.weight = spec.scope:ref(field)
  if not weights[last.weight.kind] then
    usage_error("weight: an integer expected, but %s is not one (%s)", field,
      last.weight.kind)
  end
  columns[#columns] = last
  return { columns = columns }
end

---@param spec table
---@param column table
---@return table[] # the columns with this one
function group.added(spec, column)
  local columns = table.move(spec.columns, 1, #spec.columns, 1, {})
  local several = {}
  for _, name in ipairs(column.names or { column.name }) do
    check_name(spec, spec.keys, columns, name)
    check_name(spec, spec.keys, several, name)
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
function group.renamed(spec, name)
  if type(name) ~= "string" then usage_error("as: a name expected, got a %s", type(name)) end
  local part = #spec.columns > 0 and "columns" or "keys"
  local list = table.move(spec[part], 1, #spec[part], 1, {})
  local last = {}
  if #list == 0 then usage_error("as: there is no column to rename yet") end
  for key, value in pairs(list[#list]) do last[key] = value end
  if last.names then usage_error("as: the last measure has %d columns, which cannot be renamed",
    #last.names) end
  list[#list] = nil
  check_name(spec, part == "keys" and list or spec.keys, part == "columns" and list
    or spec.columns, name)
  local changes = { [part] = list, show = with_unit_of(spec.show, last.name, name) }
  last.name = name
  list[#list + 1] = last
  return changes
end

-- The events of the query by their index: their places in the result and their names.
local function event_places(spec)
  local place, names = {}, {}
  for i, event in ipairs(spec.scope:events()) do
    place[event.index], names[i] = i, event.name
  end
  return place, names
end

-- Numbers the events of the query among those of one name, by their index.
local function nth_of(spec)
  local nth, seen = {}, {}
  for _, event in ipairs(spec.scope:events()) do
    seen[event.name] = (seen[event.name] or 0) + 1
    nth[event.index] = seen[event.name]
  end
  return nth
end

-- first: the measure whose greatest values come first; negative: the least.
local function groups_of(spec, columns, first)
  local keys = {}
  for i, key in ipairs(spec.keys) do keys[i] = { ref = key.ref, at = i } end
  if not spec.split then return aggregate(spec, keys, columns, first) end
  local _, names = event_places(spec)
  local late = spec.file.mode == "pipe" and not spec.scope.event_set -- then another may come
  if #names > 1 or late then table.insert(keys, 1, { ref = spec.scope:ref "event" }) end
  local groups = aggregate(spec, keys, columns, first)
  local nth = nth_of(spec)
  for _, one in ipairs(groups.whole or {}) do
    one.event, one.nth = one.event or #names == 1 and names[1] or nil, nth[one.index]
    one.index = nil
  end
  local place, all = event_places(spec)
  return interrupted.each(groups, function(g)
    g.event = place[g.event] or #all == 1 and 1 or 0
  end), all
end

-- The number of the measure that a Table is in the order of, for aggregate.
local function first_measure(table_of_none)
  local view = table_of_none.view
  local column = view.columns[view.place or 0]
  if not (column and column.measure) then return nil end
  return view.show.ascending and -column.measure or column.measure
end

-- The Table of a query that read nothing.
local function empty_table(spec)
  local columns = spec.columns
  if #columns == 0 then columns = { group.column(spec, "count") } end
  local data = { description = description.of(spec), keys = {}, measures = {}, groups = {} }
  for i, key in ipairs(spec.keys) do
    data.keys[i] = { name = key.name, kind = key.ref.kind, text = key.ref.text }
  end
  for i, column in ipairs(columns) do
    data.measures[i] = {
      name = column.name, measure = column.measure, kind = column.kind, option = column.option,
      names = column.names, field = column.ref and column.ref.text,
      weight = column.weight and column.weight.text,
    }
  end
  return Table.new(data, spec.show), columns
end

---One more step of presentation.
---@param spec table
---@param step string a method of Table
---@param ... any its arguments
---@return {show: table} # the changes
function group.presented(spec, step, ...)
  local made = empty_table(spec)
  return { show = made[step](made, ...).show }
end

---@param spec table
---@return perflua.Table
function group.table(spec)
  local empty, columns = empty_table(spec) -- raises before anything is read
  local data = empty.data
  local first = first_measure(empty)
  data.groups, data.events = groups_of(spec, columns, first)
  data.interrupted, data.total, data.rest = interrupted.part(), data.groups.total,
    data.groups.rest
  data.chosen, data.chosen_by, data.groups.chosen = data.groups.chosen, first, nil
  data.counts, data.whole = counts.copy(spec.counts), data.groups.whole
  data.origin = origin.of(spec)
  return Table.new(data, empty.show)
end

return group
