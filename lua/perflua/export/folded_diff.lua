-- Folded stacks of two queries side by side, the input of differential flame graphs:
-- "comm;caller;callee before after", as FlameGraph's difffolded.pl writes it.

local output = require "perflua.table.output"
local spec_of = require("perflua.core").query_spec
local stacks = require "perflua.flame.stacks"
local usage_error = require("perflua.errors").usage_error

local folded_diff = { name = "folded-diff", one_event = true,
  description = "flamegraph.pl, inferno: folded stacks of two recordings, BEFORE and AFTER" }

local TRACEPOINT <const> = 2 -- PERF_TYPE_TRACEPOINT, whose ids differ from boot to boot

local function options_of(count)
  return { by = "comm", count = count, split = true, names = true }
end

---@param query perflua.Query
---@param options { before: perflua.Query, count: boolean? }
---@return table[] # what is read, see export.readings
function folded_diff.readings(query, options)
  local described = options_of(options.count)
  return { stacks.reading(options.before, described), stacks.reading(query, described) }
end

-- Returns the stacks of a query over one event.
local function collect(query, count)
  local set, n_aside = stacks.collect(query, options_of(count))
  if set.others[1] then
    local names = {}
    for i, event in ipairs { set.event or false, table.unpack(set.others) } do
      names[i] = event and event.name or "unknown event"
    end
    usage_error("export: folded-diff takes one event, and there are %s: choose one",
      table.concat(names, ", "))
  end
  return set, n_aside
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
  local t, names = set:tree { max_depth = math.maxinteger }, {}
  for i, depth in ipairs(t.depth) do
    names[depth] = t.names[t.name[i]]
    if depth > 0 and t.own[i] > 0 then
      local path = table.concat(names, ";", 1, depth)
      local weights = by_stack[path]
      if not weights then
        weights = { stack = path, 0, 0 }
        by_stack[path], list[#list + 1] = weights, weights
      end
      weights[column] = t.own[i]
    end
  end
  set:close()
end

---@param query perflua.Query
---@param options { before: perflua.Query }
function folded_diff.check(query, options)
  local before = options.before
  if type(before) ~= "userdata" or not spec_of(before) or spec_of(before).keys
    or spec_of(before).reader or spec_of(before).unnest then
    usage_error "export: folded-diff: the option before is a query of samples"
  end
  if spec_of(query).reader or spec_of(query).unnest then
    usage_error "export: a query of samples expected"
  end
end

---@param query perflua.Query the samples after a change
---@param out file*|string|nil
---@param options { before: perflua.Query, count: boolean? }
---@return { samples: integer, set_aside: integer }? # those of both queries
---@return string? message
---@return string? code
function folded_diff.export(query, out, options)
  local list = {}
  local by_stack = {}
  local first, aside_first = collect(options.before, options.count)
  add_column(list, by_stack, first, 1)
  local second, aside_second = collect(query, options.count)
  check_events(first.event, second.event)
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
