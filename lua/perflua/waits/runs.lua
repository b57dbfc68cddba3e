-- Runs of threads on processors, from sched:sched_switch in time order.
--
-- A run is known if the switch to its thread and the one from it were recorded, one after the
-- other on the same processor. Either may be missing: records were lost, only some threads were
-- recorded (without -a), or the kernel recorded no switches from the idle thread. Then the run
-- is dropped, and until its next switch nothing is known of that processor.

local fmt = require "perflua.text.fmt"

local runs = {}

-- tid_of: the thread on each processor; 0: it is idle; false: not known. since: the last switch
-- on each processor. cpu_of: the processor of each thread that runs, ~cpu if the thread was
-- not seen to leave one before; false: it left. ends, starts: runs without an end, by thread,
-- and without a start. gone: the threads after which others left a processor.
local Runs = {}
Runs.__index = Runs

local function ignore() end

---@param on { start: fun(tid: integer, cpu: integer, time: integer)?,
--- stop: fun(tid: integer, cpu: integer, start: integer, time: integer),
--- drop: fun(tid: integer, cpu: integer, start: integer)?,
--- unknown: fun(cpu: integer, start: integer, stop: integer)? } what is called when a thread
--- starts to run and when it stops; drop: its stop was not recorded; unknown: who ran on a
--- processor is not known for some time that ended
---@return table
function runs.new(on)
  return setmetatable({ on_start = on.start or ignore, on_stop = on.stop,
    on_drop = on.drop or ignore, on_unknown = on.unknown or ignore, tid_of = {}, cpu_of = {},
    since = {}, ends = {}, starts = 0, gone = {}, dropped = 0, unknown = 0 }, Runs)
end

-- Drops the run on a processor, whose end was not recorded.
local function drop(self, cpu)
  local tid = self.tid_of[cpu]
  self.tid_of[cpu] = false
  if not tid or tid == 0 then return nil end
  if self.cpu_of[tid] < 0 then self.cpu_of[tid] = nil else self.cpu_of[tid] = false end
  self.dropped, self.ends[tid] = self.dropped + 1, (self.ends[tid] or 0) + 1
  self.on_drop(tid, cpu, self.since[cpu])
  return tid
end

-- Drops the run on a processor, from which another thread leaves, or whose thread is elsewhere.
local function drop_gone(self, cpu)
  local tid = drop(self, cpu < 0 and ~cpu or cpu)
  if tid then self.gone[tid] = true end
end

local function pass_unknown(self, cpu, stop)
  local start = self.since[cpu] or self.first
  if stop <= start then return end
  self.unknown = self.unknown + stop - start
  self.on_unknown(cpu, start, stop)
end

-- Takes the leave of another thread than the one that is known to run.
local function leave_unseen(self, cpu, prev, time)
  self.first = self.first or time
  local is_first = self.tid_of[cpu] == nil
  drop_gone(self, cpu)
  if prev == 0 then
    self.idle_left = true
    if is_first then return end
  else
    if self.cpu_of[prev] then drop_gone(self, self.cpu_of[prev]) end
    self.cpu_of[prev] = false
    self.starts = self.starts + (is_first and 0 or 1)
  end
  pass_unknown(self, cpu, time)
end

-- Notes that a thread comes to a processor which was not seen to leave one.
local function come_unseen(self, cpu, tid)
  if self.cpu_of[tid] then drop_gone(self, self.cpu_of[tid]) end
  self.cpu_of[tid] = self.cpu_of[tid] == nil and ~cpu or cpu
end

---Takes a switch. The idle threads, whose id is 0, have no runs.
---@param cpu integer
---@param prev integer the thread that stops
---@param next_tid integer the thread that starts
---@param time integer ns
function Runs:switch(cpu, prev, next_tid, time)
  local tid_of, cpu_of, start = self.tid_of, self.cpu_of, self.since[cpu]
  if tid_of[cpu] ~= prev or time < start then -- earlier: records of a stream came late
    leave_unseen(self, cpu, prev, time)
  elseif prev ~= 0 then
    cpu_of[prev] = false
    self.on_stop(prev, cpu, start, time)
  else
    self.idle_left = true
  end
  if next_tid ~= 0 then
    if cpu_of[next_tid] == false then cpu_of[next_tid] = cpu
    else come_unseen(self, cpu, next_tid) end
    self.on_start(next_tid, cpu, time)
  end
  tid_of[cpu], self.since[cpu] = next_tid, time
end

local function sorted_cpus(self)
  local cpus = {}
  for cpu in pairs(self.tid_of) do cpus[#cpus + 1] = cpu end
  table.sort(cpus)
  return cpus
end

---Records were lost: it is not known who runs.
function Runs:lose()
  for _, cpu in ipairs(sorted_cpus(self)) do drop(self, cpu) end
end

-- Returns whether a thread was seen to leave a processor.
local function has_left(self, tid)
  if tid == 0 then return self.idle_left end
  local cpu = self.cpu_of[tid]
  return cpu == false or cpu and cpu >= 0
end

-- Returns how many threads others were seen to leave behind, but never themselves.
local function count_unseen(self)
  local n = 0
  for tid in pairs(self.gone) do n = n + (has_left(self, tid) and 0 or 1) end
  return n
end

---Ends the recording. Threads that run do so until its end if their switches were recorded:
---they were seen to leave a processor before, or no thread is missing and switches from the
---idle thread, which show that all threads were recorded, are there.
---@param time integer ns
function Runs:finish(time)
  local is_whole = self.idle_left and count_unseen(self) == 0
  for _, cpu in ipairs(sorted_cpus(self)) do
    local tid = self.tid_of[cpu]
    if not (tid and (is_whole or has_left(self, tid))) or time < self.since[cpu] then
      drop(self, cpu)
      pass_unknown(self, cpu, time)
    elseif tid ~= 0 then
      self.tid_of[cpu], self.cpu_of[tid] = false, false
      self.on_stop(tid, cpu, self.since[cpu], time)
    end
  end
end

---Says which runs are missing. Call it after finish().
---@param verb string what they are not: "counted"
---@return string? # nil: none is
function Runs:note(verb)
  local parts, unseen, ends, threads = {}, count_unseen(self), 0, 0
  for tid, n in pairs(self.ends) do
    if not self.gone[tid] or has_left(self, tid) then ends = ends + n end
  end
  if unseen > 0 then
    for _ in pairs(self.cpu_of) do threads = threads + 1 end
    parts[1] = ("switches from %d of %s were not recorded: only the others have rows"):format(
      unseen, fmt.phrase(threads + unseen, "{thread|threads}"))
  end
  if ends > 0 and self.starts > 0 then
    parts[#parts + 1] = ("%s and %d no start: they are not %s"):format(
      fmt.phrase(ends, "{run has|runs have} no end"), self.starts, verb)
  elseif ends + self.starts > 0 then
    parts[#parts + 1] = fmt.phrase(ends + self.starts, ("{run has|runs have} no %s and "
      .. "{is|are} not %s"):format(ends > 0 and "end" or "start", verb))
  end
  return parts[1] and table.concat(parts, "; ")
end

return runs
