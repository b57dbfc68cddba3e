-- Expressions of a Table's columns: the language of filters, whose names are columns. They
-- become trees of the core, whose fields are places in a row. An absent value is nil, and means
-- what it means in filters.

local expr = require "perflua.filter.expr"
local kinds = require "perflua.filter.kinds"
local suggest = require "perflua.errors.suggest"

local expression = {}

-- Kinds of columns that a filter does not know, as those that it takes them for. A constant is
-- of the kind that it is shown as.
local taken_for = { percent = "float", event = "string", ["function"] = "any",
  symbol = "any" }
local shown_as = { natural = "unsigned", bits = "unsigned" }

-- A scope of expressions, whose fields are columns.
local Columns = { is_table = true }
Columns.__index = Columns

function Columns:resolve(_, text)
  if self.refs[text] then return self.refs[text] end
  local names = {}
  for place, column in ipairs(self.columns) do
    if column.name == text then
      if column.barred then return nil, ("'%s' %s"):format(text, column.barred) end
      if column.kind == "histogram" then return nil, ("'%s' is a histogram"):format(text) end
      self.refs[text] = { text = text, kind = taken_for[column.kind] or column.kind,
        row = place }
      return self.refs[text]
    end
    names[place] = column.name
  end
  return nil, suggest.among(("the table has no column '%s'"):format(text), text, names)
end

function Columns:field(node)
  local ref, message = self:resolve(node.path, node.text)
  return ref or error({ at = node.at, message = message }, 0)
end

local function fail(text, at, message)
  error(("expression \"%s\", column %d: %s"):format(text, at, message), 0)
end

---@param text string
---@param columns {name: string, kind: string, barred: string?}[] barred: why expressions
--- cannot name it
---@return perflua.Node # raises a message if it is not an expression of these columns
---@return string kind # of its values, as a column's
function expression.parse(text, columns)
  local scope = setmetatable({ columns = columns, refs = {} }, Columns)
  local node, message = expr.value(text, scope)
  if not node then error(message, 0) end
  if node.op == "field" and not node.ref then -- expr.value leaves a field alone
    node.ref, message = scope:resolve(node.path, node.text)
    if not node.ref then fail(text, node.at, message) end
    node.kind = node.ref.kind
    return node, columns[node.ref.row].kind
  end
  node.kind = shown_as[node.kind] or node.kind
  return node, node.kind
end

---@param text string
---@param columns table[] as parse() takes them
---@return perflua.Node # raises a message if it is not a condition of these columns
function expression.parse_condition(text, columns)
  local node, kind = expression.parse(text, columns)
  if kind ~= "boolean" and kind ~= "any" and kind ~= "function" then
    fail(text, node.at, "a condition expected, this is " .. kinds.called(node))
  end
  return node
end

return expression
