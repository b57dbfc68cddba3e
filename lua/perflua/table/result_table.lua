-- Rows that a tool makes, and what it counted besides, in the form it was asked for: aligned
-- text, CSV, or JSON.

local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local pair_counts = require "perflua.table.pair_counts"
local row_output = require "perflua.table.row_output"
local suggest = require "perflua.errors.suggest"

local result_table = {}
local ResultTable = {}
ResultTable.__index = ResultTable

local options = row_output.with_csv_options {
  json = "one JSON object",
  count = { "N", "show the first N rows" },
  sort = { "COLUMN", "sort by this column; numbers in descending order" },
}

---@param columns string[][] { name, kind }: all that the tool's table may have
---@param more table options of the tool
---@return table # with those that this module knows
function result_table.with_options(columns, more)
  for name, option in pairs(options) do more[name] = option end
  local names = {}
  for i, column in ipairs(columns) do names[i] = column[1] end
  more.sort = { options.sort[1], options.sort[2], values = names }
  return more
end

---Returns the message if the options of the command line are wrong.
---@param args table of the command line
---@return string?
function result_table.check_options(args)
  if args.csv and args.json then return "--csv and --json exclude each other" end
  local n = math.tointeger(tonumber(args.count or 0))
  if not n or n < 0 then return "--count: a number of rows expected, got " .. args.count end
end

---Parses the names that rows are grouped by.
---@param text string "thread,syscall"
---@param known string[] the names that can be
---@return table<string, boolean>? by, string? wrong
function result_table.parse_by(text, known)
  local by = {}
  for _, name in ipairs(known) do
    by[name] = ("," .. text .. ","):find("," .. name .. ",", 1, true) and true or nil
  end
  local left = text:gsub("[^,]+", function(name) return by[name] and "" end)
  if left:find("[^,]") or next(by) == nil then
    return nil, ("--by: %s expected, got '%s'"):format(table.concat(known, ", "), text)
  end
  return by
end

---@param default string the value of --by if it is not given
---@param known string[] the names that can be
---@return fun(args: table): table?, string? # `prepare` of a tool: returns how rows are
--- grouped, and what is wrong with the options of the table
function result_table.prepare(default, known)
  return function(args)
    local by, wrong = result_table.parse_by(args.by or default, known)
    return by, wrong or result_table.check_options(args)
  end
end

---@param columns string[][] { name, kind }
---@param sort string the column rows are sorted by, unless another is asked for
---@param left_out table<string, any>? columns by name: true if they are left out
---@return table
function result_table.new(columns, sort, left_out)
  local self = setmetatable({ columns = {}, rows = {}, notes = {}, sort = sort }, ResultTable)
  for _, column in ipairs(columns) do
    if not (left_out and left_out[column[1]]) then
      table.insert(self.columns, { name = column[1], kind = column[2] })
    end
  end
  return self
end

---@param values table<string, any> by the names of columns
function ResultTable:add(values)
  local row = {}
  for i, column in ipairs(self.columns) do row[i] = values[column.name] end
  table.insert(self.rows, row)
end

---Adds a note, which is shown above the rows unless its count is 0. With CSV notes go to
---standard error; JSON has all of them as members.
---@param name string the member in JSON
---@param n integer the count
---@param text string see fmt.phrase()
function ResultTable:note(name, n, text)
  table.insert(self.notes, { name = name, n = n, text = text })
end

---Adds notes on records that the kernel lost.
---@param lost { lost: integer, lost_samples: integer } how many records of these types say
function ResultTable:note_losses(lost)
  self:note("lost_records", lost.lost, "{record was|records were} lost")
  self:note("lost_samples", lost.lost_samples, "{sample was|samples were} lost")
end

---Adds what a Table of spans says below its rows, in the same words.
---@param made perflua.Table
---@param noun string what the spans are, for fmt.phrase(): "{wait|waits}"
function ResultTable:note_spans(made, noun)
  table.insert(self.notes, { counts = made.counts, noun = noun })
  for _, line in ipairs(made.data.notes or {}) do table.insert(self.notes, { line = line }) end
