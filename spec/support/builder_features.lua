-- The sections of the header features, from values in the shape scripts read them in.
-- See the write_… functions of tools/perf/util/header.c.
local attr = require "spec.support.builder_attr"
local pack = require "spec.support.builder_pack"
local records = require "spec.support.builder_records"

local features = {}

features.bits = {
  tracing_data = 1, build_id = 2, hostname = 3, osrelease = 4, version = 5, arch = 6,
  nrcpus = 7,
  cpudesc = 8, cpuid = 9, total_mem = 10, cmdline = 11, event_desc = 12, cpu_topology = 13,
  numa_topology = 14, branch_stack = 15, pmu_mappings = 16, group_desc = 17, auxtrace = 18,
  stat = 19,
  cache = 20, sample_time = 21, mem_topology = 22, clockid = 23, dir_format = 24,
  bpf_prog_info = 25,
  bpf_btf = 26, compressed = 27, cpu_pmu_caps = 28, clock_data = 29, hybrid_topology = 30,
  pmu_caps = 31, cpu_domain_info = 32, e_machine = 33, cln_size = 34,
}

local function str(w, v) return w:str(v) end
local function u64(w, v) return w:u64(v) end
local function flag() return "" end

local function strings(...)
  local names = { ... }
  return function(w, v)
    local out = {}
    for i, name in ipairs(names) do
      out[i] = w:str(v[name])
    end
    return table.concat(out)
  end
end

