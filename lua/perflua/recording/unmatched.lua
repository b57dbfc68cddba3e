-- Handlers whose event a recording does not have: each is a warning, unless they are collected
-- to be counted.

local events = require "perflua.recording.events"
local warning = require("perflua.errors").warning

local unmatched = {}

local collected = nil -- of each {key, closest?, message}, and each by its key

---Collects them from now on instead of warning.
---@param is_wanted fun(): boolean asked for each: false leaves it out
function unmatched.collect(is_wanted) collected = { is_wanted = is_wanted } end

---@param list perflua.Event[] of the recording
---@param key string of the handler
function unmatched.note(list, key)
  local message = ("handler '%s': %s"):format(key, events.unknown(list, key))
  if not collected then return warning("%s", message) end
  if collected[key] or not collected.is_wanted() then return end
  local one = { key = key, closest = events.closest(list, key), message = message }
  collected[key], collected[#collected + 1] = one, one
end

---@return { key: string, closest: string?, message: string }[]
function unmatched.collected() return collected or {} end

return unmatched
