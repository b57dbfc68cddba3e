-- Spellings of a time, for between(): all in whole nanoseconds, without rounding.

local errors = require "perflua.errors"
local core = require "perflua.core"
local duration = require "perflua.text.duration"
local usage_error, warning = errors.usage_error, errors.warning

local between = {}

local MAX_PERCENT_DIGITS = 6

local function first_time(file, text)
  local time = file.first_time
  if not time and not file.size then
    usage_error(
      "between \"%s\": the first time of a stream is not known before it is read; give an "
        .. "absolute time, \"@8590.143543\"", text)
  end
  if not time then usage_error("between \"%s\": this recording has no times", text) end
  return time
end

-- Returns time range * percent / 100 in integers: the dividend stays below 10^16.
local function resolve_percent(file, number, text, is_end)
  local amount = duration.scaled(number, MAX_PERCENT_DIGITS)
  local unit = math.tointeger(10 ^ (2 + MAX_PERCENT_DIGITS))
  if not amount or amount > unit then
    usage_error("between \"%s\": a percentage is from 0 to 100, with up to %d decimals", text,
      MAX_PERCENT_DIGITS)
  end
  local first, last = first_time(file, text), file.last_time
  if amount == unit then return is_end and last + 1 or last end
  local span = last - first
  return first + span // unit * amount + span % unit * amount // unit
end

local function parse_time(file, text, is_end)
  local number = text:match("^@(.*)$")
  if number then
    local time = duration.scaled(number, 9)
    return time
      or usage_error(
        "between \"%s\": write absolute times as perf prints them, \"@8590.143543\"", text)
  end
  number = text:match("^(.*)%%$")
  if number then return resolve_percent(file, number, text, is_end) end
  local after = duration.nanoseconds(text)
  if after then return first_time(file, text) + after end
  return usage_error(
    "between \"%s\": expected nanoseconds (an integer), \"@8590.143543\", \"1.5s\", \"20ms\", "
      .. "\"3us\" or \"10%%\"", text)
end

---@param file perflua.File
---@param time integer|string|nil
---@param is_end boolean "100%" as an end includes the last sample
---@return integer? # nanoseconds as recorded
function between.time(file, time, is_end)
  if time == nil then return nil end
  if type(time) == "string" then return parse_time(file, time, is_end) end
  local ns = math.type(time) and math.tointeger(time)
  return ns or usage_error("between: nanoseconds (an integer) or a string expected, got %s",
    tostring(time))
end

---Returns the times of the recording if its header has them. For others it would take a pass.
---@param file perflua.File
---@return integer? first, integer? last # ns
function between.known_times(file)
  local times = type(file.path) == "string" and file.features.sample_time
  if times then return times.first, times.last end
end

-- Formats a time as perf prints it; a small number, probably meant as seconds, as ns.
local function format_time(ns)
  return ns >= 0 and ns < 1000000 and ns .. " ns" or core.seconds(ns)
end

---Warns of times that leave nothing of a recording.
---@param file perflua.File
---@param from integer ns
---@param to integer? ns
function between.check(file, from, to)
  if to and not math.ult(from, to) then
    return warning("between: from %s is not before to %s: no record is in between",
      format_time(from), format_time(to))
  end
  local first, last = between.known_times(file)
  if first and (math.ult(last, from) or to and not math.ult(first, to)) then
    local times = to and ("%s to %s"):format(format_time(from), format_time(to))
      or "from " .. format_time(from) .. " on"
    warning("between: %s is outside of the recording, which lasts from %s to %s", times,
      format_time(first), format_time(last))
  end
end

return between
