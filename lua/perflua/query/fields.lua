-- The fields that the records of a query can have, and how each is read.
--
-- A Ref is a field as a query names it: { text, kind, root, plain, get }. plain: the C cursor can yield
-- it by its root name, and an absent value is told from a present one there. get(record) reads it
-- otherwise; nil if absent.

local core = require "perflua.core"
local blame = require "perflua.errors.blame"
local guard = require "perflua.errors.guard"
local parser = require "perflua.filter.parser"
local suggest = require "perflua.errors.suggest"
local fail = require("perflua.filter.lexer").fail

local fields = {}

-- perf's spelling of names that differ from the kernel's.
local aliases = {
  sym = "symbol", trace = "message", brstack = "branch_stack", uregs = "regs_user", iregs = "regs_intr",
}

local scalar = {
  signed = true, unsigned = true, address = true, float = true, string = true, bytes = true, event = true,
}

local types -- id → description, and name → description

---@return table # record types by id and by name
function fields.types()
  if not types then
    types = {}
    for _, desc in ipairs(core.types()) do
      types[desc.id], types[desc.name] = desc, desc
    end
  end
  return types
end

local views -- name → description

local function view_of(name)
  views = views or core.views()
  return views[name]
end

local function joined(a, b) -- the kind of a field whose kinds differ between records
  local unsigned = { unsigned = true, address = true }
  if a == b then return a end
  return unsigned[a] and unsigned[b] and "unsigned" or "any"
end

local function add(known, row, type_id)
  local entry = known[row.name]
  if not entry then
    entry = { plain = true, types = {} }
    known[row.name] = entry
  end
  if row.kind == "later" then
    entry.later = true
  else
    entry.kind = entry.kind and joined(entry.kind, row.kind) or row.kind
    entry.types[type_id] = true
  end
  entry.plain = entry.plain and scalar[row.kind] or false
  entry.view = row.view or entry.view
end

local Scope = {}
Scope.__index = Scope

---@param file perflua.File
---@param type_ids table<integer, boolean>? nil: every type but the container's own
---@param event_set table<integer, boolean>? nil: every event
---@param container boolean? the container's own types, too
---@return table scope
function fields.scope(file, type_ids, event_set, container)
  return setmetatable({ file = file, type_ids = type_ids, event_set = event_set, container = container }, Scope)
end

