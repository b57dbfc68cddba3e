-- The lines of a Table: groups as values by a view's columns.
--
-- A line is { event = place in events, value of each column … }. In a turned table (pivot.lua)
-- it has besides `cells`, lines by values of the key, and `other`, a line.

local expression = require "perflua.table.expression"
local interrupted = require "perflua.table.interrupted"
local measures = require "perflua.measures"
local order = require "perflua.table.order"
local pivot = require "perflua.table.pivot"
local sort = require "perflua.table.sort"
local sums = require "perflua.measures.sums"
local whole = require "perflua.table.whole"

local lines = {}

local LOOK_EVERY <const> = 8192 -- groups between two looks at the interrupt
local SEARCH_TIME <const> = 0.05 -- seconds of searching for the first groups after an interrupt

-- Returns the event whose total the shares of a group are of, be it the section or a key.
local function whole_of(data, g)
  for i, key in ipairs(data.keys) do
    if key.kind == "event" then return g.keys[i] or 0 end
  end
  return g.event or 0
end

-- The sums of states by event, exact for integers: so they do not depend on the order of the
-- groups. nil: an interrupt ended that, where it may.
local function totals_by_event(data, lists, m, may_stop)
  local high, low, totals = {}, {}, {}
  for _, list in ipairs(lists) do
    for i, g in ipairs(list) do
      if i % LOOK_EVERY == 0 and may_stop and interrupted.now() then return nil end
      local of, x = whole_of(data, g), g[m]
      if math.type(x) == "integer" then
        high[of] = (high[of] or 0) + (x // 4294967296)
        low[of] = (low[of] or 0) + (x & 0xffffffff)
      else
        totals[of] = (totals[of] or 0.0) + x
      end
    end
  end
  for of, sum in pairs(high) do
    sum = sum + (low[of] >> 32)
    totals[of] = (totals[of] or 0.0) + (sum * 4294967296.0 + (low[of] & 0xffffffff))
  end
  return totals
end

-- [measure][event] → sum of the states of lists of groups, for shares; nil: interrupted.
local function totals_of(data, lists, may_stop)
  local totals, n = {}, 0
  for m, one in ipairs(data.measures) do
    if one.measure == "share" then
      n = n + 1
      totals[m] = data.whole and whole.totals(data, n)
        or totals_by_event(data, lists, m, may_stop)
      if not totals[m] then return nil end
    end
  end
  return totals
end

local by_time = { first = true, last = true } -- groups do not say which of them is the first

-- Returns a function that makes a group's line, whose shares are of the lists of groups; nil if
-- an interrupt ended that, where it may.
local function line_maker(data, view, lists, may_stop)
  local totals, taken, computed = totals_of(data, lists, may_stop), {}, {}
  if not totals then return nil end
  for place, column in ipairs(view.columns) do
    if column.node then
      computed[#computed + 1] = { place, column.node }
    elseif column.measure then
      local one = data.measures[column.measure]
      taken[#taken + 1] = { place, column.measure, measures[one.measure].finish, one.kind,
        column.option, totals[column.measure], by_time[one.measure] }
    end
  end
  local n_keys = view.n_keys
  return function(g)
    local line = { event = g.event or 0 }
    for i = 1, n_keys do line[i] = g.keys[i] end
    for _, one in ipairs(taken) do
      if not (one[7] and g.is_merged) then
        local total = one[6] and (one[6][whole_of(data, g)] or 0)
        line[one[1]] = one[3](g[one[2]], one[4], one[5], total)
      end
    end
    for _, one in ipairs(computed) do line[one[1]] = expression.evaluate(one[2], line) end
    return line
  end
end

-- Returns true if a line meets all conditions.
local function is_shown(line, conditions)
  for _, node in ipairs(conditions) do
    if not expression.evaluate(node, line) then return false end
  end
  return true
end

-- Groups as lines, those that having picks; nil: an interrupt ended that. Shares are of the
-- lists of groups.
local function lines_of(data, view, groups, lists)
  local are_many = #groups > interrupted.MOST
  local function is_ended(i)
    return are_many and i % LOOK_EVERY == 1 and interrupted.now()
  end
  local make_line, list, turned = line_maker(data, view, lists, are_many), {}, nil
  if not make_line then return nil end
  if view.pivot then
    groups, turned = pivot.rows(data, view, groups, make_line, is_ended)
    if not groups then return nil end
  end
  for i, g in ipairs(groups) do
    if is_ended(i) then return nil end
    local line = make_line(g)
    if turned then pivot.fill(line, g, view, make_line, turned) end
    if is_shown(line, view.conditions) then list[#list + 1] = line end
  end
  return list, turned
end

-- The groups that an interrupted table, which has no time for all, takes its first ones of, and
-- all lists of groups that shares are of.
local function groups_left(data, view)
  local column = view.columns[view.place or 0]
  local measure = column and column.measure
  local by = view.show.ascending and measure and -measure or measure
  if data.chosen and by == data.chosen_by then
    return data.chosen, { data.chosen, data.chosen.rest }
  end
  return data.groups, { data.groups, data.rest }
end

-- The first groups of an interrupted table, and how many groups it has seen for that.
local function first_groups(data, groups, view)
  local place, column = view.place, view.columns[view.place or 0]
  if not column or column.node then
    return table.move(groups, 1, math.min(interrupted.MOST, #groups), 1, {}), #groups
  end
  local m, one = column.measure, data.measures[column.measure or 0]
  local is_unsigned = column.kind == "unsigned" or column.kind == "address"
  return sort.first(groups, function(g)
    local value
    if one then
      value = measures[one.measure].finish(g[m], one.kind, column.option)
    else
      value = g.keys[place]
    end
    value = sort.number(value, is_unsigned)
    return view.show.ascending and -value or value
  end, SEARCH_TIME)
end

-- Adds up one column over the lines, anew for each event and each value of `per`.
local function add_up(list, view, column, place)
  local add, sum, before = sums.adder(column.kind), nil, nil
  for _, line in ipairs(list) do
    local is_next = before and before.event == line.event
      and (not view.per or before[view.per] == line[view.per])
    local value = line[column.running]
    if not is_next then sum = nil end
    if math.type(value) and value == value then sum = sum and add(sum, value) or value end
    line[place], before = sum, line
  end
end

-- Lines in order, the first of them; nil: an interrupt ended that.
local function arrange(list, view)
  local show = view.show
  local by = order.by(view.columns, view.place, show.ascending)
  list = order.first(list, by, show.top, view.per)
  if not list then return nil end
  for place, column in ipairs(view.columns) do
    if column.running then add_up(list, view, column, place) end
  end
  return list
end

---Makes the lines that are shown, in order.
---@param data table of a Table
---@param view table of its presentation
---@return table[] lines
---@return table? turned of a turned table: values and others, see pivot.lua
---@return integer? seen set if an interrupt left no time for all: how many groups the lines
--- were chosen from
function lines.of(data, view)
  local list, turned = lines_of(data, view, data.groups, { data.groups, data.rest })
  list = list and arrange(list, view)
  if list then return list, turned end
  collectgarbage "stop" -- it would look through all groups; the prompt starts it again
  local groups, lists = groups_left(data, view)
  local first, seen = first_groups(data, groups, view)
  list, turned = lines_of(data, view, first, lists)
  return arrange(list, view), turned, groups == data.groups and seen or #data.groups
end

return lines
