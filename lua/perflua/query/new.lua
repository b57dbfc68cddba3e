-- Queries as objects of the core's, each with its description.

local core = require "perflua.core"
local spec_of = core.query_spec

local meta = { __name = "perflua.Query" }

-- An object of the core's, so that scripts see its methods only.
---@param spec table
---@return perflua.Query
local function new(spec) return core.query(meta, spec) end

---@param query perflua.Query
---@param changes table
---@return perflua.Query # with a copy of the description, and these changes: lists in them are
--- new ones, as those of the description are shared
local function derive(query, changes)
  local spec = {}
  for key, value in pairs(spec_of(query)) do spec[key] = value end
  for key, value in pairs(changes) do spec[key] = value end
  return new(spec)
end

-- Hands a query that found nothing to the function that wants to know: __empty of the
-- metatable, which the core calls for loops.
---@param query perflua.Query
local function tell_empty(query)
  if meta.__empty then meta.__empty(query) end
end

---@param tell fun(query: perflua.Query)? is called with each query that found nothing
local function on_empty(tell) meta.__empty = tell end

return { tell_empty = tell_empty, on_empty = on_empty, meta = meta, new = new, derive = derive }
