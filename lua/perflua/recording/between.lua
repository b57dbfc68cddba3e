-- Times and windows of time for between(): all in whole nanoseconds, without rounding.
--
-- A point is { time = ns } on the clock of each recording, or { wall = ns } since 1970 UTC,
-- which each recording converts to its own clock. A window is { from, to } of such points:
-- `from` is in it, `to` is not; nil is an open end.

local errors = require "perflua.errors"
local core = require "perflua.core"
local units = require "perflua.text.units"
local usage_error, guard, warning = errors.usage_error, errors.guard, errors.warning

local between = {}

local MAX_PERCENT_DIGITS = 6
local WHOLE <const> = 100 * 10 ^ MAX_PERCENT_DIGITS // 1 | 0 -- 100% in the unit of percentages

-- The first and the last time of a recording, or of several: on the wall clock if their order
-- is that of it.
local function range_of(file, text)
  local first, last = file.first_time, file.last_time
  if not first and not file.size then
    usage_error("between \"%s\": the first time of a stream is not known before it is read; "
      .. "give "
      .. "an absolute time, \"@8590.143543\"", text)
  end
  if not first then usage_error("between \"%s\": this recording has no times", text) end
  if type(file.path) ~= "table" then return first, last, "time" end
  local clocks, by_wall = guard(core.clocks, file)
  if not by_wall then return first, last, "time" end
  first, last = nil, nil
  for _, clock in ipairs(clocks) do
    if clock.first then
      first = math.min(first or math.maxinteger, clock.first + clock.wall)
      last = math.max(last or math.mininteger, clock.last + clock.wall)
    end
  end
  return first, last, "wall"
end

-- The point that is `amount` of WHOLE into the recording. In integers: what is divided stays
-- below 10^16.
local function point_at(file, amount, text, is_end)
  local first, last, clock = range_of(file, text)
  if amount == WHOLE then return { [clock] = is_end and last + 1 or last } end
  local span = last - first
  return { [clock] = first + span // WHOLE * amount + span % WHOLE * amount // WHOLE }
end

-- A percentage in units of WHOLE.
local function amount_of(number, text)
  local amount = units.scaled(number, MAX_PERCENT_DIGITS)
  if amount and amount <= WHOLE then return amount end
  return usage_error("between \"%s\": a percentage is from 0 to 100, with up to %d decimals",
    text, MAX_PERCENT_DIGITS)
end

local function parse_time(file, text, is_end)
  local number = text:match("^@(.*)$")
  if number then
    local time = units.scaled(number, 9)
    return time and { time = time }
      or usage_error("between \"%s\": write absolute times as perf prints them, "
        .. "\"@8590.143543\"", text)
  end
  number = text:match("^(.*)%%$")
  if number then return point_at(file, amount_of(number, text), text, is_end) end
  if text:find("^%d%d%d%d%-%d%d") then
    local wall = require "perflua.recording.wall" -- loaded when it is asked for
    local ns = wall.nanoseconds(text)
    return ns and { wall = ns } or usage_error("between \"%s\": no such time; %s", text,
      wall.SYNTAX)
  end
  local after = units.nanoseconds(text)
  if after then
    local first, _, clock = range_of(file, text)
    return { [clock] = first + after }
  end
  return usage_error("between \"%s\": expected nanoseconds (an integer), \"@8590.143543\", "
    .. "\"1.5s\", \"20ms\", "
    .. "\"3us\", \"10%%\" or \"2026-11-22 07:56:00\"; \"10%%/2\" is the second tenth", text)
end

local function point_of(file, time, is_end)
  if time == nil then return nil end
  if type(time) == "string" then return parse_time(file, time, is_end) end
  local ns = math.type(time) and math.tointeger(time)
  return ns and { time = ns } or usage_error("between: a time is an integer (ns) or a string, "
    .. "not %s", tostring(time))
end

-- Converts a point to the clock of a recording; 0 if it was before that began to count.
local function convert_point(at, clock, text)
  if not at or at.time then return at and at.time end
  if clock.wall then return math.max(at.wall - clock.wall, 0) end
  return usage_error("between \"%s\": %s does not say how its clock relates to the time of "
    .. "day: perf record -k "
    .. "CLOCK_MONOTONIC records that", text, clock.path)
end

---@param file perflua.File one recording
---@param time integer|string|nil
---@param is_end boolean "100%" as an end includes the last sample
---@return integer? # nanoseconds as recorded
function between.time(file, time, is_end)
  local at = point_of(file, time, is_end)
  if not at or at.time then return at and at.time end
  return convert_point(at, guard(core.clocks, file)[1], time)
end

-- "10%/2": the second of ten slices.
local function slice_of(file, text)
  local number, n = text:match("^(.*)%%/(.*)$")
  local amount, i = amount_of(number, text), math.tointeger(tonumber(n))
  if not i or i < 1 or amount == 0 or i > (WHOLE + amount - 1) // amount then
    usage_error("between \"%s\": no such slice; \"10%%/1\" is the first tenth and \"10%%/10\" "
      .. "the last", text)
  end
  local to = math.min(amount * i, WHOLE)
  return { point_at(file, amount * (i - 1), text), point_at(file, to, text, true), text = text }
end

local function window_of(file, from, to)
  if type(from) == "string" and from:find("%%/") then
    if to ~= nil then usage_error("between \"%s\": a slice has both ends", from) end
    return slice_of(file, from)
  end
  local made = { point_of(file, from, false), point_of(file, to, true) }
  made.text = ("%s to %s"):format(from or "the beginning", to or "the end")
  -- the ends that scripts compute, and those on the wall clock, may be meant for other
  -- recordings
  made.may_miss = math.type(from or to) or made[1] and made[1].wall or made[2] and made[2].wall
  return made
end

-- Windows as they were asked for.
local function windows_of(file, from, to)
  if type(from) ~= "table" then return { window_of(file, from, to) } end
  if to ~= nil then
    usage_error("between: a list of windows must be the only argument: between { { a, b }, "
      .. "{ c, d } }")
  end
  local list = {}
  for i, window in ipairs(from) do
    if type(window) == "table" then
      list[i] = window_of(file, window[1], window[2])
    elseif type(window) == "string" and window:find("%%/") then
      list[i] = window_of(file, window)
    else
      usage_error("between: a window is { from, to } or a slice (\"10%%/2\"), not %s",
        tostring(window))
    end
  end
  if #list == 0 then usage_error("between: an empty list of windows; one is { { \"1s\", "
    .. "\"2s\" } }") end
  return list
