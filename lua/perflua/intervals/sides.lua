-- The sides of a span, what opens it, closes it or changes its state: which records of a query
-- these are.
--
-- A side is { parts, scope, types, events, text }: the records of any of its parts; scope knows
-- their fields. A part is { kinds, filters, answers, key, to, group, from, state, scope, types,
-- events, text }: the records for which all filters hold, those in `kinds`, which ask their
-- type and event, and the others. Filters in `answers`, if there are any, also ask the records
-- that opened the span, or changed it.

local answering = require("perflua.intervals.scope").answering
local check_open = require("perflua.recording").check_open
local description = require "perflua.table.description"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local expr = require "perflua.filter.expr"
local fields = require "perflua.fields"
local filter = require "perflua.filter"
local states = require "perflua.intervals.states"
local suggest = require "perflua.errors.suggest"
local types = require("perflua.recording").types

local usage_error = errors.usage_error

local sides = {}

-- Conditions on records, from the parts that a query and a pairing give, as filters.

---@param scope table
---@param ids table<integer, boolean> of record types
---@return perflua.Filter
function sides.type_condition(scope, ids)
  local field = scope:ref "type_id"
  return expr.filter { op = "in", kind = "boolean", at = 1, left = field.node, set = ids }
end

---@param scope table
---@param set table<integer, boolean> indexes of events
---@return perflua.Filter
function sides.event_condition(scope, set)
  local field = scope:ref "event"
  return expr.filter { op = "event", kind = "boolean", at = 1, left = field.node, set = set,
    negated = false }
end

