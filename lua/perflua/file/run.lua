-- file:run(handlers): one handler for each record, found before the first record is read.

local core = require "perflua.core"
local errors = require "perflua.errors"
local recording = require "perflua.recording"
local events = require "perflua.recording.events"
local fields = require "perflua.fields"
local trees = require "perflua.plan.trees"
local plan = require "perflua.plan"
local suggest = require "perflua.errors.suggest"
local check_open, types = recording.check_open, recording.types
local usage_error = errors.usage_error

local run = {}

local SAMPLE = 9

-- Ends the run when a handler returns it.
run.stop = setmetatable({}, { __name = "perflua.stop", __tostring = function()
  return "perflua.stop"
end })

-- Keys that are not handlers of records, and the type of their values.
local special = {
  begin = "function", finish = "function", interval = "function", interval_ms = "number",
  interval_clock = "string", meta = "table",
}

-- Clocks that interval may follow.
local clocks = { recorded = true, wall = true }

-- Makes of a handler { "pid", "args.id", fn }, which is given values instead of a record, the
-- core's: names of plain fields, trees of all others.
local function with_fields(handler, scope)
  local fn, read, n = handler[#handler], {}, #handler - 1
  local builder = trees.builder()
  if n == 0 then return function() return fn() end end
  if n > plan.MAX_FIELDS then
    usage_error("a handler gets at most %d fields, and here are %d", plan.MAX_FIELDS, n)
  end
  for i = 1, n do
    local ref = scope:ref(handler[i])
    read[i] = ref.plain and ref.root or builder:value(ref)
  end
  read[n + 1] = fn
  return read
end

-- Returns what the core calls for a record: a function, or a table of fields and a function.
local function handler_of(handler, file, type_ids, event_set)
  if type(handler) == "function" then return handler end
  return with_fields(handler, fields.scope(file, type_ids, event_set))
end

local function check_handler(key, handler)
  if type(handler) == "table" then
    if type(handler[#handler]) ~= "function" then
      usage_error("handler '%s': a list of fields must end with a function", tostring(key))
    end
  elseif type(handler) ~= "function" then
    usage_error("handler '%s': a function or { fields…, function } expected, got a %s",
      tostring(key), type(handler))
  end
end

local function known_keys(file)
  local names = events.names(file.events)
  for name in pairs(special) do names[#names + 1] = name end
  for _, name in ipairs(suggest.names(types())) do names[#names + 1] = name end
  names[#names + 1] = "other"
  return names
end

-- Rank of an event's key, above those of events.lookup: an Event itself is the closest.
local GLOB, EVENT_KEY = events.GLOB, events.EXACT + 1

-- Records the key that an event goes to, as claims come in any order.
local function claim_event(claims, event, key, rank)
  local best = claims[event.index]
  if best and best.rank == GLOB and rank == GLOB and #best.key == #key then
    local first, second = best.key, key
    if second < first then first, second = second, first end
    if not best.tie then best.tie = { first, second } end
    return
  end
  if not best or rank > best.rank or rank == best.rank and rank == GLOB
      and #key > #best.key then
    claims[event.index] = { key = key, rank = rank }
  end
end

local function claim_key(claims, key, file)
  if type(key) ~= "string" then
    if not (type(key) == "userdata" or type(key) == "table") or not events.is_event(key) then
      usage_error("handlers: a name or an Event expected as key, got a %s", type(key))
    end
    local index = next(events.resolve(file.events, key))
    return claim_event(claims, file.events[index], key, EVENT_KEY)
  end
  local found, rank = events.lookup(file.events, key)
  if #found == 0 and not key:find("[:/*]") then
    usage_error(
      suggest.message(("handler '%s' matches no record type and no event"):format(key),
      key, known_keys(file)))
  end
  for _, event in ipairs(found) do claim_event(claims, event, key, rank) end
end

local function interval_of(handlers)
  local ms, clock = handlers.interval_ms, handlers.interval_clock or "recorded"
  if not clocks[clock] then
    usage_error("interval: interval_clock must be 'recorded' or 'wall', not '%s'", clock)
  end
  if not handlers.interval then return nil end
  if not math.type(ms) or not (ms > 0 and ms < 1e12) then
    usage_error("interval: interval_ms must be a number above 0")
  end
  return math.max(1, math.floor(ms * 1000000))
end

local function check_special(handlers)
  for name, wanted in pairs(special) do
    local value = handlers[name]
    if value ~= nil and type(value) ~= wanted then
      usage_error("handler '%s': a %s expected, got a %s", name, wanted, type(value))
    end
  end
end

local function desc_of(key) return type(key) == "string" and types()[key] end

local function names_event(key)
  return not desc_of(key) and not special[key] and key ~= "other"
end

-- Returns the claim on each event.
local function claims_of(file, handlers)
  local claims = {}
  for key in pairs(handlers) do
    if names_event(key) then claim_key(claims, key, file) end
  end
  return claims
end

-- Returns the handlers of events by index. The fields of a key are looked up in all events that
-- go to it.
local function of_events(file, handlers)
  local sets, by_key, by_event = {}, {}, {}
  local claims = claims_of(file, handlers)
  for index, best in pairs(claims) do
    if best.tie then
      usage_error("event '%s' matches two handlers, '%s' and '%s'", file.events[index].name,
        best.tie[1],
        best.tie[2])
    end
    sets[best.key] = sets[best.key] or {}
    sets[best.key][index] = true
  end
  for key, set in pairs(sets) do
    by_key[key] = handler_of(handlers[key], file, { [SAMPLE] = true }, set)
  end
  for index, best in pairs(claims) do by_event[index] = by_key[best.key] end
  return by_event
end

-- Sorts the handlers into those of types and those of events.
local function plan_of(file, handlers)
  local by_type = {}
  for key, handler in pairs(handlers) do
    local desc = desc_of(key)
    if not special[key] then check_handler(key, handler) end
    if desc then by_type[desc.id] = handler_of(handler, file, { [desc.id] = true }) end
  end
  return by_type, of_events(file, handlers)
end

-- Returns "sched" for "sched:sched_switch", also for a glob.
local function system_of(key) return key:match("^([^:]+):") end

-- Names that meta.needs lists as alternatives: some of them are expected to be absent.
local function split_alternatives(handlers)
  local names, meta = {}, handlers.meta
  local function add(list)
    if type(list) ~= "table" then return end
    for _, name in ipairs(type(list.any) == "table" and list.any or {}) do
      names[name] = true
    end
    for _, item in ipairs(list) do add(item) end
    add(list.events)
  end
  add(type(meta) == "table" and meta.needs)
  return names
end

-- Warns of handlers whose event is none of the recording's, unless another one of its
-- tracepoint system is.
local function warn_unmatched(list, handlers)
  local expected, missing, matched = split_alternatives(handlers), {}, {}
  for key in pairs(handlers) do
    if type(key) == "string" and names_event(key) then
      if #events.lookup(list, key) == 0 then
        missing[#missing + 1] = key
      elseif system_of(key) then
        matched[system_of(key)] = true
      end
    end
  end
  table.sort(missing)
  for _, key in ipairs(missing) do
    if not expected[key] and not matched[system_of(key) or false] then
      events.note_unmatched(list, key)
    end
  end
end

-- Returns a function that finds the handler of an event that comes late, as it may in pipe
-- mode.
local function late_handler(file, handlers)
  if file.mode ~= "pipe" then return nil end
  for key in pairs(handlers) do
    if names_event(key) then
      return function(index) return of_events(file, handlers)[index] end
    end
  end
end

-- Keeps the container's own records from `other` once a handler asks for one of them: they come
-- to handlers of their names only.
local function ignore_container(by_type)
  local wanted = false
  for id in pairs(by_type) do wanted = wanted or types()[id].container end
  for id, desc in pairs(types()) do
    if wanted and math.type(id) and desc.container and not by_type[id] then
      by_type[id] = function() end
    end
  end
  return wanted
end

-- Returns the types worth reading; nil: all, for `other` and for the passing of time.
local function types_of(by_type, by_event, handlers, late)
  if handlers.other or handlers.interval then return nil end
  local ids = {}
  for id in pairs(by_type) do ids[id] = true end
  if next(by_event) or late then ids[SAMPLE] = true end
  return ids
end

---@param file perflua.File
---@param handlers table that run() takes
---@return boolean # some of its handlers are for events, and nothing of this recording goes to
--- any handler
function run.has_no_event(file, handlers)
  local names = false
  for key in pairs(handlers) do
    if desc_of(key) or key == "other" or key == "interval" then return false end
    if names_event(key) then
      if type(key) ~= "string" or #events.lookup(file.events, key) > 0 then return false end
      names = true
    end
  end
  return names
end

---@param file perflua.File
---@param handlers table
function run.run(file, handlers)
  check_open(file)
  if type(handlers) ~= "table" then
    usage_error("run: a table of handlers expected, got a %s", type(handlers))
  end
  check_special(handlers)
  local by_type, by_event = plan_of(file, handlers)
  local other = handlers.other and handler_of(handlers.other, file)
  local late = late_handler(file, handlers)
  local wanted = types_of(by_type, by_event, handlers, late)
  local options = {
    types = wanted, order = "time", expand = true, container = not wanted
      and ignore_container(by_type),
    handlers = by_type, event_handlers = by_event, other = other, late = late,
    interval = handlers.interval, interval_ns = interval_of(handlers),
    by_wall = handlers.interval_clock == "wall", stop = run.stop,
  }
  local stopped = handlers.begin and handlers.begin(file) == run.stop
  local list, late_events = file.events, file.mode == "pipe"
  if not late_events then warn_unmatched(list, handlers) end
  if not stopped and (not wanted or next(wanted)) then core.dispatch(file, options) end
  if late_events then warn_unmatched(list, handlers) end
  if handlers.finish then handlers.finish(file) end
end

return run
