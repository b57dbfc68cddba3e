-- A Table whose rows have a column for each value of a key. A row is what groups have in common
-- that differ in this key alone: its own values are those of all of them together. With a limit
-- of n the columns are the n values with the greatest measures of each event, and another one
-- for the rest.
--
-- turned = { is_column, by_event, cells }: the set of values that are columns, as they are in
-- the `cells` of lines; by_event[event] = { values, others }: those that the event has, in
-- order, and whether it has others; cells[row] = { by_value, other }, groups. A group that is
-- made of several has is_merged.

local merge = require "perflua.table.merge"
local order = require "perflua.table.order"
local usage_error = require("perflua.errors").usage_error

local pivot = {}

local MOST <const> = 1000 -- columns without a limit

-- Stands for values that are no keys of Lua's tables.
local ABSENT <const> = {}

local function key_of(value)
  if value == nil or value ~= value then return ABSENT end
  return value
end

---@param key any a value of the key as a line's `cells` have it
---@return any # nil if it is absent
function pivot.value_of(key)
  if key == ABSENT then return nil end
  return key
end

-- Groups merged by some of their keys, which keys_of(g) gives; met(row, g) is told of each.
local function merge_groups(data, groups, is_ended, keys_of, met)
  local all = merge.start { keys = data.keys, measures = data.measures, groups = {} }
  local known = {}
  for i, g in ipairs(groups) do
    if is_ended(i) then return nil end
    local part = table.move(g, 1, #data.measures, 1, { keys = keys_of(g.keys) })
    local row = all:add_group(part, g.event or 0)
    row.is_merged, known[row] = known[row], true
    if met then met(row, g) end
  end
  return all.data.groups
end

---@param values any[] as lines' `cells` have them
---@param kind string of the key
---@return any[] # in order, an absent one last
function pivot.sort_values(values, kind)
  table.sort(values, function(a, b)
    return order.compare(pivot.value_of(a), pivot.value_of(b), kind) < 0
  end)
  return values
end

-- The lines of the values that become columns, and of all values.
local function choose_lines(data, view, groups, make_line, is_ended)
  local place, n, list = view.pivot, view.show.pivot.n, {}
  local all = merge_groups(data, groups, is_ended, function(keys)
    return { [place] = keys[place] }
  end)
  if not all then return nil end
  for i, g in ipairs(all) do list[i] = make_line(g) end
  local column = view.columns[view.place or 0]
  local by = column and column.measured and view.place
  return order.first(table.move(list, 1, #list, 1, {}), order.by(view.columns, by), n), list
end

-- The values of the key that become columns, and by event those that it has.
local function choose_values(data, view, groups, make_line, is_ended)
  local place, turned = view.pivot, { is_column = {}, by_event = {} }
  local chosen, all = choose_lines(data, view, groups, make_line, is_ended)
  if not chosen then return nil end
  for _, line in ipairs(chosen) do turned.is_column[key_of(line[place])] = true end
  for _, line in ipairs(all) do
    local value, one = key_of(line[place]), turned.by_event[line.event]
    if not one then
      one = { values = {}, others = false }
      turned.by_event[line.event] = one
    end
    if turned.is_column[value] then
      one.values[#one.values + 1] = value
    else
      one.others = true
    end
  end
  local key, n = view.columns[place], view.show.pivot.n
  for _, one in pairs(turned.by_event) do
    if not n and #one.values > MOST then
      usage_error("pivot: '%s' has %d values; pivot(\"%s\", n) makes columns of the n greatest",
        key.name, #one.values, key.name)
    end
    pivot.sort_values(one.values, key.kind)
  end
  return turned
end

---Puts groups together to rows, which have the groups of their cells.
---@param data table of a Table
---@param view table with a pivot
---@param groups table[] of the Table
---@param make_line fun(g: table): table
---@param is_ended fun(i: integer): boolean asked at the ith group; true ends the work
---@return table[]? rows # groups; nil: it was ended
---@return table? turned
function pivot.rows(data, view, groups, make_line, is_ended)
  local turned = choose_values(data, view, groups, make_line, is_ended)
  if not turned then return nil end
  local place, cells = view.pivot, {}
  local function other_keys(keys)
    local others = table.move(keys, 1, view.n_keys, 1, {})
    others[place] = nil
    return others
  end
  local function met(row, g)
    local of_row, value = cells[row] or { by_value = {} }, key_of(g.keys[place])
    cells[row] = of_row
    if turned.is_column[value] then
      of_row.by_value[value] = g
    elseif of_row.other then
      merge.add_states(of_row.other, g, data.measures)
      of_row.other.is_merged = true
    else
      of_row.other = table.move(g, 1, #data.measures, 1,
        { event = g.event, keys = other_keys(g.keys) })
    end
  end
  local rows = merge_groups(data, groups, is_ended, other_keys, met)
  turned.cells = cells
  return rows, rows and turned
end

-- Events are never added together: a row's own values are those of the first event.
local function keep_first_event(line, view, turned)
  local first = line.cells[turned.by_event[line.event].values[1]]
  for place, column in ipairs(view.columns) do
    if column.measured then line[place] = first and first[place] end
  end
end

---Gives a row's line those of its cells.
---@param line table
---@param row table of rows()
---@param view table
---@param make_line fun(g: table): table
---@param turned table of rows()
function pivot.fill(line, row, view, make_line, turned)
  local of_row = turned.cells[row]
  line.cells = {}
  for value, g in pairs(of_row.by_value) do line.cells[value] = make_line(g) end
  line.other = of_row.other and make_line(of_row.other)
  if view.columns[view.pivot].kind == "event" then keep_first_event(line, view, turned) end
end

return pivot
