-- Measures of the model, which adds up value by value: for each measure a step that updates
-- group[i].
--
-- steps[name](kind, i, column) -> function(group, x, beside), where x is a record's value, nil
-- if it has none, and `beside` its weight or its event; weighted[name] likewise, of a weighted
-- measure. start(name) is the state before the first record, as core.result_put() takes it.
-- The core says what states show.

local comparison = require "spec.support.model.comparison"
local average = require "spec.support.model.average"
local sketch = require "spec.support.model.sketch"
local sums = require "perflua.measures.sums"

local measures = { steps = {}, weighted = {} }

local numbers = { count = 0, sum = 0, share = 0 }
local first_parts = { avg = { 0, 0, 0 }, ratio = { 0, 0 },
  max_by = { nil, 0 } }

---@param name string of a measure
---@return any
function measures.start(name)
  local state = table.move(first_parts[name] or {}, 1, 3, 1, {}) -- of max_by the first is nil
  if name == "hist" then state[1] = {} elseif name == "quantile" then state[3] = {} end
  return numbers[name] or state
end

-- Returns how often a record of that weight counts; nil if it does not.
local function times_of(weight)
  if weight == 0 or not math.type(weight) then return nil end
  if math.type(weight) == "float" or weight < 0 then error(sums.wrong.weight, 0) end
  return weight
end

local steps, weighted = measures.steps, measures.weighted

local function sum_step(kind, i)
  local plus = sums.adder(kind)
  return function(g, x)
    if math.type(x) then g[i] = plus(g[i], x) end
  end
end

-- Least and greatest: numbers are below strings, and what is neither is left out, as NaN is.
local function comes_first(kind, name) -- "lt" or "gt"
  if kind ~= "any" and kind ~= "string" and kind ~= "bytes" then
    return comparison(kind, kind)[name]
  end
  local compare = comparison("any", "any")[name]
  return function(x, best)
    if type(x) == type(best) then return compare(x, best) end
    return (type(x) == "number") == (name == "lt")
  end
end

local function extreme(name)
  return function(kind, i)
    local is_better = comes_first(kind, name)
    return function(g, x)
      if x ~= x or not math.type(x) and type(x) ~= "string" then return end
      local best = g[i][1]
      if not best or is_better(x, best) then g[i][1] = x end
    end
  end
end

-- Measures that count numbers, once each or as often as weights say: put(state, x, n).
local function counting(name, adder)
  steps[name] = function(kind, i)
    local put = adder(kind)
    return function(g, x)
      if math.type(x) then put(g[i], x, 1) end
    end
  end
  weighted[name] = function(kind, i)
    local put = adder(kind)
    return function(g, x, weight)
      local n = math.type(x) and times_of(weight)
      if n then put(g[i], x, n) end
    end
  end
end

steps.count = function(_, i) return function(g) g[i] = g[i] + 1 end end
weighted.count = function(_, i)
  return function(g, _, weight) g[i] = average.counted(g[i], times_of(weight) or 0) end
end
steps.sum, steps.share = sum_step, sum_step
steps.min, steps.max = extreme("lt"), extreme("gt")

counting("avg", average.adder)

counting("hist", function(kind)
  local bucket = sketch.power(kind)
  return function(state, x, n)
    local counts, b = state[1], bucket(x)
    counts[b] = average.counted(counts[b] or 0, n)
  end
end)

counting("quantile", function(kind)
  local bucket, less = sketch.scale(kind).bucket, comparison(kind, kind).lt
  return function(state, x, n)
    if x ~= x then return end
    local counts, b = state[3], bucket(x)
    counts[b] = average.counted(counts[b] or 0, n)
    if state[1] == nil or less(x, state[1]) then state[1] = x end
    if state[2] == nil or less(state[2], x) then state[2] = x end
  end
end)

steps.distinct = function(_, i)
  return function(g, x)
    if x ~= nil and x == x then g[i][x] = true end
  end
end

weighted.max_by = function(_, i)
  return function(g, x, by)
    local n = math.type(x) and x == x and times_of(by)
    if n and n > g[i][2] then g[i][1], g[i][2] = x, n end
  end
end

steps.first = function(_, i)
  return function(g, x)
    if x ~= nil and x == x and g[i][1] == nil then g[i][1] = x end
  end
end

steps.last = function(_, i)
  return function(g, x)
    if x ~= nil and x == x then g[i][1] = x end
  end
end

-- For the two sets of events in column.events: { sum, sum } of a field over the records of
-- each.
steps.ratio = function(kind, i, column)
  local plus, over, under = sums.adder(kind), column.events[1], column.events[2]
  return function(g, x, event)
    if not (math.type(x) and event) then return end
    local state, index = g[i], event.index
    if over[index] then state[1] = plus(state[1], x) end
    if under[index] then state[2] = plus(state[2], x) end
  end
end

return measures
