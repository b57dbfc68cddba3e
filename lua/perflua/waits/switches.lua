-- Switches of threads: options of pair() for their runs on processors, and for the times off
-- them; and the names that they tell. The idle threads, whose id is 0, have no runs.

local switches = {}

local SWITCH <const> = "sched:sched_switch"
local COMES <const>, LEAVES <const> = "args.next_pid ~= 0", "args.prev_pid ~= 0"

-- The bits of prev_state (include/trace/events/sched.h) with which a thread waits: without any
-- it can go on. 0x200 was parked before Linux 4.14. A thread with 0x30 has ended.
local WAITS <const> = 0x2ff
local CAN_GO_ON <const> = ("args.prev_state & 0x%x == 0 and %s"):format(WAITS, LEAVES)
local LIVES_ON <const> = LEAVES .. " and args.prev_state & 0x30 == 0"

switches.event = SWITCH

---A note: what happens to threads of which only the switches to them were recorded.
switches.UNSEEN = "{thread was|threads were} not seen to leave a processor: {it is|they are} "
  .. "not shown"

---@return table # pair()'s options for runs: from the switch to a thread to the next one on
--- its processor, if that is from it
function switches.runs()
  return {
    open = { event = SWITCH, key = "args.next_pid", where = COMES },
    close = { event = SWITCH, key = "args.prev_pid", where = LEAVES, next_on_cpu = true },
  }
end

---@return table # for the times off processors: which of both states a thread was in is
--- `state`
function switches.off()
  return {
    open = { { event = SWITCH, key = "args.prev_pid", where = CAN_GO_ON, state = "preempted" },
      { event = SWITCH, key = "args.prev_pid", where = LIVES_ON, state = "blocked" } },
    close = { event = SWITCH, key = "args.next_pid", where = COMES },
  }
end

-- The thread that comes to a processor, or leaves it. Idle threads, all of number 0, get
-- numbers below 0 by processor.
local IN <const> = "args.next_pid ~= 0 and args.next_pid or -1 - cpu"
local OUT <const> = "args.prev_pid ~= 0 and args.prev_pid or -1 - cpu"

---@param wakes string[]? events that tell of wake-ups
---@return table # pair()'s options for runs of all threads, also of idle ones: the state is
--- "running" from the switch to a thread to the next one on its processor, if that is from it,
--- and "woken" before it, from the first wake-up on
function switches.processors(wakes)
  local open, change = { { event = SWITCH, key = IN, state = "running" } }, nil
  if wakes then
    open[2] = { event = wakes, key = "args.pid", where = "tid ~= 0", again = "keep",
      state = "woken" }
    change = { event = SWITCH, key = IN, from = "woken", state = "running" }
  end
  return { open = open, change = change,
    close = { event = SWITCH, key = OUT, next_on_cpu = true, from = "running" } }
end

-- Types of the records that tell when threads leave and come, with --switch-events.
local RECORDS <const> = { "switch", "switch_cpu_wide" }

-- Returns whether a recording has records of switches, which then tell when threads leave and
-- come.
local function has_records(file)
  for _, event in ipairs(file.events) do
    if event.context_switch then return true end
  end
  return false
end

---@param file perflua.File
---@return string? message # nil: it tells when threads came back
function switches.check_off(file)
  if file.events[SWITCH] or has_records(file) then return nil end
  return file.path
    .. ": this recording does not say when threads ran again; use perf record --switch-events"
end

