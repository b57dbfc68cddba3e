-- Hints after errors of Lua: why a value is nil.

local api = require "perflua.api"
local perf_names = require "perflua.fields.perf_names"
local recording = require "perflua.recording"
local suggest = require "perflua.errors.suggest"

local RECORD <const> = "perflua.record"

-- Returns true if the function at a level of the stack has a record without this field among
-- its values.
local function has_record_without(name, level)
  local function lacks(value)
    return getmetatable(value) == RECORD and value[name] == nil
  end
  local at, i = debug.getinfo(level, "f"), 1
  while true do
    local found, value = debug.getlocal(level, i)
    if not found then break end
    if lacks(value) then return true end
    i = i + 1
  end
  for up = 1, math.huge do
    local found, value = debug.getupvalue(at.func, up)
    if not found then return false end
    if lacks(value) then return true end
  end
end

---@param message string
---@param level integer of the function that failed, seen from the caller
---@return string # what is to be added to the message; "" if nothing is known
return function(message, level)
  local how, rest = message:match "attempt to (.-) a nil value(.*)$"
  local kind, name = (rest or ""):match "^ %((%a+) '([^']*)'%)$"
  if kind == "field" then
    local advice = perf_names.advice(name)
    if select(2, pcall(has_record_without, name, level + 3)) == true then
      return ("; this record has no %s%s"):format(name, advice)
    elseif how == "call" and not api.members("perflua")[name] then
      local closest = suggest.closest(name, api.names "perflua")
      return closest and ("; the closest function of perflua is '%s'"):format(closest) or ""
    end
    return advice ~= "" and ("; a record has no %s%s"):format(name,
      advice:gsub("^; ", " unless ")) or ""
  elseif how == "index" and recording.failed and (kind or rest == "") and kind ~= "method" then
    return "; perflua.open returned nil: " .. recording.failed
  end
  return ""
end
