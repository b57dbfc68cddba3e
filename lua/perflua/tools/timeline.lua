-- perflua timeline FILE: how much of each slice of time each thread ran.

local aside = require "perflua.group.aside"
local duration = require "perflua.text.duration"
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local needs = require "perflua.meta.needs"
local output = require "perflua.table.output"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"
local suggest = require "perflua.errors.suggest"

local tool = {
  description = "share of each time slice that each thread ran, as CSV or JSON",
  usage = "timeline [options] FILE",
  needs = { events = { { any = { "sched:sched_switch", "cpu-clock", "task-clock" } } },
    fields = { "time" } },
  record = "perf record -a -e sched:sched_switch",
  options = samples.with_options({
    by = { "tid|pid|comm|cpu", "add up threads, processes, names or processors; default: tid" },
    csv = "comma separated values, which is the default",
    json = "an array of objects",
    slice = { "TIME", "the length of a slice, such as 1ms or 2s; default: 10ms" },
    ["csv-safe"] = output.CSV_SAFE,
  }, "dso symbol event"),
  help = [[
Columns: time, when the slice begins, in seconds; comm; tid; share, in percent of one processor. With --by
pid, comm or cpu the share is that of all threads of a process, of a name, or on a processor.
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
-- nanoseconds by tid, or by cpu) gets each slice that is over.
local Line = {}
Line.__index = Line

local function new_line(length, by_cpu, write)
  return setmetatable({ length = length, by_cpu = by_cpu, write = write, ran = {}, running = {},
    since = {}, skipped = 0 }, Line)
end

function Line:add(tid, cpu, ns)
  local key = self.by_cpu and cpu or tid
  if ns > 0 then self.ran[key] = (self.ran[key] or 0) + ns end
end

-- Ends the slice: threads that still run do so in the next.
function Line:close()
  for cpu, tid in pairs(self.running) do
    self:add(tid, cpu, self.stop - self.since[cpu])
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
      if running[cpu] == prev then line:add(prev, cpu, time - since[cpu]) end
      running[cpu], since[cpu], last = next_tid ~= 0 and next_tid or nil, time, time
    end
  end
  line:finish(last)
  return lost, unreadable
end

local function read_samples(file, line)
  local events, unreadable = { file.events["cpu-clock"] or file.events["task-clock"] }, 0
  for tid, period, time, cpu in file:samples(events):select("tid", "period", "time",
    line.by_cpu and "cpu" or "false"):each() do
    if not (tid and period and time and (cpu or not line.by_cpu)) or aside.is(period) then
      unreadable = unreadable + 1
    else
      if time >= (line.stop or 0) then line:advance(time) end
      if tid ~= 0 then line:add(tid, cpu, period) end
    end
  end
  line:finish(line.stop)
  return 0, unreadable
end

-- The columns of each way to add up, without time and share.
local columns = { tid = { "comm", "tid" }, pid = { "comm", "pid" }, comm = { "comm" },
  cpu = { "cpu" } }

-- Returns rows { comm, id, ns } of what ran in a slice, in the order of their ids or names.
local function rows_of(file, by, ran, stop, is_chosen)
  local rows, list = {}, {}
  for id, ns in pairs(ran) do
    local thread = by ~= "cpu" and file:thread(id, stop)
    if by == "cpu" or not is_chosen or is_chosen(id, stop) then
      local key = by == "pid" and (thread and thread.pid or id)
        or by == "comm" and (thread and thread.comm or "") or id
      local row = rows[key]
      if not row then
        local leader = by == "pid" and key ~= id and file:thread(key, stop) or thread
        row = { comm = leader and leader.comm or "", id = key, ns = 0 }
        rows[key], list[#list + 1] = row, row
      end
      row.ns = row.ns + ns
    end
  end
  table.sort(list, function(a, b) return a.id < b.id end)
  return list
end

-- Returns functions that write a row, and the end. The first call of either writes the head, so
-- that a recording that cannot be asked leaves standard output empty.
local function writer_of(out, args, by)
  local names, n = columns[by], 0
  if args.json then
    return function(time, row, share)
      n = n + 1
      out:write((n > 1 and ",\n" or "[\n") .. ('{"time":%s'):format(time))
      for _, name in ipairs(names) do
        out:write(name == "comm" and ',"comm":' .. json.string(row.comm)
          or (',"%s":%d'):format(name, row.id))
      end
      out:write((',"share":%s}'):format(share))
    end, function() out:write(n > 0 and "\n]\n" or "[]\n") end
  end
  local function write_head()
    n = n + 1
    if n == 1 then out:write("time,", table.concat(names, ","), ",share\r\n") end
  end
  return function(time, row, share)
    write_head()
    local cells = { time }
    for _, name in ipairs(names) do
      cells[#cells + 1] = name == "comm" and fmt.csv(row.comm, args.csv == "safe")
        or ("%d"):format(row.id)
    end
    out:write(table.concat(cells, ","), ",", share, "\r\n")
  end, write_head
end

-- Returns the length of a slice, and by what to add up; nil and what is wrong with an option.
local function check_options(args)
  local length, by = duration.nanoseconds(args.slice or "10ms"), args.by or "tid"
  if not length or length == 0 then
    return nil, "timeline: --slice: a time such as 10ms expected, got " .. args.slice
  elseif not columns[by] then
    return nil, "timeline: " .. suggest.message(("--by: no '%s'"):format(by), by,
      suggest.names(columns))
  elseif args.csv and args.json then
    return nil, "timeline: --csv and --json exclude each other"
  elseif by == "cpu" and (args.comm or args.pid or args.tid) then
    return nil, "timeline: --by cpu adds up all threads; --comm, --pid and --tid choose some"
  end
  return length, by
end

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local length, by = check_options(args)
  if not length then return 2, by end
  local file <close>, message = needs.open(args[1], tool)
  if not file then return nil, message end
  local is_chosen, wrong = samples.of_tids(file, args)
  wrong = wrong or samples.choose(file, args, samples.of_threads)
  if wrong then return 2, "timeline: " .. wrong end
  samples_with_losses.read_names(file)
  local write_row, write_end = writer_of(out, args, by)
  local line = new_line(length, by == "cpu", function(start, stop, ran)
    for _, row in ipairs(rows_of(file, by, ran, stop, is_chosen)) do
      write_row(perflua.seconds(start), row, ("%.3f"):format(100 * row.ns / length))
    end
  end)
  local read = file.events["sched:sched_switch"] and read_switches or read_samples
  local lost, unreadable = read(file, line)
  write_end()
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
