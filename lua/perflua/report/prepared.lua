-- The query of a report, the fields that identify its rows, and what is measured.

local columns = require "perflua.report.columns"
local core = require "perflua.core"
local fields = require "perflua.report.fields"
local groups = require "perflua.report.groups"
local ipc = require "perflua.report.ipc"
local memory = require "perflua.report.memory"
local parallelism = require "perflua.report.parallelism"
local has_difference = require("perflua.recording").has_difference
local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error

local spec_of = core.query_spec

local prepared = {}

-- The times between events that switch a report on and off, as perf report --switch-on and
-- --switch-off have them.

-- Returns the event of an option; raises if the recording does not have it.
local function find_event(file, option, name)
  local names = {}
  for i = 1, #file.events do
    local event = file.events[i]
    if event.name == name then return event end
    names[i] = event.name
  end
  local message = ("--%s: no event is called '%s'"):format(option, name)
  usage_error("%s", suggest.message(message, name, names))
end

---@param file perflua.File
---@param asked { on: string?, off: string?, shows: boolean? } names of events; shows: these
--- themselves count
---@return integer[][] # { from, to } in ns: samples from `from` on count, those before `to`
local function switch_windows(file, asked)
  if not file.size then
    usage_error("--switch-on and --switch-off take two passes, and a stream can be read only "
      .. "once")
  end
  local on = asked.on and find_event(file, "switch-on", asked.on)
  local off = asked.off and find_event(file, "switch-off", asked.off)
  local windows, own = {}, asked.shows and 0 or 1
  local from = not on and 0 or nil
  for time, event in file:samples { event = { on or off, off } }:select("time", "event") do
    if from and off and event == off then
      windows[#windows + 1] = { from, time + 1 - own }
      from = nil
      if not on then break end
    elseif not from and on and event == on then
      from = time + own
    end
  end
  if from then windows[#windows + 1] = { from, nil } end
  if #windows == 0 then usage_error("--switch-on: event '%s' has no samples", asked.on) end
  return windows
end

-- PERF_SAMPLE_…
local CALLCHAIN <const>, BRANCH_STACK <const>, STACK_USER <const> = 1 << 5, 1 << 11, 1 << 13
local CALL_STACK <const> = 1 << 11 -- PERF_SAMPLE_BRANCH_CALL_STACK
local DATA_SRC <const> = 1 << 15

-- Returns whether the query's events have samples. For a stream that is not known.
local function has_samples(query, health)
  if not health then return true end
  for _, event in ipairs(spec_of(query).scope:events()) do
    if health.events[event.index].samples > 0 then return true end
  end
  return not spec_of(query).events and health.unknown_event.samples > 0
end

-- Returns the times that events switch the report on for; nil: all.
local function windows_of(file, options)
  if not options.switched or options.is_explained then return nil end
  local asked = options.switched
  -- a report is prepared several times
  asked.windows = asked.windows or switch_windows(file, asked)
  return asked.windows
end

---@param file perflua.File
---@param options table of prepared.of()
---@return perflua.Query # of the samples, or of their branches
function prepared.query_of(file, options)
  -- stacks are stitched in the order of time
  local query = file:samples { event = options.event,
    order = file.size and not options.is_stitched and "file" or nil }
  -- Fields that nobody asked for may be absent; without samples, all fields may.
  local may_lack = options.any or not has_samples(query, options.health)
  spec_of(query).scope.any = may_lack
  local windows = windows_of(file, options)
  if windows then query = query:between(windows) end
  if options.is_named then query = query:where "glob(symbol, '*')" end
  for _, condition in ipairs(options.where or {}) do query = query:where(condition) end
  if options.parallelism then
    query = query:where(parallelism.filter(fields.in_two_passes("parallelism", file, options),
      options.parallelism))
  end
  spec_of(query).scope.any = may_lack or not (options.sort or options.branches)
  if options.branches then query = query:unnest "branch_stack" end
  return query
end

local function has_type(query, bit)
  for _, event in ipairs(spec_of(query).scope:events()) do
    if event.sample_type & bit ~= 0 then return true end
  end
  return false
end

---@param query perflua.Query of samples
---@return boolean # whether one of its events has call chains
function prepared.has_chains(query) return has_type(query, CALLCHAIN) end

-- Returns which frames chains have, a kind of Scope:stack(): inlined functions are in those
-- that perf unwinds, or in all.
local function chain_of(query, options)
  local graph = options.graph
  if graph and (graph.branches or graph.key ~= "function") then return "exact" end
  local is_unwound = has_type(query, STACK_USER)
  -- the first frame of "callers" is always shown
  local is_cut = options.is_named and options.max_stack and not is_unwound
  if options.without_inlined then return is_cut and "unwound" or "callers" end
  if has_difference(spec_of(query).file, "inlined_always") then return "inlined" end
  return (is_cut or is_unwound) and "unwound" or "callers"
end

-- Returns whether perf report shows branches: the header says that branch stacks were recorded,
-- or all events with samples have them; and none has copied stacks, or branches that are those
-- of call chains (perf record --call-graph lbr).
local function has_branches(file, options)
  local has, is_of_all = false, true
  for _, event in ipairs(spec_of(prepared.query_of(file, options)).scope:events()) do
    if event.sample_type & STACK_USER ~= 0 or event.branch_sample_type & CALL_STACK ~= 0 then
      return false
    end
    local is_of_branches = event.sample_type & BRANCH_STACK ~= 0
    has = has or is_of_branches
    is_of_all = is_of_all and (is_of_branches or event.name == "dummy:u")
  end
  return has and (is_of_all or file.features.branch_stack ~= nil)
end

-- Returns the options of the report of all samples, which shares are of; nil: they are of those
-- that meet the conditions.
local function whole_of(file, options)
  if options.percentage == "relative" or not (options.parallelism
      or next(options.where or {})) then return nil end
  if file.size then
    return { event = options.event, sort = { "event" }, children = false,
      extra = prepared.also_of(options.extra) and { "latency" }, counted = options.counted,
      branches = options.branches, is_named = options.is_named, switched = options.switched,
      by_weight = options.by_weight }
  elseif options.percentage then
    usage_error("--percentage absolute takes two passes, and a stream can be read only once")
  end
end

---@param extra string[]? measures of report/columns.lua
---@return integer? # number of the measure that counts for callers beside periods
function prepared.also_of(extra)
  for i, name in ipairs(extra or {}) do
    if name == "latency" then return 2 + i end
  end
end

-- A sample adds up this in place of its period with --mem-mode.
local WEIGHT <const> = "(weight ~= 0 and weight or 1)"

-- Returns what is measured of the groups: samples, periods, and what extra columns add up.
local function measures_of(query, options)
  local scope = spec_of(query).scope
  local weight = memory.has_weights(query) and WEIGHT or "1"
  local period = options.branches and "1" or options.by_weight and weight or "period"
  local measures = { { measure = "count" }, { measure = "sum", ref = scope:ref(period) } }
  for i, name in ipairs(options.extra or {}) do
    measures[2 + i] = { measure = "sum", ref = name == "latency"
      and parallelism.latency(fields.in_two_passes("parallelism", spec_of(query).file, options),
        scope) or scope:ref(columns.added(name, period)) }
  end
  return measures
end

-- Returns the instructions per cycle of functions, where perf adds them to branches; nil or
-- false: there is no such column.
local function labels_of(file, options)
  if not options.adds_ipc or options.is_explained or not file.size then return nil end
  if options.counted.ipc == nil then
    options.counted.ipc = ipc.labels(prepared.query_of(file, setmetatable({ branches = false },
      { __index = options }))) or false
  end
  return options.counted.ipc
end

---@param file perflua.File
---@param options { sort: string[]?, event: any, where: any[]?, children: boolean?, any:
--- boolean?, health: table?, quantum: integer?, branches: boolean?, graph: table?,
--- percentage: string?, is_explained: boolean?, padded: boolean?, extra: string[]?, group: any,
--- parallelism: integer[][]?, is_raw: boolean? }
--- percentage: "relative" or, of a stream, nil: shares are of the samples that meet the
--- conditions; is_explained: nothing is read, for report.reading(); padded: see thread_key;
--- children: nil does as perf, which adds up callers where there are call chains; any: fields
--- may be absent from all samples; health: of core.health(); quantum: of `time`, in ns;
--- branches: count the branches of branch stacks, nil: where all events have them; graph: of
--- report/graph.lua, the calls that are shown of each row, but of branches; is_named: samples
--- without a function are none; extra: measures of report/columns.lua; group: of
--- report/groups.lua;
--- is_stitched: call stacks are completed by earlier ones (core.set_chain_options);
--- branch_history: branches are in the call chains; shown: the columns, if they were named;
--- has_roots: functions were set that call chains begin with (core.set_chain_options);
--- without_inlined: chains have no inlined functions;
--- switched: see switch_windows(), events between which samples count;
--- parallelism: numbers of threads, of which one runs when a sample that counts was taken;
--- adds_ipc: rows of branches show the instructions per cycle of their functions, where cycles
--- were recorded;
--- is_raw: `trace` has the names and values of fields;
--- max_stack: frames of a call chain that count; by_weight: shares are of weights
---@return table # for report.read; raises what is wrong with the options
function prepared.of(file, options)
  options.counted = options.counted or {} -- a report is prepared several times
  if options.branches == nil and has_branches(file, options) then
    options = setmetatable({ branches = true }, { __index = options })
  end
  local query = prepared.query_of(file, options)
  if options.by_weight and not options.any and not has_type(query, DATA_SRC) then
    usage_error("--mem-mode: no event has data sources; perf mem record records them")
  end
  local history = options.branch_history
  if history and not options.any and not has_type(query, BRANCH_STACK) then
    usage_error("--branch-history: no event has branch stacks; perf record -b records them")
  end
  local sort = options.sort or options.branches and fields.BRANCHES or columns.DEFAULT
  if #sort == 0 then sort = { "event" } end -- one row of each event
  local list, place = fields.of(query, sort, options)
  local labels = options.branches and labels_of(file, options) or nil
  if labels then list[#list + 1] = setmetatable({}, { __index = fields.IPC }) end
  local children = options.children
  if options.branches then
    if children then usage_error("--children and --branch-stack exclude each other") end
    children = false
  end
  -- frames that are told apart by their addresses have source lines
  place.frame_srcline = history and place.srcline
  local hindered = fields.not_of_callers(list, place.frame_srcline)
  if hindered and options.has_roots then
    usage_error("--ignore-callees works for dso and symbol only, not for %s", hindered)
  end
  if children == nil then
    children = not hindered and prepared.has_chains(query)
  elseif children and hindered then
    usage_error("--children works for dso and symbol only, not for %s: use --no-children",
      hindered)
  end
  if options.graph and not (options.any or history or prepared.has_chains(query)) then
    usage_error("--call-graph: no event has call chains; perf record -g records them")
  end
  local members, slots = groups.of(query, options.group)
  local is_of_frames = (place.dso or place.symbol or place.frame_srcline) and true or false
  local has_roots = options.has_roots or history -- rows are made of the frames of chains
  return {
    query = query, fields = list, place = place, branches = options.branches,
    labels = labels,
    members = members, slots = slots,
    -- the core cuts chains with branches when it makes them
    max_frames = not (options.graph and options.graph.branches) and options.max_stack or nil,
    children = is_of_frames and (children or has_roots) or false,
    is_own = is_of_frames and has_roots and not children,
    sums_branches = history and columns.of_branches(table.concat(options.shown or {}, ","))
      ~= nil,
    shows_branches = history and spec_of(query).file.features.branch_stack ~= nil,
    same = children and not is_of_frames,
    graph = not options.branches and options.graph or nil,
    extra = options.extra or {},
    chain = chain_of(query, options),
    measures = measures_of(query, options), also = prepared.also_of(options.extra),
    whole = whole_of(file, options),
  }
end

return prepared
