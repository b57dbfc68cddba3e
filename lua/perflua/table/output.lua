-- Columns and rows as CSV and JSON, to an open file, a path, or standard output.

local core = require "perflua.core"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local recording = require "perflua.recording"
local errno, usage_error = errors.errno, errors.usage_error

-- refusal: why no file may be opened now; nil: it may.
local output = {}

---The option --csv-safe of tools with tables.
output.CSV_SAFE = "like --csv, with a ' before cells that a spreadsheet would evaluate: = + - @"

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

---Opens a file to write to it; raises if that is refused. A recording is never overwritten: it
---may be the one that is read.
---@param path string
---@return file*? file, string? message, string? code
function output.open(path)
  if output.refusal then usage_error("%s: %s", path, output.refusal) end
  if recording.is_at(path) then
    return nil, path .. ": a recording is not overwritten: choose another name", "EEXIST"
  end
  return errno(io.open(path, "wb"))
end

---@param out any raises unless it is an open file; nil: standard output
---@return file*
function output.file(out)
  if out ~= nil and io.type(out) ~= "file" then
    usage_error("a path or an open file expected, got a %s", io.type(out) or type(out))
  end
  return out or io.stdout
end

---A file that was not there before is removed if it could not be written, also if write raises.
---@param out file*|string|nil an open file or a path; default: standard output
---@param write fun(file: file*): true?, string?, string? returns nil, a message and a code if
--- it cannot
---@return true? ok, string? message, string? code
function output.with_file(out, write)
  if type(out) ~= "string" then
    local is_object = type(out) == "table" and type(out.write) == "function"
    return write(is_object and out or output.file(out))
  end
  local is_new, ok = not core.stat(out), nil
  local file <close>, message, code = output.open(out)
  if not file then return nil, message, code end
  local _ <close> = setmetatable({}, { __close = function()
    if is_new and not ok then os.remove(out) end
  end })
  ok, message, code = write(file)
  if ok then ok, message, code = errno(file:close()) end
  if ok then return ok end
  return nil, ("%s: %s"):format(out, message), code
end

---@param out file*|string|nil an open file or a path; default: standard output
---@param produce fun(write: fun(text: string), file: file*)
---@return true? ok, string? message, string? code
function output.to(out, produce)
  return output.with_file(out, function(file) return write_to(file, produce) end)
end

---Returns whether an interrupt ends the writing of rows, after those that an interrupted table
---has in any case.
---@param r integer number of the row that is next
---@param n integer
---@return boolean # is it not to be written? Then that was said.
function output.ends_at(r, n)
  if r <= interrupted.MOST or r % 1024 ~= 0 or not interrupted.now() then return false end
  interrupted.log(("interrupted while writing: %d of %d rows"):format(r - 1, n))
  return true
end

local LOOK_EVERY <const> = 1024 -- rows: see output.ends_at

local function csv_heads(columns, safe)
  local names, plain = {}, {}
  for i, column in ipairs(columns) do names[i], plain[i] = column.name, {} end
  return core.csv(plain, { names }, 1, 1, fmt.exact, { safe = safe })
end

---@param out file*|string|nil
---@param columns {name: string, kind: string}[]
---@param rows any[][] # by column
---@param safe boolean? with a ' before texts that a spreadsheet would take for formulas: those
--- that begin with =, +, -, @ or a tab
---@return true? ok, string? message, string? code
function output.csv(out, columns, rows, safe)
  return output.to(out, function(write)
    write(csv_heads(columns, safe))
    local from, n, options = 1, #rows, { safe = safe }
    while from <= n and not output.ends_at(from, n) do
      local to = math.min((from // LOOK_EVERY + 1) * LOOK_EVERY - 1, n)
      write(core.csv(columns, rows, from, to, fmt.exact, options))
      from = to + 1
    end
  end)
end

---Writes rows that are made when they are written.
---@param out file*|string|nil
---@param columns {name: string, kind: string}[]
---@param sections { n: integer, read: fun(from: integer, to: integer): any[] }[] their rows; of
--- rows from … to read returns for each column an array of values, or the value that all have
---@param safe boolean? see output.csv
---@return true? ok, string? message, string? code
function output.csv_sections(out, columns, sections, safe)
  local before, n_rows, options = 0, 0, { safe = safe, by_column = true }
  for _, section in ipairs(sections) do n_rows = n_rows + section.n end
  return output.to(out, function(write)
    write(csv_heads(columns, safe))
    for _, section in ipairs(sections) do
      local from, n = 1, section.n
      while from <= n do
        if output.ends_at(before + from, n_rows) then return end
        local row = before + from
        local to = math.min((row // LOOK_EVERY + 1) * LOOK_EVERY - 1 - before, n)
        write(core.csv(columns, section.read(from, to), 1, to - from + 1, fmt.exact, options))
        from = to + 1
      end
      before = before + n
    end
  end)
end

-- A Stack as an array of its frames.
local function frames_of(stack)
  local list = {}
  for i = 1, #stack do
    local frame = {}
    for name, value in pairs(stack[i]) do frame[name] = value end
    frame.address, frame.ip = json.address(frame.address), frame.ip and json.address(frame.ip)
    list[i] = frame
  end
  return json.array(list)
end

local function json_value(value, kind)
  if kind == "stack" and value ~= nil then return json.encode(frames_of(value)) end
  if math.type(value) == "integer" then
    if kind == "address" then return json.encode(json.address(value)) end
    if kind == "unsigned" then return fmt.unsigned(value) end
  end
  local composite = type(value) == "userdata" or type(value) == "table" and kind ~= "histogram"
  return json.encode(composite and tostring(value) or value)
end

---@param out file*|string|nil
---@param columns {name: string, kind: string}[]
---@param rows any[][] # by column
---@param last string? JSON of an element behind the rows
---@return true? ok, string? message, string? code
function output.json(out, columns, rows, last)
  return output.to(out, function(write)
    write("[")
    for r, row in ipairs(rows) do
      if output.ends_at(r, #rows) then break end
      local fields = {}
      for i, column in ipairs(columns) do
        fields[i] = json.string(column.name) .. ":" .. json_value(row[i], column.kind)
      end
      write((r > 1 and ",\n{" or "\n{") .. table.concat(fields, ",") .. "}")
    end
    if last then write((#rows > 0 and ",\n" or "\n") .. last) end
    write((#rows > 0 or last) and "\n]\n" or "]\n")
  end)
end

return output
