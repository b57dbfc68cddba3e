-- A checked expression as closures of a record, or of whatever its fields are read from.

local comparison = require "spec.support.model.comparison"

local names = { ["=="] = "eq", ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge" }

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

-- The value of a condition of kind "any" is: true for all that Lua takes for true; nil stays
-- nil.
local function truth(value)
  if value then return true end
  return value
end

-- Items of composites have no length, events neither.
local function has_length(value)
  local kind, meta = type(value), getmetatable(value)
  return kind == "string" or kind == "table" or meta == "perflua.args"
    or kind == "userdata" and type(meta) == "table" and meta.__len ~= nil
end

local function text_test(test)
  return function(node, access)
    local left, right = closure(node.left, access), closure(node.right, access)
    return function(x)
      local a = left(x)
      if type(a) ~= "string" then return false end
      local b = right(x)
      return type(b) == "string" and test(a, b)
    end
  end
end

-- Returns whether a character is in a glob's set, whose content is given.
local function in_set(content, c)
  local negated, i = content:find("^[!^]") ~= nil, 1
  if negated then content = content:sub(2) end
  while i <= #content do
    local first, last = content:sub(i, i), content:sub(i, i)
    if content:sub(i + 1, i + 1) == "-" and i + 2 <= #content then
      last, i = content:sub(i + 2, i + 2), i + 2
    end
    if first <= c and c <= last then return not negated end
    i = i + 1
  end
  return negated
end

-- Returns whether the whole text matches a glob.
local function matches_glob(text, glob)
  if glob == "" then return text == "" end
  local first, rest = glob:sub(1, 1), glob:sub(2)
  if first == "*" then
    for i = 1, #text + 1 do
      if matches_glob(text:sub(i), rest) then return true end
    end
    return false
  elseif text == "" then
    return false
  end
  local content, after = glob:match("^%[([!^]?%]?[^%]]*)%]()")
  if first == "[" and content and content:find("^[!^]?.") and content ~= "!"
    and content ~= "^" then
    return in_set(content, text:sub(1, 1)) and matches_glob(text:sub(2), glob:sub(after))
  end
  return (first == "?" or first == text:sub(1, 1)) and matches_glob(text:sub(2), rest)
end

local function compare(node, access)
  local left, right, negated = closure(node.left, access), closure(node.right, access),
    node.negated
  local fn = comparison(node.left.kind, node.right.kind)[names[node.op]]
  local constant = node.right.op == "const" and node.right.value
  if constant then
    return function(x)
      local a = left(x)
      return a ~= nil and fn(a, constant) ~= negated
    end
  end
  return function(x)
    local a = left(x)
    if a == nil then return false end
    local b = right(x)
    if b == nil then return false end
    return fn(a, b) ~= negated
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
    return function(x) return truth(a(x) and b(x)) end
  end,
  ["or"] = function(node, access)
    local a, b = closure(node.left, access), closure(node.right, access)
    return function(x) return truth(a(x) or b(x)) end
  end,
  given = function(node, access)
    local condition, value = closure(node.left, access), closure(node.right, access)
    return function(x)
      if condition(x) then return value(x) end
    end
  end,
  either = function(node, access)
    local first, second = closure(node.left, access), closure(node.right, access)
    return function(x)
      local value = first(x)
      if value ~= nil then return value end
      return second(x)
    end
  end,
  ["not"] = function(node, access)
    local a = closure(node.left, access)
    return function(x) return not a(x) end
  end,
  present = function(node, access)
    local a, negated = closure(node.left, access), node.negated
    return function(x) return (a(x) == nil) == negated end
  end,
  event = function(node, access)
    local field, set, negated = closure(node.left, access), node.set, node.negated
    return function(x)
      local event = field(x)
      return event ~= nil and (set[event.index] or false) ~= negated
    end
  end,
  ["in"] = function(node, access)
    local left, set = closure(node.left, access), node.set
    return function(x)
      local value = left(x)
      return value ~= nil and set[value] == true
    end
  end,
  find = text_test(function(a, b) return a:find(b, 1, true) ~= nil end),
  starts = text_test(function(a, b) return a:sub(1, #b) == b end),
  glob = function(node, access)
    local left, glob = closure(node.left, access), node.right.value
    return function(x)
      local text = left(x)
      return type(text) == "string" and matches_glob(text, glob)
    end
  end,
  match = function(node, access)
    local left, pattern = closure(node.left, access), node.right.value
    return function(x)
      local text = left(x)
      return type(text) == "string" and text:find(pattern) ~= nil
    end
  end,
  lower = function(node, access)
    local of = closure(node.left, access)
    return function(x)
      local text = of(x)
      return type(text) == "string" and text:lower() or nil
    end
  end,
  under = function(node, access)
    local name, none = node.right.value, function() end
    local chain = node.chain and access(node.chain) or none
    local symbol = node.symbol and access(node.symbol) or none
    local function has_name(text)
      return text ~= nil and (text == name or matches_glob(text, name))
    end
    return function(x)
      local frames = chain(x)
      if not frames or #frames == 0 then return has_name(symbol(x)) end
      for i = 1, #frames do
        if has_name(frames[i].symbol) then return true end
      end
      return false
    end
  end,
  count = function(node, access)
    local of = closure(node.left, access)
    return function(x)
      local value = of(x)
      if value ~= nil and has_length(value) then return #value end
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
for op in pairs(names) do emit[op] = compare end

return closure
