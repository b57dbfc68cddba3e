-- Lanes: spans that lie beside each other or one in another, of those that come in the order of
-- their ends. A span that overlaps others of a lane otherwise belongs into a further one.

local lanes = {}

local DEPTH <const> = 500 -- spans one in another: Perfetto's trace processor takes 512
local KEPT <const> = 512 -- spans that a lane remembers at most; an even number

local Lane = {} -- start, stop, depth: of the outermost spans from the first to number n
Lane.__index = Lane

---@return table
function lanes.new()
  return setmetatable({ start = {}, stop = {}, depth = {}, n = 0 }, Lane)
end

-- Makes one of the older half of the spans, with what is between them, so that a span which
-- starts there does not fit any more, but one that is around them does.
local function merge_older(lane)
  local half, depth = KEPT // 2, 0
  for i = 1, half do depth = math.max(depth, lane.depth[i]) end
  lane.stop[1], lane.depth[1] = lane.stop[half], depth
  for _, list in ipairs { lane.start, lane.stop, lane.depth } do
    table.move(list, half + 1, lane.n, 2)
  end
  lane.n = lane.n - half + 1
end

---Adds a span, if it fits. Readers take events of one time in the order in which they are
---written, so of two spans that start together neither lies in the other, unless the one that
---came first has no length.
---@param start integer
---@param stop integer
---@return boolean # whether it fits
function Lane:add(start, stop)
  local i, depth = self.n, 0
  if i > 0 and stop < self.stop[i] then return false end
  while i > 0 and self.start[i] > start do
    depth = math.max(depth, self.depth[i])
    i = i - 1
  end
  if i > 0 and self.stop[i] > start or depth == DEPTH then return false end
  self.n = i + 1
  self.start[self.n], self.stop[self.n], self.depth[self.n] = start, stop, depth + 1
  if self.n == KEPT then merge_older(self) end
  return true
end

return lanes
