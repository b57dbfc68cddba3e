-- Records inside of spans, and spans inside of others.

local errors = require "perflua.errors"
local check_open = require("perflua.recording").check_open
local description = require "perflua.table.description"
local events = require "perflua.recording.events"
local fields = require "perflua.fields"
local keys = require "perflua.intervals.keys"
local query = require "perflua.query"
local reader = require "perflua.intervals.reader"
local scope = require "perflua.intervals.scope"
local sides = require "perflua.intervals.sides"
local spec_of = require("perflua.core").query_spec
local usage_error = errors.usage_error

local within = {}

-- Raises unless these can be inside of spans: records, or spans themselves.
local function check_inner(spec)
  local made = spec.reader and spec.reader.made
  if not made or made.pairing or spec.unnest or spec.refs or spec.keys then
    sides.check_query(spec, "within")
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
  elseif pairing.cuts or spec.reader and spec.reader.made.cuts then
    usage_error("within: the spans are cut: pair them without `slice` and `window`")
  elseif spec.reader and spec.reader.made.unfinished then
    usage_error("within: inner spans must have ended: pair them without `unfinished`")
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
  local open, close = keys.text(pairing.open.keys), keys.text(pairing.close.keys)
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
      usage_error("within: key: '%s' is not a field of the spans' records", ref.text)
    end
  end
  return refs
end

-- Describes what a pass over the records and the spans reads; the times of each are left to
-- their conditions.
function within.joined(spec, pairing)
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
  for _, name in ipairs { "open", "close", pairing.change and "change" or nil } do
    local parts = {}
    for i, part in ipairs(pairing[name].parts) do
      local filters = table.move(part.filters, 1, #part.filters, 1, {})
      filters[#filters + 1] = sides.time_condition(part.scope, pairing.reading)
      parts[i] = setmetatable({ filters = filters }, { __index = part })
    end
    changed[name] = setmetatable({ parts = parts }, { __index = pairing[name] })
  end
  return setmetatable(changed, { __index = pairing })
end

-- Describes the records that a pass over spans reads, as within.joined() takes them.
function within.records_of(pairing)
  return { file = pairing.file, types = pairing.reading.types, events = pairing.events,
    container = pairing.reading.container }
end

-- A query over spans that lie in others.
local function within_spans(spec, spans, options)
  local around, nested = check_within(spec, spans, options), spec.reader.made
  local inner = {
    on = spec, spans = spec_of(spans), keys = nested_keys(spec, around, options.key),
    closed = options.closed, pairing = within.joined(within.records_of(nested), around),
    nested = within.joined(within.records_of(around), nested),
  }
  local reads = ("%s inside of %s"):format(spec.reader.reads, spec_of(spans).reader.reads)
  return query.new {
    file = spec.file, scope = scope.inner(spec.scope, spec_of(spans).scope), filters = {},
    split = false, counts = around.counts, paired = around.events, asked = spec.asked,
    reader = reader(inner, reads),
  }
end

-- Returns the conditions that records of a query meet, of any records of a pass.
local function filters_of(spec)
  local filters = table.move(spec.filters, 1, #spec.filters, 1, {})
  if spec.types then filters[#filters + 1] = sides.type_condition(spec.scope, spec.types) end
  if spec.events then filters[#filters + 1] = sides.event_condition(spec.scope, spec.events) end
  filters[#filters + 1] = sides.time_condition(spec.scope, spec)
  return filters
end

-- Returns a query of records with the fields of spans; `form` of what it reads, for explain().
local function joined_query(spec, spans, inner, form)
  local pairing = inner.pairing
  return query.new {
    file = spec.file, scope = scope.inner(spec.scope, spec_of(spans).scope), filters = {},
    split = spec.split,
    counts = pairing.counts, paired = pairing.events, asked = spec.asked,
    reader = reader(inner, form:format(description.records(spec),
      spec_of(spans).reader.reads)),
  }
end

---@param on perflua.Query of records, or of spans
---@param spans perflua.Query of pair(), filtered or not
---@param options { key: string|string[]|nil, closed: boolean? }? closed: records wait for the
--- end of their span
---@return perflua.Query # of the records inside of the spans, which have the fields of these
--- as span.FIELD
function within.within(on, spans, options)
  if not query.is(on) then usage_error("within: a Query expected, got a %s", type(on)) end
  local spec = spec_of(on)
  options = options or {}
  if spec.reader then return within_spans(spec, spans, options) end
  local pairing = within.joined(spec, check_within(spec, spans, options))
  local inner = {
    on = spec, pairing = pairing, spans = spec_of(spans),
    keys = inner_keys(spec, pairing, options.key),
    closed = options.closed, filters = filters_of(spec),
  }
  return joined_query(spec, spans, inner, "%s inside of %s")
end

---@param on perflua.Query of records
---@param spans perflua.Query of pair() on these records, as it is
---@return perflua.Query # of both: records, and spans as they end, with the fields of each as
--- within() names them; a record comes after the span that it ends, and has no fields of spans
function within.beside(on, spans)
  local spec = spec_of(on)
  local inner = { on = spec, spans = spec_of(spans), beside = true, filters = filters_of(spec),
    pairing = within.joined(spec, check_within(spec, spans, {})) }
  return joined_query(spec, spans, inner, "%s beside %s")
end

return within
