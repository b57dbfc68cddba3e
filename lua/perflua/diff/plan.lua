-- The plan of a comparison: the number of runs that a side needs to find a wished-for change,
-- or how much longer runs must be, computed from how much runs of equal work vary.

local core = require "perflua.core"
local estimate = require "perflua.diff.estimate"
local join = require "perflua.diff.join"

local plan = {}

local LEAST <const> = 20 -- samples of a row that is listed
local MISSED <const> = 0.05 -- of comparisons may miss the change

--- Runs, and times the length of a run, beyond which no number is told.
plan.MOST = 1000

-- Returns the largest relative variance of a run with which n runs a side find the change.
-- `known` is how many degrees of freedom are known without the runs.
local function largest_variance(n, known, change, rate)
  local freedom = known + 2 * (n - 1)
  local found = core.student_quantile(rate / 2, freedom)
  local missed = core.student_quantile(MISSED, freedom)
  return (change / (found + missed)) ^ 2 * n / 2
end

---@param variance number of runs, as a part of their squared mean
---@param known number degrees of freedom that are known of it without the runs
---@param change number the part of the mean by which the work changes
---@param rate number of false findings that are allowed in the row
---@return integer? # runs a side; nil: more than plan.MOST
function plan.runs(variance, known, change, rate)
  for n = known > 0 and 1 or 2, plan.MOST do
    if variance <= largest_variance(n, known, change, rate) then return n end
  end
end

-- Returns how many times as long join.RUNS runs a side must be: nil if no length does. Only
-- what counting adds to the variance becomes less.
local function find_length(row, change, rate)
  if not row.counted or row.runs and row.runs <= join.RUNS then return nil end
  local room = largest_variance(join.RUNS, row.known, change, rate)
    - math.max(row.variance - row.counted, 0)
  local times = room > 0 and row.counted / room or math.huge
  return times <= plan.MOST and math.max(times, 1.0) or nil
end

---Lists the rows of equal runs, with the runs that they need.
---@param runs (perflua.Query|perflua.Table)[] at least three
---@param change number see runs()
---@param rate number of false findings that are allowed in all rows
---@return table[] # { event, keys, mean, spread, runs, longer }: longer: how many times as long
--- three runs a side must be, nil if they need not, or if that does not help
---@return boolean # true if the runs have no record at all
function plan.rows(runs, change, rate)
  local list = {}
  local rows = estimate.of(runs, { confidence = 1 - rate, what = "runs", least = 3 })
  for _, row in ipairs(rows) do
    if row.value > 0 and (not row.samples or row.samples >= LEAST) then
      local scale = row.n / row.value ^ 2
      list[#list + 1] = { event = row.event, keys = row.keys, mean = row.value,
        spread = row.error * math.sqrt(scale), variance = row.error ^ 2 * scale,
        counted = row.freedom and row.counting ^ 2 * scale,
        known = row.freedom and row.freedom - (row.n - 1) or 0 }
    end
  end
  for _, row in ipairs(list) do
    row.runs = plan.runs(row.variance, row.known, change, rate / #list)
    row.longer = find_length(row, change, rate / #list)
  end
  return list, #rows == 0
end

return plan
