-- Paths of call stacks, by whose beginnings they are added up.

local clean = require "perflua.flame.clean"

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

return tree
