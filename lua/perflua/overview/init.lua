-- Describes at a glance what a recording is and holds, part by part: what the header says,
-- what one pass counts, whether all of it can be trusted, which functions took the time, and
-- what else can be asked.

local doctor = require "perflua.doctor"
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local needs = require "perflua.meta.needs"
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

-- The questions that a recording can answer, as commands, and how to record for the others.

-- Returns which kinds of samples there are.
local function kinds_of(found)
  local kinds = {}
  for _, event in ipairs(found.events) do
    if event.samples > 0 then
      kinds[event.tracepoint and "tracepoints" or "counted"] = true
      kinds.chains = kinds.chains or event.chains ~= nil
    end
  end
  return kinds
end

-- Tools that need no event of their own: their words, the kind of samples that they are for,
-- what they show.
local general <const> = {
  { "report", "counted", "functions, binaries and threads by their share" },
  { "browse", "counted", "the same on the whole terminal, with callers and code of each row" },
  { "report -g caller", "chains", "the callers of each function as well" },
  { "flame -o flame.svg", "chains", "a flame graph, for any browser" },
  { "script", "tracepoints", "a line for each sample, with its arguments" },
}

---Adds the commands that a recording answers, and what to record to learn more.
---@param file perflua.File
---@param found table gets `commands` and `record`
---@param tools { name: string, tool: table }[]
---@param options string options of these commands, each behind a blank
function overview.suggest(file, found, tools, options)
  local kinds, lacking = kinds_of(found), json.array()
  found.commands, found.record = json.array(), json.array()
  local function add_command(command, text)
    table.insert(found.commands, { text = text,
      command = ("perflua %s%s %s"):format(command, options, fmt.shell_word(file.path)) })
  end
  for _, row in ipairs(general) do
    if kinds[row[2]] then add_command(row[1], row[3]) end
  end
  for _, entry in ipairs(tools) do
    if entry.tool.needs and needs.check(file, entry.tool) then
      lacking[#lacking + 1] = entry.name
    elseif entry.tool.needs then
      add_command(entry.name, entry.tool.description)
    end
  end
  if kinds.counted and not kinds.chains then
    table.insert(found.record, { command = "perf record -g -- COMMAND",
      text = "the callers of each function" })
  end
  if lacking[1] then
    table.insert(found.record, { command = "perflua record NAME -- COMMAND",
      text = "what one of these needs:", tools = lacking })
  end
end

return overview
