-- Conditions on records, from the parts that a query and a pairing give, as filters.

local expr = require "perflua.filter.expr"

local conditions = {}

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
  return expr.filter { op = "event", kind = "boolean", at = 1, left = field.node, set = set,
    negated = false }
end

---@param scope table
---@param window table from and to, as a query has them
---@return perflua.Filter? # nil: at any time
function conditions.times(scope, window)
  local parts = {}
  if window.from and window.from ~= 0 then parts[1] = ("time >= 0x%x"):format(window.from) end
  if window.to then parts[#parts + 1] = ("time < 0x%x"):format(window.to) end
  if #parts == 0 then return nil end
  return assert(expr.compile(table.concat(parts, " and "), scope))
end

return conditions
