-- perflua offcpu FILE: how long threads were not on a processor, and where in the program.

local aside = require "perflua.group.aside"
local folded = require "perflua.flame.folded"
local described = require "perflua.toolkit.described"
local folded_rows = require "perflua.toolkit.folded_rows"
local interrupted = require "perflua.table.interrupted"
local result_table = require "perflua.table.result_table"
local folding = require "perflua.toolkit.folding"
local samples = require "perflua.toolkit.samples"
local stacks = require "perflua.flame.stacks"
local switches = require "perflua.waits.switches"

local columns = { { "comm", "string" }, { "tid", "signed" }, { "state", "string" },
  { "count", "unsigned" }, { "total_ms", "float" }, { "avg_us", "float" },
  { "max_us", "float" } }

local tool = {
  description =
    "time off CPU, blocked or preempted: by thread, as folded stacks, as a flame graph",
  usage = "offcpu [options] FILE",
  reads = "samples",
  takes = "time comm pid tid cpu where symbols",
  refused = "it reads the switches of all threads",
  applies = samples.of_spans,
  needs = { events = { { any = { "sched:sched_switch", "context-switches", "cs" } } },
    fields = { "tid", "time" } },
  record = "perf record -a -g -e sched:sched_switch -- COMMAND",
  options = result_table.with_options(columns, {
    folded = folded_rows.options.folded, svg = folded_rows.options.svg,
    o = folded_rows.options.o, title = folded_rows.options.title,
    state = { "blocked|preempted", "only times in this state" },
    by = { "comm|pid|tid|none", "the first frame of each stack; default: comm" },
    cpu = samples.cpu_of_spans,
  }),
  help = [[
A thread that was still runnable when it left its processor was preempted; otherwise it was blocked. Both
times end when it runs again. Folded stacks and graphs mark preempted ones with the frame [preempted].
Without root: perf record -g -c 1 -e context-switches --switch-events -- COMMAND

  $ perflua offcpu --count 3 perf.data
  # 6436 times off CPU; not counted: 68 ends without a start, 37 not over when the recording ended
  comm           tid  state    count  total_ms     avg_us     max_us
  rcu_preempt     15  blocked     71    566.93    7985.00   28011.70
  perf         32047  blocked      2    565.00  282499.86  564957.49
  sh           32079  blocked      5    558.89  111778.68  264808.96]],
}

local states = { blocked = true, preempted = true }

local function check_options(args)
  local wrong = folded_rows.wrong(args)
  if args.by and not (args.folded or args.svg) then
    wrong = wrong or "--by needs --folded or --svg"
  end
  return wrong or folding.wrong("by", args.by, stacks.heads)
    or folding.wrong("state", args.state, states)
end

-- The name of a thread that leaves; the samples of one that has ended have no thread.
local COMM <const> = "open.tid >= 0 and open.comm or open.args.prev_comm"

-- The time of spans that may begin with the sample before a record of a switch.
local OFF <const> = "in_blocked + in_preempted"

-- The first frame of a stack: the fields of its text.
local heads = { none = {}, comm = { "comm" }, pid = { "comm", "pid" },
  tid = { "comm", "pid", "tid" } }

-- Returns the query over the times off processors, by thread and state, or by call chain; and
-- the fields of threads by name.
local function query_of(file, args)
  local folds = args.folded or args.svg
  local options, types = switches.off_cpu(file, folds)
  local fields = { comm = "(" .. (types and "open.comm" or COMM) .. ")", pid = "open.pid",
    tid = "key", cpu = "open.cpu" }
  local query = (types and described.records(file, types) or described.samples(file))
    :pair(options)
  local condition = samples.span_condition(args, fields)
  if condition then query = query:where(condition) end
  if args.state then query = query:where(("state == '%s'"):format(args.state)) end
  local keys = { "key", "state" }
  if folds then
    keys = { args.svg and "open.annotated_stack" or "open.stack", "state" }
    for _, name in ipairs(heads[args.by or "comm"]) do keys[#keys + 1] = fields[name] end
  end
  query = query:group_by(table.unpack(keys)):count()
    :sum(folds and types and OFF or "duration"):as("total")
  if not folds then query = query:max("duration"):as("longest"):last(fields.comm):as("comm") end
  return query, fields
end

function tool.queries(file, args)
  local message = switches.check_off(file)
  if message then return nil, message end
  return { (query_of(file, args)) }
end

-- Returns the folded stack of a row: [preempted] is the last frame of such times.
local function fold_row(row, head)
  local parts = { folded.clean_name(head),
    folded.clean(row["open.stack"] or row["open.annotated_stack"] or "") }
  if row.state == "preempted" then parts[3] = "[preempted]" end
  local text = table.concat(parts, ";"):gsub("^;", ""):gsub(";;", ";"):gsub(";$", "")
  return text ~= "" and text or "[unknown]"
end

local function write_stacks(file, args, out)
  local query, fields = query_of(file, args)
  local made, rows = query:table(), {}
  local head_of = stacks.heads[args.by or "comm"].text
  for row in made:rows() do
    local thread = { comm = row[fields.comm], pid = row[fields.pid], tid = row[fields.tid] }
    rows[#rows + 1] = { stack = fold_row(row, head_of(thread)), value = row.total,
      count = row.count }
  end
  if #rows == 0 and not interrupted.part() then
    folding.log("offcpu", "%s: no thread left its processor and came back", args[1])
  end
  return folded_rows.write(file, args, out, rows, { title = "Off-CPU time",
    measured = "time off the processors" .. (args.state and ", " .. args.state or ""),
    made = made, headless = args.by == "none" })
end

local function write_table(file, args, out)
  local query = query_of(file, args)
  local set_aside = aside.from(query.query)
  local made, list = query:table(), result_table.new(columns, "total_ms")
  for row in made:rows() do
    list:add { comm = row.comm, tid = row.key, state = row.state, count = row.count,
      total_ms = row.total / 1e6, avg_us = row.total / row.count / 1e3,
      max_us = row.longest / 1e3 }
  end
  list:note_spans(made, "{time off CPU|times off CPU}")
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

function tool.prepare(args) return nil, check_options(args) end

-- Stacks are made of call chains.
function tool.needed(args)
  if not (args.folded or args.svg) then return tool.needs end
  return { "callchain", events = tool.needs.events }
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local message = switches.check_off(file)
  if message then return nil, message end
  return (args.folded and write_stacks or args.svg and write_stacks or write_table)(file, args,
    out)
end

return tool
