-- Expressions of a Table's columns: the language of filters, whose names are columns. A line is
-- { value of each column … }; an absent value is nil, and means what it means in filters.

local arith = require "perflua.filter.arith"
local core = require "perflua.core"
local expr = require "perflua.filter.expr"
local kinds = require "perflua.filter.kinds"
local suggest = require "perflua.errors.suggest"

local expression = {}

-- Kinds of columns that a filter does not know, as those that it takes them for. A constant is
-- of the kind that it is shown as.
local taken_for = { percent = "float", event = "string", ["function"] = "any" }
local shown_as = { natural = "unsigned", bits = "unsigned" }

local Scope = {}
Scope.__index = Scope

function Scope:resolve(_, text)
  local names = {}
  for place, column in ipairs(self.columns) do
    if column.name == text then
      if column.barred then return nil, ("'%s' %s"):format(text, column.barred) end
      if column.kind == "histogram" then return nil, ("'%s' is a histogram"):format(text) end
      return { text = text, kind = taken_for[column.kind] or column.kind, place = place }
    end
    names[place] = column.name
  end
  return nil, suggest.message(("the table has no column '%s'"):format(text), text, names)
end

function Scope:field(node)
  local ref, message = self:resolve(node.path, node.text)
  return ref or error({ at = node.at, message = message }, 0)
end

local evaluate -- by op: (node, line) → value

local function value_of(node, line) return evaluate[node.op](node, line) end

local function apply_unary(node, line)
  local a = value_of(node.left, line)
  if a == nil then return nil end
  return node.apply(a)
end

local function apply_binary(node, line)
  local a = value_of(node.left, line)
  if a == nil then return nil end
  local b = value_of(node.right, line)
  if b == nil then return nil end
  return node.apply(a, b)
end

-- Conditions are true or false; an absent one stays nil.
local function truth(value)
  if value then return true end
  return value
end

local function test_text(test)
  return function(node, line)
    local a, b = value_of(node.left, line), value_of(node.right, line)
    return type(a) == "string" and type(b) == "string" and test(a, b)
  end
end

local function test_pattern(node, line)
  local text = value_of(node.left, line)
  return type(text) == "string" and node.apply(text)
end

evaluate = {
  const = function(node) return node.value end,
  field = function(node, line) return line[node.ref.place] end,
  ["and"] = function(node, line)
    return truth(value_of(node.left, line) and value_of(node.right, line))
  end,
  ["or"] = function(node, line)
    return truth(value_of(node.left, line) or value_of(node.right, line))
  end,
  ["not"] = function(node, line) return not value_of(node.left, line) end,
  ["nil-test"] = function(node, line)
    return (value_of(node.left, line) ~= nil) == node.present
  end,
  compare = function(node, line)
    local a, b = value_of(node.left, line), value_of(node.right, line)
    return a ~= nil and b ~= nil and node.apply(a, b) ~= node.negated
  end,
  ["in"] = function(node, line)
    local value = value_of(node.left, line)
    return value ~= nil and node.set[value] == true
  end,
  find = test_text(function(a, b) return a:find(b, 1, true) ~= nil end),
  starts = test_text(function(a, b) return a:sub(1, #b) == b end),
  glob = test_pattern, match = test_pattern,
  lower = function(node, line)
    local text = value_of(node.left, line)
    return type(text) == "string" and text:lower() or nil
  end,
  count = function(node, line)
    local value = value_of(node.left, line)
    return type(value) == "string" and #value or nil
  end,
  neg = apply_unary, bnot = apply_unary, bucket = apply_binary,
}
for op in ("+ - * / // % ^ & | ~ << >>"):gmatch("%S+") do evaluate[op] = apply_binary end

local function negate(x) return math.type(x) and -x or nil end

local function complement(x)
  local i = math.type(x) and math.tointeger(x)
  return i and ~i
end

-- Finds the functions that a checked expression is evaluated with; raises { at, message }.
local function bind(node)
  local op, a, b = node.op, node.left, node.right
  if not evaluate[op] then
    error({ at = node.at, message = ("'%s' is not for columns of a table"):format(op) }, 0)
  end
  if a then bind(a) end
  if b then bind(b) end
  if op == "compare" then
    node.apply = arith.comparison(a.kind, b.kind)[node.comparison]
  elseif op == "bucket" then
    node.apply = select(2, arith.bucket(a.kind))
  elseif op == "glob" or op == "match" then
    node.apply = core.pattern(b.value, op == "glob")
  elseif op == "neg" or op == "bnot" then
    node.apply = op == "neg" and negate or complement
  elseif evaluate[op] == apply_binary then
    node.apply = select(2, arith.operation(op, a.kind, b.kind))
  end
end

local function fail(text, wrong)
  error(("expression \"%s\", column %d: %s"):format(text, wrong.at, wrong.message), 0)
end

-- Calls fn; a message that it raises is put behind the expression.
local function check(text, fn, ...)
  local ok, wrong = pcall(fn, ...)
  if not ok and type(wrong) == "table" then fail(text, wrong) end
  if not ok then error(wrong, 0) end
  return wrong
end

---@param text string
---@param columns {name: string, kind: string, barred: string?}[] barred: why expressions
--- cannot name it
---@return table node # raises a message if it is no expression of these columns
---@return string kind # of its values, as a column's
function expression.parse(text, columns)
  local scope = setmetatable({ columns = columns }, Scope)
  local node, message = expr.value(text, scope)
  if not node then error(message, 0) end
  if node.op == "field" and not node.ref then -- expr.value leaves a field alone
    node.ref = check(text, scope.field, scope, node)
    return node, columns[node.ref.place].kind
  end
  check(text, bind, node)
  return node, shown_as[node.kind] or node.kind
end

---@param text string
---@param columns table[] as parse() takes them
---@return table node # raises a message if it is no condition of these columns
function expression.parse_condition(text, columns)
  local node, kind = expression.parse(text, columns)
  if kind ~= "boolean" and kind ~= "any" and kind ~= "function" then
    node.kind = node.ref and node.ref.kind or node.kind
    fail(text, { at = node.at, message = "a condition expected, this is "
      .. kinds.called(node) })
  end
  return node
end

---@param node table
---@param line any[]
---@return any
expression.evaluate = value_of

return expression
