-- Folded stacks as text: "name;name;… value", a line for each distinct stack.

local clean = require "perflua.flame.clean"
local kinds = require "perflua.flame.kinds"

local folded = {}

---@param write fun(text: string)
---@param list table[] of { stack, value }
function folded.write(write, list)
  for _, entry in ipairs(list) do write(("%s %s\n"):format(entry.stack, entry.value)) end
end

---@param lines fun(): string? an iterator
---@return table? set { total, samples, list, skipped } list: of { stack, value, kinds }, with a
--- letter for each frame as in kinds.lua; skipped: how many lines were not understood
---@return string? message
function folded.read(lines)
  local set = { total = 0, samples = 0, skipped = 0, list = {} }
  local by_stack, list, split = {}, set.list, kinds.splitter "n"
  for line in lines do
    local text, number = line:match("^%s*(.*%S)%s+(%d+%.?%d*)%s*$")
    local value = number and tonumber(number)
    if value and value < math.huge then
      local stack, letters = split(clean.stack(text))
      local entry = by_stack[stack]
      if not entry then
        entry = { stack = stack, value = 0, kinds = letters }
        by_stack[stack], list[#list + 1] = entry, entry
      end
      entry.value = entry.value + value
      set.total = set.total + value
      if set.total < 0 or set.total == math.huge then
        return nil, "the weights add up to more than 2^63"
      end
    elseif line:find("%S") then
      set.skipped = set.skipped + 1
    end
  end
  table.sort(list, function(a, b) return a.stack < b.stack end)
  return set
end

return folded
