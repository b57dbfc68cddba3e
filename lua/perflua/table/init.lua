-- Table: the groups of a query, and how they are shown. All groups are kept, as states that can
-- still be merged; order and top are presentation.
--
-- self.data = { description, events, places, keys, measures, groups }: description is of
-- description.lua; events names the sections, in order (nil: not split), places is of
-- merge.lua; keys { name, kind, text }; measures { name, measure, kind (of the field), option,
-- field, weight }; a group is { event = place in events, keys = {…}, state, state … }. If an
-- interrupt ended what made it, data.interrupted says where (interrupted.lua); if not all
-- groups are there, data.total is how many there were, and data.rest has the sums that shares
-- are of besides. self.show = { column, ascending, top }. Of spans, self.counts says what could
-- not be paired (table/pair_counts.lua).

local errors = require "perflua.errors"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local measures = require "perflua.measures"
local merge = require "perflua.table.merge"
local order = require "perflua.table.order"
local read = require "perflua.table.read"
local output = require "perflua.table.output"
local saved = require "perflua.table.saved"
local sort = require "perflua.table.sort"
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

---@class perflua.Table
local Table = {}
local meta = { __name = "perflua.Table" }

-- Columns of a row in their order: keys, then measures.
local function columns_of(data)
  local columns = {}
  for i, key in ipairs(data.keys) do columns[i] = { name = key.name, kind = key.kind } end
  for _, one in ipairs(data.measures) do
    local shows = measures[one.measure].shows
    columns[#columns + 1] = { name = one.name, kind = shows and shows(one.kind) or "unsigned",
      measured = true }
  end
  return columns
end

---@param data table
---@param show table
---@return perflua.Table
local function new_table(data, show)
  return setmetatable({ data = data, show = show or {}, columns = columns_of(data),
    counts = data.counts }, meta)
end

-- What the shares of a group are shares of: its event's, be that the section or a key.
local function whole_of(data, g)
  for i, key in ipairs(data.keys) do
    if key.kind == "event" then return g.keys[i] or 0 end
  end
  return g.event or 0
end

