-- The header features as text, worded as `perf report --header-only -I` words them.
-- See the print_… functions, tools/perf/util/header.c.

local attr_text = require "perflua.header.attr"
local bpf = require "perflua.header.bpf"
local core = require "perflua.core"
local json = require "perflua.text.json"

local header = {}

-- feature → function(value, add, file): add(format, …) adds a line
local printers = {}

-- names of the features in the order of their bits
header.names = {}

for i, feature in ipairs(core.features()) do
  header.names[i] = feature.name
end

-- what is one line with the value in it
local lines = {
  hostname = "# hostname : %s",
  osrelease = "# os release : %s",
  version = "# perf version : %s",
  arch = "# arch : %s",
  cpudesc = "# cpudesc : %s",
  cpuid = "# cpuid : %s",
  total_mem = "# total memory : %d kB",
  dir_format = "# directory data version : %d",
  branch_stack = "# contains samples with branch stack",
  stat = "# contains stat data",
  cln_size = "# cacheline size: %d",
}

for name, format in pairs(lines) do
  printers[name] = function(value, add)
    add(format, value)
  end
end

local CLOCKS = {
  [0] = "realtime", "monotonic", nil, nil, "monotonic_raw", nil, nil, "boottime", nil, nil, nil,
  "tai",
}

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do
    table.insert(keys, key)
  end
  table.sort(keys)
  return keys
end

-- Formats { a = 1, b = 2 } as "a = 1, b = 2".
local function pairs_text(map, equals)
  local words = {}
  for _, key in ipairs(sorted_keys(map)) do
    table.insert(words, ("%s%s%s"):format(key, equals, map[key]))
  end
  return table.concat(words, ", ")
end

-- Formats { 0, 1, 2, 5 } as "0-2,5".
local function ranges_text(numbers)
  local words, i = {}, 1
  while numbers[i] do
    local first = i
    while numbers[i + 1] == numbers[i] + 1 do
      i = i + 1
    end
    local form = first == i and "%d" or "%d-%d"
    table.insert(words, form:format(numbers[first], numbers[i]))
    i = i + 1
  end
  return table.concat(words, ",")
end

-- Formats 34359738368 as "32G".
local function size_text(bytes)
  local unit, units = 1, "BKMG"
  while bytes // 1024 > 1 and unit < #units do
    bytes, unit = bytes // 1024, unit + 1
  end
  return ("%d%s"):format(bytes, units:sub(unit, unit))
end

