-- A recording that every tool can read: an event of each kind that one of them needs.
local builder = require "spec.support.builder"
local tracing = require "spec.support.builder_tracing"

local for_all_tools = {}

local function char16(name) return { "char", name, count = 16 } end

local tracepoints = {
  ["sched:sched_switch"] = { char16 "prev_comm", { "pid_t", "prev_pid" },
    { "long", "prev_state" },
    char16 "next_comm", { "pid_t", "next_pid" } },
  ["sched:sched_waking"] = { char16 "comm", { "pid_t", "pid" } },
  ["sched:sched_migrate_task"] = { { "pid_t", "pid" }, { "int", "orig_cpu" },
    { "int", "dest_cpu" } },
  ["raw_syscalls:sys_enter"] = { { "long", "id" } },
  ["raw_syscalls:sys_exit"] = { { "long", "id" }, { "long", "ret" } },
  ["block:block_rq_issue"] = { { "dev_t", "dev" }, { "sector_t", "sector" },
    { "unsigned int", "nr_sector" },
    { "unsigned int", "bytes" }, { "char", "rwbs", count = 8 }, char16 "comm" },
  ["block:block_rq_complete"] = { { "dev_t", "dev" }, { "sector_t", "sector" },
    { "unsigned int", "nr_sector" },
    { "int", "error" }, { "char", "rwbs", count = 8 } },
  ["kmem:kmalloc"] = { { "unsigned long", "call_site" }, { "const void *", "ptr" },
    { "size_t", "bytes_req" },
    { "size_t", "bytes_alloc" } },
  ["kmem:kfree"] = { { "unsigned long", "call_site" }, { "const void *", "ptr" } },
  ["lock:contention_begin"] = { { "void *", "lock_addr" }, { "unsigned int", "flags" } },
  ["lock:contention_end"] = { { "void *", "lock_addr" }, { "int", "ret" } },
  ["irq:softirq_entry"] = { { "unsigned int", "vec" } },
  ["irq:softirq_exit"] = { { "unsigned int", "vec" } },
}

--- A builder with it: `samples` samples of cycles, from time 10 on.
function for_all_tools.builder(samples)
  local t, names = tracing.new(), {}
  for name in pairs(tracepoints) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local system, event = name:match "^(.-):(.*)$"
    t:event(system, event, { fields = tracepoints[name] })
  end
  local b = builder.new()
  local parts = { "identifier", "ip", "tid", "time", "addr", "cpu", "period", "callchain",
    "raw", "cgroup" }
  local cycles = b:event { name = "cycles", sample_type = parts, ids = { 100 } }
  b:event { name = "page-faults", type = 1, config = 2, sample_type = parts, ids = { 101 } }
  for i, event in ipairs(t.events) do
    b:event { name = event.system .. ":" .. event.name, type = 2, config = event.id,
      sample_period = 1,
      sample_type = parts, ids = { 101 + i } }
  end
  b:feature("tracing_data", t:bytes())
  b:record("comm", { pid = 7, tid = 7, comm = "task" }, { time = 1, identifier = 100 })
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x1000, prot = 5,
    filename = "/bin/a" },
    { time = 2, identifier = 100 })
  for i = 1, samples do
    local ip = 0x400000 + i
    b:sample(cycles, { identifier = 100, ip = ip, pid = 7, tid = 7, time = 9 + i, addr = i,
      cpu = 0, period = 1,
      callchain = { -512, ip }, raw = "", cgroup = 1 })
  end
  return b
end

return for_all_tools
