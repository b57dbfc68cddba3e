-- Trees of filters, keys and measures for the core, which takes checked expressions
-- (filter/check.lua) as they are. Functions of the script become calls. For queries over rows
-- intervals/row_values.lua replaces the fields by places in a row.

local trees = {}

---@class perflua.TreeBuilder
---@field calls string? why a function is called, if one is
local Builder = {}
Builder.__index = Builder

-- Returns why the core calls Lua for a tree; nil: it does not.
local function reason_of(node)
  local ref = node.ref
  if ref then return ref.by_call or not node.tested and ref.as_value or nil end
  return node.left and reason_of(node.left) or node.right and reason_of(node.right) or nil
end

---@return perflua.TreeBuilder # for the trees of one query
function trees.builder() return setmetatable({}, Builder) end

---@param fn function
---@param kind string
---@param result "condition"|"key"|nil what is made of its value
---@param why string
---@param args table[]? trees; nil: the function is given the record
---@return table
function Builder:call(fn, kind, result, why, args)
  self.calls = self.calls or why
  return { op = "call", kind = kind, fn = fn, is = result, args = args }
end

---@param node perflua.Node
---@return perflua.Node
function Builder:node(node)
  self.calls = self.calls or reason_of(node)
  return node
end

---@param node perflua.Node
---@return perflua.Node # a copy with the operands that this builder makes of its own
function Builder:mapped(node)
  local copy = {}
  for name, value in pairs(node) do copy[name] = value end
  copy.left = node.left and self:node(node.left)
  copy.right = node.right and self:node(node.right)
  return copy
end

---A condition: of a filter.
---@param filter perflua.Filter
---@return table
function Builder:condition(filter)
  if filter.node then return self:node(filter.node) end
  return self:call(filter.fn, "boolean", "condition", "a function of Lua")
end

---A value: of a key, of a measure, of a column.
---@param ref table
---@param result "key"? objects are told apart by their identity
---@return table
function Builder:value(ref, result)
  local node = ref.node
  if not node then
    return self:call(ref.get, "any", result, ("%s is a function of Lua"):format(ref.text))
  elseif node.op == "const" then -- alone it is not what it would be beside another operand
    return { op = "const", kind = ref.kind, value = node.value }
  end
  local tree = self:node(node)
  local why = result and reason_of(tree)
  if why and tree.op == "field" then return self:call(ref.get, ref.kind, result, why) end
  return tree
end

local function all(list, from, to)
  if from == to then return list[from] end
  local middle = (from + to) // 2
  return { op = "and", kind = "boolean", left = all(list, from, middle),
    right = all(list, middle + 1, to) }
end

---All of them, as a tree of few levels.
---@param conditions table[] trees
---@return table? # nil: there are none
function trees.all(conditions)
  return #conditions > 0 and all(conditions, 1, #conditions) or nil
end

trees.class = Builder -- for trees over other things than records

return trees
