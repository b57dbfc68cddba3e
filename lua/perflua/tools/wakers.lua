-- perflua wakers FILE: which threads woke which, and how long it took until these ran.

local folded = require "perflua.flame.folded"
local described = require "perflua.toolkit.described"
local folded_rows = require "perflua.toolkit.folded_rows"
local result_table = require "perflua.table.result_table"
local samples = require "perflua.toolkit.samples"
local switches = require "perflua.waits.switches"

-- Chains of wakers: the thread that woke a thread, the thread that had woken that one before
-- its last run, and so on, up to an interrupt.

-- Runs of each thread that are remembered. A wake is known when the woken thread runs: by then
-- its waker may have slept and run again.
local MOST_RUNS <const> = 64

-- Returns the chain of the last run of a waker before a time; nil: none is known.
local function chain_before(runs, time)
  for n = runs.n, math.max(1, runs.n - MOST_RUNS + 1), -1 do
    local i = n % MOST_RUNS + 1
    if runs[i] <= time then return runs[MOST_RUNS + i] end
  end
end

local function add_run(runs, time, chain)
  runs.n = runs.n + 1
  local i = runs.n % MOST_RUNS + 1
  runs[i], runs[MOST_RUNS + i] = time, chain
end

-- Returns a function that puts a name before a chain, and keeps `depth` names: there are many
-- wakes, and few chains. Equal chains are one table.
local function joiner(depth)
  local chain_of, joined = {}, {}
  return function(name, before)
    local by_chain = joined[name] or {}
    joined[name] = by_chain
    local chain = by_chain[before or false]
    if not chain then
      chain = { name, table.unpack(before or {}, 1, depth - 1) }
      local key = table.concat(chain, "\0")
      chain = chain_of[key] or chain
      chain_of[key], by_chain[before or false] = chain, chain
    end
    return chain
  end
end

---@param depth integer the length of a chain
---@param losses integer[] times of losses, ascending, which end what was known
---@return fun(tid: integer, stop: integer, waker: string, waker_tid: integer?, time: integer):
--- string[] # returns the chain of a wake: of thread tid, which ran at `stop`, by the waker at
--- `time`; without waker_tid nobody woke the waker. Wakes are told in the order of stop
local function chain_reader(depth, losses)
  local runs_of, next_loss, join = {}, 1, joiner(depth)
  return function(tid, stop, waker, waker_tid, time)
    while losses[next_loss] and losses[next_loss] <= stop do
      runs_of, next_loss = {}, next_loss + 1
    end
    local before = runs_of[waker_tid]
    local chain = join(waker, before and chain_before(before, time))
    local runs = runs_of[tid]
    if not runs then
      runs = { n = 0 }
      runs_of[tid] = runs
    end
    add_run(runs, stop, chain)
    return chain
  end
end

local known = { "comm", "thread" }

local columns = { { "woken", "string" }, { "tid", "signed" }, { "waker", "string" },
  { "waker_tid", "signed" }, { "context", "string" }, { "count", "unsigned" },
  { "total_ms", "float" }, { "avg_us", "float" }, { "max_us", "float" }, { "chain", "string" } }

local tool = {
  description =
    "which threads woke which, how long until they ran, chains of wakers, call chains of both",
  usage = "wakers [options] FILE",
  reads = "samples",
  takes = "time where symbols", refused = "it reads the switches of all threads",
  applies = { comm = false, tid = false, cpu = true },
  needs = {
    events = { "sched:sched_switch", { any = { "sched:sched_waking", "sched:sched_wakeup" } } },
    fields = { "tid", "time" },
  },
  record = "perf record -a -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new -- "
    .. "COMMAND",
  options = result_table.with_options(columns, {
    chains = "show the call chains with which threads slept, and with which others woke them",
    folded = folded_rows.options.folded, svg = folded_rows.options.svg,
    o = folded_rows.options.o, title = folded_rows.options.title,
    by = { "WHAT", "group by comm (default) or by thread", values = known },
    comm = { "NAME", "show chains of wakers of the threads of this name" },
    tid = { "TID", "show chains of wakers of this thread" },
    cpu = samples.cpu_of_spans,
    depth = { "N", "the length of a chain; default: 4" },
  }),
  help = [[
Counts wakes of sleeping threads, and the time from the first wake until the thread runs. A wake from an
interrupt is attributed to the interrupted thread, with context hardirq or softirq. In a chain each waker
is followed by the thread that had woken it.

With --chains times are those that threads slept until they were woken. A stack is the name of the thread
that slept, its call chain, --, and then the call chain of its waker, from the innermost function out, and
the waker's name; in an interrupt with its context. Record them with -g.

  $ perflua wakers --comm sched-pipe --depth 3 --count 3 perf.data
  woken         tid  count  total_ms   avg_us   max_us  chain
  sched-pipe  27538      2      5.34  2671.00  5330.05  sched-pipe <- sh <- sched-messaging
  sched-pipe  27537    950      5.29     5.57  1284.74  sched-pipe <- sched-pipe <- sched-pipe
  sched-pipe  27538    948      2.90     3.06    31.83  sched-pipe <- sched-pipe <- sched-pipe]],
}

