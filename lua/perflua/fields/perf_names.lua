-- Fields by the names that perf gives them, and by the options of perf that record them.

local perf_names = {}

-- Names that perf gives to fields, or to members of composite ones, that are called otherwise
-- here.
perf_names.aliases = {
  sym = { "symbol" }, trace = { "message" }, brstack = { "branch_stack" },
  uregs = { "regs_user" }, iregs = { "regs_intr" },
  tgid = { "pid" }, symbol_iaddr = { "symbol" }, phys_daddr = { "phys_addr" },
  local_weight = { "weight" }, weight1 = { "weight" }, weight2 = { "ins_lat" },
  weight3 = { "retire_lat" }, local_ins_lat = { "ins_lat" }, p_stage_cyc = { "retire_lat" },
  local_p_stage_cyc = { "retire_lat" }, local_retire_lat = { "retire_lat" },
  mem = { "data_src", "lvl" }, snoop = { "data_src", "snoop" }, tlb = { "data_src", "dtlb" },
  dtlb = { "data_src", "dtlb" }, locked = { "data_src", "lock" },
  blocked = { "data_src", "blk" }, op = { "data_src", "op" },
}

-- Expressions that perf has a name for.
perf_names.expressions = { dcacheline = "bucket(addr, 'line')" }

-- Options of perf record by the fields of samples that they record.
local recorded_by = {
  cpu = "--sample-cpu", socket = "--sample-cpu",
  addr = "-d", symbol_daddr = "-d", dso_daddr = "-d",
  data_src = "-d, or perf mem record,", phys_addr = "--phys-data",
  weight = "-W", ins_lat = "-W", retire_lat = "-W",
  callchain = "-g", stack = "-g", branch_stack = "-b", regs_user = "--user-regs",
  regs_intr = "--intr-regs", transaction = "--transaction", cgroup_path = "--all-cgroups",
  data_page_size = "--data-page-size", code_page_size = "--code-page-size",
  args = "-e SYSTEM:EVENT", message = "-e SYSTEM:EVENT",
}

local DWARF_TYPES <const> = "perflua does not look up types of data in debug information; "
  .. "where addresses were recorded, symbol_daddr and dcacheline tell what was accessed"
local OF_CODE <const> = "perf adds this column by itself, and refuses it as a key; "
  .. "report --branch-stack --sort symbol has it where cycles were recorded"
local OF_SHARES <const> = "it breaks shares down: report --mem-mode --as 7.3 -F overhead,%s; a "
  .. "query groups by data_src.lvl_num"
local OF_SPEEDUP <const> = "report --sort parallelism counts how many threads ran"
local OF_CHAINS <const> = "report --branch-history shows it; a query measures branch.mispred, "
  .. "branch.abort and branch.cycles after unnest('branch_stack')"

-- Names of perf that records do not answer, and why.
local unanswered = {
  type = DWARF_TYPES, typeoff = DWARF_TYPES, typecln = DWARF_TYPES,
  simd = "only traces of Arm SPE tell it, which perf report decodes and perflua does not",
  ipc_null = OF_CODE, ipc_lbr = OF_CODE,
  cache = OF_SHARES:format "cache", memory = OF_SHARES:format "memory",
  parallelism = OF_SPEEDUP, latency = OF_SPEEDUP,
  cgroup_id = "report --sort cgroup_id and perflua cgroups --by namespace show it",
  callchain_branch_predicted = OF_CHAINS, callchain_branch_abort = OF_CHAINS,
  callchain_branch_cycles = OF_CHAINS,
}

local OF_BRANCHES <const> = "it is of branches: report -b, or unnest('branch_stack') and "
  .. "branch.%s"
for name, member in pairs {
  symbol_from = "symbol_from", symbol_to = "symbol_to", dso_from = "dso_from",
  dso_to = "dso_to", srcline_from = "srcline_from", srcline_to = "srcline_to",
  addr_from = "from", addr_to = "to", mispredict = "mispred", abort = "abort",
  in_tx = "in_tx", cycles = "cycles",
} do unanswered[name] = OF_BRANCHES:format(member) end

perf_names.unanswered = unanswered

---@param name string of a field of samples
---@return string # the end of a message that says which option of perf record records it, or ""
function perf_names.advice(name)
  local option = recorded_by[name]
  return option and ("; perf record %s records it"):format(option) or ""
end

return perf_names
