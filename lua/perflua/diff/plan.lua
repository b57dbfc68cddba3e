-- How many runs a side needs to find a wished-for change, from how much runs of equal work
-- vary.

local core = require "perflua.core"

local plan = {}

local MISSED <const> = 0.05 -- of comparisons may miss the change

--- Runs beyond which no number is told.
plan.MOST = 1000

---@param spread number the standard deviation of runs, as a part of their mean
---@param change number the part of the mean by which the work changes
---@param rate number of false findings that are allowed in all rows
---@param rows integer that are tested together
---@return integer? # runs a side; nil: more than plan.MOST
function plan.runs(spread, change, rate, rows)
  for n = 2, plan.MOST do
    local freedom = 2 * (n - 1)
    local found = core.student_quantile(rate / rows / 2, freedom)
    local missed = core.student_quantile(MISSED, freedom)
    if (found + missed) * spread * math.sqrt(2 / n) <= change then return n end
  end
end

---Lists the rows of equal runs, with the runs that they need.
---@param pairs_of_runs table[] pairs of perflua.diff.compare: their `before` are all runs
---@param change number see runs()
---@param rate number
---@return table[] # { event, keys, mean, spread, runs }
function plan.rows(pairs_of_runs, change, rate)
  local tested, list = 0, {}
  for _, pair in ipairs(pairs_of_runs) do tested = tested + (pair.p and 1 or 0) end
  for _, pair in ipairs(pairs_of_runs) do
    local part = pair.before
    if pair.p and part.value > 0 then
      local spread = part.error * math.sqrt(part.n) / part.value
      list[#list + 1] = { event = pair.event, keys = pair.keys, mean = part.value,
        spread = spread, runs = plan.runs(spread, change, rate, tested) }
    end
  end
  return list
end

return plan
