-- Runs of threads on processors, from sched:sched_switch in time order.

local runs = {}

local Runs = {}
Runs.__index = Runs

---@param on { start: fun(tid: integer, cpu: integer, time: integer),
--- stop: fun(tid: integer, cpu: integer, start: integer, time: integer),
--- drop: fun(tid: integer, cpu: integer, start: integer) } what is called when a thread starts
--- to run and when it stops; drop: its stop was not recorded
---@return table
function runs.new(on)
  return setmetatable({ on = on, tid_of = {}, cpu_of = {}, since = {}, dropped = 0 }, Runs)
end

-- Forgets what runs on a processor. Returns its thread, and when that started.
local function clear(self, cpu)
  local tid, start = self.tid_of[cpu], self.since[cpu]
  self.tid_of[cpu], self.cpu_of[tid], self.since[cpu] = nil, nil, nil
  return tid, start
end

local function drop(self, cpu)
  local tid, start = clear(self, cpu)
  self.dropped = self.dropped + 1
  self.on.drop(tid, cpu, start)
end

local function stop(self, cpu, time)
  if time < self.since[cpu] then return drop(self, cpu) end -- records of a stream came late
  local tid, start = clear(self, cpu)
  self.on.stop(tid, cpu, start, time)
end

---Takes a switch. The idle threads, whose id is 0, do not count.
---@param cpu integer
---@param prev integer the thread that stops
---@param next_tid integer the thread that starts
---@param time integer ns
function Runs:switch(cpu, prev, next_tid, time)
  local running = self.tid_of[cpu]
  if running then (running == prev and stop or drop)(self, cpu, time) end
  if next_tid == 0 then return end
  local other = self.cpu_of[next_tid]
  if other then drop(self, other) end
  self.tid_of[cpu], self.cpu_of[next_tid], self.since[cpu] = next_tid, cpu, time
  self.on.start(next_tid, cpu, time)
end

local function each_cpu(self, fn, time)
  local cpus = {}
  for cpu in pairs(self.tid_of) do cpus[#cpus + 1] = cpu end
  table.sort(cpus)
  for _, cpu in ipairs(cpus) do fn(self, cpu, time) end
end

---Records were lost: it is not known who runs.
function Runs:lose() each_cpu(self, drop) end

---Ends the recording: threads that run do so until its end.
---@param time integer ns
function Runs:finish(time) each_cpu(self, stop, time) end

return runs