---@param scope table
---@param window table from and to, as a query has them
---@return perflua.Filter? # nil: at any time
function sides.time_condition(scope, window)
  local parts = {}
  if window.from and window.from ~= 0 then parts[1] = ("time >= 0x%x"):format(window.from) end
  if window.to then parts[#parts + 1] = ("time < 0x%x"):format(window.to) end
  if #parts == 0 then return nil end
  return assert(expr.compile(table.concat(parts, " and "), scope))
end

local SAMPLE = 9 -- PERF_RECORD_SAMPLE
local MOST_PARTS = 8

---Raises unless the records of a query can open or close spans.
---@param spec table the query's
---@param name string of the method
function sides.check_query(spec, name)
  if spec.keys then
    usage_error("%s comes before group_by", name)
  elseif spec.refs then
    usage_error("%s comes before select", name)
  elseif spec.reader or spec.unnest then
    usage_error("%s: a query over records expected, got one over %s", name,
      spec.reader and "spans" or "their items")
  elseif spec.order == "file" then
    usage_error("%s needs records in time order; this query reads them in file order", name)
  end
  check_open(spec.file)
end

-- { event, type, where, key }, in whatever form it was given.
local function options_of(name, wanted)
  local kind = type(wanted)
  if kind == "function" then return { where = wanted } end
  if kind == "string" or events.is_event(wanted) then return { event = wanted } end
  if kind ~= "table" then
    usage_error(
      "pair: %s: an event, a list of events, { event, where } or a function expected, got a %s",
      name, kind)
  end
  if #wanted > 0 then return { event = wanted } end
  if next(wanted) == nil then usage_error("pair: %s: the table is empty", name) end
  errors.check_options(wanted, "PairSide", ("pair: %s: unknown option '%%s'"):format(name))
  return wanted
end

-- Returns whether a span that is open already goes on.
local function leaves_open(name, again)
  if again ~= nil and name ~= "open" then
    usage_error("pair: %s: 'again' is for records that open spans", name)
  elseif again ~= nil and again ~= "drop" and again ~= "keep" then
    usage_error("pair: open: again: \"drop\" or \"keep\" expected, got %s", tostring(again))
  end
  return again == "keep"
end

-- Returns whether only the next record on the cpu where a span began may close it.
local function is_next_on_cpu(name, wanted)
  if wanted and name ~= "close" then
    usage_error("pair: %s: 'next_on_cpu' is for records that close spans", name)
  end
  return wanted and true or nil
end

local function events_of(spec, name, wanted)
  local set, read = events.resolve(spec.file.events, wanted), {}
  for index in pairs(set) do
    if not spec.events or spec.events[index] then read[index] = true end
  end
  if next(read) == nil then
    usage_error("pair: %s: this query does not read event '%s'", name,
      description.events(wanted))
  end
  return read
end

local function type_of(spec, name, wanted)
  local desc = types()[wanted]
  if not desc then
    local text = tostring(wanted)
    usage_error(suggest.message(("pair: %s: unknown record type '%s'"):format(name, text), text,
      suggest.names(types())))
  elseif spec.types and not spec.types[desc.id] then
    usage_error("pair: %s: this query does not read records of type '%s'", name, desc.name)
  end
  return { [desc.id] = true }
end

-- The types of a side's records; nil: all of the query's.
local function types_of(spec, name, options)
  if options.type ~= nil then return type_of(spec, name, options.type) end
  -- records of other types only have an event, too
  if options.event ~= nil and not spec.types then return { [SAMPLE] = true } end
  return spec.types
end

local function text_of(options)
  local texts = {}
  if options.type ~= nil then texts[#texts + 1] = "records of type " .. options.type end
  if options.event ~= nil then texts[#texts + 1] = description.events(options.event) end
  if options.where ~= nil then
    texts[#texts + 1] = "where "
      .. (description.filter(options.where) or "a Lua function says so")
  end
  return table.concat(texts, " ")
end

local function asks_opening(condition)
  for _, ref in ipairs(condition.refs or {}) do
    if ref.span then return true end
  end
  return false
end

-- Adds the parts of a condition that ask the opening record to `answers`, the others to
-- `filters`.
local function add_conditions(condition, filters, answers)
  local node = condition.node
  if not asks_opening(condition) then
    filters[#filters + 1] = condition
  elseif node.op == "and" then
    add_conditions(expr.filter(node.left), filters, answers)
    add_conditions(expr.filter(node.right), filters, answers)
  else
    answers[#answers + 1] = condition
  end
end

-- Returns a part without its filters.
local function part_of(spec, name, wanted)
  local options = options_of(name, wanted)
  if options.to ~= nil and name ~= "change" then
    usage_error("pair: %s: 'to' is for records that change spans", name)
  end
  local ids = types_of(spec, name, options)
  local set = options.event ~= nil and events_of(spec, name, options.event) or spec.events
  return { key = options.key, to = options.to, from = options.from, state = options.state,
    leaves_open = leaves_open(name, options.again),
    next_on_cpu = is_next_on_cpu(name, options.next_on_cpu), where = options.where,
    scope = fields.scope(spec.file, ids, set, spec.container), types = ids, events = set,
    text = text_of(options) }
end

-- Adds the filters of a part, whose fields `scope` knows.
local function add_filters(spec, part, scope)
  local kinds, filters = {}, {}
  if part.types then kinds[1] = sides.type_condition(part.scope, part.types) end
  if part.events then kinds[#kinds + 1] = sides.event_condition(part.scope, part.events) end
  if part.where ~= nil then
    local answers = {}
    add_conditions(filter.of(part.where, scope), filters, answers)
    part.answers = answers[1] and answers
  end
  part.kinds = kinds
  part.filters = table.move(spec.filters, 1, #spec.filters, #filters + 1, filters)
end

-- Returns the union of the parts' sets of that name; nil: one of them has none.
local function all_of(parts, name)
  local all = {}
  for _, part in ipairs(parts) do
    if not part[name] then return nil end
    for item in pairs(part[name]) do all[item] = true end
  end
  return all
end

-- Returns whether a side is given as a list of its parts, rather than of events.
local function is_list(wanted)
  for _, item in ipairs(type(wanted) == "table" and not events.is_event(wanted) and wanted
    or {}) do
    if type(item) == "function" or type(item) == "table" and not events.is_event(item) then
      return true
    end
  end
  return false
end

-- Returns the records of several parts as one side.
local function joined(spec, parts)
  if #parts == 1 then
    local only = parts[1]
    return { parts = parts, scope = only.scope, types = only.types, events = only.events,
      text = only.text }
  end
  local ids, set, texts = all_of(parts, "types"), all_of(parts, "events"), {}
  for i, part in ipairs(parts) do texts[i] = part.text end
  return { parts = parts, scope = fields.scope(spec.file, ids, set, spec.container),
    types = ids, events = set, text = table.concat(texts, " or ") }
end

-- Returns a side, without the filters of its parts.
local function side_of(spec, name, wanted)
  local list, parts = is_list(wanted) and wanted or { wanted }, {}
  if #list > MOST_PARTS then
    usage_error("pair: %s: at most %d kinds of records; here are %d", name, MOST_PARTS, #list)
  end
  for i, item in ipairs(list) do parts[i] = part_of(spec, name, item) end
  return joined(spec, parts)
end

---@param spec table the query's
---@param options { open: any, close: any, change: any } of pair()
---@return { open: table, close: table, change: table? }
---@return string[]? names of the states; nil: there are none
---@return table[]? entered by state the records with which spans enter it, as a side
function sides.of(spec, options)
  local all = { open = side_of(spec, "open", options.open),
    close = side_of(spec, "close", options.close),
    change = options.change ~= nil and side_of(spec, "change", options.change) or nil }
  local names = states.number(all)
  local entered = names and {}
  for i in ipairs(names or {}) do entered[i] = joined(spec, states.parts(all, i)) end
  for _, name in ipairs { "open", "close", all.change and "change" } do
    for _, part in ipairs(all[name].parts) do
      add_filters(spec, part, name == "open" and part.scope
        or answering(part.scope, all.open.scope, names, entered))
    end
  end
  return all, names, entered
end

return sides
