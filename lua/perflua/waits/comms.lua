-- Names of threads. Where nothing was recorded of a thread's start, switches to it say its
-- name.

local comms = {}

local SWITCH <const> = "sched:sched_switch"

-- Returns names by tid: those of the last switches.
local function read_switches(file)
  local by_tid = {}
  if not file.size or not file.events[SWITCH] then return by_tid end -- a stream is read once
  local names = file:samples(SWITCH):group_by("args.next_pid"):last("args.next_comm")
  for row in names:table():rows() do
    local tid, comm = row["args.next_pid"], row["last_args.next_comm"]
    if tid and comm ~= "" then by_tid[tid] = comm end
  end
  return by_tid
end

---@param file perflua.File whose samples were read
---@return fun(tid: integer, time: integer?): string?
function comms.reader(file)
  local by_tid
  return function(tid, time)
    local thread = file:thread(tid, time)
    if thread and thread.comm then return thread.comm end
    by_tid = by_tid or read_switches(file)
    return by_tid[tid]
  end
end

return comms
