-- The values that queries over spans, and over records inside of spans, read: places in a row,
-- which the core fills from columns of the records that open spans, close them or are inside.

local spans = require "perflua.intervals.spans"
local trees = require "perflua.plan.trees"

-- A value is of one of the records of a span, of an item of one, or of the span itself;
-- numbered as in the core.
local OPEN <const>, CLOSE <const>, INNER <const>, ITEM <const>, SPAN <const> = 1, 2, 3, 4, 5
local side_of = { open = OPEN, close = CLOSE }

-- The places of values of a span itself; those of its key follow, then those of its states.
local START <const>, STOP <const>, SO_FAR <const> = 1, 2, 3
local CUT <const>, END <const>, DURATION <const>, STATE <const>, KEY <const> = 4, 5, 6, 7, 7

-- Trees whose fields are places in a row.
---@class perflua.Rows: perflua.TreeBuilder
local Rows = setmetatable({}, { __index = trees.class })
Rows.__index = Rows

local function itself(record) return record end

-- Fields that only some types have, or that are checked, are not the same on all sides.
local function side_for(ref, side)
  return ref and (ref.types or ref.checks or ref.mixed) and side or 0
end

-- Returns a tree of a Ref that is not read for its value: it tells whether the field is there,
-- or how many items it has.
local function tested(ref)
  if ref.node.op ~= "field" then return ref.node end
  return { op = "field", kind = ref.kind, ref = ref, tested = true }
end

