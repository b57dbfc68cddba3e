-- A trace of Chrome's trace events as it is written: what is drawn of samples one by one.

local core = require "perflua.core"
local counts = require "perflua.export.counts"
local json = require "perflua.text.json"
local processors = require "perflua.export.processors"

local spec_of = core.query_spec

local trace_events = {}

-- Frames of call chains in Chrome's trace events: each with the one that called it.

local Frames = {}
Frames.__index = Frames

---@param stack string folded: callers first
---@return integer # number of its last frame
function Frames:number(stack)
  local number = self.of[stack]
  if number then return number end
  number = 0
  for name in stack:gmatch "[^;]+" do
    local known = self.children[number]
    if not known then
      known = {}
      self.children[number] = known
    end
    if not known[name] then
      self.list[#self.list + 1] = { name = name, parent = number }
      known[name] = #self.list
    end
    number = known[name]
  end
  self.of[stack] = number
  return number
end

---@param write fun(text: string)
---@param is_behind boolean whether other frames go before
function Frames:write(write, is_behind)
  for i, frame in ipairs(self.list) do
    local parent = frame.parent > 0 and (',"parent":"%d"'):format(frame.parent) or ""
    write(('%s\n"%d":{"name":%s%s}'):format((is_behind or i > 1) and "," or "", i,
      json.string(frame.name), parent))
  end
end

local UNKNOWN <const> = '"not known who ran"'
local CPUS <const> = 0 -- the process whose threads are the processors: none has this id
trace_events.CPUS = CPUS

-- Fields of samples, and of tracepoints where there are such.
local FIELDS <const> = { "event", "time", "cpu", "pid", "tid", "comm", "period", "symbol",
  "dso", "stack", "message", "args.prev_pid", "args.next_pid", "args.next_comm", "args.pid",
  "args.cpu_id", "args.state" }

local Trace = {}
Trace.__index = Trace
trace_events.Trace = Trace

---A trace that has more bytes than it may have raises this.
trace_events.TOO_LARGE = {}

---@param file perflua.File
---@param write fun(text: string)
---@param most integer bytes that it may have
---@param least integer? ns: runs that are shorter are left out; default: none is
function trace_events.new(file, write, most, least)
  local trace = setmetatable({ file = file, write = write, most = most, size = 0, last = 0,
    frames = setmetatable({ list = {}, children = {}, of = {} }, Frames),
    named = {}, comms = {}, placed = {}, shown = {}, flows = 0, least = least, n_short = 0,
    ns_short = 0 }, Trace)
  trace.processors = processors.new(trace:handlers())
  trace.counts = counts.new(function(pid, name, count, time)
    trace:counter(pid, name, "count", count, trace:stamp(time))
  end)
  return trace
end

---Draws what lasts long enough, and counts what does not.
---@param ns integer
---@param draw function
---@param ... any its arguments
function Trace:draw_long(ns, draw, ...)
  if ns < (self.least or 0) then
    self.n_short, self.ns_short = self.n_short + 1, self.ns_short + ns
    return
  end
  draw(...)
end

-- Returns microseconds since the start of the trace, with all digits.
function Trace:stamp(time)
  self.first = self.first or time
  local ns = time - self.first
  local sign = ns < 0 and "-" or ""
  ns = math.abs(ns)
  return ("%s%d.%03d"):format(sign, ns // 1000, ns % 1000)
end

function Trace:add(format, ...)
  local text = (self.wrote and ",\n" or "") .. format:format(...)
  self.size = self.size + #text
  if self.size > self.most then error(trace_events.TOO_LARGE) end
  self.write(text)
  self.wrote = true
end

-- Names a process or thread, anew if it is called otherwise.
function Trace:name(kind, pid, tid, text)
  self:add_name(('{"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}}'):format(kind,
    pid, tid, json.string(text)), ("%s %d %d"):format(kind, pid, tid))
end

-- Adds what a process or thread is called, unless it was said last of the same.
function Trace:add_name(text, key)
  if self.named[key] == text then return end
  self.named[key] = text
  self:add("%s", text)
end

-- Returns the name of a thread: that of the recording, else that of the last switch to it.
function Trace:comm_of(tid, thread)
  return thread and thread.comm or self.comms[tid] or "[unknown]"
end

-- Shows a process above those with a larger place.
function Trace:place(pid, place)
  self:add_name(('{"ph":"M","name":"process_sort_index","pid":%d,"args":{"sort_index":%d}}')
    :format(pid, place), "place " .. pid)
end

-- Returns the process of a thread and the thread's name, and writes the names of both. Shows
-- processes whose start was not recorded last.
function Trace:process_of(tid, time)
  local thread = self.file:thread(tid, time)
  local pid, comm = thread and thread.pid or tid, self:comm_of(tid, thread)
  local leader = pid == tid and thread or self.file:thread(pid, time)
  if not self.placed[pid] then
    self.placed[pid] = leader and leader.comm and 1 or 2
  end
  self:place(pid, self.placed[pid])
  self:name("process_name", pid, pid, self:comm_of(pid, leader))
  self:name("thread_name", pid, tid, comm)
  self.shown[tid] = comm
  return pid, comm
end

-- Names the thread that stands for a processor.
function Trace:name_cpu(cpu)
  self:place(CPUS, 0)
  self:name("process_name", CPUS, CPUS, "processors")
  self:name("thread_name", CPUS, cpu, ("cpu %d"):format(cpu))
end

function Trace:counter(pid, name, key, value, stamp)
  self:add('{"ph":"C","pid":%d,"ts":%s,"name":%s,"args":{"%s":%d}}', pid, stamp,
    json.string(name), key, value)
end

-- Draws the arrow of a wake-up to the run that follows it.
function Trace:arrow(wake, pid, tid, stamp)
  self.flows = self.flows + 1
  self:add('{"ph":"s","id":%d,"cat":"wake-up","name":"wake-up","pid":%d,"tid":%d,"ts":%s}',
    self.flows, wake.pid, wake.tid, self:stamp(wake.time))
  self:add('{"ph":"f","bp":"e","id":%d,"cat":"wake-up","name":"wake-up","pid":%d,"tid":%d,'
    .. '"ts":%s}', self.flows, pid, tid, stamp)
end

-- Draws a time on a thread's track.
function Trace:draw_slice(pid, tid, name, from, to)
  self:add('{"ph":"B","pid":%d,"tid":%d,"ts":%s,"name":%s}', pid, tid, from, name)
  self:add('{"ph":"E","pid":%d,"tid":%d,"ts":%s,"name":%s}', pid, tid, to, name)
end

-- Draws a time in which it is not known who ran on a processor.
function Trace:draw_unknown(cpu, start, stop)
  self:name_cpu(cpu)
  self:draw_slice(CPUS, cpu, UNKNOWN, self:stamp(start), self:stamp(stop))
end

-- Draws how many threads run.
function Trace:draw_running(stamp)
  self:counter(CPUS, "running threads", "threads", self.processors.n_running, stamp)
end

-- Draws a run on its processor and of its thread, and the arrow of a wake-up before it.
function Trace:draw_run(tid, cpu, start, stop, wake)
  local pid, comm = self:process_of(tid, start)
  local from, to = self:stamp(start), self:stamp(stop)
  self:name_cpu(cpu)
  self:draw_slice(CPUS, cpu, json.string(("%s (%d)"):format(comm, tid)), from, to)
  self:draw_slice(pid, tid, ('"cpu %d"'):format(cpu), from, to)
  self:draw_running(to)
  if wake then self:arrow(wake, pid, tid, from) end
end

-- Returns the functions that draw what processors do.
function Trace:handlers()
  return {
    run = function(tid, cpu, start, stop, wake)
      self:draw_long(stop - start, self.draw_run, self, tid, cpu, start, stop, wake)
    end,
    unknown = function(cpu, start, stop)
      self:draw_long(stop - start, self.draw_unknown, self, cpu, start, stop)
    end,
  }
end

local taken = {}

function taken.sched_switch(self, s)
  if not (s.cpu and s["args.prev_pid"] and s["args.next_pid"]) then return end
  if s["args.next_comm"] ~= "" then self.comms[s["args.next_pid"]] = s["args.next_comm"] end
  self.processors:switch(s.cpu, s["args.prev_pid"], s["args.next_pid"], s.time)
  -- if short runs are left out, the number of running threads is drawn where drawn runs end
  if s["args.next_pid"] ~= 0 and not self.least then self:draw_running(self:stamp(s.time)) end
  return true
end

-- Wake-ups are drawn with the runs that follow them.
local function wake(self, s)
  if not s["args.pid"] then return end
  self.processors:wake(s.cpu, s.tid, s["args.pid"], s.time)
  return true
end

taken.sched_waking, taken.sched_wakeup, taken.sched_wakeup_new = wake, wake, wake

function taken.cpu_frequency(self, s)
  if not (s["args.cpu_id"] and s["args.state"]) then return end
  self:counter(CPUS, ("frequency of cpu %d"):format(s["args.cpu_id"]), "kHz",
    s["args.state"], self:stamp(s.time))
  return true
end

-- Any other sample. What happens while a processor idles is its own.
local function add_instant(self, s)
  local pid, tid, args = s.pid or 0, s.tid or 0, {}
  if tid == 0 then pid, tid = CPUS, s.cpu or 0
  elseif not self.shown[tid] or s.comm and self.shown[tid] ~= s.comm then
    self:process_of(tid, s.time)
  end
  for _, name in ipairs { "symbol", "dso", "message" } do
    if s[name] then args[#args + 1] = ('"%s":%s'):format(name, json.string(s[name])) end
  end
  if s.period and not s.message then args[#args + 1] = ('"period":%d'):format(s.period) end
  local frame = s.stack and s.stack ~= "" and self.frames:number(s.stack)
  self:add('{"ph":"i","s":"t","pid":%d,"tid":%d,"ts":%s,"name":%s,"args":{%s}%s}', pid, tid,
    self:stamp(s.time), json.string(s.event and s.event.name or "sample"),
    table.concat(args, ","), frame and (',"sf":"%d"'):format(frame) or "")
end

local function add_sample(self, s)
  self.counts:add_sample(s)
  local name = s.event and s.event.name:match "^[^:]+:([^:]+)" or ""
  if not (taken[name] and taken[name](self, s)) then add_instant(self, s) end
end

-- Returns the query of the fields that its samples have, and their names. Messages cost time,
-- so they are made only if there are tracepoints other than those that are drawn.
local function select_fields(query)
  local names, others = {}, false
  for _, event in ipairs(spec_of(query).scope:events()) do
    others = others or event.system ~= nil
      and not taken[event.name:match "^[^:]+:([^:]+)" or ""]
  end
  for _, name in ipairs(FIELDS) do
    if (name ~= "message" or others) and pcall(query.select, query, name) then
      names[#names + 1] = name
    end
  end
  local all, of_spans = processors.beside(query)
  table.move(of_spans, 1, #of_spans, #names + 1, names)
  return all:select(table.unpack(names)), names
end

---Draws the samples of a query one by one.
---@param query perflua.Query
---@return integer # how many they are
function Trace:draw(query)
  local selected, names = select_fields(query)
  local sample, n = {}, 0
  selected:each(function(...)
    local values = { ... }
    for i, name in ipairs(names) do sample[name] = values[i] end
    if sample["span.key"] then return self.processors:span(sample) end
    if not sample.time then return end
    n, self.last = n + 1, math.max(self.last, sample.time)
    add_sample(self, sample)
  end)
  return n
end

---@param query perflua.Query of samples
---@return perflua.Query # of the values that draw() reads
function trace_events.selected(query) return (select_fields(query)) end

return trace_events