end

local function write_members(out, note)
  if note.line then return end
  local members = note.counts or { [note.name] = note.n }
  for _, name in ipairs(suggest.names(members)) do
    out:write(json.encode(name), ":", fmt.unsigned(members[name]), ",")
  end
end

local function lines_of(notes)
  local lines = {}
  for _, note in ipairs(notes) do lines[#lines + 1] = note.line end
  return lines
end

local function write_json(out, columns, rows, notes)
  local part, unnamed = interrupted.value()
  out:write("{", part and ('"interrupted":%s,'):format(json.encode(part)) or "",
    unnamed and '"unnamed":true,' or "")
  for _, note in ipairs(notes) do write_members(out, note) end
  local lines = lines_of(notes)
  if lines[1] then out:write('"notes":', json.encode(lines), ",") end
  out:write('"rows":')
  local ok, message = row_output.json(out, columns, rows)
  if not ok then return nil, message end
  out:write("}\n")
  return 0
end

-- Returns a note as a line of text; nil if there is nothing to say.
local function text_of(note)
  if note.counts then return pair_counts.text(note.counts, note.noun) end
  local line = note.line or note.n ~= 0 and fmt.phrase(note.n, note.text)
  return line and "# " .. line or nil
end

-- Compares two values; nil comes last.
local function compare_values(a, b)
  if a == b then return 0 end
  if a == nil or b == nil then return a == nil and 1 or -1 end
  return a < b and -1 or 1
end

-- Kinds of columns that are amounts, not threads or processors.
local is_amount = { unsigned = true, float = true, percent = true }

-- Sorts rows by one column, numbers from the largest; then by all from the left, amounts from
-- the largest.
local function sort_rows(rows, place, columns)
  local function order_of(a, b, i, down)
    if type(a[i]) == "table" then return 0 end
    local order = compare_values(a[i], b[i])
    return down and a[i] ~= nil and b[i] ~= nil and -order or order
  end
  table.sort(rows, function(a, b)
    local order, i = order_of(a, b, place, type(a[place]) == "number"), 1
    while order == 0 and i <= #columns do
      order, i = order_of(a, b, i, is_amount[columns[i].kind]), i + 1
    end
    return order < 0
  end)
end

-- Tells the user that a table is empty, which its header alone may leave unclear.
local function log_empty(args)
  io.stderr:write("perflua: ", fmt.paths(args[1] or "-"), ": no rows to show\n")
end

---Writes the rows, also if there are none; standard error then has a line, too.
---@param args table of the command line
---@param out file*
---@return integer? status, string? message
function ResultTable:write(args, out)
  local rows, places = self.rows, {}
  for i, column in ipairs(self.columns) do
    if column.kind ~= "histogram" then places[column.name] = i end
  end
  local by = args.sort or self.sort
  if not places[by] then
    return 2, suggest.among(("--sort: no column '%s'"):format(by), by, suggest.names(places))
  end
  sort_rows(rows, places[by], self.columns)
  local part = interrupted.part()
  if #rows == 0 and not part then log_empty(args) end
  local text = part and interrupted.text(part)
  if args.count then
    rows = table.move(rows, 1, math.min(#rows, math.tointeger(tonumber(args.count))), 1, {})
  end
  if args.json then return write_json(out, self.columns, rows, self.notes) end
  local notes_out = args.csv and io.stderr or out
  for _, note in ipairs(self.notes) do
    local line = text_of(note)
    if line then notes_out:write(line, "\n") end
  end
  if args.csv then
    if text then interrupted.log(text) end
    local ok, message = row_output.csv(out, self.columns, rows, args.csv)
    return ok and 0 or nil, message
  end
  out:write(fmt.table(self.columns, rows), text and text .. "\n" or "")
  return 0
end

return result_table
