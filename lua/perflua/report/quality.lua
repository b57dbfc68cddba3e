-- Quality of a report: losses, samples without a function, damage.

local core = require "perflua.core"
local aside = require "perflua.group.aside"
local fmt = require "perflua.text.fmt"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local quality = {}

local SAMPLES <const> = { "sample", "samples" }

---Returns the health of a whole file for its report; nil for a stream, which can be read only
---once.
---@param file perflua.File
---@return table? # of core.health()
function quality.of(file) return file.size and core.health(file) or nil end

---@param event table of report.read
---@param health table
---@return integer # samples that the kernel had no room for
function quality.lost(event, health)
  return event.index and health.events[event.index] and health.events[event.index].lost_samples
    or 0
end

-- Returns the parts of a line before and after the event's name.
local function describe_counts(samples, lost, unresolved, noun)
  local losses, functions = "", ""
  if lost then
    losses = lost == 0 and ", none lost"
      or (", %s lost%s"):format(count(lost, "sample"), noun and ""
        or (" (%s)"):format(percent(words.lost_share(lost, samples))))
  end
  if unresolved then
    functions = unresolved == 0 and ", all have a function"
      or (", %s without a function"):format(percent(share(unresolved, samples)))
  end
  local counted = count(samples, table.unpack(noun or SAMPLES))
  return counted .. " of event '", "'" .. losses .. functions
end

---@param health table?
---@param noun string[]? singular and plural of what was counted, if not samples
---@return fun(event: table): string # an event's line, escaped: samples, lost, unresolved
function quality.events(health, noun)
  local samples, lost, unresolved, before, behind -- of thousands of events most have the same
  return function(event)
    local now_lost = health and quality.lost(event, health)
    if event.samples ~= samples or now_lost ~= lost or event.unresolved ~= unresolved then
      samples, lost, unresolved = event.samples, now_lost, event.unresolved
      before, behind = describe_counts(samples, lost, unresolved, noun)
    end
    return before .. fmt.escape(event.event) .. behind
  end
end

---Returns notes about the whole file, as lines.
---@param result table of report.read
---@param file perflua.File
---@param health table?
---@return string[]
function quality.file(result, file, health)
  local lines = { aside.said(result.aside) }
  if health and health.lost_records ~= 0 then
    lines[#lines + 1] = count(health.lost_records, "record") .. " lost"
  end
  if health and health.order.late ~= 0 then
    lines[#lines + 1] = count(health.order.late, "record")
      .. " came too late for perf to sort: perf report may differ"
  end
  local places = #file.damage
  if places > 0 or not file.complete then
    lines[#lines + 1] = (places > 0 and "damaged in " .. count(places, "place")
      or "not complete")
      .. ": see perflua doctor"
  end
  return lines
end

return quality
