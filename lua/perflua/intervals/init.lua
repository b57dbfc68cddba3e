-- Intervals: spans of time from a record that opens one to the record that closes it. The
-- records inside of them are in within.lua.

local errors = require "perflua.errors"
local between = require "perflua.recording.between"
local description = require "perflua.table.description"
local units = require "perflua.text.units"
local fields = require "perflua.fields"
local keys = require "perflua.intervals.keys"
local query = require "perflua.query"
local reader = require "perflua.intervals.reader"
local scope = require "perflua.intervals.scope"
local sides = require "perflua.intervals.sides"
local spec_of = require("perflua.core").query_spec
local suggest = require "perflua.errors.suggest"

local intervals = {}

local LOST, LOST_SAMPLES = 2, 13 -- PERF_RECORD_…

local usage_error = errors.usage_error

-- The ways to treat spans that are open when records are lost.
local of_lost = { drop = true, keep = true }

-- Raises if a kind of closing records asks for cpus that records do not have.
local function check_cpus(close, cpu)
  for _, part in ipairs(close.parts) do
    if part.next_on_cpu and not cpu then
      usage_error "pair: close: next_on_cpu: these records do not have a cpu"
    end
  end
end

local function check_options(options)
  if type(options) ~= "table" then
    usage_error("pair: a table { open, close, key } expected, got a %s", type(options))
  end
  errors.check_options(options, "PairOptions", "pair: unknown option '%s'")
  for _, name in ipairs { "open", "close" } do
    if options[name] == nil then
      usage_error("pair: '%s' is missing: the records that %s a span", name, name)
    end
  end
  if options.lost ~= nil and not of_lost[options.lost] then
    usage_error("pair: lost: \"drop\" or \"keep\" expected, got %s",
      suggest.kind(options.lost))
  end
end

-- Describes what a pass over all sides reads: the query's records, and those that tell of lost
-- ones.
local function reading_of(spec, all)
  local ids, set = nil, nil
  if spec.types then
    ids = { [LOST] = true, [LOST_SAMPLES] = true }
    for id in pairs(spec.types) do ids[id] = true end
  end
  local known = true
  for _, side in pairs(all) do known = known and side.events ~= nil end
  if known then
    set = {}
    for _, side in pairs(all) do
      for index in pairs(side.events) do set[index] = true end
    end
  end
  local reading = {
    file = spec.file, types = ids, event_nil = true, container = spec.container, order = "time",
    from = spec.from,
    to = spec.to, expand = spec.expand,
  }
  return reading, set
end

-- The fields that spans are to have instead of records: of both sides, or of the one that is
-- named.
local function fields_of(names, spans)
  if type(names) ~= "table" then
    usage_error("pair: fields: a list of names expected, got a %s", type(names))
  end
  local lists = { open = {}, close = {} }
  for _, name in ipairs(names) do
    local own = type(name) == "string" and name:match("^(%a+)%.")
    if own == "open" or own == "close" then
      table.insert(lists[own], spans:ref(name))
    else
      if type(name) ~= "string" then
        usage_error("pair: fields: a field's name expected, got a %s", type(name))
      end
      for side, list in pairs(lists) do
        local ok, ref = pcall(spans.ref, spans, side .. "." .. name)
        if ok then list[#list + 1] = ref end
      end
      if #lists.open + #lists.close == 0 then spans:ref(name) end
    end
  end
  return lists
end

-- Tells whether records of lost ones may open or close a span.
local function pairs_lost(spec)
  return not spec.types or spec.types[LOST] or spec.types[LOST_SAMPLES] or false
end

-- Where spans are cut: { slice, from, to } in ns; nil: nowhere.
local function cuts_of(file, options)
  local slice, window = options.slice, options.window
  if slice == nil and window == nil then return nil end
  local ns = type(slice) == "string" and units.nanoseconds(slice) or math.tointeger(slice)
  if slice ~= nil and (not ns or ns < 1) then
    usage_error("pair: slice: a duration expected, \"10ms\" or nanoseconds, got %s",
      tostring(slice))
  elseif window == nil then
    return { slice = ns }
  elseif type(window) ~= "table" or window[1] == nil and window[2] == nil
    or type(window[1]) == "table" then
    usage_error("pair: window: { from, to } expected, as for between()")
  end
  local hull = between.windows(file, window[1], window[2], { time = "time", source = "source" })
  if hull.condition then
    usage_error("pair: window: these recordings have different clocks; pair each alone")
  end
  return { slice = ns, from = hull.from, to = hull.to }
end

---@param on perflua.Query
---@param options { open: any, close: any, key: any, fields: string[]? }
---@return perflua.Query # of spans; its counts are set by each pass
function intervals.pair(on, options)
  if not query.is(on) then usage_error("pair: a Query expected, got a %s", type(on)) end
  local spec = spec_of(on)
  sides.check_query(spec, "pair")
  check_options(options)
  local all_sides, names, entered = sides.of(spec, options)
  local open = all_sides.open
  local cuts = cuts_of(spec.file, options)
  local stores_key, key_kinds = keys.set(all_sides, options.key, options.unfinished or cuts)
  local reading, set = reading_of(spec, all_sides)
  local all = fields.scope(spec.file, reading.types, set, spec.container)
  reading.scope = all
  local pairing = {
    on = spec, file = spec.file, events = set, open = open, close = all_sides.close,
    change = all_sides.change, states = names, entered = entered, cuts = cuts,
    reading = reading,
    scope = all, counts = {},
    -- of several recordings in one a span is of one of them
    several = type(spec.file.path) == "table" and #spec.file.path > 1,
    source = all:ref "source", time = all:ref "time",
    pairs_lost = pairs_lost(spec), unfinished = options.unfinished, stores_key = stores_key,
    key_kinds = key_kinds, keeps_lost = options.lost == "keep",
    cpu = (all:resolve({ "cpu" }, "cpu")),
  }
  check_cpus(all_sides.close, pairing.cpu)
  local spans = scope.of(pairing)
  if options.fields ~= nil then pairing.fields = fields_of(options.fields, spans) end
  local by = #open.keys > 0 and "by " .. keys.text(open.keys) or "one at a time"
  local reads = ("spans from %s to %s %s, of %s"):format(open.text, all_sides.close.text, by,
    description.records(spec))
  return query.new {
    file = spec.file, scope = spans, filters = {}, split = false, counts = pairing.counts,
    paired = set, asked = spec.asked,
    reader = reader(pairing, reads),
  }
end

local within = require "perflua.intervals.within"
intervals.within, intervals.beside = within.within, within.beside

local covers = require "perflua.intervals.covers"
intervals.union, intervals.intersection = covers.union, covers.intersection

return intervals
