-- The grouped half of a Query's description: its keys, its columns, and the Table it ends in.

local usage_error = require("perflua.errors").usage_error
local aggregate = require "perflua.group.aggregate"
local columns_of = require "perflua.group.columns"
local core = require "perflua.core"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local distinctions = require "perflua.recording.distinctions"
local interrupted = require "perflua.table.interrupted"
local sampled = require "perflua.recording.sampled"
local suggest = require "perflua.errors.suggest"
local Table = require "perflua.table"

local group = { column = columns_of.column, ratio = columns_of.ratio,
  weight = columns_of.weight, weighted = columns_of.weighted,
  added = columns_of.added, renamed = columns_of.renamed }

local function function_key(name, fn)
  if type(name) ~= "string" or type(fn) ~= "function" then
    usage_error(
      "group_by: the table is not of the form { name = function(record) … end }")
  end
  return { name = name, ref = { text = name, kind = "function", plain = false, get = fn } }
end

local function field_key(spec, text)
  local ref = columns_of.stack_ref(spec, spec.scope:ref(text))
  if ref.kind == "view" then
    local prefix = text:match "^(.*)%f[%w_]callchain$"
    usage_error("group_by: %s is a view; name one of its fields%s, or give a function: "
      .. "{ name = fn }", text,
      prefix and (", or %sstack for its functions"):format(prefix) or "")
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
    columns_of.check_name(changed, keys, {}, key.name)
    keys[#keys + 1] = key
  end
  for i = 1, select("#", ...) do
    local given = select(i, ...)
    if type(given) == "table" then
      local named = suggest.names(given)
      if #named == 0 then
        usage_error("group_by: { name = function } expected, got " .. (given[1] == nil
          and "an empty table" or 'a list; pass each name as an argument: group_by("comm", '
          .. '"symbol")'))
      end
      for _, name in ipairs(named) do add(function_key(name, given[name])) end
    elseif type(given) == "string" then
      add(field_key(spec, given))
    else
      usage_error("group_by: a field's name or { name = function } expected, got %s",
        suggest.kind(given))
    end
  end
  return changed
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

-- Returns the result, the names of its sections, and the sums that shares are of.
local function result_of(spec, columns)
  local keys = {}
  for i, key in ipairs(spec.keys) do keys[i] = { ref = key.ref, other = key.other, at = i } end
  if not spec.split then
    local result, whole = aggregate.groups(spec, keys, columns)
    return result, nil, whole
  end
  local _, names = event_places(spec)
  local late = spec.file.mode == "pipe" and not spec.scope.event_set -- then another may come
  if #names > 1 or late then table.insert(keys, 1, { ref = spec.scope:ref "event" }) end
  local result, whole = aggregate.groups(spec, keys, columns)
  local nth = nth_of(spec)
  for _, sums in ipairs(whole or {}) do
    sums.event, sums.nth = sums.event or #names == 1 and names[1] or nil, nth[sums.index]
    sums.index = nil
  end
  local place, all = event_places(spec)
  local places, other = {}, #all == 1 and 1 or 0
  for i = 1, #spec.file.events do places[i] = place[i] or other end
  core.result_places(result, places, other)
  return result, all, whole
end

-- The Table of a query that read nothing.
local function empty_table(spec)
  local columns = spec.columns
  if #columns == 0 then columns = { group.column(spec, "count") } end
  local data = { description = description.of(spec), keys = {}, measures = {} }
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

-- The events of a set of their indexes, in order.
local function events_at(file, set)
  local list = {}
  for _, event in ipairs(file.events) do
    if set[event.index] then list[#list + 1] = event end
  end
  return list
end

-- Returns by the place of an event what tells it from others of its name, "" where there is no
-- other; nil if all names differ.
local function distinctions_of(spec)
  local events = spec.scope:events()
  local found, list = distinctions.of(spec.file, events), {}
  if not next(found) then return nil end
  for i, event in ipairs(events) do list[i] = found[event.index] or "" end
  return list
end

---@param spec table
---@return perflua.Table
function group.table(spec)
  local empty, columns = empty_table(spec) -- raises before anything is read
  local data = empty.data
  local is_absolute = aggregate.is_absolute(columns)
  data.result, data.events, data.whole = result_of(spec, columns)
  if is_absolute then data.whole = aggregate.whole(spec, columns) end
  data.distinctions = data.events and distinctions_of(spec)
  data.interrupted, data.is_unnamed = interrupted.part()
  data.counts = counts.copy(spec.counts)
  data.origin = description.origin(spec)
  if spec.paired then
    data.notes = sampled.notes(spec.file, events_at(spec.file, spec.paired))
  end
  return Table.new(data, empty.show)
end

return group
