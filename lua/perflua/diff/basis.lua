-- The basis of a comparison: a number of each run, made of a measure, and how it adds up over
-- slices of time.
--
-- of(measure, per) returns a basis:
--   over(state) → number, under(state) → number or nil: parts of a state that add up
--   finish(state) → what is shown of one run
--   divided      "own": by the row's own `under`; "shared": by a total of the run; or nil
--   per          "share", "second", "event" or nil
--   is_amount    a row that a run lacks is 0 there, and samples can be counted
--   words        verdicts for less and more
--   kind         of the columns; nil: that of the measure

local usage_error = require("perflua.errors").usage_error
local measures = require "perflua.measures"

local basis = {}

local TIME, AMOUNT = { "faster", "slower" }, { "less", "more" }

local function as_is(state) return state end

local amounts = { count = as_is, sum = as_is, share = as_is }

-- Returns the sum and the number of an average (src/query/group/group.h).
local function sum_of(state) return state[2] * 4294967296.0 + state[3] end
local function number_of(state) return state[1] end

local ratios = {
  avg = { over = sum_of, under = number_of, words = TIME },
  ratio = {
    over = function(state) return state[1] end, under = function(state) return state[2] end,
    words = AMOUNT,
  },
  quantile = { words = TIME },
}

local function check_per(per)
  if per == nil or per == "share" or per == "second" then return per end
  local event = type(per) == "string" and per:match "^event:(.+)$"
  if not event then
    usage_error("diff: per: \"share\", \"second\" or \"event:NAME\" expected, got %s",
      type(per) == "string" and ("'%s'"):format(per) or "a " .. type(per))
  end
  return "event", event
end

local function amount_basis(measure, per)
  local kind, event = check_per(per)
  if measure.measure == "share" then
    if kind and kind ~= "share" then
      usage_error("diff: '%s' is a share already; per = \"%s\" goes with count and sum",
        measure.name, per)
    end
    kind = "share"
  end
  return {
    over = amounts[measure.measure], is_amount = true, per = kind, event = event,
    divided = (kind == "share" or kind == "event") and "shared" or nil,
    words = kind and AMOUNT or TIME,
    kind = kind == "share" and "percent" or kind and "float" or nil,
    finish = as_is,
  }
end

---@param measure table of a Table: the one that is compared
---@param per string?
---@return table
function basis.of(measure, per)
  local name = measure.measure
  if amounts[name] then return amount_basis(measure, per) end
  local made = ratios[name]
  if not made then
    usage_error("diff: %s cannot be compared; count, sum, share, avg, ratio and quantile can",
      name)
  elseif check_per(per) then
    usage_error("diff: per goes with count and sum, not with %s", name)
  elseif name == "quantile" and type(measure.option) == "table" then
    usage_error("diff: one quantile is compared, but %s are several", measure.name)
  elseif name == "quantile" and measure.weight then
    usage_error("diff: a weighted quantile cannot be compared: its values are no samples")
  end
  return {
    over = made.over, under = made.under, divided = made.over and "own" or nil,
    words = made.words, kind = "float", quantile = name == "quantile" and measure.option or nil,
    finish = function(state)
      return measures[name].finish(state, measure.kind, measure.option)
    end,
  }
end

return basis
