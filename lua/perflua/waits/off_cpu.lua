-- The times that threads were off the processors: by switch records, where there are any, with
-- the call chains of the samples before them; else by sched:sched_switch, whose sample has the
-- call chain of the thread that leaves, and names the one that comes.

local pending = require "perflua.waits.pending"
local plan = require "perflua.plan"
local samples_with_losses = require "perflua.file.samples_with_losses"
local spec_of = require("perflua.core").query_spec

local off_cpu = {}

local SAMPLE <const>, SWITCH <const>, SWITCH_CPU_WIDE <const> = 9, 14, 15 -- PERF_RECORD_…

-- The low bits of prev_state (include/trace/events/sched.h): none is set of a thread that can
-- go on. 0x200 was parked before Linux 4.14; 0x30 ends a thread.
local WAITS <const>, ENDED <const> = 0x2ff, 0x30

---@param state integer prev_state of sched_switch
---@return boolean # whether a thread was preempted: it does not wait for anything
function off_cpu.can_go_on(state) return state & WAITS == 0 end

---@param file perflua.File
---@return boolean # whether it has records of switches: then threads leave and come by these
function off_cpu.has_switches(file)
  for _, event in ipairs(file.events) do
    if event.context_switch then return true end
  end
  return false
end

---@param file perflua.File
---@return string? message # nil: it tells when threads came back
function off_cpu.check_recording(file)
  if file.events["sched:sched_switch"] or off_cpu.has_switches(file) then return nil end
  return file.path
    .. ": this recording does not say when threads ran again; use perf record --switch-events"
end

-- Begins a loop over the values of fields, after the number of the call chain, or false if
-- `chain` is nil. Returns the step, and a function that returns the texts of chains by number
-- when it has ended.
local function read_rows(query, chain, ...)
  if not chain then return query:select("false", ...):each(), function() return {} end end
  local spec = spec_of(query:select(...))
  local step, cursor = plan.values_with_chains(spec, spec.refs, chain)
  return step, function() return cursor:texts() end
end

-- Takes each sample of sched:sched_switch as one thread that leaves and one that comes.
local function by_samples(file, chains, leave, end_wait, lose, skip)
  local query = samples_with_losses.matching(file, { "event == 'sched:sched_switch'" })
  local step, texts = read_rows(query, chains, "type_id", "time", "tid", "comm", "pid",
    "args.prev_comm", "args.prev_pid", "args.next_pid", "args.prev_state",
    samples_with_losses.pick_field(query, "integer", "cpu"))
  for chain, type_id, time, tid, comm, pid, name, prev, next_pid, state, cpu in step do
    if type_id ~= SAMPLE then
      lose()
    elseif not (prev and next_pid and state and time) then
      skip()
    else
      if next_pid ~= 0 then end_wait(next_pid, time) end
      if prev ~= 0 and state & ENDED == 0 then
        leave(prev, { tid = prev, pid = pid, comm = tid and tid >= 0 and comm or name,
          start = time, cpu = cpu or nil,
          chain = chain, state = off_cpu.can_go_on(state) and "preempted" or "blocked" })
      end
    end
  end
  return texts()
end

-- Reads switch records, and samples for their call chains.
local function by_switches(file, chains, leave, end_wait, lose)
  local tests, chain_of = { "type_id ~= 9" }, {}
  for _, name in ipairs { "sched:sched_switch", "context-switches", "cs" } do
    if file.events[name] then tests[#tests + 1] = ("event == '%s'"):format(name) end
  end
  local query = file:records { type = { "sample", "lost", "lost_samples", "switch",
    "switch_cpu_wide" }, expand = true }
    :where(table.concat(tests, " or "))
  local step, texts = read_rows(query, chains, "type_id", "time", "comm", "pid", "tid",
    "out", "preempt", samples_with_losses.pick_field(query, "integer", "cpu"))
  for chain, type_id, time, comm, pid, tid, out, preempt, cpu in step do
    if type_id == SAMPLE then
      if tid then chain_of[tid] = chain end
    elseif type_id ~= SWITCH and type_id ~= SWITCH_CPU_WIDE then
      lose()
    elseif tid and tid > 0 and time then
      if out then
        leave(tid, { tid = tid, pid = pid, comm = comm, start = time, cpu = cpu or nil,
          chain = chain_of[tid] or false, state = preempt and "preempted" or "blocked" })
      else
        end_wait(tid, time)
      end
      chain_of[tid] = nil
    end
  end
  return texts()
end

---Takes each time that ended.
---@param file perflua.File
---@param chains "names"|"annotated"? what texts of call chains have; nil: they are not read
---@param take fun(wait: table, duration: integer) wait is { tid, pid, comm, start, cpu, chain,
--- state } chain: a number; false: it has none
---@return table # waits/pending.lua: what was not taken
---@return string[] # texts of the chains, by number
function off_cpu.each(file, chains, take)
  local open = pending.new()
  local function end_wait(tid, time)
    local wait = open:finish(tid, 0)
    if wait then open:pass(take, wait, time - wait.start) end
  end
  local read = off_cpu.has_switches(file) and by_switches or by_samples
  local texts = read(file, chains, function(tid, wait)
    open:begin(tid, 0, wait)
  end, end_wait, function() open:drop() end,
    function() open:skip() end)
  return open, texts
end

return off_cpu
