-- The commands of top, by their keys.

local asking = require("perflua.screen").asking

local keys = {}

---@param top table of top/init.lua
---@return table[] # { key, what it does, fun(screen) }
function keys.of(top)
  local function toggle(name, restarts)
    return function()
      top[name] = not top[name] or nil
      if restarts and not top[name] then top:restart() end
    end
  end
  return {
    { "enter", "the callers and callees of the row", function(screen)
      if top:reads_calls() then return screen:open_calls() end
      screen:tell "there are no call chains: -g records them"
    end },
    { "/", "a filter, from the next record on: a part of a function's name, or an expression "
      .. "such as comm == 'make'; none: everything", asking("filter: ", top, top.narrow) },
    { "s", "the keys of rows, from the next record on: fields as for perflua report --sort",
      asking("sort by: ", top, top.sort) },
    { "e", "the next event", function(screen) screen:next_event() end },
    { "p", "pause and go on; records are counted meanwhile", toggle "paused" },
    { "z", "count from zero at each tick, or not", toggle("zeroes", true) },
    { "D", "decay sums at each tick as perf top does, or count all that was read",
      toggle("decays", true) },
    { "d", "the delay between ticks", asking("delay in seconds: ", top, top.delay) },
    { "q", "quit", function() top.quits = true end },
  }
end

return keys
