-- The numbers of records that perf report --stats prints: by type, and of samples by event.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local perf_text = require "perflua.report.perf_text"
local types = require("perflua.recording").types

local stats = {}

local LOST_SAMPLES <const> = 13 -- PERF_RECORD_…
local WITHOUT_TRACES <const> =
  " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)"
local NARROW <const>, WIDE <const> = "%16s events: %10d%s\n", "%20s events: %10d%s\n"

-- Returns the samples that records say are lost, by number of their event.
local function count_lost(file, has_lost)
  local lost = {}
  for record in has_lost and file:records "lost_samples" or function() end do
    local event = record.event
    if event then lost[event.index] = (lost[event.index] or 0) + record.lost end
  end
  return lost
end

---@param file perflua.File
---@param out file*
function stats.write(file, out)
  local counts, ids, total = core.count(file), {}, 0
  local form = perf_text.has(file, "wide_counts") and WIDE or NARROW
  for id, one in pairs(counts.types) do
    ids[#ids + 1], total = id, total + one.count
  end
  table.sort(ids)
  out:write("\nAggregated stats:", file.features.auxtrace and WITHOUT_TRACES or "", "\n")
  out:write(form:format("TOTAL", total, ""))
  for _, id in ipairs(ids) do
    local desc, count = types()[id], counts.types[id].count
    -- perf names records of the header without that word
    local name = desc and desc.name:gsub("^header_", ""):upper() or "UNKNOWN"
    out:write(form:format(name, count, ("  (%4.1f%%)"):format(100.0 * count / total)))
  end
  local lost = count_lost(file, counts.types[LOST_SAMPLES])
  for i, one in ipairs(counts.events) do
    if one.count > 0 or lost[i] then
      out:write(fmt.escape(file.events[i].name), " stats:\n")
      if one.count > 0 then out:write(form:format("SAMPLE", one.count, "")) end
      if lost[i] then out:write(form:format("LOST_SAMPLES", lost[i], "")) end
    end
  end
end

return stats
