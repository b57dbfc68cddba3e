-- perflua: recordings of Linux perf, asked from Lua.

local core = require "perflua.core"
local blame = require "perflua.errors.blame"
local events = require "perflua.file.events"
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
file_methods.records = records.records
file_methods.samples = records.samples
file_methods.run = run.run

-- file.events[name]: the first event of that name.
core.metatable("events").__index = function(list, name)
  if type(name) ~= "string" then return nil end
  local found = events.exactly(list, name)
  return found[1] or events.loosely(list, name)[1]
end

local open_options = {
  strict = true, symfs = true, kallsyms = true, vmlinux = true, buildid_dir = true, debuginfod = true,
  demangle = true,
}

---@param path string? default: "perf.data"
---@param options table? { strict, symfs, kallsyms, vmlinux, buildid_dir, debuginfod, demangle }
---@return perflua.File? file
---@return string? message
---@return string? code # "ENOENT", "FORMAT", …
function perflua.open(path, options)
  if type(path) == "table" then blame("several files come with a later version") end
  if path ~= nil and type(path) ~= "string" then blame("open: a path expected, got a %s", type(path)) end
  if options ~= nil and type(options) ~= "table" then
    blame("open: a table of options expected, got a %s", type(options))
  end
  for name in pairs(options or {}) do
    if not open_options[name] then
      local text = tostring(name)
      blame(suggest.message(("open: unknown option '%s'"):format(text), text, suggest.names(open_options)))
    end
  end
  return core.open(path or "perf.data", options or {})
end

return perflua
