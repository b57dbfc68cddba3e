-- A recording of three cpus, for containers.lua: samples of two events, side-band records of
-- many types, and what time order meets in real ones. Written from a model of how perf reads
-- buffers, so that rounds hold: each in turn, while the others go on being filled.
local everything = require "spec.support.everything"

local busy = {}

local CPUS, ROUNDS = 3, 4
local ROUND, TURN = 10000, 1000 -- ns from round to round, from one cpu's buffer to the next

busy.FIRST = 1000000000

local function random_from(seed)
  return function(n)
    seed = seed * 6364136223846793005 + 1442695040888963407
    return (seed >> 33) % n
  end
end

local parts = { "identifier", "ip", "tid", "time", "cpu", "period" }

local function with(more)
  return table.move(more, 1, #more, #parts + 1, table.move(parts, 1, #parts, 1, {}))
end

-- Attrs of 64 bytes are enough for these.
local function old_events()
  return {
    { name = "cycles", type = 0, config = 0, ids = { 11, 12, 13 },
      sample_type = with { "callchain", "raw" } },
    { name = "faults", type = 1, config = 2, ids = { 21, 22, 23 },
      sample_type = with { "addr", "read", "data_src" },
      read_format = { "group", "time_enabled" } }, -- without ids samples stay whole
  }
end

local function new_events()
  local events = old_events()
  events[1].sample_type = with { "callchain", "raw", "branch_stack", "regs_user", "stack_user",
    "aux", "cgroup" }
  events[1].branch_sample_type = { "any", "hw_index" }
  events[1].sample_regs_user, events[1].sample_stack_user = 3, 8
  events[2].sample_type = with { "addr", "read", "data_src", "regs_intr", "weight_struct",
    "phys_addr", "transaction" }
  events[2].sample_regs_intr = 1
  return events
end

local features = {
  hostname = "here", osrelease = "6.1", version = "6.1", arch = "x86_64",
  nrcpus = { available = 3, online = 3 },
  total_mem = 1000, cmdline = { "perf", "record" },
  pmu_mappings = { software = 1, cpu = 4 },
  sample_time = { first = busy.FIRST + 1, last = busy.FIRST + ROUNDS * ROUND + CPUS * TURN },
}

---Records and features that describe the container.
busy.container = {
  header_attr = true, event_type = true, tracing_data = true, build_id = true,
  finished_round = true,
  header_feature = true, compressed = true, finished_init = true, compressed2 = true,
}

local head = {
  { "time_conv", { time_shift = 1, time_mult = 2, time_zero = 3 } },
  { "id_index",
    { entries = { { id = 11, idx = 0, cpu = 0, tid = -1 },
      { id = 21, idx = 1, cpu = 0, tid = -1 } } } },
  { "mmap", { pid = -1, tid = 0, addr = -4096, len = 4096,
    filename = "[kernel.kallsyms]_text" } },
  { "event_update", { id = 21, unit = "page" } },
  { "thread_map", { threads = { { pid = 7, comm = "sh" } } } },
  { "cpu_map", { cpus = { 0, 1, 2 } } },
  { "ksymbol", { addr = 1, len = 2, ksym_type = 1, name = "bpf_prog_x" } },
  { "fork", { pid = 7, ppid = 1, tid = 7, ptid = 1 } },
  { "comm", { pid = 7, tid = 7, comm = "sh" } },
  { "mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096, maj = 8, ino = 9,
    filename = "/bin/sh" } },
}

local function sample(event, cpu, time, random)
  local pid = 7 + random(2)
  return { "sample", event, {
    identifier = event * 10 + 1 + cpu, ip = 0x400000 + 16 * random(8), pid = pid,
    tid = pid + random(3), time = time,
    cpu = cpu, period = 1 + random(1000), callchain = { -512, 0x400000 + random(64), 0x400100 },
    raw = "raw!",
    addr = random(1 << 30), data_src = 0x68100142, phys_addr = random(1 << 20), transaction = 1,
    cgroup = 5,
    read = { time_enabled = time, { value = random(99) }, { value = 2 } },
    branch_stack = { hw_idx = 1, { from = 1, to = 2, type = 3, mispred = true } },
    stack_user = "stack...",
    regs_user = { abi = 2, random(99), 2 }, regs_intr = { abi = 2, random(99) },
    aux = "auxauxau",
    weight = random(99), ins_lat = 3, retire_lat = 4,
  } }
end

-- The record types that may stand anywhere, with this time where they have one of their own.
local function side_band(time, cpu)
  local list = {}
  for _, r in ipairs(everything.records) do
    local name, fields = r[1], {}
    for key, value in pairs(r[2]) do
      fields[key] = value
    end
    fields.time = fields.time and name ~= "auxtrace_error" and time or fields.time
    if not busy.container[name] and not (name == "event_update" and fields.name) then
      list[#list + 1] = { name, fields,
        { identifier = 21 + cpu, pid = 7, tid = 8, time = time, cpu = cpu } }
    end
  end
  return list
end

-- A cpu's run in a round: what happened between two looks at its buffer.
-- types: places in side_band's list, each taken once
local function run(cpu, round, random, types)
  local list, from = {}, busy.FIRST + (round - 1) * ROUND + cpu * TURN
  local time, last = from + 1, from + ROUND
  while time < last do
    local what = random(5)
    if what == 0 and types[1] and #list > 0 then
      list[#list + 1] = side_band(time, cpu)[table.remove(types)]
    elseif what == 1 then
      list[#list + 1] = { "comm", { pid = 7, tid = 8, comm = "thread " .. time % 100 },
        { identifier = 11 + cpu, pid = 7, tid = 8, time = time, cpu = cpu } }
    else
      list[#list + 1] = sample(1 + random(2), cpu, time, random)
    end
    -- some at the same time; one that perf wrote for the kernel, without any
    time = time + (random(4) > 0 and 1 + random(1000) or 0)
    if random(20) == 0 then
      list[#list + 1] = { "cgroup", { cgroup_id = time % 1000, path = "/system.slice" } }
    end
  end
  return list
end

-- Times are taken before a place in the buffer is: what interrupts in between lies before.
local function disorder(list, random)
  for i = 2, #list - 1 do
    if random(15) == 0 and list[i][3] and list[i + 1][3] then
      list[i], list[i + 1] = list[i + 1], list[i]
    end
  end
end

local function add_in_place(list, r)
  local i = #list
  while not (list[i][3] and list[i][3].time <= r[3].time) do
    i = i - 1
  end
  table.insert(list, i + 1, r)
end

--- The recording; old: for attrs of 64 bytes.
function busy.recording(old)
  local random = random_from(20240501)
  local types = {}
  for i = 1, #side_band(0, 0) do
    types[i] = i
  end
  local rounds = {}
  for round = 1, ROUNDS do
    local runs = {}
    for cpu = 0, CPUS - 1 do
      runs[cpu] = run(cpu, round, random, types)
      -- on all at the same time
      add_in_place(runs[cpu], sample(1, cpu, busy.FIRST + round * ROUND - 1, random))
      disorder(runs[cpu], random)
    end
    rounds[round] = runs
  end
  assert(#types == 0, "too short for one record of each type")
  return { events = old and old_events() or new_events(), features = features, head = head,
    rounds = rounds }
end

return busy
