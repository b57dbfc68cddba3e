-- Tracepoints of which perf recorded only some events: with -F, or with -c above 1. Analyses
-- that pair events or add them up miss the others.

local core = require "perflua.core"

local sampled = {}

-- Returns the largest number of events that one sample of `event` stands for; 1 also if that is
-- not known before a stream is read.
local function largest_period(file, event)
  if not event.freq then return event.sample_period or 1 end
  local query = file.size and file:samples(event)
  if not query or not core.query_spec(query).scope:root "period" then return 1 end
  return query:max "period" or 1
end

---Says which tracepoints were recorded in part only.
---@param file perflua.File
---@param list table[] events
---@return string[] notes one for each such tracepoint
function sampled.notes(file, list)
  local notes = {}
  for _, event in ipairs(list) do
    local n = event.system and largest_period(file, event) or 1
    if n > 1 then
      notes[#notes + 1] = ("'%s' was sampled: one sample stands for up to %d events, the "
        .. "others are missing; record each event with perf record -c 1"):format(event.name, n)
    end
  end
  return notes
end

---Says whether switches were recorded in part only, if a query reads them.
---@param spec table of the query
---@return string[] notes
function sampled.switch_notes(spec)
  for _, event in ipairs(spec.scope:events()) do
    if event.name == "sched:sched_switch" then return sampled.notes(spec.file, { event }) end
  end
  return {}
end

return sampled
