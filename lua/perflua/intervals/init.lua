-- Intervals: spans of time from a record that opens one to the record that closes it, and the
-- records inside of them.

local errors = require "perflua.errors"
local check_open = require("perflua.recording").check_open
local conditions = require "perflua.intervals.conditions"
local description = require "perflua.table.description"
local events = require "perflua.recording.events"
local fields = require "perflua.fields"
local keys = require "perflua.intervals.keys"
local query = require "perflua.query"
local reader = require "perflua.intervals.reader"
local scope = require "perflua.intervals.scope"
local sides = require "perflua.intervals.sides"
local spec_of = require("perflua.core").query_spec

local intervals = {}

local LOST, LOST_SAMPLES = 2, 13 -- PERF_RECORD_…

local usage_error = errors.usage_error

local function check_query(spec, name)
  if spec.keys then
    usage_error("%s comes before group_by", name)
  elseif spec.refs then
    usage_error("%s comes before select", name)
  elseif spec.reader or spec.unnest then
    usage_error("%s: a query over records expected, got one over %s", name,
      spec.reader and "spans" or "their items")
  elseif spec.order == "file" then
    usage_error("%s needs records in time order; this query reads them in file order", name)
  end
  check_open(spec.file)
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
end

-- Describes what a pass over both sides reads: the query's records, and those that tell of lost
-- ones.
local function reading_of(spec, a, b)
  local ids, set = nil, nil
  if spec.types then
    ids = { [LOST] = true, [LOST_SAMPLES] = true }
    for id in pairs(spec.types) do ids[id] = true end
  end
  if a.events and b.events then
    set = {}
    for index in pairs(a.events) do set[index] = true end
    for index in pairs(b.events) do set[index] = true end
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

-- Several recordings in one: a span is of one of them.
local function is_several(file) return type(file.path) == "table" and #file.path > 1 end

local function text_of(refs)
  local texts = {}
  for i, ref in ipairs(refs) do texts[i] = ref.text end
  return table.concat(texts, ", ")
end

-- Tells whether records of lost ones may open or close a span.
local function pairs_lost(spec)
  return not spec.types or spec.types[LOST] or spec.types[LOST_SAMPLES] or false
end

---@param on perflua.Query
---@param options { open: any, close: any, key: any, fields: string[]? }
---@return perflua.Query # of spans; its counts are set by each pass
function intervals.pair(on, options)
  if not query.is(on) then usage_error("pair: a Query expected, got a %s", type(on)) end
  local spec = spec_of(on)
  check_query(spec, "pair")
  check_options(options)
  local open, close = sides.of(spec, "open", options.open),
    sides.of(spec, "close", options.close)
  open.keys, close.keys = keys.of(open, close, options.key)
  local reading, set = reading_of(spec, open, close)
  local all = fields.scope(spec.file, reading.types, set, spec.container)
  reading.scope = all
  for _, side in ipairs { open, close } do
    -- of records whose types are the side's, all that are read and do not tell of lost ones,
    -- that need not be asked
    local are_all = side.types == spec.types and not pairs_lost(spec)
    side.quick = are_all and side.untyped
  end
  local pairing = {
    on = spec, file = spec.file, events = set, open = open, close = close, reading = reading,
    scope = all, counts = {},
    several = is_several(spec.file), source = all:ref "source", time = all:ref "time",
    pairs_lost = pairs_lost(spec),
  }
  if options.unfinished then pairing.unfinished, pairing.stores_key = true, true end
  local spans = scope.of(pairing)
  if options.fields ~= nil then pairing.fields = fields_of(options.fields, spans) end
  local by = #open.keys > 0 and "by " .. text_of(open.keys) or "one at a time"
  local said = ("spans from %s to %s %s, of %s"):format(open.text, close.text, by,
    description.records(spec))
  return query.new {
    file = spec.file, scope = spans, filters = {}, split = false, counts = pairing.counts,
    paired = set, asked = spec.asked,
    reader = reader(pairing, said),
  }
end

-- Raises unless these can be inside of spans: records, or spans themselves.
local function check_inner(spec)
  local made = spec.reader and spec.reader.made
  if not made or made.pairing or spec.unnest or spec.refs or spec.keys then
    check_query(spec, "within")
  end
  check_open(spec.file)
end

local function check_within(spec, spans, options)
  check_inner(spec)
  local pairing = query.is(spans) and spec_of(spans).reader and spec_of(spans).reader.made
  if not pairing or pairing.pairing then
    usage_error("within: spans from pair() expected, got a %s", query.is(spans)
      and "Query" or type(spans))
  elseif spec_of(spans).keys or spec_of(spans).refs or spec_of(spans).unnest then
    usage_error("within: the spans are grouped, selected or unnested already")
  elseif spec.reader and spec.reader.made.unfinished then
    usage_error("within: spans inside of others have ended: pair them without `unfinished`")
  elseif pairing.file ~= spec.file then
    usage_error("within: the spans belong to another File")
  end
  local reading = spec.reader and spec.reader.made.reading or spec
  if reading.expand ~= pairing.reading.expand and events.any_counters(spec.file) then
    usage_error(
      "within: the records and the spans need the same `expand`: samples of this recording "
        .. "carry counter values")
  end
  if type(options) ~= "table" then
    usage_error("within: a table { key, closed } expected, got a %s", type(options))
  end
  errors.check_options(options, "WithinOptions", "within: unknown option '%s'")
  return pairing
