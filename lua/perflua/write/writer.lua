-- Recordings to which a script writes records one by one.

local core = require "perflua.core"
local errors = require "perflua.errors"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local write = require "perflua.write"
local errno, guard, usage_error = errors.errno, errors.guard, errors.usage_error

local writer = {}

-- Records that describe the recorded system, whatever their time.
local SIDEBAND <const> = { "mmap", "mmap2", "comm", "fork", "exit", "namespaces", "ksymbol",
  "bpf_event", "cgroup", "text_poke", "id_index", "thread_map", "cpu_map", "time_conv" }

-- Those of files: the container's records of build-ids count there.
local IN_FILES <const> = { "build_id", table.unpack(SIDEBAND) }

-- Parts of each Writer: path, functions (of the core), commit and replacement (core.replace()),
-- failure: { message, code } of a write, closed.
local parts = setmetatable({}, { __mode = "k" })

local metatable = { __name = "perflua.writer" }

-- Ends a Writer, whose file is removed unless it was committed.
local function discard(self, part)
  part.closed, part.functions = true, nil
  local _ <close> = part.replacement
  parts[self] = { closed = true }
end

local function open_part(self, verb)
  local part = parts[self]
  if part.closed then usage_error("%s: the Writer is closed", verb) end
  return part
end

-- Returns what a function of the core returned, with the path before what the system said.
local function check(part, result, message, code)
  if result then return result end
  if math.type(code) then
    local _
    _, message, code = errno(nil, ("%s: %s"):format(part.path, message), code)
  end
  part.failure = part.failure or { message, code }
  return nil, message, code
end

local methods = {}

function methods.write(self, record)
  local part = open_part(self, "write")
  if part.failure then return nil, table.unpack(part.failure) end
  return check(part, guard(part.functions.write, record))
end

function methods.close(self)
  local part = open_part(self, "close")
  local failure, summary, message, code = part.failure, nil, nil, nil
  if not failure then summary, message, code = check(part, guard(part.functions.finish)) end
  if summary then
    local ok
    ok, message, code = errno(part.commit())
    if not ok then summary, message = nil, ("%s: %s"):format(part.path, message) end
  elseif failure then
    message, code = table.unpack(failure)
  end
  discard(self, part)
  if not summary then return output.fail(message, code) end
  return summary
end

errors.checked(methods, "perflua.writer", "Writer")
metatable.__index = errors.named(methods, "Writer")
metatable.__metatable = "perflua.writer"

function metatable:__close(raised)
  local part = parts[self]
  if part.closed then return end
  if raised == nil then
    methods.close(self)
  else
    discard(self, part)
  end
end

function metatable:__tostring()
  return ("Writer (%s)"):format(parts[self].path or "closed")
end

-- Returns the options of core.writer().
local function options_of(like, options)
  local can_reread = like.size ~= nil
  local sideband = options.sideband
  if sideband == nil then sideband = can_reread end
  if sideband and not can_reread then
    return nil, like.path .. ": a stream can be read only once: open the writer with "
      .. "{ sideband = false } and write its records", "ESPIPE"
  end
  local types = like.mode == "pipe" and SIDEBAND or IN_FILES
  local query = like:records { type = types, container = true, order = "file" }
  local described = write.add_form(plan.walk(core.query_spec(query)), options)
  described.sideband = sideband
  return described
end

---Begins a recording like that of a File.
---@param path string
---@param like perflua.File
---@param options table? WriterOptions
---@return perflua.Writer?, string? message, string? code
function writer.open(path, like, options)
  options = options or {}
  errors.check_options(options, "WriterOptions", "writer: unknown option '%s'")
  if type(path) ~= "string" then
    usage_error("writer: a path expected, got a %s", type(path))
  end
  if getmetatable(like) ~= "perflua.file" then
    usage_error("writer: a File expected, got a %s", type(like))
  elseif type(like.path) == "table" and #like.path > 1 then
    usage_error("writer: the File of one recording expected")
  elseif output.refusal then
    usage_error("%s: %s", path, output.refusal)
  end
  local described, message, code = options_of(like, options)
  if not described then return output.fail(message, code) end
  local ok
  ok, message, code = write.check_target(like, path, options.force)
  if not ok then return output.fail(message, code) end
  local _
  local temporary, commit, replacement = core.replace(path)
  if not temporary then
    -- a stream, or a file that is to be written in place: neither can be removed on a failure
    _, message, code = errno(nil, ("%s: %s"):format(path, commit or "it is not a file"),
      temporary == nil and replacement or nil)
    return output.fail(message, code)
  end
  local part = { path = path, commit = commit, replacement = replacement }
  part.functions, message, code = check(part, guard(core.writer, like, temporary, described))
  local self = setmetatable({}, metatable)
  parts[self] = part
  if part.functions then return self end
  discard(self, part)
  return output.fail(message, code)
end

return writer
