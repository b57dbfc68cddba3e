-- Versions of perf, whose report is printed.

local version = {}

---@param text string "6.12"
---@param major integer
---@param minor integer
---@return boolean # whether it is older than that one
function version.is_before(text, major, minor)
  local first, second = text:match "^(%d+)%.(%d+)"
  first, second = math.tointeger(tonumber(first)), math.tointeger(tonumber(second))
  return first < major or first == major and second < minor
end

return version
