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
  faster = check.OK, gone = check.OK }
local FASTER <const> = { slower = check.FAILED, new = check.FAILED, noise = check.FAILED,
  faster = check.OK, gone = check.OK }

-- Verdicts by the operation of a condition.
local judges = {
  below = function(result, limit) return judge_limit(result, limit, 1) end,
  above = function(result, limit) return judge_limit(result, limit, -1) end,
  not_slower = function(result) return NOT_SLOWER[result.verdict] or check.UNKNOWN end,
  faster = function(result) return FASTER[result.verdict] or check.UNKNOWN end,
}

-- Numbers that were measured, for people: "3.10 % (2.52 to 3.80)".
local function describe(result, unit)
  if not result.value then
    return result.note or result.verdict or "no value"
  end
  local scale, sign = 1, unit == "%" and " %" or ""
  if unit == "ns" then
    scale, sign = 1e6, " ms"
    if result.value < 1e6 then scale, sign = 1e3, " us" end
  end
  local function number(x)
    x = x / scale
    return (math.abs(x) < 1000 and "%.3g" or "%.0f"):format(x)
  end
  local text = number(result.value) .. sign
  if result.low and result.low ~= result.high then
    text = ("%s (%s to %s)"):format(text, number(result.low), number(result.high))
  end
  if not result.low then text = text .. ", of unknown noise" end
  return result.note and text .. ", " .. result.note or text
end

---Checks recordings.
---@param said table of words.run
---@param files perflua.File[] runs of the same work
---@param baseline perflua.File[] runs to compare with
---@return { text: string, verdict: string, found: string }[] # in the order of the spec; raises
--- if a quantity cannot be measured
function check.run(said, files, baseline)
  local list = {}
  for i, condition in ipairs(said.conditions) do
    local quantity = condition.quantity
    local ok, result = pcall(quantities.measure, quantity, files, baseline)
    if not ok then error(("%s: %s"):format(quantity.text, strip_position(result)), 0) end
    if interrupted.part() then error("interrupted: nothing is checked", 0) end
    local verdict = judges[condition.op](result, condition.limit)
    list[i] = { text = condition.text, verdict = verdict,
      found = describe(result, quantity.unit) }
  end
  return list
end

check.read = words.run

return check
