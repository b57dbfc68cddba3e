-- perflua cut IN -o OUT: a recording of some samples, and of what they need.

local samples = require "perflua.toolkit.samples"
local writing = require "perflua.toolkit.writing"

local USAGE <const> = 2

local tool = {
  description = "write a recording of the chosen samples, such as the interesting second",
  usage = "cut [--time RANGES] [--comm NAME,…] [--where EXPR] [OPTION]… IN -o OUT",
  reads = "samples", paged = false,
  options = writing.options, prepare = writing.prepare,
  help = [[
OUT has the chosen samples, and the records that tell what they belong to: threads, mappings, cgroups
and namespaces up to the last chosen time, so that their names are those of the whole recording. Of other
records, such as switches and losses, it has those of the chosen time. Data of AUX areas, which can be
decoded as a whole only, are left out, and said.

  $ perflua cut --time 20.5,21.5 perf.data -o second.data
  $ perflua cut --where "comm == 'postgres' and find(symbol, 'lock')" perf.data -o locks.data]],
}

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  if not samples.is_chosen(args) and not args.event then
    return USAGE, "cut: an option that chooses samples is missing, such as --time or --where; "
      .. "convert writes all of them"
  end
  return writing.run("cut", file:samples { expand = false }, args, out, settings, true)
end

return tool
