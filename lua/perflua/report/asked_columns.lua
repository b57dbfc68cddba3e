-- The columns that options of perflua report name or stand for, in the version of perf whose
-- text is printed.

local columns = require "perflua.report.columns"
local split = require "perflua.text.split"
local memory = require "perflua.report.memory"
local parallelism = require "perflua.report.parallelism"
local has_difference = require("perflua.recording").has_difference
local report = require "perflua.report"

local asked_columns = {}

-- Columns that perf report --branch-history has since 7.2.
local BRANCH_COLUMNS <const> = "callchain_branch_predicted,callchain_branch_abort,"
  .. "callchain_branch_cycles,"

-- Returns the widths of columns; or nil, and what is wrong with them.
local function parse_widths(text)
  local widths = text and {}
  for _, word in ipairs(split.list(text or "")) do
    local width = math.tointeger(tonumber(word))
    if not width or width < 0 or width > 4096 then
      return nil, ("--column-widths: '%s' is not a number of columns"):format(word)
    end
    widths[#widths + 1] = width
  end
  return widths
end

-- Returns the fields to sort by that options without --sort stand for; nil: the default ones.
local function default_sort(args, form)
  if args["mem-mode"] and not (args.fields or "+"):find "^[^+]" then
    return form.mem_fields or memory.DEFAULT
  elseif args.fields then
    return nil
  end
  return args["branch-history"]
    and "srcline,symbol,dso," .. (form.branch_columns and BRANCH_COLUMNS or "") .. "ipc_null"
    or nil
end

---Sets which columns are shown, and how.
---@param args table of the tool
---@param settings table of asked.settings()
---@param form table of columns.parse(); { } before the recording is known
---@return string? message what is wrong with the options
function asked_columns.parse(args, settings, form)
  local message
  local sort = args.sort or default_sort(args, form)
  local of_branches = columns.of_branches((sort or "") .. "," .. (args.fields or ""))
  if of_branches and not args["branch-history"] then
    return ("%s: --branch-history tells of the branches in call chains"):format(of_branches)
  end
  if args.parent then
    sort = sort or not args.fields and table.concat(columns.DEFAULT, ",") or nil
    local is_named = ("," .. (sort or "") .. ","):find ",parent,"
    sort = is_named and sort or sort and sort .. ",parent" or "parent"
  end
  settings.columns, message = columns.parse(setmetatable({ sort = sort }, { __index = args }),
    form)
  if not settings.columns then return message end
  settings.query.sort, settings.query.extra = settings.columns.keys, settings.columns.extra
  settings.query.shown = settings.columns.shown
  settings.query.adds_ipc = not (args.csv or args.json)
    and (args.sort or ""):find "symbol" ~= nil
  settings.order = settings.columns.order
  settings.columns.widths, message = parse_widths(args["column-widths"])
  if message then return message end
  local separator = args["field-separator"]
  if separator == "." or separator == "" then
    return "--field-separator: a text other than a point expected, which stands for it in cells"
  end
  settings.columns.separator = separator
end

-- Returns whether the version of perf whose text is printed shows latencies by default. They
-- take the switches of threads, which are read for that, and threads that ran at one time.
local function shows_latency(args, settings, file)
  if args.latency or args.csv or args.json or not file.size or file.mode == "pipe"
      or not has_difference(file, "shows_latency") then
    return false
  end
  local counted = parallelism.find(file)
  settings.query.counted = { parallelism = counted }
  return counted ~= nil and counted.most > 1
end

-- Returns what columns are like in the version of perf whose text is printed.
local function form_of(args, file, has_latency)
  return { averages = has_difference(file, "average_weights"),
    exact_shares = has_difference(file, "exact_shares"), latency = has_latency,
    branch_columns = has_difference(file, "branch_columns"),
    splits = args["mem-mode"] and has_difference(file, "split_shares"),
    mem_fields = memory.default(file) }
end

---Gives --fields and --sort the meaning that they have in the version of perf whose text is
---printed, and adds the columns that this version shows by default.
---@param args table of the tool
---@param settings table of asked.settings()
---@param file perflua.File
function asked_columns.follow(args, settings, file)
  if args.hierarchy then return end
  local adds_latency = shows_latency(args, settings, file)
  asked_columns.parse(args, settings, form_of(args, file, adds_latency))
  settings.columns.adds_latency = adds_latency
end

---Takes away the latencies that were added where they are those of one thread, as perf does.
---@param result table of report.read
---@param args table of the tool
---@param settings table of asked.settings()
---@param file perflua.File
---@return table # the report that is shown
function asked_columns.without_latency(result, args, settings, file)
  local named = args.sort and args.sort:find "latency" or args.fields
    and not args.fields:find "^%+"
  if not settings.columns.adds_latency or result.is_parallel or named then return result end
  asked_columns.parse(args, settings, form_of(args, file, false))
  return report.again(result, settings)
end

return asked_columns
