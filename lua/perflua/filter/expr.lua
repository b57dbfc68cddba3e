-- The language of filters, keys and measures: an expression of Lua's spelling, checked against
-- the fields there are.
--
-- The rules that Lua does not give: an absent field has no value, arithmetic on it has none,
-- a comparison with it is false (so `not (f == 1)` is true where f is absent, as in Lua), and
-- `f == nil`, `f ~= nil` ask whether it is there. `and`, `or` and `not` take conditions: a
-- number is not one. Of values `a or b` is the first that is there, and `condition and a` is
-- not there unless the condition holds. Integer division by zero has no value. Numbers compare
-- by their value whatever their kinds, see arith.lua. `f in { … }` is an == with one of them,
-- find(f, t) and starts(f, t) are plain, without patterns; all three are false if f is absent.

local check = require "perflua.filter.check"
local parser = require "perflua.filter.parser"
local kinds = require "perflua.filter.kinds"

local expr = {}

local fail = require("perflua.filter.lexer").fail

local parts = { "left", "right" }
local fields = { "ref", "chain", "symbol" }

local function collect(node, refs)
  for _, name in ipairs(fields) do refs[#refs + 1] = node[name] end
  for _, name in ipairs(parts) do
    if node[name] then collect(node[name], refs) end
  end
  return refs
end

---@param node perflua.Node
---@return table[] # the Refs of the fields it reads
function expr.refs(node) return collect(node, {}) end

---@class perflua.Filter
---@field refs table[]? the fields it reads; nil: it is a Lua function
---@field node perflua.Node? nil: likewise
---@field fn function? that function, of a record

---@param node perflua.Node a condition
---@return perflua.Filter
function expr.filter(node) return { node = node, refs = expr.refs(node) } end

local AROUND = 100 -- bytes of a long text before and after what is wrong with it

-- A text as a message quotes it.
local function quoted(text, at)
  local from, till = at - AROUND, at + AROUND
  if #text <= 2 * AROUND then return text end
  return (from > 1 and "…" or "") .. text:sub(math.max(from, 1), till)
    .. (till < #text and "…" or "")
end

-- Returns what fn gives, or nil and the message it raises as { at, message }, which said puts
-- into words.
local function caught(describe, fn)
  local ok, result = pcall(fn)
  if ok then return result end
  if type(result) ~= "table" then error(result, 0) end
  return nil, describe(result)
end

---@param text string
---@param scope table knows the fields: scope:field(node) -> ref, raising { at, message };
--- scope:resolve(path, text)
---@return perflua.Filter? filter
---@return string? message # what is wrong with text, with its column
function expr.compile(text, scope)
  local parsed = false
  return caught(function(wrong)
    local hint = (wrong.beyond or not parsed and not wrong.is_spelling)
      and "; where(function(record) … end) takes any condition" or ""
    return ("filter \"%s\", column %d: %s%s"):format(quoted(text, wrong.at), wrong.at,
      wrong.message, hint)
  end, function()
    local node = parser.expression(text)
    parsed = true
    check.node(node, scope)
    if not check.is_condition(node.kind) then
      fail(node.at, "a filter must be a condition, found %s", kinds.called(node))
    end
    return expr.filter(node)
  end)
end

---@param text string
---@param scope table
---@return perflua.Node? node # a field alone is not looked up: its ref is nil
---@return string? message
function expr.value(text, scope)
  return caught(function(wrong)
    return ("expression \"%s\", column %d: %s"):format(quoted(text, wrong.at), wrong.at,
      wrong.message)
  end, function()
    local node = parser.expression(text)
    if node.op == "field" then return node end
    check.node(node, scope)
    if node.kind == "nil" then fail(node.at, "nil is not a value") end
    return node
  end)
end

return expr
