-- file:binaries(options): every binary of a recording, and where its symbols come from.

local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local errors = require "perflua.errors"
local recording = require "perflua.recording"
local records = require "perflua.file.records"
local usage_error = errors.usage_error

local binaries = {}

local loads = { hit = true, all = true, none = true }

local function load_of(options)
  if options == nil then return "hit" end
  if type(options) ~= "table" then
    usage_error("binaries: a table of options expected, got a %s", type(options))
  end
  errors.check_options(options, "BinariesOptions", "binaries: unknown option '%s'")
  local load = options.load == nil and "hit" or options.load
  if not loads[load] then
    usage_error("binaries: load: \"hit\", \"all\" or \"none\" expected, got %s", tostring(load))
  end
  return load
end

-- Counts the samples whose ip lies in each binary; if `chains` is true, also loads the symbols
-- of the binaries of all frames. Returns a function that lists the binaries
-- (src/binding/query/hits.c); nil if no sample has an ip.
local function count_samples(file, chains)
  local spec = core.query_spec(records.samples(file, { order = "file", expand = false }))
  local scope = spec.scope
  if not scope:root "dso" then return nil end
  local keys = { { ref = scope:stack("callchain", chains and "binaries" or "binary") } }
  local description = engine.grouping(spec, keys, { { measure = "count" } })
  description.binaries = true
  local _, each = engine.groups(spec, description)
  return each
end

---Calls a function for each binary, as they were first mapped. For a stream, which cannot be
---read for it, the symbols of all are looked up, and `samples` is nil.
---@param file perflua.File
---@param load string of BinariesOptions, or "reached": those of all frames of call chains
---@param fn fun(row: perflua.Binary, first: boolean) first: no binary before has its name and
--- build-id, and so its samples; it must not read records
function binaries.each(file, load, fn)
  if load == "none" or not file.size then return core.each_binary(file, load ~= "none", fn) end
  local each = count_samples(file, load == "reached")
  if each then return each(load == "all", fn) end
  core.each_binary(file, load == "all", function(row, first)
    row.samples = 0
    fn(row, first)
  end)
end

---@param file perflua.File
---@param options table? { load }: the binaries whose symbols are looked for: "hit" by a
--- sample's ip, "all", "none"
---@return perflua.Binary[] # as they were first mapped
function binaries.binaries(file, options)
  recording.check_open(file)
  local rows = {}
  binaries.each(file, load_of(options), function(row) rows[#rows + 1] = row end)
  return rows
end

return binaries
