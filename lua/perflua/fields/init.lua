-- The fields that the records of a query can have, and how each is read.
--
-- A Ref stands for what a query names, a field or an expression: { text, kind, root, path,
-- plain, node }. plain: the C cursor can yield it by its root name, and an absent value is told
-- from a present one there. reading.lua says how it is read otherwise. node is its checked tree
-- (filter/check.lua); an expression has neither root nor path. types: the ids of the record
-- types that have it, if not all that have its root do. Arguments of tracepoints also have
-- checks and mixed, see Scope:argument.
--
-- A scope has one Ref for each field, which the core reads once for all its uses.

local core = require "perflua.core"
local arith = require "perflua.filter.arith"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local expr = require "perflua.filter.expr"
local suggest = require "perflua.errors.suggest"
local members = require "perflua.fields.members"
local perf_names = require "perflua.fields.perf_names"
local reading = require "perflua.fields.reading"
local fail = require("perflua.filter.lexer").fail
local usage_error, guard = errors.usage_error, errors.guard
local aliases, expressions, unanswered = perf_names.aliases, perf_names.expressions,
  perf_names.unanswered

local fields = {}

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

local scalar = {
  signed = true, unsigned = true, address = true, float = true, string = true, bytes = true,
  event = true,
}

local function add_row(known, row, type_id)
  local entry = known[row.name]
  if not entry then
    entry = { plain = true, types = {} }
    known[row.name] = entry
  end
  entry.kind = members.joined(entry.kind, row.kind)
  entry.types[type_id] = row.view or false
  entry.plain = entry.plain and scalar[row.kind] or false
end

local Scope = {}
Scope.__index = Scope

---@param name string
---@return boolean # whether records of some type have such a field
function fields.is_known(name)
  return core.field_names()[aliases[name] and aliases[name][1] or name] ~= nil
end

---@param file perflua.File
---@param type_ids table<integer, boolean>? nil: every type but the container's own
---@param event_set table<integer, boolean>? nil: every event
---@param container boolean? the container's own types, too
---@return table scope
function fields.scope(file, type_ids, event_set, container)
  return setmetatable({ file = file, type_ids = type_ids, event_set = event_set,
    container = container, refs = {} }, Scope)
end

