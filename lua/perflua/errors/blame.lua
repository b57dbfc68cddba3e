-- Errors of the caller: raised with the position of the first function on the stack that is not the
-- library's own, so that a message names the script's line whatever depth it was found at.
-- Names in a message may come from a recording: it is escaped as all that may go to a terminal.

local fmt = require "perflua.text.fmt"

local library = debug.getinfo(1, "S").source:match("^(.*)errors/blame") or ""

local function own(info)
  local source = info.source
  return info.what == "C"
    or source:sub(1, #library) == library and not source:find("^tools/", #library + 1)
end

---@param format string
---@param ... any for string.format; without any the text is taken as it is
local function blame(format, ...)
  local message = select("#", ...) > 0 and format:format(...) or format
  local level = 2
  local info = debug.getinfo(level, "S")
  while info and own(info) do
    level = level + 1
    info = debug.getinfo(level, "S")
  end
  error(fmt.escape(message), info and level or 0)
end

return blame
