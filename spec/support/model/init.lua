-- The oracle of queries: what a query describes, asked record by record in plain Lua that
-- shares nothing with the core but how a record's fields are read. It answers the queries that
-- it is told to:
--
--   local interpret = require("spec.support.model").interpret
--   interpret(query, true):count()

local core = require "perflua.core"
local closures = require "spec.support.model.closures"
local covers = require "spec.support.model.covers"
local engine = require "perflua.plan.engine"
local group = require "spec.support.model.groups"
local items = require "spec.support.model.items"
local plan = require "perflua.plan"
local spans = require "spec.support.model.spans"
require "spec.support.model.stacks"
local measures = require "spec.support.model.measures"
local wrong_sums = require("perflua.measures.sums").wrong
local of_record = spans.of_record

local function of_filter(filter)
  return filter.node and closures(filter.node, of_record) or filter.fn
end

-- The records that a spec, or what a pass over spans reads, names; without filters.
local function cursor_of(spec, order, reuse)
  return core.cursor(spec.file, {
    types = spec.types, events = spec.events, event_nil = spec.event_nil,
    container = spec.container, order = order,
    from = spec.from, to = spec.to, expand = spec.expand, reuse = reuse,
  })
end

-- Contexts for a query over records: the records that pass all filters of records.
local function records(spec, order)
  local cursor, tests = cursor_of(spec, order, spec.reuse), {}
  for i, filter in ipairs((engine.split_filters(spec))) do tests[i] = of_filter(filter) end
  local function passes(record)
    for i = 1, #tests do
      if not tests[i](record) then return false end
    end
    return true
  end
  return function()
    local record = cursor()
    while record ~= nil and not passes(record) do record = cursor() end
    return record
  end, of_record, cursor
end

local function itself(record) return record end

-- next_context, reader, cursor; and of spans a function that gives the span of a context.
local function opened_contexts(spec, order, refs)
  if not spec.reader then return records(spec, order) end
  local made = spec.reader.made
  if made.covers then
    local cursor = cursor_of(made.covers[1].pairing.reading, "time")
    local step, reader, object = covers(made, spec, cursor)
    return step, reader, cursor, object, false
  end
  local is_inner = made.pairing ~= nil
  local cursor = cursor_of(is_inner and made.pairing.reading or made.reading, "time")
  local step, reader, span
  if made.nested then
    step, reader, span = spans.nested(made, spec, refs, cursor)
  elseif is_inner then
    step, reader, span = spans.within(made, spec, refs, cursor)
  else
    step, reader, span = spans.pair(made, spec, cursor)
  end
  return step, reader, cursor, span, is_inner
end

local side_names = { open = "opened", close = "closed" }

-- Opens rows, which may be items, likewise; met is told of each record or span whose items are.
local function opened(spec, order, refs, met)
  local step, reader, cursor, span, is_inner = opened_contexts(spec, order, refs)
  local is, of_contexts = spec.unnest, reader
  if not is then return step, reader, cursor, span, is_inner end
  local _, filters = engine.split_filters(spec)
  local side = side_names[is.side]
  local function record_of(context) return context[side] end
  step, reader = items.rows(is, filters, step, reader, side and record_of or itself,
    met and function(context) met(context, of_contexts) end)
  return step, reader, cursor
end

local function values_of(spec, refs)
  local step, reader, cursor = opened(spec, spec.order or "time", refs)
  local reads = {}
  for i, ref in ipairs(refs) do reads[i] = reader(ref) end
  return function()
    local context = step()
    if context == nil then return nil end
    local values = {}
    for i, read in ipairs(reads) do
      local value = read(context)
      if value == nil then value = false end
      values[i] = value
    end
    return table.unpack(values, 1, #reads)
  end, cursor
end

local function objects_of(spec)
  local step, _, cursor, span, is_inner = opened(spec, spec.order or "time")
  if not span then return step, cursor end
  return function()
    local context = step()
    if context == nil then return nil end
    if is_inner and not context.around then return context.record, span(context) end
    return span(context)
  end, cursor
end

-- Returns what adds up the records, or spans, that shares of their items are of; and the sums.
local function whole_of(spec, keys, columns)
  local sums, by_event, event, shares = {}, {}, nil, {}
  for _, key in ipairs(keys) do
    local is_event = key.ref.root == "event" and #key.ref.path == 1
    event = event or is_event and key.ref
  end
  for _, column in ipairs(columns) do
    if column.measure == "share" then shares[#shares + 1] = column end
  end
  if #shares == 0 or not spec.unnest then return nil end
  local function add(context, reader)
    local of = event and reader(event)(context)
    local name = of or 0
    if not by_event[name] then
      by_event[name] = { event = of and of.name, index = of and of.index }
      for i in ipairs(shares) do by_event[name][i] = measures.start "share" end
      sums[#sums + 1] = by_event[name]
    end
    for i, column in ipairs(shares) do
      measures.steps.share(column.ref.kind, i)(by_event[name], reader(column.ref)(context))
    end
  end
  return add, sums
end

local function groups_of(spec, keys, columns)
  local order, refs = engine.order(spec, keys, columns), {}
  if order == "any" then order = spec.file.size and "file" or "time" end
  for _, key in ipairs(keys) do refs[#refs + 1] = key.ref end
  for _, column in ipairs(columns) do refs[#refs + 1] = column.ref or nil end
  for _, column in ipairs(columns) do refs[#refs + 1] = column.weight end
  local add_whole, whole = whole_of(spec, keys, columns)
  local step, reader, cursor <close> = opened(spec, order, refs, add_whole)
  local _ = cursor
  local groups = group(spec, keys, columns, step, reader)
  groups.whole = whole
  return groups
end

-- Spans of interpreted records are so, too.
local function is_interpreted(spec)
  return spec.interpreted or spec.reader and is_interpreted(spec.reader.made.on)
end

local lib = { grouping = engine.grouping, groups = engine.groups, values = plan.values,
  records = plan.records }

-- Each of the library's that is replaced is used by queries that are not interpreted.
function engine.grouping(spec, keys, columns) -- luacheck: ignore 122
  if is_interpreted(spec) then return { model = true, keys = keys, columns = columns } end
  return lib.grouping(spec, keys, columns)
end

function engine.groups(spec, description) -- luacheck: ignore 122
  if not description.model then return lib.groups(spec, description) end
  local groups = groups_of(spec, description.keys, description.columns)
  description.whole = groups.whole
  if not description.shape then return groups end
  local result, wrong = core.result_put(core.result(description.shape), groups)
  return result or error(wrong_sums[wrong], 0)
end

function plan.values(spec, refs, ...) -- luacheck: ignore 122
  if is_interpreted(spec) then return values_of(spec, refs) end
  return lib.values(spec, refs, ...)
end

function plan.records(spec) -- luacheck: ignore 122
  if is_interpreted(spec) then return objects_of(spec) end
  return lib.records(spec)
end

-- Sets whether a query, and those that are made of it, are answered by the model; returns it.
local function interpret(query, by_model)
  core.query_spec(query).interpreted = by_model
  return query
end

return { closures = closures, of_record = of_record, interpret = interpret }
