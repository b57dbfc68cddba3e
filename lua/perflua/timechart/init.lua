-- A timechart: which threads ran on which processors, when they waited for one, and who woke
-- whom.
--
-- A chart is
--   from, to   ns
--   cpus       rows of processors; threads: rows of threads, those that ran longest first
--   wakes      { time, waker, woken … }: ids of threads
--   step       ns: runs that lie closer are one, so that a long recording makes no larger chart
--   merged     number of runs that became part of another; left_out: number of threads without
--              a row, and left_out_ns: how long they ran
--   unknown    ns of the processors' time in which it is not known who ran
--   unseen     number of threads that were not seen to leave a processor
--   counts     of the spans: see table/pair_counts.lua
--
-- A row is { id, name, ran, unknown, runs, waits, gaps }; ran and unknown are in ns, and runs,
-- waits and gaps, when it is not known who ran, are lists of start, stop, ran, other: the
-- processor of a run, or of a processor's row its thread; false: several.

local core = require "perflua.core"
local described = require "perflua.toolkit.described"
local samples_with_losses = require "perflua.file.samples_with_losses"
local switches = require "perflua.waits.switches"

local timechart = {}

local MOST_RUNS <const> = 200000 -- of a chart without steps
local STEPS <const> = 8000 -- of other charts: about ten for each pixel of a window

local DEFAULT_STEP <const> = 10000 -- ns, of streams

local Chart = {}
Chart.__index = Chart

local function row_of(list, id)
  local row = list[id]
  if not row then
    row = { id = id, ran = 0, unknown = 0, runs = {}, waits = {}, gaps = {} }
    list[id] = row
  end
  return row
end

-- Adds a segment to a list of a row, or to the last one if both are within a step.
function Chart:add(list, start, stop, value)
  local n = #list
  if n > 0 and stop - list[n - 3] <= self.step then
    list[n - 2], list[n - 1] = stop, list[n - 1] + (stop - start)
    if list[n] ~= value then list[n] = false end
    self.merged = self.merged + 1
    return
  end
  list[n + 1], list[n + 2], list[n + 3], list[n + 4] = start, stop, stop - start, value
end

-- Adds a time in which it is not known who ran on a processor, unless it is empty.
function Chart:add_gap(processor, start, stop)
  if stop <= start then return end
  processor.unknown = processor.unknown + stop - start
  self.unknown = self.unknown + stop - start
  self:add(processor.gaps, start, stop, false)
end

-- Adds the time between two switches of a processor: from `before` to tid, and then from
-- `after`.
function Chart:add_run(cpu, start, stop, before, tid, after)
  local processor = row_of(self.by_cpu, cpu)
  if not processor.since then processor.since, processor.idled = start, before == 0 end
  self:add_gap(processor, processor.last or start, after == tid and start or stop)
  processor.last = stop
  if after ~= tid or tid == 0 then return end
  local thread = row_of(self.by_tid, tid)
  thread.ran, processor.ran = thread.ran + stop - start, processor.ran + stop - start
  self:add(thread.runs, start, stop, cpu)
  self:add(processor.runs, start, stop, tid)
end

