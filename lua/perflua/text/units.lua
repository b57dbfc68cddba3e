-- Numbers with a unit: 1.50ms, 12.3KiB, 4.56M as people read them; "1.5s" or "20ms" as they
-- write them, in whole nanoseconds, without rounding.

local units = {}

---Each unit: how many of the base unit its steps are, and their names, from the smallest.
units.steps = {
  duration = { { 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" } },
  bytes = { { 1, "B" } },
  si = { { 1, "" } },
}
for i, prefix in ipairs { "K", "M", "G", "T", "P", "E" } do
  units.steps.bytes[i + 1] = { 1 << 10 * i, prefix .. "iB" }
  units.steps.si[i + 1] = { math.tointeger(10 ^ (3 * i)), i == 1 and "k" or prefix }
end

---The names of the units, in the order in which messages list them.
units.names = { "duration", "bytes", "si" }

---@param name any
---@return boolean
function units.is(name) return units.steps[name] ~= nil end

-- Three significant digits, all of an integer part.
local function round_number(x)
  local digits = x < 9.995 and "%.2f" or x < 99.95 and "%.1f" or "%.0f"
  return (x < 0.995 and "%.3g" or digits):format(x)
end

---Formats a number with three significant digits. Nanoseconds are the base of "duration".
---@param x number read without a sign if `is_unsigned`
---@param unit "duration"|"bytes"|"si"
---@param is_unsigned boolean?
---@return string
function units.format(x, unit, is_unsigned)
  if x ~= x or x == math.huge or x == -math.huge then return tostring(x) end
  local sign = ""
  if x < 0 and is_unsigned and math.type(x) == "integer" then
    x = ((x >> 1) | (x & 1)) * 2.0
  elseif x < 0 then
    sign, x = "-", x == math.mininteger and -(x + 0.0) or -x
  end
  local list, i = units.steps[unit], 1
  -- 999.6us are 1.00ms
  while list[i + 1] and x + list[i + 1][1] / 2000 >= list[i + 1][1] do i = i + 1 end
  local step, suffix = list[i][1], list[i][2]
  if step == 1 and math.type(x) == "integer" then return sign .. ("%d"):format(x) .. suffix end
  return sign .. round_number(x / step) .. suffix
end

local powers = { s = 9, ms = 6, us = 3, ns = 0 } -- powers of ten to nanoseconds

---@param number string "1.5", "2", "2." or ".5"
---@param places integer
---@return integer? # number * 10^places, exactly; nil if it has more digits or is too large
function units.scaled(number, places)
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
function units.is_time(name) return powers[name] ~= nil end

---@param text string
---@return integer? # nanoseconds; nil if it is not a length of time
function units.nanoseconds(text)
  local number, unit = text:match("^([%d.]+)%s*(%a+)$")
  return number and powers[unit] and units.scaled(number, powers[unit])
end

return units
