-- The open spans of a pass, by their keys: tables of tables, the key's fields from the outermost in, whose leaves are
-- states { start, value, value … }. A state whose start is false is closed: it stays for the next span of its key,
-- until there are more of these than open ones.

local states = {}

-- States that may be there before closed ones are let go.
states.FIRST_LIMIT = 1024

-- Records that tell of lost ones of some spans: from then on all are meant, which takes less time.
states.MOST_LOST = 1024

local function swept(node, depth)
  local kept = 0
  for key, one in pairs(node) do
    if depth > 1 then
      local n = swept(one, depth - 1)
      if n == 0 then node[key] = nil end
      kept = kept + n
    elseif one[1] then
      kept = kept + 1
    else
      node[key] = nil
    end
  end
  return kept
end

---Lets closed states go.
---@param root table
---@param depth integer fields of a key
---@return integer kept
---@return integer limit # of states, from which on this is worth while again
function states.sweep(root, depth)
  local kept = swept(root, depth)
  return kept, 2 * kept + states.FIRST_LIMIT
end

---@param root table
---@param depth integer
---@return integer # open spans
function states.open(root, depth)
  local n = 0
  for _, one in pairs(root) do
    if depth > 1 then n = n + states.open(one, depth - 1) elseif one[1] then n = n + 1 end
  end
  return n
end

---Drops what is open, but for what a key's field tells to be elsewhere.
---@param root table
---@param depth integer
---@param only table<integer, any> by the place of a field: its value; nil or false: any
---@return integer dropped, integer held # spans; records that waited for their ends
function states.drop(root, depth, only, place)
  local dropped, held = 0, 0
  place = place or 1
  for key, one in pairs(root) do
    local meant = not only[place] or only[place] == key
    if meant and place < depth then
      local n, rows = states.drop(one, depth, only, place + 1)
      dropped, held = dropped + n, held + rows
    elseif meant and one[1] then
      one[1], dropped = false, dropped + 1
      if one.rows then held, one.rows = held + #one.rows, nil end
    end
  end
  return dropped, held
end

return states
