-- Names of frames and threads as exported profiles have them.

local names = {}

---@param frame table of a profile
---@return string # its function; "[binary]" if that is not known, as fold has it
function names.of(frame)
  if frame.symbol then return frame.symbol end
  local name = frame.dso:match "[^/]+$" or frame.dso
  return name:find "^%[.*%]$" and name or "[" .. name .. "]"
end

---@param thread table of a profile
---@return string # "comm (pid 7)", "comm (pid 7, tid 9)"
function names.of_thread(thread)
  local text = thread.comm or "[unknown]"
  if not thread.pid then return text end
  if thread.tid == thread.pid or not thread.tid then
    return ("%s (pid %d)"):format(text, thread.pid)
  end
  return ("%s (pid %d, tid %d)"):format(text, thread.pid, thread.tid)
end

return names
