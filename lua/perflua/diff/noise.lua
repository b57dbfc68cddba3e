-- The noise of a side: by how much its values vary by chance, from run to run or within a run.

local core = require "perflua.core"
local side = require "perflua.diff.side"

local noise = {}

--- Runs of a side from which their variation is taken.
noise.RUNS = 3
--- Slices that a bootstrap needs: with fewer its intervals are too short.
noise.SLICES = 20

local SEED <const> = 20231

---@param values number[]
---@return number mean
---@return number error of the mean: 0 of a single value
function noise.mean(values)
  local sum, squares = 0, 0
  for _, value in ipairs(values) do sum = sum + value end
  if #values == 1 then return sum, 0 end
  local mean = sum / #values
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  return mean, math.sqrt(squares / (#values - 1) / #values)
end

-- The least error of an amount: that of counting its samples among all of the event.
local function counting_error(row, total, value)
  local n, all = row and row.samples, total and total.samples
  if not n or not all or n == 0 or all == 0 then return 0 end
  return math.sqrt(math.max(1 - n / all, 0) / n) * math.abs(value)
end

---Sets the errors of pairs of rows from the values of their runs.
---@param pairs_of_rows table[] see compare.lua
function noise.of_runs(pairs_of_rows)
  for _, pair in ipairs(pairs_of_rows) do
    local a, b = pair.before, pair.after
    a.freedom, b.freedom = a.n - 1, b.n - 1
    -- a side with few runs varies as the other does
    if a.n < noise.RUNS or b.n < noise.RUNS then
      local known, other = a, b
      if a.n < noise.RUNS then known, other = b, a end
      if known.n < noise.RUNS then
        pair.is_unknown = true
      else
        known.error = known.error * math.sqrt(1 + known.n / math.max(other.n, 1))
        other.error, other.freedom = 0, 1
      end
    end
  end
end

-- The factor from the core's error, of a sum or of a ratio of sums, to that of the value.
local function scale_of(one)
  local basis, seconds = one.basis, 0
  if not basis.is_amount then return 1 end
  if basis.per == nil then return 1 / #one.runs end
  if basis.per ~= "second" then return basis.per == "share" and 100 or 1 end
  for _, run in ipairs(one.runs) do seconds = seconds + run.seconds end
  return 1 / seconds
end

local function flat_cells(cells)
  local list = {}
  for slice, cell in pairs(cells) do
    local n = #list
    list[n + 1], list[n + 2], list[n + 3] = slice, cell[1], cell[2]
  end
  return list
end

-- The totals by slice that rows of an event are divided by; and the factor of their scale.
local function shared_totals(one, event)
  local total, list, sum = one.totals[event], {}, 0
  if total.is_whole then -- not known by slice
    for _, over in pairs(total.over) do sum = sum + over end
    return nil, 1 / sum
  end
  for s = 1, one.n_slices do list[s] = total.cells[s] or 0 end
  return list, 1
end

---Sets the errors of one side's rows by a bootstrap over slices of time.
---@param one table a side
---@param pairs_of_rows table[]
---@param which string "before" or "after"
function noise.of_slices(one, pairs_of_rows, which)
  local by_event = {}
  for _, pair in ipairs(pairs_of_rows) do
    local list = by_event[pair.event] or {}
    by_event[pair.event], list[#list + 1] = list, pair
  end
  for event, list in pairs(by_event) do
    local rows, factor = {}, scale_of(one)
    local described = { n = one.n_slices, own = one.basis.divided == "own" }
    if one.basis.divided == "shared" then
      local shared, more = shared_totals(one, event)
      described.shared, factor = shared, factor * more
    end
    for i, pair in ipairs(list) do
      rows[i] = pair[which].row and flat_cells(pair[which].row.cells) or {}
    end
    local errors, freedom = core.bootstrap(described, rows, SEED)
    for i, pair in ipairs(list) do
      pair[which].error, pair[which].freedom = errors[i] * factor, freedom[i]
    end
  end
end

---Makes no error smaller than that of counting samples.
---@param before table a side
---@param after table
---@param pairs_of_rows table[]
function noise.add_counting(before, after, pairs_of_rows)
  for _, pair in ipairs(pairs_of_rows) do
    for which, one in pairs { before = before, after = after } do
      local part = pair[which]
      part.error = math.max(part.error,
        counting_error(part.row, one.totals[pair.event], part.value or 0))
    end
  end
end

-- A side's part of all samples if nothing differs: runs, seconds, or whatever amounts are per.
local function exposure_of(one, event)
  local basis, sum = one.basis, 0
  if basis.per == nil then return #one.runs end
  if basis.per == "share" then
    local total = one.totals[event]
    return total and total.samples or 0
  end
  for r, run in ipairs(one.runs) do
    sum = sum + (basis.per == "second" and run.seconds or one.totals[event].over[r] or 0)
  end
  return sum
end

---Returns the probability of so uneven a division of few samples between the sides, if nothing
---differs.
---@param before table a side
---@param after table
---@param pair table
---@return number
function noise.test_few(before, after, pair)
  local a, b = exposure_of(before, pair.event), exposure_of(after, pair.event)
  local n = pair.before.row and pair.before.row.samples or 0
  if a <= 0 or b <= 0 then return 1 end
  return core.binomial_test(n, pair.samples, a / (a + b))
end

---Returns the values of a row by run, without those that a run has not.
---@param one table a side
---@param row table?
---@param event string|false
---@return number[]
function noise.values(one, row, event)
  local list = {}
  for r = 1, #one.runs do list[#list + 1] = side.value(one, row, r, event) end
  return list
end

return noise
