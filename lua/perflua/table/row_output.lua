-- Rows as CSV and JSON, to an open file, a path, or standard output.

local core = require "perflua.core"
local errno = require("perflua.errors").errno
local interrupted = require "perflua.table.interrupted"
local output = require "perflua.table.output"

local row_output = {}

-- The options of tools that write CSV; tools.parse() makes `args.csv` of them, a form of CSV.
local csv_options = {
  csv = "comma separated values",
  ["csv-safe"] = "like --csv, with a ' before cells that a spreadsheet would evaluate",
  crlf = "like --csv, with lines that end with CR LF",
}

---@param more table options of a tool
---@return table # with those of CSV, unless the tool describes them itself
function row_output.with_csv_options(more)
  for name, option in pairs(csv_options) do more[name] = more[name] or option end
  return more
end

---@param form { safe: boolean?, crlf: boolean? }?
---@return table # options of core.view_write() and core.write_table()
function row_output.csv_form(form)
  return { safe = form and form.safe, crlf = form and form.crlf }
end

---Has rows written by the core. Says on standard error if an interrupt ends that; one that came
---before does not.
---@param file file* an open file, or an object with a function write
---@param n integer rows
---@param options table of core.view_write, which it changes
---@param write fun(out: file*|function): integer?, string?, integer? # how many were written
---@return true? ok, string? message, string? code
function row_output.rows(file, n, options, write)
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
function row_output.csv(out, columns, rows, form)
  local options = row_output.csv_form(form)
  return output.with_file(out, function(file)
    return row_output.rows(file, #rows, options, function(to)
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
function row_output.stack_json(stack)
  return require("perflua.text.json").encode(frames_of(stack))
end

---Writes the array of JSON around rows.
---@param out file*|string|nil
---@param n integer rows
---@param last string? JSON of an element after the rows
---@param write fun(file: file*): true?, string?, string? writes the rows, each on a line
---@param is_whole boolean? see output.replace()
---@return true? ok, string? message, string? code
function row_output.json_rows(out, n, last, write, is_whole)
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
function row_output.json(out, columns, rows)
  return row_output.json_rows(out, #rows, nil, function(file)
    local options = {}
    return row_output.rows(file, #rows, options, function(to)
      return core.write_table("json", to, options, columns, rows)
    end)
  end)
end

---Writes rows as they are made.
---@param out file*
---@param columns {name: string, kind: string}[]
---@param as_json boolean? an array of JSON; otherwise CSV
---@param form table? see row_output.csv
---@return fun(row: any[]) add
---@return fun(): true?, string?, string? finish # writes what is left, and the names of the
--- columns or brackets also if there was no row; nil, a message and a code if a write failed
function row_output.row_writer(out, columns, as_json, form)
  local options, rows, failure = row_output.csv_form(form), {}, nil
  local format, before, last = as_json and "json" or "csv", "[", "]\n"
  local function write(text)
    local _, message, code = errno(out:write(text))
    if message then failure = failure or { message, code } end
  end
  local function flush()
    if as_json and (rows[1] or before == "[") then write(before) end
    local ok, message, code = row_output.rows(out, #rows, options, function(to)
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

return row_output
