-- perflua merge A B … -o OUT: several recordings of one system as one.

local samples = require "perflua.toolkit.samples"
local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write several recordings of one system as one, in the order of time",
  usage = "merge [--time RANGES] [--comm NAME,…] [--where EXPR] [OPTION]… A B … -o OUT",
  reads = "samples", several = true, paged = false,
  options = writing.options, prepare = writing.prepare,
  help = [[
OUT has the records of all recordings in the order of time. Times must be of one clock; if
clocks differ and all recordings know the wall clock (perf record -k CLOCK_MONOTONIC), times are
shifted to the clock that began first. Events with the same attr and name become one, others stay
beside each other; ids that mean different events get new numbers. A record that several have, as
parts of one recording do, is written once.

With an option that chooses samples, OUT has these, and the records that they need, as perflua cut
writes them.

Recordings of several systems are refused: perflua reads them beside each other, as
perflua report A B.

  $ perflua merge morning.data evening.data -o day.data
  $ perflua merge --comm postgres morning.data evening.data -o postgres.data]],
}

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  if type(args[1]) ~= "table" then return 2, "merge: two recordings at least" end
  local chooses = samples.is_chosen(args) or args.event ~= nil
  local query = chooses and file:samples { expand = false } or file:records { container = true }
  return writing.run("merge", query, args, out, settings, chooses)
end

return tool