local MAX_DEPTH = 64

-- Parses the options; returns nil and what is wrong with them.
function tool.prepare(args)
  local by, wrong = result_table.parse_by(args.by or "comm", known)
  wrong = wrong or folded_rows.wrong(args)
  if not args.chains and (args.folded or args.svg) then
    wrong = wrong or "--folded and --svg need --chains"
  elseif args.chains and (args.depth or args.by) then
    wrong = wrong or "--chains excludes --depth and --by"
  end
  if wrong then return nil, wrong end
  local tid, depth = math.tointeger(tonumber(args.tid)),
    math.tointeger(tonumber(args.depth or 4))
  if args.tid and not tid then
    return nil, "--tid: a thread's number expected, got " .. args.tid
  end
  if not depth or depth < 1 or depth > MAX_DEPTH then
    return nil, ("--depth: a number from 1 to %d expected, got %s"):format(MAX_DEPTH,
      args.depth)
  end
  local has_chains = not args.chains and (args.comm or args.tid or args.depth)
  return { tids = by.thread, tid = tid, comm = args.comm, stacks = args.chains,
    chains = has_chains and { depth = depth } or nil }
end

-- Stacks are made of call chains.
function tool.needed(args)
  local needs = { "tid", "time", args.chains and "callchain" or nil,
    events = tool.needs.events }
  return needs, args.chains and tool.record:gsub("^perf record %-a", "%0 -g") or nil
end

local COMM <const>, WAKER <const> = "at_woken.args.comm", "at_woken.comm or '[unknown]'"
local WAKER_TID <const> = "at_woken.args.common_pid"
local SLEEPS_AT <const>, WAKES_AT <const> = "at_blocked.stack", "at_woken.stack"
-- HARDIRQ and SOFTIRQ of common_flags: include/linux/trace_events.h
local CONTEXT <const> = "at_woken.args.common_flags & 8 ~= 0 and 'hardirq' "
  .. "or at_woken.args.common_flags & 16 ~= 0 and 'softirq' or 'task'"

-- The values of wakes, which come in the order in which woken threads ran.
local WAKE <const> = { "key", "at_woken.time", "stop", "in_woken", COMM, WAKER, WAKER_TID,
  CONTEXT }

-- Returns the query over wakes of threads that slept, and then ran.
local function query_of(file, args, asked)
  local query = described.samples(file):pair(switches.sleeps(switches.wakes(file)))
    :where("state == 'woken'")
  if asked.chains then
    return query:select(args.cpu and "at_woken.cpu" or "false", table.unpack(WAKE))
  end
  local condition = samples.span_condition(args, { cpu = "at_woken.cpu",
    comm = asked.stacks and COMM, tid = asked.stacks and "key" })
  if condition then query = query:where(condition) end
  if asked.stacks then
    return query:where("at_blocked.time ~= nil")
      :group_by(COMM, SLEEPS_AT, WAKER, CONTEXT, WAKES_AT):count()
      :sum("in_blocked"):as("total"):max("in_blocked"):as("longest")
  end
  local keys = { COMM, WAKER, CONTEXT }
  if asked.tids then table.move({ "key", WAKER_TID }, 1, 2, 4, keys) end
  return query:group_by(table.unpack(keys)):count():sum("in_woken"):as("total"):max("in_woken")
    :as("longest")
end

function tool.queries(file, args, asked) return { query_of(file, args, asked) } end

