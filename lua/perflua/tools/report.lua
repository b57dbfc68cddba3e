-- perflua report FILE: where the time went, as perf report --stdio prints it.

local columns = require "perflua.report.columns"
local display = require "perflua.text.display"
local duration = require "perflua.text.duration"
local explained = require "perflua.toolkit.explained"
local fmt = require "perflua.text.fmt"
local graph = require "perflua.report.graph"
local groups = require "perflua.report.groups"
local header = require "perflua.tools.header"
local list = require "perflua.text.list"
local output = require "perflua.table.output"
local samples = require "perflua.toolkit.samples"
local strip_position = require("perflua.errors").strip_position
local quality = require "perflua.report.quality"
local report = require "perflua.report"
local stats = require "perflua.report.stats"
local symbols = require "perflua.toolkit.symbols"
local report_text = require "perflua.report.text"
local unchosen = require "perflua.toolkit.unchosen"
local words = require "perflua.report.words"
local written = require "perflua.report.written"

local tool = {
  description = "where the time went: shares of commands, binaries, functions, or of any field",
  usage = "report [options] FILE…",
  reads = "samples", several = true,
  passes = function(args)
    return args.percentage ~= "relative" and samples.is_chosen(args) and 3 or 2
  end,
  -- all but events leave rows out, but not their samples out of what shares are of, as in perf
  applies = { event = false, where = false, comm = false, pid = false, tid = false,
    dso = false, symbol = false },
  refuses = words.refused,
  options = words.add_accepted(output.with_csv_options {
    sort = { "FIELDS",
      "group by these fields, default comm,dso,symbol; names as in perf or the manual",
      fields = true },
    children =
      "count a sample for all functions of its call chain; default if there are call chains",
    ["no-children"] = "count a sample for its own function only",
    ["call-graph"] = { "WORDS",
      "show the calls of each row: graph (default), fractal, flat, folded or none; caller or "
        .. "callee; the smallest share in percent; percent, period or count" },
    inverted = "show the calls of each row from the first caller on",
    as = symbols.as, verbose = symbols.verbose,
    ["percent-limit"] = { "PERCENT", "leave out rows with a smaller share" },
    percentage = { "OF", "absolute: shares of all samples of the event (default); relative: of "
      .. "those that options such as --comm choose" },
    count = { "N", "show the first N rows of each event" },
    ["branch-stack"] = "count the branches of branch stacks, by source and target: default if "
      .. "all events have them",
    ["no-branch-stack"] = "count samples also where they have branch stacks",
    group = "show events together: as they were recorded in groups, which is the default, "
      .. "else all",
    ["no-group"] = "show each event by itself",
    ["no-skip-empty"] = "show events without samples in groups, as perf before 6.12 does",
    ["group-sort-idx"] = { "N", "sort by event N of a group, the first being 0" },
    hierarchy = "show the rows of each field below that of the field before it",
    ["field-separator"] = { "TEXT", "print TEXT between the columns" },
    ["column-widths"] = { "N,…", "print columns N wide; 0: as wide as their cells" },
    ["max-stack"] = { "N", "count and draw at most N frames of a call chain" },
    ["mem-mode"] = "shares of weights, by local_weight, mem, symbol … of perf mem record",
    header = "print the recording's header before the rows",
    ["header-only"] = "print nothing but the header",
    stats = "print nothing but the numbers of records, by type and by event",
    ["hide-unresolved"] = "leave out samples without a function, also of shares",
    ["symbol-filter"] = { "TEXT", "only samples in functions with TEXT in their names" },
    ["socket-filter"] = { "N", "only samples on this processor socket" },
    quiet = "print rows alone, without the lines that begin with #",
    ns = "show the field time in nanoseconds",
    fields = { "FIELDS", "show these columns in this order: fields as for --sort, and "
      .. table.concat(columns.names, ", "), values = columns.names, fields = true },
    ["show-cpu-utilization"] = "show the shares of the kernel and of user code of each row",
    ["show-nr-samples"] = "show the number of samples of each row",
    ["show-total-period"] = "show the sum of periods of each row",
    ["time-quantum"] = { "TIME", "the step of the field time; default: 100ms" },
    stdio = "print text, which is the default; accepted as in perf",
    json = "one JSON object",
  }),
  help = [[
Prints as perf report of the version that made the recording, or of the one given with --as. There is a
section for each event. Its first line tells how many samples were lost, and how many have no
function. Functions with the same name in the same binary share a row. An unknown function is shown as an
address in its binary. With call chains, a sample also counts for each of its callers (column Children), as
in perf report, unless rows are grouped by srcline or another field that callers lack.]],
}

