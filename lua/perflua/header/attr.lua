-- An event's attribute in one line: what is not zero, as perf words it.
-- See perf_event_attr__fprintf, tools/perf/util/perf_event_attr_fprintf.c.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

-- Returns names of bits, in perf's order; a dot: the bit is named later.
local function list_bits(names)
  local list = {}
  for bit, name in names:gmatch("(%d+):(%S+)") do
    table.insert(list, { 1 << math.tointeger(bit), name })
  end
  return function(value)
    local words = {}
    for _, entry in ipairs(list) do
      if value & entry[1] ~= 0 then
        table.insert(words, entry[2])
      end
    end
    return table.concat(words, "|")
  end
end

local hex, unsigned = core.hex, fmt.unsigned

local sample_type = list_bits [[
  0:IP 1:TID 2:TIME 3:ADDR 4:READ 5:CALLCHAIN 6:ID 7:CPU 8:PERIOD 9:STREAM_ID 10:RAW 11:BRANCH_STACK 12:REGS_USER
  13:STACK_USER 16:IDENTIFIER 18:REGS_INTR 15:DATA_SRC 14:WEIGHT 19:PHYS_ADDR 20:AUX 21:CGROUP 22:DATA_PAGE_SIZE
  23:CODE_PAGE_SIZE 24:WEIGHT_STRUCT 17:TRANSACTION ]]

local read_format = list_bits "0:TOTAL_TIME_ENABLED 1:TOTAL_TIME_RUNNING 2:ID 3:GROUP 4:LOST"

local branch_sample_type = list_bits [[
  0:USER 1:KERNEL 2:HV 3:ANY 4:ANY_CALL 5:ANY_RETURN 6:IND_CALL 7:ABORT_TX 8:IN_TX 9:NO_TX 10:COND 11:CALL_STACK
  12:IND_JUMP 13:CALL 14:NO_FLAGS 15:NO_CYCLES 16:TYPE_SAVE 17:HW_INDEX 18:PRIV_SAVE 19:COUNTERS ]]

-- { label, form of the value, fields: the first that is there }
local rows = {
  { "type", unsigned },
  { "size", unsigned },
  { "config", hex },
  { "{ sample_period, sample_freq }", unsigned, "sample_period", "sample_freq" },
  { "sample_type", sample_type },
  { "read_format", read_format },
}

for name in ([[
  disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap comm freq inherit_stat
  enable_on_exec task watermark precise_ip mmap_data sample_id_all exclude_host exclude_guest exclude_callchain_kernel
  exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward namespaces ksymbol bpf_event
  aux_output cgroup text_poke build_id inherit_thread remove_on_exec sigtrap defer_callchain defer_output
]]):gmatch("%S+") do
  table.insert(rows, { name, unsigned })
end

table.move({
  { "{ wakeup_events, wakeup_watermark }", unsigned, "wakeup_events", "wakeup_watermark" },
  { "bp_type", unsigned },
  { "{ bp_addr, config1 }", hex, "config1" },
  { "{ bp_len, config2 }", hex, "config2" },
  { "branch_sample_type", branch_sample_type },
  { "sample_regs_user", hex },
  { "sample_stack_user", unsigned },
  { "clockid", unsigned },
  { "sample_regs_intr", hex },
  { "aux_watermark", unsigned },
  { "sample_max_stack", unsigned },
  { "aux_sample_size", unsigned },
  { "aux_start_paused", unsigned },
  { "aux_pause", unsigned },
  { "aux_resume", unsigned },
  { "sig_data", unsigned },
  { "config3", hex },
  { "config4", hex },
}, 1, 18, #rows + 1, rows)

---@param attr table an attribute's fields by name
---@return string text ", label = value" of each field that is not zero
return function(attr)
  local words = {}
  for _, row in ipairs(rows) do
    local label, form = row[1], row[2]
    local value = attr[row[3] or label]
    if value == nil and row[4] then
      value = attr[row[4]]
    end
    if value == true then
      value = 1
    end
    if value and value ~= 0 then
      table.insert(words, (", %s = %s"):format(label, form(value)))
    end
  end
  return table.concat(words)
end
