-- Comparisons of two recordings, or of several runs on each side.

local addresses = require "perflua.diff.addresses"
local basis = require "perflua.diff.basis"
local compare = require "perflua.diff.compare"
local errors = require "perflua.errors"
local names = require "perflua.diff.names"
local noise = require "perflua.diff.noise"
local notes = require "perflua.diff.notes"
local renamed = require "perflua.diff.renamed"
local side = require "perflua.diff.side"
local Table = require "perflua.table"
local tree = require "perflua.diff.tree"
local unnamed = require "perflua.diff.unnamed"
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
  if #before.runs >= noise.RUNS or #after.runs >= noise.RUNS then return "runs" end
  if is_quantile then return "order" end
  local a, b = before.n_slices, after.n_slices
  if not a or not b then return "tables" end
  return math.min(a, b) >= noise.SLICES and "slices" or "slices_few"
end

local function check_common_events(before, after)
  local first
  for event in pairs(before.rows) do
    if after.rows[event] then return end
    if not first or event < first then first = event end
  end
  local other = {}
  for event in pairs(after.rows) do other[#other + 1] = event or "all events together" end
  table.sort(other)
  usage_error("diff: no common event: %s before, %s after", first or "all events together",
    table.concat(other, ", "))
end

local function check_seconds(one)
  for _, run in ipairs(one.runs) do
    if one.basis.per == "second" and not run.seconds then
      usage_error("diff: per = \"second\" needs recordings whose records have times; %s %s",
        one.what, run.spec and "has none" or "is a Table")
    elseif one.basis.per == "second" and run.has_gaps then
      usage_error("diff: per = \"second\" goes with one window of time, but %s has several",
        one.what)
    end
  end
end

-- The kinds of the columns before, after and delta: integers stay integers.
local function kinds_of(before, after, list)
  if before.basis.kind then return before.basis.kind, before.basis.kind end
  if #before.runs > 1 or #after.runs > 1 then return "float", "float" end
  for _, pair in ipairs(list) do
    if math.type(pair.delta) == "float" then return "float", "float" end
  end
  return before.runs[1].measure.kind == "signed" and "signed" or "unsigned", "signed"
end

local function as_kind(value, kind)
  if kind ~= "unsigned" and kind ~= "signed" and value then return value + 0.0 end
  return value
end

-- The events of the result: names in the order in which the recordings have them.
local function events_of(before, list)
  local data, used, shown, place = before.runs[1].data, {}, {}, {}
  if not data.events then return nil, { [false] = 0 } end
  for _, pair in ipairs(list) do used[pair.event] = true end
  for _, name in ipairs(names.events(data)) do
    if used[name] and not place[name] then
      shown[#shown + 1] = name
      place[name] = #shown
    end
  end
  local others = {}
  for name in pairs(used) do
    if not place[name] then others[#others + 1] = name end
  end
  table.sort(others)
  for _, name in ipairs(others) do
    shown[#shown + 1] = name
    place[name] = #shown
  end
  return shown, place
end

-- A bound of an interval; there is none where values are too few.
local function finite(bound)
  return bound and bound > -math.huge and bound < math.huge and bound or nil
end

-- The Table of the pairs.
local function table_of(before, after, list, said)
  local run = before.runs[1]
  local events, place = events_of(before, list)
  local kind, delta_kind = kinds_of(before, after, list)
  local bound_kind = kind == "percent" and "percent" or "float"
  local groups = {}
  local data = { description = { reads = "a comparison" }, keys = {},
    events = events, comparison = said, measures = {
      { name = "before", measure = "compared", kind = kind },
      { name = "after", measure = "compared", kind = kind },
      { name = "delta", measure = "delta", kind = delta_kind },
      { name = "low", measure = "compared", kind = bound_kind },
      { name = "high", measure = "compared", kind = bound_kind },
      { name = "verdict", measure = "compared", kind = "string" },
    } }
  for i, key in ipairs(run.keys) do
    data.keys[i] = { name = key.name, kind = key.kind, text = key.text }
  end
  for i, pair in ipairs(list) do
    groups[i] = { event = place[pair.event], keys = pair.keys,
      { as_kind(pair.before.value, kind) }, { as_kind(pair.after.value, kind) },
      { as_kind(pair.delta, delta_kind) }, { finite(pair.low) }, { finite(pair.high) },
      { pair.verdict } }
  end
  return Table.of(data, groups)
end

-- Reads both sides, and checks that they can be compared, unless both are empty.
local function read_sides(before, after, options)
  local first, second = side.list(before, "before"), side.list(after, "after")
  local reads = { basis = basis.of(side.measure(first[1]), options.per),
    match = options.match or {}, matched = {} }
  reads.sliced = #first < noise.RUNS and #second < noise.RUNS
  local a = side.read(first, "before", reads)
  reads.like = a
  local b = side.read(second, "after", reads)
  if side.are_empty(a, b) then return a, b end
  local naming_a, naming_b = addresses.namings(a, b)
  if naming_a then
    reads.like, reads.naming = nil, naming_a
    a = side.read(first, "before", reads)
    reads.like, reads.naming = a, naming_b
    b = side.read(second, "after", reads)
  end
  check_common_events(a, b)
  check_seconds(a)
  check_seconds(b)
  return a, b
end

-- Sets intervals and verdicts of pairs. Returns the lines around their table.
local function judge_pairs(a, b, list, options, is_judged)
  local confidence, method, tested = options.confidence or CONFIDENCE, method_of(a, b), 0
  if method ~= "tables" and method ~= "slices_few" then
    compare.test(a, b, list, method, confidence)
    tested = compare.judge(list, a.basis, confidence, is_judged)
  end
  return { above = notes.above(a, b), below = notes.below(method, a, b, confidence, tested) }
end

local function say_empty() return { above = {}, below = { "no records" } } end

---Compares two recordings, or several runs of each side.
---@param before perflua.Query|perflua.Table|(perflua.Query|perflua.Table)[]
---@param after perflua.Query|perflua.Table|(perflua.Query|perflua.Table)[]
---@param options { per: string?, match: table<string, string>?, confidence: number? }?
---@param is_judged (fun(pair: table): boolean)? rows that get verdicts; default: all
---@return perflua.Table
---@return table[] pairs see compare.lua; of the rows of the Table, in any order
function diff.compare(before, after, options, is_judged)
  options = check_options(options)
  local a, b = read_sides(before, after, options)
  if a.empty then return table_of(a, b, {}, say_empty()), {} end
  local list, place_of = compare.pairs(a, b), unnamed.by_keys(a)
  if place_of then unnamed.mark(a, b, list, place_of) end
  local said = judge_pairs(a, b, list, options, is_judged)
  said.below[#said.below + 1] = unnamed.advice(list)
  table.move(renamed.hints(list, a), 1, 3, #said.below + 1, said.below)
  return table_of(a, b, list, said), list
end

---Compares call stacks, and all that begins like several of them.
---@param before perflua.Query[] grouped by fields whose texts make a folded stack
---@param after perflua.Query[]
---@param options { per: string?, match: table<string, string>?, confidence: number? }?
---@return table[] leaves whole stacks: { event, path, before, after }
---@return table[] nodes pairs by path, in keys[1]
---@return { above: string[], below: string[] } said
function diff.stacks(before, after, options)
  options = check_options(options)
  local a, b = read_sides(before, after, options)
  if a.empty then return {}, {}, say_empty() end
  local leaves, n = {}, #a.runs[1].keys
  for i, pair in ipairs(compare.pairs(a, b)) do
    leaves[i] = { event = pair.event, path = tree.path(pair.keys, n),
      before = pair.before.value or 0, after = pair.after.value or 0 }
  end
  tree.add_up(a)
  tree.add_up(b)
  local nodes = compare.pairs(a, b)
  unnamed.mark_stacks(a, b, nodes)
  return leaves, nodes, judge_pairs(a, b, nodes, options)
end

diff.event_name = names.event

return diff
