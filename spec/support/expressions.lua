-- The expressions of filters, over tables that stand in for records.
local assert = require "luassert"
local closures = require "spec.support.model.closures"
local expr = require "perflua.filter.expr"

local expressions = {}

local kinds = {
  s = "signed", t = "signed", u = "unsigned", v = "unsigned", a = "address", b = "address",
  f = "float",
  g = "float", c = "string", d = "string", flag = "boolean", on = "boolean", raw = "bytes",
  what = "any",
  chain = "view", args = "any", event = "event", callchain = "view", symbol = "string",
}

expressions.file = {
  events = { { name = "cycles:P", index = 1, type = 0 },
    { name = "faults", index = 2, type = 1 } },
}

local scope = { file = expressions.file }
expressions.scope = scope

function scope.resolve(_, path, text)
  local kind = kinds[path[1]]
  if not kind then return nil, "unknown field '" .. text .. "'" end
  if #path > 1 then kind = "any" end
  return { text = text, kind = kind, path = path, get = function(record)
    local value = record
    for _, step in ipairs(path) do
      if value == nil then return nil end
      value = value[step]
    end
    return value
  end }
end

function scope:field(node)
  local ref, message = self:resolve(node.path, node.text)
  return ref or error({ at = node.at, message = message }, 0)
end

local function by_record(ref) return ref.get end

---Returns what a filter says of a table.
function expressions.holds(text, record)
  local filter, message = expr.compile(text, scope)
  assert(filter, message)
  return closures(filter.node, by_record)(record or {})
end

--- The value of an expression, and its kind.
function expressions.value(text, record)
  local node, message = expr.value(text, scope)
  assert(node, message)
  return closures(node, by_record)(record or {}), node.kind
end

--- Asserts that a filter is refused with a message that matches; gives the message.
function expressions.refused(text, pattern)
  local filter, message = expr.compile(text, scope)
  assert.is_nil(filter, text)
  assert.matches(pattern, message)
  return message
end

return expressions
