-- A small recording with one of everything: each record type, each sample part, each feature.
-- Specs cut it and damage it; nothing here is meant to make sense as a whole.
local builder = require "spec.support.builder"

local everything = {}

local build_id = "00112233445566778899aabbccddeeff00112233"
local task = { pid = 7, ppid = 6, tid = 9, ptid = 8, time = 12 }

-- {name, fields}; types in the kernel's and perf's order.
everything.records = {
  { "mmap", { pid = 7, tid = 7, addr = 4096, len = 4096, filename = "/bin/sh" } },
  { "lost", { id = 7, lost = 1 } },
  { "comm", { pid = 7, tid = 7, comm = "sh" } },
  { "exit", task },
  { "throttle", { time = 1, id = 7, stream_id = 8 } },
  { "unthrottle", { time = 1, id = 7, stream_id = 8 } },
  { "fork", task },
  { "read", { pid = 7, tid = 7, read = { { value = 1, id = 7 }, { value = 2, id = 8 } } } },
  { "mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096, maj = 8, ino = 9,
    filename = "/bin/sh" } },
  { "mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096, build_id = build_id,
    filename = "/bin/sh" } },
  { "aux", { aux_offset = 1, aux_size = 2, flags = 3 } },
  { "itrace_start", { pid = 7, tid = 7 } },
  { "lost_samples", { lost = 4 } },
  { "switch", { out = true } },
  { "switch_cpu_wide", { next_prev_pid = 1, next_prev_tid = 2 } },
  { "namespaces", { pid = 7, tid = 7,
    namespaces = { { dev = 1, ino = 2 }, { dev = 3, ino = 4 } } } },
  { "ksymbol", { addr = 1, len = 2, ksym_type = 1, name = "bpf_prog_x" } },
  { "bpf_event", { bpf_type = 1, prog_id = 2, tag = "0123456789abcdef" } },
  { "cgroup", { cgroup_id = 5, path = "/system.slice" } },
  { "text_poke", { addr = 1, old = "abc", new = "defgh" } },
  { "aux_output_hw_id", { hw_id = 1 } },
  { "callchain_deferred", { cookie = 1, ips = { 2, 3, 4 } } },
  { "header_attr", {} },
  { "event_type", { event_id = 1, name = "a:b" } },
  { "tracing_data", { data = "12345678" } },
  { "build_id", { build_id = build_id, filename = "/bin/sh" } },
  { "finished_round", {} },
  { "id_index",
    { entries = { { id = 7, idx = 0, cpu = 1, tid = -1, machine_pid = 4, vcpu = 5 } } } },
  { "auxtrace_info", { auxtrace_type = 1, priv = { 1, 2, 3 } } },
  { "auxtrace", { data = "trace!!!", idx = 1, tid = 2, cpu = 3 } },
  { "auxtrace_error", { fmt = 2, msg = "lost", time = 4, machine_pid = 5, vcpu = 6 } },
  { "thread_map", { threads = { { pid = 7, comm = "sh" } } } },
  { "cpu_map", { cpus = { 0, 1, 2 } } },
  { "cpu_map", { cpus = { type = "mask", long_size = 8, 1, 70 } } },
  { "cpu_map", { cpus = { type = "mask", 1, 40 } } },
  { "cpu_map", { cpus = { type = "range", 1, 3 } } },
  { "stat_config", { aggr_mode = 1, interval = 2, scale = 3 } },
  { "stat", { id = 7, cpu = 1, val = 2, ena = 3, run = 4 } },
  { "stat_round", { round_type = 1, time = 2 } },
  { "event_update", { unit = "ms" } },
  { "event_update", { scale = 0.5 } },
  { "event_update", { name = "renamed" } },
  { "event_update", { cpus = { 1, 2 } } },
  { "time_conv", { time_shift = 1, time_mult = 2, time_zero = 3 } },
  { "header_feature", { feature = 3, data = "\4\0\0\0x\0\0\0" } },
  { "finished_init", {} },
  { "bpf_metadata", { prog_name = "p", entries = { { key = "k", value = "v" } } } },
  { "schedstat_cpu", { version = 15, cpu = 1 } },
  { "schedstat_domain", { version = 17, cpu = 1, domain = 2 } },
}

