-- Conditions on records, from the parts that a query and a pairing give: as one Ref, which the core reads where every
-- part is described, and Lua where one is a function.

local expr = require "perflua.filter.expr"

local conditions = {}

local function by_record(ref) return ref.get end

-- A tree of few levels.
local function joined(op, nodes, first, last)
  if first == last then return nodes[first] end
  local middle = (first + last) // 2
  return {
    op = op, kind = "boolean", at = 1,
    left = joined(op, nodes, first, middle), right = joined(op, nodes, middle + 1, last),
  }
end

local function nodes_of(filters)
  local nodes = {}
  for i, one in ipairs(filters) do
    if not one.node then return nil end
    nodes[i] = one.node
  end
  return nodes
end

local always = { op = "const", kind = "boolean", at = 1, value = true }

local lua_of = {
  ["and"] = function(tests)
    return function(record)
      for i = 1, #tests do
        if not tests[i](record) then return false end
      end
      return true
    end
  end,
  ["or"] = function(tests)
    return function(record)
      for i = 1, #tests do
        if tests[i](record) then return true end
      end
      return false
    end
  end,
}

-- All of them, or one of them: a Filter.
local function combined(op, filters)
  if #filters == 0 then return expr.filter(always) end
  local nodes = nodes_of(filters)
  if nodes then return expr.filter(joined(op, nodes, 1, #nodes)) end
  local tests = {}
  for i, one in ipairs(filters) do tests[i] = one.bind(by_record) end
  local test = lua_of[op](tests)
  return { fn = test, bind = function() return test end, shown = "functions of Lua" }
end

---@param filters perflua.Filter[]
---@return perflua.Filter
function conditions.all(filters) return combined("and", filters) end

---@param filters perflua.Filter[]
---@return perflua.Filter
function conditions.any(filters) return combined("or", filters) end

---@param filter perflua.Filter
---@return table # a Ref, to be read of records: true or false
function conditions.ref(filter)
  local test = filter.bind(by_record)
  return {
    text = "(a condition)", kind = filter.node and "boolean" or "function", plain = false, node = filter.node,
    get = function(record) return test(record) and true or false end,
  }
end

---@param scope table
---@param ids table<integer, boolean> of record types
---@return perflua.Filter
function conditions.types(scope, ids)
  local field = scope:ref "type_id"
  return expr.filter { op = "in", kind = "boolean", at = 1, left = field.node, set = ids }
end

---@param scope table
---@param set table<integer, boolean> indexes of events
---@return perflua.Filter
function conditions.events(scope, set)
  local field = scope:ref "event"
  return expr.filter { op = "event", kind = "boolean", at = 1, field = field.node, set = set, negated = false }
end

---@param scope table
---@param of table from and to, as a query has them
---@return perflua.Filter? # nil: at any time
function conditions.times(scope, of)
  local parts = {}
  if of.from and of.from ~= 0 then parts[1] = ("time >= 0x%x"):format(of.from) end
  if of.to then parts[#parts + 1] = ("time < 0x%x"):format(of.to) end
  if #parts == 0 then return nil end
  return assert(expr.compile(table.concat(parts, " and "), scope))
end

return conditions
