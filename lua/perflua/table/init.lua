-- Table: the groups of a query, and how they are shown. All groups are kept, as states that can
-- still be merged; all else is presentation.
--
-- self.data = { description, events, places, keys, measures, groups }: description is of
-- description.lua; events names the sections, in order (nil: not split), places is of
-- merge.lua; keys { name, kind, text }; measures { name, measure, kind (of the field), option,
-- field, weight }, of several quantiles option is their list and names that of their columns; a
-- group is { event = place in events, keys = {…}, state, state … }. If an interrupt ended what
-- made it, data.interrupted says where (interrupted.lua); if not all groups are there,
-- data.total is how many there were, and data.rest has the sums that shares are of besides. Of
-- many groups data.chosen has some, with such a total and rest, for an interrupt that comes
-- later: the first by measure data.chosen_by (group/aggregate.lua).
-- A comparison has data.comparison = { above, below }, lines around the rows.
-- self.show and self.view are of presentation.lua, self.lines of lines.lua. Of spans,
-- self.counts says what could not be paired (table/pair_counts.lua).

local errors = require "perflua.errors"
local cells = require "perflua.table.cells"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local lines = require "perflua.table.lines"
local merge = require "perflua.table.merge"
local output = require "perflua.table.output"
local presentation = require "perflua.table.presentation"
local read = require "perflua.table.read"
local saved = require "perflua.table.saved"
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

---@class perflua.Table
local Table = {}
local meta = { __name = "perflua.Table" }

---@param data table
---@param show table? see presentation.lua; nil: all rows in the order of the first measure
---@return perflua.Table # raises at the script's line if show is none for these groups
local function new_table(data, show)
  local ok, view = pcall(presentation.view, data, show or {})
  if not ok then usage_error("%s", view) end
  return setmetatable({ data = data, show = show or {}, view = view, counts = data.counts },
    meta)
end

-- Returns the lines that are shown, in order; computes them once.
local function select_lines(self)
  if not rawget(self, "lines") then
    local seen
    self.lines, self.turned, seen = lines.of(self.data, self.view)
    local is_part = seen and seen < #self.data.groups
    local top = self.show.top
    self.seen = is_part and seen or nil
    self.left_out = seen and (is_part or not (top and top <= interrupted.MOST)) or nil
  end
  return self.lines
end

-- Says what an interrupt did to a table: as text, and in JSON; nil: nothing.
local function describe_interruption(self)
  local data, n = self.data, #select_lines(self)
  if not (data.interrupted or rawget(self, "left_out")) then return nil end
  local text, all = interrupted.text(data.interrupted or 1), data.total or #data.groups
  local show = self.show
  local top = show.top and show.top <= interrupted.MOST
  if not (top or show.pivot or show.having) and n < all then
    text = ("%s: %d of %d rows"):format(text, n, all)
  end
  if rawget(self, "seen") then
    text = ("%s, chosen among the first %d of %d groups"):format(text, self.seen, all)
  end
  return text, json.encode { interrupted = interrupted.value(data.interrupted or 1) }
end

local function make_row(self, line)
  local result, events = {}, self.data.events
  if self.view.pivot then
    cells.fill_row(result, line, self.view)
  else
    for i, column in ipairs(self.view.columns) do result[column.name] = line[i] end
  end
  if events then result.event = events[line.event] end
  return result
end

-- Returns whether the result has more than one event, so that the event must be shown.
local function several_events(self)
  if not self.data.events then return false end
  local list = select_lines(self)
  return #list > 0 and list[1].event ~= list[#list].event
end

-- A table of the same groups with one more step of presentation.
local function present(self, step, ...)
  local ok, show = pcall(presentation.steps[step], self.show, ...)
  if not ok then usage_error("%s", show) end
  return new_table(self.data, show)
end

---@param n integer rows to show, for each event
---@param column string? default: the first measure
---@param options { per: string? }? per: a key; n rows for each of its values
---@return perflua.Table
function Table:top(n, column, options)
  if options ~= nil and type(options) ~= "table" then
    usage_error("top: a table { per = key } expected, got %s", suggest.kind(options))
  end
  if options then errors.check_options(options, "TopOptions", "top: unknown option '%s'") end
  return present(self, "top", n, column, options)
end

---@param column string? default: the first measure
---@param direction "asc"|"desc"|nil
---@return perflua.Table
function Table:sort(column, direction) return present(self, "sort", column, direction) end

---@param key string a key, whose values become columns
---@param n integer? how many of them, those of the greatest measures; default: all
---@return perflua.Table
function Table:pivot(key, n) return present(self, "pivot", key, n) end

