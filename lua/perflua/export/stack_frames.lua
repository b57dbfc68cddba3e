-- Frames of call chains in Chrome's trace events: each with the one that called it.

local json = require "perflua.text.json"

local stack_frames = {}

local Frames = {}
Frames.__index = Frames

function stack_frames.new()
  return setmetatable({ list = {}, children = {}, of = {} }, Frames)
end

---@param stack string folded: callers first
---@return integer # number of its last frame
function Frames:number(stack)
  local number = self.of[stack]
  if number then return number end
  number = 0
  for name in stack:gmatch "[^;]+" do
    local known = self.children[number]
    if not known then
      known = {}
      self.children[number] = known
    end
    if not known[name] then
      self.list[#self.list + 1] = { name = name, parent = number }
      known[name] = #self.list
    end
    number = known[name]
  end
  self.of[stack] = number
  return number
end

---@param write fun(text: string)
---@param is_behind boolean whether other frames go before
function Frames:write(write, is_behind)
  for i, frame in ipairs(self.list) do
    local parent = frame.parent > 0 and (',"parent":"%d"'):format(frame.parent) or ""
    write(('%s\n"%d":{"name":%s%s}'):format((is_behind or i > 1) and "," or "", i,
      json.string(frame.name), parent))
  end
end

return stack_frames
