-- perflua offcpu FILE: how long threads were not on a processor, and where in the program.

local aside = require "perflua.group.aside"
local clean = require "perflua.flame.clean"
local described = require "perflua.toolkit.described"
local folded_rows = require "perflua.toolkit.folded_rows"
local interrupted = require "perflua.table.interrupted"
local result_table = require "perflua.table.result_table"
local off_cpu = require "perflua.waits.off_cpu"
local folding = require "perflua.toolkit.folding"
local samples = require "perflua.toolkit.samples"
local stacks = require "perflua.flame.stacks"
local switches = require "perflua.waits.switches"
local totals = require "perflua.waits.totals"

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
  # 6436 spans; not counted: 68 closed without an open, 37 left open, 3 opened again before a close
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

-- Returns the query over the times off processors, by thread and state.
local function query_of(file, args)
  local by_records = off_cpu.has_switches(file)
  local query = by_records and described.records(file, switches.RECORDS)
    or described.samples(file)
  query = query:pair(by_records and switches.off_by_records() or switches.off())
  local comm = by_records and "open.comm" or COMM
  local condition = samples.span_condition(args, { comm = "(" .. comm .. ")",
    pid = "open.pid", tid = "key", cpu = "open.cpu" })
  if condition then query = query:where(condition) end
  if args.state then query = query:where(("state == '%s'"):format(args.state)) end
  return query:group_by("key", "state"):count():sum("duration"):as("total"):max("duration")
    :as("longest"):last(comm):as("comm")
end

function tool.queries(file, args)
  local message = off_cpu.check_recording(file)
  if message then return nil, message end
  if args.folded or args.svg then
    return nil, "stacks are not a query: leave out --folded and --svg"
  end
  return { query_of(file, args) }
end

-- Makes a table of threads and states.
local function list_of(file, args)
  local query = query_of(file, args)
  local set_aside = aside.from(query.query)
  local made, list = query:table(), result_table.new(columns, "total_ms")
  for row in made:rows() do
    list:add { comm = row.comm, tid = row.key, state = row.state, count = row.count,
      total_ms = row.total / 1e6, avg_us = row.total / row.count / 1e3,
      max_us = row.longest / 1e3 }
  end
  list:note_spans(made)
  aside.note(list, set_aside.n)
  return list
end

-- Returns the folded stack of a row: [preempted] is the last frame of such times.
local function fold_row(row, texts)
  local parts = { clean.name(row.head), clean.stack(texts[row.chain] or "") }
  if row.state == "preempted" then parts[3] = "[preempted]" end
  local text = table.concat(parts, ";"):gsub("^;", ""):gsub(";;", ";"):gsub(";$", "")
  return text ~= "" and text or "[unknown]"
end

-- Returns rows of stacks. Times are added up before their call chains become text: there are
-- many times of few chains.
local function stacks_of(file, args, is_shown)
  local head_of, rows = stacks.heads[args.by or "comm"].text, totals.new()
  local open, texts = off_cpu.each(file, args.svg and "annotated" or "names",
    function(wait, duration)
      if not is_shown(wait) then return end
      local head = head_of(wait)
      local row = rows:row(wait.chain, wait.state, head)
      row.chain, row.state, row.head = wait.chain, wait.state, head
      totals.add(row, duration)
    end)
  for _, row in ipairs(rows.rows) do
    row.stack, row.value = fold_row(row, texts), row.total
  end
  return rows.rows, open
end

local function write_stacks(file, args, out, is_shown)
  local rows, open = stacks_of(file, args, is_shown)
  if #rows == 0 and not interrupted.part() then
    folding.log("offcpu", "%s: no thread left its processor and came back", args[1])
  end
  open:log_notes("offcpu", "time")
  return folded_rows.write(file, args, out, rows, { title = "Off-CPU time",
    measured = "time off the processors" .. (args.state and ", " .. args.state or ""),
    notes = open:phrases "time", headless = args.by == "none" })
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
  local is_chosen = samples.threads(args)
  local function is_shown(wait)
    return (not args.state or wait.state == args.state)
      and is_chosen(wait.tid, wait.comm, wait.pid, wait.cpu)
  end
  local message = off_cpu.check_recording(file)
  if message then return nil, message end
  if args.folded or args.svg then
    return write_stacks(file, args, out, is_shown)
  end
  return list_of(file, args):write(args, out)
end

return tool
