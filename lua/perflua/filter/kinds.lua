-- Kinds of values: what messages call them, and which Lua values they have.

local arith = require "perflua.filter.arith"

local kinds = {}

local by_kind = {
  boolean = "a condition", string = "a string", bytes = "a string", float = "a number",
  ["nil"] = "nil",
  view = "a view", event = "an event", stack = "a call chain",
}

---@param node table that was checked
---@return string # what error messages call this part of an expression
function kinds.called(node)
  local name = by_kind[node.kind] or "an integer"
  return node.op == "field" and ("%s (%s)"):format(node.text, name) or name
end

local text = { string = true, bytes = true, any = true }

kinds.is_text = text

-- Operands of one comparison must be of one family.
---@param kind string
---@return string
function kinds.family(kind)
  if arith.is_number[kind] then return "number" end
  return text[kind] and "string" or kind
end

local function is_integer(value) return math.type(value) == "integer" end
local function is_number(value) return math.type(value) ~= nil end
local function is_string(value) return type(value) == "string" end
local function is_stack(value)
  local meta = type(value) == "userdata" and getmetatable(value)
  return type(meta) == "table" and meta.__name == "perflua.stack"
end

-- Which values a field of a kind can have: kinds.has[kind](value), for values that are not nil.
kinds.has = {
  signed = is_integer, unsigned = is_integer, address = is_integer, float = is_number,
  percent = is_number,
  string = is_string, bytes = is_string, event = is_string, stack = is_stack,
  boolean = function(value) return type(value) == "boolean" end,
  any = function() return true end,
}

-- Equal numbers (1 and 1.0, 0.0 and -0.0) are shown in one form, whichever came first: the
-- float for a field of floats, else the integer.
---@param x any not nil
---@param kind string of what it is a value of
---@return any
function kinds.shown(x, kind)
  if kind == "float" then return x + 0.0 end -- of -0.0, too
  return math.type(x) == "float" and math.tointeger(x) or x
end

return kinds
