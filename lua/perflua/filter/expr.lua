-- The filter language: an expression of Lua's spelling, checked against the fields there are and
-- compiled to closures.
--
-- What it means where Lua leaves room: an absent field has no value, arithmetic on it has none, a
-- comparison with it is false (so `not (f == 1)` is true where f is absent, as in Lua), and
-- `f == nil`, `f ~= nil` ask whether it is there. `and`, `or` and `not` take conditions only: a number
-- is not one. Integer division by zero has no value. Numbers compare by their value whatever
-- their kinds, see arith.lua.

local arith = require "perflua.filter.arith"
local events = require "perflua.file.events"
local parser = require "perflua.filter.parser"

local expr = {}

local fail = require("perflua.filter.lexer").fail
local compare_name = { ["=="] = "eq", ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge" }
local condition = { boolean = true, any = true, ["nil"] = true }
local text_kind = { string = true, bytes = true, any = true }

local words = {
  boolean = "a condition", string = "a string", bytes = "a string", float = "a number", ["nil"] = "nil",
  view = "a composite", event = "an event",
}

local function word(node)
  local is = words[node.kind] or "an integer"
  return node.op == "field" and ("%s (%s)"):format(node.text, is) or is
end

-- Operands of one comparison must be of one family.
local function family(kind)
  if arith.is_number[kind] then return "number" end
  return text_kind[kind] and "string" or kind
end

local check -- [op](node, scope): sets node.kind; may replace the node's parts

local function visit(node, scope)
  check[node.op](node, scope)
  return node
end

local function fold(node)
  local a, b = node.left, node.right
  if a.op ~= "const" or b and b.op ~= "const" or not arith.is_integer[node.kind] then return end
  local value = node.fn(a.value, b and b.value)
  if value == nil then return end
  node.kind = arith.constant_kind(node.op, value, node.kind)
  node.op, node.value, node.left, node.right = "const", value, nil, nil
end

local function check_arithmetic(node, scope)
  local a, b = visit(node.left, scope), visit(node.right, scope)
  for _, side in ipairs { a, b } do
    if not arith.is_number[side.kind] then
      fail(side.at, "'%s' needs numbers, not %s", node.op, word(side))
    elseif arith.is_bitwise[node.op] and side.kind == "float" then
      fail(side.at, "'%s' needs integers", node.op)
    end
  end
  node.kind, node.fn = arith.operation(node.op, a.kind, b.kind)
  fold(node)
end

local function check_unary(node, scope, integers)
  local a = visit(node.left, scope)
  if not arith.is_number[a.kind] or integers and a.kind == "float" then
    fail(a.at, "'%s' needs %s, not %s", node.op == "neg" and "-" or "~",
      integers and "an integer" or "a number", word(a))
  end
  node.kind = a.kind
  if node.op == "neg" and a.kind ~= "float" and a.kind ~= "any" then node.kind = "signed" end
  if node.op == "bnot" and (a.kind == "natural" or a.kind == "bits") then node.kind = "signed" end
  if node.op == "neg" then
    node.fn = function(x) return math.type(x) and -x end
  else
    node.fn = function(x)
      local i = math.type(x) and math.tointeger(x)
      return i and ~i
    end
  end
  fold(node)
end

-- event == "cycles" follows the lookup of events by name.
local function check_event(node, field, const, scope)
  if const.kind ~= "string" or const.op ~= "const" or node.op ~= "==" and node.op ~= "~=" then
    fail(node.at, "an event compares only with a name (== or ~=); event.<field> has its attributes")
  end
  local set = events.resolve(scope.file.events, const.value)
  node.op, node.field, node.set, node.negated = "event", field, set, node.op == "~="
end

local function check_comparison(node, scope)
  local a, b = visit(node.left, scope), visit(node.right, scope)
  node.kind = "boolean"
  if a.kind == "nil" or b.kind == "nil" then
    if node.op ~= "==" and node.op ~= "~=" then fail(node.at, "nil is in no order; use == or ~=") end
    local operand = a.kind == "nil" and b or a
    node.op, node.left, node.right, node.present = "nil-test", operand, nil, node.op == "~="
    return
  end
  if a.kind == "event" then return check_event(node, a, b, scope) end
  if b.kind == "event" then return check_event(node, b, a, scope) end
  for _, side in ipairs { a, b } do
    if side.kind == "view" then
      fail(side.at, "%s is a composite and compares only with nil; name a member", side.text)
    end
  end
  local x, y = family(a.kind), family(b.kind)
  if x ~= y and a.kind ~= "any" and b.kind ~= "any" then
    fail(node.at, "%s and %s do not compare", word(a), word(b))
  end
  if (x == "boolean" or y == "boolean") and node.op ~= "==" and node.op ~= "~=" then
    fail(node.at, "conditions are in no order; use == or ~=")
  end
  local comparison = arith.comparison(a.kind, b.kind)
  node.negated = node.op == "~="
  node.compare = comparison[compare_name[node.negated and "==" or node.op]]
  node.op = "compare"
end

local function check_condition(node, side)
  if condition[side.kind] then return end
  local hint = arith.is_number[side.kind] and "; compare it with something (~= 0)" or "; compare it (~= nil)"
  fail(side.at, "'%s' needs conditions, not %s%s", node, word(side), hint)
end

local function check_logic(node, scope)
  check_condition(node.op, visit(node.left, scope))
  if node.right then check_condition(node.op, visit(node.right, scope)) end
  node.kind = "boolean"
end

check = {
  const = function() end,
  field = function(node, scope)
    node.ref = scope:field(node)
    node.kind = node.ref.kind
  end,
  neg = function(node, scope) check_unary(node, scope, false) end,
  bnot = function(node, scope) check_unary(node, scope, true) end,
  ["and"] = check_logic, ["or"] = check_logic, ["not"] = check_logic,
  ["~="] = check_comparison,
}
for op in pairs(compare_name) do check[op] = check_comparison end
for op in ("+ - * / // % ^ & | ~ << >>"):gmatch("%S+") do check[op] = check_arithmetic end

local emit -- [op](node, access) -> closure of a context

local function closure(node, access) return (emit[node.op] or emit.binary)(node, access) end

local function unary(node, access)
  local operand, fn = closure(node.left, access), node.fn
  return function(x)
    local a = operand(x)
    if a == nil then return nil end
    return fn(a)
  end
end

emit = {
  const = function(node)
    local value = node.value
    return function() return value end
  end,
  field = function(node, access) return access(node.ref) end,
  neg = unary,
  bnot = unary,
  ["and"] = function(node, access)
    local a, b = closure(node.left, access), closure(node.right, access)
    return function(x) return a(x) and b(x) end
  end,
  ["or"] = function(node, access)
    local a, b = closure(node.left, access), closure(node.right, access)
    return function(x) return a(x) or b(x) end
  end,
  ["not"] = function(node, access)
    local a = closure(node.left, access)
    return function(x) return not a(x) end
  end,
  ["nil-test"] = function(node, access)
    local a, present = closure(node.left, access), node.present
    return function(x) return (a(x) ~= nil) == present end
  end,
  event = function(node, access)
    local field, set, negated = closure(node.field, access), node.set, node.negated
    return function(x)
      local event = field(x)
      return event ~= nil and (set[event.index] or false) ~= negated
    end
  end,
  compare = function(node, access)
    local left, right, negated = closure(node.left, access), closure(node.right, access), node.negated
    local compare, constant = node.compare, node.right.op == "const" and node.right.value
    if constant then
      return function(x)
        local a = left(x)
        return a ~= nil and compare(a, constant) ~= negated
      end
    end
    return function(x)
      local a = left(x)
      if a == nil then return false end
      local b = right(x)
      if b == nil then return false end
      return compare(a, b) ~= negated
    end
  end,
  binary = function(node, access)
    local left, right, fn = closure(node.left, access), closure(node.right, access), node.fn
    return function(x)
      local a = left(x)
      if a == nil then return nil end
      local b = right(x)
      if b == nil then return nil end
      return fn(a, b)
    end
  end,
}

local function collect(node, refs)
  if node.ref then refs[#refs + 1] = node.ref end
  for _, part in ipairs { node.left or false, node.right or false, node.field or false } do
    if part then collect(part, refs) end
  end
  return refs
end

---@class perflua.Filter
---@field refs table[] the fields it reads
---@field bind fun(access: function): function # access(ref) -> fn(context) -> value or nil

---@param text string
---@param scope table knows the fields: scope:field(node) -> ref, raising { at, message }
---@return perflua.Filter? filter
---@return string? message # what is wrong with text, with its column
function expr.compile(text, scope)
  local hint = ". What filters cannot say, where(function(record) … end) can"
  local ok, result = pcall(function()
    local node = parser.expression(text)
    hint = ""
    visit(node, scope)
    if not condition[node.kind] then
      fail(node.at, "a filter is a condition, this is %s", word(node))
    end
    return node
  end)
  if ok then
    return {
      refs = collect(result, {}),
      bind = function(access) return closure(result, access) end,
    }
  elseif type(result) ~= "table" then
    error(result, 0)
  end
  return nil, ("filter \"%s\", column %d: %s%s"):format(text, result.at, result.message, hint)
end

return expr
