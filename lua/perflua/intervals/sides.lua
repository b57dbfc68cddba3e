-- The sides of a span, what opens it and what closes it: which records of a query these are.
--
-- A side is { filters, untyped, scope, types, events, text }: the records for which all filters
-- hold, those in `untyped` and one that asks their type; scope knows their fields.

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

-- { event, type, where }, in whatever form it was given.
local function parts_of(name, wanted)
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
local function types_of(spec, name, parts)
  if parts.type ~= nil then return type_of(spec, name, parts.type) end
  -- records of other types only have an event, too
  if parts.event ~= nil and not spec.types then return { [SAMPLE] = true } end
  return spec.types
end

local function text_of(parts)
  local texts = {}
  if parts.type ~= nil then texts[#texts + 1] = "records of type " .. parts.type end
  if parts.event ~= nil then texts[#texts + 1] = description.events(parts.event) end
  if parts.where ~= nil then
    texts[#texts + 1] = "where "
      .. (description.filter(parts.where) or "a Lua function says so")
  end
  return table.concat(texts, " ")
end

---@param spec table the query's
---@param name string "open" or "close"
---@param wanted any
---@return { filters: table, untyped: table, scope: table, types: table?, events: table?, text:
--- string }
function sides.of(spec, name, wanted)
  local parts = parts_of(name, wanted)
  local ids = types_of(spec, name, parts)
  local set = parts.event ~= nil and events_of(spec, name, parts.event) or spec.events
  local scope = fields.scope(spec.file, ids, set, spec.container)
  local filters = {}
  if set then filters[#filters + 1] = conditions.events(scope, set) end
  if parts.where ~= nil then filters[#filters + 1] = filter.of(parts.where, scope) end
  table.move(spec.filters, 1, #spec.filters, #filters + 1, filters)
  local typed = table.move(filters, 1, #filters, 1, {})
  if ids then table.insert(typed, 1, conditions.types(scope, ids)) end
  return { untyped = filters, filters = typed, scope = scope, types = ids, events = set,
    text = text_of(parts) }
end

return sides