everything.sample = {
  ip = 1, pid = 7, tid = 7, time = 20, addr = 2, stream_id = 3, cpu = 1, period = 4,
  read = { { value = 1, id = 7 }, { value = 2, id = 8 } }, callchain = { -128, 1, -512, 2 },
  raw = "raw!", branch_stack = { hw_idx = 1, { from = 1, to = 2, type = 3 } },
  regs_user = { abi = 2, 1, 2 }, stack_user = "stack...", weight = 5, data_src = 0x68100142,
  transaction = 1, regs_intr = { abi = 2, 3 }, phys_addr = 6, cgroup = 5, data_page_size = 7,
  code_page_size = 8, aux = "auxauxau",
}

everything.features = {
  build_id = { { build_id = build_id, filename = "/bin/sh" } },
  hostname = "h", osrelease = "6.1", version = "6.1", arch = "x86_64", cpudesc = "c",
  cpuid = "i",
  nrcpus = { available = 2, online = 2 }, total_mem = 1, cmdline = { "perf", "record" },
  cpu_topology = { cores = { "0-1" }, threads = { "0" }, dies = { "0-1" },
    cpus = { { core_id = 0, socket_id = 0, die_id = 0 },
      { core_id = 1, socket_id = 0, die_id = 0 } } },
  numa_topology = { { node = 0, mem_total = 1, mem_free = 1, cpus = "0-1" } },
  branch_stack = true, pmu_mappings = { software = 1 },
  group_desc = { { name = "g", leader = 0, members = 2 } },
  auxtrace = { { offset = 1, size = 2 } }, stat = true,
  cache = { { level = 1, line_size = 64, sets = 2, ways = 3, type = "Data", size = "32K",
    map = "0" } },
  sample_time = { first = 1, last = 20 },
  mem_topology = { block_size = 1 << 27,
    nodes = { { node = 0, bits = 70, blocks = { 1, 69 } } } },
  clockid = 1, dir_format = 1, bpf_prog_info = { { info = ("i"):rep(64), arrays = 0 } },
  bpf_btf = { { id = 1, data = "btf" } }, compressed = {}, cpu_pmu_caps = { branches = "32" },
  clock_data = { clockid = 4 }, hybrid_topology = { { pmu = "cpu_core", cpus = "0" } },
  pmu_caps = { { pmu = "cpu_core", caps = { branches = "32" } } },
  cpu_domain_info = { schedstat_version = 17, max_domains = 1,
    cpus = { { cpu = 0, domains = {
      { domain = 0, name = "MC", cpumask = "3", cpulist = "0-1" } } } } },
  e_machine = { e_machine = 62 }, cln_size = 64, [200] = "unknown",
}

local kinds = {
  "identifier", "ip", "tid", "time", "addr", "id", "stream_id", "cpu", "period", "read",
  "callchain", "raw",
  "branch_stack", "regs_user", "stack_user", "weight", "data_src", "transaction", "regs_intr",
  "phys_addr",
  "cgroup", "data_page_size", "code_page_size", "aux",
}

--- A builder with two events and nothing else, and its events.
function everything.empty(endian)
  local b = builder.new { endian = endian }
  local members = {
    name = "one", sample_type = kinds, ids = { 7 }, branch_sample_type = { "any", "hw_index" },
    read_format = { "id", "group" }, sample_regs_user = 3, sample_regs_intr = 1,
    sample_stack_user = 8,
  }
  local one = b:event(members)
  members.name, members.ids = "two", { 8 }
  return b, one, b:event(members)
end

--- A builder with all of it.
function everything.builder(endian)
  local b, one, two = everything.empty(endian)
  for name, value in pairs(everything.features) do
    b:feature(name, value)
  end
  for _, r in ipairs(everything.records) do
    b:record(r[1], r[2], { time = 10, pid = 7, tid = 7 })
  end
  b:sample(one, everything.sample)
  b:sample(two, everything.sample)
  return b
end

--- Reads all there is to read of a value: fields of records, members and items of views,
--- tables. Of the events of records, which are the same again and again, it reads none.
function everything.read(value, depth)
  depth = depth or 0
  local kind = type(value)
  -- what has no __pairs of its own would be handed to next
  if depth > 4 or kind ~= "table" and (kind ~= "userdata" or pairs(value) == next)
    or depth > 0 and getmetatable(value) == "perflua.event" then
    return
  end
  for _, v in pairs(value) do
    local inner = type(v)
    if inner == "table" or inner == "userdata" then everything.read(v, depth + 1) end
  end
end

return everything
