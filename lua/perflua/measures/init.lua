-- The measures that the core adds up (src/query/group/measure.h): for each how its state, a
-- plain value, starts and becomes what a row shows.
--
-- A row below: takes (kinds of fields it can measure), prefix (of its column's name), start()
-- -> state, weighted (a record's weight may stand beside its value), finish(state, kind,
-- options, total) -> value, shows(kind) -> kind of the column, default: "unsigned"; of measures
-- that a comparison adds up, merge(a, b, kind) -> state. Tables are merged in the core.
--
-- A weight is an integer from 0 on, and raises if it is not; a record without one, or of weight
-- 0, is not there. The states of a weighted measure have the form that they have without.

local arith = require "perflua.filter.arith"
local average = require "perflua.measures.average"
local kinds = require "perflua.filter.kinds"
local sketch = require "perflua.measures.sketch"
local sums = require "perflua.measures.sums"

local measures = {}

local numeric = { signed = true, unsigned = true, address = true, float = true, any = true }
local ordered = { string = true, bytes = true }
local value = { boolean = true, event = true }
for kind in pairs(numeric) do ordered[kind] = true end
for kind in pairs(ordered) do value[kind] = true end
local hashed = { stack = true }
for kind in pairs(value) do hashed[kind] = true end

local function same(kind) return kind end
local function float() return "float" end
local function zero() return 0 end
local function none() return false end
local function empty() return {} end
local function as_is(state) return state end
local function unless_none(state, kind)
  if state == false then return nil end
  return kinds.shown(state, kind)
end

local function sum_merge(a, b, kind) return sums.adder(kind)(a, b) end

local extreme = { takes = ordered, start = none, shows = same, finish = unless_none }

local function add_counts(a, b)
  local merged = {}
  for bucket, n in pairs(a) do merged[bucket] = n end
  for bucket, n in pairs(b) do merged[bucket] = sums.counted(merged[bucket] or 0, n) end
  return merged
end

-- A table of one value, so that false is told from none.
local function kept(state) return state[1] end

measures.count = { start = zero, weighted = true, merge = sums.counted, finish = as_is }

measures.sum = {
  takes = numeric, prefix = "", start = zero, merge = sum_merge, finish = as_is,
  shows = function(kind) return kind == "address" and "unsigned" or kind end,
}

measures.avg = {
  takes = numeric, weighted = true, start = average.start, merge = average.merge,
  finish = average.finish,
  shows = float,
}

measures.min, measures.max = extreme, extreme

-- A quantile's state: { counts of buckets, least value, greatest value }; the last two keep a
-- bucket's middle from being more than what is in it.
local function quantile_merge(a, b, kind)
  if a[2] == nil or b[2] == nil then return a[2] == nil and b or a end
  local less = arith.comparison(kind, kind).lt
  return { add_counts(a[1], b[1]), less(b[2], a[2]) and b[2] or a[2], less(a[3], b[3]) and b[3]
    or a[3] }
end

local function quantile_finish(state, kind, q)
  local least, greatest, less = state[2], state[3], arith.comparison(kind, kind).lt
  local middle = sketch.quantile(state[1], q, kind)
  if middle == nil then return nil end
  if less(middle, least) then
    middle = least
  elseif less(greatest, middle) then
    middle = greatest
  end
  return kinds.shown(middle, kind)
end

measures.quantile = {
  weighted = true,
  takes = numeric, start = function() return { {} } end, shows = same,
  merge = quantile_merge, finish = quantile_finish,
}

measures.hist = {
  takes = numeric, weighted = true, start = empty,
  finish = sketch.histogram, shows = function() return "histogram" end,
}

measures.distinct = {
  takes = hashed, start = empty,
  finish = function(set)
    local n = 0
    for _ in pairs(set) do n = n + 1 end
    return n
  end,
}

measures.first = { takes = value, start = empty, shows = same, finish = kept }

measures.last = measures.first

measures.share = {
  takes = numeric, start = zero, merge = sum_merge,
  shows = function() return "percent" end,
  finish = function(sum, _, _, total) return total ~= 0 and 100 * (sum / total) or nil end,
}

-- For the two sets of events in column.events: { sum, sum } of a field over the records of
-- each.
measures.ratio = {
  takes = numeric, start = function() return { 0, 0 } end, shows = float,
  merge = function(a, b, kind)
    local plus = sums.adder(kind)
    return { plus(a[1], b[1]), plus(a[2], b[2]) }
  end,
  finish = function(state)
    if state[2] == 0 then return nil end
    return state[1] / state[2]
  end,
}

-- Values of a comparison, which was made of all groups: { value }.
measures.compared = { start = empty, shows = same, finish = kept }

-- Sorted by its magnitude.
measures.delta = { start = empty, shows = same, finish = kept, by_magnitude = true }

return measures
