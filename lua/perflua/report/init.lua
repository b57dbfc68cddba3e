-- Counterpart of perf report: samples added up by command, binary, function or any field.
--
-- report.prepare(file, options) checks the options and describes a report;
-- report.read(prepared) reads the file and returns
--
--   events    { event, index, distinction, samples, period, whole, unresolved, first, n } for
--             each event with samples. distinction: of recording/distinctions.lua, nil if no
--             other has that name. Its n rows of the view begin with number `first`.
--             unresolved: samples without a function, nil if functions were not looked up.
--             whole: { samples, period } of the event without conditions, which shares are of;
--             nil: they are of `period`. members: events that are shown together, each with
--             these fields; those of the whole are sums
--   names     the names of these events
--   view      the rows, as core.result_view() makes them
--   keys      { name, kind } of a row's keys: the fields and, with `symbol`, the cpumode;
--             `time` is in whole quanta, as perf has it
--   places    the place of each column of the view by its name: those of the keys by their
--             numbers, the others are children_percent and children (the period of the samples
--             that have the row in their call chain), with children only, percent, samples,
--             period and the extra measures
--   fields    the fields that were asked for, the first of the keys
--   symbols   true if the last key is the cpumode of the symbol
--   children  whether a row has a share of the samples with it in their call chain
--   slots     number of events that are shown together, at most
--   has_callers  whether rows are of callers, too
--   branches  true if the rows are of branches; `samples` and `period` count these
--   is_parallel  whether latencies differ from periods, if they were asked for
--   trees     with `graph` the trees of calls of the rows, for core.report_lines()
--   aside     the number of samples that were set aside (group/aside.lua)

local aside = require "perflua.group.aside"
local columns = require "perflua.report.columns"
local core = require "perflua.core"
local distinctions = require "perflua.recording.distinctions"
local engine = require "perflua.plan.engine"
local merge = require "perflua.table.merge"
local prepared_report = require "perflua.report.prepared"
local report_keys = require "perflua.report.keys"
local groups = require "perflua.report.groups"
local rows = require "perflua.report.rows"
local spec_of = core.query_spec

local report = {}

report.prepare, report.has_chains = prepared_report.of, prepared_report.has_chains

local function query_keys(prepared, fields)
  local query = prepared.query
  local scope = spec_of(query).scope
  local keys = { { ref = scope:ref "event" } }
  for i, field in ipairs(fields) do
    keys[i + 1] = { at = field.at, other = field.other and scope:ref(field.other),
      ref = field.ref or field.chain and scope:stack(field.name, field.chain)
        or scope:ref(field.of or field.name) }
  end
  return keys, prepared.measures
end

