-- file:binaries(options): every binary of a recording, and where its symbols come from.

local core = require "perflua.core"
local errors = require "perflua.errors"
local recording = require "perflua.recording"
local records = require "perflua.file.records"
local usage_error = errors.usage_error

local binaries = {}

local list = core.list_binaries

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

-- Returns a key that identifies a binary, as in the core.
local function make_key(name, build_id) return name .. "\n" .. (build_id or "") end

-- Counts the samples whose ip lies in each binary.
local function count_samples(file)
  local counts = {}
  local samples = records.samples(file, { order = "file", expand = false })
  if not core.query_spec(samples).scope:root "dso" then return counts end -- no sample has an ip
  for row in samples:group_by("dso", "map.build_id"):all_events():count():each() do
    if row.dso then counts[make_key(row.dso, row["map.build_id"])] = row.count end
  end
  return counts
end

-- Lists the binaries. For a stream, which cannot be read for it, the symbols of all are looked
-- up, and `samples` is nil.
---@param file perflua.File
---@param options table? { load }: the binaries whose symbols are looked for: "hit" by a
--- sample's ip, "all", "none"
---@return perflua.Binary[] # as they were first mapped
function binaries.binaries(file, options)
  recording.check_open(file)
  local load = load_of(options)
  local counts = file.size and load ~= "none" and count_samples(file)
  if load == "none" then return list(file, false) end
  local rows = list(file, load == "all" or counts or true)
  for _, row in ipairs(rows) do
    row.samples = counts and (counts[make_key(row.name, row.build_id)] or 0) or nil
  end
  return rows
end

return binaries
