-- Folded stacks as text: "name;name;… value", a line for each distinct stack.

local clean = require "perflua.flame.clean"
local kinds = require "perflua.flame.kinds"

local folded = {}

local function annotated(entry)
  local i = 0
  return (entry.stack:gsub("[^;]+", function(name)
    i = i + 1
    return kinds.annotate(name, entry.kinds:sub(i, i))
  end))
end

---@param write fun(text: string)
---@param list table[] of { stack, value, kinds }
---@param annotate boolean?
function folded.write(write, list, annotate)
  for _, entry in ipairs(list) do
    write(("%s %s\n"):format(annotate and annotated(entry) or entry.stack, entry.value))
  end
end

-- The names of a line with their annotations taken off, and a letter for each.
local function parse_stack(text)
  if not text:find("_[", 1, true) then
    local _, separators = text:gsub(";+", ";")
    return text, "n" .. ("u"):rep(separators)
  end
  local letters, n = {}, 0
  local stack = text:gsub("[^;]+", function(name)
    local bare, kind = kinds.parse(name)
    n = n + 1
    letters[n] = kind or n == 1 and "n" or "u"
    return bare
  end)
  return stack, table.concat(letters)
end

---@param lines fun(): string? an iterator
---@return table? set as stacks.collect gives it; `skipped` lines were not understood
---@return string? message
function folded.read(lines)
  local set = { total = 0, samples = 0, skipped = 0, list = {} }
  local by_stack, list = {}, set.list
  for line in lines do
    local text, number = line:match("^%s*(.*%S)%s+(%d+%.?%d*)%s*$")
    local value = number and tonumber(number)
    if value then
      local stack, letters = parse_stack(clean.stack(text))
      local entry = by_stack[stack]
      if not entry then
        entry = { stack = stack, value = 0, kinds = letters }
        by_stack[stack], list[#list + 1] = entry, entry
      end
      entry.value = entry.value + value
      set.total = set.total + value
      if set.total < 0 then return nil, "the weights add up to more than 2^63" end
    elseif line:find("%S") then
      set.skipped = set.skipped + 1
    end
  end
  table.sort(list, function(a, b) return a.stack < b.stack end)
  return set
end

return folded
