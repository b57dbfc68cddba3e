-- The columns of a report and the order of its rows: the words of perf report --sort and
-- --fields.

local split = require "perflua.text.split"
local memory = require "perflua.report.memory"
local suggest = require "perflua.errors.suggest"

local columns = {}

-- The columns that are not fields of samples. share: of the periods of all samples, or of
-- those of a cpumode, or with `also` of latencies; average: of a field of the samples;
-- of_branches: of the branches in call chains, and how it is shown; least: columns that it
-- takes.
local measures = {
  overhead_children = { title = "Children", share = true },
  overhead = { title = "Overhead", share = true },
  latency_children = { title = "Latency", share = true, also = true, least = 7 },
  latency = { title = "Latency", share = true, also = true },
  overhead_sys = { title = "sys", share = true, cpumode = "kernel" },
  overhead_us = { title = "usr", share = true, cpumode = "user" },
  overhead_guest_sys = { title = "guest sys", share = true, cpumode = "guest_kernel" },
  overhead_guest_us = { title = "guest usr", share = true, cpumode = "guest_user" },
  sample = { title = "Samples" }, period = { title = "Period" },
  weight1 = { title = "Weight1", average = "weight" },
  weight2 = { title = "Weight2", average = "ins_lat" },
  weight3 = { title = "Weight3", average = "retire_lat" },
  callchain_branch_predicted = { title = "Predicted", of_branches = "ratio", least = 0 },
  callchain_branch_abort = { title = "Abort", of_branches = "plain", least = 0 },
  callchain_branch_cycles = { title = "Cycles", of_branches = "quotient", least = 0 },
  -- perf fills this column with --branch-stack only
  ipc_null = { title = "IPC   [IPC Coverage]", of_branches = "ipc", least = 0 },
}

-- The parts of shares that memory.breakdowns has, by their names. group: the title above them;
-- when: the condition on samples.
local parts = {}

for name, breakdown in pairs(memory.breakdowns) do
  for _, part in ipairs(breakdown.parts) do
    local own = ("%s_%s"):format(name, part.title:lower():gsub("%W+", "_"))
    part.name = own
    parts[own] = { title = part.title, share = true, group = breakdown.title,
      when = part.when }
  end
end

local function measure_of(name) return measures[name] or parts[name] end

-- The measures that perf 6.12 and later have for these words of --fields.
local averages = { weight = "weight1", ins_lat = "weight2", retire_lat = "weight3",
  p_stage_cyc = "weight3" }

-- Fields of a sample that perf sums: the value of one sample times their number. Rows come
-- greatest first.
local summed = { weight = true, ins_lat = true, p_stage_cyc = true, retire_lat = true }
local descends = { local_weight = true, local_ins_lat = true, local_p_stage_cyc = true,
  local_retire_lat = true }

columns.DEFAULT = { "comm", "dso", "symbol" }

--- Sums of the branches in call chains: of their ends, and of those that columns show.
columns.BRANCH_SUMS = { "callchain_branch_ends", "callchain_branch_predicted",
  "callchain_branch_abort", "callchain_branch_cycles" }

--- The names of columns that are not fields.
columns.names = suggest.names(measures)

---@param words string a list of columns
---@return string? # one of the branches in call chains; nil: none is named
function columns.of_branches(words)
  for word in words:gmatch "[%w_]+" do
    if measures[word] and measures[word].of_branches then return word end
  end
end

---@param name string
---@return { title: string, share: boolean?, also: boolean?, average: string?, least: integer?,
--- group: string? }? # nil: it is a field
columns.measure = measure_of

---@param name string
---@return boolean # whether it is a share of the samples below a row, too
function columns.is_of_callers(name) return name:find "_children$" ~= nil end

---@param name string of a measure
---@param period string what a sample, or a branch, adds to periods
---@return string? # the expression that is added up; nil: samples and periods are enough
function columns.added(name, period)
  local measure = measure_of(name)
  local when = measure.when
    or measure.cpumode and ("cpumode == '%s'"):format(measure.cpumode)
  return when and ("%s and %s"):format(when, period) or measure.average
end

---@param name string of a field
---@return boolean # whether its column has its value times the number of samples
function columns.is_summed(name) return summed[name] or false end

---@param name string of a field or measure
---@return boolean # whether rows come in the order of its values, the least first
function columns.ascends(name)
  return not (measure_of(name) or summed[name] or descends[name])
end

