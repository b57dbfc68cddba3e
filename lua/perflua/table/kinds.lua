-- Which values a field of a kind can have: kinds[kind](value), for values that are not nil.

local function integer(value) return math.type(value) == "integer" end
local function number(value) return math.type(value) ~= nil end
local function text(value) return type(value) == "string" end

return {
  signed = integer, unsigned = integer, address = integer, float = number,
  string = text, bytes = text, event = text,
  boolean = function(value) return type(value) == "boolean" end,
  any = function() return true end,
}
