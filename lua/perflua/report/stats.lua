-- The numbers of records by type, and of samples by event, that perf report --stats prints; and
-- the counters of threads that -T prints.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local has_difference = require("perflua.recording").has_difference
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
  local form = has_difference(file, "wide_counts") and WIDE or NARROW
  for id, counted in pairs(counts.types) do
    ids[#ids + 1], total = id, total + counted.count
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
  for i, counted in ipairs(counts.events) do
    if counted.count > 0 or lost[i] then
      out:write(fmt.escape(file.events[i].name), " stats:\n")
      if counted.count > 0 then out:write(form:format("SAMPLE", counted.count, "")) end
      if lost[i] then out:write(form:format("LOST_SAMPLES", lost[i], "")) end
    end
  end
end

-- The counters of threads that perf report -T prints: PERF_RECORD_READ records, summed by
-- thread and event.

local count_columns = core.columns

-- Returns threads { pid, tid, [event] } and the events, in the order in which they come.
local function read_threads(file)
  local threads, by_id, events, seen = {}, {}, {}, {}
  for record in file:records "read" do
    local pid, tid, event = record.pid, record.tid, record.event
    local id = ("%d %d"):format(pid, tid)
    local thread = by_id[id]
    if not thread then
      thread = { pid = pid, tid = tid }
      by_id[id], threads[#threads + 1] = thread, thread
    end
    local index = event and event.index or 0
    if not seen[index] then
      seen[index] = true
      events[#events + 1] = { index = index, name = event and event.name or "unknown event" }
    end
    thread[index] = (thread[index] or 0) + record.read.value
  end
  return threads, events
end

---Writes them.
---@param file perflua.File
---@param out file*
function stats.write_counters(file, out)
  local threads, events = read_threads(file)
  local rows = { { "PID", "TID" } }
  for i, event in ipairs(events) do rows[1][2 + i] = fmt.escape(event.name) end
  for t, thread in ipairs(threads) do
    local row = { ("%d"):format(thread.pid), ("%d"):format(thread.tid) }
    for i, event in ipairs(events) do row[2 + i] = fmt.unsigned(thread[event.index] or 0) end
    rows[1 + t] = row
  end
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, count_columns(cell)) end
  end
  for r, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      row[i] = (" "):rep(widths[i] - count_columns(cell)) .. cell
    end
    out:write(r == 1 and "# " or "  ", table.concat(row, "  "), "\n")
  end
end

---@param file perflua.File
---@return boolean # whether it was recorded with them
function stats.has_counters(file)
  for i = 1, #file.events do
    if file.events[i].inherit_stat then return true end
  end
  return false
end

return stats
