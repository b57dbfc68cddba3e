-- The perf record command for what a script needs and does not say how to record.

local fmt = require "perflua.text.fmt"

-- A field's option of perf record; of those that are always recorded, or that follow from
-- others, there is none. See perf-record(1). Counters are read with the samples of groups with
-- :S, see perf-list(1).
local options = {
  callchain = "-g", stack = "-g", branch_stack = "-b", brstack = "-b", addr = "-d",
  data_src = "-d", weight = "-W",
  phys_addr = "--phys-data", data_page_size = "--data-page-size",
  code_page_size = "--code-page-size",
  regs_intr = "-I", iregs = "-I", regs_user = "--user-regs", uregs = "--user-regs",
  stack_user = "--call-graph dwarf", transaction = "--transaction", cgroup = "--all-cgroups",
  cgroup_path = "--all-cgroups", symbol_daddr = "-d", dso_daddr = "-d",
  cpu = "--sample-cpu", id = "--sample-identifier", raw = "-R", time = "-T",
  ins_lat = "-W", retire_lat = "-W",
}

---@param list table # needs, see perflua.meta.needs
---@return string
return function(list)
  local events, words, seen, reads = {}, { "perf", "record" }, {}, false
  for _, need in ipairs(list) do
    local one = need[1]
    local root = one.is_field and one.name:match("^[%w_]+")
    local option = options[root]
    reads = reads or root == "read"
    if not one.is_field then events[#events + 1] = one.name end
    if option and not seen[option] then
      words[#words + 1], seen[option] = option, true
    end
  end
  if #events > 0 then
    words[#words + 1] = "-e"
    local all = table.concat(events, ",")
    words[#words + 1] = fmt.shell_word(reads and "{" .. all .. "}:S" or all)
  end
  words[#words + 1] = "-- COMMAND"
  return table.concat(words, " ")
end
