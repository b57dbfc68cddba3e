-- Loaded in each process of perflua map for many recordings: handlers without an event are
-- not warned of there, but counted by the process that merges the results. A query may find
-- nothing in one of many.

local events = require "perflua.recording.events"

local warn_itself, silent = warn, false

-- Handles the control messages of warn(): a script may turn warnings off, and on again.
function _G.warn(...)
  if select("#", ...) == 1 and ... == "@off" then silent = true end
  if select("#", ...) == 1 and ... == "@on" then silent = false end
  warn_itself(...)
end

require("perflua.query.new").on_empty(nil)

events.collect_unmatched(function() return not silent end)

return true
