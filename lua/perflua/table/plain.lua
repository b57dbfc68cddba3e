-- Plain values as texts hold them: what their readers and writers share.

local plain = {}

-- The floats that tonumber does not read, as %a writes them.
plain.floats = { inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0, ["-nan"] = 0 / 0 }

---@param a number|string|boolean
---@param b number|string|boolean
---@return boolean # is a before b, in an order that all of them have?
function plain.less(a, b)
  local x, y = type(a), type(b)
  if x ~= y then return x < y end
  if x == "boolean" then return not a and b end
  return a < b
end

return plain
