-- Wakes: from sched:sched_waking of a thread that sleeps to its next run; and who had woken who
-- woke it.

local pending = require "perflua.waits.pending"
local samples_with_losses = require "perflua.file.samples_with_losses"

local wakes = {}

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE
local HARDIRQ <const>, SOFTIRQ <const> = 8, 16 -- of common_flags: include/linux/trace_events.h

local function context_of(flags)
  return flags & HARDIRQ ~= 0 and "hardirq" or flags & SOFTIRQ ~= 0 and "softirq" or "task"
end

-- Returns the values that a pass reads. sched_wakeup says the same as sched_waking, later and
-- on the other processor.
local function values_of(file)
  local tests = { "event == 'sched:sched_switch'" }
  for _, name in ipairs { file.events["sched:sched_waking"] and "sched:sched_waking"
      or "sched:sched_wakeup",
    "sched:sched_wakeup_new" } do
    if file.events[name] then tests[#tests + 1] = ("event == '%s'"):format(name) end
  end
  local query = samples_with_losses.matching(file, tests)
  return query:select("type_id", "time", "comm", "args.common_pid", "args.common_flags",
    "args.comm", "args.pid", "args.prev_pid", "args.next_pid",
    samples_with_losses.pick_field(query, "integer", "cpu"))
end

-- Returns the waker and, before it, those that had woken it when it last slept, unless an
-- interrupt woke it. `last` is by tid.
local function chain_of(wake, last, chains)
  local by_task = wake.context == "task"
  local name = chains.tids and ("%s/%d"):format(wake.waker, wake.waker_tid) or wake.waker
  local chain, before = { by_task and name or ("%s (%s)"):format(name, wake.context) },
    by_task and last[wake.waker_tid]
  if before then table.move(before, 1, math.min(#before, chains.depth - 1), 2, chain) end
  return chain
end

---Takes each wake of a thread that slept and then ran.
---@param file perflua.File
---@param chains { depth: integer, tids: boolean? }? are chains wanted? tids: with threads'
--- numbers
---@param take fun(wake: table, duration: integer) wake is { woken, tid, waker, waker_tid,
--- context, time, cpu, chain }
---@return table open, integer awake # waits/pending.lua: what was not taken; how many were of
--- threads that ran
function wakes.each(file, chains, take)
  local open, last, awake = pending.new(true), {}, 0
  for type_id, time, comm, waker_tid, flags, woken, tid, prev, next_tid,
      cpu in values_of(file) do
    if type_id ~= SAMPLE then
      open:drop()
      last = {}
    elseif not (time and (tid and flags or not tid and prev and next_tid)) then
      open:skip()
    elseif tid then
      local wake = { time = time, waker = comm or "[unknown]", waker_tid = waker_tid,
        context = context_of(flags),
        woken = woken, tid = tid, cpu = cpu or nil }
      if chains then wake.chain = chain_of(wake, last, chains) end
      open:begin(tid, 0, wake)
    else
      if open:forget(prev, 0) then awake = awake + 1 end
      local wake = open:has(next_tid, 0) and open:finish(next_tid, 0)
      if wake then
        last[next_tid] = wake.chain
        open:pass(take, wake, time - wake.time)
      end
    end
  end
  return open, awake
end

return wakes
