-- Tells whether other programs kept the threads of one side off the processors, as records of
-- switches, idle processors or clock events show it.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local query = require "perflua.query"
local records = require "perflua.file.records"
local switches = require "perflua.waits.switches"
local usage_error = require("perflua.errors").usage_error

local crowding = {}

local MUCH <const> = 0.1 -- of the time, by which sides differ that are told

-- Returns the part of the recording that its threads were preempted for; of several threads
-- added up. nil: no record says so.
local function preempted_part(file, seconds)
  if switches.check_off(file) then return nil end
  local options, types = switches.off_cpu(file)
  local read = types and records.records(file, { type = types, expand = true })
    or records.samples(file)
  return read:pair(options):where("state == 'preempted'"):sum("duration") / (seconds * 1e9)
end

-- Returns the event whose periods are times on processors.
local function find_clock(file)
  for _, event in ipairs(file.events) do
    if event.type == 1 and event.config <= 1 then return event end
  end
end

local function has_all_processors(file)
  for _, word in ipairs(file.features.cmdline or {}) do
    if word == "-a" or word == "--all-cpus" then return true end
  end
  return false
end

-- Adds up the times that processors ran threads, and that they were idle; nil: samples do not
-- say. The names of the recording, which the comparison needs next, are found in the same pass.
local function add_clock(file, clock)
  local busy, idle = 0, 0
  local has_fields, periods = pcall(function()
    return records.samples(file, clock):group_by("pid"):sum("period")
  end)
  if not has_fields then return nil end
  aside.from(periods)
  core.watch_names(file)
  local added = periods:table()
  if added.data.interrupted then usage_error("diff: interrupted: nothing is compared") end
  for row in added:rows() do
    if row.pid == 0 then idle = idle + row.period else busy = busy + row.period end
  end
  return { busy = busy, idle = idle }
end

-- Returns the recording of a query of all its time; nil: it is of a part, or of a stream.
local function whole_file(item)
  local spec = query.is(item) and core.query_spec(item)
  if not spec or not spec.file.size or spec.from or spec.to then return nil end
  for _, filter in ipairs(spec.filters) do
    if filter.is_window then return nil end
  end
  return spec.file
end

---Reads the clocks of recordings, before anything else is read, if they are needed.
---@param ... (perflua.Query|perflua.Table)[] the lists of both sides
---@return table? # the times by File, for line(); nil: they are not needed
function crowding.read_clocks(...)
  local clocks, files, have_switches = {}, {}, true
  for _, list in ipairs { ... } do
    for _, item in ipairs(list) do
      local file = whole_file(item)
      if not file or not find_clock(file) then return nil end
      files[#files + 1] = file
      have_switches = have_switches and not switches.check_off(file)
    end
  end
  if have_switches then return nil end -- they tell more
  for _, file in ipairs(files) do
    clocks[file] = clocks[file] or add_clock(file, find_clock(file))
  end
  return clocks
end

-- Returns the parts of the recording that processors ran threads, and that they were idle,
-- false if only threads that were chosen were recorded; of several processors added up. nil: no
-- clock was sampled.
local function clock_parts(file, seconds, clocks)
  local clock = clocks and clocks[file]
  if not clock then return nil end
  local is_idle_known = clock.idle > 0 or has_all_processors(file)
  return clock.busy / (seconds * 1e9), is_idle_known and clock.idle / (seconds * 1e9)
end

-- Returns the means over the runs of a side of the parts that a function tells, up to two; nil
-- or false: a run does not say.
local function means_of(side, parts_of)
  local sums = { 0, 0 }
  for _, run in ipairs(side.runs) do
    local file = run.spec and run.spec.file
    if not file or not file.size or not run.seconds or run.has_gaps or run.spec.from
      or run.spec.to then
      return nil
    end
    local parts = { parts_of(file, run.seconds, side.clocks) }
    for i = 1, 2 do sums[i] = sums[i] and parts[i] and sums[i] + parts[i] / #side.runs end
  end
  return sums[1], sums[2]
end

local function tell(format, a, b)
  return format:format(("%.3g %%"):format(100 * a), ("%.3g %%"):format(100 * b))
end

---@param before table a side
---@param after table
---@return string? # a line; nil: nothing shows it
function crowding.line(before, after)
  local a = means_of(before, preempted_part)
  local b = a and means_of(after, preempted_part)
  if a and b then
    if math.abs(a - b) < MUCH then return nil end
    return tell("threads were preempted for %s of the time before, %s after: other programs "
      .. "ran instead", a, b)
  end
  local busy_before, idle_before = means_of(before, clock_parts)
  if not busy_before then return nil end
  local busy_after, idle_after = means_of(after, clock_parts)
  if idle_before and idle_after then
    if math.abs(idle_before - idle_after) < MUCH then return nil end
    return tell("processors were idle for %s of the time before, %s after: other programs may "
      .. "have run instead", idle_before, idle_after)
  elseif idle_before or idle_after then
    return nil -- one side has all threads
  end
  if not busy_after or math.min(busy_before, busy_after)
      > (1 - MUCH) * math.max(busy_before, busy_after) then
    return nil
  end
  return tell("threads ran on processors for %s of the time before, %s after: they waited, or "
    .. "other programs ran instead", busy_before, busy_after)
end

return crowding
