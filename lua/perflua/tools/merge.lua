-- perflua merge A B … -o OUT: several recordings of one system as one.

local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write several recordings of one system as one, in the order of time",
  usage = "merge [OPTION]… A B … -o OUT",
  reads = "records", several = true, paged = false,
  options = writing.options, prepare = writing.prepare,
  help = [[
OUT has the records of all recordings in the order of time. Times must be of one clock; if
clocks differ and all recordings know the wall clock (perf record -k CLOCK_MONOTONIC), times are
shifted to the clock that began first. Events with the same attr and name become one, others stay
beside each other; ids that mean different events get new numbers. A record that several have, as
parts of one recording do, is written once.

Recordings of several systems are refused: perflua reads them beside each other, as
perflua report A B.

  $ perflua merge morning.data evening.data -o day.data]],
}

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  if type(args[1]) ~= "table" then return 2, "merge: two recordings at least" end
  return writing.run("merge", file:records { container = true }, args, out, settings)
end

return tool
