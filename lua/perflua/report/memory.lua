-- The keys of perf report --mem-mode that perf shows otherwise than queries do, as fields of
-- rows ({ kind, of, other, beside, shown, heading, least }, as report/fields.lua has them),
-- and the columns that break shares down by kinds of memory accesses.

local core = require "perflua.core"
local has_difference = require("perflua.recording").has_difference
local spec_of = core.query_spec

local memory = {}

-- Returns the bits of the value of a data source from `at` on.
local function bits(at, width)
  return ("((data_src.value >> %d) & %d)"):format(at, (1 << width) - 1)
end

-- Returns the number of a mask's bits, which rows are told apart by.
local function masked(mask) return ("data_src.value & %d"):format(mask) end

-- mem_lvl of perf_event.h, by which perf sorts, then mem_lvl_num and mem_remote, and mem_hops
local LEVEL <const> = ("%s << 8 | %s << 3 | %s"):format(bits(5, 14), bits(33, 5), bits(43, 3))
-- mem_snoop, mem_snoopx
local SNOOP <const> = 0x1f << 19 | 3 << 38

local function zero_for_absent(name, least)
  return { kind = "unsigned", of = name .. " or 0", weighs = true, shown = "plain",
    least = least }
end

local ADDRESS_ROOM <const> = 22 -- columns that perf has for an address after a letter

local fields = {
  mem = { kind = "unsigned", of = LEVEL, shown = "level", least = 39 },
  snoop = { kind = "unsigned", of = masked(SNOOP), shown = "snoop", least = 12 },
  tlb = { kind = "unsigned", of = masked(0x7f << 26), shown = "dtlb", least = 22 },
  locked = { kind = "unsigned", of = masked(3 << 24), shown = "lock", least = 6 },
  blocked = { kind = "unsigned", of = masked(7 << 40), shown = "blk", least = 10 },
  symbol_daddr = { kind = "address", of = "symbol_daddr", other = "addr", shown = "location",
    beside = { beside = "cpumode", offset = "symoff_daddr" }, least = ADDRESS_ROOM },
  phys_daddr = { kind = "address", of = "phys_addr", shown = "location",
    beside = { beside = "cpumode" }, least = ADDRESS_ROOM },
  dso_daddr = { kind = "string", of = "dso_daddr", shown = "dso" },
  data_page_size = { kind = "unsigned", of = "data_page_size", shown = "page",
    least = ADDRESS_ROOM },
  local_weight = zero_for_absent("weight", 12), local_ins_lat = zero_for_absent("ins_lat"),
  local_retire_lat = zero_for_absent "retire_lat",
  local_p_stage_cyc = zero_for_absent "retire_lat",
}

-- Returns whether perf has the latency of retirement beside the others, of this machine.
local function has_retire_latency(file)
  local arch = file.features.arch or ""
  return has_difference(file, "retire_lat") and (arch:find "^x86" or arch:find "^i%d86")
end

-- PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT
local WEIGHTS <const> = 1 << 14 | 1 << 24

---@param query perflua.Query
---@return boolean # whether one of its events has weights; perf counts samples without as 1
function memory.has_weights(query)
  for _, event in ipairs(spec_of(query).scope:events()) do
    if event.sample_type & WEIGHTS ~= 0 then return true end
  end
  return false
end

---@param name string
---@param query perflua.Query
---@return table? # a copy of the field; nil: perf shows it as queries do
function memory.field(name, query)
  local field, file = fields[name], spec_of(query).file
  if not field then return nil end
  local copy = { name = name }
  for member, value in pairs(field) do copy[member] = value end
  if field.weighs and not memory.has_weights(query) then
    copy.of = "0"
  elseif name == "mem" and not has_difference(file, "one_level") then
    copy.shown, copy.least = "levels", 24 -- by mask and by number
  elseif name == "local_p_stage_cyc" and has_retire_latency(file) then
    copy.heading = "Local Retire Latency"
  end
  return copy
end

-- The keys that all versions have by default.
memory.DEFAULT = "local_weight,mem,symbol,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
  .. "local_ins_lat"

---@param file perflua.File
---@return string # the fields of perf report --mem-mode
function memory.default(file)
  return memory.DEFAULT .. (has_retire_latency(file) and ",local_p_stage_cyc" or "")
end

-- Returns the conditions that a number is one of those of `known`, { title, value }, or none.
local function by_number(number, known)
  local parts, others = {}, {}
  for i, row in ipairs(known) do
    parts[i] = { title = row[1], when = ("%s == %d"):format(number, row[2]) }
    others[i] = ("%s ~= %d"):format(number, row[2])
  end
  parts[#parts + 1] = { title = "Other", when = table.concat(others, " and ") }
  return parts
end

local OPERATION <const>, DTLB <const>, MISSED <const> = bits(0, 5), bits(26, 7), "& 4"

-- Returns the parts of what several bits may say at once, as perf takes them.
local function operations()
  local parts = by_number(OPERATION, { { "Load", 2 }, { "Store", 4 }, { "Ld+St", 6 } })
  local other = table.remove(parts)
  for i, row in ipairs { { "Pfetch", "& 8 ~= 0" }, { "Exec", "& 24 == 16" },
    { "Other", ("& 24 == 0 and %s"):format(other.when) } } do
    parts[3 + i] = { title = row[1], when = ("%s %s"):format(OPERATION, row[2]) }
  end
  return parts
end

local function translations()
  local parts = by_number(DTLB, { { "L1-Hit", 10 }, { "L2-Hit", 18 }, { "L?-Hit", 26 } })
  local other = table.remove(parts).when
  parts[4] = { title = "Miss", when = ("%s and %s %s ~= 0"):format(other, DTLB, MISSED) }
  parts[5] = { title = "Other", when = ("%s and %s %s == 0"):format(other, DTLB, MISSED) }
  return parts
end

local NUMBER <const> = bits(33, 4) -- of the level

--- By name of a column of --fields: its title, and its parts, { title, when } each.
memory.breakdowns = {
  op = { title = "Mem Op", parts = operations() },
  cache = { title = "Cache", parts = by_number(NUMBER, { { "L1", 1 }, { "L2", 2 }, { "L3", 3 },
    { "L4", 4 }, { "L1-buf", 12 }, { "L2-buf", 5 } }) },
  memory = { title = "Memory", parts = by_number(NUMBER, { { "RAM", 13 }, { "MSC", 6 },
    { "Uncach", 8 }, { "CXL", 9 }, { "IO", 10 }, { "PMEM", 14 } }) },
  snoop = { title = "Snoop", parts = by_number(bits(19, 5), { { "Hit", 4 }, { "HitM", 16 },
    { "Miss", 8 } }) },
  dtlb = { title = "D-TLB", parts = translations() },
}

return memory
