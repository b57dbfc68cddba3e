-- Groups of records by their keys, as the core adds them up.

local engine = require "perflua.plan.engine"
local interrupted = require "perflua.table.interrupted"
local kinds = require "perflua.filter.kinds"

local several_forms = { float = true, any = true,
  ["function"] = true } -- of one number: an integer, a float

local function shown(groups, keys)
  for _, key in ipairs(keys) do
    local kind, at = key.ref.kind, key.at
    if several_forms[kind] and at then
      groups = interrupted.each(groups, function(g)
        local values = g.keys
        if values[at] ~= nil then values[at] = kinds.shown(values[at], kind) end
      end)
    end
  end
  return groups
end

---@param spec table what the query reads
---@param keys {ref: table, other: table?, at: integer?}[] as engine.grouping takes them
---@param columns {name: string, measure: string, ref: table?, weight: table?, event: table?}[]
---@param first integer? see engine.groups
---@return table[] groups # see engine.groups
local function aggregate(spec, keys, columns, first)
  local description = engine.grouping(spec, keys, columns)
  description.first = first
  return shown(engine.groups(spec, description), keys)
end

return aggregate
