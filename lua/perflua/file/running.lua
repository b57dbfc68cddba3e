-- file:running(cpu, time): the thread that was on a processor at a time, as records of switches
-- say it: samples of sched:sched_switch, PERF_RECORD_SWITCH_CPU_WIDE and PERF_RECORD_SWITCH.
--
-- For each processor there is a list of times with the thread that ran from each of them to the
-- next: false where no record says which one. That is so
--   - after a SWITCH that says who left, but not who came;
--   - between two switches of which the later one says that another thread left than came;
--   - from a switch to the next one, if records of the processor were lost between them;
--   - before the first and after the last switch, unless all switches of the processor were
--     recorded. That is known of SWITCH_CPU_WIDE, and where the idle thread left: events of
--     threads that were chosen never see that. A thread that came by its own SWITCH stays until
--     it leaves by another one.

local between = require "perflua.recording.between"
local core = require "perflua.core"
local errors = require "perflua.errors"
local check_open = require("perflua.recording").check_open
local samples_with_losses = require "perflua.file.samples_with_losses"
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

local running = {}

-- PERF_RECORD_…
local SAMPLE <const>, LOST <const>, LOST_SAMPLES <const> = 9, 2, 13
local SWITCH <const>, SWITCH_CPU_WIDE <const> = 14, 15
local SWITCH_EVENT <const> = "sched:sched_switch"

-- By file: { by_cpu, names, pids, first, last }; by processor { times, tids, before (the thread
-- that left first), is_whole (all switches were recorded), stays (the last thread has not
-- left), left (by the last switch), lost (records, before the first switch) }.
local known <const> = setmetatable({}, { __mode = "k" })

-- From the time after the last switch on no record says who ran.
local function forget(list)
  local n = #list.times
  if n > 0 and list.tids[n] then
    list.times[n + 1], list.tids[n + 1] = list.times[n] + 1, false
  end
end

-- Notes that at a time one thread left and another came; false: which one is not said.
local function note_switch(list, time, left, came, stays)
  local n = #list.times
  if n == 0 then list.before = not list.lost and left end
  local now = n > 0 and list.tids[n]
  if came and now == came and (list.left == left or not left) then return end -- told twice
  if now and left and now ~= left then forget(list) end
  n = #list.times
  list.times[n + 1], list.tids[n + 1], list.left, list.stays = time, came, left, stays
end

local function list_of(index, cpu)
  local list = index.by_cpu[cpu]
  if not list then
    list = { times = {}, tids = {}, lost = index.lost }
    index.by_cpu[cpu] = list
  end
  return list
end

-- Records of a processor, or of all, were lost.
local function note_loss(index, cpu)
  if cpu then
    local list = list_of(index, cpu)
    list.lost = true
    return forget(list)
  end
  index.lost = true -- of processors that are not known yet, too
  for _, list in pairs(index.by_cpu) do
    list.lost = true
    forget(list)
  end
end

-- Samples of every nth switch say too little.
local function is_each_recorded(event)
  return event and not event.freq and (event.sample_period or 0) <= 1
end

-- The records that say something of switches, as a query of what they say; nil: they do not say
-- where or when.
local function select_switches(file)
  local tests = { "type_id ~= " .. SAMPLE }
  if is_each_recorded(file.events[SWITCH_EVENT]) then
    tests[2] = ("event == '%s'"):format(SWITCH_EVENT)
  end
  local types = { "sample", "switch", "switch_cpu_wide", "lost", "lost_samples" }
  local query = file:records({ type = types }):where(table.concat(tests, " or "))
  local function pick(class, name)
    return samples_with_losses.pick_field(query, class, name)
  end
  if pick("integer", "cpu") ~= "cpu" or pick("integer", "time") ~= "time" then return nil end
  return query:select("type_id", "time", "cpu", "tid", "out", "next_prev_pid", "next_prev_tid",
    pick("integer", "args.prev_pid"), pick("integer", "args.next_pid"),
    pick("string", "args.next_comm"), "bpf")
end

local function known_tid(tid) return tid and tid >= 0 and tid end

