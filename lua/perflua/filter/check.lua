-- Gives a parsed expression its meaning: every part gets its kind, and operators become the
-- nodes that the core reads (src/binding/query/trees.c). After that they are:
--
--   const { value, kind }, field { ref, tested, path, text }: ref is what its scope says of it,
--   tested: only whether it is there matters, or how many items it has,
--   and / or { left, right }, not { left }, present { left, negated },
--   == / < / <= / > / >= { left, right, negated }, where f ~= g is a negated f == g,
--   event { left, set, negated }: set by an event's index, in { left, set }: set by value,
--   find / starts / glob / match { left, right }, lower { left }, under { right }: a constant,
--   count { left }, bucket { left, right }: a constant,
--   given { left, right }: the value right if the condition left holds,
--   either { left, right }: the value left, or right where left is absent,
--   neg / bnot { left }, and + - * / // % ^ & | ~ << >> { left, right }.
--
-- Every node has op, kind and at, the column where it is written.

local arith = require "perflua.filter.arith"
local calls = require "perflua.filter.calls"
local events = require "perflua.recording.events"
local kinds = require "perflua.filter.kinds"

local fail = require("perflua.filter.lexer").fail
local family, word = kinds.family, kinds.called
local condition = { boolean = true, any = true, ["nil"] = true }

local check -- by op: (node, scope) sets node.kind, and may replace what the node is

local function visit(node, scope)
  check[node.op](node, scope)
  return node
end

local function fold(node)
  local a, b = node.left, node.right
  if a.op ~= "const" or b and b.op ~= "const" then return end
  local value = node.fn(a.value, b and b.value)
  if value == nil then return end
  if node.kind ~= "float" then node.kind = arith.constant_kind(node.op, value, node.kind) end
  node.is_time = a.is_time or b and b.is_time
  node.op, node.value, node.left, node.right = "const", value, nil, nil
end

local function check_arithmetic(node, scope)
  local a, b = visit(node.left, scope), visit(node.right, scope)
  for _, side in ipairs { a, b } do
    if not arith.is_number[side.kind] then
      fail(side.at, "'%s' expects numbers, found %s", node.op, word(side))
    elseif arith.is_bitwise[node.op] and side.kind == "float" then
      fail(side.at, "'%s' expects integers, found %s", node.op, word(side))
    end
  end
  node.kind, node.fn = arith.operation(node.op, a.kind, b.kind)
  fold(node)
end

local function check_unary(node, scope, integers)
  local a = visit(node.left, scope)
  if not arith.is_number[a.kind] or integers and a.kind == "float" then
    fail(a.at, "'%s' expects %s, found %s", node.op == "neg" and "-" or "~",
      integers and "an integer" or "a number", word(a))
  end
  node.kind = a.kind
  if node.op == "neg" and a.kind ~= "float" and a.kind ~= "any" then node.kind = "signed" end
  if node.op == "bnot" and (a.kind == "natural" or a.kind == "bits") then
    node.kind = "signed"
  end
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
    fail(node.at,
      "compare an event with a name in quotes (== or ~=); event.<field> is an attribute of it")
  end
  local set = events.resolve(scope.file.events, const.value)
  node.negated = node.op == "~="
  node.op, node.left, node.right, node.set = "event", field, nil, set
end

-- A length of time says nothing of the clock that `time` counts on: elapsed was meant.
local function check_clock(node, field, const)
  if const.op ~= "const" or not const.is_time or field.op ~= "field"
    or #field.path > 1 then return end
  if field.path[1] ~= "time" then return end
  fail(node.at, "cannot compare time, a point on the recording's clock, with a length of time; "
    .. "use elapsed, which counts from the first sample")
end

