-- A timechart: which threads ran on which processors, when they waited for one, and who woke
-- whom, from switches and wake-ups in the order of time.
--
-- A chart is
--   from, to   ns
--   cpus       rows of processors; threads: rows of threads, those that ran longest first
--   wakes      { time, waker, woken … }: ids of threads
--   step       ns: runs that lie closer are one, so that a long recording makes no larger chart
--   merged     number of runs that became part of another; left_out: number of threads without
--              a row, and left_out_ns: how long they ran
--   missing    text: which runs are not known; nil: all are
--   unknown    ns of the processors' time in which it is not known who ran
--   lost       number of records of losses
--
-- A row is { id, name, ran, unknown, runs, waits, gaps }; ran and unknown are in ns, and runs,
-- waits and gaps, when it is not known who ran, are lists of start, stop, ran, other: the
-- processor of a run, or of a processor's row its thread; false: several.

local comms = require "perflua.waits.comms"
local core = require "perflua.core"
local runs = require "perflua.waits.runs"
local samples_with_losses = require "perflua.file.samples_with_losses"
local switches = require "perflua.waits.switches"

local timechart = {}

local MOST_RUNS <const> = 200000 -- of a chart without steps
local STEPS <const> = 8000 -- of other charts: about ten for each pixel of a window

local DEFAULT_STEP <const> = 10000 -- ns, of streams

local SWITCH <const> = "sched:sched_switch"
local WAKES <const> = { "sched:sched_waking", "sched:sched_wakeup" } -- the first that is there

local function new_row(id)
  return { id = id, ran = 0, unknown = 0, runs = {}, waits = {}, gaps = {} }
end

local Chart = {}
Chart.__index = Chart

local function row_of(list, id)
  local row = list[id]
  if not row then
    row = new_row(id)
    list[id] = row
  end
  return row
end

-- Adds a segment to a list of a row, or to the last one if both are within a step.
function Chart:add(list, start, stop, other)
  local n = #list
  if n > 0 and stop - list[n - 3] <= self.step then
    list[n - 2], list[n - 1] = stop, list[n - 1] + (stop - start)
    if list[n] ~= other then list[n] = false end
    self.merged = self.merged + 1
    return
  end
  list[n + 1], list[n + 2], list[n + 3], list[n + 4] = start, stop, stop - start, other
end

-- Returns the functions that take runs: see waits/runs.lua.
function Chart:handlers()
  local function start(tid, _, time)
    local since = self.waiting[tid]
    self.waiting[tid] = nil
    if since and time > since then
      self:add(row_of(self.by_tid, tid).waits, since, time, false)
    end
  end
  local function stop(tid, cpu, since, time)
    local thread, processor = row_of(self.by_tid, tid), row_of(self.by_cpu, cpu)
    thread.ran, processor.ran = thread.ran + time - since, processor.ran + time - since
    self:add(thread.runs, since, time, cpu)
    self:add(processor.runs, since, time, tid)
  end
  local function unknown(cpu, since, time)
    local processor = row_of(self.by_cpu, cpu)
    processor.unknown = processor.unknown + time - since
    self:add(processor.gaps, since, time, false)
  end
  return { start = start, stop = stop, unknown = unknown }
end

-- Notes a wake-up; of those between the same threads within a step the first.
function Chart:wake(time, waker, woken)
  if not self.running.cpu_of[woken] then self.waiting[woken] = self.waiting[woken] or time end
  local key = waker << 32 | woken
  local last = self.woken[key]
  if waker == 0 or last and time - last < self.step then return end
  self.woken[key] = time
  local list = self.wakes
  list[#list + 1], list[#list + 2], list[#list + 3] = time, waker, woken
end

local function read(chart, file, names)
  local query = samples_with_losses.named(file, names)
  local columns = { "time", "cpu", "tid", "args.prev_pid", "args.next_pid", "args.prev_state",
    names[2] and "args.pid" or "false" }
  query = query:select(table.unpack(columns))
  for time, cpu, tid, prev, next_tid, state, woken in query:each() do
    if not (time and cpu) or not (prev or woken) then
      chart.running:lose()
      chart.lost, chart.waiting = chart.lost + 1, {}
    else
      chart.from, chart.to = chart.from or time, math.max(chart.to or time, time)
      if prev then
        chart.running:switch(cpu, prev, next_tid, time)
        if prev ~= 0 and switches.can_go_on(state) then chart.waiting[prev] = time end
      else
        chart:wake(time, tid or 0, woken)
      end
    end
  end
  chart.running:finish(chart.to or 0)
end

local function sorted(by_id, before)
  local list = {}
  for _, row in pairs(by_id) do list[#list + 1] = row end
  table.sort(list, before)
  return list
end

-- Names the rows, and leaves out threads that are not chosen, or for which there is no room.
local function finish_rows(chart, file, is_chosen, most)
  local comm_of = comms.reader(file)
  chart.cpus = sorted(chart.by_cpu, function(a, b) return a.id < b.id end)
  for _, row in ipairs(chart.cpus) do row.name = ("cpu %d"):format(row.id) end
  local all = sorted(chart.by_tid, function(a, b)
    if a.ran ~= b.ran then return a.ran > b.ran end
    return a.id < b.id
  end)
  chart.threads, chart.names = {}, {}
  for _, row in ipairs(all) do
    row.name = ("%s %d"):format(comm_of(row.id, chart.to) or "[unknown]", row.id)
    chart.names[row.id] = row.name
    local is_shown = row.ran > 0 and (not is_chosen or is_chosen(row.id, chart.to))
    if is_shown and #chart.threads < most then
      chart.threads[#chart.threads + 1] = row
    elseif is_shown then
      chart.left_out, chart.left_out_ns = chart.left_out + 1, chart.left_out_ns + row.ran
    end
  end
end

-- Returns the step of a chart: 0 if a recording is short.
local function step_of(file)
  if not file.size then return DEFAULT_STEP end -- a stream, of which nothing is known yet
  for i, count in ipairs(core.count(file).events) do
    if file.events[i].name == SWITCH and count.count > MOST_RUNS then
      return (file.last_time - file.first_time) // STEPS
    end
  end
  return 0
end

---Reads a recording of sched:sched_switch.
---@param file perflua.File
---@param options { most: integer, is_chosen: (fun(tid: integer, time: integer): any)? } most:
--- rows of threads
---@return table? # a chart; nil: nothing ran
function timechart.read(file, options)
  samples_with_losses.read_names(file)
  local chart = setmetatable({ by_tid = {}, by_cpu = {}, waiting = {}, woken = {}, wakes = {},
    step = step_of(file), merged = 0, lost = 0, left_out = 0,
    left_out_ns = 0 }, Chart)
  local names = { SWITCH }
  for _, name in ipairs(WAKES) do
    if not names[2] and file.events[name] then names[2] = name end
  end
  chart.running = runs.new(chart:handlers())
  read(chart, file, names)
  if not next(chart.by_cpu) then return nil end
  chart.missing, chart.unknown = chart.running:note "drawn", chart.running.unknown
  finish_rows(chart, file, options.is_chosen, options.most)
  return chart
end

return timechart