local USAGE = 2
-- The fields of perf report --mem-mode.
local MEM_FIELDS <const> = "local_weight,mem,symbol,dso,symbol_daddr,dso_daddr,snoop,tlb,"
  .. "locked,blocked,local_ins_lat"

local CUT <const> = 0.5 -- percent of rows that hardly count

-- Returns true if such rows are left out: on a terminal, unless options choose the rows.
local function is_cut(args)
  return display.form().cuts and not (args["percent-limit"] or args.count or args.quiet
    or args.csv or args.json or args.hierarchy or args["field-separator"])
end

local function parse_number(text, least, integer)
  local value = tonumber(text)
  value = integer and value and math.tointeger(value) or not integer and value
  return value and value == value and value >= least and value or nil
end

---Writes out what -g stands for without its words, as in perf.
---@param args string[]
---@return string[]
function tool.spell_out(args)
  local spelled = {}
  for i, word in ipairs(args) do
    local following = args[i + 1]
    spelled[#spelled + 1] = word
    if (word == "-g" or word == "--call-graph")
        and not (following and graph.parse(following)) then
      spelled[#spelled + 1] = "graph,caller"
    end
  end
  return spelled
end

-- Parses the words of the calls that are shown. Returns nil, and what is wrong with them, if
-- there is anything.
local function parse_graph(args)
  if not args["call-graph"] and not args.inverted then return nil end
  local made, message = graph.parse(args["call-graph"] or "")
  if not made then return nil, "--call-graph: " .. message end
  if args.inverted then made.order = "caller" end
  if made.form == "none" then return nil end
  for _, option in ipairs { "csv", "json", "branch-stack", "hide-unresolved",
    "field-separator" } do
    if args[option] then return nil, ("--call-graph and --%s"):format(option) end
  end
  return made
end

-- Returns the conditions on samples; or nil, and what is wrong with them.
local function parse_filters(args)
  local percentage = args.percentage
  if percentage and percentage ~= "absolute" and percentage ~= "relative" then
    return nil, ("--percentage: absolute or relative expected, got '%s'"):format(percentage)
  end
  local where, message = samples.conditions(args, tool.applies)
  if not where then return nil, message end
  if args["symbol-filter"] then
    where[#where + 1] = ("find(symbol, %q)"):format(args["symbol-filter"])
      :gsub("\\\n", "\\n")
  end
  local socket = args["socket-filter"]
  if socket then
    if not parse_number(socket, 0, true) then
      return nil, "--socket-filter: the number of a socket expected, got " .. socket
    end
    where[#where + 1] = "socket == " .. socket
  end
  return where
end

-- Returns whether branches are counted; nil: if all events have branch stacks.
local function parse_branches(args)
  if args["branch-stack"] and args["no-branch-stack"] then
    return nil, "--branch-stack and --no-branch-stack exclude each other"
  end
  if args["branch-stack"] then return true end
  if args["no-branch-stack"] or args.children or args["call-graph"] or args.inverted then
    return false
  end
end

-- Says which options exclude each other; nil: none.
local function find_exclusion(args)
  for _, option in ipairs { "header", "header-only", "stats" } do
    for _, other in ipairs { "csv", "json" } do
      if args[option] and args[other] then
        return ("--%s and --%s exclude each other"):format(option, other)
      end
    end
  end
end

-- Sets which events are shown together. Returns what is wrong with the options.
local function parse_groups(args, settings)
  local slot = parse_number(args["group-sort-idx"] or "0", 0, true)
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

-- Returns the widths of columns; or nil, and what is wrong with them.
local function parse_widths(text)
  local widths = text and {}
  for _, one in ipairs(list.split(text or "")) do
    local width = parse_number(one, 0, true)
    if not width or width > 4096 then
      return nil, ("--column-widths: '%s' is not a number of columns"):format(one)
    end
    widths[#widths + 1] = width
  end
  return widths
end

-- Makes the report one of rows below rows. Returns what is wrong with the options.
local function parse_hierarchy(args, settings)
  if not args.hierarchy then return nil end
  for _, option in ipairs { "fields", "children", "count", "csv", "json" } do
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
  if drawn then drawn.order = drawn.order or "caller" end -- as in perf
  settings.order = settings.columns.keys or columns.DEFAULT
end

-- Sets which columns are shown, and how. Returns what is wrong with the options.
local function parse_columns(args, settings)
  local message
  settings.columns, message = columns.parse(args["mem-mode"] and not args.fields
    and setmetatable({ sort = args.sort or MEM_FIELDS }, { __index = args }) or args)
  if not settings.columns then return message end
  settings.columns.widths, message = parse_widths(args["column-widths"])
  if message then return message end
  local separator = args["field-separator"]
  if separator == "." or separator == "" then
    return "--field-separator: a text other than a point expected, which stands for it in cells"
  end
  settings.columns.separator = separator
end

-- Sets what options give as numbers. Returns what is wrong with them.
local function parse_numbers(args, settings)
  local query, stack, quantum = settings.query, args["max-stack"], args["time-quantum"]
  query.max_stack = stack and parse_number(stack, 1, true)
  query.quantum = quantum and duration.nanoseconds(quantum)
  settings.limit = parse_number(args["percent-limit"] or tostring(is_cut(args) and CUT or 0), 0)
  settings.count = args.count and parse_number(args.count, 0, true)
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

-- Parses the options. Returns nil and what is wrong with them.
function tool.prepare(args)
  local events, message = samples.events(args)
  if message then return nil, message end
  local settings = { limit = 0, by_name = args.json, query = { event = events } }
  message = find_exclusion(args) or parse_groups(args, settings)
  if message then return nil, message end
  settings.query.branches, message = parse_branches(args)
  if message then return nil, message end
  settings.query.where, message = parse_filters(args)
  if message then return nil, message end
  settings.query.percentage = args.percentage
  settings.query.is_named = args["hide-unresolved"]
  message = parse_columns(args, settings) or parse_numbers(args, settings)
  if message then return nil, message end
  settings.query.by_weight = args["mem-mode"]
  settings.query.sort, settings.query.extra = settings.columns.keys, settings.columns.extra
  settings.order = settings.columns.order
  if args.children and args["no-children"] then
    return nil, "--children and --no-children exclude each other"
  end
  if args.children or args["no-children"] then
    settings.query.children = args.children or false
  end
  settings.query.graph, message = parse_graph(args)
  if message then return nil, message end
  settings.query.padded = not (args.csv or args.json)
  message = parse_hierarchy(args, settings)
  if message then return nil, message end
  return settings
end

-- Says how many rows are too small to be shown; nil: none is.
local function describe_cut(result, args)
  if not is_cut(args) or result.hidden == 0 then return nil end
  return fmt.phrase(result.hidden, ("{row|rows} below %g %% {is|are} not shown: "
    .. "--percent-limit 0 shows {it|them}"):format(CUT))
end

function tool.explain(file, _, settings)
  local query = settings.query
  query.is_explained = true
  local ok, prepared = pcall(report.prepare, file, query)
  if not ok then return nil, strip_position(prepared), USAGE end
  local counts, has_names
  if file.size then
    counts, has_names = explained.counts(file, { is_health = true, names = true })
  end
  local parts = { counts }
  local reading = explained.reading(report.reading(prepared),
    { { "C", "rows, sorted by their shares" } }, has_names)
  if prepared.place.pid and not has_names and not reading.text:find "recorded system" then
    parts[#parts + 1] = explained.names(file)
  end
  parts[#parts + 1] = reading
  local whole = report.whole(prepared)
  if whole then parts[#parts + 1] = explained.reading(report.reading(whole), nil, has_names) end
  return parts
end

-- Prints what is not of samples. Returns whether that is all that is asked for.
local function write_others(file, args, out)
  if args.header or args["header-only"] then header.run(file, {}, out) end
  if args.stats then stats.write(file, out) end
  return args["header-only"] or args.stats
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table what tool.prepare gave
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, settings)
  local health
  local query = settings.query
  if write_others(file, args, out) then return 0 end
  -- what no recording has is refused before this one is read
  query.any = true
  local ok, prepared = true, nil
  if query.sort or query.branches or query.is_named or query.children ~= nil or query.event
      or query.where[1] then
    ok, prepared = pcall(report.prepare, file, query)
  end
  if ok then
    health = quality.of(file)
    query.any, query.health = nil, health
    if query.group and health and not args["no-skip-empty"] then
      query.group.skips = groups.skips(file.as, health)
    end
    ok, prepared = pcall(report.prepare, file, query)
  end
  if not ok then
    return prepared ~= "not enough memory" and USAGE or nil, strip_position(prepared)
  end
  local result = report.read(prepared, settings)
  if args["group-sort-idx"] and result.slots < settings.sort_slot then
    return USAGE, "report: --group-sort-idx: not so many events are shown together; perf "
      .. "record -e '{EVENT,EVENT}' records a group"
  end
  local write = args.json and written.json or args.csv and written.csv or report_text.write
  local done, why = write(result, file, health, out, args, settings.columns,
    #result.events == 0 and unchosen.text(file, args) or nil, describe_cut(result, args))
  if done == nil and why then return nil, why end
end

return tool