function Scope:events()
  local list = {}
  for i = 1, #self.file.events do
    if not self.event_set or self.event_set[i] then list[#list + 1] = self.file.events[i] end
  end
  return list
end

-- What decides which fields a record of an event can have.
local function shape(event)
  return ("%s %s %s %s"):format(event.sample_type, event.sample_id_all, event.branch_sample_type, event.read_format)
end

-- One event for each shape; { nil } if there are none.
local function shapes(list)
  local seen, one_each = {}, {}
  for _, event in ipairs(list) do
    if not seen[shape(event)] then one_each[#one_each + 1] = event.index end
    seen[shape(event)] = true
  end
  return one_each
end

-- name → { kind, plain, view, types, later }; made once, when the first name is looked up. types: ids of
-- those that have it; later: some get it with a later version.
function Scope:known()
  if self.table then return self.table end
  local known, file = {}, self.file
  local event_indexes = shapes(self:events())
  local function add_type(id)
    for i = 1, math.max(1, #event_indexes) do
      for _, row in ipairs(guard(file.fields, file, id, event_indexes[i])) do add(known, row, id) end
    end
  end
  if self.type_ids then
    for id in pairs(self.type_ids) do add_type(id) end
  else
    for _, desc in ipairs(core.types()) do
      if self.container or not desc.container then add_type(desc.id) end
    end
  end
  self.table = known
  return known
end

local function comes_later(text) return nil, ("field '%s' comes with a later version of perflua"):format(text) end

-- names: kinds by name; only what can be read now is worth suggesting.
local function unknown(text, name, kinds)
  local readable = {}
  for candidate, kind in pairs(kinds) do readable[candidate] = kind ~= "later" or nil end
  return nil, suggest.message(("unknown field '%s'"):format(text), tostring(name), suggest.names(readable))
end

-- Some of the query's types have the field, others will: what is asked of them now has no right answer.
local function partly_later(name, entry)
  local names = {}
  for id in pairs(entry.types) do names[#names + 1] = ("%q"):format(fields.types()[id].name) end
  table.sort(names)
  local list = #names == 1 and names[1] or ("{ %s }"):format(table.concat(names, ", "))
  return ("field '%s' of other records comes with a later version of perflua; records { type = %s } have it")
    :format(name, list)
end

-- The name as it is known here: the kernel's or perf's.
function Scope:root(name)
  local known = self:known()
  if not known[name] and aliases[name] then name = aliases[name] end
  local entry = known[name]
  if not entry then
    if core.field_names()[name] then return nil, ("no record of this query has a field '%s'"):format(name) end
    local kinds = {}
    for candidate, one in pairs(known) do kinds[candidate] = one.kind end
    return unknown(name, name, kinds)
  elseif not entry.kind then
    return comes_later(name)
  elseif entry.later then
    return nil, partly_later(name, entry)
  end
  return name, entry
end

local event_kinds -- name → kind

local function event_member(member)
  if not event_kinds then
    event_kinds = {}
    for _, row in ipairs(core.event_members()) do event_kinds[row.name] = row.kind end
  end
  local kind = event_kinds[member]
  if kind then return kind end
  return unknown("event." .. member, member, event_kinds)
end

local function args_member(scope, member)
  local names = {}
  for _, event in ipairs(scope:events()) do
    for _, field in ipairs(event.fields or {}) do names[field.name] = true end
  end
  if names[member] then return "any" end
  return unknown("args." .. member, member, names)
end

local function find_member(list, name)
  for _, member in ipairs(list or {}) do
    if member.name == name then return member.kind end
  end
end

local function no_member(path, depth, members)
  local kinds = {}
  for _, member in ipairs(members or {}) do kinds[member.name] = member.kind end
  return unknown(parser.spell(path), path[depth], kinds)
end

-- The kind of what a path into a view ends at; "any": known only when a record is there.
local function view_member(view, path)
  local step = path[2]
  local kind
  local is_item = math.type(step) or view.named and not find_member(view.members, step)
  if math.type(step) and view.named then return no_member(path, 2, view.members) end
  if is_item then
    if not view.items then return #path == 2 and (view.named and "unsigned" or "any") or no_member(path, 3) end
    if #path == 2 then return "view" end
    kind = find_member(view.items, path[3])
    if not kind then return no_member(path, 3, view.items) end
  else
    kind = find_member(view.members, step)
    if not kind then return no_member(path, 2, view.members) end
  end
  if #path == (is_item and 3 or 2) then return kind end
  if kind == "view" then return "any" end
  return no_member(path, #path)
end

function Scope:member(root, entry, path)
  if root == "event" then
    if #path == 2 then return event_member(path[2]) end
    return no_member(path, 3)
  elseif root == "args" then
    return args_member(self, path[2])
  end
  local view = view_of(entry.view)
  if not view then return "any" end
  return view_member(view, path)
end

local function getter(root, path)
  local first, second = path[2], path[3]
  if not first then return function(record) return record[root] end end
  if not second then
    return function(record)
      local view = record[root]
      if view == nil then return nil end
      return view[first]
    end
  end
  return function(record)
    local value = record[root]
    for i = 2, #path do
      if value == nil then return nil end
      value = value[path[i]]
    end
    return value
  end
end

-- The Ref of a parsed path, or nil and what is wrong with it.
function Scope:resolve(path, text)
  local root, entry = self:root(path[1])
  if not root then return nil, entry end
  local kind = entry.kind
  if #path > 1 then
    if kind ~= "view" and kind ~= "event" and kind ~= "any" then
      return nil, ("field '%s' has no parts"):format(root)
    end
    local message
    kind, message = self:member(root, entry, path)
    if not kind then return nil, message end
    if kind == "later" then return comes_later(text) end
  end
  return {
    text = text, kind = kind, root = root, plain = #path == 1 and entry.plain, get = getter(root, path),
  }
end

-- For filters: raises { at, message }.
function Scope:field(node)
  local ref, message = self:resolve(node.path, node.text)
  return ref or fail(node.at, "%s", message)
end

-- For select, group_by and measures: raises the caller's error.
---@param text string
---@return table ref
function Scope:ref(text)
  if type(text) ~= "string" then blame("a field's name expected, got a %s", type(text)) end
  local ok, node = pcall(parser.field, text)
  if not ok then
    if type(node) ~= "table" then error(node, 0) end
    blame("field \"%s\", column %d: %s", text, node.at, node.message)
  end
  local ref, message = self:resolve(node.path, text)
  return ref or blame("%s", message)
end

return fields
