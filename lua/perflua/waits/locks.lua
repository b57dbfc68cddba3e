-- Waits for the kernel's locks: lock:contention_begin to lock:contention_end of a thread and a
-- lock.

local lock_types = require "perflua.waits.lock_types"
local pending = require "perflua.waits.pending"
local samples_with_losses = require "perflua.file.samples_with_losses"

local locks = {}

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

-- Returns the first function outside of those that implement locks.
local function caller_of(chain)
  for i = 1, chain and #chain or 0 do
    local frame = chain[i]
    local symbol = frame.symbol
    if symbol and not lock_types.is_locking(symbol) then
      return ("%s+0x%x"):format(symbol, frame.symoff or 0)
    end
  end
  return "[unknown]"
end

---Takes each wait that ended. A mutex that spins begins again when it sleeps: that is one wait,
---from the first on.
---@param file perflua.File
---@param callers boolean? are they wanted?
---@param take fun(wait: table, duration: integer) wait is { time, tid, comm, lock, type, caller
--- }
---@return table # waits/pending.lua: what was not taken
function locks.each(file, callers, take)
  local open = pending.new(true)
  local query = samples_with_losses.matching(file,
    { "event == 'lock:contention_begin'", "event == 'lock:contention_end'" })
  for type_id, time, tid, cpu, comm, lock, flags,
      chain in query:select("type_id", "time", "tid", "cpu", "comm",
      "args.lock_addr", "args.flags", callers and "callchain" or "false") do
    -- the idle threads of all processors are 0
    local thread = tid == 0 and cpu and -1 - cpu or tid
    if type_id ~= SAMPLE then
      open:drop()
    elseif not (lock and thread and time) then
      open:skip()
    elseif flags then
      open:begin(thread, lock, { time = time, tid = tid, comm = comm or nil, lock = lock,
        type = lock_types.name(flags), caller = callers and caller_of(chain) or nil })
    else
      local wait = open:finish(thread, lock)
      if wait then open:pass(take, wait, time - wait.time) end
    end
  end
  return open
end

return locks
