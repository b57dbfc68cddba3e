-- The closest of some names to one that is none of them, for error messages.

local fmt = require "perflua.text.fmt"

local suggest = {}

-- Edits (insertion, deletion, substitution, transposition of neighbours) from a to b.
local function count_edits(a, b)
  local before, previous, current = {}, {}, {}
  for j = 0, #b do previous[j] = j end
  for i = 1, #a do
    current[0] = i
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local cost = math.min(previous[j] + 1, current[j - 1] + 1,
        previous[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        cost = math.min(cost, before[j - 2] + 1)
      end
      current[j] = cost
    end
    before, previous, current = previous, current, before
  end
  return previous[#b]
end

local SHORT <const> = 3 -- letters from which on a name may stand for a longer one

---Finds the candidate with the fewest edits, the first in the alphabet among equals.
---@param name string
---@param candidates string[]
---@return string? # nil if none is close: within a third of the name's length, and one edit of
--- a short name; or one that begins with the name
function suggest.closest(name, candidates)
  local best, best_cost = nil, math.max(1, #name // 3) + 1
  local wanted = name:sub(1, 64):lower()
  for _, candidate in ipairs(candidates) do
    local cost = count_edits(wanted, candidate:sub(1, 64):lower())
    if cost < best_cost or best and cost == best_cost and candidate < best then
      best, best_cost = candidate, cost
    end
  end
  if best or #wanted < SHORT then return best end
  for _, candidate in ipairs(candidates) do
    local begins = candidate:sub(1, #wanted):lower() == wanted
    if begins and (not best or candidate < best) then best = candidate end
  end
  return best
end

---Adds the closest name to a message, if one is close.
---@param message string says what is wrong with name
---@param name string
---@param candidates string[]
---@return string
function suggest.message(message, name, candidates)
  local best = suggest.closest(name, candidates)
  return best and ("%s; the closest is '%s'"):format(message, best) or message
end

---@param value any that is not what was expected
---@return string # "a table"; "nil: a misspelt global?"
function suggest.kind(value)
  return value == nil and "nil: a misspelt global?" or "a " .. type(value)
end

---@param value any
---@return string # itself, where that tells what it is: "3", "the string '3'"
function suggest.value(value)
  return type(value) == "string" and ("the string '%s'"):format(value) or tostring(value)
end

---Adds to a message the closest of some names, or else which there are, ten at most.
---@param message string says what is wrong with name
---@param name string
---@param candidates string[]
---@return string
function suggest.among(message, name, candidates)
  local suggestion = suggest.message(message, name, candidates)
  if suggestion ~= message or not candidates[1] then return suggestion end
  return ("%s; there are %s"):format(message, fmt.names(candidates))
end

---@param set table<string, any>
---@return string[] # its string keys, sorted
function suggest.names(set)
  local names = {}
  for name in pairs(set) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

return suggest