-- Adds a column of the tree that is read of records. Returns its place.
function Rows:column(tree)
  self.columns[#self.columns + 1] = tree
  return #self.columns
end

-- Returns the place of a Ref of records, which is read as it is named.
function Rows:column_of(ref, side, as_value)
  local name = ("%s %s %s"):format(side_for(ref, side), as_value, ref.text)
  local place = self.places[name]
  if not place then
    place = self:column(as_value and self.records:value(ref)
      or self.records:node(tested(ref)))
    self.places[name] = place
  end
  return place
end

-- Returns the place of a number that all records have.
function Rows:number(n)
  self.places[n] = self.places[n] or self:column { op = "const", kind = "natural", value = n }
  return self.places[n]
end

-- Trees over a record that closes a span and the values kept of the one that opened it.
local Answers = setmetatable({}, { __index = trees.class })
Answers.__index = Answers

function Answers:node(node)
  local span = node.ref and node.ref.span
  if not node.ref then return self:mapped(node) end
  if not span then return trees.class.node(self, node) end
  local rows, state = self.rows, span.state
  local column = rows:column_of(span.ref, state and "state " .. state or OPEN, not node.tested)
  local name = ("opened %s in %s"):format(column, state)
  if not self.fields[name] then
    rows.opened[#rows.opened + 1] = { column, nil, state }
    self.fields[name] = { row = #rows.opened }
  end
  return { op = "field", kind = node.kind, ref = self.fields[name] }
end

-- Returns the place of a condition on a record of a part and on the opening one.
function Rows:answers_column(filters)
  local builder = setmetatable({ rows = self, fields = {} }, Answers)
  local conditions = {}
  for i, filter in ipairs(filters) do conditions[i] = builder:condition(filter) end
  self.records.calls = self.records.calls or builder.calls
  return self:column(trees.all(conditions))
end

-- Returns the place of the record itself.
function Rows:record_column()
  self.places.record = self.places.record
    or self:column(self.records:call(itself, "any", nil, "records are made for Lua"))
  return self.places.record
end

-- Returns a tree that reads a value of a row; `state`: of the record with which the span
-- entered it.
function Rows:value_at(column, side, kind, state)
  local name = ("%s of %d in %s"):format(column, side, state)
  if not self.fields[name] then
    self.row[#self.row + 1] = { column, side, state }
    self.fields[name] = { row = #self.row }
  end
  return { op = "field", kind = kind, ref = self.fields[name] }
end

function Rows:time(side, kind) return self:value_at(self.time_column, side, kind) end

-- Returns a tree that reads when a span, or the part that it was cut into, begins or ends.
local function border(self, place, side, kind)
  if self.pairing.cuts then return self:value_at(place, SPAN, kind) end
  return self:time(side, kind)
end

local own = {
  state = function(self) return self:value_at(STATE, SPAN, "string") end,
  start = function(self) return border(self, START, OPEN, "unsigned") end,
  stop = function(self) return border(self, STOP, CLOSE, "unsigned") end,
  duration = function(self) return self:value_at(DURATION, SPAN, "signed") end,
  so_far = function(self) return self:value_at(SO_FAR, SPAN, "signed") end,
  cut = function(self) return self:value_at(CUT, SPAN, "boolean") end,
  in_state = function(self, i)
    local pairing = self.pairing
    local n_keys = #pairing.open.keys + (pairing.several and 1 or 0)
    return self:value_at(KEY + math.max(n_keys, 1) + i, SPAN, "signed")
  end,
}

-- Returns the names of the fields that functions see beside the usual ones, and their trees.
local function more_fields(self)
  local names, values = {}, {}
  local function add(name, tree) names[#names + 1], values[#values + 1] = name, tree end
  if self.pairing.unfinished then add("so_far", own.so_far(self)) end
  if self.pairing.cuts then add("cut", own.cut(self)) end
  for i, state in ipairs(self.pairing.states or {}) do
    add("in_" .. state, own.in_state(self, i))
  end
  if self.pairing.states then add("state", own.state(self)) end
  return names, values
end

-- Returns a tree that reads a part of the key.
function Rows:key_at(i)
  local ref = self.keys[i]
  if self.pairing.stores_key then
    return self:value_at(KEY + i + (self.pairing.several and 1 or 0), SPAN,
      self.pairing.key_kinds[i])
  end
  return self:value_at(self:column_of(ref, self.key_of, true), self.key_of, ref.kind)
end

-- Returns the Ref of a record that a Ref of spans stands for, and which record that is: a side,
-- and the state that the span entered with it.
function Rows:record_ref(ref)
  local span = ref.span
  if ref.item then return ref, ITEM end
  if not span then return ref, INNER end
  if span.key then return self.keys[span.key], self.key_of end
  return span.ref, side_of[span.side], span.state
end

-- Returns the builder for a Ref: that of spans inside, if it names one of their fields.
function Rows:builder_of(ref)
  return self.nested and not self.of_spans and not ref.around and self.nested or self
end

-- Returns a tree that reads a field.
local function read_field(self, node)
  local ref, span = node.ref, node.ref.span
  local builder = self:builder_of(ref)
  if builder ~= self then return builder:node(node) end
  if span and span.own then return own[span.own](self, span.number) end
  if span and span.key and self.pairing.stores_key then return self:key_at(span.key) end
  local of_record, side, state = self:record_ref(ref)
  local column = self:column_of(of_record, state and "state " .. state or side,
    not node.tested)
  return self:value_at(column, side, node.kind, state)
end

-- Makes a column of a node that asks the record itself. Returns a tree that reads it.
function Rows:asked(node, side, state)
  return self:value_at(self:column(self.records:node(node)), side, node.kind, state)
end

local NOTHING = { op = "const", kind = "nil" }

function Rows:node(node)
  if node.op == "field" then
    return read_field(self, node)
  elseif node.op == "under" then
    local ref = node.chain or node.symbol
    if not ref then return { op = "const", kind = "boolean", value = false } end
    local builder = self:builder_of(ref)
    if builder ~= self then return builder:node(node) end
    local _, side, state = self:record_ref(ref)
    return self:asked(node, side, state)
  elseif node.op == "count" and node.left.op == "field" then
    local ref = node.left.ref
    local builder = self:builder_of(ref)
    if builder ~= self then return builder:node(node) end
    if ref.span and ref.span.own then return NOTHING end
    if ref.span and ref.span.key and self.pairing.stores_key then
      return { op = "count", kind = node.kind, left = self:key_at(ref.span.key) }
    end
    local of_record, side, state = self:record_ref(ref)
    if of_record.node.op ~= "field" and of_record.kind ~= "string" then return NOTHING end
    local count = { op = "count", kind = node.kind, left = tested(of_record) }
    return self:asked(count, side, state)
  end
  return self:mapped(node)
end

-- Returns the parts of a span's record: itself, or the fields that were asked for.
function Rows:parts(side)
  local columns, names = {}, {}
  local fields = self.pairing.fields and self.pairing.fields[side]
  if not fields then return { self:record_column() } end
  for i, ref in ipairs(fields) do
    columns[i], names[i] = self:column_of(ref.span.ref, side_of[side], true), ref.span.ref.text
  end
  return columns, names
end

-- Returns a tree that makes the span as functions see it.
function Rows:span()
  if self.span_tree then return self.span_tree end
  local open, open_names = self:parts "open"
  local close, close_names = self:parts "close"
  local more, values = {}, {}
  if not self.at_once then more, values = more_fields(self) end
  local made, ended = spans.maker(#self.keys,
    { open = open_names, close = close_names, more = more,
      may_lack_close = self.pairing.cuts and self.pairing.unfinished })
  local args = { self:value_at("serial", OPEN, "unsigned"), own.start(self),
    self.at_once and NOTHING or own.stop(self) }
  table.move(values, 1, #values, 4, args)
  for i in ipairs(self.keys) do args[#args + 1] = self:key_at(i) end
  for _, column in ipairs(open) do args[#args + 1] = self:value_at(column, OPEN, "any") end
  if self.at_once then
    self.ended = table.move(close, 1, #close, 3, { ended, self.time_column })
  else
    for _, column in ipairs(close) do args[#args + 1] = self:value_at(column, CLOSE, "any") end
  end
  self.span_tree = { op = "call", kind = "any", fn = made, args = args }
  return self.span_tree
end

-- Returns trees of the objects that functions of the query, and loops, are given.
function Rows:objects()
  if not self.inner or self.of_spans then return { self:span() } end
  if self.nested then return { self.nested:span(), self:span() } end
  return { self:value_at(self:record_column(), INNER, "any"), self:span() }
end

function Rows:call(fn, kind, result, why)
  return trees.class.call(self, fn, kind, result, why, self:objects())
end

-- Returns trees that read the start of a span and its end, that of the recording if it is
-- unfinished.
local function borders(self)
  return { self:value_at(START, SPAN, "unsigned"), self:value_at(END, SPAN, "unsigned") }
end

return { class = Rows, borders = borders, OPEN = OPEN, CLOSE = CLOSE, INNER = INNER,
  side_of = side_of }
