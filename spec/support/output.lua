-- busted's plain output, then a line for each reason why specs are pending: "  41 pending: perf
-- is not installed".

-- busted looks a global up in each group of specs around, by calls of functions. Puts what no
-- group changes where it is found at once: in the environment of spec files itself.
local function keep_globals(file)
  local run = (debug.getmetatable(file.run) or {}).__call or file.run
  local i = 1
  while debug.getupvalue(run, i) ~= "_ENV" do i = i + 1 end
  local _, environment = debug.getupvalue(run, i)
  for global in ([[assert collectgarbage coroutine debug error getmetatable io ipairs load math
      next os pairs pcall print rawequal rawget rawlen rawset require select setmetatable
      string table tonumber tostring type utf8 xpcall]]):gmatch "%S+" do
    rawset(environment, global, environment[global])
  end
end

return function(options)
  -- lua5.4 collects generations: all of them only when the heap has grown to five times its
  -- size, as much of it is recordings that a file builds once
  collectgarbage("generational", 20, 400)
  local busted = require "busted"
  busted.subscribe({ "file", "start" }, function(file)
    keep_globals(file)
    return nil, true
  end)
  local handler = require "busted.outputHandlers.plainTerminal"(options)

  busted.subscribe({ "suite", "end" }, function()
    -- writes that failed on purpose are none of the interpreter's, if that runs the specs
    local output = package.loaded["perflua.table.output"]
    if output then output.failure = nil end
    local counts, reasons = {}, {}
    for _, spec in ipairs(handler.pendings) do
      local reason = (spec.message or spec.name):gsub("^[^:]+:%d+: ", "")
      if not counts[reason] then reasons[#reasons + 1] = reason end
      counts[reason] = (counts[reason] or 0) + 1
    end
    table.sort(reasons)
    for _, reason in ipairs(reasons) do
      io.write(("  %d pending: %s\n"):format(counts[reason], reason))
    end
    return nil, true
  end)

  return handler
end
