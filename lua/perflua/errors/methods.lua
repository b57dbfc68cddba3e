-- Methods that know when they are called with a dot.

local blame = require "perflua.errors.blame"

---@param methods table<string, function> the methods of a class; the same come back checked
---@param metatable any what getmetatable gives of its objects
---@param class string what they are called: "Query"
---@return table<string, function>
local function checked(methods, metatable, class)
  for name, method in pairs(methods) do
    methods[name] = function(self, ...)
      if getmetatable(self) ~= metatable then
        blame("%s: a %s expected, got a %s; use %s:%s(…)", name, class, type(self), class:lower(), name)
      end
      return method(self, ...)
    end
  end
  return methods
end

return checked
