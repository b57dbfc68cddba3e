-- Scheduling in perf script's text: the times that threads were off the processors, and their
-- wakes.
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"

local switches = {}

local function integer(text) return math.tointeger(tonumber(text)) end

--- A shell script beside threads that never leave a processor idle, for perf record: some
--- kernels do not record what happens on an idle processor, neither switches from the idle
--- thread nor interrupts.
function switches.never_idle(script)
  return "sh -c " .. files.quote([[
  for i in $(seq $(($(nproc) * 2))); do timeout 60 nice -n 19 sh -c "while :; do :; done" & busy="$busy $!"; done
  sleep 0.1
  ]] .. script .. "\nkill $busy")
end

--- Threads that sleep, wake, and are preempted.
switches.workload = switches.never_idle [[
  perf bench sched messaging -g 1 -l 40 >/dev/null 2>&1
  perf bench sched pipe -l 1000 >/dev/null 2>&1
  for i in 1 2 3; do sleep 0.01; done]]

--- Each switch { time, cpu, tid (of the sample), prev, state, next } and wake { time, waker,
--- wakes } of perf script's text, in its order.
function switches.of_perf(path)
  local list = {}
  local command = "perf script --ns -F tid,cpu,time,event,trace -i " .. files.quote(path)
    .. " 2>/dev/null"
  for line in files.lines(command) do
    local tid, cpu, s, ns, event, text =
      line:match "^%s*(%-?%d+)%s+%[(%d+)%]%s+(%d+)%.(%d+):%s+sched:(%S+): (.*)$"
    local time = s and integer(s) * 1000000000 + integer(ns)
    if event == "sched_switch" then
      local prev, state, following =
        text:match " prev_pid=(%d+) .-prev_state=(%S+) ==> .- next_pid=(%d+) "
      list[#list + 1] = { time = time, cpu = integer(cpu), tid = integer(tid),
        prev = integer(prev), state = state,
        next = integer(following) }
    elseif event then
      list[#list + 1] = { time = time, waker = integer(tid),
        wakes = integer(text:match " pid=(%d+) ") }
    end
  end
  return list
end

--- By tid how often it ran, of threads of which each run is seen whole: it leaves the processor
--- that it came to, of none is the begin or the end missing, and all samples of its leaving are
--- its own (the last one of a thread that ended is of thread -1).
function switches.whole(list)
  local runs, broken, running, at = {}, {}, {}, {}
  for _, one in ipairs(list) do
    if one.prev then
      local here = running[one.cpu]
      if here ~= one.prev or one.tid ~= one.prev then
        broken[one.prev] = true
        if here then broken[here] = true end
      end
      runs[one.prev], at[one.prev] = (runs[one.prev] or 0) + 1, nil
      if at[one.next] then broken[one.next] = true end
      running[one.cpu], at[one.next] = one.next, one.cpu
    end
  end
  for _, tid in pairs(running) do broken[tid] = true end
  for tid in pairs(broken) do runs[tid] = nil end
  runs[0] = nil -- it runs on all processors at once
  return runs
end

-- State letters of a thread that can go on.
local function can_go_on(state) return state:find "^R" ~= nil end

--- By tid: { count, total, last (of the times off), again (left twice without a return), ended,
--- times (off, each) }, of both states { blocked, preempted } likewise count and total.
function switches.off(list)
  local threads, left = {}, {}
  local function of(tid)
    threads[tid] = threads[tid]
      or { count = 0, total = 0, last = 0, again = 0, times = {}, blocked = { 0, 0 },
        preempted = { 0, 0 } }
    return threads[tid]
  end
  for _, one in ipairs(list) do
    local out = left[one.next]
    if one.next and one.next ~= 0 and out then
      local thread, duration = of(one.next), one.time - out.time
      local state = thread[can_go_on(out.state) and "preempted" or "blocked"]
      state[1], state[2] = state[1] + 1, state[2] + duration
      thread.count, thread.total, thread.last = thread.count + 1, thread.total + duration,
        duration
      thread.times[thread.count] = duration
      left[one.next] = nil
    end
    if one.prev and one.prev ~= 0 then
      local thread = of(one.prev)
      thread.last = 0
      if one.state:find "[XZ]" then
        thread.ended = true
      else
        if left[one.prev] then thread.again = thread.again + 1 end
        left[one.prev] = one
      end
    end
  end
  return threads
end

