-- Checked trees (filter/expr.lua) to plain tables, of which the core makes programs: see
-- src/binding/query/trees.h for their form. What the core cannot read itself is a call: of a
-- function of the script's, or of the function that reads a field of a record in Lua.

local lower = {}

local MAX_STEPS = 8 -- as the core has them

local binary = {
  ["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "div", ["//"] = "idiv", ["%"] = "mod",
  ["^"] = "pow",
  ["&"] = "band", ["|"] = "bor", ["~"] = "bxor", ["<<"] = "shl", [">>"] = "shr",
  ["and"] = "and", ["or"] = "or", find = "find", starts = "starts", glob = "glob",
  match = "match", bucket = "bucket", given = "given", either = "either",
}
local unary = { ["not"] = "not", neg = "neg", bnot = "bnot", lower = "lower" }
local constant = { number = true, string = true, boolean = true }

-- Members of events that are told by records which are met while others are read.
local late = { unit = true, scale = true }

-- The values of a member of events, by their indexes: it does not change while records are
-- read, unless events come late. nil and why not.
local function by_event(ref, file)
  if file.mode == "pipe" then
    return nil, ("%s: a stream may add events later"):format(ref.text)
  end
  if late[ref.path[2]] then return nil, ("%s is read among the records"):format(ref.text) end
  local values = {}
  for i, event in ipairs(file.events) do
    local value = event[ref.path[2]]
    if value ~= nil and not constant[type(value)] then
      return nil, ("%s is a view"):format(ref.text)
    end
    values[i] = value
  end
  return values
end

-- A composite is there or not; as a value only Lua has it.
local function is_composite(ref)
  local path = ref.path
  return ref.kind == "view" or math.type(path[#path]) ~= nil and path[#path - 1] == "inlined"
end

---@class perflua.Lowering
---@field file perflua.File
---@field fields table<string, table> by their text: the core reads what is one table once
---@field calls string? why a function is called, if one is
local Lowering = {}
Lowering.__index = Lowering

-- Returns the reason for which the core does not read a field, or its presence, itself; nil if
-- it does.
local function why_called(ref, as_value)
  if not ref.root then return ("%s is a function of Lua"):format(ref.text) end
  if #ref.path > MAX_STEPS + 1 then
    return ("%s has more than %d parts"):format(ref.text, MAX_STEPS)
  end
  if as_value and is_composite(ref) then return ("%s is a view"):format(ref.text) end
  if as_value and ref.mixed then
    return ("%s is a view in some events"):format(ref.text)
  end
end

---@param fn function
---@param kind string
---@param result "condition"|"key"|"event"|nil
---@param why string
---@param args table[]? trees; nil: the function is given the record
---@return table
function Lowering:call(fn, kind, result, why, args)
  self.calls = self.calls or why
  return { op = "call", kind = kind, fn = fn, is = result, args = args }
end

-- A member of the items that rows are.
function Lowering:item(ref)
  local name = ref.view .. " " .. ref.item
  self.fields[name] = self.fields[name] or { view = ref.view, item = ref.item }
  return self.fields[name]
end

---@param ref table
---@param as_value boolean else it is asked whether it is there, or how many items it has
---@return table # of a field's node, lowered
function Lowering:leaf(ref, kind, as_value)
  if ref.item then return { op = "field", kind = kind, field = self:item(ref) } end
  local why = why_called(ref, as_value)
  if why then return self:call(ref.get, kind, kind == "event" and kind or nil, why) end
  local known = ref.chain and "a Stack of " .. ref.chain or ref.text
  local field = self.fields[known]
  if not field then
    field = table.move(ref.path, 2, #ref.path, 2,
      { ref.root, types = ref.types, kind = ref.checks })
    field.chain = ref.chain
    if ref.root == "event" and #ref.path > 1 then
      field.by_event, why = by_event(ref, self.file)
      if why then return self:call(ref.get, kind, kind == "event" and kind or nil, why) end
    end
    self.fields[known] = field
  end
  return { op = "field", kind = kind, field = field }
end

local visit -- [op](lowering, node) -> table

function Lowering:node(node) return visit[node.op](self, node) end

-- A field of which it matters whether it is there, or how many items it has, or any other node.
local function operand(self, node)
  if node.op == "field" then return self:leaf(node.ref, node.kind, false) end
  return self:node(node)
end

local function list_of(set)
  local list = {}
  for value in pairs(set) do list[#list + 1] = value end
  return list
end

-- Returns a function that counts the items of a value in Lua, as the core counts them.
local function count_of(get)
  return function(record)
    local value = get(record)
    local kind, meta = type(value), getmetatable(value)
    local has = kind == "string" or kind == "table" or meta == "perflua.args"
      or kind == "userdata" and type(meta) == "table" and meta.__len ~= nil
    if has then return #value end
  end
end

visit = {
  const = function(_, node) return { op = "const", kind = node.kind, value = node.value } end,
  field = function(self, node) return self:leaf(node.ref, node.kind, true) end,
  ["nil-test"] = function(self, node)
    return { op = "present", kind = "boolean", negated = not node.present,
      left = operand(self, node.left) }
  end,
  compare = function(self, node)
    return { op = node.comparison, kind = "boolean", negated = node.negated,
      left = self:node(node.left), right = self:node(node.right) }
  end,
  event = function(self, node)
    local field = self:node(node.field)
    return { op = "event_in", kind = "boolean", negated = node.negated, left = field,
      events = node.set }
  end,
  ["in"] = function(self, node)
    return { op = "in", kind = "boolean", negated = node.negated, left = self:node(node.left),
      set = list_of(node.set) }
  end,
  under = function(_, node)
    return { op = "under", kind = "boolean",
      right = { op = "const", kind = "string", value = node.value } }
  end,
  count = function(self, node)
    local left = operand(self, node.left)
    if left.op == "call" then
      return self:call(count_of(left.fn), node.kind, nil, self.calls)
    end
    return { op = "count", kind = node.kind, left = left }
  end,
}
for spelling, op in pairs(binary) do
  visit[spelling] = function(self, node)
    return { op = op, kind = node.kind, left = self:node(node.left),
      right = self:node(node.right) }
  end
end
for spelling, op in pairs(unary) do
  visit[spelling] = function(self, node)
    return { op = op, kind = node.kind, left = self:node(node.left) }
  end
end

---@param file perflua.File
---@return perflua.Lowering # for the trees of one query
function lower.of(file) return setmetatable({ file = file, fields = {} }, Lowering) end

---A condition: of a filter.
---@param filter perflua.Filter
---@return table
function Lowering:condition(filter)
  if filter.node then return self:node(filter.node) end
  return self:call(filter.fn, "boolean", "condition", "a function of Lua")
end

---A value: of a key, of a measure, of a column.
---@param ref table
---@param result "key"? objects are told apart by their identity
---@return table
function Lowering:value(ref, result)
  if not ref.node then
    return self:call(ref.get, "any", result, ("%s is a function of Lua"):format(ref.text))
  end
  local tree = self:node(ref.node)
  -- a constant alone is not what it would be beside another operand
  if tree.op == "const" then tree.kind = ref.kind end
  if tree.op == "call" then tree.is = tree.is or result end
  return tree
end

local function all(list, from, to)
  if from == to then return list[from] end
  local middle = (from + to) // 2
  return { op = "and", kind = "boolean", left = all(list, from, middle),
    right = all(list, middle + 1, to) }
end

---All of them, as a tree of few levels.
---@param conditions table[] lowered ones
---@return table? # nil: there are none
function lower.all(conditions)
  return #conditions > 0 and all(conditions, 1, #conditions) or nil
end

lower.class = Lowering -- for trees over other things than records

return lower
