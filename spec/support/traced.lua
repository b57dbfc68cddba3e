-- Recordings of a few samples of the kernel's tracepoints, with what records around them, for
-- the specs of tools.
local tracing = require "spec.support.builder_tracing"

local traced = {}

local char16 = function(name) return { "char", name, count = 16 } end

local formats = {
  ["sched:sched_switch"] = { char16 "prev_comm", { "pid_t", "prev_pid" },
    { "long", "prev_state" },
    char16 "next_comm", { "pid_t", "next_pid" } },
  ["sched:sched_waking"] = { char16 "comm", { "pid_t", "pid" } },
  ["sched:sched_stat_sleep"] = { char16 "comm", { "pid_t", "pid" }, { "u64", "delay" } },
  ["sched:sched_process_exit"] = { char16 "comm", { "pid_t", "pid" } },
  ["lock:contention_begin"] = { { "void *", "lock_addr" }, { "unsigned int", "flags" } },
  ["lock:contention_end"] = { { "void *", "lock_addr" }, { "int", "ret" } },
  ["irq:irq_handler_entry"] = { { "int", "irq" }, { "__data_loc char[]", "name" } },
  ["irq:irq_handler_exit"] = { { "int", "irq" }, { "int", "ret" } },
  ["irq:softirq_entry"] = { { "unsigned int", "vec" } },
  ["irq:softirq_exit"] = { { "unsigned int", "vec" } },
  ["irq:softirq_raise"] = { { "unsigned int", "vec" } },
  ["kmem:kmalloc"] = { { "unsigned long", "call_site" }, { "const void *", "ptr" },
    { "size_t", "bytes_req" }, { "size_t", "bytes_alloc" } },
  ["kmem:kfree"] = { { "unsigned long", "call_site" }, { "const void *", "ptr" } },
}

local softirq =
  [["vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" })]]

--- Writes a recording of these events; rows are { event, time, tid, cpu, args, period = 1 },
--- or { type, time, tid, cpu, fields } of another record; comms are names by tid. Returns its
--- path.
function traced.write(events, rows, comms)
  local t, made, by_name = tracing.new(), {}, {}
  for i, name in ipairs(events) do
    local system, event = name:match "^(.-):(.*)$"
    made[i] = t:event(system, event,
      { fields = formats[name], print_fmt = event:find "softirq" and softirq or nil })
  end
  local b, list = t:recording()
  for i, name in ipairs(events) do by_name[name] = i end
  for tid, comm in pairs(comms or {}) do
    b:record("comm", { pid = tid, tid = tid, comm = comm }, { time = 1, pid = tid, tid = tid })
  end
  for _, row in ipairs(rows) do
    local name, time, tid, cpu, values = table.unpack(row)
    local i = by_name[name]
    local at = { time = time, pid = tid, tid = tid, cpu = cpu, identifier = 101, id = 101 }
    if i then
      values = setmetatable({ common_pid = tid }, { __index = values })
      at.identifier, at.ip, at.period, at.raw = 100 + i, 0x1000, row.period or 1,
        t:raw(made[i], values)
      b:sample(list[i], at)
    else
      b:record(name, values or {}, at)
    end
  end
  return b:write()
end

return traced
