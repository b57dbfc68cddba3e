-- Values of one side with their intervals: what runs of the same work say of a measure.

local basis = require "perflua.diff.basis"
local fmt = require "perflua.text.fmt"
local join = require "perflua.diff.join"
local side = require "perflua.diff.side"
local usage_error = require("perflua.errors").usage_error

local estimate = {}

local function method_of(one)
  if #one.runs >= join.RUNS then return "runs" end
  if one.basis.quantile then return "order" end
  return one.n_slices and one.n_slices >= join.SLICES and "slices" or "none"
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
  local one = side.read(list, options.what, {
    basis = basis.of(side.measure(list[1]), options.per), match = {},
    matched = {}, sliced = #list < join.RUNS,
  })
  if side.are_empty(one) then return {} end
  local joined, rows = join.sides(one), {}
  join.judge(joined, { method = method_of(one), confidence = options.confidence })
  for i, row in ipairs(join.rows(joined)) do
    local part = row.before
    rows[i] = { event = row.event, keys = row.keys, value = part.value, error = part.error,
      counting = row.counting, freedom = row.freedom, n = part.n, low = row.low,
      high = row.high, samples = part.samples }
  end
  return rows
end

return estimate