-- Returns who left and who came by a switch record; notes the pid of who came.
local function read_switch(index, tid, out, other_pid, other_tid)
  if out then
    if known_tid(other_tid) then index.pids[other_tid] = known_tid(other_pid) or nil end
    return known_tid(tid), known_tid(other_tid)
  end
  return known_tid(other_tid), known_tid(tid)
end

local function read_file(file)
  local index = { by_cpu = {}, names = {}, pids = {}, first = file.first_time,
    last = file.last_time }
  local query, n = select_switches(file), 0
  if not query then
    index.why = "its records do not say on which processor and when threads were switched"
    return index
  end
  for type_id, time, cpu, tid, out, other_pid, other_tid, prev, next_tid, comm, bpf in query do
    cpu = cpu and cpu >= 0 and cpu
    if type_id == LOST or type_id == LOST_SAMPLES and not bpf then
      note_loss(index, cpu)
    elseif time and cpu and type_id ~= LOST_SAMPLES then
      local left, came
      local list = list_of(index, cpu)
      if type_id == SAMPLE then
        left, came = known_tid(prev), known_tid(next_tid)
        if came and comm then index.names[came] = comm end
        list.is_whole = list.is_whole or left == 0
      else
        left, came = read_switch(index, tid, out, other_pid, other_tid)
        list.is_whole = list.is_whole or type_id == SWITCH_CPU_WIDE
      end
      note_switch(list, time, left, came, type_id == SWITCH and not out)
      n = n + 1
      if not index.first or time < index.first then index.first = time end
      if not index.last or time > index.last then index.last = time end
    end
  end
  if n == 0 then
    index.why = file.events[SWITCH_EVENT]
      and "the recording has no sample of each switch: perf record -c 1 -e " .. SWITCH_EVENT
      or "the recording has no switches that say where and when: perf record -a "
      .. "--switch-events, or -e " .. SWITCH_EVENT
  end
  return index
end

-- Several recordings of one system have one time; else a processor is one of several.
local function check_system(file)
  local thread = type(file.path) == "table" and file:threads()[1]
  if thread and thread.source then
    usage_error("running: these recordings are of several systems: open one of them")
  end
end

-- The number of the last time that is not later; 0: none.
local function find_last(times, time)
  local low, high = 1, #times
  while low <= high do
    local middle = (low + high) // 2
    if times[middle] <= time then low = middle + 1 else high = middle - 1 end
  end
  return high
end

-- A thread that no record describes, by what switches say of it.
local function undescribed(index, tid)
  return {
    tid = tid, pid = tid == 0 and 0 or index.pids[tid],
    comm = tid == 0 and "swapper" or index.names[tid] or ":" .. tid,
    maps = function() return {} end,
  }
end

local function check_integer(name, value)
  if math.type(value) ~= "integer" then
    usage_error("running: %s is an integer%s, got %s", name, name == "time"
      and " (ns) or a text such as \"@440.5\"" or "", suggest.value(value))
  end
end

---@param file perflua.File
---@param cpu integer
---@param time integer|string in ns, or as between() takes it: "@440.5"
---@return table? # the Thread that ran there then; nil if the recording does not say which
---@return string? # why, if it says so of no time
function running.running(file, cpu, time)
  check_open(file)
  if type(time) == "string" then time = between.time(file, time, false) end
  check_integer("cpu", cpu)
  check_integer("time", time)
  local index = known[file]
  if not index then
    check_system(file)
    index = read_file(file)
    if not core.interrupted() then known[file] = index end
  end
  if index.why and not core.interrupted() then return nil, index.why end
  local list = index.by_cpu[cpu]
  if not list or time < index.first or time > index.last then return nil end
  local at = find_last(list.times, time)
  local tid = list.is_whole and list.before
  if at > 0 then
    local is_known = at < #list.times or list.is_whole or list.stays or time == list.times[at]
    tid = is_known and list.tids[at]
  end
  return tid and (file:thread(tid, time) or undescribed(index, tid)) or nil
end

return running
