-- Keys tell which close belongs to which open: fields of both, compared one by one.

local arith = require "perflua.filter.arith"
local usage_error = require("perflua.errors").usage_error
local kinds = require "perflua.filter.kinds"

local keys = {}

local MAX_KEYS = 8

local function list_of(wanted, what)
  if type(wanted) == "string" then return { wanted } end
  if type(wanted) ~= "table" then
    usage_error("%s: a field's name or a list of them expected, got a %s", what, type(wanted))
  elseif #wanted == 0 then
    usage_error("%s: the list of fields is empty", what)
  elseif #wanted > MAX_KEYS then
    usage_error("%s: a key has at most %d fields", what, MAX_KEYS)
  end
  return wanted
end

---@param scope table
---@param wanted string|string[]|false false: all records have one key
---@param what string for messages
---@return table[] # Refs
function keys.refs(scope, wanted, what)
  local refs = {}
  if wanted == false then return refs end
  for i, text in ipairs(list_of(wanted, what)) do
    local ref = scope:ref(text)
    if ref.kind == "view" or ref.kind == "boolean" or ref.kind == "event" then
      usage_error("%s: a number or a string expected, but %s is neither (%s)", what, text,
        ref.kind)
    end
    refs[i] = ref
  end
  return refs
end

---@param refs table[]
---@return string
function keys.text(refs)
  local texts = {}
  for i, ref in ipairs(refs) do texts[i] = ref.text end
  return table.concat(texts, ", ")
end

local function comparable(a, b)
  if a.kind == "any" or b.kind == "any" then return true end
  return (arith.is_number[a.kind] or false) == (arith.is_number[b.kind] or false)
    and (arith.is_number[a.kind] or kinds.is_text[a.kind] == kinds.is_text[b.kind])
end

---@param a table[] Refs
---@param b table[]
---@param a_name string what messages call them
---@param b_name string
function keys.check(a, b, a_name, b_name)
  if #a ~= #b then
    usage_error("key: lengths differ: %d for %s, %d for %s", #a, a_name, #b, b_name)
  end
  for i = 1, #a do
    if not comparable(a[i], b[i]) then
      usage_error("key: %s of %s (%s) never equals %s of %s (%s)", a[i].text, a_name, a[i].kind,
        b[i].text, b_name,
        b[i].kind)
    end
  end
end

-- Sets the Refs that are the key: part.keys of each part, and side.keys. Returns whether a part
-- has fields of its own.
local function set_keys(side, wanted, what)
  local has_own = false
  for _, part in ipairs(side.parts) do
    local own = part.key ~= nil
    part.keys = keys.refs(part.scope, own and part.key or not own and wanted, what)
    part.to_keys = part.to ~= nil and keys.refs(part.scope, part.to, "pair: change: to") or nil
    has_own = has_own or own or part.to ~= nil
  end
  side.keys = side.parts[1].keys
  if #side.parts > 1 and not has_own then side.keys = keys.refs(side.scope, wanted, what) end
  return has_own
end

-- Returns the kinds of the parts of a key that spans store: where the fields of records that
-- open and close spans differ, and of floats, which are stored as integers if they are whole,
-- "any".
local function stored_kinds(sides)
  local all = {}
  for _, side in ipairs(sides) do
    for _, part in ipairs(side.parts) do
      for _, refs in ipairs { part.keys, part.to_keys } do
        for i, ref in ipairs(refs) do
          local same = (all[i] or ref.kind) == ref.kind and ref.kind ~= "float"
          all[i] = same and ref.kind or "any"
        end
      end
    end
  end
  return all
end

---Sets the Refs that are the key of all sides: side.keys, and part.keys of their parts.
---@param all { open: table, close: table, change: table? } sides
---@param wanted string|string[]|table|false|nil default: "tid"
---@param stores boolean? the spans store their key
---@return boolean stores # they do: records of one side may have different fields
---@return string[] kinds
function keys.set(all, wanted, stores)
  local open, close, change = all.open, all.close, all.change
  if wanted == nil then wanted = "tid" end
  local each = { open = wanted, close = wanted, change = wanted }
  if type(wanted) == "table" and #wanted == 0 then
    if wanted.open == nil or wanted.close == nil then
      usage_error(
        "pair: key: expected a field, a list of fields, or { open = …, close = … } with both")
    end
    each = wanted
  end
  stores = set_keys(open, each.open, "key of open") or stores
  stores = set_keys(close, each.close, "key of close") or stores
  for _, part in ipairs(change and change.parts or {}) do
    if part.key == nil and each.change == nil then
      usage_error("pair: change: 'key' is missing: the fields that are the key of its records")
    end
  end
  if change then stores = set_keys(change, each.change, "key of change") or stores end
  for i = 2, #open.parts do keys.check(open.keys, open.parts[i].keys, "open", "open") end
  for _, part in ipairs(close.parts) do keys.check(open.keys, part.keys, "open", "close") end
  for _, part in ipairs(change and change.parts or {}) do
    keys.check(open.keys, part.keys, "open", "change")
    if part.to_keys then keys.check(open.keys, part.to_keys, "open", "to of change") end
  end
  if stores then return true, stored_kinds { open, close, change } end
  local close_kinds = {}
  for i, ref in ipairs(close.keys) do close_kinds[i] = ref.kind end
  return false, close_kinds
end

return keys
