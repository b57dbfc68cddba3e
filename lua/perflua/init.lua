-- perflua: recordings of Linux perf, asked from Lua.

local core = require "perflua.core"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local recording = require "perflua.recording"
local suggest = require "perflua.errors.suggest"
local usage_error, guard, errno = errors.usage_error, errors.guard, errors.errno

local LOOK = 256 -- bytes that tell what a file is

local says = {
  ELF = function(head) return head:sub(1, 4) == "\x7fELF" or "not an ELF file" end,
  kallsyms = function(head)
    return head == "" or head:find("^%s*%x+ %a %S") ~= nil
      or "not a list of symbols like /proc/kallsyms"
  end,
}

---@param path string
---@param kind "directory"|"ELF"|"kallsyms" what it should be; an empty file is a list of no
--- symbols
---@return string? message, string? code # what is wrong with it; nil: nothing is
local function wrong_path(path, kind)
  local file <close>, message, code = errno(io.open(path, "rb"))
  if not file then return message, code end
  local head
  head, message, code = errno(file:read(LOOK))
  if kind == "directory" then
    if code == "EISDIR" then return nil end
    return path .. ": not a directory", "ENOTDIR"
  end
  if code then return ("%s: %s"):format(path, message), code end
  local verdict = says[kind](head or "")
  if verdict ~= true then return ("%s: %s"):format(path, verdict), "FORMAT" end
end

---@class perflua
local perflua = {
  version = "0.1.0",
  hex = core.hex,
  seconds = core.seconds,
  -- Names of a number, "openat", and "ENOENT" of 2 or -2; the machine is as uname calls it
  -- ("aarch64"), else this one.
  syscall = core.syscall,
  errno = core.errno,
  options = {}, -- of the script that the interpreter runs
  -- Modules are loaded when they are needed: start-up is much of what a short script costs.
  load = function(from) return require("perflua.table").load(from) end,
  diff = function(before, after, options)
    return (require("perflua.diff").compare(before, after, options))
  end,
  export = function(...) return require("perflua.export").write(...) end,
  writer = function(...) return require("perflua.write.writer").open(...) end,
}

local file_methods = core.methods("file")
local methods = {
  records = function(file, options)
    return require("perflua.file.records").records(file, options)
  end,
  samples = function(file, event)
    return require("perflua.file.records").samples(file, event)
  end,
  run = function(file, handlers) return require("perflua.file.run").run(file, handlers) end,
  binaries = function(file, options)
    return require("perflua.file.binaries").binaries(file, options)
  end,
  running = function(file, cpu, time)
    return require("perflua.file.running").running(file, cpu, time)
  end,
  annotate = function(...) return require "perflua.annotate".annotate(...) end,
  timing = function(file)
    local told = require "perflua.timing".of(file)
    if told then return told end
    usage_error("timing: nothing is measured: open the recording with { timing = true }")
  end,
}
for name, method in pairs(errors.checked(methods, "perflua.file", "File")) do
  file_methods[name] = method
end

-- Finds file.events[name]: the first event of that name.
core.metatable("events").__index = function(list, name)
  if type(name) ~= "string" then return nil end
  local found = events.exactly(list, name)
  return found[1] or events.loosely(list, name)[1]
end

local MIN_WINDOW = 1 << 16 -- one record

local MOST_WORKERS = 16

-- Bytes of records that may wait for earlier ones, of what cannot be read again; default 256
-- MB.
local function check_window(window)
  if window == nil then return end
  if math.type(window) ~= "integer" or window < MIN_WINDOW then
    usage_error("open: window: a number of bytes expected, at least %d", MIN_WINDOW)
  end
end

-- Workers of one pass; default: one for each processor that the process may use, up to 16.
local function check_workers(n)
  if n ~= nil and (math.type(n) ~= "integer" or n < 1 or n > MOST_WORKERS) then
    usage_error("open: jobs: a number of workers from 1 to %d expected", MOST_WORKERS)
  end
end

-- Raises if `version` names no perf whose text can be printed.
local function check_version(version)
  if type(version) ~= "string" then
    usage_error("open: as: a version of perf such as '6.12' expected, got a %s", type(version))
  end
  local known, message = core.perf_version(version)
  if not known then usage_error("open: as: %s", message) end
end

-- The kind of file that each option for symbols must name.
local sources = { "symfs", "buildid_dir", "vmlinux", "kallsyms" }
local kind_of = { symfs = "directory", buildid_dir = "directory", vmlinux = "ELF",
  kallsyms = "kallsyms" }

local function check_options(options)
  errors.check_options(options, "OpenOptions", "open: unknown option '%s'")
  for _, name in ipairs(sources) do
    if options[name] ~= nil and type(options[name]) ~= "string" then
      usage_error("open: %s: a path expected, got a %s", name, type(options[name]))
    end
  end
  if options.as ~= nil then check_version(options.as) end
  check_window(options.window)
  check_workers(options.jobs)
end

-- Says what is wrong with the first source of symbols that does not exist, or is something
-- else.
local function wrong_source(options)
  for _, name in ipairs(sources) do
    local message, code
    if options[name] then message, code = wrong_path(options[name], kind_of[name]) end
    if message then return ("%s: %s"):format(name, message), code end
  end
end

local function check_path(path)
  if type(path) == "string" then return end
  if type(path) ~= "table" then
    usage_error("open: a path or an array of paths expected, got a %s", type(path))
  end
  if #path == 0 then usage_error("open: the list of paths is empty") end
  for i = 1, #path do
    if type(path[i]) ~= "string" then
      usage_error("open: path %d: a string expected, got a %s", i, type(path[i]))
    end
  end
end

-- Opens one or several recordings as one File. With several paths its records carry `source`,
-- and are in time order if the recordings' clocks agree; otherwise the recordings follow one
-- another.
---@param path string|string[]|nil default: "perf.data"
---@param options table? { strict, window, jobs, as, symfs, kallsyms, vmlinux, buildid_dir,
--- debuginfod, demangle, any_binary, timing }
---@return perflua.File? file
---@return string? message
---@return string? code # "ENOENT", "FORMAT", …
function perflua.open(path, options)
  if path ~= nil then check_path(path) end
  if options ~= nil and type(options) ~= "table" then
    usage_error("open: a table of options expected, got a %s", type(options))
  end
  options = options or {}
  check_options(options)
  local file
  local message, code = wrong_source(options)
  if not message then file, message, code = guard(core.open, path or "perf.data", options) end
  recording.failed = message
  return file, message, code
end

---Parses the words of a script's command line. What is wrong with them, and --help, ends the
---script.
---@param list table[] the options: rows { NAME, TYPE, help =, default = … }
---@param words string[] with the script's name at 0, as `arg`
---@return table<string, any> values by name, string[] rest # the other words: recordings
function perflua.parse(list, words)
  if type(words) ~= "table" then
    usage_error("parse: the table `arg` expected, got %s", suggest.kind(words))
  end
  local options = require "perflua.options" -- loaded when it is asked for
  return options.read(options.declare(list), words)
end

-- Members other than functions, which are loaded when they are asked for.
local members = {
  intervals = function() return require "perflua.intervals" end,
  stop = function() return require("perflua.file.run").stop end,
}

return setmetatable(perflua, { __index = function(_, name)
  local find = members[name]
  return find and find()
end })
