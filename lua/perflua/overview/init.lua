-- Describes at a glance what a recording is and holds, part by part: what the header says,
-- what one pass counts, whether all of it can be trusted, which functions took the time, and
-- what else can be asked.

local answers = require "perflua.overview.answers"
local doctor = require "perflua.doctor"
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local words = require "perflua.doctor.words"

local TOP <const> = 5
local SOFTWARE <const>, TRACEPOINT <const> = 1, 2 -- PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT
local DUMMY <const> = 9 -- PERF_COUNT_SW_DUMMY

local overview = {}

local function describe_events(file)
  local list = json.array()
  for i, event in ipairs(file.events) do
    list[i] = {
      event = event.name,
      tracepoint = event.type == TRACEPOINT,
      dummy = event.type == SOFTWARE and event.config == DUMMY,
      samples_time = event.samples_time,
      sample_freq = event.freq and event.sample_freq or nil,
      sample_period = not event.freq and event.sample_period or nil,
      chains = event.sample_stack_user > 0 and "dwarf" or nil,
    }
    for _, field in ipairs(event.sample_fields) do
      if field == "callchain" then list[i].chains = list[i].chains or "frames" end
      if field == "branch_stack" then list[i].branches = true end
    end
  end
  return list
end

---Describes what is known before any record is read.
---@param file perflua.File
---@param found table? gets `recording` and `events`
---@return table found
function overview.describe(file, found)
  local features = file.features
  found = found or {}
  found.recording = {
    path = fmt.paths(file.path), size = file.size, mode = file.mode,
    captured_on = file.captured_on,
    command = json.array(features.cmdline),
    host = features.hostname, kernel = features.osrelease, architecture = features.arch,
    processor = features.cpudesc,
    processors = features.nrcpus and features.nrcpus.online,
    memory = features.total_mem and features.total_mem << 10,
    perf = features.version,
  }
  found.events = describe_events(file)
  return found
end

-- Returns the number of an event among those that say where the time went, for each: of a
-- recording without such events, those that are not tracepoints.
local function choose_events(found)
  local timed, others = {}, {}
  for i, event in ipairs(found.events) do
    if event.samples > 0 and not event.tracepoint then
      table.insert(event.samples_time and timed or others, i)
    end
  end
  return timed[1] and timed or others
end

-- Adds the heaviest rows of each event in found.top, under a name. A row has these keys.
local function add_heaviest(found, name, sorted, keys)
  local lists, open = {}, 0
  for _, top in ipairs(found.top) do
    top[name], open = json.array(), open + 1
    lists[top.index] = top
  end
  for row in sorted:rows() do
    local top = lists[row["event.index"]]
    local list = top and top[name]
    if list and #list < TOP then
      local shown = { samples = row.count, period = row.period,
        percent = words.share(row.period, top.period) }
      for _, key in ipairs(keys) do shown[key] = row[key] end
      list[#list + 1] = shown
      if #list == TOP then open = open - 1 end
    end
    if open == 0 then return end
  end
end

-- Returns the samples of a recording, grouped by event and by these keys, most period first.
local function group_samples(file, ...)
  return file:samples { order = "file" }:all_events():group_by("event.index", ...)
    :count():sum("period"):sort("period")
end

---Counts samples by event and by command.
---@param file perflua.File
---@param found table of describe(); its events get `samples` and `period`, it gets `top`
function overview.count(file, found)
  for _, event in ipairs(found.events) do event.samples, event.period = 0, 0 end
  local sorted = group_samples(file, "comm")
  for row in sorted:rows() do
    local event = found.events[row["event.index"]]
    if event then
      event.samples, event.period = event.samples + row.count, event.period + row.period
    end
  end
  found.top = json.array()
  for i, index in ipairs(choose_events(found)) do
    local event = found.events[index]
    found.top[i] = { event = event.event, index = index, period = event.period,
      samples = event.samples }
  end
  add_heaviest(found, "commands", sorted, { "comm" })
end

---Checks whether the recording is whole and good.
---@param file perflua.File
---@param found table gets `health`
function overview.check(file, found)
  local report = doctor.examine(file, { no_symbols = true, finds_names = true })
  found.health = { verdict = report.verdict, findings = report.findings, lost = report.lost,
    first_time = report.first_time, last_time = report.last_time,
    interrupted = report.interrupted }
end

---Counts samples by function.
---@param file perflua.File
---@param found table of count(); its `top` get `functions` and `without_function`
function overview.name(file, found)
  if #found.top == 0 then return end
  local sorted = group_samples(file, "symbol", "dso")
  add_heaviest(found, "functions", sorted, { "symbol", "dso" })
  local nameless = {}
  for row in sorted:having("symbol == nil"):rows() do
    local index = row["event.index"] -- nil: of an event that the recording does not describe
    if index then nameless[index] = (nameless[index] or 0) + row.count end
  end
  for _, top in ipairs(found.top) do
    top.without_function = words.share(nameless[top.index] or 0, top.samples)
  end
end

overview.suggest = answers.add

return overview
