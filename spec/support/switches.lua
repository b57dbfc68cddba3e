-- Recordings of switches and wake-ups as they are written here, and what perf says of such.
local files = require "spec.support.files"
local tracing = require "spec.support.builder_tracing"

local switches = {}

local INT, COMM = "pid_t", { "char", "comm", count = 16 }

local formats = {
  sched_switch = {
    { "char", "prev_comm", count = 16 }, { INT, "prev_pid" }, { "int", "prev_prio" },
    { "long", "prev_state" },
    { "char", "next_comm", count = 16 }, { INT, "next_pid" }, { "int", "next_prio" },
  },
  sched_waking = { COMM, { INT, "pid" }, { "int", "prio" }, { "int", "target_cpu" } },
  sched_migrate_task = { COMM, { INT, "pid" }, { "int", "prio" }, { "int", "orig_cpu" },
    { "int", "dest_cpu" } },
}

--- A recording of these: { time, cpu, "switch", prev, state, next [, next_comm] }, { time, cpu,
--- "waking", pid [, waker] }, { time, cpu, "migrate", pid, from, to }, { time, cpu, "lost" };
--- threads: names by tid; names: of its events, by default all. Its path.
function switches.recording(list, threads, prepare, names)
  local t, events, of = tracing.new(), {}, {}
  for _, name in ipairs(names or { "sched_switch", "sched_waking", "sched_migrate_task" }) do
    events[#events + 1] = t:event("sched", name, { fields = formats[name] })
    of[name] = #events
  end
  local b, attrs = t:recording()
  if prepare then prepare(b) end
  for tid, comm in pairs(threads or {}) do
    b:record("comm", { pid = tid, tid = tid, comm = comm }, { time = 1 })
  end
  local function sample(time, cpu, name, tid, values)
    local i = of[name]
    b:sample(attrs[i], { time = time, cpu = cpu, pid = tid, tid = tid,
      raw = t:raw(events[i], values) })
  end
  for _, one in ipairs(list) do
    local time, cpu, what, pid, second, third, comm = table.unpack(one)
    if what == "switch" then
      sample(time, cpu, "sched_switch", pid,
        { prev_pid = pid, prev_state = second, next_pid = third, next_comm = comm })
    elseif what == "waking" then
      sample(time, cpu, "sched_waking", second or 0,
        { pid = pid, comm = threads and threads[pid] })
    elseif what == "migrate" then
      sample(time, cpu, "sched_migrate_task", 0,
        { pid = pid, orig_cpu = second, dest_cpu = third })
    else
      b:record("lost", { id = 101, lost = 3 }, { time = time, cpu = cpu, id = 101 })
    end
  end
  return b:write()
end

--- Threads that were preempted in the kernel: perf of this version does not know their state.
function switches.preempted(path)
  local set = {}
  for line in files.lines("perf script -f -F trace -i " .. files.quote(path)
      .. " 2>/dev/null") do
    local tid = line:match "prev_pid=(%d+) .*prev_state=%u%+"
    if tid then set[tonumber(tid)] = true end
  end
  return set
end

return switches
