-- Groups of records by their keys: one pass, a table of tables with the groups as leaves.

local measures = require "perflua.group.measures"
local plan = require "perflua.query.plan"

local ABSENT = plan.ABSENT

-- Kinds of which false is a value: there an absent one is read as ABSENT, and never by the C cursor.
local telling = { boolean = true, any = true, ["function"] = true }
local told_measures = { first = true, last = true, distinct = true }

local function told_apart(ref)
  local get = ref.get
  local function present(record)
    local value = get(record)
    if value == nil or value ~= value then return ABSENT end
    return value
  end
  return { text = ref.text, kind = ref.kind, root = ref.root, plain = false, get = present }
end

-- The fields to read, each once: slot(ref, told) gives the place of its value and what absent is there.
local function collector()
  local refs, known = {}, { [true] = {}, [false] = {} }
  local function slot(ref, told)
    told = told and telling[ref.kind] and not ref.plain or false
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

local function step_of(column, i, slot)
  local measure, ref = measures[column.measure], column.ref
  if not ref then return measure.step(nil, i) end
  local at, absent = slot(ref, told_measures[column.measure])
  return measure.step(ref.kind, i, at, absent)
end

local function run(step, key_slots, steps, start)
  local root, groups, v = {}, {}, {}
  local n_keys, n_steps = #key_slots, #steps
  local last = key_slots[n_keys]
  while step(v) do
    local node = root
    for i = 1, n_keys - 1 do
      local key = v[key_slots[i]]
      local next_node = node[key]
      if not next_node then
        next_node = {}
        node[key] = next_node
      end
      node = next_node
    end
    local key = v[last]
    local g = node[key]
    if not g then
      g = start(v)
      node[key], groups[#groups + 1] = g, g
    end
    for i = 1, n_steps do steps[i](g, v) end
  end
  return groups
end

-- The same without keys: everything is one group.
local function run_all(step, steps, start)
  local v = {}
  local g = start(v)
  while step(v) do
    for i = 1, #steps do steps[i](g, v) end
  end
  return { g }
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

---@param spec table what the query reads
---@param keys {ref: table, at: integer?, split: boolean?}[] at: its place among a group's keys
---@param columns {name: string, measure: string, ref: table?}[]
---@return table[] groups # { keys = {…}, state, state … }, in the order in which they were met; of a
--- key with `split` it is `event`, the event's index or nil, not among keys
local function aggregate(spec, keys, columns)
  local refs, slot = collector()
  local key_slots, key_absent, steps = {}, {}, {}
  for i, key in ipairs(keys) do key_slots[i], key_absent[i] = slot(key.ref, true) end
  for i, column in ipairs(columns) do steps[i] = step_of(column, i, slot) end
  local function start(v)
    local g = { keys = {} }
    for i, key in ipairs(keys) do
      local value = v[key_slots[i]]
      if value == key_absent[i] then value = nil end
      if key.split then
        g.event = value and value.index
      else
        g.keys[key.at] = value and key.ref.kind == "event" and value.name or value
      end
    end
    for i, column in ipairs(columns) do g[i] = measures[column.measure].start() end
    return g
  end
  local order = spec.order or plan.any_order(spec, refs, columns) and "file" or "time"
  local step, cursor = plan.rows(setmetatable({ order = order }, { __index = spec }), refs)
  local _ <close> = plan.closing(cursor)
  local groups = #keys == 0 and run_all(step, steps, start) or run(step, key_slots, steps, start)
  named_events(groups, columns)
  return groups
end

return aggregate
