-- The groups of Tables put together. In whatever order and grouping tables are merged the
-- groups are the same; first and last values alone are those of the tables in the order given.
--
-- An accumulator owns a result, to which those of Tables are added.

local core = require "perflua.core"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local interrupted = require "perflua.table.interrupted"
local sums = require "perflua.measures.sums"
local usage_error = require("perflua.errors").usage_error
local whole = require "perflua.table.whole"

local Accumulator = {}
Accumulator.__index = Accumulator

local merge = {}

---@param data table of a Table
---@return table # the shape of its result, as the core takes it
function merge.shape(data)
  local shape = { keys = {}, measures = {} }
  for i, key in ipairs(data.keys) do
    shape.keys[i] = { kind = key.kind, is_event = key.kind == "event" }
  end
  for m, measure in ipairs(data.measures) do
    shape.measures[m] = { measure = measure.measure, kind = measure.kind }
  end
  return shape
end

local function get_child(node, key)
  local child = node[key]
  if not child then
    child = {}
    node[key] = child
  end
  return child
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
    local found = same[event.nth]
    if not found then
      found = { name = event.name, place = event.place, distinction = event.distinction }
      same[event.nth], all[#all + 1] = found, found
    end
    if found.distinction ~= event.distinction then found.distinction = "" end
    found.place = math.min(found.place, event.place)
    return found
  end
  local function added(list)
    local entries = {}
    for i, event in ipairs(list) do entries[i] = add(event) end
    return entries
  end
  local of_a, of_b, at = added(a), added(b), {}
  table.sort(all, by_place)
  for i, event in ipairs(all) do at[event] = i end
  local function map_indexes(entries)
    local list = {}
    for i, event in ipairs(entries) do list[i] = at[event] end
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

-- Adds a result to ours; places are those of its sections.
local function add_result(self, result, places)
  local ok, wrong = core.result_add(self.data.result, result, places)
  if not ok then usage_error("%s", sums.wrong[wrong]) end
end

-- Adds the events of the other table to ours. Returns the places of the other's.
local function take_events(self, other)
  local data = self.data
  if not data.events then return nil end
  local all, ours, theirs = joined_events(events_of(data), events_of(other))
  if has_moves(ours) then
    local before = data.result
    data.result = core.result(merge.shape(data))
    add_result(self, before, ours)
  end
  data.events, data.places, data.distinctions = {}, {}, {}
  for i, event in ipairs(all) do
    data.events[i], data.places[i] = event.name, event.place
    data.distinctions[i] = event.distinction
  end
  return theirs
end

-- Values of a comparison were made of all groups.
local function check_measures(data)
  for _, measure in ipairs(data.measures) do
    if measure.measure == "compared" or measure.measure == "delta" then
      usage_error("comparisons cannot be merged: merge the tables of each side before diff")
    end
  end
end

---Adds the groups of another table, which stays as it is. A sum that grows too large raises.
---@param other table data of a Table
---@param are_parts boolean? they need not have looked at the same kinds of records
---@return boolean? ok, string? message # nil and the first difference if they do not belong
--- together
function Accumulator:add(other, are_parts)
  local data = self.data
  local difference = description.difference(data, other, are_parts)
  if difference then return nil, difference end
  if #data.result > 0 then check_measures(data) end
  data.description = description.joined(data.description, other.description)
  data.counts = counts.sum(data.counts, other.counts)
  data.whole = whole.sum(data.whole, other.whole, data.measures)
  data.interrupted = interrupted.least(data.interrupted, other.interrupted)
  data.is_unnamed = data.is_unnamed or other.is_unnamed
  add_result(self, other.result, take_events(self, other))
  return true
end

---@param data table of a Table, which stays as it is
---@return table # to add others to; its `data` is that of a Table
function merge.start(data)
  local own = {
    description = data.description, keys = data.keys, measures = data.measures,
    events = data.events and {}, result = core.result(merge.shape(data)),
  }
  local accumulator = setmetatable({ data = own }, Accumulator)
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
