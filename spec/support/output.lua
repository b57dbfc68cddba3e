-- busted's plain output, then a line for each reason why specs are pending: "  41 pending: perf
-- is not installed".
return function(options)
  local busted = require "busted"
  local handler = require "busted.outputHandlers.plainTerminal"(options)

  busted.subscribe({ "suite", "end" }, function()
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
