-- Scheduling as events of a Perfetto trace, which follow the packets of the profile. The core
-- writes both (src/export/perfetto_sched.c). Numbers of events and arguments:
-- ftrace/ftrace_event.proto and ftrace/sched.proto in
-- https://github.com/google/perfetto/tree/main/protos/perfetto/trace

local core = require "perflua.core"
local errors = require "perflua.errors"
local plan = require "perflua.plan"
local spec_of = core.query_spec

local sched = {}

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

-- Writes the events of a tracepoint. The first one names the kernel: bits of prev_state have
-- meant other states before Linux 4.14, and a trace without a version is taken for one of
-- Linux 4.4.
local function write_event(file, tracepoint, query, kernel)
  local selected, numbers = select_args(query, tracepoint.args)
  local spec = spec_of(selected)
  local cursor <close> = plan.values(spec, spec.refs)
  return errors.errno(errors.guard(core.write_sched, cursor, file, tracepoint.number, numbers,
    kernel.osrelease, kernel.arch))
end

-- Returns an iterator of the scheduler's events: the tracepoint of each, and its samples.
local function each_tracepoint(query)
  local spec = spec_of(query)
  return coroutine.wrap(function()
    for _, event in ipairs(spec.scope:root "cpu" and spec.scope:events() or {}) do
      local tracepoint = tracepoints[event.name:match "^sched:([%w_]+)$"]
      if tracepoint then coroutine.yield(tracepoint, query:where { event = event.name }) end
    end
  end)
end

---@param query perflua.Query
---@return table[] # what is read, see export.readings
function sched.readings(query)
  local list = {}
  for tracepoint, samples in each_tracepoint(query) do
    list[#list + 1] = { query = (select_args(samples, tracepoint.args)) }
  end
  return list
end

---Writes the scheduler's events among the samples of a query.
---@param file file*
---@param query perflua.Query
---@return true? ok, string? message, string? code
function sched.write(file, query)
  local kernel = spec_of(query).file.features
  for tracepoint, samples in each_tracepoint(query) do
    local ok, message, code = write_event(file, tracepoint, samples, kernel)
    if not ok then return nil, message, code end
    kernel = {}
  end
  return true
end

return sched
