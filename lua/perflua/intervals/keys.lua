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

---@param open table a side
---@param close table
---@param wanted string|string[]|table|false|nil default: "tid"
---@return table[] of_open, table[] of_close # Refs
function keys.of(open, close, wanted)
  if wanted == nil then wanted = "tid" end
  local each = { open = wanted, close = wanted }
  if type(wanted) == "table" and #wanted == 0 then
    if wanted.open == nil or wanted.close == nil then
      usage_error(
        "pair: key: expected a field, a list of fields, or { open = …, close = … } with both")
    end
    each = wanted
  end
  local a, b = keys.refs(open.scope, each.open, "key of open"),
    keys.refs(close.scope, each.close, "key of close")
  keys.check(a, b, "open", "close")
  return a, b
end

return keys
