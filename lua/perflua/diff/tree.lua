-- Call stacks of a side added up by their beginnings: rows of whole stacks become rows of
-- frames, each with all that it called.

local clean = require "perflua.flame.clean"
local measures = require "perflua.measures"

local tree = {}

---@param keys table texts of a stack's parts, the last one folded
---@param n integer how many; those that are not known are nil
---@return string # the folded stack, without what separates frames in the others
function tree.path(keys, n)
  local parts = {}
  for i = 1, n - 1 do
    parts[i] = keys[i] == nil and "[unknown]" or clean.name(tostring(keys[i]))
  end
  parts[n] = keys[n] ~= nil and clean.stack(keys[n]) or nil
  return table.concat(parts, ";")
end

local function add_row(node, row, measure)
  for r, state in pairs(row.states) do
    local before = node.states[r]
    node.states[r] = before ~= nil
      and measures[measure.measure].merge(before, state, measure.kind) or state
  end
  node.samples = node.samples and row.samples and node.samples + row.samples or nil
  for slice, cell in pairs(row.cells) do
    local mine = node.cells[slice]
    if mine then
      mine[1], mine[2] = mine[1] + cell[1], mine[2] + cell[2]
    else
      node.cells[slice] = { cell[1], cell[2] }
    end
  end
end

-- Calls fn with each beginning of a path, from "" on.
local function each_beginning(path, fn)
  fn ""
  for at in path:gmatch "();" do fn(path:sub(1, at - 1)) end
  if path ~= "" then fn(path) end
end

---Replaces the rows of a side.
---@param one table a side whose rows are stacks
function tree.add_up(one)
  local measure, n = one.runs[1].measure, #one.runs[1].keys
  for event, rows in pairs(one.rows) do
    local nodes = {}
    for _, row in pairs(rows) do
      each_beginning(tree.path(row.keys, n), function(path)
        local node = nodes[path]
        if not node then
          node = { event = event, keys = { path }, states = {}, samples = 0, cells = {} }
          nodes[path] = node
        end
        add_row(node, row, measure)
      end)
    end
    one.rows[event] = nodes
  end
end

return tree