-- Adds a wake-up; of those between the same threads within a step the first.
function Chart:add_wake(time, waker, woken)
  local key = waker << 32 | woken
  local last = self.woken[key]
  if waker == 0 or last and time - last < self.step then return end
  self.woken[key] = time
  self.wakes[#self.wakes + 1] = { time, waker, woken }
end

---@param file perflua.File
---@param asks_names boolean whether names of threads are asked for
---@return perflua.Described # of the times between switches of processors, whose key is below
--- 0, and of threads off them
function timechart.query(file, asks_names)
  local wakes = switches.wakes(file)
  local options = wakes and switches.sleeps(wakes) or switches.off()
  local between = { event = switches.event, key = "-1 - cpu", state = "between" }
  table.insert(options.open, 1, between)
  options.close = { { event = switches.event, key = between.key }, options.close }
  options.unfinished = true
  local more = wakes and { "at_woken.time", "at_woken.tid" }
    or asks_names and { "false", "false" } or {}
  more[#more + 1] = asks_names and "open.args.next_comm" or nil
  return described.samples(file):pair(options):select("key", "start", "stop",
    "open.args.prev_pid", "open.args.next_pid", "close.args.prev_pid", "duration - in_blocked",
    table.unpack(more))
end

-- Reads spans, which come in the order of their ends. A thread that runs at the end does so
-- until the end if it was seen to leave a processor before. A thread that was seen on another
-- processor after the start of a run had left, unseen: then it is not known who ran.
local function read(chart, query)
  local last, left, unseen, seen = {}, {}, {}, {} -- seen: when threads came or left last
  local from, to = math.maxinteger, 0
  for key, start, stop, before, tid, after, ready, woken_at, waker, comm in query:each() do
    local last_time = stop or start
    if start < from then from = start end
    if last_time > to then to = last_time end
    if key < 0 then
      left[before] = true
      if comm and comm ~= "" then chart.comms[tid] = comm end -- only if asked for
      if (seen[before] or 0) < start then seen[before] = start end
      local is_elsewhere = tid ~= 0 and (seen[tid] or 0) > start
      if not is_elsewhere then seen[tid] = start end
      if stop then
        seen[after] = stop
        chart:add_run(-1 - key, start, stop, before, tid, not is_elsewhere and after)
      else
        last[#last + 1] = { -1 - key, start, before, tid }
      end
    else
      if woken_at then chart:add_wake(woken_at, waker or 0, key) end
      if stop and ready > 0 then
        chart:add(row_of(chart.by_tid, key).waits, stop - ready, stop, false)
      end
    end
  end
  chart.from, chart.to = from, to
  for _, run in ipairs(last) do
    local cpu, start, before, tid = table.unpack(run)
    local is_seen = tid == 0 or left[tid]
    if not is_seen then unseen[tid] = true end
    chart:add_run(cpu, start, to, before, tid,
      is_seen and (tid == 0 or seen[tid] == start) and tid)
  end
  for _ in pairs(unseen) do chart.unseen = chart.unseen + 1 end
  table.sort(chart.wakes, function(a, b) return a[1] < b[1] end)
end

-- Adds the times before the first and after the last spans of processors.
local function finish_gaps(chart)
  for _, processor in pairs(chart.by_cpu) do
    local first = processor.since
    if not processor.idled and first > chart.from then
      chart.unknown, processor.unknown = chart.unknown + first - chart.from,
        processor.unknown + first - chart.from
      processor.gaps = table.move(processor.gaps, 1, #processor.gaps, 5,
        { chart.from, first, first - chart.from, false })
    end
    chart:add_gap(processor, processor.last, chart.to)
  end
end

local function sorted(by_id, before)
  local list = {}
  for _, row in pairs(by_id) do list[#list + 1] = row end
  table.sort(list, before)
  return list
end

-- Names the rows, and leaves out threads that are not chosen, or for which there is no room.
local function finish_rows(chart, file, is_chosen, most)
  local comm_of = switches.names(file, nil, chart.comms)
  chart.cpus = sorted(chart.by_cpu, function(a, b) return a.id < b.id end)
  for _, row in ipairs(chart.cpus) do row.name = ("cpu %d"):format(row.id) end
  local all = sorted(chart.by_tid, function(a, b)
    if a.ran ~= b.ran then return a.ran > b.ran end
    return a.id < b.id
  end)
  chart.threads, chart.names = {}, {}
  for _, row in ipairs(all) do
    if row.ran == 0 then break end
    row.name = ("%s %d"):format(comm_of(row.id, chart.to) or "[unknown]", row.id)
    chart.names[row.id] = row.name
    local is_shown = not is_chosen or is_chosen(row.id, chart.to)
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
  for i, count in ipairs(core.count(file, { names = true, order = true }).events) do
    if file.events[i].name == switches.event and count.count > MOST_RUNS then
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
  local step = step_of(file)
  samples_with_losses.read_names(file)
  local asks_names = switches.lacks_names(file)
  local chart = setmetatable({ by_tid = {}, by_cpu = {}, woken = {}, wakes = {}, unknown = 0,
    step = step, comms = asks_names and {} or nil, merged = 0, left_out = 0, left_out_ns = 0,
    unseen = 0 }, Chart)
  local query = timechart.query(file, asks_names).query
  read(chart, query)
  if not next(chart.by_cpu) then return nil end
  finish_gaps(chart)
  chart.counts = query.counts
  finish_rows(chart, file, options.is_chosen, options.most)
  return chart
end

return timechart
