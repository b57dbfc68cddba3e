-- Who runs on processors, from the switches of a trace as they come.
--
-- pair() says the same of a recording (perflua timechart --explain), but tells of a run when it
-- ends, and of nothing else. A trace is drawn in one pass, as a stream has no other: in it the
-- samples beside the switches have their place, an arrow begins at what runs at that time, and
-- the number of running threads is drawn when a run begins.

local processors = {}

local Processors = {}
Processors.__index = Processors

local IDLE <const> = 0

---@param on { begin: (fun(tid: integer, time: integer): any), run: fun(tid: integer,
--- cpu: integer, start: integer, stop: integer, begun: any), unknown: fun(cpu: integer,
--- start: integer, stop: integer) } what is called when a thread begins to run; when it stops,
--- with what begin gave; after a time in which it is not known who ran
---@return table # n_running: the number of threads that run; tid_of: the thread on each
--- processor
function processors.new(on)
  return setmetatable({ on = on, tid_of = {}, since = {}, begun = {}, left = {}, n_running = 0,
    unknown = 0 }, Processors)
end

-- Ends what ran on a processor, which `prev` left; nil: it is not known who did.
local function finish(self, cpu, prev, time)
  local tid, start = self.tid_of[cpu], self.since[cpu] or prev ~= IDLE and self.first or time
  if tid and tid ~= IDLE then self.n_running = self.n_running - 1 end
  local left = self.left[prev] or start -- elsewhere, if records were lost or are damaged
  if tid == prev and time >= start and left <= start then
    if tid ~= IDLE then self.on.run(tid, cpu, start, time, self.begun[cpu]) end
  elseif time > start then
    self.unknown = self.unknown + time - start
    self.on.unknown(cpu, start, time)
  end
end

---@param cpu integer
---@param prev integer the thread that stops; 0: the processor was idle
---@param next_tid integer the thread that starts
---@param time integer ns; earlier than the switch before if records of a stream came late
function Processors:switch(cpu, prev, next_tid, time)
  self.first = self.first or time
  finish(self, cpu, prev, time)
  self.tid_of[cpu], self.since[cpu] = next_tid, time
  if prev ~= IDLE then self.left[prev] = time end
  if next_tid ~= IDLE then
    self.n_running = self.n_running + 1
    self.begun[cpu] = self.on.begin(next_tid, time)
  end
end

---Ends the recording. Threads run until then if they were seen to leave a processor before.
---@param time integer ns
function Processors:finish(time)
  local cpus = {}
  for cpu in pairs(self.tid_of) do cpus[#cpus + 1] = cpu end
  table.sort(cpus)
  for _, cpu in ipairs(cpus) do
    local tid = self.tid_of[cpu]
    finish(self, cpu, (tid == IDLE or self.left[tid]) and tid or nil, time)
  end
end

return processors
