-- The differences between the texts of perf's versions (src/perfdata/format/perf_text.c) that
-- hold for the report of a file.

local core = require "perflua.core"

local perf_text = {}

---@param file perflua.File
---@param name string of a difference
---@return boolean # whether it holds for the version whose text is printed of the file
function perf_text.has(file, name)
  for _, difference in ipairs(core.perf_differences(file.as)) do
    if difference.name == name then return true end
  end
  return false
end

return perf_text
