-- perflua timeline FILE: how much of each slice of time each thread ran.

local aside = require "perflua.group.aside"
local duration = require "perflua.text.duration"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local perflua = require "perflua"
local runs = require "perflua.waits.runs"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"
local suggest = require "perflua.errors.suggest"

local tool = {
  description = "share of each time slice that each thread ran, as CSV or JSON",
  usage = "timeline [options] FILE",
  reads = "samples",
  takes = "time comm pid tid cpu where symbols",
  refused = "it reads the switches of all threads",
  applies = samples.of_threads,
  needs = { events = { { any = { "sched:sched_switch", "cpu-clock", "task-clock" } } },
    fields = { "time" } },
  record = "perf record -a -e sched:sched_switch",
  options = output.with_csv_options {
    by = { "tid|pid|comm|cpu", "add up threads, processes, names or processors; default: tid" },
    csv = "comma separated values, which is the default",
    json = "an array of objects",
    slice = { "TIME", "the length of a slice, such as 1ms or 2s; default: 10ms" },
  },
  help = [[
Columns: time, when the slice begins, in seconds; comm; tid; share, in percent of one processor. With --by
pid, comm or cpu the share is that of all threads of a process, of a name, or on a processor.
A thread that did not run in a slice has no line there, and the idle thread has none at all.
Slices begin at multiples of their length on the clock of the recording.
Times come from thread switches, which are exact; without them, from samples of cpu-clock or task-clock,
each of which stands for the time since the previous one.
A run is counted if the switches at its start and at its end were recorded. Standard error says how many runs
lack one of them. Without -a perf record writes only switches from the recorded threads: few of their runs have
a known start.

  $ perflua timeline --slice 200ms --comm ls,sort perf.data
  time,comm,tid,share
  1070.800000,ls,27976,0.570
  1070.800000,sort,27977,0.546
  1071.000000,ls,27976,24.495
  1071.000000,sort,27977,0.195]],
}

local MOST <const> = 1000000 -- slices of one run; one that is longer is not known

-- Adds up how long threads ran in slices, which begin at multiples of their length.
-- write(start, stop, nanoseconds by tid, or by cpu) gets each slice when it is complete.
local Line = {}
Line.__index = Line

local function new_line(length, by_cpu, write)
  return setmetatable({ length = length, by_cpu = by_cpu, write = write, slices = {},
    next = math.maxinteger, last = math.mininteger, skipped = 0 }, Line)
end

-- Returns what ran in a slice, to add to.
function Line:slice(number)
  local ran = self.slices[number]
  if not ran then
    ran = {}
    self.slices[number] = ran
    self.next, self.last = math.min(self.next, number), math.max(self.last, number)
  end
  return ran
end

-- Adds a run that ended to the slices that it touches.
function Line:add(key, start, stop)
  local length = self.length
  local first, last = start // length, stop // length
  if last - first > MOST then
    self.skipped = self.skipped + 1
    return
  end
  for number = first, last do
    local ns = math.min(stop, (number + 1) * length) - math.max(start, number * length)
    if ns > 0 then
      local ran = self:slice(number)
      ran[key] = (ran[key] or 0) + ns
    end
  end
end

-- Writes the slices before that one: nothing will be added to them.
function Line:write_before(slice)
  local slices, length = self.slices, self.length
  for i = self.next, math.min(slice - 1, self.last) do
    local ran = slices[i]
    slices[i] = nil
    if ran and next(ran) then
      self.write(i * length, (i + 1) * length, ran)
    end
  end
  self.next = next(slices) and math.max(self.next, slice) or math.maxinteger
end

function Line:finish() self:write_before(math.maxinteger) end

