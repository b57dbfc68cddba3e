-- How a query is read record after record: by a cursor of the core's, which yields records, or values.
--
-- A spec is what a Query holds: file, types, events, event_nil, container, order, reuse, from, to, expand, filters.
-- What is made of records, as spans are, has a `reader` instead: it gives what plan.source and plan.records give, and
-- says `why` the core does not.

local usage_error = require("perflua.errors").usage_error
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local guard = require("perflua.errors").guard
local lower = require "perflua.plan.lower"

local plan = {}

-- Fields that the core reads for one handler.
plan.MAX_FIELDS = 32

-- Values that it reads for one step of a loop.
local MAX_VALUES = 4096

-- Stands for an absent value where false is a value like any other.
plan.ABSENT = setmetatable({}, { __tostring = function() return "nil" end })

-- What core.cursor() takes for a query; others that walk records take the same.
local function options_of(spec, filter, values)
  return {
    types = spec.types, events = spec.events, event_nil = spec.event_nil, container = spec.container,
    order = spec.order or "time", from = spec.from, to = spec.to, expand = spec.expand, filter = filter,
    values = values, reuse = spec.reuse,
  }
end

---Options of a walk over the records of a query that the core does by itself.
---@param spec table
---@return table
function plan.walk(spec) return options_of(spec, engine.filters(spec, lower.of(spec.file))) end

---@param spec table
---@return integer # how many workers a loop over values has
---@return string? # what they do, or why there is but one
function plan.workers(spec) return guard(core.loop_workers, spec.file, options_of(spec)) end

-- A closing value for a cursor.
function plan.closing(cursor)
  return setmetatable({}, { __close = function() cursor:close() end })
end

---@param spec table
---@return function step # -> the next record, nil at the end
---@return table cursor # to close
function plan.records(spec)
  if spec.reader then return spec.reader:records(spec) end
  local cursor = guard(core.cursor, spec.file, plan.walk(spec))
  return cursor, cursor
end

---What the core yields of the records.
---@param spec table
---@param refs table[]
---@param lowering perflua.Lowering
---@return table[] values trees
local function values_of(refs, lowering)
  if #refs > MAX_VALUES then usage_error("at most %d values are read of a record; here are %d", MAX_VALUES, #refs) end
  local values = {}
  for i, ref in ipairs(refs) do values[i] = lowering:value(ref) end
  return values
end

---Why the core calls functions to read values.
---@param spec table
---@param refs table[]
---@return string? # nil: it does not
function plan.calls(spec, refs)
  local lowering = lower.of(spec.file)
  values_of(refs, lowering)
  return lowering.calls
end

-- A cursor over values of records.
local function open_values(spec, refs)
  local lowering = lower.of(spec.file)
  local filter = engine.filters(spec, lowering)
  return guard(core.cursor, spec.file, options_of(spec, filter, values_of(refs, lowering)))
end

---@param spec table
---@param refs table[]
---@return function source # direct: -> the next record's values, absent ones false; nil at the end. Else a function
--- that puts them into a table; false at the end
---@return table cursor # to close
---@return boolean direct
function plan.source(spec, refs)
  if spec.reader then return spec.reader:source(spec, refs) end
  local cursor = open_values(spec, refs)
  return cursor, cursor, true
end

---What the core is told that is to read values of pairs of records.
---@param spec table without filters
---@param refs table[]
---@return table? options nil: not all that is read is described
---@return string? why
function plan.pairs_values(spec, refs)
  local lowering = lower.of(spec.file)
  local values = values_of(refs, lowering)
  if lowering.calls then return nil, lowering.calls end
  return options_of(spec, nil, values)
end

---A loop over values of pairs of records.
---@param spec table without filters
---@param refs table[]
---@param pairs table how they are paired, see src/binding/pairs.c
---@return table? cursor nil: not all that is read is described
function plan.pairs(spec, refs, pairs)
  local options = plan.pairs_values(spec, refs)
  if not options then return nil end
  options.pairs = pairs
  return guard(core.cursor, spec.file, options)
end

---@param spec table
---@param refs table[]
---@return function step # -> the next record's values, absent ones false; nil at the end
---@return table cursor # to close
function plan.values(spec, refs)
  local source, cursor, direct = plan.source(spec, refs)
  if direct then return source, cursor end
  local v, n, unpack = {}, #refs, table.unpack
  return function()
    if source(v) then return unpack(v, 1, n) end
  end, cursor
end

return plan
