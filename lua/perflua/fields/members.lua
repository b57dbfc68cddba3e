-- The parts of fields, as "callchain[1].ip" and "event.type" name them: what kind they are, and
-- in which records they can be.

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
    local one, wrong
    if name then one, wrong = of_view(view_of(name), path) end
    if one then
      kind, having[type_id] = members.joined(kind, one), true
    else
      message, missing = message or wrong, true
    end
  end
  if not kind then return nil, message or ("field '%s' has no parts"):format(path[1]) end
  return kind, missing and having or nil
end

return members
