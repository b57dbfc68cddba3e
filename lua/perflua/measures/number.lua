-- Of numbers that are equal (1 and 1.0, 0.0 and -0.0) which came first does not show: a field of floats has the float,
-- another the integer.

---@param x any not nil
---@param kind string of what it is a value of
---@return any
return function(x, kind)
  if kind == "float" then return x + 0.0 end -- of -0.0, too
  return math.type(x) == "float" and math.tointeger(x) or x
end
