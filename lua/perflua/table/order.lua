-- The order of the lines of a Table: events in sections, then a column, then the keys.

local arith = require "perflua.filter.arith"
local core = require "perflua.core"
local interrupted = require "perflua.table.interrupted"
local sort = require "perflua.table.sort"

local order = {}

local FEW = 200 -- lines of an event that are found without sorting all
-- lines between two looks at the interrupt: what is below takes no time
local LOOK_EVERY = 16384

local number_type, ult, unsigned = math.type, math.ult, arith.is_unsigned

-- -1, 0, 1; absent (and not a number) after everything else, of which the second result tells.
local function compare_values(a, b, kind)
  if a == b then return 0 end
  if number_type(a) == "integer" and number_type(b) == "integer" then
    if unsigned[kind] then return ult(a, b) and -1 or 1 end
    return a < b and -1 or 1
  end
  if a ~= a then a = nil end
  if b ~= b then b = nil end
  if a == nil or b == nil then return a == b and 0 or a == nil and 1 or -1, true end
  local x, y = type(a), type(b)
  if x ~= y then return x < y and -1 or 1 end
  if kind == "stack" then return a < b and -1 or b < a and 1 or 0 end
  if x ~= "number" and x ~= "string" then
    a, b = tostring(a), tostring(b)
  end
  return a == b and 0 or a < b and -1 or 1
end

local function compare_magnitudes(a, b, kind)
  return compare_values(a and math.abs(a), b and math.abs(b), kind)
end

---@param a any nil, like a number that is none, comes last
---@param b any
---@param kind string of both
---@return integer # below 0: a comes first; 0: they are equal
order.compare = compare_values

---@class perflua.Order
---@field less fun(a: table, b: table): boolean whether line a comes before b
---@field columns table[] the same as core.sort takes it

---@param columns table[]
---@param by integer? the column; equal rows are in the order of their keys
---@param ascending boolean?
---@return perflua.Order
function order.by(columns, by, ascending)
  local keys, kinds, list = {}, {}, { { place = "event" } }
  local compare = by and columns[by].by_magnitude and compare_magnitudes or compare_values
  list[2] = by and { place = by, is_unsigned = unsigned[columns[by].kind],
    descending = not ascending, by_magnitude = columns[by].by_magnitude }
  for i, column in ipairs(columns) do
    if not column.measured then
      keys[#keys + 1] = i
      list[#list + 1] = { place = i, is_unsigned = unsigned[column.kind] }
    end
    kinds[i] = column.kind
  end
  local function less(a, b)
    if a.event ~= b.event then return a.event < b.event end
    if by and a[by] ~= b[by] then
      local c, absent = compare(a[by], b[by], kinds[by])
      if c ~= 0 then return ((ascending or absent) and c or -c) < 0 end
    end
    for k = 1, #keys do
      local i = keys[k]
      local c = compare_values(a[i], b[i], kinds[i])
      if c ~= 0 then return c < 0 end
    end
    return false
  end
  return { less = less, columns = list }
end

-- Sorts lines: in the core, unless they are few, which an interrupt does not end, or have
-- values that only Lua can compare. nil: interrupted.
local function sort_lines(lines, by)
  if #lines <= interrupted.MOST then return sort.all(lines, by.less) end
  local sorted, is_left = core.sort(lines, by.columns)
  if is_left then return sort.all(lines, by.less) end
  return sorted
end

-- Puts a line at its place among the first n.
local function insert_line(list, line, less, n)
  local count = #list
  if count == n and not less(line, list[n]) then return end
  local low, high = 1, count + 1
  while low < high do
    local middle = (low + high) // 2
    if less(line, list[middle]) then high = middle else low = middle + 1 end
  end
  table.insert(list, low, line)
  list[n + 1] = nil
end

local function select_few(lines, less, n)
  local of_event, first = {}, {}
  for l, line in ipairs(lines) do
    if l % LOOK_EVERY == 0 and interrupted.now() then return nil end
    local list = of_event[line.event]
    if not list then
      list = {}
      of_event[line.event] = list
    end
    insert_line(list, line, less, n)
  end
  for _, list in pairs(of_event) do table.move(list, 1, #list, #first + 1, first) end
  table.sort(first, less)
  return first
end

-- The first n lines of each event, or of each value in a column of an event: these in the order
-- of their first lines.
local function take_first(sorted, n, per)
  local lists, of_event = {}, {}
  for _, line in ipairs(sorted) do
    local by_value = of_event[line.event] or {}
    of_event[line.event] = by_value
    local value = per and line[per]
    if value == nil or value ~= value then value =
      of_event end -- absent: any key that is no value
    local list = by_value[value]
    if not list then
      list = {}
      by_value[value], lists[#lists + 1] = list, list
    end
    if #list < n then list[#list + 1] = line end
  end
  local first = {}
  for _, list in ipairs(lists) do table.move(list, 1, #list, #first + 1, first) end
  return first
end

---@param lines table[]
---@param by perflua.Order
---@param n integer? how many of each event; nil: all
---@param per integer? how many of each value in this column, whose lines stand together
---@return table[]? # in order; lines itself may be sorted for it; nil: an interrupt ended that
function order.first(lines, by, n, per)
  if n == 0 then return {} end
  if n and n <= FEW and not per then return select_few(lines, by.less, n) end
  local sorted = sort_lines(lines, by)
  if not (sorted and n) then return sorted end
  return take_first(sorted, n, per)
end

return order
