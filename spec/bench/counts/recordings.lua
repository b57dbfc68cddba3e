-- recordings.lua DIR: writes the recordings that `make counts` reads, the same bytes on every
-- machine. Their functions are those of spec/fixtures/words and of DIR/kallsyms.txt.
--
--   calls     system calls of 8 threads, entry and exit; small numbers and no names to look up
--   clock     two events of 40 threads in a program and a kernel, without call chains
--   chains    call chains, most of them different
--   packed    the samples of clock in compressed records
--   branches  branch stacks
--   system    the tracepoints of the scheduler, of interrupts, locks, disks and memory

local builder = require "spec.support.builder"
local files = require "spec.support.files"
local tracing = require "spec.support.builder_tracing"
local zstd = require "spec.support.builder_zstd"

local dir = assert(arg[1], "which directory?")

local state = 1
local function random(n)
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) % n
end

-- The code of words, which is mapped where it was linked, and of the kernel.
local CODE, CODE_SIZE = 0x401000, 0x550
local KERNEL, FUNCTIONS, FUNCTION_SIZE = 0xffffffff81000000, 4000, 0x100
local KERNEL_CHAIN, USER_CHAIN = -128, -512
local KERNEL_MODE, USER_MODE = 1, 2

local function write_kallsyms()
  local lines = { ("%x T _text"):format(KERNEL) }
  for i = 0, FUNCTIONS - 1 do
    lines[#lines + 1] =
      ("%x t kernel_function_%d"):format(KERNEL + FUNCTION_SIZE * i + 16, i * 7919 % FUNCTIONS)
  end
  lines[#lines + 1] = ("%x T _etext"):format(KERNEL + FUNCTION_SIZE * (FUNCTIONS + 1))
  files.write(dir .. "/kallsyms.txt", table.concat(lines, "\n") .. "\n")
end

local function save(name, b) files.write(("%s/%s.data"):format(dir, name), b:bytes()) end

local function user_address() return CODE + random(CODE_SIZE) end

local function kernel_address() return KERNEL + random(FUNCTIONS * FUNCTION_SIZE) end

-- Adds the kernel and n processes, each of which runs words.
local function add_processes(b, n)
  b:record("mmap", { pid = -1, tid = 0, addr = KERNEL, len = FUNCTION_SIZE * (FUNCTIONS + 1),
    pgoff = KERNEL, filename = "[kernel.kallsyms]_text", misc = KERNEL_MODE })
  for i = 0, n - 1 do
    local pid = 100 + i
    b:record("comm", { pid = pid, tid = pid, comm = "task" .. i % 12 },
      { pid = pid, tid = pid, time = 1 })
    b:record("mmap2", { pid = pid, tid = pid, addr = 0x400000, len = 0x3000, prot = 5,
      filename = "/usr/local/bin/words", misc = USER_MODE }, { pid = pid, tid = pid, time = 2 })
  end
end

local function write_calls()
  local t = tracing.new()
  local enter = t:event("raw_syscalls", "sys_enter", {
    fields = { { "long", "id" }, { "unsigned long", "args", count = 6 } },
  })
  local exit = t:event("raw_syscalls", "sys_exit",
    { fields = { { "long", "id" }, { "long", "ret" } } })
  local b, events = t:recording()
  b:feature("arch", "x86_64")
  for i = 0, 7 do
    b:record("comm", { pid = 100 + i, tid = 100 + i, comm = "task" .. i },
      { pid = 100 + i, tid = 100 + i, time = 1 })
  end
  for i = 0, 5999 do
    local pid, call, time = 100 + i % 8, random(60), 1000 * i
    local values = { identifier = 101, ip = 0, pid = pid, tid = pid, cpu = i % 8 // 2,
      period = 1, time = time, misc = KERNEL_MODE, raw = t:raw(enter, { id = call }) }
    b:sample(events[1], values)
    values.identifier, values.time = 102, time + 100 + random(800)
    values.raw = t:raw(exit, { id = call, ret = random(20) == 0 and -11 or random(100) })
    b:sample(events[2], values)
  end
  save("calls", b)
end

local clock_parts = { "identifier", "ip", "tid", "time", "addr", "cpu", "period" }

local function clock_events(b)
  return {
    b:event { name = "cpu-clock", type = 1, config = 0, sample_type = clock_parts,
      ids = { 1 } },
    b:event { name = "page-faults", type = 1, config = 2, sample_type = clock_parts,
      ids = { 2 }, sample_period = 1 },
  }
end

-- Adds the samples from..to of both events.
local function add_clock(b, events, from, to)
  for i = from, to do
    local which = random(8) == 0 and 2 or 1
    local in_kernel, pid = random(3) == 0, 100 + random(40)
    b:sample(events[which], { identifier = which, pid = pid, tid = pid, time = 10000 * i,
      addr = which == 2 and 0x400000 + random(0x3000) or 0, cpu = random(4),
      period = which == 2 and 1 or 250000 + random(5000),
      ip = in_kernel and kernel_address() or user_address(),
      misc = in_kernel and KERNEL_MODE or USER_MODE })
  end
end

local function write_clock()
  local b = builder.new()
  local events = clock_events(b)
  add_processes(b, 40)
  add_clock(b, events, 1, 10000)
  save("clock", b)
end

local function write_packed()
  local b = builder.new()
  local events = clock_events(b)
  b:feature("compressed", { version = 1, type = 1, level = 1, ratio = 1, mmap_len = 528384 })
  add_processes(b, 40)
  local next_payload = zstd.frame()
  for i = 0, 19 do
    b:record("compressed", { data = next_payload(b:apart(function(own)
      add_clock(own, events, 500 * i + 1, 500 * i + 500)
    end)) })
  end
  save("packed", b)
end

local function random_chain()
  local chain = {}
  if random(2) == 0 then
    chain[1] = KERNEL_CHAIN
    for _ = 1, 2 + random(6) do chain[#chain + 1] = KERNEL + FUNCTION_SIZE * random(60) + 20 end
  end
  chain[#chain + 1] = USER_CHAIN
  for _ = 1, 2 + random(10) do chain[#chain + 1] = CODE + 16 * random(CODE_SIZE // 16) + 1 end
  return chain
end

local function write_chains()
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1, ids = { 1 },
    sample_type = { "identifier", "ip", "tid", "time", "cpu", "period", "callchain" } }
  add_processes(b, 8)
  local known = {}
  for i = 0, 1499 do known[i] = random_chain() end
  for i = 1, 5000 do
    local chain, pid = known[random(2) == 0 and random(40) or random(1500)], 100 + random(8)
    b:sample(event, { identifier = 1, ip = chain[2], pid = pid, tid = pid, time = 10000 * i,
      cpu = random(4), period = 250000 + random(5000), callchain = chain,
      misc = chain[1] == KERNEL_CHAIN and KERNEL_MODE or USER_MODE })
  end
  save("chains", b)
end

local function write_branches()
  local b = builder.new()
  local event = b:event { name = "cycles", type = 0, config = 0, ids = { 1 },
    branch_sample_type = { "any" },
    sample_type = { "identifier", "ip", "tid", "time", "period", "branch_stack" } }
  add_processes(b, 1)
  for i = 1, 400 do
    local stack = {}
    for k = 1, 32 do
      stack[k] = { from = user_address(), to = user_address(), cycles = random(50),
        predicted = true }
    end
    b:sample(event, { identifier = 1, ip = stack[1].to, pid = 100, tid = 100, time = 1000 * i,
      period = 10000, branch_stack = stack, misc = USER_MODE })
  end
  save("branches", b)
end

local char16 = function(name) return { "char", name, count = 16 } end
local function number(name) return { "int", name } end

local request = { { "dev_t", "dev" }, { "sector_t", "sector" },
  { "unsigned int", "nr_sector" } }
local call_site = { { "unsigned long", "call_site" }, { "const void *", "ptr" } }

local function with(list, ...)
  local longer = table.move(list, 1, #list, 1, {})
  for _, field in ipairs { ... } do longer[#longer + 1] = field end
  return longer
end

local tracepoints = {
  { "sched", "sched_switch", { char16 "prev_comm", { "pid_t", "prev_pid" },
    number "prev_prio", { "long", "prev_state" }, char16 "next_comm", { "pid_t", "next_pid" },
    number "next_prio" } },
  { "sched", "sched_waking", { char16 "comm", { "pid_t", "pid" }, number "prio",
    number "target_cpu" } },
  { "sched", "sched_migrate_task", { char16 "comm", { "pid_t", "pid" }, number "prio",
    number "orig_cpu", number "dest_cpu" } },
  { "irq", "irq_handler_entry", { number "irq", { "__data_loc char[]", "name" } } },
  { "irq", "irq_handler_exit", { number "irq", number "ret" } },
  { "lock", "contention_begin", { { "void *", "lock_addr" }, { "unsigned int", "flags" } } },
  { "lock", "contention_end", { { "void *", "lock_addr" }, number "ret" } },
  { "block", "block_rq_issue", with(request, { "unsigned int", "bytes" },
    { "char", "rwbs", count = 8 }, char16 "comm") },
  { "block", "block_rq_complete", with(request, number "error",
    { "char", "rwbs", count = 8 }) },
  { "kmem", "kmalloc",
    with(call_site, { "size_t", "bytes_req" }, { "size_t", "bytes_alloc" }) },
  { "kmem", "kfree", call_site },
}

local CPUS, TASKS = 4, 24

-- One step of a processor: it switches, and what happens before the next switch.
local function step(emit, cpu, now, running, asleep)
  local prev, next = running[cpu]
  repeat
    next = 100 + cpu + CPUS * random(TASKS // CPUS)
  until next ~= prev
  if random(40) == 0 then
    emit("sched_migrate_task", cpu, now - 20, prev, { comm = "task" .. next % 12, pid = next,
      prio = 120, orig_cpu = (cpu + 1) % CPUS, dest_cpu = cpu })
  end
  if asleep[next] then
    emit("sched_waking", cpu, now - 10, prev,
      { comm = "task" .. next % 12, pid = next, prio = 120, target_cpu = cpu })
  end
  asleep[prev], asleep[next] = random(2) == 1, false
  emit("sched_switch", cpu, now, prev, { prev_comm = "task" .. prev % 12, prev_pid = prev,
    prev_prio = 120, prev_state = asleep[prev] and 1 or 0, next_comm = "task" .. next % 12,
    next_pid = next, next_prio = 120 })
  running[cpu] = next
  local what, object = random(4), KERNEL + 64 * random(50)
  if what == 0 then
    local irq = 1 + random(4)
    emit("irq_handler_entry", cpu, now + 30, next, { irq = irq, name = "device" .. irq })
    emit("irq_handler_exit", cpu, now + 60, next, { irq = irq, ret = 1 })
  elseif what == 1 then
    emit("contention_begin", cpu, now + 30, next, { lock_addr = object, flags = 2 })
    emit("contention_end", cpu, now + 70, next, { lock_addr = object, ret = 0 })
  elseif what == 2 then
    local sectors = { dev = 8 << 20, sector = 8 * now, nr_sector = 8, bytes = 4096,
      rwbs = "WS", comm = "task" .. next % 12 }
    emit("block_rq_issue", cpu, now + 30, next, sectors)
    emit("block_rq_complete", cpu, now + 90, next, sectors)
  else
    emit("kmalloc", cpu, now + 30, next, { call_site = object, ptr = now, bytes_req = 100,
      bytes_alloc = 128 })
    emit("kfree", cpu, now + 90, next, { call_site = object, ptr = now })
  end
end

local function write_system()
  local t, made = tracing.new(), {}
  for i, point in ipairs(tracepoints) do
    made[i] = t:event(point[1], point[2], { fields = point[3] })
    made[point[2]] = i
  end
  local b, events = t:recording()
  b:feature("arch", "x86_64")
  for pid = 100, 100 + TASKS - 1 do
    b:record("comm", { pid = pid, tid = pid, comm = "task" .. pid % 12 },
      { pid = pid, tid = pid, time = 1 })
  end
  local function emit(name, cpu, time, tid, values)
    local i = made[name]
    b:sample(events[i], { identifier = 100 + i, ip = kernel_address(), pid = tid, tid = tid,
      time = time, cpu = cpu, period = 1, misc = KERNEL_MODE, raw = t:raw(made[i], values) })
  end
  local running, asleep = {}, {}
  for pid = 100, 100 + TASKS - 1 do asleep[pid] = pid >= 100 + CPUS end
  for cpu = 0, CPUS - 1 do running[cpu] = 100 + cpu end
  for i = 1, 2000 do step(emit, i % CPUS, 1000 * i, running, asleep) end
  save("system", b)
end

write_kallsyms()
write_calls()
write_clock()
write_packed()
write_chains()
write_branches()
write_system()
