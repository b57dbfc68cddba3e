-- The groups of Tables put together. In whatever order and grouping tables are merged the
-- groups are the same; first and last values alone are those of the tables in the order given.
--
-- An accumulator owns its groups and finds them by a tree: event, then the values of the keys.
-- Stacks are found by their number among those that are `numbered` in the core; `stacks` holds
-- for each number the Stack that came first.

local core = require "perflua.core"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local interrupted = require "perflua.table.interrupted"
local measures = require "perflua.measures"
local whole = require "perflua.table.whole"

local LOOK_EVERY = 8192 -- groups between two looks at the interrupt, which ends the adding

local Accumulator = {}
Accumulator.__index = Accumulator

-- Stand in the tree for values that cannot be keys of Lua tables.
local NIL, NAN = {}, {}

local function node_key(value)
  if value == nil then return NIL end
  if value ~= value then return NAN end
  return value -- 1 and 1.0 are one key, as they are while a recording is read
end

local function get_child(node, key)
  local next_node = node[key]
  if not next_node then
    next_node = {}
    node[key] = next_node
  end
  return next_node
end

-- Events have a place for their section: the least that they had in any recording. Equal places
-- go by name.
local function by_place(a, b)
  if a.place ~= b.place then return a.place < b.place end
  return a.name < b.name
end

local function events_of(data)
  local list, seen = {}, {}
  for i, name in ipairs(data.events) do
    seen[name] = (seen[name] or 0) + 1
    list[i] = { name = name, nth = seen[name], place = data.places and data.places[i] or i,
      distinction = data.distinctions and data.distinctions[i] or "" }
  end
  return list
end

-- Returns the events of both, each name as often as in the table that has it more often, and
-- for the events of each table their indexes in that list.
local function joined_events(a, b)
  local all, known = {}, {}
  local function add(event)
    local same = get_child(known, event.name)
    local one = same[event.nth]
    if not one then
      one = { name = event.name, place = event.place, distinction = event.distinction }
      same[event.nth], all[#all + 1] = one, one
    end
    if one.distinction ~= event.distinction then one.distinction = "" end
    one.place = math.min(one.place, event.place)
    return one
  end
  local function added(list)
    local entries = {}
    for i, event in ipairs(list) do entries[i] = add(event) end
    return entries
  end
  local of_a, of_b, at = added(a), added(b), {}
  table.sort(all, by_place)
  for i, one in ipairs(all) do at[one] = i end
  local function map_indexes(entries)
    local list = { [0] = 0 }
    for i, one in ipairs(entries) do list[i] = at[one] end
    return list
  end
  return all, map_indexes(of_a), map_indexes(of_b)
end

local function has_moves(places)
  for i, place in pairs(places) do
    if place ~= i then return true end
  end
  return false
end

-- Adds the events of the other table to ours. Returns the indexes of the other's.
local function take_events(self, other)
  local data = self.data
  if not data.events then return { [0] = 0 } end
  local all, ours, theirs = joined_events(events_of(data), events_of(other))
  if has_moves(ours) then
    for _, g in ipairs(data.groups) do g.event = ours[g.event or 0] end
    local tree = {}
    for event, node in pairs(self.tree) do tree[ours[event]] = node end
    self.tree = tree
  end
  data.events, data.places, data.distinctions = {}, {}, {}
  for i, one in ipairs(all) do
    data.events[i], data.places[i], data.distinctions[i] = one.name, one.place, one.distinction
  end
  return theirs
end

-- The one of equal Stacks that came first.
local function same_stack(self, stack)
  local n = core.stacks_number(self.numbered, stack)
  self.stacks[n] = self.stacks[n] or stack
  return self.stacks[n]
end

-- A group whose Stacks are those of the groups that came before.
local function with_stacks(self, g)
  local data = self.data
  local one = table.move(g, 1, #data.measures, 1, { event = g.event, keys = {} })
  for i, key in ipairs(data.keys) do
    local value = g.keys[i]
    one.keys[i] = key.kind == "stack" and value ~= nil and same_stack(self, value) or value
  end
  for m, column in ipairs(data.measures) do
    if column.kind == "stack" then
      local set = {}
      for stack in pairs(g[m]) do set[same_stack(self, stack)] = true end
      one[m] = set
    end
  end
  return one
end

local function add_states(mine, g, columns)
  for m, one in ipairs(columns) do
    mine[m] = measures[one.measure].merge(mine[m], g[m], one.kind)
  end
end

---Adds a group, which stays as it is.
---@param g table
---@param event integer its place in our events; 0: none
---@return table # our group that it is part of
function Accumulator:add_group(g, event)
  local columns, n_keys, node = self.data.measures, #self.data.keys, get_child(self.tree, event)
  if self.stacks then g = with_stacks(self, g) end
  for i = 1, n_keys - 1 do node = get_child(node, node_key(g.keys[i])) end
  local last = node_key(g.keys[n_keys])
  local mine = node[last]
  if mine then
    add_states(mine, g, columns)
    return mine
  end
  mine = table.move(g, 1, #columns, 1, { event = event, keys = g.keys })
  node[last], self.data.groups[#self.data.groups + 1] = mine, mine
  return mine
end

---Adds the groups of another table, which stays as it is. A sum that grows too large raises.
---@param other table data of a Table
---@param are_parts boolean? they need not have looked at the same kinds of records
---@return boolean? ok, string? message # nil and the first difference if they do not belong
--- together
function Accumulator:add(other, are_parts)
  local difference = description.difference(self.data, other, are_parts)
  if difference then return nil, difference end
  self.data.description = description.joined(self.data.description, other.description)
  self.data.counts = counts.sum(self.data.counts, other.counts)
  self.data.whole = whole.sum(self.data.whole, other.whole, self.data.measures)
  local places = take_events(self, other)
  self.data.interrupted = interrupted.least(self.data.interrupted, other.interrupted)
  for i, g in ipairs(other.groups) do
    if i % LOOK_EVERY == 0 and interrupted.now() then
      self.data.interrupted = interrupted.least(self.data.interrupted, i / #other.groups)
      break
    end
    self:add_group(g, places[g.event or 0])
  end
  return true
end

local merge = {}

---Adds the states of a group to those of another one.
---@param mine table
---@param g table stays as it is
---@param columns table[] the measures of both
merge.add_states = add_states

---@param data table of a Table, which stays as it is
---@return table # to add others to; its `data` is that of a Table
function merge.start(data)
  local own = {
    description = data.description, keys = data.keys, measures = data.measures,
    events = data.events and {}, groups = {},
  }
  local accumulator = setmetatable({ data = own, tree = {} }, Accumulator)
  if description.has_stacks(data) then
    accumulator.stacks, accumulator.numbered = {}, core.stacks()
  end
  accumulator:add(data)
  own.counts, own.whole = data.counts, data.whole
  return accumulator
end

---@param a table
---@param b table
---@param are_parts boolean?
---@return table? data, string? message
function merge.both(a, b, are_parts)
  local all = merge.start(a)
  local ok, message = all:add(b, are_parts)
  return ok and all.data, message
end

return merge
