-- perflua: recordings of Linux perf, asked from Lua.

local core = require "perflua.core"
local blame = require "perflua.errors.blame"
local checked = require "perflua.errors.methods"
local events = require "perflua.file.events"
local guard = require "perflua.errors.guard"
local later = require "perflua.file.later"
local records = require "perflua.file.records"
local run = require "perflua.file.run"
local suggest = require "perflua.errors.suggest"
local Table = require "perflua.table"

---@class perflua
local perflua = {
  version = "0.1.0",
  hex = core.hex,
  seconds = core.seconds,
  stop = run.stop,
  load = Table.load,
}

local file_methods = core.methods("file")
local methods = { records = records.records, samples = records.samples, run = run.run }
for name, method in pairs(later) do methods[name] = method end
for name, method in pairs(checked(methods, "perflua.file", "File")) do file_methods[name] = method end

-- file.events[name]: the first event of that name.
core.metatable("events").__index = function(list, name)
  if type(name) ~= "string" then return nil end
  local found = events.exactly(list, name)
  return found[1] or events.loosely(list, name)[1]
end

local NOW, LATER = "now", "later" -- when an option has an effect

local open_options = {
  strict = NOW, symfs = LATER, kallsyms = LATER, vmlinux = LATER, buildid_dir = LATER, debuginfod = LATER,
  demangle = LATER,
}

local warned = {} -- of the options without effect, those that were said

local function check_options(options)
  for name in pairs(options) do
    local when = open_options[name]
    if not when then
      local text = tostring(name)
      blame(suggest.message(("open: unknown option '%s'"):format(text), text, suggest.names(open_options)))
    elseif when == LATER and not warned[name] then
      warned[name] = true
      warn(("perflua: open: option '%s' has no effect yet: symbols come with a later version"):format(name))
    end
  end
end

---@param path string? default: "perf.data"
---@param options table? { strict, symfs, kallsyms, vmlinux, buildid_dir, debuginfod, demangle }
---@return perflua.File? file
---@return string? message
---@return string? code # "ENOENT", "FORMAT", …
function perflua.open(path, options)
  if path ~= nil and type(path) ~= "string" and type(path) ~= "table" then
    blame("open: a path expected, got a %s", type(path))
  end
  if options ~= nil and type(options) ~= "table" then
    blame("open: a table of options expected, got a %s", type(options))
  end
  check_options(options or {})
  if type(path) == "table" then
    return nil, "several recordings as one come with a later version of perflua", "LATER"
  end
  return guard(core.open, path or "perf.data", options or {})
end

return perflua
