-- Groups of records by their keys. What is described entirely the core adds up; here is one pass over the records, a
-- table of tables with the groups as leaves, for what only Lua can answer.

local aside = require "perflua.group.aside"
local engine = require "perflua.plan.engine"
local interrupted = require "perflua.table.interrupted"
local loop = require "perflua.group.loop"
local measures = require "perflua.measures"
local kinds = require "perflua.filter.kinds"
local plan = require "perflua.plan"

local ABSENT = plan.ABSENT

-- Kinds of which false is a value, or NaN, which is no key: there an absent one is read as ABSENT, and never by the C
-- cursor.
local telling = { boolean = true, any = true, float = true, ["function"] = true }
local told_measures = { first = true, last = true, distinct = true }

local function told_apart(ref)
  local get = ref.get
  local function present(record)
    local value = get(record)
    if value == nil or value ~= value then return ABSENT end
    return value
  end
  return { text = ref.text, kind = ref.kind, root = ref.root, plain = false, get = present, of = ref }
end

-- The fields to read, each once: slot(ref, told) gives the place of its value and what absent is there.
local function collector()
  local refs, known = {}, { [true] = {}, [false] = {} }
  local function slot(ref, told)
    told = told and telling[ref.kind] or false
    local name = ref.kind == "function" and ref or ref.text
    local i = known[told][name]
    if not i then
      i = #refs + 1
      refs[i], known[told][name] = told and told_apart(ref) or ref, i
    end
    return i, told and ABSENT
  end
  return refs, slot
end

local function index_of(event) return event and event.index or nil end
local function name_of(event) return event and event.name or nil end

local function present(value)
  if value == ABSENT then return nil end
  return value
end

-- The keys for the loop, and how the values of some are shown.
local function keys_of(keys, slot)
  local list, reads = {}, {}
  for i, key in ipairs(keys) do
    local at, absent = slot(key.ref, true)
    reads[i] = not key.at and index_of or key.ref.kind == "event" and name_of or absent and present
    list[i] = { slot = at, other = key.other and slot(key.other), at = key.at, read = reads[i] and true }
  end
  return list, reads
end

-- The measures for the loop, and the functions of each.
local function measured(columns, slot)
  local list, starts, steps = {}, {}, {}
  for i, column in ipairs(columns) do
    local measure, ref = measures[column.measure], column.ref
    local kind, at, absent = ref and ref.kind, nil, nil
    if ref then at, absent = slot(ref, told_measures[column.measure]) end
    local beside, step = column.weight or column.event, column.weight and measure.weighted or measure.step
    list[i] = { slot = at, beside = beside and slot(beside), code = not beside and measure.code and measure.code(kind) }
    starts[i], steps[i] = measure.start, step(kind, i, absent, column)
  end
  return list, starts, steps
end

local function named_events(groups, columns)
  for i, column in ipairs(columns) do
    if column.ref and column.ref.kind == "event" then
      for _, g in ipairs(groups) do
        local named = {}
        for key, value in pairs(g[i]) do
          if column.measure == "distinct" then named[key.name] = true else named[key] = value.name end
        end
        g[i] = named
      end
    end
  end
end

local several_forms = { float = true, any = true, ["function"] = true } -- of one number: an integer, a float

local function shown(groups, keys)
  for _, key in ipairs(keys) do
    local kind, at = key.ref.kind, key.at
    if several_forms[kind] and at then
      groups = interrupted.each(groups, function(g)
        local values = g.keys
        if values[at] ~= nil then values[at] = kinds.shown(values[at], kind) end
      end)
    end
  end
  return groups
end

---@param spec table what the query reads
---@param keys {ref: table, other: table?, at: integer?}[] other: read where the value of ref, never false, is absent;
--- at: its place among a group's keys
---@param columns {name: string, measure: string, ref: table?, weight: table?, event: table?}[]
---@param first integer? after an interrupt, of groups that are too many those that are first by this measure: its
--- greatest values, or if it is negative its least; the result has the number of all as `total`
---@param rest boolean? then, if there is a share or this is true, the result has `rest`: sums of the others by event
---@return table[] groups # { keys = {…}, state, state … }, in the order in which they were met; a key
--- without a place is its `event`, the event's index or nil
local function aggregate(spec, keys, columns, first, rest)
  local description = engine.grouping(spec, keys, columns)
  if description then description.first, description.rest = first, rest end
  if description then return shown(engine.groups(spec, description), keys) end
  local refs, slot = collector()
  local key_list, reads = keys_of(keys, slot)
  local list, starts, steps = measured(columns, slot)
  local order = engine.order(spec, keys, columns)
  -- what a stream says of names comes with its records
  if order == "any" then order = spec.file.size and "file" or "time" end
  local filters = spec.aside and table.move(spec.filters, 1, #spec.filters, 2, { aside.filter(spec.aside) })
  spec = setmetatable({ order = order, filters = filters or nil }, { __index = spec })
  local source, cursor, direct = plan.source(spec, refs)
  local _ <close> = plan.closing(cursor)
  local groups = loop.make(direct, #refs, key_list, list)(source, reads, starts, steps)
  named_events(groups, columns)
  return shown(groups, keys)
end

return aggregate
