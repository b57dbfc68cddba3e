-- frames.lua RECORDING OUT: what the compressed records of a recording hold, as a file for
-- zstd.

local perflua = require "perflua"

local HEAD = { compressed = 8, compressed2 = 16 } -- bytes before the data
-- perf never ends its frame: a last block, raw and empty, does.
local LAST_BLOCK = "\1\0\0"

local path, out = arg[1], arg[2]
local file <close> = assert(perflua.open(path))
local bytes <close> = assert(io.open(path, "rb"))
local part = out .. ".part"
local frames <close> = assert(io.open(part, "wb"))

for r in file:records { type = { "compressed", "compressed2" }, order = "file",
    container = true, reuse = true } do
  bytes:seek("set", r.offset + HEAD[r.type])
  frames:write(bytes:read(r.data_size))
end
frames:write(LAST_BLOCK)
assert(frames:close())
assert(os.rename(part, out))
