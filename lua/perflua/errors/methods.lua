-- Methods that know when they are called with a dot, or with arguments that they do not take.

local blame = require "perflua.errors.blame"
local suggest = require "perflua.errors.suggest"

local methods = {}

-- Advice for calls that are easily taken for others.
local advice = {
  count = 'group_by("field"):count() counts by field, distinct("field") counts its values',
  quantile = "one quantile for each call",
}

local function check_arguments(name, most, ...)
  for i = select("#", ...), most + 1, -1 do
    if select(i, ...) ~= nil then
      local takes = most == 0 and "no argument" or most == 1 and "one argument" or ("at most %d arguments"):format(most)
      local hint = advice[name] and "; " .. advice[name] or ""
      blame("%s takes %s, got %d%s", name, takes, i, hint)
    end
  end
end

---Wraps the methods of a class, in place, so that they check their object and the number of their arguments.
---@param list table<string, function> methods in Lua
---@param metatable any what getmetatable gives of its objects
---@param class string what they are called: "Query"
---@return table<string, function> list
function methods.checked(list, metatable, class)
  for name, method in pairs(list) do
    local info = debug.getinfo(method, "u")
    local most = info.isvararg and math.huge or info.nparams - 1
    list[name] = function(self, ...)
      if getmetatable(self) ~= metatable then
        blame("%s: a %s expected, got a %s; use %s:%s(…)", name, class, type(self), class:lower(), name)
      end
      if select("#", ...) > most then check_arguments(name, most, ...) end
      return method(self, ...)
    end
  end
  return list
end

---Returns the __index of a class: it finds the methods, and raises for names that are none.
---@param list table<string, function>
---@param class string
---@param own table<string, boolean> fields of its objects that may be nil
---@return fun(self: any, key: any): any
function methods.named(list, class, own)
  return function(_, key)
    local method = list[key]
    if method ~= nil or own[key] then return method end
    local name = tostring(key)
    return blame(suggest.message(("a %s has no method '%s'"):format(class, name), name, suggest.names(list)))
  end
end

return methods
