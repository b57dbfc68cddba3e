-- perflua report FILE: where the time went, as perf report --stdio prints it.

local asked = require "perflua.report.asked"
local asked_columns = require "perflua.report.asked_columns"
local blocks = require "perflua.report.blocks"
local columns = require "perflua.report.columns"
local explained = require "perflua.toolkit.explained"
local fmt = require "perflua.text.fmt"
local graph = require "perflua.report.graph"
local groups = require "perflua.report.groups"
local dump = require "perflua.tools.dump"
local header = require "perflua.tools.header"
local row_output = require "perflua.table.row_output"
local samples = require "perflua.toolkit.samples"
local strip_position = require("perflua.errors").strip_position
local quality = require "perflua.report.quality"
local report = require "perflua.report"
local stats = require "perflua.report.stats"
local symbols = require "perflua.toolkit.symbols"
local tasks = require "perflua.report.tasks"
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
  options = words.add_accepted(row_output.with_csv_options {
    sort = { "FIELDS",
      "group by these fields, default comm,dso,symbol; names as in perf or the manual",
      fields = true },
    children =
      "count a sample for all functions of its call chain; default if there are call chains",
    ["no-children"] = "count a sample for its own function only",
    ["call-graph"] = { "WORDS",
      "show the calls of each row: graph (default), fractal, flat, folded or none; caller or "
        .. "callee; function, address or srcline; branch; the smallest share in percent; "
        .. "percent, period or count" },
    inverted = "show the calls of each row from the first caller on",
    as = symbols.as, verbose = symbols.verbose,
    ["percent-limit"] = { "PERCENT", "leave out rows with a smaller share" },
    percentage = { "OF", "absolute: shares of all samples of the event (default); relative: of "
      .. "those that options such as --comm choose" },
    count = { "N", "show the first N rows of each event" },
    ["branch-stack"] = "count the branches of branch stacks, by source and target: default if "
      .. "all events have them",
    ["no-branch-stack"] = "count samples also where they have branch stacks",
    ["branch-history"] = "draw call trees by address, with the branches of branch stacks: "
      .. "their predictions, aborts and cycles",
    ["total-cycles"] = "show blocks of instructions by their cycles, of perf record -b",
    group = "show events together: as they were recorded in groups, which is the default, "
      .. "else all",
    ["no-group"] = "show each event by itself",
    ["no-skip-empty"] = "show events without samples in groups, as perf before 6.12 does",
    ["group-sort-idx"] = { "N", "sort by event N of a group, the first being 0" },
    hierarchy = "show the rows of each field below that of the field before it",
    ["field-separator"] = { "TEXT", "print TEXT between the columns" },
    ["column-widths"] = { "N,…", "print columns N wide; 0: as wide as their cells" },
    latency = "shares of the time that passed: periods divided by the number of threads that "
      .. "ran; perf record --latency",
    parallelism = { "N,…", "only samples that were taken while N threads ran, or M-N" },
    ["max-stack"] = { "N", "count and draw at most N frames of a call chain" },
    ["mem-mode"] = "shares of weights, by local_weight, mem, symbol … of perf mem record; "
      .. "-F op, cache, memory, snoop and dtlb break them down",
    header = "print the recording's header before the rows",
    ["header-only"] = "print nothing but the header",
    stats = "print nothing but the numbers of records, by type and by event",
    tasks = "print nothing but the threads, each below the one that made it",
    mmaps = "print nothing but the threads and what they had mapped at the end",
    ["dump-raw-trace"] = "print nothing but the records, as perflua dump does",
    threads = "print the counters of each thread after the rows: those of perf record -s",
    ["switch-on"] = { "EVENT", "only samples after one of this event" },
    ["switch-off"] = { "EVENT", "only samples before one of this event, and from the next of "
      .. "--switch-on on" },
    ["show-on-off-events"] = "count these events themselves",
    parent = { "REGEX", "show the first function of each call chain that matches" },
    ["exclude-other"] = "only samples with such a function",
    ["ignore-callees"] = { "REGEX", "let call chains begin with functions that match, without "
      .. "what these called" },
    ["stitch-lbr"] = "complete call stacks of perf record --call-graph lbr that outgrew the "
      .. "processor's buffer, from the thread's sample before",
    ["no-inline"] = "leave inlined functions out of call chains",
    ["full-source-path"] = "show source lines with the path of their file",
    ["hide-unresolved"] = "leave out samples without a function, also of shares",
    ["symbol-filter"] = { "TEXT", "only samples in functions with TEXT in their names" },
    ["socket-filter"] = { "N", "only samples on this processor socket" },
    quiet = "print rows alone, without the lines that begin with #",
    ["raw-trace"] = "show the field trace as the names and values that were recorded",
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

---Writes out what -g stands for without its words, as in perf.
---@param args string[]
---@return string[]
function tool.spell_out(args)
  local spelled = {}
  for i, word in ipairs(args) do
    local following = args[i + 1]
    spelled[#spelled + 1] = word
    if (word == "-g" or word == "--call-graph")
        and not (following and graph.is_words(following)) then
      spelled[#spelled + 1] = "graph,caller"
    end
  end
  return spelled
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
  if args["exclude-other"] then
    where[#where + 1] = "parent ~= '[other]'"
  end
  local socket = args["socket-filter"]
  if socket then
    if not asked.number(socket, 0, true) then
      return nil, "--socket-filter: the number of a socket expected, got " .. socket
    end
    where[#where + 1] = "socket == " .. socket
  end
  return where
end

-- Parses the options. Returns nil and what is wrong with them.
function tool.prepare(args)
  local events, message = samples.events(args)
  if message then return nil, message end
  local where
  where, message = parse_filters(args)
  if not where then return nil, message end
  return asked.settings(args, events, where)
end

-- Says how many rows are too small to be shown; nil: none is.
local function describe_cut(result, args)
  if not asked.is_cut(args) or result.hidden == 0 then return nil end
  return fmt.phrase(result.hidden, ("{row|rows} below %g %% {is|are} not shown: "
    .. "--percent-limit 0 shows {it|them}"):format(asked.CUT))
end

function tool.explain(file, args, settings)
  local query = settings.query
  asked_columns.follow(args, settings, file)
  query.is_explained = true
  local wrong = graph.set_chains(file, settings)
  if wrong then return nil, "report: " .. wrong, USAGE end
  local ok, prepared = pcall(report.prepare, file, query)
  if not ok then return nil, strip_position(prepared), USAGE end
  local counts, found = nil, {}
  if file.size then
    counts, found = explained.counts(file, { is_health = true, names = true })
  end
  local parts = { counts }
  local reading = explained.reading(report.reading(prepared),
    { { "C", "rows, sorted by their shares" } }, found)
  if prepared.place.pid and not found["recorded system"]
    and not reading.text:find "recorded system" then
    parts[#parts + 1] = explained.names(file)
  end
  parts[#parts + 1] = reading
  local whole = report.whole(prepared)
  if whole then parts[#parts + 1] = explained.reading(report.reading(whole), nil, found) end
  return parts
end

-- Prints what the options ask for besides rows. Returns whether they ask for no rows.
local function write_others(file, args, out)
  if args.header or args["header-only"] then header.run(file, {}, out) end
  if args["header-only"] then
    return true
  elseif args.stats then
    stats.write(file, out)
  elseif args.tasks or args.mmaps then
    tasks.write(file, out, args.mmaps)
  elseif args["dump-raw-trace"] then
    dump.run(file, {}, out)
  else
    return false
  end
  return true
end

local function write_blocks(file, args, out, settings)
  local health = quality.of(file)
  settings.query.health = health
  local ok, result = pcall(blocks.read, file, settings.query)
  if not ok then return USAGE, strip_position(result) end
  blocks.write(result, file, health, out, args, settings)
  return 0
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
  asked_columns.follow(args, settings, file)
  if args.threads and not stats.has_counters(file) then
    return USAGE, "report: --threads: this recording has no counters of threads; record it "
      .. "with: perf record -s"
  end
  if args["total-cycles"] then return write_blocks(file, args, out, settings) end
  local wrong = graph.set_chains(file, settings)
  if wrong then return USAGE, "report: " .. wrong end
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
      query.group.skips = groups.skips(file, health)
    end
    ok, prepared = pcall(report.prepare, file, query)
  end
  if not ok then
    return prepared ~= "not enough memory" and USAGE or nil, strip_position(prepared)
  end
  local result = asked_columns.without_latency(report.read(prepared, settings), args, settings,
    file)
  if args["group-sort-idx"] and result.slots < settings.sort_slot then
    return USAGE, "report: --group-sort-idx: " .. fmt.phrase(result.slots, "{event is|events "
      .. "are} shown together, numbered from 0; perf record -e '{EVENT,EVENT}' records a group")
  end
  local write = args.json and written.json or args.csv and written.csv or written.text
  local done, why = write(result, file, health, out, args, settings.columns,
    #result.events == 0 and unchosen.text(file, args) or nil, describe_cut(result, args))
  if done == nil and why then return nil, why end
  if args.threads then
    out:write "\n"
    stats.write_counters(file, out)
  end
end

return tool
