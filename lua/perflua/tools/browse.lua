-- perflua browse FILE: a report on the whole terminal, as perf report opens.

local annotate_tool = require "perflua.tools.annotate"
local browse = require "perflua.browse"
local errors = require "perflua.errors"
local graph = require "perflua.report.graph"
local report = require "perflua.report"
local report_tool = require "perflua.tools.report"
local samples = require "perflua.toolkit.samples"

local tool = {
  description = "a report on the whole terminal: rows, their calls, their code, by keys",
  usage = "browse [options] FILE…",
  reads = "samples", several = true, paged = false, passes = 2,
  applies = report_tool.applies,
  options = {},
  help = [[
Shows the rows of perflua report on the whole terminal. Keys open the callers and callees of a row and the
code of its function, and choose rows, samples and times; h lists them. The options are those of report.
Elsewhere than on a terminal perflua report prints the same.]],
}

local USAGE <const> = 2

-- Options of report that say which samples count, how, and in which columns.
for _, name in ipairs { "sort", "fields", "children", "no-children", "percent-limit",
  "percentage", "count", "branch-stack", "no-branch-stack", "group", "no-group",
  "group-sort-idx", "max-stack", "mem-mode", "hide-unresolved", "symbol-filter",
  "socket-filter", "show-cpu-utilization", "show-nr-samples", "show-total-period",
  "time-quantum", "ns", "as", "verbose", "no-inline" } do
  tool.options[name] = report_tool.options[name]
end

for _, name in ipairs { "prefix", "prefix-strip" } do
  tool.options[name] = annotate_tool.options[name]
end

-- Returns why there can be no screen; nil: there can.
local function find_obstacle(host)
  if not host.screen then
    return "browse: perflua was built without ncurses, whose package is libncurses-dev or "
      .. "ncurses-devel: perflua report prints the same"
  elseif not host.is_terminal "stdout" then
    return "browse: this is not a terminal: perflua report prints the same"
  end
end

function tool.prepare(args, _, host)
  local obstacle = find_obstacle(host)
  if obstacle then return nil, obstacle, 1 end
  args["percent-limit"] = args["percent-limit"] or "0" -- there is room for all rows
  local code, message = annotate_tool.prepare(args)
  if not code then return nil, message end
  local settings
  settings, message = report_tool.prepare(args)
  if not settings then return nil, message end
  args["prefix-strip"] = code["prefix-strip"]
  settings.host = host
  return settings
end

---@param file perflua.File
---@param args table
---@param settings table
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, _, settings)
  if not file.size then
    return USAGE, "browse: it reads a recording several times, and a stream can be read only "
      .. "once: perflua top - shows it as it comes"
  end
  -- what no recording has is refused before there is a screen
  local wrong = graph.set_chains(file, settings)
  if wrong then return USAGE, "browse: " .. wrong end
  local ok, message = pcall(report.prepare, file,
    setmetatable({ any = true }, { __index = settings.query }))
  if not ok then return USAGE, "browse: " .. errors.strip_position(message) end
  local host = settings.host
  local function choose(time, where)
    local chosen = setmetatable({ time = time }, { __index = args })
    if not where then return samples.choose(file, chosen, tool.applies) end
    local all = table.move(where, 1, #where, 2, { args.where or "true" })
    chosen.where = "(" .. table.concat(all, ") and (") .. ")"
    return samples.choose(file, chosen)
  end
  ok, message = browse.run(file, { host = host, args = args, settings = settings,
    choose = choose })
  if not ok then return nil, "browse: " .. message end
end

return tool
