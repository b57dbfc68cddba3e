-- Values of one side with their intervals: what runs of the same work say of a measure.

local basis = require "perflua.diff.basis"
local compare = require "perflua.diff.compare"
local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local noise = require "perflua.diff.noise"
local side = require "perflua.diff.side"
local usage_error = require("perflua.errors").usage_error

local estimate = {}

-- Errors are taken to be known better than any number of runs tells.
local CERTAIN <const> = 1e9

-- Sets low and high of each row; nil where they are not known.
local function set_bounds(one, list, method, confidence)
  if method == "runs" then
    noise.of_runs(list)
  elseif method == "slices" then
    noise.of_slices(one, list, "before")
  end
  if one.basis.is_amount then noise.add_counting(one, one, list) end
  for _, pair in ipairs(list) do
    local part = pair.before
    if part.value and compare.is_by_order(one, method, part) then
      pair.low, pair.high = compare.bound_quantile(one, part.row, part.value, confidence)
    elseif method and part.value then
      pair.low, pair.high = core.compare(0, 0, CERTAIN, part.value, part.error,
        math.max(part.freedom, 1), confidence)
    end
  end
end

local function method_of(one)
  if #one.runs >= noise.RUNS then return "runs" end
  if one.basis.quantile then return "order" end
  return one.n_slices and one.n_slices >= noise.SLICES and "slices" or nil
end

---Reads runs of the same work.
---@param runs (perflua.Query|perflua.Table)[]
---@param options { per: string?, confidence: number, what: string, least: integer? } what:
--- the name of the side in messages; least: so many runs at least
---@return table[] # { event, keys, value, error, n (runs), low, high, samples }; low and high
--- are nil if there is no way to know them; nothing if no run has a record
function estimate.of(runs, options)
  local list = side.list(runs, options.what)
  if #list < (options.least or 1) then
    usage_error("diff: %s too few: at least %d show how much runs vary",
      fmt.phrase(#list, "{run is|runs are}"), options.least)
  end
  local one = side.read(list, options.what, {
    basis = basis.of(side.measure(list[1]), options.per), match = {},
    sliced = #list < noise.RUNS,
  })
  if side.are_empty(one) then return {} end
  local pairs_of_rows, rows = compare.pairs(one, one), {}
  set_bounds(one, pairs_of_rows, method_of(one), options.confidence)
  for i, pair in ipairs(pairs_of_rows) do
    local part = pair.before
    rows[i] = { event = pair.event, keys = pair.keys, value = part.value, error = part.error,
      n = part.n, low = pair.low, high = pair.high, samples = part.row.samples }
  end
  return rows
end

return estimate
