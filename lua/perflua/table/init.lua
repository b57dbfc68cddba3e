-- Table: the result of a query, and how it is shown. All groups are kept, as states that can
-- still be merged; all else is presentation.
--
-- self.data = { description, events, distinctions, places, keys, measures, result }:
-- description is of description.lua; events names the sections, in order (nil: not split);
-- distinctions says what tells those of one name apart, "" of others (nil: all names differ);
-- places is of merge.lua; keys { name, kind, text }; measures { name, measure, kind (of the
-- field), option, field, weight }, of several quantiles option is their list and names that of
-- their columns; result is the core's (src/result/result.h). If an interrupt ended what made
-- it, data.interrupted says where, data.is_unnamed if names were not read (interrupted.lua). A
-- comparison has data.comparison = { above, below }, lines around the rows. self.show and
-- self.view are of presentation.lua. Of spans, self.counts says what could not be paired
-- (table/pair_counts.lua).

local errors = require "perflua.errors"
local core = require "perflua.core"
local counts = require "perflua.table.pair_counts"
local description = require "perflua.table.description"
local interrupted = require "perflua.table.interrupted"
local merge = require "perflua.table.merge"
local output = require "perflua.table.output"
local presentation = require "perflua.table.presentation"
local row_output = require "perflua.table.row_output"
local saved = require "perflua.table.saved"
local shown = require "perflua.table.rows"
local steps = require "perflua.table.steps"
local sums = require "perflua.measures.sums"
local suggest = require "perflua.errors.suggest"
local tree = require "perflua.table.tree"

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

-- A table of the same groups with one more step of presentation.
local function present(self, step, ...)
  local ok, show = pcall(steps.by_name[step], self.show, ...)
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
  local i = 0
  return function()
    i = i + 1
    return shown.row(self, i)
  end
end

---@param out file*|string|nil an open file or a path; default: standard output
---@param options { safe: boolean?, crlf: boolean? }? safe: cells that a spreadsheet would take
--- for formulas begin with a '; crlf: lines end with CR LF
---@return true? ok, string? message, string? code
function Table:csv(out, options)
  if options ~= nil then
    errors.check_options(options, "CsvOptions", "csv: unknown option '%s'")
  end
  shown.view(self) -- raises before a file is made
  local text = shown.interruption(self)
  if text then interrupted.log(text) end
  return output.with_file(out, function(file)
    return shown.write(self, "csv", file, row_output.csv_form(options))
  end, not text)
end

---@param out file*|string|nil an open file or a path; default: standard output
---@return true? ok, string? message, string? code
function Table:json(out)
  local text, last = shown.interruption(self)
  return row_output.json_rows(out, #shown.view(self), last, function(file)
    return shown.write(self, "json", file, { stack = row_output.stack_json })
  end, not text)
end

---@param options { by: string?, order: string?, event: string? }?
---@return perflua.Node # the root of the tree of all groups' stacks
function Table:tree(options) return tree.of(self.data, options) end

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
    return output.fail(interrupted.text(self.data.interrupted, self.data.is_unnamed or false)
      .. ": not saved, as it would be taken for the whole result")
  end
  local ok, message = true, description.unsaved(self.data) -- before a file is made
  if message then usage_error("save: %s", message) end
  local done, why, code = output.to(out == "-" and io.stdout or out, function(write)
    ok, message = saved.encode(self.data, self.show, write)
  end, true)
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
  local data, show, code = saved.all(from)
  if not data then return nil, show, code end
  return new_table(data, show)
end

local method = errors.named(Table, "Table")

function meta:__index(key)
  if math.type(key) ~= "integer" then return method(self, key) end
  return shown.row(self, key)
end

-- Returns the number of rows without sorting them, where all are shown.
function meta:__len()
  local show = self.show
  if show.top or show.pivot or show.having then return #shown.view(self) end
  return #self.data.result
end

-- Appends lines of text as comments.
local function add_comments(parts, list)
  for _, line in ipairs(list) do parts[#parts + 1] = "# " .. line end
end

function meta:__tostring()
  local parts, notes = {}, self.data.comparison or { above = {}, below = {} }
  add_comments(parts, notes.above)
  parts[#parts + 1] = shown.text(self)
  add_comments(parts, notes.below)
  parts[#parts + 1] = rawget(self, "counts") and counts.text(self.counts)
  add_comments(parts, self.data.notes or {})
  parts[#parts + 1] = (shown.interruption(self))
  return table.concat(parts, "\n")
end

errors.checked(Table, meta, "Table")

---@param value any
---@return boolean
local function is_table(value) return getmetatable(value) == meta end

---@param data table of a Table, without a result
---@param groups table[] { event = section, keys = {…}, value | {value}, … }
---@param show table?
---@return perflua.Table
local function table_of(data, groups, show)
  local wrong
  data.result, wrong = core.result_put(core.result(merge.shape(data)), groups)
  if wrong then usage_error("%s", sums.wrong[wrong]) end
  return new_table(data, show)
end

---Puts the groups of a Table together by other keys: what a tool shows of a key may be less
---than the key, as the name of a function is less than an address in it.
---@param made perflua.Table whose measures are counts and sums
---@param names string[] of the new keys
---@param each fun(row: table, put: fun(keys: table<string, any>, sums:
--- table<string, integer>?)) gets each row, and may put it into groups: with all that was
--- counted of it, or with these sums
---@return perflua.Table
local function regrouped(made, names, each)
  local measures, keys, groups = made.data.measures, {}, {}
  for i, name in ipairs(names) do keys[i] = { name = name, kind = "any" } end
  for row in made:rows() do
    each(row, function(values, added)
      local group = { keys = {} }
      for i, name in ipairs(names) do group.keys[i] = values[name] end
      for m, measure in ipairs(measures) do group[m] = (added or row)[measure.name] or 0 end
      groups[#groups + 1] = group
    end)
  end
  return table_of({ description = made.data.description, keys = keys, measures = measures },
    groups)
end

return {
  new = new_table, of = table_of, load = load_table, is = is_table, methods = Table,
  is_final = steps.is_final, regrouped = regrouped,
}
