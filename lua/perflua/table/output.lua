-- Text that goes to an open file, a path, or standard output.

local core = require "perflua.core"
local errors = require "perflua.errors"
local interrupted = require "perflua.table.interrupted"
local recording = require "perflua.recording"
local errno, usage_error = errors.errno, errors.usage_error

-- refusal: why no file may be opened now; nil: it may. failure: the message of the last write
-- that failed; nil: none failed. is_tool: a tool runs, which prints the messages that it gets.
local output = {}

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
---@return boolean # whether the interpreter says it when it ends, as it does of standard output
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

return output