--- By tid that was woken: { by = tid of the waker → { count, total } } of the times from the
--- first wake to the run; and by tid how often a thread that had been woken left a processor
--- that it had not come to.
function switches.wakes(list)
  local threads, first, unseen = {}, {}, {}
  for _, one in ipairs(list) do
    if one.wakes then
      first[one.wakes] = first[one.wakes] or one
    else
      if first[one.prev] then unseen[one.prev] = (unseen[one.prev] or 0) + 1 end
      first[one.prev] = nil
      local wake = first[one.next]
      if wake then
        local thread = threads[one.next] or { by = {} }
        local sum = thread.by[wake.waker] or { count = 0, total = 0 }
        threads[one.next], thread.by[wake.waker], first[one.next] = thread, sum, nil
        sum.count, sum.total = sum.count + 1, sum.total + one.time - wake.time
      end
    end
  end
  return threads, unseen
end

--- By tid of the threads that were woken after having been preempted on their way to sleep: ns
--- from these wakes to the next runs.
function switches.woken_while_ready(list)
  local ready, woken, found = {}, {}, {}
  for _, one in ipairs(list) do
    if one.wakes then
      if ready[one.wakes] then woken[one.wakes] = woken[one.wakes] or one.time end
    else
      ready[one.prev], ready[one.next] = can_go_on(one.state), nil
      local since = woken[one.next]
      if since then
        found[one.next], woken[one.next] = (found[one.next] or 0) + one.time - since, nil
      end
    end
  end
  return found
end

-- Takes each sample with a call chain as perf script prints it: comm, the line, the folded
-- chain.
local function each_sample(path, options, take)
  local comm, text, frames = nil, nil, {}
  local command = "perf script --ns --no-inline -F comm,tid,time,event,trace,ip,sym,dso -i "
    .. files.quote(path)
  for line in files.lines(command .. " " .. (options or "") .. " 2>/dev/null") do
    local symbol, dso = line:match "^%s+%x+ (%[unknown%]) %((.*)%)$"
    if not symbol then symbol, dso = line:match "^%s+%x+ (.*) %((.*)%)$" end
    local name, rest = line:match "^%s*(%S.-)%s+%-?%d+%s+(%d+%.%d+: .*)$"
    if name then
      comm, text, frames = name, rest, {}
    elseif symbol then
      if symbol == "[unknown]" and dso:find "^/" then
        symbol = "[" .. dso:match "[^/]+$" .. "]"
      end
      table.insert(frames, 1, (symbol:gsub(";", ":")))
    elseif line == "" and comm then
      take(comm, text, table.concat(frames, ";"))
      comm = nil
    end
  end
end

--- ns by folded stack; options: more of perf script.
function switches.stacks(path, options)
  local left, stacks = {}, {}
  each_sample(path, options, function(comm, text, stack)
    -- it is about to end
    if comm:find "^:%-?%d+$" then comm = text:match "prev_comm=(.-) prev_pid=" end
    local s, ns, prev, state, following =
      text:match "^(%d+)%.(%d+): .- prev_pid=(%d+) .-prev_state=(%S+) ==> .- next_pid=(%d+) "
    if not s then return end
    local time = integer(s) * 1000000000 + integer(ns)
    local out = left[following]
    if out then
      stacks[out.stack], left[following] = (stacks[out.stack] or 0) + time - out.time, nil
    end
    if prev ~= "0" and not state:find "[XZ]" then
      local parts = { (comm:gsub(";", ":")) }
      if stack ~= "" then parts[2] = stack end
      if can_go_on(state) then parts[#parts + 1] = "[preempted]" end
      left[prev] = { time = time, stack = table.concat(parts, ";") }
    end
  end)
  return stacks
end

--- perf sched timehist, by tid: { n, wait, delay, run } in ms, and the number of the run since
--- which perf takes the thread for a new one, without a name, which was not off before: perf
--- 6.12 and later forget a thread at its EXIT record; nil if there is none.
function switches.timehist(path)
  local threads = {}
  for line in files.lines("perf sched timehist -i " .. files.quote(path) .. " 2>/dev/null") do
    -- "sh[7]", "sh[8/7]"; ":7" of a thread that ended, which perf takes for one of process 0
    local tid, wait, delay, run =
      line:match "[%[:](%d+)[/%d%]]*%s+(%d+%.%d+)%s+(%d+%.%d+)%s+(%d+%.%d+)"
    if tid then
      local thread = threads[integer(tid)] or { n = 0, wait = 0, delay = 0, run = 0 }
      threads[integer(tid)] = thread
      thread.n, thread.run = thread.n + 1, thread.run + tonumber(run)
      thread.wait, thread.delay = thread.wait + tonumber(wait), thread.delay + tonumber(delay)
      if oracle.does.forgets_exited and line:find "^%s*[%d.]+%s+%[%d+%]%s+:" then
        thread.forgotten = thread.forgotten or thread.n
      end
    end
  end
  return threads
end

return switches
