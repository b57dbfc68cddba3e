-- Queries as the core runs them: their filters, keys and measures in trees, whose leaves may be
-- functions of Lua.

local core = require "perflua.core"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local trees = require "perflua.plan.trees"
local measures = require "perflua.measures"
local sums = require "perflua.measures.sums"
local usage_error, guard = errors.usage_error, errors.guard

local engine = {}

local MAX_KEYS, MAX_MEASURES = 4096, 4096 -- as the core has them

---The part of a description that all ways to read share.
---@param spec table
---@param order string
---@return table
function engine.reading(spec, order)
  return {
    types = spec.types, events = spec.events, event_nil = spec.event_nil,
    container = spec.container,
    from = spec.from, to = spec.to, expand = spec.expand, order = order, reuse = spec.reuse,
  }
end

---@param filters perflua.Filter[]
---@param builder perflua.TreeBuilder
---@return { filter: perflua.Filter, tree: table, why: string? }[] # in the order in which they
--- are evaluated: those that call functions come last; why: they do
function engine.filter_trees(filters, builder)
  local described, calling = {}, {}
  local before = builder.calls
  for _, filter in ipairs(filters) do
    builder.calls = nil
    local made = { filter = filter, tree = builder:condition(filter), why = nil }
    made.why = builder.calls
    before = before or made.why
    local list = made.why and calling or described
    list[#list + 1] = made
  end
  builder.calls = before
  return table.move(calling, 1, #calling, #described + 1, described)
end

---@param filters perflua.Filter[]
---@param builder perflua.TreeBuilder
---@return table? # nil: there are none
function engine.tree_of(filters, builder)
  local conditions = {}
  for i, filter in ipairs(engine.filter_trees(filters, builder)) do
    conditions[i] = filter.tree
  end
  return trees.all(conditions)
end

---Splits the filters of a query.
---@param spec table
---@return perflua.Filter[] # of records
---@return perflua.Filter[] # of rows that are items of them
function engine.split_filters(spec)
  local n = spec.unnest and spec.unnest.n_filters or #spec.filters
  local of_rows = table.move(spec.filters, n + 1, #spec.filters, 1, {})
  return table.move(spec.filters, 1, n, 1, {}), of_rows
end

---The filters of a query's records as one tree.
---@param spec table
---@param builder perflua.TreeBuilder
---@return table? tree nil: none
function engine.filters(spec, builder)
  return engine.tree_of((engine.split_filters(spec)), builder)
end

---Describes rows that are items of records to the core.
---@param spec table
---@param builder perflua.TreeBuilder
---@return table? # nil: rows are records
function engine.unnest(spec, builder)
  local unnest = spec.unnest
  if not unnest then return nil end
  local _, filters = engine.split_filters(spec)
  return {
    view = unnest.view, inline = unnest.inline,
    once = unnest.once and builder:value(unnest.once, "key"),
    filter = engine.tree_of(filters, builder),
  }
end

-- Returns the tree of the event by which records are grouped for the shares of rows that are
-- items; false if all records are one group; nil if there is no share.
local function whole_of(keys, columns, description)
  local has_share = false
  for _, column in ipairs(columns) do has_share = has_share or column.measure == "share" end
  if not has_share or not description.unnest then return nil end
  for i, key in ipairs(keys) do
    if key.ref.root == "event" and #key.ref.path == 1 then return description.keys[i].value end
  end
  return false
end

local function keys_of(keys, builder)
  local list = {}
  for i, key in ipairs(keys) do
    list[i] = {
      value = builder:value(key.ref, "key"), other = key.other
        and builder:value(key.other, "key"), at = key.at,
    }
  end
  return list
end

local function measures_of(columns, builder)
  local list = {}
  for i, column in ipairs(columns) do
    list[i] = {
      measure = column.measure, events = column.events, value = column.ref
        and builder:value(column.ref, "key"),
      weight = column.weight and builder:value(column.weight),
    }
  end
  return list
end

---@param spec table
---@return boolean # does a function of Lua see the records, to filter them?
function engine.calls_lua(spec)
  for _, filter in ipairs(spec.filters) do
    if not filter.node then return true end
  end
  return false
end

-- Returns why the answer depends on the order of records; nil: it does not.
local function depends(spec, keys, columns)
  for _, column in ipairs(columns) do
    local row = measures[column.measure] -- none of what only programs keep
    if row and row.ordered then
      return column.name .. " depends on time order"
    end
  end
  for _, key in ipairs(keys) do
    if key.ref.kind == "function" then
      return "a Lua function may depend on it"
    end
  end
  return engine.calls_lua(spec) and "a Lua function may depend on it" or nil
end

---The order in which the records of a grouped query are read: "time" has its price.
---@param spec table
---@param keys {ref: table}[]
---@param columns table[]
---@return string order "time", "file", or "any": the answer is the same
---@return string why
function engine.order(spec, keys, columns)
  if spec.reader then return "time", "spans are built in time order" end
  if spec.order then return spec.order, "as requested" end
  if spec.expand and events.any_counters(spec.file) then
    return "time", "periods are differences of counter values"
  end
  local why = depends(spec, keys, columns)
  if why then return "time", why end
  return "any", "the answer is the same in any order"
end

-- Adds keys and measures to a description, and as keys_call, measures_call and calls why these,
-- or any part of it, call functions. Returns it.
local function described(description, keys, columns, builder)
  local before = builder.calls
  builder.calls = nil
  description.keys = keys_of(keys, builder)
  description.keys_call, builder.calls = builder.calls, nil
  description.measures = measures_of(columns, builder)
  description.measures_call = builder.calls
  description.calls = before or description.keys_call or description.measures_call
  return description
end

-- Lists what keys and measures read.
local function refs_of(keys, columns)
  local refs = {}
  for _, key in ipairs(keys) do refs[#refs + 1] = key.ref end
  for _, column in ipairs(columns) do
    refs[#refs + 1] = column.ref
    refs[#refs + 1] = column.weight
  end
  return refs
end

--- Describes a grouped query to the core.
---@param spec table
---@param keys {ref: table, other: table?, at: integer?}[] other: read where the value of ref,
--- never false, is absent; at: its place among a group's keys
---@param columns {name: string, measure: string, ref: table?, weight: table?, event: table?}[]
---@return table # description; calls, keys_call, measures_call: why it, or a part of it, calls
--- functions, if it does
function engine.grouping(spec, keys, columns)
  if #keys > MAX_KEYS then
    usage_error("group_by: at most %d keys expected, got %d", MAX_KEYS, #keys)
  end
  if #columns > MAX_MEASURES then
    usage_error("at most %d measures expected, got %d", MAX_MEASURES, #columns)
  end
  if spec.reader then
    local grouping = spec.reader:grouping(spec, refs_of(keys, columns), function(builder)
      return described({}, keys, columns, builder)
    end)
    grouping.whole = whole_of(keys, columns, grouping)
    grouping.most = spec.aside and spec.aside.most
    return grouping
  end
  local builder = trees.builder()
  local description = engine.reading(spec, (engine.order(spec, keys, columns)))
  description.filter = engine.filters(spec, builder)
  description.unnest = engine.unnest(spec, builder)
  description.most = spec.aside and spec.aside.most
  description.repeats = spec.repeats
  described(description, keys, columns, builder)
  description.whole = whole_of(keys, columns, description)
  return description
end

---@param spec table
---@param description table from engine.grouping
---@return userdata|table[]|false groups # the core's result, of the shape in `shape` of the
--- description; of a report its sections, of a profile its events; false: a stream that was
--- waited for in vain
---@return function|table? made # of a report its rows (src/binding/query/report.c), of a
--- profile its functions (src/binding/query/profile.c)
function engine.groups(spec, description)
  local groups, rows
  if description.calls then
    groups, rows = core.group(spec.file, description)
  else
    groups, rows = guard(core.group, spec.file, description)
  end
  if groups == nil then usage_error("%s", sums.wrong[rows] or rows) end
  if spec.aside then spec.aside.n = description.aside or 0 end
  return groups, rows
end

return engine
