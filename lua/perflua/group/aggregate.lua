-- Groups of records by their keys, as the core adds them up.

local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local merge = require "perflua.table.merge"

---@param spec table what the query reads
---@param keys {ref: table, other: table?, at: integer?}[] as engine.grouping takes them; those
--- without a place are the event
---@param columns {name: string, measure: string, ref: table?, weight: table?, event: table?}[]
---@return userdata result # of the core
---@return table[]? whole # see core.group
local function aggregate(spec, keys, columns)
  local description = engine.grouping(spec, keys, columns)
  local data = { keys = {}, measures = columns }
  for _, key in ipairs(keys) do
    if key.at then data.keys[key.at] = { kind = key.ref.kind } end
  end
  description.shape = merge.shape(data)
  return engine.groups(spec, description) or core.result(description.shape), description.whole
end

return aggregate
