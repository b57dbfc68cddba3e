-- The counters of threads that perf report -T prints: PERF_RECORD_READ records, summed by
-- thread and event.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local count_columns = core.columns

local read_values = {}

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
function read_values.write(file, out)
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
function read_values.are_recorded(file)
  for i = 1, #file.events do
    if file.events[i].inherit_stat then return true end
  end
  return false
end

return read_values