end

-- The fields of a record that tell which span it is in: those of both ends, if they are the
-- same, else its thread.
local function inner_keys(spec, pairing, wanted)
  local open, close = text_of(pairing.open.keys), text_of(pairing.close.keys)
  if wanted == nil and open ~= close and #pairing.open.keys > 1 then
    usage_error(
      "within: the spans' ends have different keys; name the record's with { key = … }")
  elseif #pairing.open.keys == 0 then
    wanted = wanted or false
  elseif wanted == nil and open == close then
    wanted = {}
    for i, ref in ipairs(pairing.open.keys) do wanted[i] = ref.text end
  elseif wanted == nil then
    wanted = "tid"
  end
  local refs = keys.refs(spec.scope, wanted, "within: key")
  keys.check(refs, pairing.open.keys, "a record", "open")
  return refs
end

-- The fields of spans inside that tell which span they are in, likewise: of their records.
local function nested_keys(spec, pairing, wanted)
  local refs = inner_keys(spec, pairing, wanted)
  for _, ref in ipairs(refs) do
    if not ref.span or ref.span.own then
      usage_error("within: key: '%s' is no field of the spans' records", ref.text)
    end
  end
  return refs
end

-- Describes what a pass over the records and the spans reads; the times of each are left to
-- their conditions.
local function joined(spec, pairing)
  local ids, event_set, reading = nil, nil, {}
  for key, value in pairs(pairing.reading) do reading[key] = value end
  if spec.types and reading.types then
    ids = {}
    for _, set in ipairs { spec.types, reading.types } do
      for id in pairs(set) do ids[id] = true end
    end
  end
  if spec.events and pairing.events then
    event_set = {}
    for _, set in ipairs { spec.events, pairing.events } do
      for index in pairs(set) do event_set[index] = true end
    end
  end
  reading.types, reading.container = ids, spec.container or reading.container
  reading.from, reading.to = nil, nil
  reading.scope = fields.scope(spec.file, ids, event_set, reading.container)
  local changed = { reading = reading, scope = reading.scope }
  for _, name in ipairs { "open", "close" } do
    local side = pairing[name]
    local filters = table.move(side.filters, 1, #side.filters, 1, {})
    filters[#filters + 1] = conditions.times(side.scope, pairing.reading)
    changed[name] = setmetatable({ filters = filters, quick = false }, { __index = side })
  end
  return setmetatable(changed, { __index = pairing })
end

-- Describes the records that a pass over spans reads, as joined() takes them.
local function records_of(pairing)
  return { file = pairing.file, types = pairing.reading.types, events = pairing.events,
    container = pairing.reading.container }
end

-- A query over spans that lie in others.
local function within_spans(spec, spans, options)
  local around, nested = check_within(spec, spans, options), spec.reader.made
  local inner = {
    on = spec, spans = spec_of(spans), keys = nested_keys(spec, around, options.key),
    closed = options.closed, pairing = joined(records_of(nested), around),
    nested = joined(records_of(around), nested),
  }
  local said = ("%s inside of %s"):format(spec.reader.reads, spec_of(spans).reader.reads)
  return query.new {
    file = spec.file, scope = scope.inner(spec.scope, spec_of(spans).scope), filters = {},
    split = false, counts = around.counts, paired = around.events, asked = spec.asked,
    reader = reader(inner, said),
  }
end

---@param on perflua.Query of records, or of spans
---@param spans perflua.Query of pair(), filtered or not
---@param options { key: string|string[]|nil, closed: boolean? }? closed: records wait for the
--- end of their span
---@return perflua.Query # of the records inside of the spans, which have the fields of these
--- as span.FIELD
function intervals.within(on, spans, options)
  if not query.is(on) then usage_error("within: a Query expected, got a %s", type(on)) end
  local spec = spec_of(on)
  options = options or {}
  if spec.reader then return within_spans(spec, spans, options) end
  local pairing = joined(spec, check_within(spec, spans, options))
  local filters = table.move(spec.filters, 1, #spec.filters, 1, {})
  if spec.types then filters[#filters + 1] = conditions.types(spec.scope, spec.types) end
  if spec.events then filters[#filters + 1] = conditions.events(spec.scope, spec.events) end
  filters[#filters + 1] = conditions.times(spec.scope, spec)
  local inner = {
    on = spec, pairing = pairing, spans = spec_of(spans),
    keys = inner_keys(spec, pairing, options.key),
    closed = options.closed, filters = filters,
  }
  local said = ("%s inside of %s"):format(description.records(spec),
    spec_of(spans).reader.reads)
  return query.new {
    file = spec.file, scope = scope.inner(spec.scope, spec_of(spans).scope), filters = {},
    split = spec.split,
    counts = pairing.counts, paired = pairing.events, asked = spec.asked,
    reader = reader(inner, said),
  }
end

return intervals
