-- Names of threads. If the start of a thread was not recorded, the last switch to it has its
-- name.

local switches = require "perflua.waits.switches"

local comms = {}

-- Returns names by tid: those of the last switches.
local function read_switches(file, query)
  local by_tid, event = {}, switches.event
  if not file.size or not file.events[event] then return by_tid end -- a stream is read once
  local names = (query or file:samples(event)):group_by("args.next_pid"):last("args.next_comm")
  for row in names:table():rows() do
    local tid, comm = row["args.next_pid"], row["last_args.next_comm"]
    if tid and comm ~= "" then by_tid[tid] = comm end
  end
  return by_tid
end

---@param file perflua.File whose samples were read
---@param query perflua.Query? of the switches that are read; default: all
---@return fun(tid: integer, time: integer?): string?
function comms.reader(file, query)
  local by_tid
  return function(tid, time)
    local thread = file:thread(tid, time)
    if thread and thread.comm then return thread.comm end
    by_tid = by_tid or read_switches(file, query)
    return by_tid[tid]
  end
end

return comms
