-- Columns and rows as CSV and JSON, to an open file, a path, or standard output.

local core = require "perflua.core"
local errors = require "perflua.errors"
local interrupted = require "perflua.table.interrupted"
local recording = require "perflua.recording"
local errno, usage_error = errors.errno, errors.usage_error

-- refusal: why no file may be opened now; nil: it may. failure: the message of the last write
-- that failed; nil: none failed. is_tool: a tool runs, which prints the messages that it gets.
local output = {}

-- The options of tools that write CSV; tools.parse() makes `args.csv` of them, a form of CSV.
local csv_options = {
  csv = "comma separated values",
  ["csv-safe"] = "like --csv, with a ' before cells that a spreadsheet would evaluate",
  crlf = "like --csv, with lines that end with CR LF",
}

---@param more table options of a tool
---@return table # with those of CSV, unless the tool describes them itself
function output.with_csv_options(more)
  for name, option in pairs(csv_options) do more[name] = more[name] or option end
  return more
end

---@param form { safe: boolean?, crlf: boolean? }?
---@return table # options of core.view_write() and core.write_table()
function output.csv_form(form)
  return { safe = form and form.safe, crlf = form and form.crlf }
end

-- Hands produce a function that writes text to `file`, and the file; true, or nil and what went
-- wrong.
local function write_to(file, produce)
  local message, code, _
  produce(function(text)
    if not message then _, message, code = errno(file:write(text)) end
  end, file)
  if message then return nil, message, code end
  return true
end

---Warns of a write that fails, so that it does not fail in silence where nobody looks at what a
---verb returns.
---@param message string what the verb returns
---@param code string?
---@param warned string? what the warning says; default: the message
---@return nil, string message, string? code
function output.fail(message, code, warned)
  output.failure = message
  if not output.is_tool then errors.warning("%s", warned or message) end
  return nil, message, code
end

---@param message string? of an error
---@return boolean # does the interpreter say it when it ends? So it is with standard output
function output.is_said_at_end(message)
  return message ~= nil and message == output.failure_of_stdout
end

local function check_path(path, replaces_recordings)
  if output.refusal then usage_error("%s: %s", path, output.refusal) end
  if not replaces_recordings and recording.is_at(path) then
    return nil, path .. ": a recording is not overwritten: choose another name", "EEXIST"
  end
  return true
end

-- Returns what is wrong with what was written to a file if an interrupt cut it.
local function check_interrupt(path, was_before, consequence)
  if not interrupted.now() or was_before then return true end
  return nil, ("%s: interrupted: %s"):format(path, consequence), "EINTR"
end

-- Hands `write` the name under which a file is written, which replaces the old file at the end.
local function replace(path, write, was_before, temporary, commit, replacement)
  local _ <close> = replacement
  local ok, message, code = write(temporary)
  if ok then
    ok, message, code = check_interrupt(path, was_before,
      "nothing was written, and an old file is unchanged")
  end
  if not ok then return nil, message, code end
  ok, message, code = errno(commit())
  if not ok then return nil, ("%s: %s"):format(path, message), code end
  return true
end

local function replace_or_write(path, write, is_whole, replaces_recordings, is_private)
  local ok, message, code = check_path(path, replaces_recordings)
  if not ok then return nil, message, code end
  local was_before = is_whole and interrupted.now()
  local temporary, detail, last = core.replace(path, is_private)
  if temporary then return replace(path, write, was_before, temporary, detail, last) end
  if temporary == nil then return errno(nil, ("%s: %s"):format(path, detail), last) end
  if detail then
    errors.warning("%s: written in place, because %s: a failure leaves it incomplete", path,
      detail)
  end
  ok, message, code = write(path)
  if not ok then return nil, message, code end
  return check_interrupt(path, was_before, "the file is incomplete")
end

---Writes a file through `write`, and replaces the old file at the end: on a failure, an error
---or an interrupt the old file is unchanged. A file that cannot be replaced is written in
---place, with a warning. Failures are warned of, too. Raises if the file is refused. A
---recording is not overwritten, as it may be the one that is read, unless the caller knows that
---it is not.
---@param path string
---@param write fun(path: string): true?, string?, string? writes the file under a name that it
--- is given; returns nil, a message and a code if it cannot
---@param is_whole boolean? an interrupt that came before cut nothing of the output
---@param replaces_recordings boolean? the caller knows that no recording there is read
---@param is_private boolean? a new file is for its owner alone
---@return true? ok, string? message, string? code
function output.replace(path, write, is_whole, replaces_recordings, is_private)
  local ok, message, code = replace_or_write(path, write, is_whole, replaces_recordings,
    is_private)
  if not ok then return output.fail(message, code) end
  return true
end

---@param out any raises unless it is an open file; nil: standard output
---@return file*
function output.file(out)
  if out ~= nil and io.type(out) ~= "file" then
    usage_error("a path or an open file expected, got a %s", io.type(out) or type(out))
  end
  return out or io.stdout
end

