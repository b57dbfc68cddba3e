-- Events by name: exactly, then without modifiers and PMU, or by glob.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local usage_error = require("perflua.errors").usage_error
local suggest = require "perflua.errors.suggest"
local warning = require("perflua.errors").warning

local events = {}

local TRACEPOINT = 2 -- PERF_TYPE_TRACEPOINT
local SAMPLE_READ, FORMAT_ID = 1 << 4, 1 << 2 -- PERF_SAMPLE_READ, PERF_FORMAT_ID

-- Strips PMU and modifiers: "cpu_core/cycles/ku" and "cycles:P" are both "cycles". A
-- tracepoint's "system:name" is one name.
local function strip_modifiers(event)
  local name = event.name
  local inner = name:match("^[^/]+/(.*)/[^/]*$")
  if inner then name = inner end
  local without = name:match("^(.+):[ukhvHGpPSDIWeb]+$")
  if without and (event.type ~= TRACEPOINT or without:find(":", 1, true)) then
    name = without
  end
  return name
end

local function match_glob(list, glob)
  local found, matches = {}, core.pattern(glob, true)
  for i = 1, #list do
    if matches(list[i].name) then found[#found + 1] = list[i] end
  end
  return found
end

---@param list perflua.Event[]
---@param name string
---@return perflua.Event[] # all of that very name
function events.exactly(list, name)
  local found = {}
  for i = 1, #list do
    if list[i].name == name then found[#found + 1] = list[i] end
  end
  return found
end

---@param list perflua.Event[]
---@param name string
---@return perflua.Event[] # all of that name when modifiers and PMU are left away
function events.loosely(list, name)
  local found = {}
  for i = 1, #list do
    if strip_modifiers(list[i]) == name then found[#found + 1] = list[i] end
  end
  return found
end

---@param list perflua.Event[]
---@return string[]
function events.names(list)
  local names = {}
  for i = 1, #list do names[i] = list[i].name end
  return names
end

-- Ranks of a name's match with an event; greater is closer.
events.GLOB, events.LOOSE, events.EXACT = 1, 2, 3

---@param list perflua.Event[]
---@param name string a name or glob
---@return perflua.Event[] # those that it names most closely
---@return integer closeness
function events.lookup(list, name)
  local found = events.exactly(list, name)
  if #found > 0 then return found, events.EXACT end
  found = events.loosely(list, name)
  if #found > 0 then return found, events.LOOSE end
  return name:find "[*?%[]" and match_glob(list, name) or {}, events.GLOB
end

---@param list perflua.Event[]
---@param name string that none of them has
---@return string? # the closest of their names, if one is close
function events.closest(list, name)
  local candidates = events.names(list)
  for _, event in ipairs(list) do candidates[#candidates + 1] = strip_modifiers(event) end
  return suggest.closest(name, candidates)
end

---@param list perflua.Event[]
---@param name string that none of them has
---@return string # a message with the closest name; without one with the names there are
function events.unknown(list, name)
  local message, names = ("this recording has no event '%s'"):format(name), events.names(list)
  if #names == 0 then return message end
  local closest = events.closest(list, name)
  if closest then return ("%s; the closest is '%s'"):format(message, closest) end
  return ("%s; it has %s"):format(message, fmt.names(names))
end

---@param list perflua.Event[]
---@param name string a name or glob
---@return perflua.Event[] # raises if there is none
local function find_events(list, name)
  local found = events.lookup(list, name)
  if #found == 0 then usage_error(events.unknown(list, name)) end
  return found
end

---@param event perflua.Event
---@return boolean # whether its samples carry counter values, and so are delivered for each
--- that moved
function events.has_counters(event)
  return event.sample_type & SAMPLE_READ ~= 0 and event.read_format & FORMAT_ID ~= 0
end

---@param file perflua.File
---@return boolean # whether some event's samples, as known so far, carry counter values
function events.any_counters(file)
  for _, event in ipairs(file.events) do
    if events.has_counters(event) then return true end
  end
  return false
end

---@param value any
---@return boolean # whether it can be an Event
function events.is_event(value)
  local kind = type(value)
  if kind == "table" then
    return math.type(rawget(value, "index")) == "integer" and type(value.name) == "string"
  end
  local meta = kind == "userdata" and getmetatable(value)
  return type(meta) == "table" and meta.__name == "perflua.event"
end

---@param list perflua.Event[]
---@param wanted string|perflua.Event|(string|perflua.Event)[]
---@return table<integer, boolean> # indexes
function events.resolve(list, wanted)
  local set = {}
  local function add(item)
    if type(item) == "string" then
      for _, event in ipairs(find_events(list, item)) do set[event.index] = true end
    elseif (type(item) == "userdata" or type(item) == "table") and events.is_event(item) then
      local own = list[item.index]
      if not own or own.name ~= item.name then
        usage_error("event '%s' belongs to another recording", item.name)
      end
      set[item.index] = true
    else
      usage_error("event: a name, glob or Event expected, got a %s", type(item))
    end
  end
  if type(wanted) == "table" and not events.is_event(wanted) then
    if #wanted == 0 then usage_error("the list of events is empty") end
    for _, item in ipairs(wanted) do add(item) end
  else
    add(wanted)
  end
  return set
end

-- Handlers whose event a recording does not have: each is a warning, unless they are collected
-- to be counted.

local collected = nil -- of each {key, closest?, message}, and each by its key

---Collects them from now on instead of warning.
---@param is_wanted fun(): boolean asked for each: false leaves it out
function events.collect_unmatched(is_wanted) collected = { is_wanted = is_wanted } end

---@param list perflua.Event[] of the recording
---@param key string of the handler
function events.note_unmatched(list, key)
  local message = ("handler '%s': %s"):format(key, events.unknown(list, key))
  if not collected then return warning("%s", message) end
  if collected[key] or not collected.is_wanted() then return end
  local handler = { key = key, closest = events.closest(list, key), message = message }
  collected[key], collected[#collected + 1] = handler, handler
end

---@return { key: string, closest: string?, message: string }[]
function events.unmatched() return collected or {} end

return events
