-- The settings that the options of perflua report stand for: those of report.prepare() and
-- report.read(), with columns of report/asked_columns.lua.

local asked_columns = require "perflua.report.asked_columns"
local columns = require "perflua.report.columns"
local display = require "perflua.text.display"
local units = require "perflua.text.units"
local graph = require "perflua.report.graph"
local split = require "perflua.text.split"

local asked = {}

--- Percent of rows that hardly count.
asked.CUT = 0.5

---@param args table options of the tool
---@return boolean # whether such rows are left out: on a terminal, unless options choose rows
function asked.is_cut(args)
  return display.form().cuts and not (args["percent-limit"] or args.count or args.quiet
    or args.csv or args.json or args.hierarchy or args["field-separator"])
end

---@param text string
---@param least number
---@param integer boolean?
---@return number? # nil: it is no such number, or a smaller one
function asked.number(text, least, integer)
  local value = tonumber(text)
  value = integer and value and math.tointeger(value) or not integer and value
  return value and value == value and value >= least and value or nil
end

-- Parses --call-graph. Returns nil if no calls are shown; or nil, and what is wrong with it.
local function parse_graph(args)
  local history = args["branch-history"]
  if not (args["call-graph"] or args.inverted or history) then return nil end
  local made, message = graph.parse(args["call-graph"] or "")
  if not made then return nil, "--call-graph: " .. message end
  if args.inverted then made.order = "caller" end
  if history then made.key, made.branches = "address", "branch" end
  if made.branches then -- they are in the order of the calls
    made.order = made.order or args["no-children"] and "callee" or "caller"
  end
  if made.form == "none" and not history then return nil end
  for _, option in ipairs { "csv", "json", "branch-stack", "field-separator" } do
    if args[option] then
      return nil, ("--call-graph and --%s exclude each other"):format(option)
    end
  end
  return made
end

-- Returns whether branches are counted; nil: where perf report does, without such an option.
local function parse_branches(args, draws_calls)
  if args["branch-stack"] and args["no-branch-stack"] then
    return nil, "--branch-stack and --no-branch-stack exclude each other"
  end
  if args["branch-history"] then return false end
  if args["branch-stack"] then return true end
  if args["no-branch-stack"] or args.children or draws_calls then return false end
end

-- Says which options exclude each other; nil: none.
local function find_exclusion(args)
  for _, option in ipairs { "csv", "json", "hierarchy", "children", "call-graph", "sort",
    "fields", "mem-mode", "no-branch-stack", "latency", "branch-history" } do
    if args["total-cycles"] and args[option] then
      return ("--total-cycles and --%s exclude each other"):format(option)
    end
  end
  if args["mem-mode"] and args.children then
    return "--mem-mode and --children exclude each other"
  end
  for _, option in ipairs { "header", "header-only", "stats", "tasks", "mmaps",
    "dump-raw-trace", "threads" } do
    for _, format in ipairs { "csv", "json" } do
      if args[option] and args[format] then
        return ("--%s and --%s exclude each other"):format(option, format)
      end
    end
  end
end

-- Sets which events are shown together. Returns what is wrong with the options.
local function parse_groups(args, settings)
  local slot = asked.number(args["group-sort-idx"] or "0", 0, true)
  if not slot then
    return "--group-sort-idx: the number of an event expected, got " .. args["group-sort-idx"]
  end
  settings.sort_slot = slot + 1
  if args.group and args["no-group"] then
    return "--group and --no-group exclude each other"
  elseif not (args["no-group"] or args.csv or args.json) then
    settings.query.group = { all = args.group }
  elseif args.group then
    return ("--group and --%s exclude each other"):format(args.csv and "csv" or "json")
  end
end

-- Makes the report one of rows below rows. Returns what is wrong with the options.
local function parse_hierarchy(args, settings)
  if not args.hierarchy then return nil end
  for _, option in ipairs { "fields", "children", "count", "csv", "json",
    "field-separator" } do
    if args[option] then
      return ("--hierarchy and --%s exclude each other"):format(option)
    end
  end
  if settings.columns.shown then
    return "--hierarchy: -n, --show-total-period and --show-cpu-utilization name its columns"
  end
  settings.columns.hierarchy = { limit = settings.limit, first = settings.sort_slot,
    quiet = args.quiet }
  settings.query.children, settings.limit = false, 0
  local drawn = settings.query.graph
  if drawn then -- as in perf
    drawn.order = drawn.order or args["no-children"] and "callee" or "caller"
  end
  settings.order = settings.columns.keys or columns.DEFAULT
