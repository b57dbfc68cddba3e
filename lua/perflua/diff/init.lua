-- Comparisons of two recordings, or of several runs on each side.

local folded = require "perflua.flame.folded"
local core = require "perflua.core"
local crowding = require "perflua.diff.crowding"
local errors = require "perflua.errors"
local join = require "perflua.diff.join"
local names = require "perflua.diff.names"
local notes = require "perflua.diff.notes"
local side = require "perflua.diff.side"
local Table = require "perflua.table"
local usage_error = errors.usage_error

local diff = {}

local CONFIDENCE <const> = 0.95

local function check_options(options)
  if options == nil then return {} end
  if type(options) ~= "table" then
    usage_error("diff: a table of options expected, got a %s", type(options))
  end
  errors.check_options(options, "DiffOptions", "diff: unknown option '%s'")
  local confidence = options.confidence
  if confidence ~= nil and not (math.type(confidence) and confidence >= 0.5
    and confidence < 1) then
    usage_error("diff: confidence: a number from 0.5 to below 1 expected, got %s",
      tostring(confidence))
  end
  if options.match ~= nil and type(options.match) ~= "table" then
    usage_error("diff: match: a table { FROM = TO } expected, got a %s", type(options.match))
  end
  for from, to in pairs(options.match or {}) do
    if type(from) ~= "string" or type(to) ~= "string" then
      usage_error("diff: match: names expected, got a %s for '%s'", type(to), tostring(from))
    end
  end
  return options
end

-- Returns how intervals are made; or why there are none.
local function method_of(before, after)
  local is_quantile = before.basis.quantile ~= nil
  if #before.runs >= join.RUNS or #after.runs >= join.RUNS then return "runs" end
  if is_quantile then return "order" end
  local a, b = before.n_slices, after.n_slices
  if not a or not b then return "tables" end
  return math.min(a, b) >= join.SLICES and "slices" or "slices_few"
end

