-- Groups of records by their keys as the core adds them up, and all records as one group.

local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local merge = require "perflua.table.merge"
local usage_error = require("perflua.errors").usage_error

local aggregate = {}

---@param spec table what the query reads
---@param keys {ref: table, other: table?, at: integer?}[] as engine.grouping takes them; those
--- without a place are the event
---@param columns {name: string, measure: string, ref: table?, weight: table?, event: table?}[]
---@return userdata result # of the core
---@return table[]? whole # see core.group
function aggregate.groups(spec, keys, columns)
  local description = engine.grouping(spec, keys, columns)
  local data = { keys = {}, measures = columns }
  for _, key in ipairs(keys) do
    if key.at then data.keys[key.at] = { kind = key.ref.kind } end
  end
  description.shape = merge.shape(data)
  return engine.groups(spec, description) or core.result(description.shape), description.whole
end

-- Shares of all samples of an event, whatever the conditions of a query leave of them: those of
-- share(f, "absolute"). They take a pass of their own.

---@param columns table[] measures of a query
---@return boolean # whether shares are absolute; raises if some are, and others not
function aggregate.is_absolute(columns)
  local n, all = 0, 0
  for _, column in ipairs(columns) do
    all = all + (column.measure == "share" and 1 or 0)
    n = n + (column.measure == "share" and column.option == "absolute" and 1 or 0)
  end
  if n > 0 and n < all then
    usage_error("share: absolute and relative shares cannot stand side by side")
  end
  return n > 0
end

-- Returns the spec of all samples: conditions are left out, but not windows of time.
local function spec_of_all(spec)
  local kept = {}
  for _, filter in ipairs(spec.filters) do
    if filter.is_window then kept[#kept + 1] = filter end
  end
  return setmetatable({ filters = kept }, { __index = function(_, name)
    return name ~= "unnest" and spec[name] or nil
  end })
end

---@param spec table
---@param columns table[] measures of the query
---@return table[] # sums as of table/whole.lua; raises where the recording cannot be read twice
function aggregate.whole(spec, columns)
  if spec.reader then usage_error("share: absolute shares are of samples, not of spans") end
  if not spec.file.size then
    usage_error("share: absolute shares take two passes, and a stream can be read only once")
  end
  local summed, shown, list, seen = {}, { { name = "index", key = 1 } }, {}, {}
  for _, column in ipairs(columns) do
    if column.measure == "share" then
      summed[#summed + 1] = { name = column.name, measure = "sum", ref = column.ref,
        kind = column.kind }
      shown[#shown + 1] = { name = tostring(#summed), measure = #summed }
    end
  end
  local result = aggregate.groups(spec_of_all(spec),
    { { ref = spec.scope:ref "event.index", at = 1 } }, summed)
  local view = core.result_view(result, { columns = shown })
  local sums = {}
  for i = 1, #view do
    local row = core.view_row(view, i)
    sums[row.index or 0] = row
  end
  for _, event in ipairs(spec.scope:events()) do
    seen[event.name] = (seen[event.name] or 0) + 1
    local row = sums[event.index]
    if row then
      local sums_of_event = { event = event.name, nth = seen[event.name] }
      for n = 1, #summed do sums_of_event[n] = row[tostring(n)] end
      list[#list + 1] = sums_of_event
    end
  end
  return list
end

return aggregate
