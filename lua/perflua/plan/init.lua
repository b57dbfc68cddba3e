-- How a query is read record after record: what the C cursor does of it, and what is left to Lua.
--
-- The cursor asks the filters that can be lowered, and yields values if all that is read is described; else it yields
-- records, and Lua asks the filters that are left and reads the fields. All ways give the same answer.
--
-- A spec is what a Query holds: file, types, events, event_nil, container, order, reuse, from, to, expand, filters;
-- with `interpreted` all that can be done in Lua is. What is made of records, as spans are, has a `reader` instead: it
-- gives what plan.source and plan.records give, and says `why` the core does not.

local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local guard = require("perflua.errors").guard
local lower = require "perflua.plan.lower"

local plan = {}

-- Fields that the core reads for one handler.
plan.MAX_FIELDS = 32

-- Values that it reads for one step of a loop.
local MAX_VALUES = 255

-- Stands for an absent value where false is a value like any other.
plan.ABSENT = setmetatable({}, { __tostring = function() return "nil" end })

-- What core.cursor() takes for a query; others that walk records take the same.
local function options_of(spec, filter, values, reuse)
  return {
    types = spec.types, events = spec.events, event_nil = spec.event_nil, container = spec.container,
    order = spec.order or "time", from = spec.from, to = spec.to, expand = spec.expand, filter = filter,
    values = values, reuse = reuse,
  }
end

local function open_cursor(spec, ...) return guard(core.cursor, spec.file, options_of(spec, ...)) end

---@return integer # how many workers a loop over values has
---@return string? # what they do, or why there is but one
function plan.workers(spec) return guard(core.loop_workers, spec.file, options_of(spec)) end

local function by_record(ref) return ref.get end

-- Filters as one predicate of a record; nil if there are none.
local function predicate(filters)
  local all
  for _, filter in ipairs(filters) do
    local one = filter.bind(by_record)
    local before = all
    all = before and function(x) return before(x) and one(x) end or one
  end
  return all
end

---@param spec table
---@return table? filter a tree, what the core asks
---@return (fun(record: perflua.Record): boolean)? keep what Lua asks of the records that are left
function plan.filters(spec)
  local filter, rest = engine.filters(spec, lower.of(spec.file))
  return filter, predicate(rest)
end

-- Records for the query's own use may be one object again and again, unless a script's function
-- sees them.
local function reusable(spec, refs)
  if spec.reuse then return true end
  for _, ref in ipairs(refs) do
    if ref.kind == "view" or ref.kind == "function" then return false end
  end
  return not engine.calls_lua(spec)
end

local function filtered(cursor, keep)
  if not keep then return cursor end
  return function()
    local record = cursor()
    while record ~= nil and not keep(record) do record = cursor() end
    return record
  end
end

-- A closing value for a cursor.
function plan.closing(cursor)
  return setmetatable({}, { __close = function() cursor:close() end })
end

local function records(spec, reuse)
  local filter, keep = plan.filters(spec)
  local cursor = open_cursor(spec, filter, nil, reuse)
  return filtered(cursor, keep), cursor
end

---Options of a walk over the records of a query that the core does by itself.
---@param spec table
---@return table # keep: what Lua asks of records
function plan.walk(spec)
  local filter, keep = plan.filters(spec)
  local options = options_of(spec, filter, nil, keep ~= nil)
  options.keep = keep
  return options
end

---@param spec table
---@return function step # -> the next record, nil at the end
---@return table cursor # to close
function plan.records(spec)
  if spec.reader then return spec.reader:records(spec) end
  return records(spec, spec.reuse)
end

---What the core yields of the records itself.
---@param spec table
---@param refs table[]
---@return table[]? values trees; nil: only records
---@return table? filter a tree
---@return string? why it yields records only
function plan.lowered(spec, refs)
  if spec.interpreted then return nil, nil, "that was asked for" end
  if spec.reader then return nil, nil, spec.reader.why end
  if #refs == 0 or #refs > MAX_VALUES then return nil, nil, ("there are more than %d values"):format(MAX_VALUES) end
  local lowering, values = lower.of(spec.file), {}
  for i, ref in ipairs(refs) do
    local why
    values[i], why = lowering:value(ref)
    if not values[i] then return nil, nil, why end
  end
  local filter, rest = engine.filters(spec, lowering)
  if #rest > 0 then return nil, nil, "Lua asks what comes before" end
  return values, filter
end

local function rows_of_records(spec, refs)
  local step, cursor = records(spec, reusable(spec, refs))
  local n, get = #refs, {}
  for i, ref in ipairs(refs) do get[i] = ref.get end
  return function(v)
    local record = step()
    if record == nil then return false end
    for i = 1, n do
      local value = get[i](record)
      if value == nil then value = false end
      v[i] = value
    end
    return true
  end, cursor
end

---What is fastest to read.
---@param spec table
---@param refs table[]
---@return function source # direct: -> the next record's values, absent ones false; nil at the end. Else a function
--- that puts them into a table; false at the end
---@return table cursor # to close
---@return boolean direct
function plan.source(spec, refs)
  if spec.reader then return spec.reader:source(spec, refs) end
  local values, filter = plan.lowered(spec, refs)
  if values then
    local cursor = open_cursor(spec, filter, values)
    return cursor, cursor, true
  end
  local step, cursor = rows_of_records(spec, refs)
  return step, cursor, false
end

---What the core is told that is to read values of pairs of records.
---@param spec table without filters
---@param refs table[]
---@return table? options nil: not all that is read is described
---@return string? why
function plan.pairs_values(spec, refs)
  local values, _, why = plan.lowered(spec, refs)
  if not values then return nil, why end
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
