-- Runs a performance spec and its functions, which may be someone else's: they write no files,
-- and they end.

local output = require "perflua.table.output"
local usage_error = require("perflua.errors").usage_error

-- Instructions of Lua: some seconds of a loop. What runs in C does not count.
local MOST <const>, STEP <const> = 1000000000, 1000000

-- Raises from the last step on. Each instruction is a step then, so that a function ends that
-- catches errors.
local function set_limit(caller)
  local left = MOST // STEP
  local function count_step()
    left = left - 1
    if left > 0 or debug.getinfo(2, "f").func == caller then return end
    if left == 0 then debug.sethook(count_step, "", 1) end
    usage_error("ended after %d million instructions of Lua, the most that a spec may run at a "
      .. "time; a query counts and adds up without them", MOST // 1000000)
  end
  debug.sethook(count_step, "", STEP)
end

---Calls a function of a spec as pcall does.
---@param fn function
---@param ... any
---@return boolean ok
---@return any result # the first value that it returns, or what it raised
local function call_bounded(fn, ...)
  output.refusal = "a performance spec writes no files"
  set_limit(call_bounded)
  local ok, result = pcall(fn, ...)
  debug.sethook()
  output.refusal = nil
  return ok, result
end

return call_bounded
