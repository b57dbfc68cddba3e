-- The rows of a report as the model makes them, for queries that say `interpreted`.
require "spec.support.model"
local callers = require "spec.support.model.report.callers"
local Scope = require("perflua.fields").class
local engine = require "perflua.plan.engine"
local keys = require "perflua.report.keys"
local report = require "perflua.report"
local rows = require "spec.support.model.report.rows"
local sections = require "spec.support.model.report.sections"
local spec_of = require("perflua.core").query_spec

local FIRST <const> = 1 << 32 -- the rows of a section begin at a multiple of it

-- The model reads call chains as text.
local stack = Scope.stack
function Scope:stack(text, chain) -- luacheck: ignore 122
  local ref = stack(self, text, chain)
  if chain == "callers" then ref.get = function(sample) return sample.frames end end
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

function engine.groups(spec, description) -- luacheck: ignore 122
  local prepared, shown = prepared_of[spec], description.report
  if not (description.model and shown) then return groups(spec, description) end
  for i, key in ipairs(description.keys) do
    if key.ref.text == "comm" then
      local ref = setmetatable({ get = later_names(spec.file) }, { __index = key.ref })
      description.keys[i] = setmetatable({ ref = ref }, { __index = key })
    end
  end
  local make = prepared.children and callers or rows
  local list = sections(make(groups(spec, description), prepared), prepared,
    keys.shown(prepared), {
    limit = shown.limit, count = shown.count,
  })
  local by_section = {}
  for i, section in ipairs(list) do
    by_section[i], section.first = section.rows, i * FIRST + 1
  end
  return list, { rows = function(from, to)
    local before = from - 1 & ~(FIRST - 1)
    return by_section[before // FIRST](from - before, to - before)
  end }
end
