-- Queries over spans, and over records inside of spans, as the core runs them: values are read
-- of the records that open spans, close them or are inside (columns), the core makes rows of
-- them (src/query/rows/rows_pairs.h), and the query's filters, keys, measures and results are
-- trees over the places of a row (row_values.lua).

local engine = require "perflua.plan.engine"
local expr = require "perflua.filter.expr"
local keys_text = require("perflua.intervals.keys").text
local row_values = require "perflua.intervals.row_values"
local trees = require "perflua.plan.trees"

local rows = {}

local Rows, side_of = row_values.class, row_values.side_of
local OPEN, CLOSE, INNER = row_values.OPEN, row_values.CLOSE, row_values.INNER

-- The conditions on a row: times and filters of a query, into `kept`: those that call functions
-- are apart.
local function add_kept(self, kept, spec, time)
  local filters = engine.split_filters(spec)
  if spec.from or spec.to then
    local times = ("%s >= 0x%x and %s < 0x%x"):format(time, spec.from or 0, time, spec.to or -1)
    table.insert(filters, 1, assert(expr.compile(times, spec.scope)))
  end
  for _, entry in ipairs(engine.filter_trees(filters, self)) do
    local list = entry.why and kept.calling or kept.described
    list[#list + 1] = entry.tree
  end
end

local function kept_of(self, spec)
  local kept = { described = {}, calling = {} }
  if self.inner then
    self.of_spans = true
    add_kept(self, kept, self.inner.spans, "start")
    self.of_spans = false
  end
  if self.nested then add_kept(self.nested, kept, self.inner.on, "start") end
  add_kept(self, kept, spec, self.inner and not self.nested and "time" or "start")
  return trees.all(table.move(kept.calling, 1, #kept.calling, #kept.described + 1,
    kept.described))
end

-- Describes rows that are items of a span's record.
local function add_items(self, spec, made)
  local unnest = spec.unnest
  if not unnest then return end
  local _, filters = engine.split_filters(spec)
  made.unnest = { view = unnest.view, inline = unnest.inline }
  made.item_filter = engine.tree_of(filters, self)
  made.once = unnest.once and self:value(unnest.once, "key")
  made.index = self:value(spec.scope:ref(unnest.prefix .. ".index")).ref.row
end

-- Returns a column that tells whether a record opens a span, closes it, or is inside.
local function condition(self, filters)
  local tree = engine.tree_of(filters, self.records)
  return self:column(tree or { op = "const", kind = "boolean", value = true })
end

-- The place of a field of an inner record, or among the values of an inner span.
local function inner_place(self, ref)
  if not self.nested then return self:column_of(ref, INNER, true) end
  local of_record, side, state = self.nested:record_ref(ref)
  return self.nested:place(self.nested:column_of(of_record, state and "state " .. state or side,
    true), side, state)
end

local ROLES = { close = 1, change = 2, open = 3 } -- numbered as in the core

-- Returns the fields that are a key of a part, as columns: the recording first where there are
-- several.
local function key_places(self, refs, side)
  local places = {}
  if self.pairing.several then places[1] = self:column_of(self.pairing.source, OPEN, true) end
  for _, ref in ipairs(refs) do places[#places + 1] = self:column_of(ref, side, true) end
  if #places == 0 then places[1] = self:number(1) end
  return places
end

-- Returns the column of the conditions of a part, which apply to records of its types and
-- events only; nil: it has none. Parts with equal descriptions share it.
local function test_of(self, part)
  if not part.filters[1] then return nil end
  local known = type(part.where) == "string" and self.tests[part.text]
  local test = known or condition(self, part.filters)
  if type(part.where) == "string" then self.tests[part.text] = test end
  return test
end

-- Describes the parts of both sides. A part has fields of its own if there are several.
local function add_sides(self, pairing)
  self.sides, self.opened, self.tests = {}, {}, {}
  for _, name in ipairs { "close", "open", "change" } do
    local parts = pairing[name] and pairing[name].parts or {}
    for i, part in ipairs(parts) do
      local side = #parts == 1 and side_of[name] or ("%s %d"):format(name, i)
      self.sides[#self.sides + 1] = {
        role = ROLES[name], part = part, of = side,
        condition = condition(self, part.kinds), test = test_of(self, part),
        answers = part.answers and self:answers_column(part.answers),
      }
    end
  end
end

-- Returns whether records of losses tell of a part of the key.
local function is_lost_key(pairing, i)
  for _, side in ipairs { pairing.open, pairing.close, pairing.change } do
    for _, part in ipairs(side.parts) do
      if part.keys[i].text ~= "cpu" then return false end
    end
  end
  return true
end

-- Returns the description of the key: how records inside have it, and records of losses.
local function keys_of(self)
  local pairing, keys = self.pairing, {}
  local inner = self.inner and self.inner.keys
  if pairing.several then
    local source = self:column_of(pairing.source, OPEN, true)
    local inside = self.nested and self.nested:place(self.nested:column_of(pairing.source, OPEN,
      true), OPEN) or source
    keys[1] = { inner = inside, lost = source }
  end
  for i, ref in ipairs(pairing.open.keys) do
    local place = self:column_of(ref, OPEN, true)
    keys[#keys + 1] = {
      inner = inner and inner_place(self, inner[i]) or place,
      lost = is_lost_key(pairing, i) and place or nil,
    }
  end
  if #keys == 0 then -- one span at a time
    local number = self:number(1)
    keys[1] = { inner = self.nested and self.nested:place(number, OPEN) or number }
  end
  return keys
end

-- Spans inside spans: their values are those of PQ_OF_INNER of the rows of the spans around.
---@class perflua.NestedRows: perflua.Rows
local Nested = setmetatable({}, { __index = Rows })
Nested.__index = Nested

-- The place of a value among those that are read of a span inside.
function Nested:place(column, side, state)
  local name = ("%s of %d in %s"):format(column, side, state)
  if not self.fields[name] then
    self.row[#self.row + 1] = { column, side, state }
    self.fields[name] = #self.row
  end
  return self.fields[name]
end

function Nested:value_at(column, side, kind, state)
  return self.around:value_at(self:place(column, side, state), INNER, kind)
end

local function add_conditions(self, pairing)
  add_sides(self, pairing)
  self.time_column = self:column_of(pairing.time, OPEN, true)
end

local function nested_of(around, pairing)
  local self = setmetatable({
    pairing = pairing, around = around, at_once = false, records = trees.builder(),
    columns = around.columns, places = {}, fields = {}, row = {}, keys = pairing.close.keys,
    key_of = CLOSE,
  }, Nested)
  add_conditions(self, pairing)
  return self
end

---@param pairing table of intervals.pair
---@param inner table? of intervals.within: rows are records, or spans, inside
---@param waits boolean? they wait for the end of the span around them
---@param columns table[]? values of records that others read as well, to add to
---@return perflua.Rows
function rows.of(pairing, inner, waits, columns)
  local at_once = inner and not waits and not inner.beside or false
  local self = setmetatable({
    pairing = pairing, inner = inner, waits = waits, at_once = at_once,
    records = trees.builder(), columns = columns or {}, places = {}, fields = {}, row = {},
    keys = pairing.close.keys, key_of = CLOSE,
  }, Rows)
  if at_once and inner.nested then
    self.keys, self.key_of = pairing.open.keys, OPEN
  elseif at_once then
    self.keys, self.key_of = inner.keys, INNER
  end
  self.nested = inner and inner.nested and nested_of(self, inner.nested)
  add_conditions(self, pairing)
  self.is_inner = inner and not inner.nested and condition(self, inner.filters)
  return self
end

-- Returns a function that numbers parts: those with the same fields as keys have one number.
-- Called without a part it returns how many numbers there are.
local function numbered_keys()
  local numbers, n = {}, 0
  return function(part)
    if not part then return n end
    local text = keys_text(part.keys)
    if not numbers[text] then n, numbers[text] = n + 1, n + 1 end
    return numbers[text]
  end
end

local function describe_pairs(self)
  local keys, sides, number_of = keys_of(self), {}, numbered_keys() -- it may add values
  if not self.row[1] then self:time(OPEN, "unsigned") end -- a row is never empty
  -- a span that gets the key of another group has it before that group opens spans
  for _, part in ipairs(self.pairing.change and self.pairing.change.parts or {}) do
    if part.to_keys then number_of(part) end
  end
  for i, side in ipairs(self.sides) do
    sides[i] = { role = side.role, condition = side.condition, answers = side.answers,
      test = side.test or nil, keys = key_places(self, side.part.keys, side.of),
      to = side.part.to_keys and key_places(self, side.part.to_keys, side.of),
      group = number_of(side.part),
      state = side.part.state, from = side.part.from, leaves_open = side.part.leaves_open,
      next_on_cpu = side.part.next_on_cpu }
  end
  local cuts, states = self.pairing.cuts or {}, self.pairing.states
  return {
    sides = sides, opened = self.opened, waits = self.waits, time = self.time_column,
    inner = self.is_inner or nil, beside = self.inner and self.inner.beside,
    pairs_lost = self.pairing.pairs_lost, keys = keys,
    unfinished = self.pairing.unfinished and not self.at_once,
    n_groups = number_of(), states = states,
    slice = cuts.slice, from = cuts.from, to = cuts.to,
    keeps_lost = self.pairing.keeps_lost,
    cpu = self.pairing.cpu and self:column_of(self.pairing.cpu, OPEN, true),
    values = self.row, ended = self.ended, nested = self.nested and describe_pairs(self.nested),
  }
end

---Describes which records are read.
---@param made table what the core is told
---@param pairing table
function rows.describe_reading(made, pairing)
  local reading = pairing.reading
  made.types, made.event_nil, made.container = reading.types, true, reading.container
  made.order, made.from, made.to, made.expand = "time", reading.from, reading.to, reading.expand
  made.counts = pairing.counts
end

---Describes spans whose time is added up.
---@param pairing table
---@param spec table of the query over the spans
---@param refs table[] their key
---@param columns table[] values of records, to add to
---@return table
---@return string? calls why it calls functions that see records, if it does
function rows.covered(pairing, spec, refs, columns)
  local self = rows.of(pairing, nil, nil, columns)
  local nodes = row_values.borders(self)
  for i, ref in ipairs(refs) do nodes[2 + i] = self:value(ref) end
  if #refs == 0 then nodes[3] = { op = "const", kind = "natural", value = 1 } end
  local side = { kept = kept_of(self, spec), nodes = nodes, pairs = describe_pairs(self) }
  return side, self.records.calls
end

---@param spec table of the query over the spans, or the records inside
---@param made table what is made of rows: results, or keys and measures
---@return table # what the core is told
function Rows:description(spec, made)
  made.kept = kept_of(self, spec)
  add_items(self, spec, made)
  rows.describe_reading(made, self.pairing)
  made.pairs = describe_pairs(self)
  made.pairs.items_of = spec.unnest and side_of[spec.unnest.side]
  made.values = self.columns
  for _, measure in ipairs(made.measures or {}) do
    if measure.events then
      made.event = self:value(spec.scope:ref "event").ref.row
    end
  end
  for _, part in ipairs { self, self.nested } do
    made.calls = made.calls or part.calls or part.records.calls
  end
  return made
end

return rows