end

---The times of the recording where its header has them: of others it would take a pass.
---@param file perflua.File
---@return integer? first, integer? last # ns
function between.known_times(file)
  local times = type(file.path) == "string" and file.features.sample_time
  if times and times.last ~= 0 then return times.first, times.last end -- 0: perf saw no sample
end

-- A time as perf prints it, or what was taken for seconds.
local function show_time(ns) return ns >= 0 and ns < 1000000 and ns .. " ns"
  or core.seconds(ns) end

-- Refuses windows that leave nothing of a recording.
local function check_window(file, window, from, to)
  local say = window.may_miss and warning or usage_error
  if to and not math.ult(from, to) then
    return say("between: from %s is not before to %s: no record lies in between",
      show_time(from), show_time(to))
  end
  local first, last = between.known_times(file)
  if not first or not (math.ult(last, from) or to and not math.ult(first, to)) then return end
  local times = to and ("%s to %s"):format(show_time(from), show_time(to)) or "from "
    .. show_time(from) .. " on"
  say("between: %s is outside of the recording, which lasts from %s to %s", times,
    show_time(first), show_time(last))
end

-- The windows on the clock of one recording, as { from, to }.
local function convert_windows(file, list, clock, is_alone)
  local ranges = {}
  for i, window in ipairs(list) do
    local from = convert_point(window[1], clock, window.text) or 0
    local to = convert_point(window[2], clock, window.text)
    if is_alone then check_window(file, window, from, to) end
    ranges[i] = { from, to }
  end
  return ranges
end

local function is_same(a, b)
  for i, range in ipairs(a) do
    if range[1] ~= b[i][1] or range[2] ~= b[i][2] then return false end
  end
  return true
end

-- A condition that times in the ranges meet, by the names of the fields.
local function condition_of(ranges, time)
  local terms = {}
  for i, range in ipairs(ranges) do
    terms[i] = ("%s >= 0x%x"):format(time, range[1])
    if range[2] then terms[i] = ("(%s and %s < 0x%x)"):format(terms[i], time, range[2]) end
  end
  return "(" .. table.concat(terms, " or ") .. ")"
end

---@class perflua.Windows
---@field from integer ns, the first time in any of them, on any clock
---@field to integer? ns, the first time after all of them
---@field condition string? a filter of the records inside them; nil: from and to suffice

---@param file perflua.File
---@param from integer|string|nil|table[] as Query:between takes it
---@param to integer|string|nil
---@param fields { time: string, source: string } names of the fields that the condition asks
---@param closed boolean? the end of the last window is in it, as in perf
---@return perflua.Windows
function between.windows(file, from, to, fields, closed)
  local list, clocks = windows_of(file, from, to), { {} }
  local last = closed and list[#list][2]
  for clock, time in pairs(last or {}) do last[clock] = time + 1 end
  local is_wall = false
  for _, window in ipairs(list) do
    local start, stop = window[1], window[2]
    is_wall = is_wall or (start and start.wall or stop and stop.wall) ~= nil
  end
  if is_wall then clocks = guard(core.clocks, file) end
  local by_clock, same = {}, true
  for i, clock in ipairs(clocks) do
    by_clock[i] = convert_windows(file, list, clock, #clocks == 1)
    same = same and is_same(by_clock[i], by_clock[1])
  end
  local hull = {}
  for _, ranges in ipairs(by_clock) do
    for _, range in ipairs(ranges) do
      if not hull.from or math.ult(range[1], hull.from) then hull.from = range[1] end
      if not range[2] then hull.open = true end
      if range[2] and (not hull.to or math.ult(hull.to, range[2])) then hull.to = range[2] end
    end
  end
  if hull.open then hull.to = nil end
  if same then
    hull.condition = #list > 1 and condition_of(by_clock[1], fields.time) or nil
    return hull
  end
  local terms = {}
  for i, ranges in ipairs(by_clock) do
    terms[i] = ("(%s == %d and %s)"):format(fields.source, i, condition_of(ranges, fields.time))
  end
  hull.condition = table.concat(terms, " or ")
  return hull
end

return between
