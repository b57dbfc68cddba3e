-- The time that spans cover, by key: that any of them covers, and that those of two queries
-- both cover. The core makes the rows (src/query/rows/rows_cover.h): start, stop, key.

local core = require "perflua.core"
local check_open = require("perflua.recording").check_open
local engine = require "perflua.plan.engine"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local expr = require "perflua.filter.expr"
local fields = require "perflua.fields"
local keys = require "perflua.intervals.keys"
local members = require "perflua.fields.members"
local query = require "perflua.query"
local rows = require "perflua.intervals.rows"
local spec_of = core.query_spec
local trees = require "perflua.plan.trees"
local within = require "perflua.intervals.within"
local usage_error = errors.usage_error

local covers = {}

local own = { start = "unsigned", stop = "unsigned", duration = "signed" }

local Scope = setmetatable({}, { __index = fields.class })
Scope.__index = Scope

function Scope:resolve(path, text)
  local kind, name = #path == 1 and own[path[1]], path[1]
  local i = path[2] or #self.kinds == 1 and 1
  if name == "key" and #path <= 2 and math.type(i) and self.kinds[i] then
    kind, name = self.kinds[i], i
  elseif not kind then
    local known = { key = "any" }
    for field, its in pairs(own) do known[field] = its end
    return members.unknown(text, path[1], known)
  end
  local ref = { text = text, kind = kind, path = path, plain = false, cover = name }
  ref.node = { op = "field", kind = kind, ref = ref, path = path, text = text }
  return ref
end

-- Trees over the places of a row.
local Rows = setmetatable({}, { __index = trees.class })
Rows.__index = Rows

function Rows:place(i, kind)
  self.fields[i] = self.fields[i] or { row = i }
  return { op = "field", kind = kind, ref = self.fields[i] }
end

function Rows:node(node)
  local cover = node.ref and node.ref.cover
  if not cover then return self:mapped(node) end
  if cover == "start" then return self:place(1, node.kind) end
  if cover == "stop" then return self:place(2, node.kind) end
  if cover ~= "duration" then return self:place(2 + cover, node.kind) end
  return { op = "-", kind = "signed", left = self:place(2, "signed"),
    right = self:place(1, "signed") }
end

---@class perflua.Cover
---@field start integer ns
---@field stop integer ns
---@field duration integer ns
---@field key any what the spans have in common; an array if it is several fields
local cover_meta = { __name = "perflua.Cover" }

function cover_meta:__tostring()
  return ("cover %s - %s (%d ns)"):format(core.seconds(self.start), core.seconds(self.stop),
    self.duration)
end

local function maker(n)
  return function(start, stop, ...)
    local key = ...
    if n > 1 then key = { ... } end
    return setmetatable({ start = start, stop = stop, duration = stop - start,
      key = n > 0 and key or nil }, cover_meta)
  end
end