-- Describes the groups to the core, key by key.
local function describe_report(prepared, n_keys)
  local place, list, children = prepared.place, {}, prepared.children
  -- the event is the first key; without callers the cpumode is the second
  local key = not children and place.symbol and 2 or 1
  for i = 1, n_keys - (place.symbol and 1 or 0) do
    local from = i == place.dso and "dso" or i == place.symbol and "symbol"
      or i == place.frame_srcline and "srcline" or "key"
    local is_key = from == "key" or not children
    if is_key then key = key + 1 end
    list[i] = { from = from, key = is_key and key or nil }
  end
  if place.symbol then
    list[#list + 1] = { from = "cpumode", key = not children and 2 or nil }
  end
  local trees = prepared.graph and (prepared.graph.order
    or (children and not prepared.is_own or prepared.same) and "caller" or "callee")
  return {
    keys = list, event = 1, callers = children, also = prepared.also, trees = trees,
    members = prepared.members,
    least = trees and prepared.graph.form ~= "fractal" and not prepared.sums_branches
      and prepared.graph.least / 100 or 0,
    tree_key = trees and prepared.graph.key, sums_branches = prepared.sums_branches,
    shows_branches = prepared.shows_branches, is_own = prepared.is_own,
    max_frames = prepared.max_frames,
    from_callee = (trees or children and "caller") ~= "caller",
  }
end

-- Returns the keys and measures of the groups: those of a Table.
local function table_of(prepared, keys)
  local data = { keys = {}, measures = { { measure = "count" } } }
  for i, key in ipairs(keys) do
    local is_symbol = i == prepared.place.symbol
    -- an event is its name here: sections are what shares are of
    data.keys[i] = { name = key.name, kind = is_symbol and "symbol"
      or key.kind == "event" and "string" or key.kind }
  end
  local slots, n_own = prepared.slots, 2 + #prepared.extra
  local n_totals = prepared.children and (prepared.also and 2 or 1) or 0
  local n_sums = prepared.sums_branches and #columns.BRANCH_SUMS or 0
  for m = 2, slots * (n_own + n_totals) + n_sums do
    local is_count = m <= slots * n_own and m % n_own == 1
    data.measures[m] = is_count and { measure = "count" }
      or { measure = "sum", kind = "unsigned" }
  end
  return data
end

---@param prepared table
---@return {query: perflua.Query, keys: table[], columns: table[]} # what is read, for explain()
function report.reading(prepared)
  local keys, measures = query_keys(prepared, report_keys.of(prepared))
  return { query = prepared.query, keys = keys, columns = measures }
end

-- Describes a report to the core.
local function describe(prepared, data)
  local spec = spec_of(prepared.query)
  local wanted, measured = query_keys(prepared, report_keys.of(prepared))
  local description = engine.grouping(spec, wanted, measured)
  description.later_names = true -- perf report gives them, perf script does not
  description.report = describe_report(prepared, #data.keys)
  description.shape = merge.shape(data)
  return description
end

-- Returns the result of the core, and its description with the sections.
local function read_groups(prepared, data, description)
  description = description or describe(prepared, data)
  local result = engine.groups(spec_of(prepared.query), description)
  return result or core.result(description.shape), description
end

-- Names the events, which in a stream may have come among the samples.
local function name_sections(list, file)
  local known, names = {}, {}
  for i, section in ipairs(list) do
    for _, member in ipairs(section.members or { section }) do
      local event = member.index and file.events[member.index]
      known[#known + 1] = event
      member.event = event and event.name or "unknown event"
    end
    if section.members then section.event = groups.name(section.members, file) end
    names[i] = section.event
  end
  local found = distinctions.of(file, known)
  for _, section in ipairs(list) do section.distinction = found[section.index] end
  return names
end

---@param prepared table
---@return table? # the report of the samples without conditions, which shares are of; nil: they
--- are of those that meet them
function report.whole(prepared)
  return prepared.whole and report.prepare(spec_of(prepared.query).file, prepared.whole)
end

local NO_SAMPLES <const> = { samples = 0, period = 0, also = 0 }

-- Sets `whole` of sections. Returns the report that it is of; nil: none.
local function read_wholes(prepared, sections)
  local by_index, whole = {}, report.whole(prepared)
  if not whole then return nil end
  local _, description = read_groups(whole, table_of(whole, whole.fields))
  for _, section in ipairs(description.sections or {}) do
    by_index[section.index or 0] = section
  end
  for _, section in ipairs(sections) do
    for _, member in ipairs(section.members or { section }) do
      member.whole = by_index[member.index or 0] or section.members and NO_SAMPLES
    end
  end
  return whole
end

local FEW <const> = 99 -- percent of samples beside which no thread ran: perf takes it for all

-- Returns whether threads ran beside one another, in more than a few samples.
local function is_parallel(prepared)
  local latency = prepared.also and prepared.measures[prepared.also].ref
  return latency and latency.n_alone * 100 // math.max(latency.n, 1) < FEW
end

local ALL = { limit = 0 }

-- Sets the rows of a report.
local function set_rows(made, shown)
  made.view, made.places = rows.view(made.result, made, made.events, shown)
  made.hidden = #made.result - #made.view
  return made
end

-- Returns what report.read() does, of a result.
local function show_result(prepared, shown, data, result, description)
  local sections = description.sections or {}
  local names = name_sections(sections, spec_of(prepared.query).file)
  local whole = read_wholes(prepared, sections)
  for _, section in ipairs(sections) do
    if section.members then groups.add_up(section) end
  end
  local has_callers = prepared.children and not prepared.is_own
  return set_rows({
    result = result, events = sections, names = names, keys = data.shown,
    table_keys = data.keys, extra = prepared.extra, also = prepared.also,
    children = has_callers or prepared.same, slots = prepared.slots,
    has_callers = has_callers, has_totals = prepared.children,
    sums_branches = prepared.sums_branches, is_own = prepared.is_own,
    branches = prepared.branches, labels = prepared.labels,
    symbols = prepared.place.symbol ~= nil, aside = spec_of(prepared.query).aside.n,
    graph = description.trees and prepared.graph, trees = description.trees,
    is_parallel = is_parallel(whole or prepared),
    fields = prepared.fields, begins_with_symbol = prepared.fields[1].name == "symbol",
  }, shown)
end

---Returns other rows of a report that was read.
---@param made table of report.read
---@param shown table as report.read takes it
---@return table
function report.again(made, shown)
  local again = setmetatable({ events = {} }, { __index = made })
  for i, section in ipairs(made.events) do
    again.events[i] = setmetatable({}, { __index = section })
  end
  return set_rows(again, shown)
end

-- Returns the keys and measures of a report, and with `shown` the keys of its rows.
local function data_of(prepared)
  local keys = report_keys.shown(prepared)
  local data = table_of(prepared, keys)
  data.shown = keys
  return data
end

---@param prepared table
---@param shown { limit: number, count: integer?, by_name: boolean?, order: string[]?, text:
--- string? }? rows of that share at least, in percent, and so many at most, default: all;
--- columns in the order of their names; what rows are sorted by, default: their shares
--- (report/columns.lua); rows with that text in one of their names
---@return table
function report.read(prepared, shown)
  local data = data_of(prepared)
  aside.from(prepared.query)
  return show_result(prepared, shown or ALL, data, read_groups(prepared, data))
end

---Does what report.read() does, but lets a function look at the report while it grows.
---@param prepared table
---@param shown table
---@param watched { walk: userdata, limit: integer, every: integer, look: fun(take:
--- (fun(has_trees: boolean, decays: boolean, shown: table): table?), state: string, now:
--- integer): boolean } see src/binding/query/watch.c; look: take() returns the report so far;
--- true ends the reading
---@return table
function report.watch(prepared, shown, watched)
  local data = data_of(prepared)
  aside.from(prepared.query)
  local description = describe(prepared, data)
  local function take(has_trees, decays, shown_now)
    description.trees, description.sections = nil, nil
    local result = description.snapshot(has_trees, decays)
    return result and show_result(prepared, shown_now, data, result, description)
  end
  description.walk, description.limit = watched.walk, watched.limit
  description.watch_ns = watched.every
  function description.watch(...) return watched.look(take, ...) end
  return show_result(prepared, shown, data, read_groups(prepared, data, description))
end

return report
