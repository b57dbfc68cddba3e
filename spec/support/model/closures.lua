-- A checked expression as closures of a record, or of whatever its fields are read from.

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
    local left, right, negated = closure(node.left, access), closure(node.right, access),
      node.negated
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
  ["in"] = function(node, access)
    local left, set = closure(node.left, access), node.set
    return function(x)
      local value = left(x)
      return value ~= nil and set[value] == true
    end
  end,
  find = text_test(function(a, b) return a:find(b, 1, true) ~= nil end),
  starts = text_test(function(a, b) return a:sub(1, #b) == b end),
  under = function(node, access)
    local name, none = node.value, function() end
    local chain, symbol = node.chain and access(node.chain) or none, node.symbol
      and access(node.symbol) or none
    return function(x)
      local frames = chain(x)
      if not frames or #frames == 0 then return symbol(x) == name end
      for i = 1, #frames do
        if frames[i].symbol == name then return true end
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

return closure
