-- Profiles in the formats of other programs. A format NAME is the module perflua.export.NAME:
--
--   name         NAME
--   description  the programs that read it
--   lines        true: it wants source files and lines
--   one_event    true: it has no room for several events
--   write        function(write, profile, options), see profile.lua
--   export       instead: function(query, out, options), returns what export.write() does

local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local profiles = require "perflua.export.profile"
local spec_of = require("perflua.core").query_spec
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

local export = {}

---The formats, in the order in which they are listed.
export.formats = { "speedscope", "pprof", "callgrind", "folded", "folded-diff",
  "chrome", "csv", "jsonl", "sqlite" }

local modules = {}
for _, module in ipairs {
  require "perflua.export.speedscope", require "perflua.export.pprof",
  require "perflua.export.callgrind", require "perflua.export.folded",
  require "perflua.export.folded_diff",
  require "perflua.export.chrome", require "perflua.export.csv", require "perflua.export.jsonl",
  (require "perflua.export.sqlite"),
} do modules[module.name] = module end

---@param name string
---@return table? format
---@return string? message
function export.find(name)
  if modules[name] then return modules[name] end
  local message = ("export: no format '%s': there are %s"):format(name,
    table.concat(export.formats, ", "))
  return nil, suggest.message(message, name, export.formats)
end

local function check_query(query, takes_items)
  local spec = type(query) == "userdata" and spec_of(query)
  if not spec then usage_error("export: a query of samples expected") end
  if spec.keys then usage_error("export: a query of samples expected, this one is grouped") end
  if spec.unnest and not takes_items then
    usage_error("export: a query of samples expected, not of rows by unnest()")
  end
end

-- Events are never added together.
local function check_events(format, profile)
  local list = {}
  for number, event in pairs(profile.events) do list[#list + 1] = { number, event.name } end
  if #list < 2 then return end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i, one in ipairs(list) do list[i] = one[2] end
  usage_error("export: %s has room for one event, and there are %s: choose one", format,
    table.concat(list, ", "))
end

---Writes the samples of a query in the format of another program, added up by event, thread and
---stack.
---@param query perflua.Query
---@param format string one of export.formats
---@param out file*|string|nil an open file or a path; default: standard output
---@param options table? see lua/perflua/api/module.lua
---@return { samples: integer, set_aside: integer }? # what was written
---@return string? message
---@return string? code
function export.write(query, format, out, options)
  options = options or {}
  errors.check_options(options, "ExportOptions", "export: unknown option '%s'")
  if type(format) ~= "string" then
    usage_error("export: the name of a format expected, got a %s", type(format))
  end
  local is, message = export.find(format)
  if not is then usage_error("%s", message) end
  check_query(query, is.export)
  if is.export then return is.export(query, out, options) end
  local lines = options.lines
  if lines == nil then lines = is.lines end
  local profile = profiles.collect(query, { count = options.count, lines = lines })
  if is.one_event then check_events(format, profile) end
  local ok, wrong, code = output.to(out, function(write)
    is.write(write, profile, { title = options.title or fmt.paths(profile.file.path) })
  end)
  if not ok then return nil, wrong, code end
  local written = { samples = 0, set_aside = profile.set_aside }
  for _, entry in ipairs(profile.entries) do written.samples = written.samples + entry.count end
  return written
end

return export
