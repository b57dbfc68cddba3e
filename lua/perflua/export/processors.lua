-- Runs of threads on processors: the spans between the switches of a trace. One pass reads them
-- beside the samples, because a stream can be read only once.

local core = require "perflua.core"
local switches = require "perflua.waits.switches"
local spec_of = core.query_spec

local processors = {}

local IDLE <const> = 0

-- Fields of spans, and those of the first wake-up before a run.
local FIELDS <const> = { "span.key", "span.stop", "span.state", "span.at_running.time",
  "span.at_running.cpu" }
local WAKES <const> = { "span.at_woken.time", "span.at_woken.pid", "span.at_woken.tid" }

---@param query perflua.Query of samples
---@return perflua.Query # of the samples, and beside them of the spans between their switches
---@return string[] fields # of these spans
function processors.beside(query)
  local spec = spec_of(query)
  local found = {}
  for _, event in ipairs(spec.scope:events()) do found[event.name] = true end
  if not (found[switches.event] and spec.scope:root "cpu" and spec.scope:root "time") then
    return query, {}
  end
  local wakes = {}
  for _, name in ipairs { "sched:sched_waking", "sched:sched_wakeup",
    "sched:sched_wakeup_new" } do
    if found[name] and spec.scope:root "tid" then wakes[#wakes + 1] = name end
  end
  local options = switches.processors(wakes[1] and wakes)
  options.unfinished = true
  local fields = table.move(FIELDS, 1, #FIELDS, 1, {})
  if wakes[1] then table.move(WAKES, 1, #WAKES, #fields + 1, fields) end
  local intervals = require "perflua.intervals" -- most exports draw no processors
  return intervals.beside(query, query:pair(options)), fields
end

local Processors = {}
Processors.__index = Processors

---@param on { run: fun(tid: integer, cpu: integer, start: integer, stop: integer,
--- wake: table?), unknown: fun(cpu: integer, start: integer, stop: integer) } run is called
--- when a thread stopped running, unknown after a time in which it is not known who ran
---@return table # n_running: the number of threads that run
function processors.new(on)
  return setmetatable({ on = on, tid_of = {}, since = {}, known = {},
    unfinished = {}, left = {}, doubted = {}, n_running = 0, unknown = 0 }, Processors)
end

-- Notes that what ran on a processor has left it.
local function leave(self, cpu)
  local tid = self.tid_of[cpu]
  if tid and tid ~= IDLE then self.n_running = self.n_running - 1 end
  self.tid_of[cpu] = nil
end

-- Reports a run.
local function end_run(self, run, stop)
  self.known[run.cpu] = stop
  if run.tid >= 0 then self.on.run(run.tid, run.cpu, run.start, stop, run.wake) end
end

-- Reports the time since the last switch of a processor, unless it is known who ran then.
local function end_unknown(self, cpu, since, time)
  if self.known[cpu] == time or time <= since then return end
  self.unknown = self.unknown + time - since
  self.on.unknown(cpu, since, time)
end

---Takes a span of processors.beside(), by the names of its fields.
---@param span table
function Processors:span(span)
  if span["span.state"] ~= "running" then return end
  local tid, cpu, stop = span["span.key"], span["span.at_running.cpu"], span["span.stop"]
  local run = { tid = tid, cpu = cpu, start = span["span.at_running.time"] }
  local woken_at = span["span.at_woken.time"]
  if woken_at and woken_at > (self.doubted[tid] or -1) then
    run.wake = { pid = span["span.at_woken.pid"], tid = span["span.at_woken.tid"],
      time = woken_at }
  end
  if not stop then
    self.unfinished[cpu] = run
    return
  end
  leave(self, cpu)
  end_run(self, run, stop)
end

---Takes a switch, after the span that it ended.
---@param cpu integer
---@param prev integer the thread that stops; 0: the processor was idle
---@param next_tid integer the thread that starts
---@param time integer ns
function Processors:switch(cpu, prev, next_tid, time)
  self.first = self.first or time
  leave(self, cpu)
  end_unknown(self, cpu, self.since[cpu] or prev ~= IDLE and self.first or time, time)
  self.tid_of[cpu], self.since[cpu], self.left[prev] = next_tid, time, true
  if next_tid ~= IDLE then self.n_running = self.n_running + 1 end
end

---Takes a wake-up: it has no arrow unless that begins where the waking thread runs.
---@param cpu integer
---@param waker integer
---@param woken integer
---@param time integer ns
function Processors:wake(cpu, waker, woken, time)
  if self.tid_of[cpu] ~= waker then self.doubted[woken] = time end
end

---Ends the recording. Threads run until then if they were seen to leave a processor before.
---@param time integer ns
function Processors:finish(time)
  local cpus = {}
  for cpu in pairs(self.since) do cpus[#cpus + 1] = cpu end
  table.sort(cpus)
  for _, cpu in ipairs(cpus) do
    local run = self.unfinished[cpu]
    leave(self, cpu)
    if run and (run.tid < 0 or self.left[run.tid]) then end_run(self, run, time) end
    end_unknown(self, cpu, self.since[cpu], time)
  end
end

return processors