function Scope:events()
  local list, all, set = {}, self.file.events, self.event_set
  if not set then return table.move(all, 1, #all, 1, list) end
  for i = 1, #all do
    if set[i] then list[#list + 1] = all[i] end
  end
  return list
end

-- Returns the events whose records are read: a sample with counter values is delivered as any
-- event of its group.
function Scope:recorded()
  local list, chosen = self:events(), self.event_set
  local counted = false
  for _, event in ipairs(chosen and list or {}) do
    counted = counted or events.has_counters(event)
  end
  if not counted then return list end
  for _, event in ipairs(self.file.events) do
    if not chosen[event.index] and events.has_counters(event) then list[#list + 1] = event end
  end
  return list
end

-- Returns one event for each shape, which decides the fields of its records; { nil } if there
-- are not events. Many consecutive events have the same shape.
local function collect_shapes(list)
  local seen, one_each, sample_type, id_all, branches, read = {}, {}, nil, nil, nil, nil
  for _, event in ipairs(list) do
    local own_type, own_id_all = event.sample_type, event.sample_id_all
    local own_branches, own_read = event.branch_sample_type, event.read_format
    if own_type ~= sample_type or own_id_all ~= id_all or own_branches ~= branches
        or own_read ~= read then
      sample_type, id_all, branches, read = own_type, own_id_all, own_branches, own_read
      local shape = ("%s %s %s %s"):format(sample_type, id_all, branches, read)
      if not seen[shape] then one_each[#one_each + 1] = event.index end
      seen[shape] = true
    end
  end
  return one_each
end

-- name → { kind, plain, types }; made once, when the first name is looked up. types: by the ids
-- of those that have it the name of the view it is, or false. With `any`, and in a stream whose
-- events are yet to come, records may have every field of their type; one that none of them has
-- is absent.
function Scope:known()
  if self.table then return self.table end
  local known, file = {}, self.file
  local event_indexes, types = collect_shapes(self:recorded()), core.types()
  local any = self.any or file.mode == "pipe" and #file.events == 0
  local function add_type(desc)
    for i = 1, math.max(1, #event_indexes) do
      for _, row in ipairs(guard(core.fields_of, file, desc.id, event_indexes[i])) do
        add_row(known, row, desc.id)
      end
    end
    for _, row in ipairs(any and desc.fields or {}) do add_row(known, row, desc.id) end
  end
  local nameless = {}
  for id in pairs(self.type_ids or {}) do nameless[id] = true end
  for _, desc in ipairs(types) do
    nameless[desc.id] = nil
    local asked = self.type_ids and self.type_ids[desc.id]
    if asked or not self.type_ids and (self.container or not desc.container) then
      add_type(desc)
    end
  end
  -- records of a type that has no name here have what every record has
  for id in pairs(nameless) do add_type { id = id, fields = types[0].fields } end
  self.table = known
  return known
end

---@param name string
---@return string? # what is to be said of a name of perf that is not answered
function Scope.unanswered(name)
  return unanswered[name] and ("'%s' is not answered: %s"):format(name, unanswered[name])
end

-- Returns the name as it is known here: the kernel's or perf's.
function Scope:root(name)
  local known = self:known()
  local entry = known[name]
  if not entry then
    if unanswered[name] then return nil, Scope.unanswered(name) end
    if core.field_names()[name] then
      local of_samples = not self.type_ids or self.type_ids[SAMPLE]
      return nil, ("no record of this query has a field '%s'%s"):format(name, of_samples
        and perf_names.advice(name) or "")
    end
    local kinds = {}
    for candidate, field in pairs(known) do kinds[candidate] = field.kind end
    for alias, meant in pairs(aliases) do
      kinds[alias] = known[meant[1]] and (meant[2] and "any" or kinds[meant[1]])
    end
    return members.unknown(name, name, kinds)
  end
  return name, entry
end

-- Returns the kind of a part, and the types that have it if others of the field's types lack
-- it.
local function member_kind(root, entry, path)
  if root == "event" then return members.of_event(path) end
  return members.of_views(entry.types, path)
end

-- Returns whether events may come that the query does not know yet, or formats that it did not
-- look at.
local function may_have_others(file)
  return file.mode == "pipe" or type(file.path) == "table"
end

-- Returns the Ref of a field of records. `more`: what else it has, see reading.lua.
local function of_field(file, text, kind, path, more)
  local ref = { text = text, kind = kind, root = path[1], path = path, plain = false }
  for name, value in pairs(more or {}) do ref[name] = value end
  reading.complete(ref, file)
  ref.node = { op = "field", kind = kind, ref = ref, path = path, text = text }
  return ref
end

-- Resolves an argument of a tracepoint. `checks` is the kind that its values must have to be
-- present; `mixed`: see members.args_kind.
function Scope:argument(path, text)
  local kind, message, mixed = members.args_kind(self:recorded(), path)
  if not kind then return nil, message end
  local checks = #path == 2 and may_have_others(self.file) and kind or nil
  return of_field(self.file, text, kind, path, { mixed = mixed, checks = checks,
    get = members.args_getter(path, checks) })
end

-- The path that perf's spelling of one stands for.
function Scope:meant(path)
  local meant = aliases[path[1]]
  if not meant or self:known()[path[1]] then return path end
  return table.move(path, 2, #path, #meant + 1, { table.unpack(meant) })
end

local function of_expression(text, node)
  local kind = arith.is_constant[node.kind] and "unsigned" or node.kind
  return { text = text, kind = kind, plain = false, node = node }
end

-- The Ref of a name that perf has for an expression.
function Scope:expand(name)
  local node, message = expr.value(expressions[name], self)
  if not node then return nil, message end
  return of_expression(name, node)
end

-- Makes the Ref of a parsed path, or returns nil and what is wrong with it.
function Scope:make_ref(path, text)
  path = self:meant(path)
  if #path == 1 and expressions[path[1]] then return self:expand(path[1]) end
  local root, entry = self:root(path[1])
  if not root then return nil, entry end
  path = table.move(path, 2, #path, 2, { root })
  -- finds the start of a recording before workers ask for it; that of a stream comes with its
  -- first sample
  if root == "elapsed" and self.file and self.file.size then guard(core.clocks, self.file) end
  if #path == 1 then
    return of_field(self.file, text, entry.kind, path, { plain = entry.plain })
  end
  if root == "args" then return self:argument(path, text) end
  local kind, more = member_kind(root, entry, path)
  if not kind then return nil, more end
  return of_field(self.file, text, kind, path, { types = more })
end

-- Resolves a parsed path. Returns a Ref, or nil and what is wrong with it. The Ref's path
-- starts with the name as it is known here.
function Scope:resolve(path, text)
  local name = ("%d %s"):format(#path, text) -- a quoted name may look like a path
  local ref, message = self.refs[name], nil
  if not ref then ref, message = self:make_ref(path, text) end
  self.refs[name] = ref
  return ref, message
end

-- Resolves a name in an expression. Raises { at, message }.
function Scope:field(node)
  local ref, message = self:resolve(node.path, node.text)
  return ref or fail(node.at, "%s", message)
end

local MOST_PATHS = 1000
local paths, n_paths = {}, 0 -- of names that were parsed: many queries name the same fields

local function remember_path(text, path)
  if n_paths == MOST_PATHS then paths, n_paths = {}, 0 end
  paths[text], n_paths = path, n_paths + 1
end

-- Resolves a name given to select, group_by or a measure. Raises a usage error.
---@param text string a field, or an expression of fields
---@return table ref
function Scope:ref(text)
  if type(text) ~= "string" then
    usage_error("a field's name expected, got %s", suggest.kind(text))
  end
  if not paths[text] then
    local node, wrong = expr.value(text, self)
    if not node then usage_error("%s", wrong) end
    if node.op ~= "field" then return of_expression(text, node) end
    remember_path(text, node.path)
  end
  local ref, message = self:resolve(paths[text], text)
  return ref or usage_error("%s", message)
end

-- Returns the Ref of a sample's call chain as a Stack, for keys and sets.
---@param text string
---@param chain "names"|"annotated"|"values"|"mapped"|"starts"|"callers"|"inlined"|"unwound"
---|"exact"|"functions"|"binary"|"binaries"|"address"
--- what tells Stacks apart: see enum pq_chain_kind
---@return table ref
function Scope:stack(text, chain)
  local name = text .. " of " .. chain
  self.refs[name] = self.refs[name]
    or of_field(self.file, text, "stack", { "stack" }, { chain = chain })
  return self.refs[name]
end

fields.class = Scope -- for scopes of other things than records

return fields