end

-- Sets the numbers of threads that run at a time. Returns what is wrong with the option.
local function parse_parallelism(args, settings)
  if not args.parallelism then return nil end
  local levels = {}
  for _, part in ipairs(split.list(args.parallelism)) do
    local first, last = part:match "^(%d+)%-(%d+)$"
    first, last = asked.number(first or part, 1, true), asked.number(last or part, 1, true)
    if not first or not last or last < first then
      levels = {}
      break
    end
    levels[#levels + 1] = { first, last }
  end
  settings.query.parallelism = levels
  return #levels == 0 and ("--parallelism: numbers of threads expected, such as 1,4-8, got "
    .. "'%s'"):format(args.parallelism) or nil
end

-- Sets what options give as numbers. Returns what is wrong with them.
local function parse_numbers(args, settings)
  local query, stack, quantum = settings.query, args["max-stack"], args["time-quantum"]
  query.max_stack = stack and asked.number(stack, 1, true)
  query.quantum = quantum and units.nanoseconds(quantum)
  local limit = args["percent-limit"] or asked.is_cut(args) and asked.CUT or 0
  settings.limit = asked.number(tostring(limit), 0)
  settings.count = args.count and asked.number(args.count, 0, true)
  if stack and not query.max_stack then
    return "--max-stack: a number of frames expected, got " .. stack
  elseif quantum and (query.quantum or 0) == 0 then
    return ("--time-quantum: a duration expected, such as 10ms, got '%s'"):format(quantum)
  elseif not settings.limit then
    return "--percent-limit: a percentage expected, got " .. args["percent-limit"]
  elseif args.count and not settings.count then
    return "--count: a number of rows expected, got " .. args.count
  end
end

-- Returns what call chains are asked for, of graph.set_chains(); nil: nothing.
local function parse_chains(args, settings)
  local drawn = settings.query.graph
  local is_exact = drawn and (drawn.branches or drawn.key ~= "function")
  local is_named = args["hide-unresolved"]
  if not (args.parent or args["ignore-callees"] or args["stitch-lbr"] or is_exact
      or is_named) then
    return nil
  end
  local order = drawn and drawn.order
  return { parent = args.parent, root = args["ignore-callees"], is_exact = is_exact,
    is_named = is_named,
    branches = drawn and drawn.branches and order,
    from_caller = order == "caller" or not order and settings.query.children ~= false }
end

---Parses the options.
---@param args table of the tool
---@param events string[]? names of events; nil: all
---@param where string[] conditions on samples
---@return table? # { query, columns, limit, count, order, by_name, sort_slot }
---@return string? message what is wrong with them
function asked.settings(args, events, where)
  local settings = { limit = 0, by_name = args.json,
    query = { event = events, where = where } }
  local message = find_exclusion(args) or parse_groups(args, settings)
  if message then return nil, message end
  settings.query.graph, message = parse_graph(args)
  if message then return nil, message end
  settings.query.branches, message = parse_branches(args, settings.query.graph)
  if message then return nil, message end
  settings.query.percentage = args.percentage
  if args["switch-on"] or args["switch-off"] then
    settings.query.switched = { on = args["switch-on"], off = args["switch-off"],
      shows = args["show-on-off-events"] }
  elseif args["show-on-off-events"] then
    return nil, "--show-on-off-events: --switch-on and --switch-off name these events"
  end
  settings.query.is_named = args["hide-unresolved"]
  settings.query.is_raw = args["raw-trace"]
  message = asked_columns.parse(args, settings, {}) or parse_parallelism(args, settings)
    or parse_numbers(args, settings)
  if message then return nil, message end
  settings.query.has_roots = args["ignore-callees"] ~= nil
  settings.query.without_inlined = args["no-inline"]
  settings.query.by_weight = args["mem-mode"]
  if args.children and args["no-children"] then
    return nil, "--children and --no-children exclude each other"
  end
  if args.children or args["no-children"] or args["mem-mode"] then
    settings.query.children = args.children or false
  end
  if settings.query.graph and args["mem-mode"] and not args["no-children"] then -- as in perf
    settings.query.graph.order = settings.query.graph.order or "caller"
  end
  settings.query.is_stitched = args["stitch-lbr"]
  settings.query.branch_history = args["branch-history"]
  settings.chains = parse_chains(args, settings)
  settings.query.padded = not (args.csv or args.json)
  message = parse_hierarchy(args, settings)
  if message then return nil, message end
  return settings
end

return asked