-- Returns the stack of a row: its sleeper and, in reverse order, its waker.
local function stack_of(row)
  local parts = { folded.clean_name(row[COMM] or "[unknown]"),
    folded.clean(row[SLEEPS_AT] or "[unknown]"), "--" }
  local frames, waker = {}, folded.clean_name(row[WAKER])
  for frame in folded.clean(row[WAKES_AT] or "[unknown]"):gmatch "[^;]+" do
    table.insert(frames, 1, frame)
  end
  parts[4] = table.concat(frames, ";")
  parts[5] = row[CONTEXT] == "task" and waker or ("%s (%s)"):format(waker, row[CONTEXT])
  return table.concat(parts, ";")
end

local function add_row(list, row, stack)
  list:add { woken = row[COMM], tid = row.key, waker = row[WAKER], waker_tid = row[WAKER_TID],
    context = row[CONTEXT], count = row.count, total_ms = row.total / 1e6,
    avg_us = row.total / row.count / 1e3, max_us = row.longest / 1e3, chain = stack }
end

-- Shows the rows of a query.
local function run_query(file, args, out, asked)
  local made = query_of(file, args, asked):table()
  local list = result_table.new(columns, "total_ms", { tid = not asked.tids,
    waker_tid = not asked.tids, chain = not asked.stacks })
  local rows = {}
  for row in made:rows() do
    local stack = asked.stacks and stack_of(row)
    rows[#rows + 1] = stack and { stack = stack, value = row.total, count = row.count }
    add_row(list, row, stack)
  end
  if args.folded or args.svg then
    return folded_rows.write(file, args, out, rows, { title = "Sleepers and wakers",
      measured = "time asleep until a wake", made = made })
  end
  list:note_spans(made, "{time off CPU|times off CPU}")
  return list:write(args, out)
end

-- Returns when records were lost: what is known of the order of wakes ends there.
local function losses_of(file)
  return file.size and file:records { type = { "lost", "lost_samples" } }
    :where("time ~= nil"):select("time"):collect() or {} -- a stream is read once
end

-- Returns the row of a thread and its chain, added if there is none.
local function row_of(rows, woken, tid, chain)
  local by_chain = rows[tid] or {}
  rows[tid] = by_chain
  local row = by_chain[chain]
  while row and row[COMM] ~= woken do row = row.other_name end
  if not row then
    row = { [COMM] = woken, key = tid, count = 0, total = 0, longest = 0,
      chain = table.concat(chain, " <- "), other_name = by_chain[chain] }
    by_chain[chain], rows.list[#rows.list + 1] = row, row
  end
  return row
end

-- Returns the rows of chains of wakers, from the wakes of a query.
local function chains_of(file, args, asked, query)
  local chain_of = chain_reader(asked.chains.depth, losses_of(file))
  local is_chosen, rows = samples.of_cpus(args), { list = {} }
  for cpu, tid, time, stop, took, woken, waker, waker_tid, context in query:each() do
    local name, by_task = asked.tids and ("%s/%d"):format(waker, waker_tid) or waker,
      context == "task"
    local chain = chain_of(tid, stop, by_task and name or ("%s (%s)"):format(name, context),
      by_task and waker_tid or nil, time)
    if (asked.tid or tid) == tid and (asked.comm or woken) == woken
        and not (is_chosen and not is_chosen(cpu)) then
      local row = row_of(rows, woken, tid, chain)
      row.count, row.total = row.count + 1, row.total + took
      row.longest = math.max(row.longest, took)
    end
  end
  return rows.list
end

-- Shows chains of wakers.
local function run_chains(file, args, out, asked)
  local query = query_of(file, args, asked).query
  local list = result_table.new(columns, "total_ms", { waker = true, waker_tid = true,
    context = true })
  for _, row in ipairs(chains_of(file, args, asked, query)) do add_row(list, row, row.chain) end
  list:note_spans({ counts = query.counts, data = {} }, "{time off CPU|times off CPU}")
  list:note("unsure", file.size and 0 or query.counts.lost, "{time|times} off CPU saw losses: "
    .. "chains may lead across these")
  return list:write(args, out)
end

---@param file perflua.File
---@param args table
---@param out file*
---@param asked table what tool.prepare gave
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, asked)
  return (asked.chains and run_chains or run_query)(file, args, out, asked)
end

return tool
