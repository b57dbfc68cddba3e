-- perflua wakers FILE: which threads woke which, and how long it took until these ran.

local result_table = require "perflua.table.result_table"
local samples = require "perflua.toolkit.samples"
local totals = require "perflua.waits.totals"
local wakes = require "perflua.waits.wakes"

local known = { "comm", "thread" }

local columns = { { "woken", "string" }, { "tid", "signed" }, { "waker", "string" },
  { "waker_tid", "signed" }, { "context", "string" }, { "count", "unsigned" },
  { "total_ms", "float" }, { "avg_us", "float" }, { "max_us", "float" }, { "chain", "string" } }

local tool = {
  description = "which threads woke which, how long until they ran, and chains of wakers",
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
  wrong = wrong or result_table.check_options(args)
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
  local chains = (args.comm or args.tid or args.depth) and { depth = depth, tids = by.thread }
  return { tids = by.thread, tid = tid, comm = args.comm, chains = chains or nil }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param asked table what tool.prepare gave
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, asked)
  local rows, chains, is_chosen = totals.new(), asked.chains, samples.of_cpus(args)
  local open, awake = wakes.each(file, chains, function(wake, duration)
    if (asked.tid or wake.tid) ~= wake.tid or (asked.comm or wake.woken) ~= wake.woken
        or is_chosen and not is_chosen(wake.cpu) then
      return
    end
    wake.chain = chains and table.concat(wake.chain, " <- ")
    local row = rows:row(wake.woken, (chains or asked.tids) and wake.tid, wake.chain
      or wake.waker, wake.context,
      asked.tids and wake.waker_tid)
    for _, name in ipairs { "woken", "tid", "waker", "waker_tid", "context", "chain" } do
      row[name] = wake[name]
    end
    totals.add(row, duration)
  end)
  local list = result_table.new(columns, "total_ms", { tid = not (asked.tids or chains),
    waker = chains, waker_tid = chains or not asked.tids, context = chains,
    chain = not chains })
  for _, row in ipairs(rows:sorted()) do list:add(row) end
  list:note("awake", awake,
    "{wake is|wakes are} not counted: the thread was running, or its next switch was not "
      .. "recorded")
  open:add_notes(list, "wake", {
    restarted = "{wake is|wakes are} not counted: the thread had been woken before" })
  return list:write(args, out)
end

return tool