local function check_common_events(before, after)
  local first
  for event in pairs(before.events) do
    if after.events[event] then return end
    if not first or event < first then first = event end
  end
  local theirs = {}
  for event in pairs(after.events) do theirs[#theirs + 1] = event or "all events together" end
  table.sort(theirs)
  usage_error("diff: no common event: %s before, %s after", first or "all events together",
    table.concat(theirs, ", "))
end

local function check_seconds(checked)
  for _, run in ipairs(checked.runs) do
    if checked.basis.per == "second" and not run.seconds then
      usage_error("diff: per = \"second\" needs recordings whose records have times; %s %s",
        checked.what, run.spec and "has none" or "is a Table")
    elseif checked.basis.per == "second" and run.has_gaps then
      usage_error("diff: per = \"second\" goes with one window of time, but %s has several",
        checked.what)
    end
  end
end

-- Returns the events of the result: names in the order in which the recordings have them, and
-- their sections by the number that events have in the comparison.
local function events_of(joined)
  local data, shown, place = joined.before.runs[1].data, {}, {}
  if not data.events then return nil, {} end
  local function is_shown(name)
    return not place[name] and joined.before.events[name] and joined.after.events[name]
  end
  local function show(name)
    shown[#shown + 1] = name
    place[name] = #shown
  end
  for _, name in ipairs(names.events(data)) do
    if is_shown(name) then show(name) end
  end
  local others, sections = {}, {}
  for _, name in ipairs(joined.names) do
    if is_shown(name) then others[#others + 1] = name end
  end
  table.sort(others)
  for _, name in ipairs(others) do show(name) end
  for i, name in ipairs(joined.names) do sections[i] = place[name] or 0 end
  return shown, sections
end

-- The description of a Table that compares, without its rows.
local function describe(run, remarks, kind, delta_kind, bound_kind)
  local data = { description = { reads = "a comparison" }, keys = {}, comparison = remarks,
    measures = {
      { name = "before", measure = "compared", kind = kind },
      { name = "after", measure = "compared", kind = kind },
      { name = "delta", measure = "delta", kind = delta_kind },
      { name = "low", measure = "compared", kind = bound_kind },
      { name = "high", measure = "compared", kind = bound_kind },
      { name = "verdict", measure = "compared", kind = "string", words = 7 },
      { name = "words", measure = "compared", kind = "string", hidden = true },
    } }
  for i, key in ipairs(run.keys) do
    data.keys[i] = { name = key.name, kind = key.kind, text = key.text }
  end
  return data
end

-- The Table of a comparison that was judged.
local function table_of(joined, remarks)
  local data = describe(joined.before.runs[1], remarks, core.comparison_kinds(joined.core))
  local events, sections = events_of(joined)
  data.events, data.result = events, core.comparison_result(joined.core, sections)
  return Table.new(data)
end

local function say_empty() return { above = {}, below = { "no records" } } end

-- The Table of sides without records.
local function empty_table(before)
  local data = describe(before.runs[1], say_empty(), "float", "float", "float")
  data.events = before.runs[1].data.events and {}
  return Table.of(data, {})
end

-- Reads both sides, and checks that they can be compared. Returns nil and the first side if
-- both are empty.
local function read_sides(before, after, options)
  local first, second = side.list(before, "before"), side.list(after, "after")
  local clocks = crowding.read_clocks(first, second) -- finds the names, too
  local reads = { basis = side.basis(first[1], options.per),
    match = options.match or {}, matched = {}, clocks = clocks,
    symbol = side.symbol_of_addresses(first, second) }
  reads.sliced = #first < join.RUNS and #second < join.RUNS
  local a = side.read(first, "before", reads)
  reads.like = a
  local b = side.read(second, "after", reads)
  if side.are_empty(a, b) then return nil, a end
  local joined = join.sides(a, b, side.binaries(a, b))
  check_common_events(a, b)
  check_seconds(a)
  check_seconds(b)
  return joined, a
end

-- Sets intervals and verdicts; `family` is the key whose names a side may lack. Returns the
-- lines around the rows.
local function judge(joined, options, family, only)
  local a, b = joined.before, joined.after
  local confidence, method = options.confidence or CONFIDENCE, method_of(a, b)
  local is_known = method ~= "tables" and method ~= "slices_few"
  local tested, load = join.judge(joined, { method = is_known and method or "none",
    confidence = confidence, family = family, only = only })
  return { above = notes.above(a, b), below = notes.below(method, a, b, confidence, tested,
    load) }
end

-- Returns the key whose names a side may lack: functions, or stacks.
local function find_family(checked)
  for i, key in ipairs(checked.runs[1].keys) do
    if key.text == "stack" then return i end
  end
  return checked.symbol
end

---Compares two recordings, or several runs of each side.
---@param before perflua.Query|perflua.Table|(perflua.Query|perflua.Table)[]
---@param after perflua.Query|perflua.Table|(perflua.Query|perflua.Table)[]
---@param options { per: string?, match: table<string, string>?, confidence: number? }?
---@param only boolean? the value of the first key of rows that get verdicts; default: all
---@return perflua.Table
---@return fun(): table[] rows of the Table, in any order: see join.lua
function diff.compare(before, after, options, only)
  options = check_options(options)
  local joined, first = read_sides(before, after, options)
  if not joined then return empty_table(first), function() return {} end end
  local remarks = judge(joined, options, find_family(first), only)
  remarks.below[#remarks.below + 1] = notes.advice(joined)
  table.move(join.hints(joined), 1, 3, #remarks.below + 1, remarks.below)
  return table_of(joined, remarks), function() return join.rows(joined) end
end

-- Returns the folded stack of a row: the texts of its `n` keys, of which the last is a folded
-- stack, without what separates frames. A key that is nil is not known.
local function path_of(keys, n)
  local parts = {}
  for i = 1, n - 1 do
    parts[i] = keys[i] == nil and "[unknown]" or folded.clean_name(tostring(keys[i]))
  end
  parts[n] = keys[n] ~= nil and folded.clean(keys[n]) or nil
  return table.concat(parts, ";")
end

-- Returns the events that both sides have rows of, as keys; false: all events together.
local function common_events(joined)
  local events = {}
  for i, facts in ipairs(core.comparison_events(joined.core)) do
    if facts.before and facts.after then events[joined.names[i]] = i - 1 end
  end
  return events
end

---Compares call stacks, and all that begins like several of them.
---@param before perflua.Query[] grouped by fields whose texts make a folded stack
---@param after perflua.Query[]
---@param options { per: string?, match: table<string, string>? }
---@param choose fun(events: table): string|false the event that is drawn, of keys of `events`
---@param drawing { min_share: number, max_depth: integer } see core.folded_tree
---@return perflua.flame.Tree? # of both sides together; nil: there are no stacks
---@return (fun(least: number): table<string, table>)? nodes makes rows by node, of those of the
--- event that are at least so much on both sides together
---@return { above: string[], below: string[] } said
function diff.stacks(before, after, options, choose, drawing)
  options = check_options(options)
  local joined = read_sides(before, after, options)
  if not joined then return nil, nil, say_empty() end
  join.judge(joined, { method = "none", confidence = CONFIDENCE })
  local events = common_events(joined)
  local event = choose(events)
  local drawn = core.comparison_stacks(joined.core, path_of, events[event] or 0, drawing)
  local remarks = judge(joined, options, 1)
  return drawn, function(least)
    local by_node = {}
    for _, row in ipairs(join.rows(joined, nil, nil, least)) do
      if row.event == event then by_node[row.keys[1]] = row end
    end
    return by_node
  end, remarks
end

diff.event_name = names.event

return diff
