-- Estimates from runs of equal work: the values of a measure with their intervals; and the plan
-- of a comparison: the number of runs that a side needs to find a wished-for change, or how
-- much longer runs must be, computed from how much the runs vary.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local join = require "perflua.diff.join"
local side = require "perflua.diff.side"
local usage_error = require("perflua.errors").usage_error

local estimate = {}

local LEAST <const> = 20 -- samples of a row that is listed
local MISSED <const> = 0.05 -- of comparisons may miss the change

local MOST <const> = 1000 -- runs, and times the length of a run: larger numbers are not told

local function method_of(made)
  if #made.runs >= join.RUNS then return "runs" end
  if made.basis.quantile then return "order" end
  return made.n_slices and made.n_slices >= join.SLICES and "slices" or "none"
end

---Reads runs of the same work.
---@param runs (perflua.Query|perflua.Table)[]
---@param options { per: string?, confidence: number, what: string, least: integer? } what:
--- the name of the side in messages; least: so many runs at least
---@return table[] # { event, keys, value, error, counting, freedom, n (runs), low, high,
--- samples }; low and high are nil if there is no way to know them; counting is the error that
--- samples have by chance; nothing if no run has a record
function estimate.of(runs, options)
  local list = side.list(runs, options.what)
  if #list < (options.least or 1) then
    usage_error("diff: %s too few: at least %d show how much runs vary",
      fmt.phrase(#list, "{run is|runs are}"), options.least)
  end
  local made = side.read(list, options.what, {
    basis = side.basis(list[1], options.per), match = {},
    matched = {}, sliced = #list < join.RUNS,
  })
  if side.are_empty(made) then return {} end
  local joined, rows = join.sides(made), {}
  join.judge(joined, { method = method_of(made), confidence = options.confidence })
  for i, row in ipairs(join.rows(joined)) do
    local part = row.before
    rows[i] = { event = row.event, keys = row.keys, value = part.value, error = part.error,
      counting = row.counting, freedom = row.freedom, n = part.n, low = row.low,
      high = row.high, samples = part.samples }
  end
  return rows
end

-- Returns the largest variance of a run, as a part of its squared mean, with which n runs a
-- side find the change. `known` is how many degrees of freedom it has without the runs.
local function largest_variance(n, known, change, rate)
  local freedom = known + 2 * (n - 1)
  local found = core.student_quantile(rate / 2, freedom)
  local missed = core.student_quantile(MISSED, freedom)
  return (change / (found + missed)) ^ 2 * n / 2
end

-- Returns the runs that a side needs to find a change of a row; nil: more than MOST.
local function find_runs(row, change, rate)
  for n = row.known > 0 and 1 or 2, MOST do
    if row.variance <= largest_variance(n, row.known, change, rate) then return n end
  end
end

-- Returns how many times as long join.RUNS runs a side must be: nil if no length does. Only
-- what counting adds to the variance becomes less.
local function find_length(row, change, rate)
  if not row.counted or row.runs and row.runs <= join.RUNS then return nil end
  local room = largest_variance(join.RUNS, row.known, change, rate)
    - math.max(row.variance - row.counted, 0)
  local times = room > 0 and row.counted / room or math.huge
  return times <= MOST and math.max(times, 1.0) or nil
end

---Lists the rows of equal runs, with the runs that they need.
---@param runs (perflua.Query|perflua.Table)[] at least three
---@param change number the part of the mean by which the work changes
---@param rate number of false findings that are allowed in all rows
---@return table[] # { event, keys, mean, spread, runs, longer }: longer: how many times as long
--- three runs a side must be, nil if they need not, or if that does not help
---@return boolean # true if the runs have no record at all
function estimate.plan(runs, change, rate)
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
    row.runs = find_runs(row, change, rate / #list)
    row.longer = find_length(row, change, rate / #list)
  end
  return list, #rows == 0
end

return estimate
