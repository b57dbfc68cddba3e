-- Times of the wall clock as people write them: "2026-11-22 07:56:00", with parts of a second,
-- and a zone or without.

local units = require "perflua.text.units"

local wall = {}

wall.SYNTAX = "\"2026-11-22 07:56:00.5\" is local time, with Z at its end UTC, with +01:00 an "
  .. "hour ahead of that"

local days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function days_in(year, month)
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return month == 2 and leap and 29 or days[month]
end

-- Days from 1970-01-01 to a day.
local function days_before(year, month, day)
  local n = (year - 1970) * 365 + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400 - 477
  for m = 1, month - 1 do n = n + days_in(year, m) end
  return n + day - 1
end

-- Minutes that a zone is ahead of UTC; nil: it is none.
local function offset_of(zone)
  if zone == "Z" then return 0 end
  local sign, hours, minutes = zone:match("^([+-])(%d%d):?(%d%d)$")
  if not sign or tonumber(hours) > 23 or tonumber(minutes) > 59 then return nil end
  local offset = math.tointeger(tonumber(hours)) * 60 + math.tointeger(tonumber(minutes))
  return sign == "-" and -offset or offset
end

-- Seconds since 1970 UTC; nil if the zone is none.
local function seconds_of(t, zone)
  if zone == "" then return math.tointeger(os.time(t)) end
  local offset = offset_of(zone)
  return offset and ((days_before(t.year, t.month,
    t.day) * 24 + t.hour) * 60 + t.min - offset) * 60 + t.sec
end

---@param text string
---@return integer? # nanoseconds since 1970 UTC; nil: it is not such a time
function wall.nanoseconds(text)
  local year, month, day, rest = text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)(.*)$")
  if not year then return nil end
  local hour, minute, second, fraction = 0, 0, 0, ""
  if rest ~= "" then
    hour, minute, rest = rest:match("^[ T](%d%d):(%d%d)(.*)$")
    if not hour then return nil end
    local digits, after = rest:match("^:(%d%d)(.*)$")
    if digits then second, rest = digits, after end
    digits, after = rest:match("^%.(%d+)(.*)$")
    if digits then fraction, rest = digits, after end
  end
  local t = { year = year, month = month, day = day, hour = hour, min = minute, sec = second }
  for name, value in pairs(t) do t[name] = math.tointeger(tonumber(value)) end
  local ns = units.scaled("0." .. (fraction ~= "" and fraction or "0"), 9)
  if t.month < 1 or t.month > 12 or t.day < 1 or t.day > days_in(t.year,
    t.month) then return nil end
  if t.hour > 23 or t.min > 59 or t.sec > 59 or t.year < 1970 or not ns then return nil end
  local seconds = seconds_of(t, rest)
  return seconds and seconds * 1000000000 + ns
end

return wall