local function check_comparison(node, scope)
  local a = visit(node.left, scope)
  if a.kind == "string" or a.kind == "event" then calls.check_word(node.right, scope) end
  local b = visit(node.right, scope)
  node.kind = "boolean"
  if a.kind == "nil" or b.kind == "nil" then
    if node.op ~= "==" and node.op ~= "~=" then
      fail(node.at, "cannot order nil; use == or ~=")
    end
    local operand = a.kind == "nil" and b or a
    node.negated = node.op == "=="
    node.op, node.left, node.right, operand.tested = "present", operand, nil, true
    return
  end
  if a.kind == "event" then return check_event(node, a, b, scope) end
  if b.kind == "event" then return check_event(node, b, a, scope) end
  for _, side in ipairs { a, b } do
    if side.kind == "view" then
      fail(side.at, "%s is a view, which compares only with nil; name one of its fields",
        side.text)
    end
  end
  check_clock(node, a, b)
  check_clock(node, b, a)
  local x, y = family(a.kind), family(b.kind)
  if x ~= y and a.kind ~= "any" and b.kind ~= "any" then
    fail(node.at, "cannot compare %s with %s", word(a), word(b))
  end
  if (x == "boolean" or y == "boolean") and node.op ~= "==" and node.op ~= "~=" then
    fail(node.at, "cannot order conditions; use == or ~=")
  end
  node.negated = node.op == "~="
  node.op = node.negated and "==" or node.op
end

local function check_condition(node, side)
  if condition[side.kind] then return end
  local hint = arith.is_number[side.kind] and "; write a comparison (~= 0)"
    or "; write a comparison (~= nil)"
  fail(side.at, "'%s' expects conditions, found %s%s", node, word(side), hint)
end

local function check_not(node, scope)
  check_condition(node.op, visit(node.left, scope))
  node.kind = "boolean"
end

-- parts[first … last] as a tree of few levels: in which order they are taken together changes
-- nothing.
local function halved(node, parts, first, last)
  if first == last then return parts[first] end
  local middle = (first + last) // 2
  node.left, node.right = halved({}, parts, first, middle), halved({}, parts, middle + 1, last)
  node.op, node.at, node.kind = parts.op, parts.at, parts.kind
  return node
end

local function is_value(node) return not condition[node.kind] end

-- Checks `a or b` of values, of which the first that is present is taken.
local function check_alternatives(parts)
  parts.op, parts.kind = "either", parts[1].kind
  for i = 2, #parts do
    local kind = arith.either(parts.kind, parts[i].kind)
    if not kind then
      fail(parts[i].at, "'or' expects values of one type, found %s and %s", word(parts[1]),
        word(parts[i]))
    end
    parts.kind = kind
  end
end

-- `condition and value` is a value, too.
local function check_logic(node, scope)
  local parts, has_value = node.parts, false
  for _, part in ipairs(parts) do has_value = is_value(visit(part, scope)) or has_value end
  parts.op, parts.at, parts.kind, node.parts = node.op, node.at, "boolean", nil
  if has_value and node.op == "or" and parts[1].kind ~= "boolean" then
    check_alternatives(parts)
    return halved(node, parts, 1, #parts)
  end
  local value = node.op == "and" and is_value(parts[#parts]) and table.remove(parts)
  for _, part in ipairs(parts) do check_condition(parts.op, part) end
  if not value then return halved(node, parts, 1, #parts) end
  node.op, node.kind, node.left, node.right = "given", value.kind,
    halved({}, parts, 1, #parts), value
end

check = {
  const = function() end,
  field = function(node, scope)
    local ref = scope:field(node)
    if ref.node and ref.node.op ~= "field" then -- a name for an expression
      for key, value in pairs(ref.node) do node[key] = value end
      return
    end
    node.ref, node.kind = ref, ref.kind
  end,
  neg = function(node, scope) check_unary(node, scope, false) end,
  bnot = function(node, scope) check_unary(node, scope, true) end,
  count = function(node, scope) calls.count(node, scope, visit) end,
  call = function(node, scope)
    calls.call(node, scope, visit)
    if node.op == "bucket" then fold(node) end
  end,
  ["in"] = function(node, scope) calls.within(node, scope, visit) end,
  ["and"] = check_logic, ["or"] = check_logic, ["not"] = check_not,
  ["~="] = check_comparison,
}
for op in ("== < <= > >="):gmatch("%S+") do check[op] = check_comparison end
for op in ("+ - * / // % ^ & | ~ << >>"):gmatch("%S+") do check[op] = check_arithmetic end

---@class perflua.Node
---@field op string
---@field kind string of its value, see arith.lua
---@field at integer

return {
  -- (node, scope): the same node, checked; raises { at, message }
  node = visit,
  ---@param kind string
  ---@return boolean? # can it be a condition?
  is_condition = function(kind) return condition[kind] end,
}
