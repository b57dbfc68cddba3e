-- The functions that samples of a recording have, by name.

local core = require "perflua.core"

local functions = {}

local function add_names(names, query, field)
  for row in query:group_by(field):all_events():each() do
    if row[field] then names[row[field]] = true end
  end
end

---Reads a recording, which must be readable again.
---@param file perflua.File
---@return table<string, true> # names of functions that a sample or its call chain has
function functions.sampled(file)
  local names, samples = {}, file:samples()
  local scope = core.query_spec(samples).scope
  if scope:root "symbol" then add_names(names, samples, "symbol") end
  if scope:root "callchain" then
    add_names(names, samples:unnest "callchain", "frame.symbol")
  end
  return names
end

return functions
