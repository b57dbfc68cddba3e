-- Queries as the core runs them: descriptions in trees instead of functions of Lua. What Lua alone can answer is
-- run by group/aggregate.lua, record by record, with the same answer.

local core = require "perflua.core"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local lower = require "perflua.plan.lower"
local measures = require "perflua.measures"
local sums = require "perflua.measures.sums"
local blame, guard = errors.blame, errors.guard

local engine = {}

local MAX_KEYS, MAX_MEASURES = 64, 256 -- as the core has them

-- What all ways to read in the core share.
local function scope_of(spec, order)
  return {
    types = spec.types, events = spec.events, event_nil = spec.event_nil, container = spec.container,
    from = spec.from, to = spec.to, expand = spec.expand, order = order,
  }
end

---The filters of a query that the core can ask, as one tree; and what is left to Lua.
---@param spec table
---@param lowering perflua.Lowering
---@return table? tree nil: none
---@return table[] rest
function engine.filters(spec, lowering)
  local trees, rest = {}, {}
  for _, filter in ipairs(spec.filters) do
    local tree = not spec.interpreted and lowering:condition(filter.node)
    if tree then trees[#trees + 1] = tree else rest[#rest + 1] = filter end
  end
  return lower.all(trees), rest
end

local function key_of(key, lowering)
  local value, why = lowering:value(key.ref)
  if not value then return nil, why end
  local other
  if key.other then
    other, why = lowering:value(key.other)
    if not other then return nil, why end
  end
  return { value = value, other = other, at = key.at }
end

local function measure_of(column, lowering)
  local one = { measure = column.measure, events = column.events }
  for part, ref in pairs { value = column.ref or nil, weight = column.weight or nil } do
    local tree, why = lowering:value(ref)
    if not tree then return nil, why end
    one[part] = tree
  end
  return one
end

-- Each of a list, lowered; nil and why not.
local function each(list, lowered, lowering)
  local result = {}
  for i, one in ipairs(list) do
    local got, why = lowered(one, lowering)
    if not got then return nil, why end
    result[i] = got
  end
  return result
end

---@param spec table
---@return boolean # does a function of Lua see the records, to filter them?
function engine.calls_lua(spec)
  for _, filter in ipairs(spec.filters) do
    if not filter.node then return true end
  end
  return false
end

-- What is not the same in every order.
local function depends(spec, keys, columns)
  for _, column in ipairs(columns) do
    if column.measure == "first" or column.measure == "last" then return column.name .. " is of the order of time" end
  end
  for _, key in ipairs(keys) do
    if key.ref.kind == "function" then return "what a function of Lua answers may depend on it" end
  end
  return engine.calls_lua(spec) and "what a function of Lua answers may depend on it" or nil
end

---The order in which the records of a grouped query are read: "time" has its price.
---@param spec table
---@param keys {ref: table}[]
---@param columns table[]
---@return string order "time", "file", or "any": the answer is the same
---@return string why
function engine.order(spec, keys, columns)
  if spec.reader then return "time", "spans are in it" end
  if spec.order then return spec.order, "that was asked for" end
  if spec.expand and events.any_counters(spec.file) then return "time", "periods are differences of counter values" end
  local why = depends(spec, keys, columns)
  if why then return "time", why end
  return "any", "the answer is the same in any order"
end

-- The description with keys and measures; nil and why not.
local function described(description, keys, columns, lowering)
  local why
  description.keys, why = each(keys, key_of, lowering)
  if not description.keys then return nil, why end
  description.measures, why = each(columns, measure_of, lowering)
  if not description.measures then return nil, why end
  return description
end

---What the core is told of a grouped query; nil and why it cannot run it.
---@param spec table
---@param keys {ref: table, other: table?, at: integer?}[] as group/aggregate.lua has them
---@param columns table[]
---@return table? description
---@return string? why
function engine.grouping(spec, keys, columns)
  if spec.interpreted then return nil, "that was asked for" end
  if #keys > MAX_KEYS then return nil, ("there are more than %d keys"):format(MAX_KEYS) end
  if #columns > MAX_MEASURES then return nil, ("there are more than %d measures"):format(MAX_MEASURES) end
  if spec.reader then
    return spec.reader:grouping(spec, function(lowering) return described({}, keys, columns, lowering) end)
  end
  local lowering = lower.of(spec.file)
  local description, why = described(scope_of(spec, (engine.order(spec, keys, columns))), keys, columns, lowering)
  if not description then return nil, why end
  local filter, rest = engine.filters(spec, lowering)
  if #rest > 0 then return nil, "Lua asks what comes before" end
  description.filter = filter
  description.most = spec.aside and spec.aside.most
  return description
end

---@param spec table
---@param description table from engine.grouping
---@return table[] groups # as group/aggregate.lua gives them; of a report its sections
---@return function? rows # of a report: see src/binding/query_report.c
function engine.groups(spec, description)
  local groups, rows = guard(core.group, spec.file, description)
  if not groups then blame(sums.wrong[rows]) end
  if spec.aside then spec.aside.n = description.aside or 0 end
  if spec.reader then spec.reader:counted(description.counts) end
  if #description.keys == 0 and #groups == 0 then -- a stream that was waited for in vain
    groups[1] = { keys = {} }
    for i, one in ipairs(description.measures) do groups[1][i] = measures[one.measure].start() end
  end
  return groups, rows
end

return engine
