-- The commands of browse, by their keys.

local asking = require("perflua.screen").asking

local keys = {}

--- The last line.
keys.HINT = "h: help   Enter: calls   a: annotate   /: filter   t: time   Esc: back   q: quit"

---@param browse table of browse/init.lua
---@return table[] # { key, what it does, fun(screen) }
function keys.of(browse)
  local function back() browse:back() end
  local function open_calls(screen)
    if screen.report.trees then return screen:open_calls() end
    screen:tell(browse:why_no_calls())
  end
  local function next_event(screen) screen:next_event() end
  return {
    { "enter", "the callers and callees of the row", open_calls },
    { "right", nil, open_calls },
    { "a", "the code of the row's function, with its samples", function(screen)
      local message = browse:annotate()
      if message then screen:tell(message) end
    end },
    { "/", "a filter: a part of a name of rows, or an expression on samples such as "
      .. "comm == 'make'; none: everything", asking("filter: ", browse, browse.narrow) },
    { "t", "a range of time, as for --time: 10%-20% or FROM,TO; none: that of the options",
      asking("time: ", browse, browse.narrow_time) },
    { "n", "the next event, also Tab", next_event },
    { "\t", nil, next_event },
    { "escape", "what was shown before the last / or t, also ←", back },
    { "left", nil, back },
    { "q", "quit, also ^C", function() browse.quits = true end },
  }
end

return keys
