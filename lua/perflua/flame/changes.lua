-- Frames of a differential flame graph: of each the amounts before and after, and a verdict.
-- Their colour says whether it is more or less, the shade how much.

local palette = require "perflua.flame.palette"
local units = require "perflua.text.units"

local changes = {}

---@param value number
---@param unit string of a graph
---@return string
function changes.amount(value, unit)
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
      changes.amount(largest, graph.unit), graph.note == "" and "" or "; ", graph.note)
  end
end

---Sets the kinds of a graph's frames, and `graph.changes`: { list = { before, after, number of
---the verdict, shade, for each frame }, verdicts }.
---@param graph table of flame.graph
---@param find fun(i: integer): table # { before, after, verdict, kind } of a frame of the
--- tree. kind: m(ore), l(ess) or n
function changes.set(graph, find)
  local t, numbers, list, verdicts = graph.tree, {}, {}, {}
  for i in ipairs(t.depth) do
    local one = find(i)
    if not numbers[one.verdict] then
      verdicts[#verdicts + 1] = one.verdict
      numbers[one.verdict] = #verdicts - 1
    end
    t.kind[i] = one.kind
    list[i] = { one.before, one.after, numbers[one.verdict] }
  end
  graph.changes = { list = list, verdicts = verdicts }
  set_shades(graph)
end

return changes
