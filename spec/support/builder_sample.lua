-- The body of a sample: its parts in their order on disk, and the blocks other records share
-- with it. See perf_output_sample and perf_output_read, kernel/events/core.c.
local attr = require "spec.support.builder_attr"
local pack = require "spec.support.builder_pack"

local sample = {}

local branch_flags = {
  mispred = { 0, 1 }, predicted = { 1, 1 }, in_tx = { 2, 1 }, abort = { 3, 1 },
  cycles = { 4, 16 },
  type = { 20, 4 }, spec = { 24, 2 }, new_type = { 26, 4 }, priv = { 30, 3 },
  not_taken = { 33, 1 },
}

--- A read_format block: {value=, time_enabled=, time_running=, id=, lost=}, or for a group the
--- times and an array of {value=, id=, lost=}.
function sample.read(w, event, read)
  read = read or {}
  local function has(name)
    return event.read_format >> attr.read_bits[name] & 1 == 1
  end
  local function times()
    return (has "time_enabled" and w:u64(read.time_enabled) or "")
      .. (has "time_running" and w:u64(read.time_running) or "")
  end
  local function tail(v)
    return (has "id" and w:u64(v.id) or "") .. (has "lost" and w:u64(v.lost) or "")
  end
  if not has "group" then
    return w:u64(read.value) .. times() .. tail(read)
  end
  local out = { w:u64(read.nr or #read), times() }
  for _, v in ipairs(read) do
    out[#out + 1] = w:u64(v.value) .. tail(v)
  end
  return table.concat(out)
end

--- nr and the addresses, context markers among them; nr tells a lie if `list.nr` says so.
function sample.callchain(w, list)
  return w:u64(list.nr or #list) .. w:array("u64", list)
end

local function registers(w, regs)
  regs = regs or { abi = 0 }
  return w:u64(regs.abi or 2) .. w:array("u64", regs)
end

local parts = {
  { "identifier", function(w, v) return w:u64(v.identifier or v.id) end },
  { "ip", function(w, v) return w:u64(v.ip) end },
  { "tid", function(w, v) return w:u32(v.pid) .. w:u32(v.tid or v.pid) end },
  { "time", function(w, v) return w:u64(v.time) end },
  { "addr", function(w, v) return w:u64(v.addr) end },
  { "id", function(w, v) return w:u64(v.id) end },
  { "stream_id", function(w, v) return w:u64(v.stream_id) end },
  { "cpu", function(w, v) return w:u32(v.cpu) .. w:u32(0) end },
  { "period", function(w, v) return w:u64(v.period) end },
  { "read", function(w, v, event) return sample.read(w, event, v.read) end },
  { "callchain", function(w, v) return sample.callchain(w, v.callchain or {}) end },
  { "raw", function(w, v)
    local raw = v.raw or ""
    raw = raw .. pack.fill(4 + #raw, 8)
    return w:u32(v.raw_size or #raw) .. raw
  end },
  { "branch_stack", function(w, v, event)
    local stack = v.branch_stack or {}
    local out = { w:u64(stack.nr or #stack) }
    local mask = event.branch_sample_type or 0
    if mask >> attr.branch_bits.hw_index & 1 == 1 and stack.hw_idx ~= false then
      out[#out + 1] = w:u64(stack.hw_idx)
    end
    for _, b in ipairs(stack) do
      out[#out + 1] = w:u64(b.from) .. w:u64(b.to) .. w:u64(b.flags or w:bits(branch_flags, b))
    end
    if mask >> attr.branch_bits.counters & 1 == 1 or stack.counters then
      for _, b in ipairs(stack) do
        out[#out + 1] = w:u64(b.counters)
      end
    end
    return table.concat(out)
  end },
  { "regs_user", function(w, v) return registers(w, v.regs_user) end },
  { "stack_user", function(w, v)
    local stack = v.stack_user or ""
    if #stack == 0 then
      return w:u64(v.stack_size)
    end
    return w:u64(v.stack_size or #stack) .. stack .. w:u64(v.dyn_size or #stack)
  end },
  { "weight", function(w, v) return w:u64(v.weight) end },
  { "weight_struct", function(w, v)
    return w:u64((v.weight or 0) & 0xffffffff | (v.ins_lat or 0) << 32
      | (v.retire_lat or 0) << 48)
  end },
  { "data_src", function(w, v) return w:u64(v.data_src) end },
  { "transaction", function(w, v) return w:u64(v.transaction) end },
  { "regs_intr", function(w, v) return registers(w, v.regs_intr) end },
  { "phys_addr", function(w, v) return w:u64(v.phys_addr) end },
  { "cgroup", function(w, v) return w:u64(v.cgroup) end },
  { "data_page_size", function(w, v) return w:u64(v.data_page_size) end },
  { "code_page_size", function(w, v) return w:u64(v.code_page_size) end },
  { "aux", function(w, v)
    local aux = v.aux or ""
    return w:u64(v.aux_size or #aux) .. aux
  end },
}

-- The functions of those parts that an event has; `found` keeps them by its sample_type.
local function parts_of(event, all, found)
  local list = found[event.sample_type]
  if not list then
    list = {}
    for _, part in ipairs(all) do
      if attr.has(event, part[1]) then list[#list + 1] = part[2] end
    end
    found[event.sample_type] = list
  end
  return list
end

local parts_by_type, trailers_by_type = {}, {}

--- The body of a sample of `event`; what `values` lacks is zero or empty, the id is the event's
--- first.
function sample.body(w, event, values)
  if not values.id then
    values = setmetatable({ id = event.ids[1] }, { __index = values })
  end
  local out = {}
  for i, part in ipairs(parts_of(event, parts, parts_by_type)) do
    out[i] = part(w, values, event)
  end
  return table.concat(out)
end

local trailer = {
  { "tid", function(w, v) return w:u32(v.pid) .. w:u32(v.tid) end },
  { "time", function(w, v) return w:u64(v.time) end },
  { "id", function(w, v) return w:u64(v.id) end },
  { "stream_id", function(w, v) return w:u64(v.stream_id) end },
  { "cpu", function(w, v) return w:u32(v.cpu) .. w:u32(0) end },
  { "identifier", function(w, v) return w:u64(v.identifier or v.id) end },
}

--- The sample_id that ends other records; nil values: all zero, as perf writes what it makes
--- itself.
function sample.trailer(w, event, values)
  values = values and setmetatable({ id = values.id or event.ids[1] }, { __index = values })
    or {}
  local out = {}
  for i, part in ipairs(parts_of(event, trailer, trailers_by_type)) do
    out[i] = part(w, values)
  end
  return table.concat(out)
end

return sample
