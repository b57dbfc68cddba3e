-- perflua cut IN -o OUT: a recording of some samples, and of what they need.

local samples = require "perflua.toolkit.samples"
local writing = require "perflua.toolkit.writing"

local USAGE <const> = 2

local tool = {
  description = "write a recording of the chosen samples, such as the interesting second",
  usage = "cut [--time RANGES] [--comm NAME,…] [--where EXPR] [--every N] [OPTION]… "
    .. "IN -o OUT",
  reads = "samples", paged = false,
  options = writing.with_options {
    every = { "N", "keep one of N samples of each event, with the period of all" },
    ["max-size"] = { "SIZE",
      "keep one of so many samples that OUT has no more than SIZE: 20M" },
  },
  help = [[
OUT has the chosen samples, and the records that tell what they belong to: threads, mappings, cgroups
and namespaces up to the last chosen time, so that their names are those of the whole recording.
Threads without a chosen sample are left out, unless others may name them. Of other records, such as
switches and losses, it has those of the chosen time. Data of AUX areas, which can be decoded as a
whole only, are left out, and said.

--every and --max-size thin out samples. The period of those that are kept is multiplied, or
where samples have none, that of the event, so that shares and sums are estimates of the whole;
counts are not. The command line in OUT says so.

  $ perflua cut --time 20.5,21.5 perf.data -o second.data
  $ perflua cut --where "comm == 'postgres' and find(symbol, 'lock')" perf.data -o locks.data]],
}

function tool.prepare(args, out, host)
  local settings, message = writing.prepare(args, out, host)
  if not settings then return nil, message end
  settings.every = args.every and math.tointeger(tonumber(args.every))
  settings.max_size = args["max-size"] and writing.size_of(args["max-size"])
  if args.every and (not settings.every or settings.every < 1) then
    return nil, ("--every: '%s' is not a number of samples, of which one is kept"):format(
      args.every)
  elseif args["max-size"] and not settings.max_size then
    return nil, ("--max-size: '%s' is not a size such as 800k, 20M or 1.5G"):format(
      args["max-size"])
  end
  return settings
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  if not samples.is_chosen(args) and not args.event and not settings.every
    and not settings.max_size then
    return USAGE, "cut: an option that chooses samples is missing, such as --time or --where; "
      .. "convert writes all of them"
  end
  return writing.run("cut", file:samples { expand = false }, args, out, settings, true)
end

return tool
