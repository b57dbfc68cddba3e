-- What a query adds up: for each measure how its state starts, takes a value, merges with another's and
-- becomes what a row shows. States are plain values, so they can be saved and merged later.
--
-- A row below: takes (kinds of fields it can measure), prefix (of its column's name), start() -> state,
-- step(kind, i, absent) -> function(group, x) that updates group[i] by a value, code(kind) -> the same as text for the
-- loop, where it is worth it: of STATE, VALUE and STEP(group, x); merge(a, b, kind) -> state,
-- finish(state, kind, options, total) -> value, shows(kind) -> kind of the column, default: "unsigned".

local blame = require "perflua.errors.blame"
local arith = require "perflua.filter.arith"
local sketch = require "perflua.group.sketch"

local measures = {}

local number = { signed = true, unsigned = true, address = true, float = true, any = true }
local ordered = { string = true, bytes = true }
local value = { boolean = true, event = true }
for kind in pairs(number) do ordered[kind] = true end
for kind in pairs(ordered) do value[kind] = true end

local function same(kind) return kind end
local function float() return "float" end
local function zero() return 0 end
local function none() return false end
local function empty() return {} end
local function add(a, b) return a + b end
local function as_is(state) return state end
local function unless_none(state)
  if state == false then return nil end
  return state
end

local function overflow() blame("a sum passes 2^63-1: sum a part of it, or take avg()") end

-- a + x of integers, or raises; unsigned ones are never negative here.
local function add_unsigned(a, x)
  local sum = a + x
  if x < 0 or sum < 0 then overflow() end
  return sum
end

local function add_signed(a, x)
  local sum = a + x
  if (a ~ sum) & (x ~ sum) < 0 then overflow() end
  return sum
end

local function add_any(a, x)
  if math.type(a) == "integer" and math.type(x) == "integer" then return add_signed(a, x) end
  return math.type(x) and a + x or a
end

local function adder(kind)
  if arith.is_unsigned[kind] then return add_unsigned end
  return kind == "signed" and add_signed or add_any
end

local function sum_step(kind, i)
  local plus = adder(kind)
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

local function sum_merge(a, b, kind) return adder(kind)(a, b) end

-- avg: { n, high, low } with the sum high * 2^32 + low, exact for 2^31 values; floats in `low`.
local function avg_step(kind, i)
  local high = arith.is_unsigned[kind] and function(x) return x >> 32 end
    or function(x) return x // 4294967296 end
  return function(g, x)
    local s = g[i]
    if math.type(x) == "integer" then
      s[1], s[2], s[3] = s[1] + 1, s[2] + high(x), s[3] + (x & 0xffffffff)
    elseif x and math.type(x) then
      s[1], s[3] = s[1] + 1, s[3] + x
    end
  end
end

local function avg_finish(s)
  local n, high, low = s[1], s[2], s[3]
  if n == 0 then return nil end
  if math.type(low) == "integer" then
    high, low = high + (low >> 32), low & 0xffffffff
    if high >= -0x80000000 and high < 0x80000000 then return (high << 32 | low) / n end
  end
  return (high * 4294967296.0 + low) / n
end

local function extreme(name) -- "lt" or "gt"
  local function better(kind)
    if kind == "string" or kind == "bytes" then kind = "any" end
    return arith.comparison(kind, kind)[name]
  end
  return {
    takes = ordered, start = none, shows = same, finish = unless_none,
    step = function(kind, i)
      local is_better = better(kind)
      return function(g, x)
        if x then
          local best = g[i]
          if not best or is_better(x, best) then g[i] = x end
        end
      end
    end,
    merge = function(a, b, kind)
      if a == false or b == false then return a or b end
      return better(kind)(b, a) and b or a
    end,
  }
end

local function add_counts(a, b)
  local merged = {}
  for bucket, n in pairs(a) do merged[bucket] = n end
  for bucket, n in pairs(b) do merged[bucket] = (merged[bucket] or 0) + n end
  return merged
end

local function hist_step(kind, i)
  local bucket = sketch.power(kind)
  return function(g, x)
    if math.type(x) then
      local counts, b = g[i], bucket(x)
      counts[b] = (counts[b] or 0) + 1
    end
  end
end

-- A table of one value, so that false is told from none.
local function kept(state) return state[1] end

measures.count = {
  start = zero, merge = add, finish = as_is,
  step = function(_, i) return function(g) g[i] = g[i] + 1 end end,
  code = function() return "STATE = STATE + 1" end,
}

measures.sum = {
  takes = number, prefix = "", start = zero, step = sum_step, code = sum_code, merge = sum_merge, finish = as_is,
  shows = function(kind) return kind == "address" and "unsigned" or kind end,
}

measures.avg = {
  takes = number, start = function() return { 0, 0, 0 } end, step = avg_step, finish = avg_finish, shows = float,
  merge = function(a, b) return { a[1] + b[1], a[2] + b[2], a[3] + b[3] } end,
}

measures.min, measures.max = extreme("lt"), extreme("gt")

-- A quantile's state: { counts of buckets, least value, greatest value }; the last two keep a bucket's
-- middle from being more than what is in it.
local function quantile_step(kind, i)
  local bucket, less = sketch.scale(kind).bucket, arith.comparison(kind, kind).lt
  return function(g, x)
    local state = g[i]
    if not math.type(x) or x ~= x then return end
    local counts, b = state[1], bucket(x)
    counts[b] = (counts[b] or 0) + 1
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
  if less(middle, least) then return least end
  return less(greatest, middle) and greatest or middle
end

measures.quantile = {
  takes = number, start = function() return { {} } end, shows = same,
  step = quantile_step, merge = quantile_merge, finish = quantile_finish,
}

measures.hist = {
  takes = number, start = empty, step = hist_step, merge = add_counts,
  finish = sketch.histogram, shows = function() return "histogram" end,
}

measures.distinct = {
  takes = value, start = empty,
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
  takes = number, start = zero, step = sum_step, code = sum_code, merge = sum_merge,
  shows = function() return "percent" end,
  finish = function(sum, _, _, total) return total ~= 0 and 100 * (sum / total) or nil end,
}

return measures
