-- Reads a query record after record, with a cursor of the core that yields records or values.
--
-- A spec is what a Query holds: file, types, events, event_nil, container, order, reuse, from,
-- to, expand, filters. Rows that are made of records, such as spans, have a `reader` instead,
-- which describes them to the core.

local usage_error = require("perflua.errors").usage_error
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local guard = require("perflua.errors").guard
local trees = require "perflua.plan.trees"

local plan = {}

-- Fields that the core reads for one handler.
plan.MAX_FIELDS = 255

-- Values that it reads for one step of a loop.
local MAX_VALUES = 4096

---Options of a walk over the records of a query that the core does by itself: of a cursor, or
---of others that walk records.
---@param spec table
---@return table
function plan.walk(spec)
  local options = engine.reading(spec, spec.order or "time")
  options.filter = engine.filters(spec, trees.builder())
  return options
end

-- A closing value for a cursor.
function plan.closing(cursor)
  return setmetatable({}, { __close = function() cursor:close() end })
end

local function open(spec, options)
  local cursor = guard(core.cursor, spec.file, options)
  return cursor, cursor
end

---@param spec table
---@return function step # -> the next record, nil at the end
---@return table cursor # to close
function plan.records(spec)
  return open(spec, spec.reader and spec.reader:loop(spec) or plan.walk(spec))
end

-- Describes a loop over values to the core; calls: why it calls functions, if it does; first:
-- trees of values in front of the others.
local function values_of(spec, refs, first)
  if #refs > MAX_VALUES then
    usage_error("at most %d values can be read from a record, got %d", MAX_VALUES, #refs)
  end
  if spec.reader then return spec.reader:loop(spec, refs) end
  local builder, values = trees.builder(), { table.unpack(first or {}) }
  for _, ref in ipairs(refs) do values[#values + 1] = builder:value(ref) end
  local options = engine.reading(spec, spec.order or "time")
  options.values, options.values_call = values, builder.calls
  options.filter = engine.filters(spec, builder)
  options.unnest = engine.unnest(spec, builder)
  options.calls = builder.calls
  return options
end

---Returns the reasons for which the core calls functions in a loop.
---@param spec table
---@param refs table[]
---@return string? of_values # nil: they need none
---@return string? of_all
function plan.calls(spec, refs)
  local options = values_of(spec, refs)
  return options.values_call, options.calls
end

---@param spec table
---@param refs table[]? the values that the loop reads; nil: it is over records
---@return integer # how many workers a loop over values has
---@return string? # what they do, or why there is but one
---@return table # the passes before it, see core.loop_workers()
function plan.workers(spec, refs)
  local options = refs and values_of(spec, refs)
    or spec.reader and spec.reader:loop(spec) or plan.walk(spec)
  return guard(core.loop_workers, spec.file, options)
end

---@param spec table
---@param refs table[]
---@param first table[]? trees of values in front of those, of records only
---@return function step # -> the next record's values, absent ones false; nil at the end
---@return table cursor # to close
function plan.values(spec, refs, first) return open(spec, values_of(spec, refs, first)) end

---Reads values of records after a call chain, which is a number, equal for equal chains: after
---the loop cursor:texts() returns their texts by number.
---@param spec table
---@param refs table[]
---@param chain "names"|"annotated" what is equal, and in the texts
---@return function step
---@return table cursor
function plan.values_with_chains(spec, refs, chain)
  local builder = trees.builder()
  local value = builder:value(spec.scope:stack("callchain", chain))
  local options = values_of(spec, refs, { value })
  options.chain = 1
  return open(spec, options)
end

return plan
