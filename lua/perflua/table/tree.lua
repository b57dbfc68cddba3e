-- Trees of calls of a Table's stacks, which the core makes: which groups they are of, and what
-- they weigh.

local core = require "perflua.core"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

local tree = {}

local BY <const> = { "symbol", "srcline", "address", "dso" }
local ORDERS <const> = { "caller", "callee" }
local ADD_UP <const> = { count = true, sum = true, share = true }

local function check_choice(option, value, choices)
  if value == nil then return choices[1] end
  for _, choice in ipairs(choices) do
    if value == choice then return value end
  end
  local message = ("tree: %s: no '%s'; there are %s"):format(option, tostring(value),
    table.concat(choices, ", "))
  return usage_error("%s", suggest.message(message, tostring(value), choices))
end

local function find_stack(keys)
  for i, key in ipairs(keys) do
    if key.kind == "stack" then return i end
  end
  return usage_error "tree: no key is a call stack: group_by(\"callchain\")"
end

-- Returns the numbers of the first measure that adds up, and of the first count.
local function find_measures(measures)
  local weight, count
  for i, measure in ipairs(measures) do
    weight = weight or ADD_UP[measure.measure] and i
    count = count or measure.measure == "count" and i
  end
  if not weight then
    usage_error "tree: no measure adds up: count(), sum(f) or share(f) tells what nodes weigh"
  end
  return weight, count or nil
end

-- Returns the section of the event; nil: all groups are of one.
local function find_section(names, wanted)
  local list = {}
  for i, name in ipairs(names or {}) do list[i] = { name = name, section = i } end
  if wanted == nil and #list < 2 then return nil end
  if wanted == nil then
    usage_error("tree: events are not added up: event names one of %s",
      table.concat(names, ", "))
  elseif type(wanted) ~= "string" then
    usage_error("tree: event: a name expected, got %s", suggest.kind(wanted))
  end
  local found = events.exactly(list, wanted)
  if not found[1] then found = events.loosely(list, wanted) end
  if found[1] and not found[2] then return found[1].section end
  return usage_error("tree: %s '%s'; there are %s", found[2] and "several events are called"
    or "no event", wanted, table.concat(names or {}, ", "))
end

---@param data table of a Table
---@param options table? { by, order, event }
---@return perflua.Node # the root
function tree.of(data, options)
  options = options or {}
  errors.check_options(options, "TreeOptions", "tree: unknown option '%s'")
  local weight, count = find_measures(data.measures)
  return errors.guard(core.result_tree, data.result, {
    by = check_choice("by", options.by, BY),
    from_callee = check_choice("order", options.order, ORDERS) == "callee",
    key = find_stack(data.keys), weight = weight, count = count,
    section = find_section(data.events, options.event),
  })
end

return tree
