-- Loops of a function, for the margin: the instructions from the target of a jump backwards to
-- that jump.

local loops = {}

-- Returns the loops of a function, as numbers of their first and last instructions, the
-- shortest first.
local function find_loops(code)
  local found = {}
  for i = 1, #code do
    local offset, _, kind, target = code:at(i)
    if kind == "jump" and target and target <= offset then
      found[#found + 1] = { code:find(target), i }
    end
  end
  table.sort(found, function(a, b)
    local x, y = a[2] - a[1], b[2] - b[1]
    if x ~= y then return x < y end
    return a[1] > b[1]
  end)
  return found
end

---@param listing perflua.Listing
---@return fun(i: integer): string # what is drawn for an instruction, of its innermost loop
function loops.margin(listing)
  local marks, after = {}, {} -- after: a number above, up to which all have marks
  local function next_free(i)
    local free = i
    while after[free] do free = after[free] end
    while after[i] do i, after[i] = after[i], free end
    return free
  end
  for _, loop in ipairs(listing.code and find_loops(listing.code) or {}) do
    local first, last = loop[1], loop[2]
    local i = next_free(first)
    while i <= last do
      marks[i] = i == last and "└" or i == first and "┌" or "│"
      after[i] = i + 1
      i = next_free(i)
    end
  end
  return function(i) return marks[i] or " " end
end

return loops
