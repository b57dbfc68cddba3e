-- perflua timechart FILE -o chart.svg: who ran where, and when.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local folding = require "perflua.toolkit.folding"
local output = require "perflua.table.output"
local pair_counts = require "perflua.table.pair_counts"
local samples = require "perflua.toolkit.samples"
local svg = require "perflua.timechart.svg"
local switches = require "perflua.waits.switches"
local timechart = require "perflua.timechart"
local units = require "perflua.text.units"

local MOST_ROWS <const> = 40

local tool = {
  description = "draw threads on processors over time: an SVG to zoom in any browser",
  usage = "timechart [options] FILE -o FILE.svg",
  reads = "samples", passes = 2, paged = false,
  takes = "time comm pid tid", refused = "it reads the switches of all threads",
  applies = samples.of_threads,
  needs = { events = { "sched:sched_switch" }, fields = { "time", "cpu" } },
  record = "perf record -a -e sched:sched_switch -e sched:sched_waking",
  options = {
    o = { "FILE", "write the SVG to FILE, or HTML if it ends in .html; - is standard output" },
    title = { "TEXT", "the heading" },
    count = { "N", ("draw the N threads that ran longest; default: %d"):format(MOST_ROWS) },
    width = { "PIXELS", "a fixed width; default: the window's" },
  },
  help = [[
A row for each processor, then one for each thread: when it ran, and when it waited for a processor.
Wake-ups are lines from the thread that wakes to the one that is woken, fainter where there are many. In the
page: dragging over a range of time zooms in, as a click on a run does, and rows without anything there fold
away; Escape goes back, arrows and the wheel with Shift move, / searches for threads. A run whose start or end
was not recorded is not drawn. Where the recording does not say who ran on a processor, its row is hatched from
the switch before to the next one.]],
}

-- Options that are numbers become numbers; what is wrong with one.
local function check_options(args)
  if not (args.o or args.explain) then
    return "-o FILE.svg says where to write it; -o - is standard output"
  end
  for name, range in pairs { width = { 400, 100000 }, count = { 1, 10000 } } do
    local value = args[name] and math.tointeger(tonumber(args[name]))
    if args[name] and not (value and value >= range[1] and value <= range[2]) then
      return ("--%s: from %d to %d, not '%s'"):format(name, range[1], range[2], args[name])
    end
    args[name] = value
  end
end

-- The line below the title.
local function describe(file, chart)
  local parts = { ("%s s, %s, %s"):format(core.seconds(chart.to - chart.from),
    fmt.phrase(#chart.cpus, "{processor|processors}"),
    fmt.phrase(#chart.threads, "{thread|threads}")) }
  if chart.unknown > 0 then
    parts[#parts + 1] = ("who ran is not known for %s of the processors' time"):format(
      units.format(chart.unknown, "duration"))
  end
  local counted = pair_counts.text(chart.counts, "{run or wait|runs and waits}")
  parts[#parts + 1] = counted and counted:sub(3)
  if chart.unseen > 0 then parts[#parts + 1] = fmt.phrase(chart.unseen, switches.UNSEEN) end
  parts[#parts + 1] = fmt.paths(file.path)
  local cmdline = file.features.cmdline
  if cmdline then parts[#parts + 1] = table.concat(cmdline, " ") end
  return table.concat(parts, "  ·  ")
end

-- Whether names are asked for is known once those of the recording were read.
function tool.queries(file) return { (timechart.query(file, not file.size)) } end

function tool.prepare(args) return nil, check_options(args) end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local chart = timechart.read(file, { most = args.count or MOST_ROWS,
    is_chosen = samples.of_tids(file, args) })
  if not chart then
    folding.log("timechart", "%s: no thread was seen to run", fmt.paths(file.path))
    return 0
  end
  local ok, message = output.to(args.o == "-" and out or args.o, function(write)
    svg.write(write, chart, { title = args.title or "Timechart", about = describe(file, chart),
      width = args.width, html = args.o:find "%.html?$" ~= nil })
  end)
  return ok and 0 or nil, message
end

return tool
