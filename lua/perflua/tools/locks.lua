-- perflua locks FILE: for which locks of the kernel threads waited, who asked for them, how
-- long it took.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local result_table = require "perflua.table.result_table"
local samples_with_losses = require "perflua.file.samples_with_losses"

local known = { "caller", "lock", "thread" }

local columns = { { "count", "unsigned" }, { "total_ms", "float" }, { "max_us", "float" },
  { "avg_us", "float" }, { "type", "string" }, { "lock", "address" }, { "comm", "string" },
  { "tid", "signed" }, { "caller", "string" } }

local tool = {
  description = "waits for the kernel's locks: by caller, by lock, by thread",
  usage = "locks [options] FILE",
  reads = "samples",
  needs = { events = { "lock:contention_begin", "lock:contention_end" },
    fields = { "tid", "time" } },
  record = "perf lock record -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT",
      "group by caller (default), lock (its address), thread, or several: caller,thread",
      values = known },
  }),
  help = [[
A caller is the first function that does not belong to the kernel's locking or scheduling; perf lock
contention skips three frames before it looks for one, unless --stack-skip 0 is given.

  $ perflua locks --count 4 perf.data
  count  total_ms  max_us  avg_us  type      caller
   4696     12.94   35.42    2.75  spinlock  try_to_wake_up+0x206
   4294     10.31   24.08    2.40  spinlock  unix_stream_read_generic+0x6de
    902      5.07  114.44    5.63  spinlock  exit_to_user_mode_loop+0x51
   1081      4.62   46.09    4.27  spinlock  unix_stream_sendmsg+0x1ea]],
}

tool.prepare = result_table.prepare("caller", known)

-- Callers are in call chains.
function tool.needed(_, by)
  return { by.caller and "callchain", events = tool.needs.events }
end

-- The flags of lock:contention_begin, from <trace/events/lock.h>.
local SPIN <const>, READ <const>, WRITE <const>, RT <const>, PERCPU <const>, MUTEX <const> = 1,
  2, 4, 8, 16, 32

-- By flags, as perf lock contention names them.
local types = {
  [0] = "semaphore", [SPIN] = "spinlock", [SPIN | READ] = "rwlock:R",
  [SPIN | WRITE] = "rwlock:W", [READ] = "rwsem:R", [WRITE] = "rwsem:W", [RT] = "rt-mutex",
  [RT | READ] = "rwlock-rt:R", [RT | WRITE] = "rwlock-rt:W", [PERCPU] = "pcpu-sem",
  [PERCPU | READ] = "pcpu-sem:R", [PERCPU | WRITE] = "pcpu-sem:W", [MUTEX] = "mutex",
}
-- A mutex that spins is one, too.
local TYPE <const> = ("args.flags == %d and %d or args.flags"):format(MUTEX | SPIN, MUTEX)

-- Idle threads are told apart by processor: they are 0 on all.
local THREAD <const> = "tid == 0 and -1 - cpu or tid"

-- Returns the first function of the call chain that does not implement locks: those are the
-- functions of the kernel's sections .spinlock.text and .sched.text which may stand between a
-- wait and who asked for the lock.
local CALLER <const> = [[(function()
    local patterns = {
      "^_raw_%a+_%a*lock", "queued_%a+_%a*lock", "^resilient_%a+_spin_lock",
      "^_*w?w?_?mutex_%a*lock", "rt_mutex", "^mark_wakeup_next_waiter", "^remove_waiter",
      "^rwsem_", "^_*down$", "^_*down_[cikrtw]%a+", "^_*up$", "^__up%.", "^_*percpu_down_",
      "^ldsem_down_", "^_*schedule$", "^schedule_idle$", "^schedule_preempt_disabled$",
      "^schedule_%a*timeout", "^io_schedule$", "^io_schedule_timeout", "^_*preempt_schedule",
      "^_*cond_resched$", "^console_conditional_schedule$", "^yield$", "^yield_to$",
      "^usleep_range", "nanosleep_restart$", "^do_nanosleep$", "^_*wait_on_bit", "^bit_wait$",
      "^bit_wait_[it]", "^out_of_line_wait_on_bit", "^_*wait_for_common",
      "^wait_for_completion",
    }
    local is_locking = setmetatable({}, { __index = function(known, symbol)
      known[symbol] = false
      for _, pattern in ipairs(patterns) do
        known[symbol] = known[symbol] or symbol:find(pattern) ~= nil
      end
      return known[symbol]
    end })
    return function(span)
      local chain = span.open.callchain
      for i = 1, chain and #chain or 0 do
        local symbol = chain[i].symbol
        if symbol and not is_locking[symbol] then
          return ("%s+0x%x"):format(symbol, chain[i].symoff or 0)
        end
      end
      return "[unknown]"
    end
  end)()]]

-- A mutex that spins begins again when it sleeps: that is one wait, from the first on.
local function query_of(file, by)
  local samples = described.samples(file)
  local thread = samples:field("integer", "cpu") and THREAD or "tid"
  local query = samples:pair {
    open = { event = "lock:contention_begin", again = "keep" },
    close = "lock:contention_end", key = { thread, "args.lock_addr" },
  }
  local keys = { TYPE }
  if by.caller then keys[#keys + 1] = { caller = query:lua(CALLER) } end
  if by.lock then keys[#keys + 1] = "args.lock_addr" end
  if by.thread then keys[#keys + 1] = "tid" end
  query = query:group_by(table.unpack(keys)):count():sum("duration"):max("duration")
  return by.thread and query:last("comm"):as("comm") or query
end

function tool.queries(file, _, by) return { query_of(file, by) } end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  if by.caller then samples_with_losses.read_names(file) end
  local query = query_of(file, by)
  local set_aside = aside.from(query.query)
  local list = result_table.new(columns, "total_ms", { lock = not by.lock,
    comm = not by.thread, tid = not by.thread, caller = not by.caller })
  local made = query:table()
  for row in made:rows() do
    list:add {
      count = row.count, total_ms = row.duration / 1e6, max_us = row.max_duration / 1e3,
      avg_us = row.duration / row.count / 1e3,
      type = types[row[TYPE]] or ("0x%x"):format(row[TYPE]), lock = row["args.lock_addr"],
      comm = row.comm, tid = row.tid, caller = row.caller,
    }
  end
  list:note_spans(made, "{wait|waits}")
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

return tool