-- The sums of states by event, exact for integers: so they do not depend on the order of the
-- groups.
local function totals_by_event(data, m)
  local high, low, totals = {}, {}, {}
  for _, list in ipairs { data.groups, data.rest } do
    for _, g in ipairs(list) do
      local whole, x = whole_of(data, g), g[m]
      if math.type(x) == "integer" then
        high[whole] = (high[whole] or 0) + (x // 4294967296)
        low[whole] = (low[whole] or 0) + (x & 0xffffffff)
      else
        totals[whole] = (totals[whole] or 0.0) + x
      end
    end
  end
  for whole, sum in pairs(high) do
    sum = sum + (low[whole] >> 32)
    totals[whole] = (totals[whole] or 0.0) + (sum * 4294967296.0 + (low[whole] & 0xffffffff))
  end
  return totals
end

local function totals_of(data) -- [measure][event] → sum of all groups' states, for shares
  local totals = {}
  for m, one in ipairs(data.measures) do
    if one.measure == "share" then totals[m] = totals_by_event(data, m) end
  end
  return totals
end

-- Groups as { event = …, value of each column … }; nil: an interrupt ended that.
local function lines_of(data, groups)
  local totals, lines, n_keys, are_many = totals_of(data), {}, #data.keys,
    #groups > interrupted.MOST
  for l, g in ipairs(groups) do
    if are_many and l % 8192 == 1 and interrupted.now() then return nil end
    local line = { event = g.event or 0 }
    for i = 1, n_keys do line[i] = g.keys[i] end
    for m, one in ipairs(data.measures) do
      local total = totals[m] and totals[m][whole_of(data, g)]
      line[n_keys + m] = measures[one.measure].finish(g[m], one.kind, one.option, total)
    end
    lines[l] = line
  end
  return lines
end

-- The column of that name; without one the first measure that has an order.
local function place_of(columns, name)
  for i, column in ipairs(columns) do
    local ordered = column.measured and column.kind ~= "histogram"
    if name and column.name == name or not name and ordered then return i end
  end
end

-- The first groups of an interrupted table, which has no time for all.
local function first_groups(self, place)
  local data, show, m = self.data, self.show, place - #self.data.keys
  local one = data.measures[m]
  local is_unsigned = self.columns[place].kind == "unsigned"
    or self.columns[place].kind == "address"
  return sort.first(data.groups, function(g)
    local value
    if one then
      value = measures[one.measure].finish(g[m], one.kind, one.option)
    else
      value = g.keys[place]
    end
    value = sort.number(value, is_unsigned)
    return show.ascending and -value or value
  end)
end

-- The lines that are shown, in order: computed once.
local function select_lines(self)
  if rawget(self, "lines") then return self.lines end
  local columns, show, data = self.columns, self.show, self.data
  local place = place_of(columns, show.column)
  local less = order.by(columns, place, show.ascending)
  local lines = lines_of(data, data.groups)
  lines = lines and order.first(lines, less, show.top)
  if not lines then
    collectgarbage "stop" -- it would look through all groups; the prompt starts it again
    local groups = place and first_groups(self, place)
      or table.move(data.groups, 1, interrupted.MOST, 1, {})
    lines = order.first(lines_of(data, groups), less, show.top)
    self.left_out = not show.top or nil
  end
  self.lines = lines
  return lines
end

-- Says what an interrupt did to a table: as text, and in JSON; nil: nothing.
local function describe_interruption(self)
  local data, n = self.data, #select_lines(self)
  if not (data.interrupted or rawget(self, "left_out")) then return nil end
  local text, all = interrupted.text(data.interrupted or 1), data.total or #data.groups
  if not self.show.top and n < all then text = ("%s: %d of %d rows"):format(text, n, all) end
  return text, json.encode { interrupted = interrupted.value(data.interrupted or 1) }
end

local function make_row(self, line)
  local result = {}
  for i, column in ipairs(self.columns) do result[column.name] = line[i] end
  if self.data.events then result.event = self.data.events[line.event] end
  return result
end

-- Whether the result holds more than one event, so that the event must be told.
local function several_events(self)
  if not self.data.events then return false end
  local lines = select_lines(self)
  return #lines > 0 and lines[1].event ~= lines[#lines].event
end

local function with_order(self, show)
  local column = show.column
  if column ~= nil and not place_of(self.columns, column) then
    local names = {}
    for i, one in ipairs(self.columns) do names[i] = one.name end
    usage_error(suggest.message(("no column '%s'"):format(tostring(column)), tostring(column),
      names))
  end
  local place = place_of(self.columns, column)
  if place and self.columns[place].kind == "histogram" then
    usage_error("histograms are in no order")
  end
  return new_table(self.data, show)
end

---@param n integer rows to show, for each event
---@param column string? default: the first measure
---@return perflua.Table
function Table:top(n, column)
  if math.type(n) ~= "integer" or n < 0 then
    usage_error("top: how many rows? got %s", tostring(n))
  end
  return with_order(self, { top = n, column = column })
end

---@param column string? default: the first measure
---@param direction "asc"|"desc"|nil
---@return perflua.Table
function Table:sort(column, direction)
  if direction ~= nil and direction ~= "asc" and direction ~= "desc" then
    usage_error("sort: the direction is \"asc\" or \"desc\"")
  end
  return with_order(self, { column = column, ascending = direction == "asc" })
end

---@return fun(): table? # row by row
function Table:rows()
  local lines, i = select_lines(self), 0
  return function()
    i = i + 1
    return lines[i] and make_row(self, lines[i])
  end
end

-- Columns and rows as they are written: with the event, where it must be told.
local function collect_rows(self)
  local lines = select_lines(self)
  if not several_events(self) then return self.columns, lines end
  local n, rows = #self.columns, {}
  for l, line in ipairs(lines) do
    rows[l] = table.move(line, 1, n, 2, { self.data.events[line.event] })
  end
  return table.move(self.columns, 1, n, 2, { { name = "event", kind = "string" } }), rows
end

---@param out file*|string|nil an open file or a path; default: standard output
---@param options { safe: boolean? }? safe: cells that a spreadsheet would take for formulas
--- begin with a '
---@return true? ok, string? message, string? code
function Table:csv(out, options)
  local columns, rows = collect_rows(self)
  local text = describe_interruption(self)
  if text then interrupted.log(text) end
  return output.csv(out, columns, rows, options and options.safe)
end

---@param out file*|string|nil an open file or a path; default: standard output
---@return true? ok, string? message, string? code
function Table:json(out)
  local columns, rows = collect_rows(self)
  return output.json(out, columns, rows, select(2, describe_interruption(self)))
end

---@param other perflua.Table of the same keys and measures; filters, times and events may
--- differ, as of parts
---@return perflua.Table # a new one, shown as this one is
function Table:merge(other)
  if getmetatable(other) ~= meta then
    usage_error("merge: a Table expected, got a %s", type(other))
  end
  local data, message = merge.both(self.data, other.data, true)
  return new_table(data or usage_error("merge: these are of different queries: %s", message),
    self.show)
end

---@param out file*|string an open file, a path, or "-" for standard output
---@return true? ok, string? message, string? code # nil and why if it cannot be written
function Table:save(out)
  if type(out) ~= "string" and not io.type(out) then
    usage_error("save: a path or an open file expected, got a %s", type(out))
  end
  if self.data.interrupted then
    return nil, interrupted.text(self.data.interrupted)
      .. ": not saved, for it would be taken for all of it"
  end
  local ok, message = true, description.unsaved(self.data) -- before a file is made
  if message then usage_error("save: %s", message) end
  local done, why, code = output.to(out == "-" and io.stdout or out, function(write)
    ok, message = saved.encode(self.data, self.show, write)
  end)
  if not ok then usage_error("save: %s", message) end
  return done, why, code
end

-- What save wrote; several tables that follow one another are merged.
---@param from file*|string an open file, a path, or "-" for standard input
---@return perflua.Table? table, string? message, string? code
local function load_table(from)
  if type(from) ~= "string" and not io.type(from) then
    usage_error("load: a path or an open file expected, got a %s", type(from))
  end
  local data, show, code = read.all(from)
  if not data then return nil, show, code end
  return new_table(data, show)
end

local method = errors.named(Table, "Table")

function meta:__index(key)
  if math.type(key) ~= "integer" then return method(self, key) end
  local line = select_lines(self)[key]
  return line and make_row(self, line)
end

-- Many lines take long to be put in order, which decides only which of them are shown.
function meta:__len()
  return (self.show.top or interrupted.now()) and #select_lines(self) or #self.data.groups
end

-- The lines of a table as text; the first of them, if an interrupt ends that.
local function lines_of_text(self)
  local lines = select_lines(self)
  local text = fmt.lines(self.columns, lines, #lines > interrupted.MOST and interrupted.now
    or nil)
  if text then return text end
  collectgarbage "stop" -- it would look through all lines; the prompt starts it again
  self.lines = table.move(lines, 1, interrupted.MOST, 1, {})
  self.left_out = not self.show.top or nil
  return fmt.lines(self.columns, self.lines)
end

local function text_of(self)
  local lines = select_lines(self)
  if not several_events(self) then return table.concat(lines_of_text(self), "\n") end
  local sections, from = {}, 1
  while from <= #lines do
    local event, section = lines[from].event, {}
    while lines[from] and lines[from].event == event do
      section[#section + 1] = lines[from]
      from = from + 1
    end
    sections[#sections + 1] = "# " .. fmt.escape(self.data.events[event] or "unknown event")
      .. "\n"
      .. table.concat(fmt.lines(self.columns, section), "\n")
  end
  return table.concat(sections, "\n\n")
end

function meta:__tostring()
  local parts = { text_of(self) }
  parts[2] = rawget(self, "counts") and counts.text(self.counts)
  parts[#parts + 1] = (describe_interruption(self))
  return table.concat(parts, "\n")
end

errors.checked(Table, meta, "Table")

---@param value any
---@return boolean
local function is_table(value) return getmetatable(value) == meta end

return { new = new_table, load = load_table, is = is_table, methods = Table }