-- Writes slices that ended before all runs that go on now.
local function write_complete(line, running, time)
  local first = time // line.length
  for cpu, tid in pairs(running.tid_of) do
    if tid and tid ~= 0 then first = math.min(first, running.since[cpu] // line.length) end
  end
  line:write_before(math.max(first, time // line.length - MOST))
end

-- Returns how many records told of lost ones, how many samples lacked a field, and which runs
-- are missing.
local function read_switches(file, line)
  local from, upto, ran, last, lost, unreadable = 0, math.mininteger, nil, 0, 0, 0
  local by_cpu = line.by_cpu
  local running = runs.new { stop = function(tid, cpu, start, stop)
    local key = by_cpu and cpu or tid
    if start < from or stop >= upto then return line:add(key, start, stop) end
    if stop > start then ran[key] = (ran[key] or 0) + stop - start end
  end }
  local q = samples_with_losses.named(file, { "sched:sched_switch" })
    :select("args.prev_pid", "args.next_pid", "time", "cpu")
  for prev, next_tid, time, cpu in q:each() do
    if not (prev and next_tid and time and cpu) then
      running:lose()
      lost, unreadable = lost + (prev and 0 or 1), unreadable + (prev and 1 or 0)
    else
      running:switch(cpu, prev, next_tid, time)
      if time >= upto then
        write_complete(line, running, time)
        local number = time // line.length
        from, upto, ran = number * line.length, (number + 1) * line.length, line:slice(number)
      end
      last = time
    end
  end
  running:finish(last)
  line:finish()
  return lost, unreadable, running:note "counted"
end

local function read_samples(file, line)
  local events, unreadable = { file.events["cpu-clock"] or file.events["task-clock"] }, 0
  for tid, period, time, cpu in file:samples(events):select("tid", "period", "time",
    line.by_cpu and "cpu" or "false"):each() do
    if not (tid and period and time and (cpu or not line.by_cpu)) or aside.is(period) then
      unreadable = unreadable + 1
    else
      local number, key = time // line.length, line.by_cpu and cpu or tid
      line:write_before(number)
      if tid ~= 0 then
        local ran = line:slice(number)
        ran[key] = (ran[key] or 0) + period
      end
    end
  end
  line:finish()
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

-- Returns functions that write a row, and the end. CSV has numbers with all their decimals.
local function writer_of(out, args, by)
  local shown = { { name = "time", kind = "float" } }
  for i, name in ipairs(columns[by]) do
    shown[i + 1] = { name = name, kind = name == "comm" and "string" or "signed" }
  end
  shown[#shown + 1] = { name = "share", kind = "float" }
  local write, finish = output.row_writer(out, shown, args.json, args.csv)
  local number = args.json and tonumber or tostring
  return function(time, row, share)
    local cells = { number(time) }
    for _, name in ipairs(columns[by]) do
      cells[#cells + 1] = name == "comm" and row.comm or row.id
    end
    cells[#cells + 1] = number(share)
    write(cells)
  end, finish
end

-- Returns the length of a slice and by what to add up; nil and what is wrong with an option.
function tool.prepare(args)
  local length, by = duration.nanoseconds(args.slice or "10ms"), args.by or "tid"
  if not length or length == 0 then
    return nil, "--slice: a time such as 10ms expected, got " .. args.slice
  elseif not columns[by] then
    return nil, suggest.message(("--by: no '%s'"):format(by), by,
      suggest.names(columns))
  elseif args.csv and args.json then
    return nil, "--csv and --json exclude each other"
  elseif by == "cpu" and (args.comm or args.pid or args.tid) then
    return nil, "--by cpu adds up all threads; --comm, --pid and --tid choose some"
  end
  return { length = length, by = by }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param slices { length: integer, by: string }
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, slices)
  local length, by, is_chosen = slices.length, slices.by, samples.of_tids(file, args)
  samples_with_losses.read_names(file)
  local write_row, write_end = writer_of(out, args, by)
  local line = new_line(length, by == "cpu", function(start, stop, ran)
    for _, row in ipairs(rows_of(file, by, ran, stop, is_chosen)) do
      write_row(perflua.seconds(start), row, ("%.3f"):format(100 * row.ns / length))
    end
  end)
  local read = file.events["sched:sched_switch"] and read_switches or read_samples
  local lost, unreadable, missing = read(file, line)
  local ok, message = write_end()
  if missing then io.stderr:write("# ", missing, "\n") end
  for _, note in ipairs {
    { lost, "{record tells|records tell} of losses: what ran afterwards is not known" },
    { line.skipped,
      "{run is|runs are} too long to be counted" },
    { unreadable, "{sample lacks|samples lack} a required field or {has|have} it damaged" },
  } do
    if note[1] > 0 then io.stderr:write("# ", fmt.phrase(note[1], note[2]), "\n") end
  end
  return ok and 0 or nil, message
end

return tool
