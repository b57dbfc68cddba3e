-- The parts of fields, as "callchain[1].ip", "event.type" and "args.prev_pid" name them: what
-- kind they are, and in which records they can be.

local core = require "perflua.core"
local parser = require "perflua.filter.parser"
local suggest = require "perflua.errors.suggest"

local members = {}

local views -- name → description

local function view_of(name)
  views = views or core.views()
  return views[name]
end

---Returns the message about an unknown name: with the closest one, or what lists them.
---@param text string the whole of it
---@param name string|integer the part that is wrong
---@param kinds table<string, string> by the names there are
---@return nil, string message
function members.unknown(text, name, kinds)
  local message = ("unknown field '%s'"):format(text)
  local closest = suggest.message(message, tostring(name), suggest.names(kinds))
  return nil, closest ~= message and closest or message .. "; perflua fields FILE lists them"
end

---@param a string? kind of a field in some records; nil: in none
---@param b string in others
---@return string # in both
function members.joined(a, b)
  local unsigned = { unsigned = true, address = true }
  if a == nil or a == b then return b end
  return unsigned[a] and unsigned[b] and "unsigned" or "any"
end

local known = setmetatable({}, { __mode = "k" }) -- list → its kinds by name

local function kinds_of(list)
  list = list or {}
  if known[list] then return known[list] end
  local kinds = {}
  for _, member in ipairs(list) do kinds[member.name] = member.kind end
  known[list] = kinds
  return kinds
end

local function no_member(path, depth, list)
  return members.unknown(parser.spell(path), path[depth], kinds_of(list))
end

local event_kinds -- name → kind

---@param path (string|integer)[]
---@return string? kind, string? message
function members.of_event(path)
  event_kinds = event_kinds or kinds_of(core.event_members())
  if #path > 2 then return no_member(path, 3) end
  local kind = event_kinds[path[2]]
  if kind then return kind end
  return members.unknown(parser.spell(path), path[2], event_kinds)
end

-- Returns the kind of the value at the end of a path into a view; "any" if only a record can
-- tell.
local function of_view(view, path)
  local step = path[2]
  local own = kinds_of(view.members)[step]
  local is_item = math.type(step) or view.named and not own
  local kind
  if math.type(step) and view.named then return no_member(path, 2, view.members) end
  if is_item then
    if not view.items then
      return #path == 2 and (view.named and "unsigned" or "any") or no_member(path, 3)
    end
    if #path == 2 then return "view" end
    kind = kinds_of(view.items)[path[3]]
    if not kind then return no_member(path, 3, view.items) end
  else
    kind = own
    if not kind then return no_member(path, 2, view.members) end
  end
  if #path == (is_item and 3 or 2) then return kind end
  if kind == "view" then return "any" end
  return no_member(path, #path)
end

---@param types table<integer, string|false> the name of the view that the field is, by record
--- type
---@param path (string|integer)[]
---@return string? kind
---@return string|table<integer, boolean>|nil # what is wrong; or the types that have the part,
--- if some have not
function members.of_views(types, path)
  local kind, message, missing
  local having = {}
  for type_id, name in pairs(types) do
    local part, wrong
    if name then part, wrong = of_view(view_of(name), path) end
    if part then
      kind, having[type_id] = members.joined(kind, part), true
    else
      message, missing = message or wrong, true
    end
  end
  if not kind then return nil, message or ("field '%s' has no parts"):format(path[1]) end
  return kind, missing and having or nil
end

-- Arguments of tracepoints, as "args.prev_comm" and "args.args[1]" name them: what kind they
-- are in the events of a query, and how they are read.
--
-- Each event reads its own field, with that field's size and sign. Where events disagree,
-- integers of less than 8 bytes are the same with a sign and without, so they are signed beside
-- signed ones; all else is of kind "any".

local is_integer = { signed = true, unsigned = true, address = true }

-- event → its fields: of system calls there are hundreds
local known_fields = setmetatable({}, { __mode = "k" })

local function fields_of(event)
  if not known_fields[event] then known_fields[event] = event.fields end
  return known_fields[event] or {}
end

-- Finds the fields of that name, one in each event that has it, and the kinds of all names.
local function find_event(list, name)
  local found, kinds = {}, {}
  for _, event in ipairs(list) do
    local own
    for _, field in ipairs(fields_of(event)) do
      if field.name == name then own = own or field end
      kinds[field.name] = field.kind
    end
    found[#found + 1] = own
  end
  return found, kinds
end

local function has_kind(found, kind)
  for _, field in ipairs(found) do
    if field.kind == kind then return true end
  end
  return false
end

local function join_kinds(found)
  local signs, kind = has_kind(found, "signed"), nil
  for _, field in ipairs(found) do
    local fits = signs and is_integer[field.kind] and field.size < 8
    kind = members.joined(kind, fits and "signed" or field.kind)
  end
  return kind
end

-- Returns the kind of the items of arrays.
local function item_kind(found)
  local kind
  for _, field in ipairs(found) do
    if field.kind == "view" then
      kind = members.joined(kind, field.signed and "signed" or "unsigned")
    end
  end
  return kind
end

---@param list perflua.Event[] the events of a query
---@param path (string|integer)[]
---@return string? kind
---@return string? message
---@return boolean? mixed # it is a composite in some events and none in others
function members.args_kind(list, path)
  local found, kinds = find_event(list, path[2])
  if #found == 0 then return members.unknown(parser.spell(path), path[2], kinds) end
  if #path == 2 then
    local kind = join_kinds(found)
    return kind, nil, kind == "any" and has_kind(found, "view")
  end
  local kind = #path == 3 and math.type(path[3]) and item_kind(found)
  if kind then return kind end
  local whole = parser.spell { path[1], path[2] }
  if #path > 3 or not has_kind(found, "view") then
    return nil, ("field '%s' has no parts"):format(whole)
  end
  return nil, ("field '%s' is an array: its items are %s[1] and so on"):format(whole, whole)
end

local types = { signed = "number", unsigned = "number", address = "number", string = "string",
  bytes = "string",
  view = "table" }

-- Wraps `get` so that values of another type are absent, as in the core: an event that is not
-- known yet, or of another recording, may have a field of that name and another kind.
local function check_type(get, wanted)
  return function(record)
    local value = get(record)
    if type(value) == wanted then return value end
  end
end

---@param path (string|integer)[]
---@param kind string? what its values must be of; nil: they cannot be else
---@return fun(record: perflua.Record): any
function members.args_getter(path, kind)
  local name, item = path[2], path[3]
  local function get(record)
    local view = record.args
    if view ~= nil then return view[name] end
  end
  if item then
    return function(record)
      local list = get(record)
      if type(list) == "table" then return list[item] end
    end
  end
  return types[kind] and check_type(get, types[kind]) or get
end

return members
