-- Scheduling as events of a Perfetto trace, which follow the packets that the core writes
-- (src/export/perfetto.c). Numbers of fields: trace_packet.proto, ftrace/ftrace_event.proto,
-- ftrace/ftrace_event_bundle.proto, ftrace/sched.proto and common/system_info.proto in
-- https://github.com/google/perfetto/tree/main/protos/perfetto/trace

local field = require("perflua.export.protobuf").field
local spec_of = require("perflua.core").query_spec

local sched = {}

local PACKET <const>, BUNDLE <const>, EVENT <const> = 1, 1, 2
local SYSTEM_INFO <const>, UTSNAME <const> = 45, 1

local WAKEUP <const> = { "comm", "pid", "prio", "success", "target_cpu" }

-- Tracepoints: the number of their event, and their arguments, whose numbers count from 1.
local tracepoints = {
  sched_switch = { number = 4, args = { "prev_comm", "prev_pid", "prev_prio", "prev_state",
    "next_comm", "next_pid", "next_prio" } },
  sched_wakeup = { number = 17, args = WAKEUP },
  sched_waking = { number = 20, args = WAKEUP },
  sched_wakeup_new = { number = 114, args = WAKEUP },
}

-- Returns the arguments that samples of the query have, and their numbers.
local function select_args(query, args)
  local names, numbers = { "time", "cpu", "tid" }, {}
  for i, arg in ipairs(args) do
    if pcall(query.select, query, "args." .. arg) then
      names[#names + 1], numbers[#numbers + 1] = "args." .. arg, i
    end
  end
  return query:select(table.unpack(names)), numbers
end

-- Names the kernel: bits of prev_state have meant other states before Linux 4.14, and a trace
-- without a version is taken for one of Linux 4.4.
local function write_system(write, features)
  if not features.osrelease then return end
  local utsname = field(1, "Linux") .. field(3, features.osrelease)
    .. field(4, features.arch)
  write(field(PACKET, field(SYSTEM_INFO, field(UTSNAME, utsname))))
end

local function write_event(write, tracepoint, query)
  local selected, numbers = select_args(query, tracepoint.args)
  selected:each(function(time, cpu, tid, ...)
    if not (time and cpu) then return end
    local args = {}
    for i, number in ipairs(numbers) do args[i] = field(number, (select(i, ...))) end
    local event = field(1, time) .. field(2, tid)
      .. field(tracepoint.number, table.concat(args))
    write(field(PACKET, field(BUNDLE, field(1, cpu) .. field(EVENT, event))))
  end)
end

---Writes the scheduler's events among the samples of a query.
---@param write fun(text: string)
---@param query perflua.Query
function sched.write(write, query)
  local spec, named = spec_of(query), false
  if not spec.scope:root "cpu" then return end
  for _, event in ipairs(spec.scope:events()) do
    local tracepoint = tracepoints[event.name:match "^sched:([%w_]+)$"]
    if tracepoint then
      if not named then write_system(write, spec.file.features) end
      named = true
      write_event(write, tracepoint, query:where { event = event.name })
    end
  end
end

return sched
