-- Reports with their rows as plain values, also as the model makes them, for queries that say
-- `interpreted`.
require "spec.support.model"
local callers = require "spec.support.model.report.callers"
local Scope = require("perflua.fields").class
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local keys = require "perflua.report.keys"
local report = require "perflua.report"
local rows = require "spec.support.model.report.rows"
local sections = require "spec.support.model.report.sections"
local spec_of = core.query_spec

local model = {}

-- The kinds of chains that reports read, which differ in inlined functions only.
local kinds = { callers = true, unwound = true, inlined = true }

-- The model reads call chains as text, in which no function is inlined.
local stack = Scope.stack
function Scope:stack(text, chain) -- luacheck: ignore 122
  local ref = stack(self, text, chain)
  if kinds[chain] then ref.get = function(sample) return sample.frames end end
  return ref
end

local prepared_of = setmetatable({}, { __mode = "k" }) -- by the query's spec
local prepare, groups = report.prepare, engine.groups

function report.prepare(...) -- luacheck: ignore 122
  local prepared = prepare(...)
  prepared_of[spec_of(prepared.query)] = prepared
  return prepared
end

-- Returns a function that gives the name of a sample's thread: of one without a name the first
-- one that it gets, unless a fork or its exit comes before.
local function later_names(file)
  local events = {}
  for record in file:records { type = { "comm", "fork", "exit" } } do
    local list = events[record.tid] or {}
    events[record.tid], list[#list + 1] = list, { time = record.time or 0, comm = record.comm,
      is_name = record.type == "comm" }
  end
  return function(sample)
    local comm, tid = sample.comm, sample.tid
    if comm == nil or comm ~= ":" .. tostring(tid) then return comm end
    for _, event in ipairs(events[tid] or {}) do
      if event.time > (sample.time or 0) then return event.is_name and event.comm or comm end
    end
    return comm
  end
end

-- Sections that the model made, by the query's spec.
local sections_of = setmetatable({}, { __mode = "k" })

function engine.groups(spec, description) -- luacheck: ignore 122
  local prepared = prepared_of[spec]
  if not (description.model and description.report) then return groups(spec, description) end
  for i, key in ipairs(description.keys) do
    if key.ref.text == "comm" then
      local ref = setmetatable({ get = later_names(spec.file) }, { __index = key.ref })
      description.keys[i] = setmetatable({ ref = ref }, { __index = key })
    end
  end
  local make, shape = prepared.children and callers or rows, description.shape
  description.shape = nil -- its groups as they are
  sections_of[spec] = sections(make(groups(spec, description), prepared), prepared,
    keys.shown(prepared))
  return core.result(shape)
end

-- Returns the columns of the rows of a section: for each key, then for the measures, an array
-- of values.
local function values_of(result, section)
  local n, values = #result.keys, {}
  for c = 1, n + (result.children and 3 or 2) do values[c] = {} end
  for r = 1, section.n do
    local row = core.view_row(result.view, section.first + r - 1)
    for i, key in ipairs(result.keys) do values[i][r] = row[key.name] end
    for m, name in ipairs { "samples", "period", result.children and "children" or nil } do
      values[n + m][r] = row[name]
    end
  end
  return values
end

---@param prepared table of report.prepare
---@param shown table? as report.read() takes it
---@return table # { aside, events } with { event, index, samples, period, unresolved, n,
--- values } for each event
function model.read(prepared, shown)
  local spec = spec_of(prepared.query)
  local result, events = report.read(prepared, shown), {}
  for i, section in ipairs(sections_of[spec] or result.events) do
    local event = section.index and spec.file.events[section.index]
    events[i] = {
      event = section.event or event and event.name or "unknown event", index = section.index,
      samples = section.samples, period = section.period, unresolved = section.unresolved,
      n = section.n, values = section.values or values_of(result, section),
    }
  end
  sections_of[spec] = nil
  return { aside = result.aside, events = events }
end

return model
