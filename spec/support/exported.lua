-- Exports by perflua.export() to files that go away with the run.
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local perflua = require "perflua"

local exported = {}

---@param query perflua.Query
---@param format string
---@param options table?
---@return string # the path of the written file
---@return any ... # what perflua.export() returned
function exported.query(query, format, options)
  local out = files.temporary()
  return out, perflua.export(query, format, out, options)
end

---Exports the samples of a recording, with the symbols of spec.support.chains.
---@param path string
---@param format string
---@param options table?
---@return string
---@return any ...
function exported.samples(path, format, options)
  local file <close> = assert(perflua.open(path, chains.options()))
  return exported.query(file:samples(), format, options)
end

return exported
