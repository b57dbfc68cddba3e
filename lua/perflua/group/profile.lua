-- Samples added up by their call chains in the core, as a profile: see
-- src/binding/query/profile.c.

local aside = require "perflua.group.aside"
local engine = require "perflua.plan.engine"

local profile = {}

---Describes a profile to the core.
---@param query perflua.Query of samples
---@param spec table of the query
---@param names string[] the fields, beside the call chain, that tell entries apart
---@param options table { count, timeline, lines, stacks, folded, head, names, wall_time,
--- duration, start } see there; count: samples weigh 1 each, not their periods; timeline: the
--- time of each sample is kept; chain: what tells frames apart, see Scope:stack(); default:
--- addresses
---@return table description for engine.groups
---@return { n: integer } # how many samples were set aside, when it has run
---@return {ref: table}[] # the keys
---@return table[] # the measures
function profile.describe(query, spec, names, options)
  local scope, keys = spec.scope, {}
  local described = { folded = options.folded, lines = options.lines, stacks = options.stacks,
    head = options.head, wall_time = options.wall_time, duration = options.duration,
    start = options.start }
  for _, name in ipairs(names) do
    if scope:root(name) then
      keys[#keys + 1] = { ref = scope:ref(name) }
      described[name] = #keys
    end
  end
  local columns = { { measure = "count" } }
  local sums = not options.count and scope:root "period"
  if sums then columns[2] = { measure = "sum", ref = scope:ref "period" } end
  local counted = sums and aside.from(query) or { n = 0 }
  if options.timeline then
    columns[#columns + 1] = { measure = "times", ref = scope:ref "time",
      weight = sums and scope:ref "period" or nil }
  end
  described.chain = #keys + 1
  -- without a call chain it is the address; all addresses where nothing was mapped are one
  keys[described.chain] = { ref = scope:stack("callchain", options.chain or "mapped") }
  local description = engine.grouping(spec, keys, columns)
  description.profile = described
  return description, counted, keys, columns
end

return profile
