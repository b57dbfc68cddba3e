-- Lengths of time as people write them, "1.5s" or "20ms": in whole nanoseconds, without
-- rounding.

local duration = {}

local units = { s = 9, ms = 6, us = 3, ns = 0 } -- powers of ten to nanoseconds

---@param number string "1.5", "2", "2." or ".5"
---@param places integer
---@return integer? # number * 10^places, exactly; nil if it has more digits or is too large
function duration.scaled(number, places)
  local whole, fraction = number:match("^(%d+)%.?(%d*)$")
  if not whole then whole, fraction = "0", number:match("^%.(%d+)$") end
  if not fraction or #fraction > places and fraction:sub(places + 1):find("[^0]") then
    return nil
  end
  local digits = whole .. fraction:sub(1, places) .. ("0"):rep(places - #fraction)
  digits = digits:gsub("^0+(%d)", "%1")
  return math.tointeger(tonumber(digits))
end

---@param name string
---@return boolean # true if it is a unit of time
function duration.is_unit(name) return units[name] ~= nil end

---@param text string
---@return integer? # nanoseconds; nil if it is not a length of time
function duration.nanoseconds(text)
  local number, unit = text:match("^([%d.]+)%s*(%a+)$")
  return number and units[unit] and duration.scaled(number, units[unit])
end

return duration
