-- Performance specs: expectations of recordings that hold, do not hold, or cannot be told.

local interrupted = require "perflua.table.interrupted"
local quantities = require "perflua.check.quantities"
local strip_position = require("perflua.errors").strip_position
local words = require "perflua.check.words"

local check = {}

check.OK, check.FAILED, check.UNKNOWN = "ok", "failed", "cannot tell"

local function judge_limit(result, limit, sign)
  local low, high = result.low, result.high
  if not low or not high then return check.UNKNOWN end
  if sign < 0 then low, high, limit = -high, -low, -limit end
  if high < limit then return check.OK end
  return low >= limit and check.FAILED or check.UNKNOWN
end

-- Verdicts of conditions by those of changes; others cannot be told.
local NOT_SLOWER <const> = { slower = check.FAILED, new = check.FAILED, noise = check.OK,
  faster = check.OK }
local FASTER <const> = { slower = check.FAILED, new = check.FAILED, noise = check.FAILED,
  faster = check.OK }

-- Verdicts by the operation of a condition.
local judges = {
  below = function(result, limit) return judge_limit(result, limit, 1) end,
  above = function(result, limit) return judge_limit(result, limit, -1) end,
  not_slower = function(result) return NOT_SLOWER[result.verdict] or check.UNKNOWN end,
  faster = function(result) return FASTER[result.verdict] or check.UNKNOWN end,
}

-- Returns the verdict of a condition.
local function judge(condition, result)
  if result.is_gone then
    return condition.may_be_gone and result.verdict == "gone" and check.OK or check.UNKNOWN
  end
  local verdict = judges[condition.op](result, condition.limit)
  -- below any limit is a function whose name is misspelt
  if result.unknown and verdict == check.OK and not condition.may_be_absent then
    return check.UNKNOWN
  end
  return verdict
end

-- Bounds are infinite where values are too few.
local function describe_bounds(low, high, number)
  if not low or low == -math.huge and high == math.huge then return ", of unknown noise" end
  if low == high then return "" end
  if low == -math.huge then return (" (at most %s)"):format(number(high)) end
  if high == math.huge then return (" (at least %s)"):format(number(low)) end
  return (" (%s to %s)"):format(number(low), number(high))
end

-- Numbers that were measured, for people: "3.10 % (2.52 to 3.80)".
local function describe(result, unit)
  if not result.value then
    return result.note or result.words or "no value"
  end
  local scale, sign = 1, unit == "%" and " %" or ""
  if unit == "ns" then
    scale, sign = 1e6, " ms"
    if result.value < 1e6 then scale, sign = 1e3, " us" end
  end
  local function number(x)
    x = x / scale
    return (math.abs(x) < 999.5 and "%.3g" or "%.0f"):format(x)
  end
  local text = number(result.value) .. sign .. describe_bounds(result.low, result.high, number)
  return result.note and text .. ", " .. result.note or text
end

-- Quantities whose interval shows only how a run varies in itself where runs are few.
local function is_within_run(quantity, files, baseline)
  local n = quantity.kind == "change" and math.max(#files, #baseline) or #files
  return n < words.RUNS and (quantity.is_sampled or quantity.kind == "quantile")
end

-- Says what the results do not show: the event that was taken, and how far they can be trusted.
local function notes_of(spec, files, baseline)
  local list, is_within, takes_event = {}, false, false
  for _, condition in ipairs(spec.conditions) do
    local quantity = condition.quantity
    is_within = is_within or is_within_run(quantity, files, baseline)
    takes_event = takes_event or not quantity.event
      and (quantity.is_sampled or quantity.kind == "samples")
  end
  local events = takes_event and quantities.events(files[1]) or {}
  if events[2] then
    local others = {}
    for i = 2, #events do others[i - 1] = events[i].name end
    list[1] = ("%s is taken where no event is named; others with samples: %s"):format(
      events[1].name, table.concat(others, ", "))
  end
  if is_within then
    list[#list + 1] = ("fewer than %d runs: intervals are of the noise within a run, and other "
      .. "runs may differ more"):format(words.RUNS)
  end
  return list
end

---Checks recordings.
---@param spec table of words.run
---@param files perflua.File[] runs of the same work
---@param baseline perflua.File[] runs to compare with
---@return { text: string, verdict: string, found: string, op: string, seconds: number }[] # in
--- the order of the spec, with `notes`; op is the condition, seconds are of processor time;
--- raises if a quantity cannot be measured
function check.run(spec, files, baseline)
  local list = { notes = notes_of(spec, files, baseline) }
  for i, condition in ipairs(spec.conditions) do
    local quantity, started = condition.quantity, os.clock()
    local ok, result = pcall(quantities.measure, quantity, files, baseline)
    if not ok then
      error(("%s: %s"):format(quantity.text, quantity.kind == "number" and tostring(result)
        or strip_position(result)), 0)
    end
    if interrupted.part() then error("interrupted: nothing is checked", 0) end
    if result.is_gone and not condition.may_be_gone then
      result.note = result.note .. " (:or_gone() accepts that)"
    end
    list[i] = { text = condition.text, verdict = judge(condition, result), op = condition.op,
      seconds = os.clock() - started, found = describe(result, quantity.unit) }
  end
  return list
end

check.read, check.needs_baseline = words.run, words.needs_baseline

return check
