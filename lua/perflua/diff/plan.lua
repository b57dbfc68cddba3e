-- The plan of a comparison: the number of runs that a side needs to find a wished-for change,
-- computed from how much runs of equal work vary.

local core = require "perflua.core"
local estimate = require "perflua.diff.estimate"

local plan = {}

local LEAST <const> = 20 -- samples of a row that is listed
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
---@param runs (perflua.Query|perflua.Table)[] at least three
---@param change number see runs()
---@param rate number
---@return table[] # { event, keys, mean, spread, runs }
---@return boolean # true if the runs have no record at all
function plan.rows(runs, change, rate)
  local list = {}
  local rows = estimate.of(runs, { confidence = 1 - rate, what = "runs", least = 3 })
  for _, row in ipairs(rows) do
    if row.value > 0 and (not row.samples or row.samples >= LEAST) then
      list[#list + 1] = { event = row.event, keys = row.keys, mean = row.value,
        spread = row.error * math.sqrt(row.n) / row.value }
    end
  end
  for _, row in ipairs(list) do row.runs = plan.runs(row.spread, change, rate, #list) end
  return list, #rows == 0
end

return plan
