-- Frames of a differential flame graph: of each the amounts before and after, and a verdict,
-- beside its colour.

local changes = {}

---Sets the kinds of a graph's frames, and `graph.changes`: { list = { before, after, number of
---the verdict, for each frame }, verdicts }.
---@param graph table of flame.graph
---@param find fun(path: string): table # { before, after, verdict, kind } by the names of a
--- frame and its callers, joined by ";"; "" of the root. kind: m(ore), l(ess) or n
function changes.set(graph, find)
  local t, path, numbers, list, verdicts = graph.tree, {}, {}, {}, {}
  for _, frame in ipairs(graph.frames) do
    local node, depth = frame.node, frame.depth
    path[depth] = t.names[t.name[node]]
    for i = #path, depth + 1, -1 do path[i] = nil end
    local one = find(table.concat(path, ";", 1, depth))
    if not numbers[one.verdict] then
      verdicts[#verdicts + 1] = one.verdict
      numbers[one.verdict] = #verdicts - 1
    end
    t.kind[node] = one.kind
    list[#list + 1] = { one.before, one.after, numbers[one.verdict] }
  end
  graph.changes = { list = list, verdicts = verdicts }
end

return changes
