-- file:records(options) and file:samples(event): which records a Query starts from.

local errors = require "perflua.errors"
local recording = require "perflua.recording"
local description = require "perflua.table.description"
local events = require "perflua.recording.events"
local fields = require "perflua.fields"
local query = require "perflua.query"
local suggest = require "perflua.errors.suggest"
local usage_error, check_open, types = errors.usage_error, recording.check_open, recording.types

local records = {}

local SAMPLE = 9 -- PERF_RECORD_SAMPLE

-- By File: what its queries over samples begin with, beyond what their makers say.
local selections = setmetatable({}, { __mode = "k" })

---Restricts all queries over samples of a File to those that the user of a tool chose.
---@param file perflua.File
---@param select fun(query: perflua.Query, alone: boolean): perflua.Query alone: of samples only
function records.select(file, select) selections[file] = select end

local function check_options(options)
  errors.check_options(options, "RecordsOptions", "unknown option '%s'")
  local order = options.order
  if order ~= nil and order ~= "time" and order ~= "file" then
    usage_error("order: \"time\" or \"file\" expected, got %s", tostring(order))
  end
end

-- Stands for all types that the core does not know. No record has it: types are counted from 1.
local UNKNOWN <const> = 0xffffffff
local SMALL <const> = 127 -- among the types up to it some have no name

local function type_id(name)
  local desc = types()[name]
  if math.type(name) == "integer" then return name end
  if type(name) ~= "string" then
    usage_error("record type: a name expected, got a %s", type(name))
  end
  if not desc then
    usage_error(suggest.message(("unknown record type '%s'"):format(name), name,
      suggest.names(types())))
  end
  return desc.id
end

-- Returns the ids of the types; nil stands for all but the container's own.
local function type_ids(wanted)
  if wanted == nil then return nil end
  local ids = {}
  if type(wanted) ~= "table" then wanted = { wanted } end
  if #wanted == 0 then usage_error("the list of record types is empty") end
  for _, item in ipairs(wanted) do
    if item == "unknown" then
      ids[UNKNOWN] = true
      for id = 1, SMALL do ids[id] = ids[id] or not types()[id] or nil end
    else
      ids[type_id(item)] = true
    end
  end
  return ids
end

-- Leaves out records of other types that have no name here: if one of these is wanted, the core
-- reads all of them.
local function without_others(made, wanted)
  local ids, nameless = {}, false
  if wanted and wanted[UNKNOWN] then return made end
  for id in pairs(wanted or {}) do
    ids[#ids + 1] = id
    nameless = nameless or not types()[id]
  end
  return nameless and made:where { type_id = ids } or made
end

local function open_cursor(file, options, split, expand)
  check_options(options)
  if options.expand ~= nil then expand = options.expand end
  if type(expand) ~= "boolean" then
    usage_error("expand: true or false expected, got %s", tostring(expand))
  end
  local wanted = type_ids(options.type)
  local event_set = options.event ~= nil and events.resolve(file.events, options.event) or nil
  local made = query.new {
    file = file, types = wanted, events = event_set, event_nil = event_set == nil,
    order = options.order, container = options.container and true or nil, reuse = options.reuse
    and true or nil,
    scope = fields.scope(file, wanted, event_set, options.container), split = split,
    filters = {},
    asked = description.events(options.event), expand = expand,
  }
  made = without_others(made, wanted)
  local select = selections[file]
  if not select or wanted and not wanted[SAMPLE] then return made end
  return select(made, wanted ~= nil and next(wanted, next(wanted)) == nil)
end

---@param file perflua.File
-- Records are delivered as they lie in the file, unless `expand` is true.
---@param options string|table|nil # { type, event, order, reuse, container, expand }, or a
--- type's name
---@return perflua.Query
function records.records(file, options)
  check_open(file)
  if type(options) == "string" then options = { type = options } end
  if options ~= nil and type(options) ~= "table" then
    usage_error("records: a table of options or a record type expected, got a %s",
      type(options))
  end
  return open_cursor(file, options or {}, false, false)
end

-- Samples that carry counter values are delivered for each value that moved, unless `expand` is
-- false. A table with `event`, `order`, `reuse` or `expand` instead of an event gives these
-- options.
---@param file perflua.File
---@param event string|perflua.Event|table|nil a name, a glob, an Event, or an array of them
---@return perflua.Query
function records.samples(file, event)
  check_open(file)
  local options = { event = event }
  if type(event) == "table" and #event == 0 and not events.is_event(event) then
    if event.type ~= nil then usage_error("samples() takes no `type`; records() does") end
    options = {}
    for name, value in pairs(event) do options[name] = value end
  end
  options.type = "sample"
  return open_cursor(file, options, true, true)
end

-- Steps of queries over spans, which are loaded when they are asked for.
local function load_intervals() return require "perflua.intervals" end

query.extend {
  ---@param options table { open, close, key, fields }
  ---@return perflua.Query # of spans, from a record that opens one to the record that closes it
  pair = function(self, options) return load_intervals().pair(self, options) end,
  union = function(self, options) return load_intervals().union(self, options) end,
  intersection = function(self, other, options)
    return load_intervals().intersection(self, other, options)
  end,

  ---@param spans perflua.Query of pair()
  ---@param options table? { key, closed }
  ---@return perflua.Query # of the records inside of these spans
  within = function(self, spans, options)
    return load_intervals().within(self, spans, options)
  end,
}

return records
