-- Scheduling as events of a Perfetto trace, which follow the packets of the profile. The core
-- writes both (src/export/perfetto_sched.c). Numbers of events and arguments:
-- ftrace/ftrace_event.proto and ftrace/sched.proto in
-- https://github.com/google/perfetto/tree/main/protos/perfetto/trace

local core = require "perflua.core"
local errors = require "perflua.errors"
local plan = require "perflua.plan"
local spec_of = core.query_spec

local sched = {}

local FIELDS <const> = { "time", "cpu", "tid", "event" }
local WAKEUP <const> = { "comm", "pid", "prio", "success", "target_cpu" }

-- Tracepoints: the number of their event, and their arguments, whose numbers count from 1.
local tracepoints = {
  sched_switch = { number = 4, args = { "prev_comm", "prev_pid", "prev_prio", "prev_state",
    "next_comm", "next_pid", "next_prio" } },
  sched_wakeup = { number = 17, args = WAKEUP },
  sched_waking = { number = 20, args = WAKEUP },
  sched_wakeup_new = { number = 114, args = WAKEUP },
}

-- Returns the query of the scheduler's events among its samples, and these for the core; nil:
-- there are none.
local function select_events(query)
  local spec, found, events = spec_of(query), {}, {}
  for _, event in ipairs(spec.scope:root "cpu" and spec.scope:events() or {}) do
    local tracepoint = tracepoints[event.name:match "^sched:([%w_]+)$"]
    if tracepoint then
      found[#found + 1] = event
      events[#events + 1] = { event.index, tracepoint.number, args = tracepoint.args }
    end
  end
  if not found[1] then return nil end
  local samples, names, at = query:where { event = found }, { table.unpack(FIELDS) }, {}
  for _, event in ipairs(events) do
    for i, arg in ipairs(event.args) do
      if not at[arg] and pcall(samples.select, samples, "args." .. arg) then
        names[#names + 1] = "args." .. arg
        at[arg] = #names - #FIELDS
      end
      if at[arg] then event[2 + at[arg]] = i end
    end
  end
  for _, event in ipairs(events) do
    for i = 3, 2 + #names - #FIELDS do event[i] = event[i] or 0 end
  end
  return samples:select(table.unpack(names)), events
end

---@param query perflua.Query
---@return table? # what is read, see export.readings; nil: nothing
function sched.reading(query)
  local selected = select_events(query)
  return selected and { query = selected } or nil
end

---Writes the scheduler's events among the samples of a query. The kernel is named first: bits
---of prev_state have meant other states before Linux 4.14, and a trace without a version is
---taken for one of Linux 4.4.
---@param file file*
---@param query perflua.Query
---@return true? ok, string? message, string? code
function sched.write(file, query)
  local selected, events = select_events(query)
  if not selected then return true end
  local spec = spec_of(selected)
  local kernel = spec.file.features
  local cursor <close> = plan.values(spec, spec.refs)
  return errors.errno(errors.guard(core.write_sched, cursor, file, events, kernel.osrelease,
    kernel.arch))
end

return sched
