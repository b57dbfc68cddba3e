-- perflua timeline FILE: how much of each slice of time each thread ran.

local aside = require "perflua.group.aside"
local duration = require "perflua.text.duration"
local fmt = require "perflua.text.fmt"
local needs = require "perflua.meta.needs"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"

local tool = {
  description = "share of each time slice that each thread ran, as CSV",
  usage = "timeline [--slice TIME] FILE",
  needs = { events = { { any = { "sched:sched_switch", "cpu-clock", "task-clock" } } },
    fields = { "time" } },
  record = "perf record -a -e sched:sched_switch",
  options = samples.with_options({
    slice = { "TIME", "the length of a slice, such as 1ms or 2s; default: 10ms" },
    ["csv-safe"] = "put a ' before names that a spreadsheet would evaluate: = + - @",
  }, "dso symbol event"),
  help = [[
Columns: time, when the slice begins, in seconds; comm; tid; share, in percent of one processor.
A thread that did not run in a slice has no line there, and the idle thread has none at all.
Times come from thread switches, which are exact; without them, from samples of cpu-clock or task-clock,
each of which stands for the time since the previous one.

  $ perflua timeline --slice 200ms perf.data
  time,comm,tid,share
  38461.852138,ls,28728,42.670
  38461.852138,sort,28729,1.407
  38462.052138,ls,28728,6.057
  38462.052138,sort,28729,4.264]],
}

tool.refused = samples.refused(tool.options, "it reads the switches of all threads")

local MOST <const> = 1000000 -- slices between two records; what ran over more is not known

-- Time that threads ran is added to the slice from start to stop; write(start, stop,
-- nanoseconds by tid) gets each slice that is over.
local Line = {}
Line.__index = Line

local function new_line(length, write)
  return setmetatable({ length = length, write = write, ran = {}, running = {}, since = {},
    skipped = 0 }, Line)
end

function Line:add(tid, ns)
  if ns > 0 then self.ran[tid] = (self.ran[tid] or 0) + ns end
end

-- Ends the slice: threads that still run do so in the next.
function Line:close()
  for cpu, tid in pairs(self.running) do
    self:add(tid, self.stop - self.since[cpu])
    self.since[cpu] = self.stop
  end
  if next(self.ran) then self.write(self.start, self.stop, self.ran) end
  self.start, self.stop, self.ran = self.stop, self.stop + self.length, {}
end

function Line:advance(time)
  local n = self.start and (time - self.start) // self.length or 0
  if n > MOST and next(self.running) then self.running, self.skipped = {}, self.skipped + 1 end
  while n > 0 and (next(self.ran) or next(self.running)) do
    self:close()
    n = n - 1
  end
  self.start = self.start and self.start + n * self.length or time
  self.stop = self.start + self.length
end

function Line:finish(time)
  if not self.stop then return end
  self.stop = time
  self:close()
end

-- Returns how many records told of lost ones, and how many samples lacked a field.
local function read_switches(file, line)
  local running, since, stop, last, lost, unreadable = line.running, line.since, 0, 0, 0, 0
  local q = samples_with_losses.named(file, { "sched:sched_switch" })
    :select("args.prev_pid", "args.next_pid", "time", "cpu")
  for prev, next_tid, time, cpu in q:each() do
    if not (prev and next_tid and time and cpu) then
      for of in pairs(line.running) do line.running[of] = nil end
      lost, unreadable = lost + (prev and 0 or 1), unreadable + (prev and 1 or 0)
    else
      if time >= stop then
        line:advance(time)
        running, stop = line.running, line.stop
      end
      if running[cpu] == prev then line:add(prev, time - since[cpu]) end
      running[cpu], since[cpu], last = next_tid ~= 0 and next_tid or nil, time, time
    end
  end
  line:finish(last)
  return lost, unreadable
end

local function read_samples(file, line)
  local events, unreadable = { file.events["cpu-clock"] or file.events["task-clock"] }, 0
  for tid, period, time in file:samples(events):select("tid", "period", "time"):each() do
    if not (tid and period and time) or aside.is(period) then
      unreadable = unreadable + 1
    else
      if time >= (line.stop or 0) then line:advance(time) end
      if tid ~= 0 then line:add(tid, period) end
    end
  end
  line:finish(line.stop)
  return 0, unreadable
end

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local length = duration.nanoseconds(args.slice or "10ms")
  if not length or length == 0 then
    return 2, "timeline: --slice: a time such as 10ms expected, got " .. args.slice
  end
  local file <close>, message = needs.open(args[1], tool)
  if not file then return nil, message end
  local is_chosen, wrong = samples.of_tids(file, args)
  wrong = wrong or samples.choose(file, args, samples.of_threads)
  if wrong then return 2, "timeline: " .. wrong end
  samples_with_losses.read_names(file)
  out:write("time,comm,tid,share\r\n")
  local line = new_line(length, function(start, stop, ran)
    local tids = {}
    for tid in pairs(ran) do
      if not is_chosen or is_chosen(tid, stop) then tids[#tids + 1] = tid end
    end
    table.sort(tids)
    for _, tid in ipairs(tids) do
      local thread = file:thread(tid, stop)
      local comm = fmt.csv(thread and thread.comm or "", args["csv-safe"])
      out:write(("%s,%s,%d,%.3f\r\n"):format(perflua.seconds(start), comm, tid,
        100 * ran[tid] / length))
    end
  end)
  local read = file.events["sched:sched_switch"] and read_switches or read_samples
  local lost, unreadable = read(file, line)
  for _, note in ipairs {
    { lost, "{record tells|records tell} of losses: what ran afterwards is not known" },
    { line.skipped,
      "{pause is|pauses are} too long to be shown: what ran afterwards is not known" },
    { unreadable, "{sample lacks|samples lack} a required field or {has|have} it damaged" },
  } do
    if note[1] > 0 then io.stderr:write("# ", fmt.phrase(note[1], note[2]), "\n") end
  end
end

return tool