local function format_seconds(ns, digits)
  return ("%d.%0" .. digits .. "d"):format(ns // 1000000000,
    ns % 1000000000 // math.tointeger(10 ^ (9 - digits)))
end

function printers.tracing_data(data, add)
  add("# tracing data : version %s, %s endian, long %d bytes, page %d bytes, events: %s",
    data.version,
    data.byte_order, data.long_size, data.page_size, pairs_text(data.systems, " = "))
end

function printers.build_id(entries, add)
  for _, entry in ipairs(entries) do
    add("# build id : %s %s", entry.build_id, entry.filename)
  end
end

function printers.nrcpus(nrcpus, add)
  add("# nrcpus online : %d", nrcpus.online)
  add("# nrcpus avail : %d", nrcpus.available)
end

function printers.cmdline(words, add)
  local text = {}
  for _, word in ipairs(words) do
    table.insert(text, (word:gsub("'", "\\'")) .. " ")
  end
  add("# cmdline : %s", table.concat(text))
end

function printers.event_desc(events, add)
  for _, event in ipairs(events) do
    local ids = ""
    if #event.ids > 0 then
      ids = (", id = { %s }"):format(table.concat(event.ids, ", "))
    end
    add("# event : name = %s, %s%s", event.name, ids, attr_text(event.attr))
  end
end

function printers.cpu_topology(topology, add)
  for _, list in ipairs { { "sockets", "cores" }, { "dies   ", "dies" },
      { "threads", "threads" } } do
    for _, cpus in ipairs(topology[list[2]] or {}) do
      add("# sibling %s : %s", list[1], cpus)
    end
  end
  for _, cpu in ipairs(topology.cpus or {}) do
    local die = cpu.die_id and ("Die ID %d, "):format(cpu.die_id) or ""
    add("# CPU %d: Core ID %d, %sSocket ID %d", cpu.cpu, cpu.core_id, die, cpu.socket_id)
  end
  if not topology.cpus then
    add("# Core ID and Socket ID information is not available")
  end
end

function printers.numa_topology(nodes, add)
  for _, node in ipairs(nodes) do
    add("# node%d meminfo  : total = %d kB, free = %d kB", node.node, node.mem_total,
      node.mem_free)
    add("# node%d cpu list : %s", node.node, node.cpus)
  end
end

function printers.pmu_mappings(pmus, add)
  add("# pmu mappings: %s", next(pmus) and pairs_text(pmus, " = ") or "not available")
end

function printers.group_desc(groups, add, file)
  for _, group in ipairs(groups) do
    local names = {}
    for i = group.leader, math.min(group.leader + group.members - 1, #file.events) do
      table.insert(names, file.events[i].name)
    end
    add("# group: %s{%s}", group.name == "{anon_group}" and "" or group.name,
      table.concat(names, ","))
  end
end

function printers.auxtrace(entries, add)
  add("# contains AUX area data (e.g. instruction trace)")
  add("# AUX area index : %d records", #entries)
end

function printers.cache(caches, add)
  add("# CPU cache info:")
  for _, cache in ipairs(caches) do
    add("#  L%d %-15s %8s [%s]", cache.level, cache.type, cache.size, cache.map)
  end
end

function printers.sample_time(time, add)
  add("# time of first sample : %s", format_seconds(time.first, 6))
  add("# time of last sample : %s", format_seconds(time.last, 6))
  add("# sample duration : %10.3f ms", (time.last - time.first) / 1000000)
end

function printers.mem_topology(memory, add)
  add("# memory nodes (nr %d, block size 0x%x):", #memory.nodes, memory.block_size)
  for _, node in ipairs(memory.nodes) do
    add("#  %3d [%s]: %s", node.node, size_text(#node.blocks * memory.block_size),
      ranges_text(node.blocks))
  end
end

function printers.clockid(resolution, add)
  add("# clockid frequency: %d MHz", resolution * 1000)
end

printers.bpf_prog_info = bpf.programs

function printers.bpf_btf(blobs, add)
  if #blobs == 0 then
    add("# btf info empty")
  end
  for _, blob in ipairs(bpf.by_id(blobs)) do
    add("# btf info of id %d", blob.id)
  end
end

function printers.compressed(compressed, add)
  local kind = compressed.type == 1 and "Zstd" or "Unknown"
  add("# compressed : %s, level = %d, ratio = %d", kind, compressed.level, compressed.ratio)
end

local function pmu_caps(pmu, caps, add)
  add("# %s pmu capabilities: %s", pmu, next(caps) and pairs_text(caps, "=") or "not available")
end

function printers.cpu_pmu_caps(caps, add)
  pmu_caps("cpu", caps, add)
end

function printers.pmu_caps(pmus, add, file)
  local pmu_types, cpu = file.features.pmu_mappings or {}, file.features.cpu_pmu_caps or {}
  for _, entry in ipairs(pmus) do
    pmu_caps(entry.pmu, entry.caps, add)
  end
  if pmu_types.ibs_op and cpu.max_precise == "0" then
    add("# AMD: the PMU ibs_op counts precise events such as cycles:p")
  end
end

function printers.clock_data(clock, add)
  local name = CLOCKS[clock.clockid] or "(not found)"
  local wall = format_seconds(clock.wall_clock, 6)
  add("# clockid: %s (%d)", name, clock.clockid)
  add("# reference time: %s%s = %s (TOD) = %s (%s)",
    os.date("%Y-%m-%d %H:%M:%S", clock.wall_clock // 1000000000), wall:match("%..*"), wall,
    format_seconds(clock.clock_time, 9), name)
end

function printers.hybrid_topology(pmus, add)
  add("# hybrid cpu system:")
  for _, entry in ipairs(pmus) do
    add("# %s cpu list : %s", entry.pmu, entry.cpus)
  end
end

function printers.cpu_domain_info(info, add)
  add("# schedstat version\t: %d", info.schedstat_version)
  add("# Maximum sched domains\t: %d", info.max_domains)
  for _, cpu in ipairs(info.cpus) do
    add("# cpu\t\t: %d", cpu.cpu)
    add("# nr_domains\t: %d", #cpu.domains)
    for _, domain in ipairs(cpu.domains) do
      add("# Domain\t\t: %d", domain.domain)
      if domain.name then
        add("# Domain name      : %s", domain.name)
      end
      add("# Domain cpu map   : %s", domain.cpumask)
      add("# Domain cpu list  : %s", domain.cpulist)
    end
  end
end

function printers.e_machine(machine, add)
  add("# e_machine : %d", machine.e_machine)
  add("#   e_flags : %d", machine.e_flags)
end

---Adds the lines of one feature.
---@param name string
---@param file perflua.File
---@param add fun(format: string, ...)
function header.print(name, file, add)
  local printer = printers[name]
  if printer then
    printer(file.features[name], add, file)
  else
    add("# %s : %s", name, json.encode(file.features[name]))
  end
end

return header
