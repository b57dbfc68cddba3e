-- The differential flame graph of two sides: as wide as both together, coloured where they
-- differ.

local diff = require "perflua.diff"
local flame = require "perflua.flame"
local fmt = require "perflua.text.fmt"
local folding = require "perflua.toolkit.folding"
local output = require "perflua.table.output"

local change_graph = {}

---@param query perflua.Query of samples
---@return perflua.Query # of the stacks that are drawn
function change_graph.query(query) return query:group_by("comm", "stack"):sum("period") end

local KINDS <const> = { slower = "m", more = "m", new = "m", faster = "l", less = "l",
  gone = "l" }

-- Returns the first event of the files that `has` has, and the name that it has there; the
-- others are told.
local function first_event(files, has)
  local names, first, found = {}, nil, {}
  for _, file in ipairs(files) do
    for _, event in ipairs(file.events) do
      local name = diff.event_name(event.name)
      if has[name] and not found[name] then
        found[name], names[#names + 1], first = true, name, first or event
      end
    end
  end
  if names[2] then
    folding.log("diff", "using samples of %s; --event selects another: %s",
      fmt.short(names[1]), fmt.names(table.move(names, 2, #names, 1, {})))
  end
  return first, names[1]
end

-- Returns the unit of amounts: software clocks have periods of nanoseconds.
local function unit_of(event, per)
  if per == "share" then return "%" end
  if not per and event and event.type == 1 and event.config <= 1 then return "ns" end
  return event and event.name or "events"
end

-- Returns what finds the rows of the frames that are drawn by their nodes.
local function find_nodes(drawn, by_node)
  return function(i)
    local number = drawn.nodes and drawn.nodes[i] -- nil: there are no samples
    local node = by_node[number or 0] or { before = {}, after = {} }
    return { before = node.before.value or 0, after = node.after.value or 0,
      verdict = node.verdict or "no interval", kind = KINDS[node.verdict] or "n" }
  end
end

-- Returns the names of both sides: of files without their folders where that tells them apart.
local function names_of(before, after)
  local names = {}
  for i, paths in ipairs { before.paths, after.paths } do
    names[i] = fmt.base_name(paths[1])
  end
  if names[1] == names[2] then names = { before.paths[1], after.paths[1] } end
  for i, paths in ipairs { before.paths, after.paths } do
    if paths[2] then names[i] = ("%s and %d more"):format(names[i], #paths - 1) end
  end
  return names[1], names[2]
end

-- Returns the heading: both sides with their totals, a run's worth.
local function heading_of(before, after, whole, unit)
  local name, other = names_of(before, after)
  local change = whole.before > 0
    and (" (%+.1f %%)"):format(100 * (whole.after / whole.before - 1)) or ""
  return fmt.escape(("%s, %s → %s, %s%s"):format(name, flame.amount(whole.before, unit),
    other, flame.amount(whole.after, unit), change))
end

---Writes the graph.
---@param before table a side that was asked for change_graph.query
---@param after table
---@param settings { per: string?, match: table<string, string>? }
---@param out file*|string
---@param is_html boolean
---@param say_empty fun(): string says that there are no samples, escaped
---@return true? ok, string? message
function change_graph.write(before, after, settings, out, is_html, say_empty)
  local event, name
  local drawn, nodes, notes = diff.stacks(before, after, { per = settings.per,
    match = settings.match }, function(events)
    event, name = first_event(before.files, events)
    name = name or next(events)
    return name
  end, { min_share = flame.MIN_SHARE, max_depth = flame.MAX_DEPTH })
  if not drawn then
    folding.log("diff", "%s", say_empty())
    notes.below, drawn = {}, flame.tree {}
  elseif drawn.total[1] <= 0 then
    return nil, "diff: all periods are 0"
  end
  drawn.samples = nil
  local about = { "Differential flame graph", name or "all events",
    table.unpack(notes.above) }
  table.move(notes.below, 1, #notes.below, #about + 1, about)
  -- what is drawn is a bit more: floats may add up to other ones in another order
  local least = drawn.total[1] * flame.MIN_SHARE / 100 * (1 - 1e-9)
  local find = find_nodes(drawn, nodes and nodes(least) or {})
  local unit = unit_of(event, settings.per)
  local graph = flame.graph(drawn, {
    title = heading_of(before, after, find(1), unit),
    about = fmt.escape(table.concat(about, "  ·  ")), unit = unit, html = is_html,
    changes = find,
  })
  return output.to(out, function(write) flame.write(write, graph) end)
end

return change_graph
