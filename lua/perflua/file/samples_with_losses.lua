-- Samples of some events of a recording, and the records that tell of lost ones beside them:
-- for tools that read a recording once, in the order of time.

local core = require "perflua.core"
local expr = require "perflua.filter.expr"
local guard = require("perflua.errors").guard
local spec_of = core.query_spec

local samples_with_losses = {}

---Indexes of events.
---@param file perflua.File
---@param classify fun(event: table): any what an event is taken for; nil: not at all
---@return table<integer, any> # by index
function samples_with_losses.index_events(file, classify)
  local taken = {}
  for _, event in ipairs(file.events) do taken[event.index] = classify(event) end
  return taken
end

---Reads names of threads and maps now. A caller that asks for them after all samples would get
---none after an interrupt.
---@param file perflua.File
function samples_with_losses.read_names(file) guard(core.read_names, file) end

local LOST = { "lost", "lost_samples" }

---@param file perflua.File
---@param terms string[] filters
---@param options table? as of file:records
---@return perflua.Query # of samples for which one of the terms is true, and of records that
--- tell of lost ones
function samples_with_losses.matching(file, terms, options)
  options = options or {}
  options.type, options.expand = { "sample", table.unpack(LOST) }, true
  local test = "type_id ~= 9" -- PERF_RECORD_SAMPLE
  if #terms > 0 then test = test .. " or " .. table.concat(terms, " or ") end
  return file:records(options):where(test)
end

---@param file perflua.File
---@param taken table<integer, any> indexes of events
---@param options table? as of file:records
---@return perflua.Query # of their samples, and of records that tell of lost ones; only these
--- have a field `lost`
function samples_with_losses.of_events(file, taken, options)
  local terms = {}
  for index in pairs(taken) do terms[#terms + 1] = "event.index == " .. index end
  return samples_with_losses.matching(file, terms, options)
end

---Returns the samples of some events by name, and records of losses. Without losses it reads
---samples only, which is faster.
---@param file perflua.File
---@param names string[] events or globs that the recording has
---@return perflua.Query
function samples_with_losses.named(file, names)
  if file.mode ~= "pipe" and not file:records({ type = LOST }):first() then
    return file:samples(names)
  end
  local terms = {}
  for _, name in ipairs(names) do terms[#terms + 1] = ("event == '%s'"):format(name) end
  return samples_with_losses.matching(file, terms)
end

local classes = {
  integer = { signed = true, unsigned = true, address = true },
  string = { string = true },
}

---Picks a field for select, which takes no field that no record can have.
---@param query perflua.Query
---@param class "integer"|"string" what its values must be
---@param ... string fields
---@return string # the first of them that a record can have; else one that samples do not have
function samples_with_losses.pick_field(query, class, ...)
  for _, name in ipairs { ... } do
    local scope, node = spec_of(query).scope, assert(expr.value(name))
    local ref = scope:resolve(node.path, name)
    if ref and classes[class][ref.kind] then return name end
  end
  return "lost"
end

---@param list table of table/result_table.lua
---@param lost table<integer, integer> by type_id
---@param unreadable integer? samples without what is needed
function samples_with_losses.add_notes(list, lost, unreadable)
  -- PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES
  list:note_losses { lost = lost[2] or 0, lost_samples = lost[13] or 0 }
  if unreadable then
    list:note("unreadable", unreadable, "{sample lacks|samples lack} a required field")
  end
end

return samples_with_losses