--- A table as sorted {name, value} pairs; a list of such pairs as it is.
local function pairs_of(t)
  if t[1] then
    return t
  end
  local list = {}
  for k, v in pairs(t) do
    list[#list + 1] = { k, v }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

local function caps(w, t)
  return w:list(pairs_of(t), function(_, cap) return w:str(cap[1]) .. w:str(cap[2]) end)
end

local function build_ids(w, list)
  local out = {}
  for _, e in ipairs(list) do
    local modes = { kernel = 1, user = 2, guest_kernel = 4, guest_user = 5 }
    local misc = e.misc or modes[e.cpumode or "user"] | (e.sized == false and 0 or 1 << 15)
    local body = e.old_abi and pack.chars(pack.unhex(e.build_id), 24)
      .. pack.text(e.filename, 64)
      or records.build_id(w, e, e.pad or 64)
    out[#out + 1] = w:u32(0) .. w:u16(misc) .. w:u16(8 + #body) .. body
  end
  return table.concat(out)
end

local function event_desc(w, list, b)
  local size = b.attr_size
  local out = { w:u32(#list), w:u32(size) }
  for _, e in ipairs(list) do
    out[#out + 1] = attr.pack(w, e, size) .. w:u32(#e.ids) .. w:str(e.name)
      .. w:array("u64", e.ids)
  end
  return table.concat(out)
end

--- revision 1: the lists; 2: also cores and sockets of each cpu; 3: also dies.
local function cpu_topology(w, v)
  local out = { w:list(v.cores, str), w:list(v.threads, str) }
  for _, cpu in ipairs(v.cpus or {}) do
    out[#out + 1] = w:u32(cpu.core_id) .. w:u32(cpu.socket_id)
  end
  if v.dies then
    out[#out + 1] = w:list(v.dies, str)
    for _, cpu in ipairs(v.cpus) do
      out[#out + 1] = w:u32(cpu.die_id)
    end
  end
  return table.concat(out)
end

local function mem_topology(w, v)
  local function node(_, n)
    local words, count = {}, (n.bits + 63) // 64
    for i = 1, count do
      words[i] = 0
    end
    for _, block in ipairs(n.blocks) do
      words[block // 64 + 1] = words[block // 64 + 1] | 1 << block % 64
    end
    return w:u64(n.node) .. w:u64(n.bits) .. w:u64(n.bits) .. w:array("u64", words)
  end
  return w:u64(v.version or 1) .. w:u64(v.block_size) .. w:list(v.nodes, node, w.u64)
end

local function bpf_prog_info(w, list)
  return w:list(list, function(_, p)
    local info = pack.chars(p.info, p.info_len or #p.info)
    local data = p.data or ""
    return w:u32(#info) .. w:u32(#data) .. w:u64(p.arrays) .. info .. data
  end)
end

--- The first fields of struct bpf_prog_info, for entries of bpf_prog_info.
function features.bpf_info(w, p)
  return w:fields("type:u32 id:u32 tag:h8 jited_prog_len:u32 xlated_prog_len:u32 "
    .. "jited_prog_insns:u64 xlated_prog_insns:u64 load_time:u64 uid:u32 nr_map_ids:u32 "
    .. "map_ids:u64 "
    .. "name:c16 ifindex:u32 flags:u32 netns_dev:u64 netns_ino:u64 nr_jited_ksyms:u32 "
    .. "nr_jited_func_lens:u32 jited_ksyms:u64 jited_func_lens:u64 btf_id:u32 "
    .. "func_info_rec_size:u32 func_info:u64 nr_func_info:u32 nr_line_info:u32 line_info:u64 "
    .. "jited_line_info:u64 nr_jited_line_info:u32 line_info_rec_size:u32 "
    .. "jited_line_info_rec_size:u32 nr_prog_tags:u32 prog_tags:u64 run_time_ns:u64 "
    .. "run_cnt:u64 "
    .. "recursion_misses:u64 verified_insns:u32 attach_btf_obj_id:u32 attach_btf_id:u32 _:x4",
    p)
end

local function cpu_domain_info(w, v)
  local out = { w:u32(v.schedstat_version), w:u32(v.max_domains) }
  for _, cpu in ipairs(v.cpus) do
    out[#out + 1] = w:u32(cpu.cpu) .. w:list(cpu.domains, function(_, d)
      return w:u32(d.domain) .. (v.schedstat_version >= 17 and w:str(d.name) or "")
        .. w:str(d.cpumask) .. w:str(d.cpulist)
    end)
  end
  return table.concat(out)
end

-- A layout, or a function (writer, value, builder) → bytes.
local sections = {
  tracing_data = function(_, v) return v end,
  build_id = build_ids,
  hostname = str, osrelease = str, version = str, arch = str, cpudesc = str, cpuid = str,
  nrcpus = "available:u32 online:u32",
  total_mem = u64,
  cmdline = function(w, v) return w:list(v, str) end,
  event_desc = event_desc,
  cpu_topology = cpu_topology,
  numa_topology = function(w, v)
    return w:list(v, function(_, n)
      return w:fields("node:u32 mem_total:u64 mem_free:u64", n) .. w:str(n.cpus)
    end)
  end,
  branch_stack = flag, stat = flag,
  pmu_mappings = function(w, v)
    return w:list(pairs_of(v), function(_, pmu) return w:u32(pmu[2]) .. w:str(pmu[1]) end)
  end,
  group_desc = function(w, v)
    return w:list(v, function(_, g)
      return w:str(g.name) .. w:fields("leader:u32 members:u32", g)
    end)
  end,
  auxtrace = function(w, v)
    return w:list(v, function(_, e) return w:fields("offset:u64 size:u64", e) end, w.u64)
  end,
  cache = function(w, v)
    return w:u32(v.version or 1) .. w:list(v, function(_, c)
      return w:fields("level:u32 line_size:u32 sets:u32 ways:u32", c)
        .. strings("type", "size", "map")(w, c)
    end)
  end,
  sample_time = "first:u64 last:u64",
  mem_topology = mem_topology,
  clockid = u64, dir_format = u64,
  bpf_prog_info = bpf_prog_info,
  bpf_btf = function(w, v)
    return w:list(v, function(_, e) return w:u32(e.id) .. w:u32(#e.data) .. e.data end)
  end,
  compressed = "version:u32 type:u32 level:u32 ratio:u32 mmap_len:u32",
  cpu_pmu_caps = caps,
  clock_data = function(w, v)
    return w:u32(v.version or 1) .. w:fields("clockid:u32 wall_clock:u64 clock_time:u64", v)
  end,
  hybrid_topology = function(w, v) return w:list(v, strings("pmu", "cpus")) end,
  pmu_caps = function(w, v)
    return w:list(v, function(_, pmu) return caps(w, pmu.caps) .. w:str(pmu.pmu) end)
  end,
  cpu_domain_info = cpu_domain_info,
  e_machine = "e_machine:u32 e_flags:u32",
  cln_size = function(w, v) return w:u32(v) end,
}

--- The bit of a feature's name; numbers are their own.
function features.bit(name)
  return type(name) == "number" and name
    or assert(features.bits[name], "no feature is called " .. name)
end

--- The section of that feature; a string for a feature that is not one is taken as its bytes.
function features.pack(w, name, value, builder)
  local how = sections[name]
  if not how or (type(value) == "string" and how ~= str) then
    return assert(value)
  elseif type(how) == "string" then
    return w:fields(how, value)
  end
  return how(w, value, builder)
end

return features
