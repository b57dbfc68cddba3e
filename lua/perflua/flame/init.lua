-- From distinct stacks to a flame graph: what is drawn, and what is told beside it.

local changes = require "perflua.flame.changes"
local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local palette = require "perflua.flame.palette"

local flame = {}

flame.WIDTH = 1200 -- pixels, of the picture as it is drawn; the script fits it to the window
flame.MIN_SHARE = 0.01 -- %: about a tenth of a pixel of that
flame.MAX_DEPTH = 1024 -- callees that lie deeper are cut off
flame.schemes = palette.schemes -- of colors, by name

local function format_percent(part, whole)
  return (("%.3g"):format(100 * part / whole)) .. " %"
end

local function note_of(t, min_share)
  local notes = {}
  if t.small > 0 then
    notes[#notes + 1] = ("frames below %s are left out; they hold %s"):format(
      format_percent(min_share, 100), format_percent(t.small_total, t.total[1]))
  end
  if t.deep > 0 then
    notes[#notes + 1] = fmt.phrase(t.deep, "{stack is|stacks are} cut off")
  end
  return table.concat(notes, "; ")
end

---@class perflua.flame.Tree
---What is drawn, a frame after its caller and before those that are right of it: see
---src/binding/query/call_tree.c.
---@field names string[] the distinct ones
---@field name integer[] the place of a frame's name among them
---@field kind string[] see kinds.lua
---@field depth integer[] number of its callers
---@field start number[] what is left of it
---@field total number[] of the frame and all that it called
---@field own number[] of the frame alone
---@field samples integer[]? how many samples are in the total; nil: it is not known
---@field binaries table<string, string>? by name, if one binary has all functions of that name
---@field srclines table<integer, string>? "path:line" of frames whose line is known
---@field small integer how many frames were left out, and `small_total` of them
---@field deep integer stacks that were cut off

---Makes the tree of a list of stacks. That of a recording is made of its samples: see
---stacks.lua.
---@param list table[] of { stack, value, kinds, samples }
---@param options table? { reverse, max_depth, min_share } as of flame.graph; max_nodes: larger
--- trees are an error, and those of 2^25 nodes in any case
---@return perflua.flame.Tree
function flame.tree(list, options)
  options = options or {}
  local t = core.folded_tree(list, { reversed = options.reverse,
    max_depth = options.max_depth or flame.MAX_DEPTH, max_nodes = options.max_nodes,
    min_share = options.min_share or flame.MIN_SHARE })
  if not (list[1] and list[1].samples) then t.samples = nil end
  return t
end

---@param t perflua.flame.Tree with a total above 0
---@param options table { reverse, inverted, min_share, width, colors, title, about, unit, html,
--- counted, changes } reverse: the tree has callees first; min_share: of its frames; counted:
--- what is counted as samples, default: "sample"; changes: see changes.set()
---@return table graph for flame.write
function flame.graph(t, options)
  local graph = {
    tree = t,
    reversed = options.reverse,
    html = options.html,
    inverted = options.inverted,
    width = options.width or flame.WIDTH,
    fixed = options.width ~= nil,
    scheme = options.changes and palette.changes or palette.schemes[options.colors or "kind"],
    by_kind = (options.colors or "kind") == "kind",
    title = options.title,
    about = options.about,
    unit = options.unit,
    counted = options.counted or "sample",
    rows = 0,
  }
  for _, depth in ipairs(t.depth) do graph.rows = math.max(graph.rows, depth + 1) end
  graph.note = note_of(t, options.min_share or flame.MIN_SHARE)
  if options.changes then changes.set(graph, options.changes) end
  return graph
end

flame.amount = changes.amount

---@param out fun(text: string)
---@param graph table of flame.graph
function flame.write(out, graph) require("perflua.flame.svg").write(out, graph) end


return flame