---@param condition string an expression of columns
---@return perflua.Table # of the rows for which it is true
function Table:having(condition) return present(self, "having", condition) end

---@param name string
---@param expression string of columns
---@return perflua.Table # with one more column
function Table:column(name, expression) return present(self, "column", name, expression) end

---@param column string a measure
---@return perflua.Table # with its sum from the first row to each
function Table:running(column) return present(self, "running", column) end

-- The names of the columns that were made last: several of several quantiles.
local function last_columns(view)
  local columns, names = view.columns, {}
  local last = columns[#columns]
  for _, column in ipairs(columns) do
    if column == last or last.measure and column.measure == last.measure then
      names[#names + 1] = column.name
    end
  end
  return names
end

---@param unit "duration"|"bytes"|"si"
---@param column string? default: the last one; the last ones, if they are quantiles of one
---field
---@return perflua.Table
function Table:unit(unit, column)
  return present(self, "unit", unit, column ~= nil and { column } or last_columns(self.view))
end

---@return fun(): table? # row by row
function Table:rows()
  local list, i = select_lines(self), 0
  return function()
    i = i + 1
    return list[i] and make_row(self, list[i])
  end
end

-- Columns and rows as they are written, those of one event or of all: with the event, where it
-- must be told.
local function collect_rows(self)
  local list, columns = select_lines(self), self.view.columns
  if self.view.pivot then columns, list = cells.rows(list, self.view, self.turned) end
  if not several_events(self) then return columns, list end
  local n, rows = #columns, {}
  for l, line in ipairs(select_lines(self)) do
    rows[l] = table.move(list[l], 1, n, 2, { self.data.events[line.event] })
  end
  return table.move(columns, 1, n, 2, { { name = "event", kind = "string" } }), rows
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
  return new_table(data or usage_error("merge: the tables are results of different queries: %s",
    message),
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
      .. ": not saved, as it would be taken for the whole result"
  end
  local ok, message = true, description.unsaved(self.data) -- before a file is made
  if message then usage_error("save: %s", message) end
  local done, why, code = output.to(out == "-" and io.stdout or out, function(write)
    ok, message = saved.encode(self.data, self.show, write)
  end)
  if not ok then usage_error("save: %s", message) end
  return done, why, code
end

-- Loads what save() wrote; several tables that follow one another are merged.
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

-- Returns the number of lines without sorting them: the order only decides which of them are
-- shown.
function meta:__len()
  local show, is_all = self.show, not interrupted.now()
  if show.top or show.pivot or show.having then is_all = false end
  return is_all and #self.data.groups or #select_lines(self)
end

-- Columns and rows of some lines as text.
local function format_lines(self, list, stops)
  local columns = self.view.columns
  if self.view.pivot then
    columns, list = cells.rows(list, self.view, self.turned, true)
  end
  return fmt.lines(columns, list, stops)
end

-- Returns the lines of a table as text; only the first of them if an interrupt ends it.
local function lines_of_text(self)
  local list = select_lines(self)
  local text = format_lines(self, list, #list > interrupted.MOST and interrupted.now or nil)
  if text then return text end
  collectgarbage "stop" -- it would look through all lines; the prompt starts it again
  self.lines = table.move(list, 1, interrupted.MOST, 1, {})
  self.left_out = true
  return format_lines(self, self.lines)
end

local function text_of(self)
  local list = select_lines(self)
  if not several_events(self) then return table.concat(lines_of_text(self), "\n") end
  local sections, from = {}, 1
  while from <= #list do
    local event, section = list[from].event, {}
    while list[from] and list[from].event == event do
      section[#section + 1] = list[from]
      from = from + 1
    end
    sections[#sections + 1] = "# " .. fmt.escape(self.data.events[event] or "unknown event")
      .. "\n" .. table.concat(format_lines(self, section), "\n")
  end
  return table.concat(sections, "\n\n")
end

-- Appends lines of text as comments.
local function add_comments(parts, list)
  for _, line in ipairs(list) do parts[#parts + 1] = "# " .. line end
end

function meta:__tostring()
  local parts, said = {}, self.data.comparison or { above = {}, below = {} }
  add_comments(parts, said.above)
  parts[#parts + 1] = text_of(self)
  add_comments(parts, said.below)
  parts[#parts + 1] = rawget(self, "counts") and counts.text(self.counts)
  parts[#parts + 1] = (describe_interruption(self))
  return table.concat(parts, "\n")
end

errors.checked(Table, meta, "Table")

---@param value any
---@return boolean
local function is_table(value) return getmetatable(value) == meta end

return {
  new = new_table, load = load_table, is = is_table, methods = Table,
  is_final = presentation.is_final,
}