-- Opens a file at `path` and has it written; messages have the name `shown`.
local function write_at(path, shown, write)
  local file <close>, message, code = io.open(path, "wb")
  if not file then return errno(nil, shown .. message:sub(#path + 1), code) end
  local ok
  ok, message, code = write(file)
  if ok then ok, message, code = errno(file:close()) end
  if ok then return ok end
  return nil, ("%s: %s"):format(shown, message), code
end

---See output.replace() for paths.
---@param out file*|string|nil an open file or a path; default: standard output
---@param write fun(file: file*): true?, string?, string? returns nil, a message and a code if
--- it cannot
---@param is_whole boolean? see output.replace()
---@param is_private boolean? see output.replace()
---@return true? ok, string? message, string? code
function output.with_file(out, write, is_whole, is_private)
  if type(out) == "string" then
    return output.replace(out, function(path) return write_at(path, out, write) end, is_whole,
      false, is_private)
  end
  local is_object = type(out) == "table" and type(out.write) == "function"
  local file = is_object and out or output.file(out)
  local ok, message, code = write(file)
  if ok then return ok end
  if file ~= io.stdout then return output.fail(message, code, "cannot write: " .. message) end
  output.failure, output.failure_of_stdout = message, message
  return nil, message, code
end

---@param out file*|string|nil an open file or a path; default: standard output
---@param produce fun(write: fun(text: string), file: file*)
---@param is_whole boolean? see output.replace()
---@param is_private boolean? see output.replace()
---@return true? ok, string? message, string? code
function output.to(out, produce, is_whole, is_private)
  return output.with_file(out, function(file) return write_to(file, produce) end, is_whole,
    is_private)
end

---Has rows written by the core. Says on standard error if an interrupt ends that; one that came
---before does not.
---@param file file* an open file, or an object with a function write
---@param n integer rows
---@param options table of core.view_write, which it changes
---@param write fun(out: file*|function): integer?, string?, integer? # how many were written
---@return true? ok, string? message, string? code
function output.rows(file, n, options, write)
  local out, failure = file, nil
  if io.type(file) ~= "file" then
    out = function(text)
      local _, message, code = errno(file:write(text))
      failure = failure or message and { message, code }
    end
  end
  options.stops = not interrupted.now()
  local done, message, code = errno(write(out))
  if not done then return nil, message, code end
  if failure then return nil, failure[1], failure[2] end
  if done < n then
    interrupted.log(interrupted.rows(done, n))
  end
  return true
end

---@param out file*|string|nil
---@param columns {name: string, kind: string}[]
---@param rows any[][]
---@param form { safe: boolean?, crlf: boolean? }? see CsvOptions in lua/perflua/api/table.lua
---@return true? ok, string? message, string? code
function output.csv(out, columns, rows, form)
  local options = output.csv_form(form)
  return output.with_file(out, function(file)
    return output.rows(file, #rows, options, function(to)
      return core.write_table("csv", to, options, columns, rows)
    end)
  end)
end

local BATCH <const> = 1024 -- rows that are made at a time

-- A Stack as an array of its frames.
local function frames_of(stack)
  local json = require "perflua.text.json" -- loaded when it is asked for
  local list = {}
  for i = 1, #stack do
    local frame = {}
    for name, value in pairs(stack[i]) do frame[name] = value end
    frame.address, frame.ip = json.address(frame.address), frame.ip and json.address(frame.ip)
    list[i] = frame
  end
  return json.array(list)
end

---@param stack perflua.Stack
---@return string # its frames as JSON
function output.stack_json(stack)
  return require("perflua.text.json").encode(frames_of(stack))
end

---Writes the array of JSON around rows.
---@param out file*|string|nil
---@param n integer rows
---@param last string? JSON of an element after the rows
---@param write fun(file: file*): true?, string?, string? writes the rows, each on a line
---@param is_whole boolean? see output.replace()
---@return true? ok, string? message, string? code
function output.json_rows(out, n, last, write, is_whole)
  return output.with_file(out, function(file)
    local function put(text)
      local _, message, code = errno(file:write(text))
      return message, code
    end
    local _, message, code = nil, put "["
    if not message then _, message, code = write(file) end
    if message then return nil, message, code end
    message, code = put((last and (n > 0 and ",\n" or "\n") .. last or "")
      .. ((n > 0 or last) and "\n]\n" or "]\n"))
    return not message, message, code
  end, is_whole)
end

---@param out file*|string|nil
---@param columns {name: string, kind: string}[]
---@param rows any[][]
---@return true? ok, string? message, string? code
function output.json(out, columns, rows)
  return output.json_rows(out, #rows, nil, function(file)
    local options = {}
    return output.rows(file, #rows, options, function(to)
      return core.write_table("json", to, options, columns, rows)
    end)
  end)
end

---Writes rows as they are made.
---@param out file*
---@param columns {name: string, kind: string}[]
---@param as_json boolean? an array of JSON; otherwise CSV
---@param form table? see output.csv
---@return fun(row: any[]) add
---@return fun(): true?, string?, string? finish # writes what is left, and the names of the
--- columns or brackets also if there was no row; nil, a message and a code if a write failed
function output.row_writer(out, columns, as_json, form)
  local options, rows, failure = output.csv_form(form), {}, nil
  local format, before, last = as_json and "json" or "csv", "[", "]\n"
  local function write(text)
    local _, message, code = errno(out:write(text))
    if message then failure = failure or { message, code } end
  end
  local function flush()
    if as_json and (rows[1] or before == "[") then write(before) end
    local ok, message, code = output.rows(out, #rows, options, function(to)
      return core.write_table(format, to, options, columns, rows)
    end)
    if not ok then failure = failure or { message, code } end
    if rows[1] then last = "\n]\n" end
    before, options.no_heads, rows = ",", true, {}
  end
  return function(row)
    rows[#rows + 1] = row
    if #rows == BATCH then flush() end
  end, function()
    flush()
    if as_json then write(last) end
    if failure then return nil, failure[1], failure[2] end
    return true
  end
end

return output
