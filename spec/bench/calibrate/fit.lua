-- Fits how much kinds of rows vary from run to run: the priors of perflua.diff.
--
-- The difference of two runs, divided by the square root of the variance that is expected of
-- it, is taken to have Student's distribution. The drift is that of programs, whose samples are
-- taken to vary as by chance; the dispersion of samples in the kernel is fitted beside it. Both
-- are those with the greatest likelihood. Degrees of freedom are as many as still have as long
-- tails as the differences: of these no more than TAIL exceed what TAIL of the distribution
-- does.

local core = require "perflua.core"

local fit = {}

local LEAST <const> = 5 -- samples a run, below which rows show only that they are counted
local DRIFTS <const> = { 0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06,
  0.08, 0.1, 0.12, 0.15, 0.2 }
local DISPERSIONS <const> = { 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0,
  8.0 }
-- at most 30: other programs may vary in other ways than work.c does
local FREEDOMS <const> = { 30, 25, 20, 15, 12, 10, 9, 8, 7, 6, 5, 4, 3 }
local TAIL <const> = 0.001

---Adds the differences of all pairs of runs to lists.
---@param runs { total: integer, rows: table<string, { n: integer, kind: string }> }[] counts
--- of samples by row
---@param lists table<string, number[]> by kind: square of the difference, variance by counting,
--- sum of the squared amounts, and so on
function fit.add_pairs(runs, lists)
  local sums, kinds = {}, {}
  for _, run in ipairs(runs) do
    for key, row in pairs(run.rows) do
      sums[key], kinds[key] = (sums[key] or 0) + row.n, row.kind
    end
  end
  local function count(run, key) return run.rows[key] and run.rows[key].n or 0 end
  for key, sum in pairs(sums) do
    local list = lists[kinds[key]]
    for i = 1, sum >= LEAST * #runs and #runs or 0 do
      for k = i + 1, #runs do
        local a, b = count(runs[i], key), count(runs[k], key)
        list[#list + 1] = (a - b) ^ 2
        list[#list + 1] = a * (1 - a / runs[i].total) + b * (1 - b / runs[k].total)
        list[#list + 1] = a ^ 2 + b ^ 2
      end
    end
  end
end

-- Returns the squares of differences, each divided by the variance that is expected of it, and
-- the sum of the logarithms of these variances.
local function standardise(list, prior)
  local squares, logarithms = {}, 0
  for i = 1, #list, 3 do
    local variance = prior.dispersion * list[i + 1] + prior.drift ^ 2 * list[i + 2]
    if variance > 0 then
      squares[#squares + 1] = list[i] / variance
      logarithms = logarithms + math.log(variance)
    end
  end
  return squares, logarithms
end

-- Returns the logarithm of the likelihood.
local function likelihood(list, prior)
  local squares, logarithms = standardise(list, prior)
  local sum = 0
  for _, square in ipairs(squares) do sum = sum + math.log(1 + square / prior.freedom) end
  return -logarithms / 2 - (prior.freedom + 1) / 2 * sum
end

-- Returns the prior of the greatest likelihood; with `drift` its dispersion is looked for.
local function find_likely(list, freedom, drift)
  local best, found = -math.huge, nil
  for _, value in ipairs(drift and DISPERSIONS or DRIFTS) do
    local prior = { dispersion = drift and value or 1.0, drift = drift or value,
      freedom = freedom }
    local likely = likelihood(list, prior)
    if likely > best then best, found = likely, prior end
  end
  return found
end

local function part_beyond(squares, limit)
  local n = 0
  for _, square in ipairs(squares) do
    if square > limit then n = n + 1 end
  end
  return n / #squares
end

local function find_prior(list, drift)
  local prior
  for _, freedom in ipairs(FREEDOMS) do
    prior = find_likely(list, freedom, drift)
    local limit = core.student_quantile(TAIL / 2, freedom) ^ 2
    if part_beyond(standardise(list, prior), limit) <= TAIL then break end
  end
  return prior
end

---@param lists { program: number[], kernel: number[] } of add_pairs()
---@return table<string, { dispersion: number, drift: number, freedom: integer }> # by kind
function fit.priors(lists)
  local program = find_prior(lists.program)
  return { program = program, kernel = find_prior(lists.kernel, program.drift) }
end

return fit
