-- Handlers whose event some of many recordings do not have: a line for each before a
-- recording's result, and one warning for all recordings.

local fmt = require "perflua.text.fmt"
local events = require "perflua.recording.events"
local on_empty = require("perflua.query.new").on_empty
local warning = require("perflua.errors").warning

local Handlers = {}
Handlers.__index = Handlers

local MARK = "handler\t"

---Collects them from now on: called in each process for many recordings, where handlers without
---an event are not warned of, but counted by the process that merges the results. A query may
---find nothing in one of many.
function Handlers.collect()
  local warn_itself, silent = warn, false
  -- Handles the control messages of warn(): a script may turn warnings off, and on again.
  function _G.warn(...)
    if select("#", ...) == 1 and ... == "@off" then silent = true end
    if select("#", ...) == 1 and ... == "@on" then silent = false end
    warn_itself(...)
  end
  on_empty(nil)
  events.collect_unmatched(function() return not silent end)
end

---Writes those of this process.
---@param out file*
function Handlers.write(out)
  for _, handler in ipairs(events.unmatched()) do
    out:write(MARK, fmt.escape(handler.key), "\t", fmt.escape(handler.closest or ""), "\n")
  end
end

---Warns of those of this process, whose result nobody gets.
function Handlers.warn()
  for _, handler in ipairs(events.unmatched()) do warning("%s", handler.message) end
end

---Reads the lines that write() wrote, and counts them. What is read next is the result.
---@param out file*
function Handlers:read(out)
  local at = out:seek "set"
  while out:read(#MARK) == MARK do
    local key, closest = out:read "l":match "^([^\t]*)\t(.*)$"
    local count = self[key] or { n = 0, closest = {} }
    self[key], count.n = count, count.n + 1
    count.closest[closest] = (count.closest[closest] or 0) + 1
    at = out:seek()
  end
  out:seek("set", at)
end

-- Returns the name that is the closest one in most recordings.
local function closest_of(counts)
  local best
  for name, n in pairs(counts) do
    if name ~= "" and (not best or n > counts[best] or n == counts[best] and name < best) then
      best = name
    end
  end
  return best
end

---Says for each how many recordings lack its event.
---@param total integer recordings
function Handlers:log_totals(total)
  local keys = {}
  for key in pairs(self) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local closest = closest_of(self[key].closest)
    warning("map: %d of %d recordings have no event for handler '%s'%s", self[key].n, total,
      key,
      closest and ("; the closest is '%s'"):format(closest) or "")
  end
end

---@return table
function Handlers.new() return setmetatable({}, Handlers) end

return Handlers
