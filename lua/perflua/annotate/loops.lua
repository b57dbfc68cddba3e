-- Loops of a function, for the margin: the instructions from the target of a jump backwards to
-- that jump.

local loops = {}

local MOST <const> = 100000 -- instructions; larger functions have no margin

---@param listing perflua.Listing
---@return fun(i: integer): string # what is drawn for an instruction, of its innermost loop
function loops.margin(listing)
  local code, found = listing.code, {}
  for i = 1, code and #code <= MOST and #code or 0 do
    local offset, _, kind, target = code:at(i)
    if kind == "jump" and target and target <= offset then
      found[#found + 1] = { code:find(target), i }
    end
  end
  -- inner loops last, so that they are those that stay
  table.sort(found, function(a, b)
    local x, y = a[2] - a[1], b[2] - b[1]
    if x ~= y then return x > y end
    return a[1] < b[1]
  end)
  return function(i)
    for at = #found, 1, -1 do
      local first, last = found[at][1], found[at][2]
      if i >= first and i <= last then
        return i == last and "└" or i == first and "┌" or "│"
      end
    end
    return " "
  end
end

return loops
