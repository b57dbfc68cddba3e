-- The message of an error with where the script was.

local api = require "perflua.api"
local interrupted = require "perflua.table.interrupted"
local recording = require "perflua.recording"
local strip_position = require("perflua.errors").strip_position
local suggest = require "perflua.errors.suggest"

-- always: show a traceback also of errors whose message says enough (--traceback)
local traceback = { always = false }

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

---Says why a value is nil.
---@param message string
---@param level integer of the function that failed, seen from the caller
---@return string # what is to be added to the message; "" if nothing is known
local function hint_of(message, level)
  local how, rest = message:match "attempt to (.-) a nil value(.*)$"
  local kind, name = (rest or ""):match "^ %((%a+) '([^']*)'%)$"
  if kind == "field" then
    local advice = require "perflua.fields.perf_names".advice(name) -- loaded when needed
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

-- Frames of a traceback that are ours. Below the script they tell nothing; nor do they above
-- it, when they only found the script's own mistake.
local function is_glue(line)
  return line:find("^\t%[C%]: ") or line:find("^\t%(%.%.%.tail calls")
end

local function is_ours(line)
  return is_glue(line) or line:find("^\tlua/perflua/")
    and not line:find("^\tlua/perflua/tools/")
end

-- Returns the lines of a traceback, and whether perflua raised the error for a wrong call.
local function frames_of_script()
  local frames = {}
  for line in debug.traceback(nil, 3):gmatch("[^\n]+") do
    table.insert(frames, line)
  end
  local last = #frames
  while last > 1 and is_ours(frames[last]) do
    last = last - 1
  end
  if last > 1 then frames = table.move(frames, 1, last, 1, {}) end
  -- below [C]: in function 'error'
  local blamed = frames[3] and frames[3]:find("^\tlua/perflua/errors/init%.lua:")
  while blamed and frames[2] and is_ours(frames[2]) do
    table.remove(frames, 2)
  end
  return frames, blamed ~= nil
end

-- Returns true if all frames of a script are on the one line of -e, or there are none: then
-- they tell nothing more.
local function are_on_one_line(frames)
  local found = not frames[2]
  for i = 2, #frames do
    local is_statement = frames[i]:find "^\t%(command line%):1: "
    if not is_statement and not is_ours(frames[i]) then return false end
    found = found or is_statement
  end
  return found
end

local LIBRARIES <const> = { "_G", "coroutine", "debug", "io", "math", "os", "package", "string",
  "table", "utf8" }

-- Returns true if the function at a level of the stack is one of the core.
local function is_of_core(level)
  local info = debug.getinfo(level + 1, "Sf")
  if info.what ~= "C" then return false end
  for _, name in ipairs(LIBRARIES) do
    for _, fn in pairs(package.loaded[name]) do
      if fn == info.func then return false end
    end
  end
  return true
end

-- Returns true if a message that names no line of the library says enough: the call of a
-- function of the core was wrong, a recording could not be opened, or a script raised the
-- message without a line.
local function says_enough(message)
  if message:find "^lua/perflua/" then return false end
  local text = strip_position(message)
  return is_of_core(3) or text == recording.failed
    or text == message and debug.getinfo(3, "f").func == error
end

---Handles the errors of everything that the interpreter runs: returns the message with a
---traceback, unless the message says enough. What ends a script early is returned as it is.
---@param message any
---@return any
function traceback.handle(message)
  -- where a pass was refused tells nothing; the error of an interrupt says where Lua was stuck
  if interrupted.stops_pass(message) and debug.getinfo(2, "S").what == "C" then
    return strip_position(message)
  end
  if require "perflua.options".ending(message) then return message end
  local is_text, is_fault = type(message) == "string", false
  if not is_text then
    local meta = getmetatable(message)
    message = meta and meta.__tostring and tostring(message)
      or ("(error object is a %s value)"):format(type(message))
  end
  if message:find "attempt to" then
    is_fault = true
    message = message .. hint_of(message, 2)
  end
  local frames, blamed = frames_of_script()
  if are_on_one_line(frames) then return message end
  local is_enough = is_text and not is_fault and (blamed or says_enough(message))
  if is_enough and not traceback.always then return message end
  return message .. "\n" .. table.concat(frames, "\n") .. "\n\t[C]: in ?"
end

return traceback
