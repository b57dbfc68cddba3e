-- Profiles in the formats of other programs. A format NAME is the module perflua.export.NAME:
--
--   name         NAME
--   description  the programs that read it
--   lines        true: it wants source files and lines
--   one_event    true: it has no room for several events
--   binary       true: a terminal cannot show it
--   takes_records  true: it has rows of any records, not of samples only
--   check        function(query, options)?, raises if the format has no room for what is asked
--   export       function(query, out, options), returns what export.write() does
--   readings     function(query, options), returns what export.readings() does
--
-- Those that are profiles are in perflua.export.profile.

local errors = require "perflua.errors"
local output = require "perflua.table.output"
local profile = require "perflua.export.profile"
local rows = require "perflua.export.rows"
local spec_of = require("perflua.core").query_spec
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

local export = {}

---The formats, in the order in which they are listed.
export.formats = { "speedscope", "firefox", "perfetto", "pprof", "callgrind", "folded",
  "folded-diff", "chrome", "csv", "jsonl", "sqlite" }

local modules = {}
for name, format in pairs(profile.formats) do
  format.name = name
  format.check = function(...) return profile.check(format, ...) end
  format.export = function(...) return profile.export(format, ...) end
  format.readings = function(...) return profile.readings(format, ...) end
  modules[name] = format
end
for _, module in ipairs {
  require "perflua.export.folded_diff",
  require "perflua.export.chrome", rows.csv, rows.jsonl,
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

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

local function has_only_samples(spec)
  local types = spec.types
  return types and types[SAMPLE] and next(types, next(types)) == nil
end

local function check_query(query, format)
  local spec = type(query) == "userdata" and spec_of(query)
  if not spec then usage_error("export: a query of samples expected") end
  if spec.keys then usage_error("export: a query of samples expected, this one is grouped") end
  if spec.unnest and profile.formats[format.name] then
    usage_error("export: a query of samples expected, not of rows by unnest()")
  end
  if format.takes_records then return end
  if spec.reader and not pcall(query.select, query, "start") then
    usage_error "export: a query of samples or spans expected, not of records inside of spans"
  elseif not spec.reader and not has_only_samples(spec) then
    usage_error("export: %s is made of samples, and this query has other records: "
      .. "file:samples() has samples only", format.name)
  end
end

-- The options of formats that hold profiles, and those of other formats by name.
local PROFILE <const> = { count = true, lines = true, max_size = true, timeline = true,
  title = true }
local OTHERS <const> = { chrome = { max_size = true }, csv = { safe = true, crlf = true },
  ["folded-diff"] = { before = true, count = true } }

-- Raises if an option means nothing to a format.
local function check_options(options, format)
  errors.check_options(options, "ExportOptions", "export: unknown option '%s'")
  local takes = profile.formats[format.name] and PROFILE or OTHERS[format.name] or {}
  for name, value in pairs(options) do
    if value and not takes[name] then
      if name == "max_size" then
        usage_error("export: max_size makes times coarser, and %s keeps each", format.name)
      end
      usage_error("export: %s does not take the option '%s'", format.name, name)
    end
  end
end

---Raises if a format cannot represent the query, whatever the recording has.
---@param query perflua.Query
---@param format table
---@param options table
function export.check(query, format, options)
  check_options(options, format)
  check_query(query, format)
  if format.check then format.check(query, options) end
end

---@param query perflua.Query
---@param format table
---@param options table as for export.write()
---@return {query: perflua.Query, keys: table[]?, columns: table[]?, needs_times: boolean?,
--- counts: table?}[]
--- # what is read, for explain(): values of a query that selects some; groups by keys, where
--- there are such; needs_times: a pass before finds the first and the last time; counts: things
--- that a pass before finds while it counts records
function export.readings(query, format, options)
  export.check(query, format, options)
  return format.readings(query, options)
end

---Writes the samples of a query in the format of another program, added up by event, thread and
---stack.
---@param query perflua.Query
---@param format string one of export.formats
---@param out file*|string|nil an open file or a path; default: standard output
---@param options table? see lua/perflua/api/module.lua
---@return { samples: integer, set_aside: integer, notes: string[]? }? # what was written
---@return string? message
---@return string? code
function export.write(query, format, out, options)
  options = options or {}
  if type(format) ~= "string" then
    usage_error("export: the name of a format expected, got a %s", type(format))
  end
  local writer, message = export.find(format)
  if not writer then usage_error("%s", message) end
  export.check(query, writer, options)
  if type(out) ~= "string" then out = output.file(out) end
  return writer.export(query, out, options)
end

return export
