-- perf_event_attr as the builder writes it: any size, either byte order.
-- See struct perf_event_attr, include/uapi/linux/perf_event.h.
local pack = require "spec.support.builder_pack"

local attr = {}

attr.sample_bits = {
  ip = 0, tid = 1, time = 2, addr = 3, read = 4, callchain = 5, id = 6, cpu = 7, period = 8,
  stream_id = 9, raw = 10, branch_stack = 11, regs_user = 12, stack_user = 13, weight = 14,
  data_src = 15, identifier = 16, transaction = 17, regs_intr = 18, phys_addr = 19, aux = 20,
  cgroup = 21, data_page_size = 22, code_page_size = 23, weight_struct = 24,
}

attr.read_bits = { time_enabled = 0, time_running = 1, id = 2, group = 3, lost = 4 }

attr.branch_bits = {
  user = 0, kernel = 1, hv = 2, any = 3, any_call = 4, any_return = 5, ind_call = 6,
  abort_tx = 7,
  in_tx = 8, no_tx = 9, cond = 10, call_stack = 11, ind_jump = 12, call = 13, no_flags = 14,
  no_cycles = 15, type_save = 16, hw_index = 17, priv_save = 18, counters = 19,
}

-- name = {position, width}
attr.flags = { precise_ip = { 15, 2 } }
local flag_names = {
  [0] = "disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel",
  "exclude_hv",
  "exclude_idle", "mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark",
  [17] = "mmap_data", [18] = "sample_id_all", [19] = "exclude_host", [20] = "exclude_guest",
  [21] = "exclude_callchain_kernel", [22] = "exclude_callchain_user", [23] = "mmap2",
  [24] = "comm_exec", [25] = "use_clockid", [26] = "context_switch", [27] = "write_backward",
  [28] = "namespaces", [29] = "ksymbol", [30] = "bpf_event", [31] = "aux_output",
  [32] = "cgroup",
  [33] = "text_poke", [34] = "build_id", [35] = "inherit_thread", [36] = "remove_on_exec",
  [37] = "sigtrap", [38] = "defer_callchain", [39] = "defer_output",
}
for bit, name in pairs(flag_names) do
  attr.flags[name] = { bit, 1 }
end

-- The members in their order; those of a union share a place, and any of its names is written.
local members = {
  { "u32", "type" }, { "u32", "size" }, { "u64", "config" },
  { "u64", "sample_period", "sample_freq" }, { "u64", "sample_type" }, { "u64", "read_format" },
  { "u64", "flags" }, { "u32", "wakeup_events", "wakeup_watermark" }, { "u32", "bp_type" },
  { "u64", "config1", "bp_addr", "kprobe_func", "uprobe_path" },
  { "u64", "config2", "bp_len", "kprobe_addr", "probe_offset" },
  { "u64", "branch_sample_type" }, { "u64", "sample_regs_user" },
  { "u32", "sample_stack_user" },
  { "s32", "clockid" }, { "u64", "sample_regs_intr" }, { "u32", "aux_watermark" },
  { "u16", "sample_max_stack" }, { "u16", "reserved" }, { "u32", "aux_sample_size" },
  { "u32", "aux_action" }, { "u64", "sig_data" }, { "u64", "config3" }, { "u64", "config4" },
}

-- The format of string.pack for them, without the byte order; numbers are cut to their bits.
local formats = { u16 = "I2", u32 = "I4", s32 = "I4", u64 = "i8" }
local masks = { u16 = 0xffff, u32 = 0xffffffff, s32 = 0xffffffff, u64 = -1 }
local format = ""
for _, member in ipairs(members) do
  format, member.mask = format .. formats[member[1]], masks[member[1]]
end

-- These have a word of their own, which they share with aux_action.
local aux_flags = { aux_start_paused = { 0, 1 }, aux_pause = { 1, 1 }, aux_resume = { 2, 1 } }

--- A mask from a number, a list of names or nil.
function attr.mask(bits, names)
  if type(names) ~= "table" then
    return names or 0
  end
  local mask = 0
  for _, name in ipairs(names) do
    mask = mask | 1 << assert(bits[name], "no bit is called " .. name)
  end
  return mask
end

--- Whether an event's sample_type has the bit of that name.
function attr.has(event, name)
  return event.sample_type >> attr.sample_bits[name] & 1 == 1
end

--- The attr of an event in `size` bytes (default: event.attr_size); longer ones end in
--- event.tail.
function attr.pack(w, event, size)
  size = size or event.attr_size
  local made = {
    size = event.size or size,
    flags = event.flags or w:bits(attr.flags, event),
    aux_action = event.aux_action or w:bits(aux_flags, event) >> (w.big and 32 or 0),
  }
  local numbers = {}
  for i, member in ipairs(members) do
    local v = made[member[2]] or event[member[2]]
    for k = 3, #member do v = v or event[member[k]] end
    numbers[i] = (v == true and 1 or v or 0) & member.mask
  end
  local bytes = string.pack(w.order .. format, table.unpack(numbers))
  return pack.chars(bytes .. (event.tail or ""), size)
end

return attr