-- Returns a tree that makes what loops and functions get.
function Rows:object()
  local args = { self:place(1, "unsigned"), self:place(2, "unsigned") }
  for i, kind in ipairs(self.kinds) do args[2 + i] = self:place(2 + i, kind) end
  return { op = "call", kind = "any", fn = maker(#self.kinds), args = args }
end

function Rows:call(fn, kind, result, why)
  return trees.class.call(self, fn, kind, result, why, { self:object() })
end

local Reader = {}
Reader.__index = Reader

function Reader:builder()
  return setmetatable({ fields = {}, kinds = self.made.kinds }, Rows)
end

-- Completes what the core is told.
function Reader:description(spec, builder, description)
  local filters = engine.split_filters(spec)
  if spec.from or spec.to then
    local times = ("start >= 0x%x and start < 0x%x"):format(spec.from or 0, spec.to or -1)
    table.insert(filters, 1, assert(expr.compile(times, spec.scope)))
  end
  description.kept = engine.tree_of(filters, builder)
  local made = self.made
  rows.describe_reading(description, made.covers[1].pairing)
  description.cover, description.values = {}, {}
  for i, cover in ipairs(made.covers) do
    local side, calls = rows.covered(cover.pairing, cover.spans, cover.refs, description.values)
    description.cover[i] = side
    description.calls = description.calls or calls
  end
  description.calls = description.calls or builder.calls
  return description
end

function Reader:loop(spec, refs)
  local builder, results = self:builder(), {}
  for i, ref in ipairs(refs or {}) do results[i] = builder:value(ref) end
  if not refs then results[1] = builder:object() end
  return self:description(spec, builder, { results = results })
end

function Reader:grouping(spec, _, describe)
  local builder = self:builder()
  return self:description(spec, builder, describe(builder))
end

-- Returns the spec of a query of spans. Raises unless their time can be added up.
local function spans_of(on, name)
  local spec = query.is(on) and spec_of(on)
  local made = spec and spec.reader and spec.reader.made
  if not made or made.pairing then
    usage_error("%s: spans from pair() expected, got a %s", name, spec and "Query" or type(on))
  elseif spec.keys or spec.refs or spec.unnest then
    usage_error("%s comes before group_by, select and unnest", name)
  end
  for _, filter in ipairs(spec.filters) do
    if not filter.node then
      usage_error("%s: the spans are filtered by a Lua function; use an expression", name)
    end
  end
  check_open(spec.file)
  return spec
end

-- Returns the Refs that are the key, and how many of them are shown: the recording comes last
-- where there are several.
local function key_of(spec, wanted, name)
  local made, texts = spec.reader.made, wanted
  if wanted == nil then
    texts = {}
    for i in ipairs(made.open.keys) do texts[i] = #made.open.keys == 1 and "key"
      or ("key[%d]"):format(i) end
    if #texts == 0 then texts = false end
  end
  local refs = keys.refs(spec.scope, texts, name .. ": key")
  local n = #refs
  if made.several then refs[n + 1] = spec.scope:ref("open.source") end
  return refs, n
end

-- Returns a query of the time that spans of these queries cover.
local function made_of(name, specs, options, reads)
  options = options or {}
  if type(options) ~= "table" then
    usage_error("%s: a table { key } expected, got a %s", name, type(options))
  end
  errors.check_options(options, "CoverOptions", name .. ": unknown option '%s'")
  local list, kinds = {}, {}
  for i, spec in ipairs(specs) do
    local refs, shown = key_of(spec, options.key, name)
    if i > 1 then keys.check(list[1].refs, refs, "the one", "the other") end
    for k = 1, shown do
      local same = (kinds[k] or refs[k].kind) == refs[k].kind and refs[k].kind ~= "float"
      kinds[k] = same and refs[k].kind or "any"
    end
    local pairing, other = spec.reader.made, specs[3 - i]
    if other then pairing = within.joined(within.records_of(other.reader.made), pairing) end
    list[i] = { spans = spec, refs = refs, pairing = pairing }
  end
  local first = specs[1]
  local scope = setmetatable({ kinds = kinds, file = first.file,
    event_set = first.reader.made.events }, Scope)
  local made = { pairing = first.reader.made, on = first.reader.made.on, covers = list,
    kinds = kinds }
  return query.new {
    file = first.file, scope = scope, filters = {}, split = false,
    counts = first.reader.made.counts, paired = first.reader.made.events, asked = first.asked,
    reader = setmetatable({ made = made, reads = reads }, Reader),
  }
end

---@param on perflua.Query of spans
---@param options { key: string|string[]|false|nil }?
---@return perflua.Query # of the time that any of them covers
function covers.union(on, options)
  local spec = spans_of(on, "union")
  return made_of("union", { spec }, options, "the time covered by " .. spec.reader.reads)
end

---@param on perflua.Query of spans
---@param other perflua.Query
---@param options { key: string|string[]|false|nil }?
---@return perflua.Query # of the time that spans of both cover
function covers.intersection(on, other, options)
  local a, b = spans_of(on, "intersection"), spans_of(other, "intersection")
  local made, others = a.reader.made, b.reader.made
  if made.file ~= others.file then
    usage_error("intersection: the spans belong to different Files")
  elseif made.reading.expand ~= others.reading.expand and events.any_counters(made.file) then
    usage_error("intersection: both spans need the same `expand`: samples of this recording "
      .. "carry counter values")
  end
  return made_of("intersection", { a, b }, options, ("the time covered by both %s and %s")
    :format(a.reader.reads, b.reader.reads))
end

return covers
