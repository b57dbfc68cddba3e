-- Recordings made of samples at given times, and what core.health() counts in them.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

local health = {}

local MS = 1000000
health.START = 1000 * MS

function health.of(b)
  local file <close> = reading.open(b)
  return core.health(file)
end

--- A builder with one event of these parts beside ip, tid, time, id.
function health.one_event(parts, members, options)
  local b = builder.new(options)
  local event = { sample_type = { "ip", "tid", "time", "id", table.unpack(parts or {}) } }
  for name, value in pairs(members or {}) do
    event[name] = value
  end
  return b, b:event(event)
end

--- Adds samples at these times, in ms; "round" is the end of a round.
function health.samples_at(b, event, times)
  for _, time in ipairs(times) do
    if time == "round" then
      b:record "finished_round"
    else
      b:sample(event, { time = health.START + time * MS })
    end
  end
end

return health
