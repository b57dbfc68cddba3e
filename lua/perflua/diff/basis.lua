-- The basis of a comparison: a number of each run, made of a measure.
--
-- of(measure, per) returns a basis:
--   measure, per  as the core takes them: per is "run", "share", "second" or "event"
--   event        the name of that event
--   quantile     which one
--   is_amount    a row that a run lacks is 0 there, and samples can be counted

local usage_error = require("perflua.errors").usage_error

local basis = {}

local amounts = { count = true, sum = true, share = true }
local ratios = { avg = true, ratio = true, quantile = true }

local function check_per(per)
  if per == nil then return "run" end
  if per == "share" or per == "second" then return per end
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
    if kind ~= "run" and kind ~= "share" then
      usage_error("diff: '%s' is a share already; per = \"%s\" goes with count and sum",
        measure.name, per)
    end
    kind = "share"
  end
  return { measure = measure, is_amount = true, per = kind, event = event }
end

---@param measure table of a Table: the one that is compared
---@param per string?
---@return table
function basis.of(measure, per)
  local name = measure.measure
  if amounts[name] then return amount_basis(measure, per) end
  if not ratios[name] then
    usage_error("diff: %s cannot be compared; count, sum, share, avg, ratio and quantile can",
      name)
  elseif check_per(per) ~= "run" then
    usage_error("diff: per goes with count and sum, not with %s", name)
  elseif name == "quantile" and type(measure.option) == "table" then
    usage_error("diff: one quantile is compared, but %s are several", measure.name)
  elseif name == "quantile" and measure.weight then
    usage_error("diff: a weighted quantile cannot be compared: its values are not samples")
  end
  return { measure = measure, per = "run",
    quantile = name == "quantile" and measure.option or nil }
end

return basis
