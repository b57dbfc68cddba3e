-- From distinct stacks to a flame graph: what is drawn, and what is told beside it.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local palette = require "perflua.flame.palette"
local units = require "perflua.text.units"

local flame = {}

flame.WIDTH = 1200 -- pixels, of the picture as it is drawn; the script fits it to the window
flame.MIN_SHARE = 0.01 -- %: about a tenth of a pixel of that
flame.MAX_DEPTH = 1024 -- callees that lie deeper are cut off
flame.schemes = palette.schemes -- of colors, by name

---@param value number
---@param unit string of a graph
---@return string
function flame.amount(value, unit)
  if unit == "ns" then return units.format(value, "duration") end
  if unit == "%" then return ("%.3g %%"):format(value) end
  return units.format(value, "si") .. " " .. unit
end

-- Sets the shades of frames that changed by the size of the change, the strongest where it is
-- largest; the note tells that one. Those of others depend on their names.
local function set_shades(graph)
  local t, list, largest = graph.tree, graph.changes.list, 0
  local function change_of(i) return math.abs(list[i][2] - list[i][1]) end
  for i, kind in ipairs(t.kind) do
    if kind ~= "n" then largest = math.max(largest, change_of(i)) end
  end
  for i, kind in ipairs(t.kind) do
    list[i][4] = kind == "n" and palette.shade(t.names[t.name[i]])
      or math.floor((palette.SHADES - 1) * change_of(i) / largest + 0.5)
  end
  if largest > 0 then
    graph.note = ("the strongest shade is a change of %s%s%s"):format(
      flame.amount(largest, graph.unit), graph.note == "" and "" or "; ", graph.note)
  end
end

---Makes a graph differential: the colour of a frame says whether it is more or less than
---before, the shade how much. Sets the kinds of its frames, and `graph.changes`: { list =
---{ before, after, number of the verdict, shade, for each frame }, verdicts }.
---@param graph table of flame.graph
---@param find fun(i: integer): table # { before, after, verdict, kind } of a frame of the
--- tree. kind: m(ore), l(ess) or n
local function set_changes(graph, find)
  local t, numbers, list, verdicts = graph.tree, {}, {}, {}
  for i in ipairs(t.depth) do
    local change = find(i)
    if not numbers[change.verdict] then
      verdicts[#verdicts + 1] = change.verdict
      numbers[change.verdict] = #verdicts - 1
    end
    t.kind[i] = change.kind
    list[i] = { change.before, change.after, numbers[change.verdict] }
  end
  graph.changes = { list = list, verdicts = verdicts }
  set_shades(graph)
end

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
---@field kind string[] see folded.lua
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
--- what is counted as samples, default: "sample"; changes: see set_changes()
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
  if options.changes then set_changes(graph, options.changes) end
  return graph
end

---@param out fun(text: string)
---@param graph table of flame.graph
function flame.write(out, graph) require("perflua.flame.svg").write(out, graph) end

return flame
