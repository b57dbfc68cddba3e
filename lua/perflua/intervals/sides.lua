-- The sides of a span, what opens it, closes it or changes its state: which records of a query
-- these are.
--
-- A side is { parts, scope, types, events, text }: the records of any of its parts; scope knows
-- their fields. A part is { kinds, filters, answers, key, group, from, state, scope, types,
-- events, text }: the records for which all filters hold, those in `kinds`, which ask their
-- type and event, and the others. Filters in `answers`, if there are any, also ask the record
-- that opened the span.

local answering = require("perflua.intervals.scope").answering
local check_open = require("perflua.recording").check_open
local conditions = require "perflua.intervals.conditions"
local description = require "perflua.table.description"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local fields = require "perflua.fields"
local filter = require "perflua.filter"
local suggest = require "perflua.errors.suggest"
local types = require("perflua.recording").types
local usage_error = errors.usage_error

local sides = {}

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

local function asks_opening(one)
  for _, ref in ipairs(one.refs or {}) do
    if ref.span then return true end
  end
  return false
end

-- Returns a part; `opening`: the side that opens spans, for those that close them.
local function part_of(spec, name, wanted, opening)
  local options = options_of(name, wanted)
  local ids = types_of(spec, name, options)
  local set = options.event ~= nil and events_of(spec, name, options.event) or spec.events
  local scope = fields.scope(spec.file, ids, set, spec.container)
  local kinds, filters, answers = {}, {}, nil
  if ids then kinds[1] = conditions.types(scope, ids) end
  if set then kinds[#kinds + 1] = conditions.events(scope, set) end
  if options.where ~= nil then
    local one = filter.of(options.where, opening and answering(scope, opening.scope) or scope)
    answers = asks_opening(one) and { one } or nil
    if not answers then filters[#filters + 1] = one end
  end
  table.move(spec.filters, 1, #spec.filters, #filters + 1, filters)
  return { kinds = kinds, filters = filters, answers = answers, key = options.key,
    from = options.from, state = options.state, leaves_open = leaves_open(name, options.again),
    scope = scope, types = ids, events = set, text = text_of(options) }
end

-- Returns the number of a state, which is added to `names`.
local function number_of(names, name, word)
  if type(word) ~= "string" or not word:find "^[%a_][%w_]*$" then
    usage_error("pair: %s: a state is a name, \"running\"; found %s", name, tostring(word))
  end
  for i, known in ipairs(names) do
    if known == word then return i end
  end
  names[#names + 1] = word
  return #names
end

-- Returns a set of states, a bit for each.
local function set_of(names, name, wanted)
  local numbers, set = {}, 0
  for i, known in ipairs(names) do numbers[known] = i end
  for _, state in ipairs(type(wanted) == "table" and wanted or { wanted }) do
    if not numbers[state] then
      usage_error("pair: %s: from: no state '%s'; there are %s", name, tostring(state),
        table.concat(names, ", "))
    end
    set = set | 1 << (numbers[state] - 1)
  end
  if set == 0 then usage_error("pair: %s: from: the list is empty", name) end
  return set
end

---Numbers the states of spans, as part.state and part.from.
---@param all { open: table, close: table, change: table? } sides
---@return string[]? # their names; nil: there are none
function sides.states(all)
  local names, has_states = {}, all.change ~= nil
  for _, part in ipairs(all.open.parts) do has_states = has_states or part.state ~= nil end
  for name, side in pairs(all) do
    for _, part in ipairs(side.parts) do
      if part.from ~= nil and name == "open" then
        usage_error("pair: open: a span that begins comes 'from' no state")
      elseif part.from ~= nil and not has_states then
        usage_error("pair: %s: 'from' names states, which these spans do not have", name)
      end
    end
  end
  for _, part in ipairs(all.close.parts) do
    if part.state ~= nil then usage_error("pair: close: a span that ends has no 'state'") end
  end
  if not has_states then return nil end
  for _, name in ipairs { "open", "change" } do
    for _, part in ipairs(all[name] and all[name].parts or {}) do
      if part.state == nil then
        usage_error("pair: %s: 'state' is missing: the state of a span from then on", name)
      end
      part.state = number_of(names, name, part.state)
    end
  end
  for _, name in ipairs { "close", "change" } do
    for _, part in ipairs(all[name] and all[name].parts or {}) do
      part.from = part.from ~= nil and set_of(names, name, part.from) or nil
    end
  end
  return names
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
  for _, one in ipairs(type(wanted) == "table" and not events.is_event(wanted) and wanted
    or {}) do
    if type(one) == "function" or type(one) == "table" and not events.is_event(one) then
      return true
    end
  end
  return false
end

---@param spec table the query's
---@param name string "open", "close" or "change"
---@param wanted any
---@param opening table? the side that opens spans
---@return { parts: table[], scope: table, types: table?, events: table?, text: string }
function sides.of(spec, name, wanted, opening)
  local list, parts, texts = is_list(wanted) and wanted or { wanted }, {}, {}
  if #list > MOST_PARTS then
    usage_error("pair: %s: at most %d kinds of records; here are %d", name, MOST_PARTS, #list)
  end
  for i, one in ipairs(list) do
    parts[i] = part_of(spec, name, one, opening)
    texts[i] = parts[i].text
  end
  if #parts == 1 then
    local only = parts[1]
    return { parts = parts, scope = only.scope, types = only.types, events = only.events,
      text = only.text }
  end
  local ids, set = all_of(parts, "types"), all_of(parts, "events")
  return { parts = parts, scope = fields.scope(spec.file, ids, set, spec.container),
    types = ids, events = set, text = table.concat(texts, " or ") }
end

return sides
