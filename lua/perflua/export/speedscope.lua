-- Speedscope's own format: a sampled profile for each event and thread.
-- https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources

local json = require "perflua.text.json"
local names = require "perflua.export.names"

local speedscope = { name = "speedscope", description = "https://www.speedscope.app" }

local SCHEMA <const> = "https://www.speedscope.app/file-format-schema.json"

local function frame_text(frame)
  local parts = { '{"name":', json.string(names.of(frame)), ',"file":',
    json.string(frame.file or frame.dso) }
  if frame.line then parts[#parts + 1] = (',"line":%d'):format(frame.line) end
  parts[#parts + 1] = "}"
  return table.concat(parts)
end

local function write_frames(write, frames)
  write '"shared":{"frames":[\n'
  for i, frame in ipairs(frames) do write((i > 1 and ",\n" or "") .. frame_text(frame)) end
  write "\n]}"
end

-- A stack's frames from the outermost on, counted from 0.
local function stack_text(stack)
  local numbers, n = {}, #stack
  for i = n, 1, -1 do numbers[n - i + 1] = stack[i] - 1 end
  return "[" .. table.concat(numbers, ",") .. "]"
end

-- Writes the entries from `first` on that are of one event and thread. Returns the place behind
-- them.
local function write_profile(write, profile, first)
  local entries, at, total = profile.entries, first, 0
  local head = entries[first]
  local event, thread = profile.events[head.event], profile.threads[head.thread]
  write(('{"type":"sampled","name":%s,"unit":"%s","samples":[\n'):format(
    json.string(names.of_thread(thread) .. ", " .. event.name),
    event.unit == "nanoseconds" and "nanoseconds" or "none"))
  while entries[at] and entries[at].event == head.event and entries[at].thread == head.thread do
    write((at > first and ",\n" or "") .. stack_text(profile.stacks[entries[at].stack]))
    at = at + 1
  end
  write '\n],"weights":['
  for i = first, at - 1 do
    total = total + entries[i].weight
    write(("%s%d"):format(i > first and "," or "", entries[i].weight))
  end
  write(('],"startValue":0,"endValue":%d}'):format(total))
  return at
end

---@param write fun(text: string)
---@param profile table see profile.lua
---@param options { title: string }
function speedscope.write(write, profile, options)
  write(('{"$schema":"%s","exporter":"perflua","name":%s,\n'):format(SCHEMA,
    json.string(options.title)))
  write_frames(write, profile.frames)
  write ',\n"profiles":[\n'
  local at = 1
  while profile.entries[at] do
    if at > 1 then write ",\n" end
    at = write_profile(write, profile, at)
  end
  write "\n]}\n"
end

return speedscope
