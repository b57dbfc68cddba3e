-- Rows of two sides in pairs, and whether they differ.
--
-- A pair is { event, keys, before, after, samples (nil: not known), delta, low, high, p, q,
-- verdict }; before and after are { row, value, n (runs that have a value), error, freedom }.

local core = require "perflua.core"
local measures = require "perflua.measures"
local noise = require "perflua.diff.noise"

local compare = {}

local LEAST <const> = 20 -- samples of both sides: with fewer nothing can be told
local FEW <const> = 100 -- samples whose division is also tested as such

local function make_part(one, row, event)
  local values = noise.values(one, row, event)
  local part = { row = row, n = #values, error = 0, freedom = 1 }
  if #values > 0 then part.value, part.error = noise.mean(values) end
  return part
end

local function make_pair(before, after, event, a, b)
  local pair = {
    event = event, keys = (b or a).keys, before = make_part(before, a, event),
    after = make_part(after, b, event),
  }
  local x, y = a and a.samples or not a and 0, b and b.samples or not b and 0
  pair.samples = x and y and x + y or nil
  if pair.before.value and pair.after.value then
    pair.delta = pair.after.value - pair.before.value
  end
  return pair
end

---Returns the pairs of the events that both sides have.
---@param before table a side
---@param after table
---@return table[]
function compare.pairs(before, after)
  local list = {}
  for event, rows in pairs(before.rows) do
    local others = after.rows[event]
    if others then
      for id, row in pairs(rows) do
        list[#list + 1] = make_pair(before, after, event, row, others[id])
      end
      for id, row in pairs(others) do
        if not rows[id] then
          list[#list + 1] = make_pair(before, after, event, nil, row)
        end
      end
    end
  end
  return list
end

-- The values of a quantile's sketch in order, with their counts.
local function ordered_values(one, row)
  local measure, state = one.runs[1].measure, nil
  for _, of_run in pairs(row.states) do
    state = state and measures.quantile.merge(state, of_run, measure.kind) or of_run
  end
  local buckets, list, counts = {}, {}, state[3]
  for bucket in pairs(counts) do buckets[#buckets + 1] = bucket end
  table.sort(buckets)
  for _, bucket in ipairs(buckets) do
    list[#list + 1] = core.bucket_middle(measure.kind, bucket) + 0.0
    list[#list + 1] = counts[bucket]
  end
  return list
end

-- Returns how far a quantile may be from that of the values, which its sketch keeps within 1 %.
local function bucket_width(value)
  local size = math.abs(value)
  return math.type(value) == "integer" and size < 128 and 0 or 0.008 * size
end

local function compare_quantiles(before, after, pair, confidence)
  local a, b = pair.before.row, pair.after.row
  local x, y = a and ordered_values(before, a) or {}, b and ordered_values(after, b) or {}
  if #x == 0 or #y == 0 then return nil end
  local low, high, p = core.compare_quantiles(x, y, before.basis.quantile, confidence)
  local width = bucket_width(pair.before.value) + bucket_width(pair.after.value)
  low, high = low - width, high + width
  return low, high, low <= 0 and high >= 0 and math.max(p, 0.5) or p
end

---Returns the interval of a quantile by itself.
---@param one table a side
---@param row table
---@param value number its quantile
---@param confidence number
---@return number low, number high
function compare.bound_quantile(one, row, value, confidence)
  local certain = { 0.0, 1 << 52 }
  local low, high = core.compare_quantiles(certain, ordered_values(one, row),
    one.basis.quantile, confidence)
  return low - bucket_width(value), high + bucket_width(value)
end

local function compare_values(pair, confidence)
  local a, b = pair.before, pair.after
  return core.compare(a.value, a.error, math.max(a.freedom, 1), b.value, b.error,
    math.max(b.freedom, 1), confidence)
end

---Returns whether intervals of a quantile are of the order of its values: also of runs that all
---have the same one, as they mostly do where values are few different ones.
---@param one table a side
---@param method string? "runs", "slices" or "order"
---@param ... table parts of a pair
---@return boolean
function compare.is_by_order(one, method, ...)
  if method ~= "runs" or not one.basis.quantile then return method == "order" end
  for _, part in ipairs { ... } do
    if part.error ~= 0 then return false end
  end
  return true
end

-- Returns whether there is too little of a row for any test.
local function is_too_few(pair, basis)
  if not pair.delta or pair.is_unknown then return true end
  if not pair.samples then return false end
  if pair.samples < LEAST then return true end
  if basis.is_amount then return false end
  local a, b = pair.before.row, pair.after.row
  return not a or not b or math.min(a.samples, b.samples) < LEAST / 2
end

---Sets intervals, and the probabilities of such differences by chance.
---@param before table a side
---@param after table
---@param list table[] pairs
---@param method string "runs", "slices" or "order"
---@param confidence number
function compare.test(before, after, list, method, confidence)
  local basis = before.basis
  if method == "runs" then
    noise.of_runs(list)
  elseif method == "slices" then
    noise.of_slices(before, list, "before")
    noise.of_slices(after, list, "after")
  end
  if basis.is_amount then noise.add_counting(before, after, list) end
  for _, pair in ipairs(list) do
    if pair.delta and not pair.is_unknown then
      local low, high, p
      if compare.is_by_order(before, method, pair.before, pair.after) then
        low, high, p = compare_quantiles(before, after, pair, confidence)
      else
        low, high, p = compare_values(pair, confidence)
      end
      if basis.per == "share" then low, high = math.max(low, -100.0), math.min(high, 100.0) end
      pair.low, pair.high = low, high
      if not is_too_few(pair, basis) then pair.p = p end
      if pair.p and basis.is_amount and pair.samples and pair.samples < FEW then
        pair.p = math.max(pair.p, noise.test_few(before, after, pair))
      end
    end
  end
end

-- Returns whether a row lacks on a side.
local function lacks(part) return not part.row or part.value == 0 end

-- Returns the verdict of a pair: whether and how it differs.
local function verdict_of(pair, basis, rate)
  if pair.q and pair.q <= rate then
    if basis.is_amount and lacks(pair.before) then return "new" end
    if basis.is_amount and lacks(pair.after) then return "gone" end
    return basis.words[pair.delta < 0 and 1 or 2]
  end
  -- a change by half of the row would not stand out either
  local half = pair.low and (pair.high - pair.low) / 2
  local larger = math.max(math.abs(pair.before.value or 0), math.abs(pair.after.value or 0))
  if pair.p and half <= larger / 2 then return "noise" end
  return pair.samples and ("cannot tell (%d %s)"):format(pair.samples, pair.samples == 1
    and "sample" or "samples") or "cannot tell"
end

---Sets verdicts, corrected for the number of rows that were tested.
---@param list table[] pairs; those that have a verdict keep it
---@param basis table
---@param confidence number
---@param is_judged (fun(pair: table): boolean)? default: all are
---@return integer # rows that were tested
function compare.judge(list, basis, confidence, is_judged)
  local judged, tested, p = {}, {}, {}
  for _, pair in ipairs(list) do
    if not pair.verdict and (not is_judged or is_judged(pair)) then
      judged[#judged + 1] = pair
      if pair.p then tested[#tested + 1], p[#p + 1] = pair, pair.p end
    end
  end
  for i, q in ipairs(core.adjust(p)) do tested[i].q = q end
  for _, pair in ipairs(judged) do pair.verdict = verdict_of(pair, basis, 1 - confidence) end
  return #tested
end

return compare
