-- Quality of a report: losses, samples without a function, damage.

local core = require "perflua.core"
local aside = require "perflua.group.aside"
local fmt = require "perflua.text.fmt"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local quality = {}

local SAMPLES <const> = { "sample", "samples" }

---Returns the health of a whole file for its report; nil for a stream, which can be read only
---once. The pass also finds names.
---@param file perflua.File
---@return table? # of core.health()
function quality.of(file) return file.size and core.health(file, true) or nil end

---@param event table of report.read
---@param health table
---@return integer # samples that the kernel had no room for
function quality.lost(event, health)
  local lost = 0
  for _, member in ipairs(event.members or { event }) do
    local counted = member.index and health.events[member.index]
    lost = lost + (counted and counted.lost_samples or 0)
  end
  return lost
end

-- Returns ", 2 samples lost (1 %)".
local function describe_losses(lost, samples, noun)
  return lost == 0 and ", none lost"
    or (", %s lost%s"):format(count(lost, "sample"), noun and ""
      or (" (%s)"):format(percent(words.lost_share(lost, samples))))
end

-- Returns ", 77.7 % without a function".
local function describe_unresolved(unresolved, samples)
  return unresolved == 0 and ", all have a function"
    or (", %s without a function"):format(percent(share(unresolved, samples)))
end

-- Returns the parts of a line before and after the event.
local function describe_counts(samples, whole, lost, unresolved, noun)
  local losses = lost and describe_losses(lost, whole or samples, noun) or ""
  local functions = unresolved and describe_unresolved(unresolved, samples) or ""
  local counted = count(whole or samples, table.unpack(noun or SAMPLES))
  if whole then counted = fmt.unsigned(samples) .. " of " .. counted end
  return counted .. " of ", losses .. functions
end

-- Returns an event's name, and what tells it from others of that name.
local function name_event(name, distinction)
  return ("'%s'%s"):format(fmt.escape(name),
    distinction and (" (%s)"):format(fmt.escape(distinction)) or "")
end

---@param health table?
---@param noun string[]? singular and plural of the counted things, if not samples
---@return fun(event: table): string # an event's line, escaped: samples, lost, unresolved
function quality.events(health, noun)
  local samples, whole, lost, unresolved -- of thousands of events most have the same
  local before, after
  return function(event)
    local now_lost = health and quality.lost(event, health)
    local now_whole = event.whole and event.whole.samples
    if event.samples ~= samples or now_whole ~= whole or now_lost ~= lost
        or event.unresolved ~= unresolved then
      samples, whole, lost, unresolved = event.samples, now_whole, now_lost, event.unresolved
      before, after = describe_counts(samples, whole, lost, unresolved, noun)
    end
    return before .. (event.members and "events " or "event ")
      .. name_event(event.event, event.distinction) .. after
  end
end

---@param health table
---@param event perflua.Event
---@param distinction string? what tells it from others of its name
---@param counted integer samples that were counted
---@param without integer those of them without a function
---@return string # how many samples of the event were recorded and lost, escaped
function quality.recorded(health, event, distinction, counted, without)
  local samples = health.events[event.index].samples
  return ("event %s: %s recorded%s%s"):format(name_event(event.name, distinction),
    count(samples, table.unpack(SAMPLES)),
    describe_losses(quality.lost(event, health), samples),
    counted > 0 and describe_unresolved(without, counted) or "")
end

---@param health table
---@param events perflua.Event[]
---@return string # how many samples of all these were recorded and lost
function quality.recorded_all(health, events)
  local samples, lost = 0, 0
  for _, event in ipairs(events) do
    samples = samples + health.events[event.index].samples
    lost = lost + quality.lost(event, health)
  end
  return ("%d events: %s recorded%s"):format(#events, count(samples, table.unpack(SAMPLES)),
    describe_losses(lost, samples))
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
