-- The times between events that switch a report on and off, as perf report --switch-on and
-- --switch-off have them.

local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error

local switched = {}

-- Returns the event of an option; raises if the recording does not have it.
local function find_event(file, option, name)
  local names = {}
  for i = 1, #file.events do
    local event = file.events[i]
    if event.name == name then return event end
    names[i] = event.name
  end
  local message = ("--%s: no event is called '%s'"):format(option, name)
  usage_error("%s", suggest.message(message, name, names))
end

---@param file perflua.File
---@param asked { on: string?, off: string?, shows: boolean? } names of events; shows: these
--- themselves count
---@return integer[][] # { from, to } in ns: samples from `from` on count, those before `to`
function switched.windows(file, asked)
  if not file.size then
    usage_error("--switch-on and --switch-off take two passes, and a stream can be read only "
      .. "once")
  end
  local on = asked.on and find_event(file, "switch-on", asked.on)
  local off = asked.off and find_event(file, "switch-off", asked.off)
  local windows, own = {}, asked.shows and 0 or 1
  local from = not on and 0 or nil
  for time, event in file:samples { event = { on or off, off } }:select("time", "event") do
    if from and off and event == off then
      windows[#windows + 1] = { from, time + 1 - own }
      from = nil
      if not on then break end
    elseif not from and on and event == on then
      from = time + own
    end
  end
  if from then windows[#windows + 1] = { from, nil } end
  if #windows == 0 then usage_error("--switch-on: event '%s' has no samples", asked.on) end
  return windows
end

return switched
