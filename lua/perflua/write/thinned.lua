-- Thins out samples until a recording fits a size.

local thinned = {}

local TRIES <const> = 8

-- Returns of how many samples one is kept, so that a recording gets the size: every what a
-- recording has been counted with. nil: records that are not samples take more than that.
local function estimate(counted, every, size)
  local ratio = math.min(1, counted.bytes / math.max(counted.plain_bytes, 1)) -- of compression
  local samples = counted.sample_bytes * ratio
  local others = counted.bytes - samples
  if others >= size then return nil, math.ceil(others) end
  return math.max(every + 1, math.ceil(every * samples / (size - others)))
end

---Finds of how many samples one is kept.
---@param options table of core.write(); gets `every`
---@param size integer bytes at most
---@param count fun(): table?, string?, string? # counts what core.write() would write
---@return true?, string? message, string? code
function thinned.fit(options, size, count)
  for _ = 1, TRIES do
    local counted, message, code = count()
    if not counted then return nil, message, code end
    if counted.bytes <= size then return true end
    local every, others = estimate(counted, options.every or 1, size)
    if not every then
      return nil, ("max_size: %d bytes are too few: the records that samples need take %d")
        :format(size, others), "ENOSPC"
    end
    options.every = every
  end
  return nil, ("max_size: no part of the samples was found that fits %d bytes"):format(
    size), "ENOSPC"
end

return thinned
