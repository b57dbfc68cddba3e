-- perflua sched FILE: how long threads ran, and how long they waited for a processor.

local described = require "perflua.toolkit.described"
local result_table = require "perflua.table.result_table"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"
local switches = require "perflua.waits.switches"

local columns = { { "comm", "string" }, { "tid", "signed" }, { "runs", "unsigned" },
  { "run_ms", "float" }, { "wait_ms", "float" }, { "delays", "unsigned" },
  { "delay_ms", "float" }, { "preempted_ms", "float" }, { "avg_us", "float" },
  { "max_us", "float" }, { "max_at", "string" } }

local tool = {
  description =
    "threads: how long they ran, were off CPU, and waited for a processor when ready to run",
  usage = "sched [options] FILE",
  reads = "samples",
  takes = "time comm pid tid cpu where symbols",
  refused = "it reads the switches of all threads",
  applies = samples.of_cut_spans,
  needs = { events = { "sched:sched_switch" }, fields = { "cpu", "time" } },
  record = "perf sched record -- COMMAND",
  options = result_table.with_options(columns, {
    cpu = { "LIST", "only what threads ran, and waited for, on these processors: 0,2-3" },
  }),
  help = [[
run        from switch-in to switch-out, or to the end of the recording
runs       how many there were: each switch-in whose switch-out was recorded, or that lasts to the end
wait       from switch-out to the next switch-in, asleep or not
delay      the part of wait after the wake-up, or after a switch-out while runnable
preempted  the part of delay after a switch-out while runnable
delays     the number of delays whose start is known; avg_us, max_us and max_at are of these,
           and max_at is the start of the longest

Threads that were not switched in are left out, and so is the idle thread. With --time, one range FROM,TO,
times are cut at its ends.

  $ perflua sched --sort run_ms --count 2 perf.data
  # 8226 runs and waits, and 9 not over when the recording ended; not counted: 14 ends without a start
  # 2 threads were switched in after sleeping without a recorded wake-up
  comm       tid  runs   run_ms  wait_ms  delays  delay_ms  preempted_ms   avg_us     max_us  max_at
  perflua  28712     6  1015.08    54.74       5     49.19         13.90  9838.10   35265.93  38461.933316
  lua5.4   28152   269   214.98   844.72     268    844.72        844.72  3151.96  150218.42  38461.974430]],
}

-- Returns the query: of each thread its runs, and the times off processors; and its name if it
-- is asked for.
local function query_of(file, args, asks_names)
  local options = switches.lives(switches.wakes(file))
  options.unfinished, options.window = true, samples.window(args)
  local query = described.samples(file):pair(options)
  local on_cpu = samples.span_condition(args, { cpu = "cpu" })
  if on_cpu then
    query = query:where(("state == 'running' and %s or state ~= 'running' and close.%s")
      :format(on_cpu, on_cpu))
  end
  query = query:group_by("key", "state"):count():sum("duration")
    :sum("duration - in_blocked"):as("ready"):max("duration - in_blocked"):as("longest")
    :max_by("stop", "duration - in_blocked"):as("longest_end"):max("so_far"):as("so_far")
  if asks_names then query = query:last "args.next_comm":as "comm" end
  -- of spans that the window cuts those that begin in it are counted, or end in it
  return options.window and query:sum("start == time and 1"):as("begun")
    :sum("stop == close.time and 1"):as("ended") or query
end

-- Whether names are asked for is known once those of the recording were read.
function tool.queries(file, args) return { (query_of(file, args, not file.size)) } end

function tool.prepare(args) return nil, result_table.check_options(args) end

-- Returns what became of each thread: the rows of its states by their name.
local function threads_of(made)
  local threads, by_tid = {}, {}
  for row in made:rows() do
    local thread = by_tid[row.key]
    if not thread then
      thread = { tid = row.key }
      by_tid[row.key], threads[#threads + 1] = thread, thread
    end
    thread[row.state] = row
  end
  return threads
end

-- The states of a thread that could run, and did not.
local READY <const> = { "woken", "preempted", "unseen" }

-- Returns a row of a thread's state, with the number of its spans that ended.
local function ended(row)
  if not row then return { n = 0, duration = 0, ready = 0 } end
  row.n = row.ended or row.count - (row.so_far and 1 or 0)
  return row
end

-- Compares the longest delays of two states: the longer one, or of equal ones the first.
local function is_longer(a, b)
  return a.longest > b.longest
    or a.longest == b.longest and a.longest_end < (b.longest_end or math.huge)
end

-- Returns the columns of a thread, and how often it came back without a wake-up.
local function columns_of(thread)
  local run, blocked = ended(thread.running), ended(thread.blocked)
  local wait, delays, delay, longest = blocked.duration, 0, 0, { longest = 0 }
  for _, name in ipairs(READY) do
    local row = ended(thread[name])
    -- a thread that was woken, but not seen to leave, has a delay of unknown wait
    wait = wait + (name == "unseen" and 0 or row.duration)
    delays, delay = delays + row.n, delay + row.ready
    if row.longest_end and is_longer(row, longest) then longest = row end
  end
  return {
    tid = thread.tid, runs = run.begun or run.count or 0,
    run_ms = (run.duration + (run.so_far or 0)) / 1e6,
    wait_ms = wait / 1e6, delays = delays, delay_ms = delay / 1e6,
    preempted_ms = ended(thread.preempted).duration / 1e6,
    avg_us = delays > 0 and delay / delays / 1e3 or nil,
    max_us = delays > 0 and longest.longest / 1e3 or nil,
    max_at = longest.longest_end
      and perflua.seconds(longest.longest_end - longest.longest) or nil,
  }, blocked.n
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local is_chosen, unseen, unwoken = samples.of_tids(file, args), 0, 0
  local list = result_table.new(columns, "max_us")
  samples_with_losses.read_names(file)
  local asks_names = switches.lacks_names(file)
  local query = query_of(file, args, asks_names)
  local made, by_tid = query:table(), asks_names and {} or nil
  local threads = threads_of(made)
  for _, thread in ipairs(asks_names and threads or {}) do
    local comm = thread.running and thread.running.comm
    by_tid[thread.tid] = comm ~= "" and comm or nil
  end
  local comm_of = switches.names(file,
    samples.narrow(file:samples(switches.event), { time = args.time }), by_tid)
  for _, thread in ipairs(threads) do
    local run, row, without = thread.running, columns_of(thread)
    unwoken = unwoken + without
    if run and run.so_far and run.count == 1 then
      unseen = unseen + 1
    elseif run and (not is_chosen or is_chosen(thread.tid)) then
      row.comm = comm_of(thread.tid)
      list:add(row)
    end
  end
  list:note_spans(made, "{run or wait|runs and waits}")
  list:note("unwoken", unwoken,
    "{thread was|threads were} switched in after sleeping without a recorded wake-up")
  list:note("unseen", unseen, switches.UNSEEN)
  return list:write(args, out)
end

return tool
