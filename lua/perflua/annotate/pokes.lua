-- Text pokes: changes of the kernel's code while it ran, which the recording notes. A listing
-- shows the code as it was at the last sample of its function. See PERF_RECORD_TEXT_POKE,
-- include/uapi/linux/perf_event.h, in the kernel.

local core = require "perflua.core"
local records = require "perflua.file.records"

local pokes = {}

local MOST_TOLD <const> = 8

-- Returns the pokes of a recording, in time order.
local function read_pokes(file)
  local list, is_recorded = {}, false
  for _, event in ipairs(file.events) do is_recorded = is_recorded or event.text_poke end
  if not is_recorded or not file.size then return list end -- a stream is read once
  for record in records.records(file, "text_poke") do
    if record.time then
      list[#list + 1] = { time = record.time, address = record.addr, old = record.old,
        new = record.new }
    end
  end
  table.sort(list, function(a, b) return a.time < b.time end)
  return list
end

-- Returns the pokes in a function, with their offsets in it.
local function pokes_in(list, func)
  local found = {}
  for _, poke in ipairs(list) do
    local at = poke.address - func.address
    if at < func.size and at + math.max(#poke.old, #poke.new) > 0 then
      found[#found + 1] = { time = poke.time, at = at, old = poke.old, new = poke.new }
    end
  end
  return found
end

local function hex_of(bytes)
  return (bytes:gsub(".", function(c) return (" %02x"):format(c:byte()) end))
end

---Finds the changes of a function's code.
---@param file perflua.File
---@param read perflua.SampledFunctions which keeps the changes of the recording
---@param func table { symbol, address, size }
---@return { patches: any[], lines: string[] }? # what calls.code() takes, and lines for the
--- head of the listing; nil: it was not changed
function pokes.find(file, read, func)
  read.pokes = read.pokes or read_pokes(file)
  local list = pokes_in(read.pokes, func)
  if #list == 0 then return nil end
  local last = records.samples(file):where({ symbol = func.symbol }):max "time"
  -- The code that is read may be older or newer than a change: undo those after the last
  -- sample, newest first, then make those before it.
  local patches, lines = {}, {}
  for i = #list, 1, -1 do
    local poke = list[i]
    if not last or poke.time > last then
      table.move({ poke.at, poke.old }, 1, 2, #patches + 1, patches)
    end
  end
  for _, poke in ipairs(list) do
    if last and poke.time <= last then
      table.move({ poke.at, poke.new }, 1, 2, #patches + 1, patches)
    end
    lines[#lines + 1] = ("changed at %s s, +%x:%s -> %s"):format(core.seconds(poke.time),
      poke.at, hex_of(poke.old), hex_of(poke.new):sub(2))
  end
  if #lines > MOST_TOLD then
    lines = table.move(lines, #lines - MOST_TOLD + 1, #lines, 1,
      { ("%d changes, the last ones:"):format(#lines) })
  end
  return { patches = patches, lines = lines }
end

return pokes