-- Returns the events whose samples precede a record of a switch, and have its call chain.
local function sampled(file)
  local names = {}
  for _, name in ipairs { SWITCH, "context-switches", "cs" } do
    if file.events[name] then names[#names + 1] = name end
  end
  return names[1] and names
end

---@param file perflua.File
---@param with_chains boolean? whether the call chains are wanted with which threads leave
---@return table options # for pair(): the times off processors, whose `state` is "preempted" or
--- "blocked"; the time before it does not count where spans begin with a sample
---@return string[]? types # of records; nil: samples
function switches.off_cpu(file, with_chains)
  if not has_records(file) then return switches.off(), nil end
  local types, open, change, close = { table.unpack(RECORDS) }, {}, {}, {}
  local events = with_chains and sampled(file)
  if events then
    types[#types + 1] = "sample"
    open[1] = { type = "sample", event = events, state = "leaving" }
  end
  for _, type in ipairs(RECORDS) do
    for _, way in ipairs { { "out and preempt", "preempted" }, { "out", "blocked" } } do
      local where = way[1] .. " and tid > 0"
      open[#open + 1] = { type = type, where = where, state = way[2] }
      change[#change + 1] = events and { type = type, where = where, from = "leaving",
        state = way[2] }
    end
    close[#close + 1] = { type = type, where = "not out and tid > 0",
      from = { "preempted", "blocked" } }
  end
  return { open = open, change = change[1] and change, close = close, key = "tid" }, types
end

---@param file perflua.File
---@return string|string[]? # the events that tell of wake-ups; nil: there are none.
--- sched_wakeup says the same as sched_waking, later and on the other processor
function switches.wakes(file)
  local names = {}
  for _, name in ipairs { file.events["sched:sched_waking"] and "sched:sched_waking"
    or "sched:sched_wakeup", "sched:sched_wakeup_new" } do
    if file.events[name] then names[#names + 1] = name end
  end
  return names[2] and names or names[1]
end

---@param wakes string|string[] see switches.wakes()
---@return table # for times off processors that tell of the first wake: then the state is
--- "woken"; threads that were not seen to leave have that state alone
function switches.sleeps(wakes)
  local off = switches.off()
  off.open[#off.open + 1] = { event = wakes, key = "args.pid", again = "keep", state = "woken" }
  off.change = { event = wakes, key = "args.pid", from = { "blocked", "preempted" },
    state = "woken" }
  return off
end

---@param wakes string|string[]? see switches.wakes()
---@return table # for both: runs have the state "running", and the times off processors become
--- "woken"; those of threads that were not seen to leave are "unseen"
function switches.lives(wakes)
  local run, off = switches.runs(), switches.off()
  run.open.state, run.close.from = "running", "running"
  off.close.from = { "blocked", "preempted", wakes and "woken", wakes and "unseen" }
  local open, change = { run.open, table.unpack(off.open) }, nil
  if wakes then
    open[#open + 1] = { event = wakes, key = "args.pid", again = "keep", state = "unseen" }
    change = { event = wakes, key = "args.pid", from = "blocked", state = "woken" }
  end
  return { open = open, change = change, close = { run.close, off.close } }
end

-- Returns names by tid: those of the last switches, which tell also of threads whose start was
-- not recorded.
local function read_switches(file, query)
  local by_tid, event = {}, switches.event
  if not file.events[event] then return by_tid end
  local names = (query or file:samples(event)):group_by("args.next_pid"):last("args.next_comm")
  for row in names:table():rows() do
    local tid, comm = row["args.next_pid"], row["last_args.next_comm"]
    if tid and comm ~= "" then by_tid[tid] = comm end
  end
  return by_tid
end

---@param file perflua.File
---@return boolean # whether switches have to be asked for names while they are read: a stream's
--- are not known before, and a recording without the name of thread 2, the kernel's kthreadd,
--- lacks those of most threads that ran before it began
function switches.lacks_names(file)
  local thread = file.size and file:thread(2)
  return not (thread and thread.comm)
end

---@param file perflua.File whose samples were read
---@param query perflua.Query? of the switches that are read; default: all
---@param by_tid table<integer, string>? names that switches told: then these are not read
---@return fun(tid: integer, time: integer?): string?
function switches.names(file, query, by_tid)
  return function(tid, time)
    local thread = file:thread(tid, time)
    if thread and thread.comm then return thread.comm end
    -- a stream is read once
    by_tid = by_tid or file.size and read_switches(file, query) or {}
    return by_tid[tid]
  end
end

return switches
