-- The loop that puts records into groups, as Lua text that is made for one query: without lists of keys and measures
-- to walk for every record it takes a fraction of the time.

local loop = {}

local TEXT = [[
  local source, reads, starts, steps = ...
  local groups = {}
  ROOT
  HEAD
    FIND
    ADD
  end
  return groups
]]

-- A record's group: keys lead from table to table.
local FIND = [[
  local node, next_node = root, nil
  WALK
  local g = node[LAST]
  if not g then
    g = GROUP
    node[LAST], groups[#groups + 1] = g, g
  end
]]

local WALK = [[
  next_node = node[KEY]
  if not next_node then
    next_node = {}
    node[KEY] = next_node
  end
  node = next_node
]]

-- What is raised there is raised here.
local SOURCE = debug.getinfo(1, "S").source

local function filled(text, words) return (text:gsub("%u%u%u+", words)) end

-- The text of one measure: its own, or a call of its step.
local function addition(i, one, value)
  return filled(one.code or "STEP(g, VALUE, BESIDE)", {
    STATE = ("g[%d]"):format(i), STEP = ("steps[%d]"):format(i), VALUE = one.slot and value(one.slot) or "nil",
    BESIDE = one.beside and value(one.beside) or "nil",
  })
end

-- The text of a key: its value, or the other one where that is absent.
local function key_of(key, value)
  return value(key.slot) .. (key.other and " or " .. value(key.other) or "")
end

-- A new group: a constructor that knows its size is much faster than filling tables.
local function group(keys, n_measures, value)
  local shown, event, states = {}, "nil", {}
  for i, key in ipairs(keys) do
    local text = (key.read and "reads[%d](%s)" or "%s or nil"):gsub("%%d", i):format(key_of(key, value))
    if key.at then shown[key.at] = text else event = text end
  end
  for i = 1, n_measures do states[i] = ("starts[%d]()"):format(i) end
  return ("{ keys = { %s }, event = %s, %s }"):format(table.concat(shown, ", "), event, table.concat(states, ", "))
end

-- How a record's group is found; without keys all are one, which is there without records, too.
local function finding(keys, value, new)
  local walk, n = {}, #keys
  if n == 0 then return "local g = root" end
  for i = 1, n - 1 do walk[i] = filled(WALK, { KEY = key_of(keys[i], value) }) end
  return filled(FIND, { WALK = table.concat(walk), LAST = key_of(keys[n], value), GROUP = new })
end

---@param direct boolean the source is an iterator of all the values, else it is step(v), which fills a table
---@param n_values integer
---@param keys {slot: integer, other: integer?, at: integer?, read: boolean?}[] places among the values, and among a
--- group's keys, without one it is the group's event; which are shown as the function of that place in `reads` has them
---@param measured {slot: integer?, beside: integer?, code: string?}[] by measure: the places of its value and of what
--- its step takes beside it, and its text if it has one
---@return fun(source: function, reads: function[], starts: function[], steps: function[]): table[] which gives groups
--- { keys = {…}, event = …, state, state … } as they were met
function loop.make(direct, n_values, keys, measured)
  local function value(slot) return (direct and "v%d" or "v[%d]"):format(slot) end
  local values, add = {}, {}
  for i = 1, n_values do values[i] = value(i) end
  for i, one in ipairs(measured) do add[i] = addition(i, one, value) end
  local new = group(keys, #measured, value)
  local text = filled(TEXT, {
    ROOT = #keys == 0 and ("local root = %s; groups[1] = root"):format(new) or "local root = {}",
    HEAD = direct and ("for %s in source do"):format(table.concat(values, ", "))
      or "local v = {} while source(v) do",
    FIND = finding(keys, value, new),
    ADD = table.concat(add, "\n"),
  })
  return assert(load(text, SOURCE, "t"))
end

return loop
