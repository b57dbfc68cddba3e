-- perflua sched FILE: how long threads ran, and how long they waited for a processor.

local comms = require "perflua.waits.comms"
local result_table = require "perflua.table.result_table"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"

local columns = { { "comm", "string" }, { "tid", "signed" }, { "switches", "unsigned" },
  { "run_ms", "float" }, { "wait_ms", "float" }, { "delays", "unsigned" },
  { "delay_ms", "float" }, { "preempted_ms", "float" }, { "avg_us", "float" },
  { "max_us", "float" }, { "max_at", "string" } }

local tool = {
  description =
    "threads: how long they ran, were off CPU, and waited for a processor when ready to run",
  usage = "sched [options] FILE",
  reads = "samples", passes = 2,
  takes = "time comm pid tid cpu where symbols",
  refused = "it reads the switches of all threads",
  applies = samples.of_spans,
  needs = { events = { "sched:sched_switch" }, fields = { "cpu", "time" } },
  record = "perf sched record -- COMMAND",
  options = result_table.with_options(columns, {
    cpu = { "LIST", "only what threads ran, and waited for, on these processors: 0,2-3" },
  }),
  help = [[
run        from switch-in to switch-out
wait       from switch-out to the next switch-in, asleep or not
delay      the part of wait after the wake-up, or after a switch-out while runnable
preempted  the part of delay after a switch-out while runnable
delays     the number of delays whose start is known; avg_us, max_us and max_at are of these,
           and max_at is the start of the longest

Threads that were not switched in are left out, and so is the idle thread.

  $ perflua sched --sort run_ms --count 2 perf.data
  # 9 switches do not follow the previous one on the same processor
  # 2 threads were switched in after sleeping without a recorded wake-up
  comm       tid  switches   run_ms  wait_ms  delays  delay_ms  preempted_ms   avg_us     max_us  max_at
  perflua  28712         6  1015.08    54.74       5     49.19         13.90  9838.10   35265.93  38461.933316
  lua5.4   28152       269   214.98   844.72     268    844.72        844.72  3151.96  150218.42  38461.974430]],
}

-- Indexes in a thread's row: since when it is off CPU, and since when it could run. False: not
-- known. True: it runs.
local OFF <const>, READY <const> = 1, 2
local TID <const>, IN <const>, RUN <const>, WAIT <const>, DELAYS <const> = 3, 4, 5, 6, 7
local DELAY <const>, MAX <const>, MAX_AT <const>, PREEMPTED <const> = 8, 9, 10, 11
local RUNNABLE <const> = 12 -- it could run when it left: nobody has to wake it

-- bits of prev_state; those above tell that it was preempted
local DEAD <const>, STATE <const> = 0x30, 0xff

local function new_row(tid) return { false, false, tid, 0, 0, 0, 0, 0, -1, 0, 0, false } end

-- Switches, wake-ups, and records that tell of lost ones; those have no pid.
local function records_of(file)
  local wakes = file.events["sched:sched_waking"] and "sched:sched_waking"
    or "sched:sched_wakeup"
  local names = { "sched:sched_switch" }
  for _, name in ipairs { wakes, "sched:sched_wakeup_new" } do
    if file.events[name] then names[#names + 1] = name end
  end
  return samples_with_losses.named(file, names)
    :select("args.prev_pid", "args.prev_state", "args.next_pid", "time", "cpu",
      names[2] and "args.pid" or "false"):each()
end

local function forget_states(threads)
  for _, t in pairs(threads) do t[OFF], t[READY] = false, false end
  return {}
end

-- Threads by tid; how many switches do not follow on the one before, wake-ups were not seen,
-- records tell of losses, samples lack a field. Counts what is run on chosen processors, and
-- the waits that end there; is_chosen nil: all are.
local function read_threads(file, is_chosen)
  local threads, running, since, broken, unwoken, lost, unreadable = {}, {}, {}, 0, 0, 0, 0
  for prev, state, next_tid, time, cpu, pid in records_of(file) do
    if (prev or pid) and not (time and (pid or state and next_tid and cpu)) then
      unreadable = unreadable + 1
    elseif prev then
      local t, counts = running[cpu], not is_chosen or is_chosen(cpu)
      if t and t[TID] == prev then
        if counts then t[RUN] = t[RUN] + time - since[cpu] end
      else
        broken = broken + (t and 1 or 0)
        t = threads[prev] or new_row(prev)
        threads[prev] = t
      end
      t[OFF] = state & DEAD == 0 and time
      t[RUNNABLE] = state & STATE == 0
      t[READY] = t[RUNNABLE] and time
      t = threads[next_tid]
      if not t then
        t = new_row(next_tid)
        threads[next_tid] = t
      end
      local off, ready = t[OFF], t[READY]
      if off and counts then
        t[WAIT] = t[WAIT] + time - off
        if not ready then unwoken = unwoken + 1 end
      end
      if ready and ready ~= true and counts then
        local delay = time - ready
        t[DELAYS] = t[DELAYS] + 1
        t[DELAY] = t[DELAY] + delay
        if delay > t[MAX] then t[MAX], t[MAX_AT] = delay, ready end
        if off and t[RUNNABLE] then t[PREEMPTED] = t[PREEMPTED] + delay end
      end
      t[OFF], t[READY], t[IN] = false, true, t[IN] + (counts and 1 or 0)
      running[cpu], since[cpu] = t, time
    elseif pid then
      local t = threads[pid]
      if not t then
        t = new_row(pid)
        threads[pid] = t
      end
      if not t[READY] then t[READY] = time end
    else
      lost, running = lost + 1, forget_states(threads)
    end
  end
  return threads, broken, unwoken, lost, unreadable
end

function tool.prepare(args) return nil, result_table.check_options(args) end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local is_chosen, is_chosen_cpu = samples.of_tids(file, args), samples.of_cpus(args)
  local list = result_table.new(columns, "max_us")
  samples_with_losses.read_names(file)
  local threads, broken, unwoken, lost, unreadable = read_threads(file, is_chosen_cpu)
  local comm_of = comms.reader(file)
  for tid, t in pairs(threads) do
    if tid ~= 0 and t[IN] > 0 and (not is_chosen or is_chosen(tid)) then
      local delayed = t[DELAYS] > 0
      list:add {
        comm = comm_of(tid), tid = tid, switches = t[IN], run_ms = t[RUN] / 1e6,
        wait_ms = t[WAIT] / 1e6,
        delays = t[DELAYS], delay_ms = t[DELAY] / 1e6, preempted_ms = t[PREEMPTED] / 1e6,
        avg_us = delayed and t[DELAY] / t[DELAYS] / 1e3 or nil,
        max_us = delayed and t[MAX] / 1e3 or nil, max_at = delayed
          and perflua.seconds(t[MAX_AT]) or nil,
      }
    end
  end
  list:note("broken", broken,
    "{switch does|switches do} not follow the previous one on the same processor")
  list:note("unwoken", unwoken,
    "{thread was|threads were} switched in after sleeping without a recorded wake-up")
  list:note("lost", lost,
    "{record tells|records tell} of losses: times that were open then are not counted")
  list:note("unreadable", unreadable, "{sample lacks|samples lack} a required field")
  return list:write(args, out)
end

return tool
