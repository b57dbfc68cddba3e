-- Groups of records by their keys, in plain Lua: tables of tables with the groups as leaves.

local aside = require "perflua.group.aside"
local kinds = require "perflua.filter.kinds"
local measures = require "spec.support.model.measures"

local ABSENT = setmetatable({}, { __tostring = function() return "nil" end })

-- A value as groups tell it: NaN is none.
local function told(value)
  if value == nil or value ~= value then return nil end
  return value
end

-- The value of a key that is a function: no object but an event, which is its name.
local function given(value)
  local kind = type(value)
  if kind ~= "table" and kind ~= "userdata" and kind ~= "function" then return value end
  local meta = getmetatable(value)
  if type(meta) == "table" and meta.__name == "perflua.event" then return value.name end
  error(("group_by: a function gave a %s; keys are strings, numbers, booleans, events or nil")
    :format(kind), 0)
end

local function new_group(keys, values, columns)
  local g = { keys = {} }
  for i, key in ipairs(keys) do
    local value = values[i]
    if value == ABSENT then value = nil end
    if key.ref.kind == "event" and value ~= nil then
      value = key.at and value.name or value.index
    end
    if key.at then
      g.keys[key.at] = value ~= nil and kinds.shown(value, key.ref.kind) or value
    else
      g.event = value
    end
  end
  for i, column in ipairs(columns) do g[i] = measures.start(column.measure) end
  return g
end

local function find(root, groups, keys, values, columns)
  local node, n = root, #keys
  for i = 1, n - 1 do
    node[values[i]] = node[values[i]] or {}
    node = node[values[i]]
  end
  local last = values[n]
  if not node[last] then
    node[last] = new_group(keys, values, columns)
    groups[#groups + 1] = node[last]
  end
  return node[last]
end

local function named_events(groups, columns)
  for i, column in ipairs(columns) do
    if column.ref and column.ref.kind == "event" then
      for _, g in ipairs(groups) do
        local named = {}
        for key, value in pairs(g[i]) do
          if column.measure == "distinct" then
            named[key.name] = true
          else
            named[key] = value.name
          end
        end
        g[i] = named
      end
    end
  end
  return groups
end

-- Lists what the steps of every group read: { step, value, beside }.
local function steps_of(columns, reader)
  local steps = {}
  for i, column in ipairs(columns) do
    local of = column.weight and measures.weighted or measures.steps
    local beside = column.weight or column.event
    steps[i] = {
      step = of[column.measure](column.ref and column.ref.kind, i, column),
      value = column.ref and reader(column.ref), beside = beside and reader(beside),
    }
  end
  return steps
end

---@param spec table of a query
---@param keys table[] as plan/engine.lua has them
---@param columns table[]
---@param next_context fun(): any the next record, or what else values are read from; nil at
--- the end
---@param reader fun(ref: table): fun(context: any): any
---@return table[] groups # as core.result_groups gives them
return function(spec, keys, columns, next_context, reader)
  local key_readers, groups, root = {}, {}, {}
  for i, key in ipairs(keys) do
    key_readers[i] = { reader(key.ref), key.other and reader(key.other) }
  end
  local steps = steps_of(columns, reader)
  local alone = #keys == 0 and new_group(keys, {}, columns)
  if alone then groups[1] = alone end
  for context in next_context do
    if not (spec.aside and aside.is(context.period)) then
      local values = {}
      for i, read in ipairs(key_readers) do
        local value = told(read[1](context))
        if value == nil and read[2] then value = told(read[2](context)) end
        if keys[i].ref.kind == "function" then value = given(value) end
        if value == nil then value = ABSENT end
        values[i] = value
      end
      local g = alone or find(root, groups, keys, values, columns)
      for _, one in ipairs(steps) do
        one.step(g, one.value and one.value(context), one.beside and one.beside(context))
      end
    else
      spec.aside.n = spec.aside.n + 1
    end
  end
  return named_events(groups, columns)
end
