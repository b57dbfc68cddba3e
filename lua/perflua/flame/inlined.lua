-- Call chains with the functions that were inlined: each is called by the function whose code
-- it became.

local kinds = require "perflua.flame.kinds"

local inlined = {}

local replaced = setmetatable({ [";"] = ":" }, { __index = function() return "?" end })

-- Returns the name as in `stack`: the function, or the binary in brackets.
local function name_of(symbol, dso)
  if symbol then return (symbol:gsub("[;%c]", replaced)) end
  local name = dso and (dso:match("([^/]+)$") or dso) or "[unknown]"
  name = name:gsub("[;%c]", replaced)
  return name:sub(1, 1) == "[" and name or "[" .. name .. "]"
end

-- Returns the names of a sample's functions, callers first, and a letter for each; nil without
-- a call chain.
local function walk_chain(record)
  local chain = record.callchain
  if not chain or #chain == 0 then return nil end
  local names, letters = {}, {}
  for i = #chain, 1, -1 do
    local frame = chain[i]
    names[#names + 1], letters[#letters + 1] = name_of(frame.symbol, frame.dso),
      kinds.of_frame(frame)
    local inside = frame.inlined
    for j = inside and #inside or 0, 1, -1 do
      names[#names + 1], letters[#letters + 1] = name_of(inside[j].symbol), "i"
    end
  end
  return names, letters
end

---@param record perflua.Record
---@return string? # its `stack` with inlined functions
function inlined.stack(record)
  local names = walk_chain(record)
  if not names then return record.stack end
  return table.concat(names, ";")
end

---@param record perflua.Record
---@return string # a letter for each function of it, see kinds.lua
function inlined.kinds(record)
  local names, letters = walk_chain(record)
  return names and table.concat(letters) or kinds.alone(record)
end

return inlined
