-- perflua locks FILE: for which locks of the kernel threads waited, who asked for them, how
-- long it took.

local result_table = require "perflua.table.result_table"
local locks = require "perflua.waits.locks"
local totals = require "perflua.waits.totals"

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

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local rows = totals.new()
  local open = locks.each(file, by.caller, function(wait, duration)
    local row = rows:row(wait.type, by.caller and wait.caller, by.lock and wait.lock,
      by.thread and wait.tid)
    row.type, row.caller, row.lock, row.tid, row.comm = wait.type, wait.caller, wait.lock,
      wait.tid, wait.comm
    totals.add(row, duration)
  end)
  local list = result_table.new(columns, "total_ms", { lock = not by.lock,
    comm = not by.thread, tid = not by.thread, caller = not by.caller })
  for _, row in ipairs(rows:sorted()) do list:add(row) end
  open:add_notes(list, "wait")
  return list:write(args, out)
end

return tool
