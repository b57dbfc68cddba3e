-- What scripts return to be done with the recordings that they were given: a table of handlers is run over them, a
-- result is shown, a function makes one of them.

local Table = require "perflua.table"

local returned = {}

local function class_of(value)
  local meta = getmetatable(value)
  return type(meta) == "table" and meta.__name or nil
end

---@param value any
---@return boolean
function returned.is_handlers(value) return type(value) == "table" and getmetatable(value) == nil end

---The Table that a script's value is or makes.
---@param value any a Table, a grouped Query, or a function of a File that returns one of these
---@param open fun(): perflua.File?, string? opens the recordings the script was given
---@return perflua.Table? table, string? message # nil alone: the value is nothing of these
function returned.table(value, open)
  if type(value) == "function" then
    local file <close>, message = open()
    if not file then return nil, message end
    value = value(file)
    if type(value) == "function" then return nil, "the script's function returned a function" end
    local made
    made, message = returned.table(value, open)
    return made, message or not made and "the script's function returned no table of groups" or nil
  end
  if Table.is(value) then return value end
  if class_of(value) ~= "perflua.Query" then return nil end
  if not value.spec.keys then
    return nil, "the script returned a query without groups: it is to end in group_by(…) and measures"
  end
  return value:sort()
end

return returned