-- Returns the words of an option, and whether they are added to those that perf has by itself.
local function parse_words(text)
  local words, is_added = {}, text:sub(1, 1) == "+"
  for _, part in ipairs(split.list(is_added and text:sub(2) or text)) do
    -- plain names may also have spaces between them
    local pattern = part:find("^[%w_%s]+$") and "%S+" or ".+"
    for name in part:gmatch(pattern) do words[#words + 1] = name end
  end
  return words, is_added
end

local function is_any_measure(words, pattern)
  for _, name in ipairs(words) do
    if measure_of(name) and name:find(pattern) then return true end
  end
  return false
end

---@param ... string[]
---@return string[] # the lists one after the other, each name once
function columns.join(...)
  local joined, seen = {}, {}
  for _, names in ipairs { ... } do
    for _, name in ipairs(names) do
      if not seen[name] then joined[#joined + 1] = name end
      seen[name] = true
    end
  end
  return joined
end

local join = columns.join

---@param names string[]
---@param holds fun(name: string): boolean?
---@return string[] # those for which it holds
function columns.keep(names, holds)
  local kept = {}
  for _, name in ipairs(names) do
    if holds(name) then kept[#kept + 1] = name end
  end
  return kept
end

local keep = columns.keep

-- The shares of perf, in the order of their columns.
local SHARES <const> = { "overhead_children", "latency_children", "overhead", "latency" }

-- Returns the shares that are shown whether or not they are named, in the order of columns.
local function shares_of(args, form)
  if args.latency then
    return { "latency_children", "overhead_children", "latency", "overhead" }
  end
  return keep(SHARES, function(name) return form.latency or not measures[name].also end)
end

-- Returns whether a list names a measure, or one whose name begins with that.
local function is_named(words, name) return is_any_measure(words, "^" .. name) end

-- Returns the columns that come first: those that options ask for.
local function first_columns(args, shares)
  return join(shares,
    args["show-cpu-utilization"] and { "overhead_sys", "overhead_us" } or {},
    args["show-nr-samples"] and { "sample" } or {},
    args["show-total-period"] and { "period" } or {})
end

-- Sets the columns and their order where there are some in any case, beside which others may be
-- named: `words` to sort by, and `fields` besides.
local function add_to_default(made, args, words, fields, form)
  local shares = shares_of(args, form)
  local order
  if form.exact_shares and not args.latency
      and (is_named(words, "overhead") or is_named(words, "latency")) then
    shares = keep(SHARES, function(name) return is_named(words, name .. "$") end)
    order = join(words, fields)
  else
    local unnamed = keep(shares, function(name)
      return not is_named(words, name == "overhead_children" and name .. "$" or name)
    end)
    order = join(unnamed, words, fields)
  end
  made.first = first_columns(args, shares)
  if is_any_measure(words, "") or #fields > 0 then
    made.order, made.named = order, join(fields, words)
    made.shown = join(made.first, made.named)
  elseif #shares > 2 then
    made.order = order
  end
end

-- Returns the measures that words of --fields stand for.
local function spell_out(words, form)
  local spelled = {}
  for _, name in ipairs(words) do
    local breakdown = form.splits and memory.breakdowns[name]
    for _, part in ipairs(breakdown and breakdown.parts or {}) do
      spelled[#spelled + 1] = part.name
    end
    if not breakdown then
      spelled[#spelled + 1] = form.averages and averages[name] or name
    end
  end
  return spelled
end

-- Returns what rows are sorted by: for parts of shares it is the period, as in perf.
local function order_by(names)
  local order = {}
  for i, name in ipairs(names) do order[i] = parts[name] and "period" or name end
  return join(order)
end

---@param args table of the tool: sort, fields, and options that name columns
---@param form { averages: boolean?, exact_shares: boolean?, latency: boolean?, splits:
--- boolean? } averages: weights of `fields` are averages; exact_shares: if `sort` names a
--- share, no other is shown; latency: latencies are shown by default; splits: `fields` may
--- name memory.breakdowns
---@return table? # { keys: string[]?, shown: string[]?, order: string[]?, … } keys: the
--- fields that rows are told apart by; nil: the default ones. shown: all columns in their
--- order, `first` and those that are `named`; nil: `first`, then the keys. is_exact: --fields
--- alone names them. has_all: also those that the report does not have.
--- order: what rows are sorted by, nil: by their shares.
--- extra: measures beside samples and periods
---@return string? message what is wrong
function columns.parse(args, form)
  local sort, is_added = parse_words(args.sort or "")
  local fields, is_more = parse_words(args.fields or "")
  for _, option in ipairs { "sort", "fields" } do
    if args[option] and #(option == "sort" and sort or fields) == 0 then
      return nil, ("--%s: no field is named"):format(option)
    end
  end
  local is_field = function(name) return not measure_of(name) end
  fields = spell_out(fields, form)
  if is_added then sort = join(columns.DEFAULT, sort) end
  local made = { first = {}, named = {}, has_all = args["no-children"] }
  if args.fields and not is_more then
    made.shown, made.is_exact, made.has_all = join(fields, sort), true, true
    made.named = made.shown
    made.order = join(sort, fields)
    made.keys = keep(made.shown, is_field)
  else
    local words = args.sort and sort or columns.DEFAULT
    made.keys = args.sort and keep(words, is_field) or nil
    add_to_default(made, args, words, is_more and fields or {}, form)
    if is_more then made.keys = keep(join(fields, words), is_field) end
  end
  made.order = made.order and order_by(made.order)
  local shown = made.shown or made.first
  made.extra = keep(shown, function(name)
    return measure_of(name) and columns.added(name, "1") ~= nil
  end)
  if #keep(shown, function(name) return measures[name] and measures[name].also end) > 0 then
    made.extra[#made.extra + 1] = "latency"
  end
  return made
end

return columns
