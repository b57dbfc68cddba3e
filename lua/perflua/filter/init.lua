-- The filters of where(): a string (compiled by filter/expr.lua), a function, or { field = value, … }.

local blame = require "perflua.errors.blame"
local events = require "perflua.file.events"
local expr = require "perflua.filter.expr"

local filter = {}

local accepts = { -- the Lua types a field of each kind can equal
  string = "string", bytes = "string", boolean = "boolean",
  signed = "number", unsigned = "number", address = "number", float = "number",
}

local function check(ref, value)
  local wanted = accepts[ref.kind]
  if ref.kind == "view" then
    blame("where: %s is a composite; name a member", ref.text)
  elseif wanted and type(value) ~= wanted then
    blame("where: %s is a %s, not a %s", ref.text, wanted, type(value))
  end
end

local function members(ref, value)
  local set = {}
  for _, one in ipairs(type(value) == "table" and value or { value }) do
    check(ref, one)
    set[one] = true
  end
  return set
end

local function in_set(ref, set)
  return { refs = { ref }, bind = function(access)
    local get = access(ref)
    return function(x)
      local value = get(x)
      return value ~= nil and set[value] == true
    end
  end }
end

local function of_event(ref, set)
  return { refs = { ref }, bind = function(access)
    local get = access(ref)
    return function(x)
      local event = get(x)
      return event ~= nil and set[event.index] == true
    end
  end }
end

local function all_of(parts)
  local refs = {}
  for i, part in ipairs(parts) do refs[i] = part.refs[1] end
  return { refs = refs, bind = function(access)
    local tests = {}
    for i, part in ipairs(parts) do tests[i] = part.bind(access) end
    return function(x)
      for i = 1, #tests do
        if not tests[i](x) then return false end
      end
      return true
    end
  end }
end

-- Every field has the value, or one of the values, given for it.
local function of_table(wanted, scope)
  local names, parts = {}, {}
  for name in pairs(wanted) do
    if type(name) ~= "string" then blame("where: a table names fields: { comm = \"gcc\", cpu = { 0, 1 } }") end
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local ref = scope:ref(name)
    if ref.kind == "event" then
      parts[i] = of_event(ref, events.resolve(scope.file.events, wanted[name]))
    else
      parts[i] = in_set(ref, members(ref, wanted[name]))
    end
  end
  return all_of(parts)
end

---@param condition string|function|table
---@param scope table
---@return perflua.Filter # without refs if it is a function: it sees the record
function filter.of(condition, scope)
  if type(condition) == "string" then
    local compiled, message = expr.compile(condition, scope)
    return compiled or blame("%s", message)
  elseif type(condition) == "function" then
    return { bind = function() return condition end }
  elseif type(condition) == "table" then
    return of_table(condition, scope)
  end
  return blame("where: a string, a function or a table expected, got a %s", type(condition))
end

return filter
