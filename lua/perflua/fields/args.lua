-- Arguments of tracepoints, as "args.prev_comm" and "args.args[1]" name them: what kind they
-- are in the events of a query, and how they are read.
--
-- Each event reads its own field, with that field's size and sign. Where events disagree,
-- integers of less than 8 bytes are the same with a sign and without, so they are signed beside
-- signed ones; all else is of kind "any".

local members = require "perflua.fields.members"
local parser = require "perflua.filter.parser"

local args = {}

local is_integer = { signed = true, unsigned = true, address = true }

-- event → its fields: of system calls there are hundreds
local known = setmetatable({}, { __mode = "k" })

local function fields_of(event)
  if not known[event] then known[event] = event.fields end
  return known[event] or {}
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
function args.kind(list, path)
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
function args.getter(path, kind)
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

return args
