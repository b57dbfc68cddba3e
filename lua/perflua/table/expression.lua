-- Expressions of a Table's columns: the language of filters, whose names are columns. They
-- become trees of the core, whose fields are places in a row. An absent value is nil, and means
-- what it means in filters.

local expr = require "perflua.filter.expr"
local kinds = require "perflua.filter.kinds"
local lower = require "perflua.plan.lower"
local suggest = require "perflua.errors.suggest"

local expression = {}

-- Kinds of columns that a filter does not know, as those that it takes them for. A constant is
-- of the kind that it is shown as.
local taken_for = { percent = "float", event = "string", ["function"] = "any",
  symbol = "any" }
local shown_as = { natural = "unsigned", bits = "unsigned" }

-- Parts of expressions of records that columns do not have.
local of_records = { event = true, under = true, call = true }

---@class perflua.ColumnLowering: perflua.Lowering
local Columns = setmetatable({}, { __index = lower.class })
Columns.__index = Columns

function Columns:resolve(_, text)
  local names = {}
  for place, column in ipairs(self.columns) do
    if column.name == text then
      if column.barred then return nil, ("'%s' %s"):format(text, column.barred) end
      if column.kind == "histogram" then return nil, ("'%s' is a histogram"):format(text) end
      return { text = text, kind = taken_for[column.kind] or column.kind, place = place }
    end
    names[place] = column.name
  end
  return nil, suggest.among(("the table has no column '%s'"):format(text), text, names)
end

function Columns:field(node)
  local ref, message = self:resolve(node.path, node.text)
  return ref or error({ at = node.at, message = message }, 0)
end

function Columns:leaf(ref)
  self.fields[ref.place] = self.fields[ref.place] or { row = ref.place }
  return { op = "field", kind = ref.kind, field = self.fields[ref.place] }
end

function Columns:node(node)
  if of_records[node.op] then
    error({ at = node.at, message = ("'%s' is not for columns of a table"):format(node.op) }, 0)
  end
  local tree = lower.class.node(self, node)
  -- a cell has no items: a text has bytes, also where it may be something else
  if node.op == "count" then
    tree.left = { op = "lower", kind = "string", left = tree.left }
  end
  return tree
end

local function fail(text, wrong)
  error(("expression \"%s\", column %d: %s"):format(text, wrong.at, wrong.message), 0)
end

-- Calls fn; a message that it raises is put after the expression.
local function check(text, fn, ...)
  local ok, wrong = pcall(fn, ...)
  if not ok and type(wrong) == "table" then fail(text, wrong) end
  if not ok then error(wrong, 0) end
  return wrong
end

-- Returns the checked expression, its tree, and the kind of its values, as a column's.
local function parse(text, columns)
  local lowering = setmetatable({ columns = columns, fields = {} }, Columns)
  local node, message = expr.value(text, lowering)
  if not node then error(message, 0) end
  if node.op == "field" and not node.ref then -- expr.value leaves a field alone
    node.ref = check(text, lowering.field, lowering, node)
    node.kind = node.ref.kind
    return node, lowering:leaf(node.ref), columns[node.ref.place].kind
  end
  local tree = check(text, lowering.node, lowering, node)
  tree.kind = shown_as[node.kind] or node.kind
  return node, tree, tree.kind
end

---@param text string
---@param columns {name: string, kind: string, barred: string?}[] barred: why expressions
--- cannot name it
---@return table tree # raises a message if it is not an expression of these columns
---@return string kind # of its values, as a column's
function expression.parse(text, columns)
  local _, tree, kind = parse(text, columns)
  return tree, kind
end

---@param text string
---@param columns table[] as parse() takes them
---@return table tree # raises a message if it is not a condition of these columns
function expression.parse_condition(text, columns)
  local node, tree, kind = parse(text, columns)
  if kind ~= "boolean" and kind ~= "any" and kind ~= "function" then
    fail(text, { at = node.at, message = "a condition expected, this is "
      .. kinds.called(node) })
  end
  return tree
end

return expression
