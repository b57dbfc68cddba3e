-- Folded stacks of two queries side by side, the input of differential flame graphs:
-- "comm;caller;callee before after", as FlameGraph's difffolded.pl writes it.

local output = require "perflua.table.output"
local spec_of = require("perflua.core").query_spec
local stacks = require "perflua.flame.stacks"
local usage_error = require("perflua.errors").usage_error

local folded_diff = { name = "folded-diff", one_event = true,
  description = "flamegraph.pl, inferno: folded stacks of two recordings, BEFORE and AFTER" }

local TRACEPOINT <const> = 2 -- PERF_TYPE_TRACEPOINT, whose ids differ from boot to boot

-- Returns the stacks of a query over one event.
local function collect(query, count)
  local sets, message, n_aside = stacks.collect(query, { by = "comm", count = count,
    split = true })
  if not sets then usage_error("export: %s", message) end
  if sets[2] then
    local names = {}
    for i, set in ipairs(sets) do names[i] = set.event and set.event.name or "unknown event" end
    usage_error("export: folded-diff has room for one event, and there are %s: choose one",
      table.concat(names, ", "))
  end
  return sets[1] or { samples = 0, list = {} }, n_aside
end

-- Raises if the events count different things: "cycles:u" and "cycles" do not.
local function check_events(first, second)
  if not (first and second) then return end
  local is_same = first.type == second.type
    and (first.config == second.config or first.type == TRACEPOINT)
  if not is_same then
    usage_error("export: folded-diff: the events differ: %s before, %s after", first.name,
      second.name)
  end
end

-- Adds the weights of a set in that column of the stacks.
local function add_column(list, by_stack, set, column)
  for _, entry in ipairs(set.list) do
    local weights = by_stack[entry.stack]
    if not weights then
      weights = { stack = entry.stack, 0, 0 }
      by_stack[entry.stack], list[#list + 1] = weights, weights
    end
    weights[column] = entry.value
  end
end

---@param query perflua.Query the samples after a change
---@param out file*|string|nil
---@param options { before: perflua.Query, count: boolean? }
---@return { samples: integer, set_aside: integer }? # those of both queries
---@return string? message
---@return string? code
function folded_diff.export(query, out, options)
  local before, list = options.before, {}
  if type(before) ~= "userdata" or not spec_of(before) or spec_of(before).keys
    or spec_of(before).reader or spec_of(before).unnest then
    usage_error "export: folded-diff: the option before is a query of samples"
  end
  if spec_of(query).reader or spec_of(query).unnest then
    usage_error "export: a query of samples expected"
  end
  local first, aside_first = collect(before, options.count)
  local second, aside_second = collect(query, options.count)
  check_events(first.event, second.event)
  local by_stack = {}
  add_column(list, by_stack, first, 1)
  add_column(list, by_stack, second, 2)
  table.sort(list, function(a, b) return a.stack < b.stack end)
  local ok, message, code = output.to(out, function(write)
    for _, weights in ipairs(list) do
      write(("%s %d %d\n"):format(weights.stack, weights[1], weights[2]))
    end
  end)
  if not ok then return nil, message, code end
  return { samples = first.samples + second.samples, set_aside = aside_first + aside_second }
end

return folded_diff
