-- perflua timeline FILE: how much of each slice of time each thread ran.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local units = require "perflua.text.units"
local fmt = require "perflua.text.fmt"
local pair_counts = require "perflua.table.pair_counts"
local perflua = require "perflua"
local row_output = require "perflua.table.row_output"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"
local suggest = require "perflua.errors.suggest"
local switches = require "perflua.waits.switches"

local tool = {
  description = "share of each time slice that each thread ran, as CSV or JSON",
  usage = "timeline [options] FILE",
  reads = "samples",
  takes = "time comm pid tid cpu where symbols",
  refused = "it reads the switches of all threads",
  applies = { comm = true, pid = true, tid = true, time = true },
  needs = { events = { { any = { "sched:sched_switch", "cpu-clock", "task-clock" } } },
    fields = { "time" } },
  record = "perf record -a -e sched:sched_switch",
  options = row_output.with_csv_options {
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
A run is counted if the switches at its start and at its end were recorded, on one processor, or if it goes
on at the end of the recording and its thread was seen to leave a processor before. The first line on standard
error counts the others. Without -a perf record writes only switches from the recorded threads: few of their
runs have a known start. In each slice the times of a thread add up to those of perflua sched --time.

  $ perflua timeline --slice 200ms --comm ls,sort perf.data
  time,comm,tid,share
  1070.800000,ls,27976,0.570
  1070.800000,sort,27977,0.546
  1071.000000,ls,27976,24.495
  1071.000000,sort,27977,0.195]],
}

-- Returns the query: of each slice the times that threads ran, also on processors if it is
-- asked for. Switches are exact; a sample of a clock stands for the time before it.
local function query_of(file, args, slices)
  local length, keys = slices.length, { slices.by == "cpu" and "cpu" or nil }
  if not file.events[switches.event] then
    local event = file.events["cpu-clock"] or file.events["task-clock"]
    return described.samples(file, event.name)
      :group_by(slices.key(false), "tid", table.unpack(keys)):sum("period"):as("ran")
  end
  local options = switches.runs()
  options.slice, options.unfinished, options.window = length, true, samples.window(args)
  return described.samples(file):pair(options)
    :group_by(slices.key(true), "key", table.unpack(keys))
    :sum("close.time ~= nil and duration"):as("ran")
    :sum("close.time == nil and (duration or so_far)"):as("running")
    :sum("close.time ~= nil and 1"):as("left")
end

function tool.queries(file, args, slices) return { (query_of(file, args, slices)) } end

-- Returns what ran in each slice, ns by thread or processor, and how many rows or threads are
-- not among them. Threads that were never seen to leave a processor may have left unseen.
local function add_up(made, slices)
  local ran, left, unseen, without = {}, {}, {}, 0
  local time, thread, is_paired = slices.key, "key", made.counts ~= nil
  for row in made:rows() do
    if is_paired and row.left > 0 then left[row.key] = true end
  end
  if not is_paired then thread = "tid" end
  for row in made:rows() do
    local id, at = row[thread], row[time(is_paired)]
    local key, ns = slices.by == "cpu" and row.cpu or slices.by ~= "cpu" and id, row.ran
    if is_paired and left[id] then ns = ns + row.running
    elseif is_paired then unseen[id] = true end
    if not (id and at and key) then
      without = without + 1
    elseif id ~= 0 and ns > 0 then
      ran[at] = ran[at] or {}
      ran[at][key] = (ran[at][key] or 0) + ns
    end
  end
  local n = 0
  for _ in pairs(unseen) do n = n + 1 end
  return ran, n, without
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
  local write, finish = row_output.row_writer(out, shown, args.json, args.csv)
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
  local length, by = units.nanoseconds(args.slice or "10ms"), args.by or "tid"
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
  local function key(is_paired)
    return ("bucket(%s, %d)"):format(is_paired and "start" or "time", length)
  end
  return { length = length, by = by, key = key }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param slices { length: integer, by: string, key: fun(is_paired: boolean): string }
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, slices)
  local length, by, is_chosen = slices.length, slices.by, samples.of_tids(file, args)
  samples_with_losses.read_names(file)
  local query = query_of(file, args, slices)
  local set_aside = aside.from(query.query)
  local made = query:table()
  local ran, unseen, without = add_up(made, slices)
  local write_row, write_end = writer_of(out, args, by)
  local times = {}
  for time in pairs(ran) do times[#times + 1] = time end
  table.sort(times)
  for _, time in ipairs(times) do
    for _, row in ipairs(rows_of(file, by, ran[time], time + length, is_chosen)) do
      write_row(perflua.seconds(time), row, ("%.3f"):format(100 * row.ns / length))
    end
  end
  local ok, message = write_end()
  local counts = made.counts and pair_counts.text(made.counts, "{run|runs}")
  if counts then io.stderr:write(counts, "\n") end
  for _, note in ipairs { { unseen, switches.UNSEEN },
    { without, "{group of samples lacks|groups of samples lack} a required field" } } do
    if note[1] > 0 then io.stderr:write("# ", fmt.phrase(note[1], note[2]), "\n") end
  end
  local note = aside.said(set_aside.n)
  if note then io.stderr:write("# ", note, "\n") end
  return ok and 0 or nil, message
end

return tool
