-- A zstd frame whose blocks hold their bytes as they are: any bytes can be split over any
-- payloads, as perf's flushes split them, without a compressor. See RFC 8878, sections 3.1.1.1
-- and 3.1.1.2.
local zstd = {}

zstd.magic = "\x28\xb5\x2f\xfd"

local HEADER = zstd.magic .. "\0\x38" -- no checksum, no size of the content; a window of 128 KB
local RAW, RESERVED = 0, 3 -- types of blocks
local MAX_BLOCK = 128 * 1024

local function block(kind, bytes, last)
  return string.pack("<I3", (last and 1 or 0) | kind << 1 | #bytes << 3) .. bytes
end

--- Payloads of one frame, as perf's recorder makes them: the first begins with its header, none
--- ends it. Each call of the function it returns makes one of these bytes; last: they end the
--- frame after all.
function zstd.frame()
  local begun = false
  return function(bytes, last)
    local out = { begun and "" or HEADER }
    begun = true
    local at = 1
    repeat
      local piece = bytes:sub(at, at + MAX_BLOCK - 1)
      at = at + #piece
      out[#out + 1] = block(RAW, piece, last and at > #bytes)
    until at > #bytes
    return table.concat(out)
  end
end

--- A block of the type that is reserved: no decoder can go past it.
function zstd.damage(bytes)
  return block(RESERVED, bytes)
end

return zstd
