-- The functions that samples were taken in, by one pass over them: see
-- src/binding/query/functions.c.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local records = require "perflua.file.records"

local functions = {}

-- Adds to each function what its samples are, by event.
local function add_up(list)
  for i, one in ipairs(list) do
    one.number, one.events = i, {}
    for _, hits in ipairs(one.hits) do
      local sums = one.events[hits.event] or { samples = 0, period = 0 }
      sums.samples, sums.period = sums.samples + hits.samples, sums.period + hits.period
      one.events[hits.event] = sums
    end
  end
  return list
end

---@class perflua.SampledFunctions
---@field list table[] { number, symbol, dso, machine, start, address, size, hits, events };
--- machine: the number of the first recording of the machine that has the binary
---@field totals table[] { samples, period } by the index of an event: of all its samples
---@field calls table the functions of the core that answer for them
---@field n_aside integer samples that were set aside
---@field pokes table[]? see annotate/pokes.lua

-- Sets the totals of events to those of all their samples, which one more pass adds up.
local function read_totals(totals, query)
  for row in query:group_by("event.index"):all_events():count():sum("period"):each() do
    totals[row["event.index"]] = { samples = row.count, period = row.period }
  end
end

---@param file perflua.File
---@param options table { event, symbol, is_whole } event: what file:samples() takes; symbol:
--- read the samples of this function alone, which takes less time; is_whole: with a symbol,
--- read the totals of events, too
---@return perflua.SampledFunctions? # nil: no sample has an address
function functions.read(file, options)
  local all = records.samples(file, options.event)
  local is_chosen = options.symbol and file.size ~= nil -- a stream is read once
    and core.query_spec(all).scope:root "symbol" ~= nil
  local query = is_chosen and all:where { symbol = options.symbol } or all
  local spec = core.query_spec(query)
  local scope = spec.scope
  if not scope:root "ip" then return nil end
  local columns = { { measure = "count" } }
  local counted = { n = 0 }
  if scope:root "period" then
    columns[2] = { measure = "sum", ref = scope:ref "period" }
    counted = aside.from(query)
  end
  local keys = { { ref = scope:ref "event" }, { ref = scope:stack("callchain", "address") } }
  local description = engine.grouping(spec, keys, columns)
  description.functions = true
  local groups, calls = engine.groups(spec, description)
  if not groups then return nil end
  local list, totals = calls.list()
  if is_chosen and options.is_whole then read_totals(totals, all) end
  return { list = add_up(list), totals = totals, calls = calls, n_aside = counted.n }
end

---Returns the functions that have samples of an event, hottest first.
---@param read perflua.SampledFunctions
---@param event integer its index
---@param least number? the least share of the event's period, in percent
---@return table[]
function functions.hottest(read, event, least)
  local total, list = read.totals[event], {}
  for _, one in ipairs(read.list) do
    local sums = one.events[event]
    if sums and (not least or sums.period >= least / 100 * total.period) then
      list[#list + 1] = one
    end
  end
  table.sort(list, function(a, b)
    local x, y = a.events[event].period, b.events[event].period
    if x ~= y then return x > y end
    if a.symbol ~= b.symbol then return a.symbol < b.symbol end
    return a.number < b.number
  end)
  return list
end

return functions
