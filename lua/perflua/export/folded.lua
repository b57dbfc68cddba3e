-- Folded stacks, the input of flame graph tools: "comm;caller;callee weight".

local clean = require "perflua.flame.clean"
local names = require "perflua.export.names"

local folded = { name = "folded", description = "flamegraph.pl, inferno, flamelens",
  one_event = true }

---@param write fun(text: string)
---@param profile table see profile.lua
function folded.write(write, profile)
  local weights, list, texts = {}, {}, {}
  for i, frame in ipairs(profile.frames) do texts[i] = clean.name(names.of(frame)) end
  for _, entry in ipairs(profile.entries) do
    local parts = { clean.name(profile.threads[entry.thread].comm or "[unknown]") }
    local stack = profile.stacks[entry.stack]
    for i = #stack, 1, -1 do parts[#parts + 1] = texts[stack[i]] end
    local text = table.concat(parts, ";")
    if not weights[text] then list[#list + 1] = text end
    weights[text] = (weights[text] or 0) + entry.weight
  end
  table.sort(list)
  for _, text in ipairs(list) do write(("%s %d\n"):format(text, weights[text])) end
end

return folded
