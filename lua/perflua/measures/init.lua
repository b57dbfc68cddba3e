-- What a query adds up: for each measure how its state starts, takes a value, merges with another's and
-- becomes what a row shows. States are plain values, so they can be saved and merged later.
--
-- A row below: takes (kinds of fields it can measure), prefix (of its column's name), start() -> state,
-- step(kind, i, absent, column) -> function(group, x, beside) that updates group[i] by a value, code(kind) -> the same
-- as text for the loop, where it is worth it: of STATE, VALUE and STEP(group, x); weighted(kind, i) -> a step that
-- takes a record's weight beside its value; merge(a, b, kind) -> state, finish(state, kind, options, total) -> value,
-- shows(kind) -> kind of the column, default: "unsigned".
--
-- A weight is an integer from 0 on, and raises if it is not; a record without one, or of weight 0, is not there. The
-- states of a weighted measure have the form that they have without.

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

local function sum_step(kind, i)
  local plus = sums.adder(kind)
  return function(g, x)
    if x then g[i] = plus(g[i], x) end
  end
end

local function sum_code(kind)
  if not arith.is_unsigned[kind] then return nil end
  return [[
    if VALUE then
      local sum = STATE + VALUE
      if VALUE < 0 or sum < 0 then STEP(g, VALUE) end -- raises
      STATE = sum
    end
  ]]
end

local function sum_merge(a, b, kind) return sums.adder(kind)(a, b) end

-- Least and greatest: numbers are below strings, and what is neither is left out, as what is no number is.
local function comes_first(kind, name) -- "lt" or "gt"
  if kind ~= "any" and kind ~= "string" and kind ~= "bytes" then return arith.comparison(kind, kind)[name] end
  local compare = arith.comparison("any", "any")[name]
  return function(x, best)
    if type(x) == type(best) then return compare(x, best) end
    return (type(x) == "number") == (name == "lt")
  end
end

local function extreme(name)
  return {
    takes = ordered, start = none, shows = same, finish = unless_none,
    step = function(kind, i)
      local is_better = comes_first(kind, name)
      return function(g, x)
        if x == x and (math.type(x) or type(x) == "string") then
          local best = g[i]
          if not best or is_better(x, best) then g[i] = x end
        end
      end
    end,
    merge = function(a, b, kind)
      if a == false or b == false then return a or b end
      return comes_first(kind, name)(b, a) and b or a
    end,
  }
end

-- The steps of what counts numbers, once each or as often as weights say: put(state, x, n).
local function counting(measure)
  local adder = measure.adder
  function measure.step(kind, i)
    local put = adder(kind)
    return function(g, x)
      if math.type(x) then put(g[i], x, 1) end
    end
  end
  function measure.weighted(kind, i)
    local put = adder(kind)
    return function(g, x, weight)
      local n = math.type(x) and sums.times(weight)
      if n then put(g[i], x, n) end
    end
  end
  return measure
end

local function add_counts(a, b)
  local merged = {}
  for bucket, n in pairs(a) do merged[bucket] = n end
  for bucket, n in pairs(b) do merged[bucket] = sums.counted(merged[bucket] or 0, n) end
  return merged
end

local function hist_adder(kind)
  local bucket = sketch.power(kind)
  return function(counts, x, n)
    local b = bucket(x)
    counts[b] = sums.counted(counts[b] or 0, n)
  end
end

-- A table of one value, so that false is told from none.
local function kept(state) return state[1] end

measures.count = {
  start = zero, merge = sums.counted, finish = as_is,
  step = function(_, i) return function(g) g[i] = g[i] + 1 end end,
  code = function() return "STATE = STATE + 1" end,
  weighted = function(_, i)
    return function(g, _, weight) g[i] = sums.counted(g[i], sums.times(weight) or 0) end
  end,
}

measures.sum = {
  takes = numeric, prefix = "", start = zero, step = sum_step, code = sum_code, merge = sum_merge, finish = as_is,
  shows = function(kind) return kind == "address" and "unsigned" or kind end,
}

measures.avg = counting {
  takes = numeric, start = average.start, adder = average.adder, merge = average.merge, finish = average.finish,
  shows = float,
}

measures.min, measures.max = extreme("lt"), extreme("gt")

-- A quantile's state: { counts of buckets, least value, greatest value }; the last two keep a bucket's
-- middle from being more than what is in it.
local function quantile_adder(kind)
  local bucket, less = sketch.scale(kind).bucket, arith.comparison(kind, kind).lt
  return function(state, x, n)
    if x ~= x then return end
    local counts, b = state[1], bucket(x)
    counts[b] = sums.counted(counts[b] or 0, n)
    if state[2] == nil or less(x, state[2]) then state[2] = x end
    if state[3] == nil or less(state[3], x) then state[3] = x end
  end
end

local function quantile_merge(a, b, kind)
  if a[2] == nil or b[2] == nil then return a[2] == nil and b or a end
  local less = arith.comparison(kind, kind).lt
  return { add_counts(a[1], b[1]), less(b[2], a[2]) and b[2] or a[2], less(a[3], b[3]) and b[3] or a[3] }
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

measures.quantile = counting {
  takes = numeric, start = function() return { {} } end, shows = same,
  adder = quantile_adder, merge = quantile_merge, finish = quantile_finish,
}

measures.hist = counting {
  takes = numeric, start = empty, adder = hist_adder, merge = add_counts,
  finish = sketch.histogram, shows = function() return "histogram" end,
}

measures.distinct = {
  takes = hashed, start = empty,
  step = function(_, i, absent)
    return function(g, x)
      if x ~= absent then g[i][x] = true end
    end
  end,
  merge = function(a, b)
    local merged = {}
    for x in pairs(a) do merged[x] = true end
    for x in pairs(b) do merged[x] = true end
    return merged
  end,
  finish = function(set)
    local n = 0
    for _ in pairs(set) do n = n + 1 end
    return n
  end,
}

measures.first = {
  takes = value, start = empty, shows = same, finish = kept,
  step = function(_, i, absent)
    return function(g, x)
      if x ~= absent and g[i][1] == nil then g[i][1] = x end
    end
  end,
  merge = function(a, b) return a[1] ~= nil and a or b end,
}

measures.last = {
  takes = value, start = empty, shows = same, finish = kept,
  step = function(_, i, absent)
    return function(g, x)
      if x ~= absent then g[i][1] = x end
    end
  end,
  merge = function(a, b) return b[1] ~= nil and b or a end,
}

measures.share = {
  takes = numeric, start = zero, step = sum_step, code = sum_code, merge = sum_merge,
  shows = function() return "percent" end,
  finish = function(sum, _, _, total) return total ~= 0 and 100 * (sum / total) or nil end,
}

-- Of the events that column.events has, two sets: { sum, sum } of a field over the records of each.
measures.ratio = {
  takes = numeric, start = function() return { 0, 0 } end, shows = float,
  step = function(kind, i, _, column)
    local plus, over, under = sums.adder(kind), column.events[1], column.events[2]
    return function(g, x, event)
      if not (x and event) then return end
      local state, index = g[i], event.index
      if over[index] then state[1] = plus(state[1], x) end
      if under[index] then state[2] = plus(state[2], x) end
    end
  end,
  merge = function(a, b, kind)
    local plus = sums.adder(kind)
    return { plus(a[1], b[1]), plus(a[2], b[2]) }
  end,
  finish = function(state)
    if state[2] == 0 then return nil end
    return state[1] / state[2]
  end,
}

return measures
