-- Every record but the sample, as the kernel (types below 64) or perf (from 64 on) writes it.
-- See include/uapi/linux/perf_event.h and tools/lib/perf/include/perf/event.h.
--
-- A row is {type, body [, misc bits by field name]}. A body is a layout (see builder_pack) or a
-- function (writer, fields, event) → bytes of the record, bytes that follow it outside its
-- size.
local attr = require "spec.support.builder_attr"
local pack = require "spec.support.builder_pack"
local sample = require "spec.support.builder_sample"

local records = {}

local task = "pid:u32 ppid:u32 tid:u32 ptid:u32 time:u64"
local throttle = "time:u64 id:u64 stream_id:u64"

local function fixed_then_list(layout, member, each)
  return function(w, r)
    local list = r[member] or {}
    return w:fields(layout, r) .. w:u64(r.nr or #list) .. w:list(list, each, function()
      return ""
    end)
  end
end

local function mmap2(w, r)
  local out = w:fields("pid:u32 tid:u32 addr:u64 len:u64 pgoff:u64", r)
  if r.build_id then
    local id = pack.unhex(r.build_id)
    out = out .. w:u8(r.build_id_size or #id) .. "\0\0\0" .. pack.chars(id, 20)
  else
    out = out .. w:fields("maj:u32 min:u32 ino:u64 ino_generation:u64", r)
  end
  return out .. w:fields("prot:u32 flags:u32 filename:z8", r)
end

local function text_poke(w, r)
  local old, new = r.old or "", r.new or ""
  return w:u64(r.addr) .. w:u16(r.old_len or #old) .. w:u16(r.new_len or #new) .. old .. new
    .. pack.fill(4 + #old + #new, 8)
end

local kernel = {
  mmap = { 1, "pid:u32 tid:u32 addr:u64 len:u64 pgoff:u64 filename:z8", { data = 13 } },
  lost = { 2, "id:u64 lost:u64" },
  comm = { 3, "pid:u32 tid:u32 comm:z8", { exec = 13 } },
  exit = { 4, task },
  throttle = { 5, throttle },
  unthrottle = { 6, throttle },
  fork = { 7, task, { exec = 13 } },
  read = { 8, function(w, r, event)
    return w:fields("pid:u32 tid:u32", r) .. sample.read(w, event, r.read)
  end },
  mmap2 = { 10, mmap2, { data = 13, build_id = 14 } },
  aux = { 11, "aux_offset:u64 aux_size:u64 flags:u64" },
  itrace_start = { 12, "pid:u32 tid:u32" },
  lost_samples = { 13, "lost:u64", { bpf = 15 } },
  switch = { 14, "", { out = 13, preempt = 14 } },
  switch_cpu_wide = { 15, "next_prev_pid:u32 next_prev_tid:u32", { out = 13, preempt = 14 } },
  namespaces = { 16, fixed_then_list("pid:u32 tid:u32", "namespaces", function(w, ns)
    return w:fields("dev:u64 ino:u64", ns)
  end) },
  ksymbol = { 17, function(w, r)
    local flags = (r.flags or 0) | (r.unregister and 1 or 0)
    return w:fields("addr:u64 len:u32 ksym_type:u16", r) .. w:u16(flags) .. pack.text(r.name, 8)
  end },
  bpf_event = { 18, "bpf_type:u16 flags:u16 prog_id:u32 tag:h8" },
  cgroup = { 19, "cgroup_id:u64 path:z8" },
  text_poke = { 20, text_poke },
  aux_output_hw_id = { 21, "hw_id:u64" },
  callchain_deferred = { 22, fixed_then_list("cookie:u64", "ips", function(w, ip)
    return w:u64(ip)
  end) },
}

--- cpu_map_data: {1, 5} as a list, {type = "mask", …} as a bitmap of 32- or 64-bit words, or
--- {type = "range", first, last}.
local function cpu_map(w, map)
  if map.type == "range" then
    return w:u16(2) .. w:u8(map.any_cpu and 1 or 0) .. w:u8(0) .. w:u16(map[1]) .. w:u16(map[2])
  elseif map.type ~= "mask" then
    return w:u16(0) .. w:u16(map.nr or #map) .. w:array("u16", map)
  end
  local size = map.long_size or 4
  local bits, words = size * 8, {}
  for _, cpu in ipairs(map) do
    for i = #words, cpu // bits do
      words[i + 1] = words[i + 1] or 0
    end
    words[cpu // bits + 1] = words[cpu // bits + 1] | 1 << cpu % bits
  end
  return w:u16(1) .. w:u16(map.nr or #words) .. w:u16(size)
    .. (size == 8 and "\0\0\0\0" .. w:array("u64", words) or w:array("u32", words))
end

local function id_index(w, r)
  local out, guests = { w:u64(r.nr or #r.entries) }, {}
  for _, e in ipairs(r.entries) do
    out[#out + 1] = w:fields("id:u64 idx:u64 cpu:s64 tid:s64", e)
    guests[#guests + 1] = e.machine_pid and w:fields("machine_pid:u64 vcpu:u64", e)
  end
  return table.concat(out) .. table.concat(guests)
end

local function auxtrace_error(w, r)
  local fmt = r.fmt or 0
  return w:fields("error_type:u32 code:u32 cpu:u32 pid:u32 tid:u32 fmt:u32 ip:u64", r)
    .. (fmt >= 1 and w:u64(r.time) or "") .. pack.chars(r.msg, 64)
    .. (fmt >= 2 and w:fields("machine_pid:u32 vcpu:u32", r) or "")
end

-- Payload that follows the record: its size in the record is already a multiple of 8.
local function with_data(layout)
  return function(w, r)
    local data = r.data or ""
    data = data .. pack.fill(#data, 8)
    return w:fields(layout, setmetatable({ data_size = r.data_size or #data },
      { __index = r })), data
  end
end

local stat_tags = { aggr_mode = 0, interval = 1, scale = 2, aggr_level = 3 }

local function stat_config(w, r)
  local tags = {}
  for name, tag in pairs(stat_tags) do
    if r[name] then
      tags[#tags + 1] = { tag, r[name] }
    end
  end
  table.sort(tags, function(a, b) return a[1] < b[1] end)
  return w:list(tags, function(_, t) return w:u64(t[1]) .. w:u64(t[2]) end, w.u64)
end

local function event_update(w, r, event)
  local data, kind
  if r.cpus then
    kind, data = 3, cpu_map(w, r.cpus)
  elseif r.scale then
    kind, data = 1, w:f64(r.scale)
  else
    kind, data = r.unit and 0 or 2, pack.text(r.unit or r.name)
  end
  data = data .. pack.fill(#data, 8)
  return w:u64(r.update_type or kind) .. w:u64(r.id or event.ids[1]) .. data
end

local schedstat_cpu =
  "yld_count:u32 array_exp:u32 sched_count:u32 sched_goidle:u32 ttwu_count:u32 "
  .. "ttwu_local:u32 rq_cpu_time:u64 run_delay:u64 pcount:u64"

local balance_15 =
  "lb_count lb_balanced lb_failed lb_imbalance lb_gained lb_hot_gained lb_nobusyq "
  .. "lb_nobusyg"
local balance_17 = "lb_count lb_balanced lb_failed lb_imbalance_load lb_imbalance_util "
  .. "lb_imbalance_task lb_imbalance_misfit lb_gained lb_hot_gained lb_nobusyq lb_nobusyg"
local domain_tail =
  "alb_count alb_failed alb_pushed sbe_count sbe_balanced sbe_pushed sbf_count "
  .. "sbf_balanced sbf_pushed ttwu_wake_remote ttwu_move_affine ttwu_move_balance"

--- Names of the fields of a schedstat domain in their order, for that version of
--- /proc/schedstat.
function records.schedstat_domain_fields(version)
  local names = {}
  local states = version == 15 and { "idle", "busy", "newidle" }
    or { "busy", "idle", "newidle" }
  for _, state in ipairs(states) do
    for name in (version == 17 and balance_17 or balance_15):gmatch "%S+" do
      names[#names + 1] = state .. "_" .. name
    end
  end
  for name in domain_tail:gmatch "%S+" do
    names[#names + 1] = name
  end
  return names
end

local function schedstat_domain(w, r)
  local version = r.version or 15
  local layout = table.concat(records.schedstat_domain_fields(version), ":u32 ") .. ":u32"
  return w:fields("timestamp:u64 cpu:u32", r) .. w:u16(version) .. w:u16(r.domain)
    .. pack.chars(w:fields(layout, r), 208 - 24)
end

local function bpf_metadata(w, r)
  return pack.chars(r.prog_name, 512) .. w:list(r.entries, function(_, e)
    return w:fields("key:c64 value:c256", e)
  end, w.u64)
end

local function time_conv(w, r)
  local out = w:fields("time_shift:u64 time_mult:u64 time_zero:u64", r)
  if r.short then
    return out
  end
  return out .. w:fields("time_cycles:u64 time_mask:u64 cap_user_time_zero:u8 "
    .. "cap_user_time_short:u8 _:x6", r)
end

--- The body of a build-id entry, here and in the feature's section; name_to: its name's
--- alignment.
function records.build_id(w, r, name_to)
  local id = pack.unhex(r.build_id)
  return w:s32(r.pid or -1) .. pack.chars(id, 20) .. w:u8(r.build_id_size or #id) .. "\0\0\0"
    .. pack.text(r.filename, name_to)
end

local user = {
  header_attr = { 64, function(w, r, event)
    local of = r.event or event
    return attr.pack(w, of) .. w:array("u64", r.ids or of.ids)
  end },
  event_type = { 65, "event_id:u64 name:c64" },
  tracing_data = { 66, with_data "data_size:u32 _:x4" },
  build_id = { 67, function(w, r)
    local body = records.build_id(w, r, 1)
    return body .. pack.fill(8 + #body, 8)
  end, { build_id = 15 } },
  finished_round = { 68, "" },
  id_index = { 69, id_index },
  auxtrace_info = { 70, function(w, r)
    return w:u32(r.auxtrace_type) .. w:u32(0) .. w:array("u64", r.priv or {})
  end },
  auxtrace =
    { 71, with_data("data_size:u64 data_offset:u64 reference:u64 idx:u32 tid:u32 cpu:u32 "
      .. "_:x4") },
  auxtrace_error = { 72, auxtrace_error },
  thread_map = { 73, function(w, r)
    return w:u64(r.nr or #r.threads) .. w:list(r.threads, function(_, t)
      return w:fields("pid:s64 comm:c16", t)
    end, function() return "" end)
  end },
  cpu_map = { 74, function(w, r)
    local map = cpu_map(w, r.cpus)
    return map .. pack.fill(#map, 8)
  end },
  stat_config = { 75, stat_config },
  stat = { 76, "id:u64 cpu:u32 thread:u32 val:u64 ena:u64 run:u64" },
  stat_round = { 77, "round_type:u64 time:u64" },
  event_update = { 78, event_update },
  time_conv = { 79, time_conv },
  header_feature = { 80, function(w, r) return w:u64(r.feature) .. (r.data or "") end },
  compressed = { 81, function(_, r) return r.data end },
  finished_init = { 82, "" },
  compressed2 = { 83, function(w, r)
    return w:u64(r.data_size or #r.data) .. r.data .. pack.fill(#r.data, 8)
  end },
  bpf_metadata = { 84, bpf_metadata },
  schedstat_cpu = { 85, "timestamp:u64 cpu:u32 version:u16 _:x2 " .. schedstat_cpu },
  schedstat_domain = { 86, schedstat_domain },
}

records.types = {}
for name, row in pairs(kernel) do
  records.types[name] = { id = row[1], body = row[2], misc = row[3] or {}, kernel = true }
end
for name, row in pairs(user) do
  records.types[name] = { id = row[1], body = row[2], misc = row[3] or {}, kernel = false }
end

--- The record's misc bits and its body without header and trailer; then what follows outside
--- its size.
function records.pack(w, name, fields, event)
  local how = assert(records.types[name], "no record is called " .. tostring(name))
  local misc = fields.misc or 0
  for field, bit in pairs(how.misc) do
    if fields[field] then
      misc = misc | 1 << bit
    end
  end
  local body, extra
  if type(how.body) == "string" then
    body = w:fields(how.body, fields)
  else
    body, extra = how.body(w, fields, event)
  end
  return how, misc, body, extra or ""
end

return records
