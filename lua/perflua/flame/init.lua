-- From distinct stacks to a flame graph: what is drawn, and what is told beside it.

local changes = require "perflua.flame.changes"
local fmt = require "perflua.text.fmt"
local palette = require "perflua.flame.palette"
local svg = require "perflua.flame.svg"
local tree = require "perflua.flame.tree"

local flame = {}

flame.WIDTH = 1200 -- pixels, of the picture as it is drawn; the script fits it to the window
flame.MIN_SHARE = 0.01 -- %: about a tenth of a pixel of that

local function format_percent(part, whole)
  return (("%.3g"):format(100 * part / whole)) .. " %"
end

local function note_of(graph)
  local notes, left = {}, graph.tree.left
  if left.frames > 0 then
    notes[#notes + 1] = ("frames below %s are left out; they hold %s"):format(
      format_percent(graph.min_share, 100), format_percent(left.total, graph.tree.total[1]))
  end
  if graph.tree.cut > 0 then
    notes[#notes + 1] = fmt.phrase(graph.tree.cut, "{stack is|stacks are} cut off")
  end
  return table.concat(notes, "; ")
end

---Makes the tree of a list of stacks. That of a recording is made by the core: see stacks.lua.
flame.tree = tree.build

---@param t perflua.flame.Tree with a total above 0
---@param options table { reverse, inverted, min_share, width, colors, title, about, unit, html,
--- counted, changes } reverse: the tree has callees first; counted: what is counted as samples,
--- default: "sample"; changes: see changes.set()
---@return table graph for flame.write
function flame.graph(t, options)
  local graph = {
    tree = t,
    reversed = options.reverse,
    html = options.html,
    inverted = options.inverted,
    width = options.width or flame.WIDTH,
    fixed = options.width ~= nil,
    min_share = options.min_share or flame.MIN_SHARE,
    scheme = options.changes and palette.changes or palette.schemes[options.colors or "kind"],
    by_kind = (options.colors or "kind") == "kind",
    title = options.title,
    about = options.about,
    unit = options.unit,
    counted = options.counted or "sample",
    rows = 0,
  }
  graph.frames = tree.frames(t, t.total[1] * graph.min_share / 100)
  for _, frame in ipairs(graph.frames) do graph.rows = math.max(graph.rows, frame.depth + 1) end
  graph.note = note_of(graph)
  if options.changes then changes.set(graph, options.changes) end
  return graph
end

flame.write, flame.amount = svg.write, changes.amount

return flame
