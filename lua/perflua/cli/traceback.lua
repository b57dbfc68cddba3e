-- The message of an error with where the script was.

local interrupted = require "perflua.table.interrupted"
local strip_position = require("perflua.errors").strip_position

-- Frames of a traceback that are ours. Below the script they tell nothing; nor do they above
-- it, when they only found the script's own mistake.
local function is_glue(line)
  return line:find("^\t%[C%]: ") or line:find("^\t%(%.%.%.tail calls")
end

local function is_below(line)
  return is_glue(line) or line:find("^\tlua/perflua/cli/")
end

local function is_above(line)
  return is_glue(line) or line:find("^\tlua/perflua/")
    and not line:find("^\tlua/perflua/tools/")
end

local function frames_of_script()
  local frames = {}
  for line in debug.traceback(nil, 3):gmatch("[^\n]+") do
    table.insert(frames, line)
  end
  while is_below(frames[#frames]) do
    table.remove(frames)
  end
  -- below [C]: in function 'error'
  local blamed = frames[3] and frames[3]:find("^\tlua/perflua/errors/init%.lua:")
  while blamed and frames[2] and is_above(frames[2]) do
    table.remove(frames, 2)
  end
  return frames
end

-- Returns true if all frames of a script are on the one line of -e, or there are none: then
-- they tell nothing more.
local function are_on_one_line(frames)
  local found = not frames[2]
  for i = 2, #frames do
    local is_statement = frames[i]:find "^\t%(command line%):1: "
    if not is_statement and not is_above(frames[i]) then return false end
    found = found or is_statement
  end
  return found
end

---Handles the errors of everything that the interpreter runs: returns the message with a
---traceback. What ends a script early is returned as it is.
---@param message any
---@return any
local function format_traceback(message)
  -- where a pass was refused tells nothing; the error of an interrupt says where Lua was stuck
  if interrupted.stops_pass(message) and debug.getinfo(2, "S").what == "C" then
    return strip_position(message)
  end
  if require "perflua.options".ending(message) then return message end
  if type(message) ~= "string" then
    local meta = getmetatable(message)
    message = meta and meta.__tostring and tostring(message)
      or ("(error object is a %s value)"):format(type(message))
  end
  if message:find "attempt to" then
    message = message .. require "perflua.cli.hints"(message, 2) -- loaded when it is needed
  end
  local frames = frames_of_script()
  if are_on_one_line(frames) then return message end
  return message .. "\n" .. table.concat(frames, "\n") .. "\n\t[C]: in ?"
end

return format_traceback
