-- What error messages call the parts of an expression.

local arith = require "perflua.filter.arith"

local words = {}

local by_kind = {
  boolean = "a condition", string = "a string", bytes = "a string", float = "a number", ["nil"] = "nil",
  view = "a composite", event = "an event",
}

---@param node table that was checked
---@return string
function words.of(node)
  local is = by_kind[node.kind] or "an integer"
  return node.op == "field" and ("%s (%s)"):format(node.text, is) or is
end

local text = { string = true, bytes = true, any = true }

words.is_text = text

-- Operands of one comparison must be of one family.
---@param kind string
---@return string
function words.family(kind)
  if arith.is_number[kind] then return "number" end
  return text[kind] and "string" or kind
end

return words
