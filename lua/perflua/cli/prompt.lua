-- The prompt: reads Lua from a terminal, prints what it gives. Expressions need no `return`.

local prompt = {}

-- Returns the path of the history: PERFLUA_HISTORY (empty: none), or a file in the home
-- directory.
local function history_path(environment)
  local path = environment and os.getenv("PERFLUA_HISTORY")
  local home = environment and os.getenv("HOME")
  if path then
    return path ~= "" and path or nil
  end
  return home and home .. "/.perflua_history"
end

local function is_incomplete(message)
  return message and message:find("<eof>$") ~= nil
end

-- Reads a whole statement or expression. Returns it as a chunk, or false and what is wrong with
-- it; nil at the end of input.
local function read_chunk(host, remember_line)
  local text = host.read_line(tostring(_G._PROMPT or "> "))
  if not text then
    return text
  end
  remember_line(text)
  local chunk = load("return " .. text, "=stdin", "t")
  local message
  while not chunk do
    chunk, message = load(text, "=stdin", "t")
    if not is_incomplete(message) then
      break
    end
    local more = host.read_line(tostring(_G._PROMPT2 or ">> "))
    if not more then
      return false
    end
    remember_line(more)
    text = text .. "\n" .. more
  end
  return chunk or false, message
end

local function show_results(ok, ...)
  if not ok then
    io.stderr:write("perflua: ", tostring((...)), "\n")
  elseif select("#", ...) > 0 then
    local printed, message = pcall(print, ...)
    if not printed then
      io.stderr:write("perflua: error calling 'print' (", tostring(message), ")\n")
    end
  end
end

---Runs until the end of input.
---@param host table what src/host/perflua.c gives
---@param environment boolean whether environment variables count
---@param traceback function message handler
function prompt.run(host, environment, traceback)
  local path = history_path(environment) or nil
  local last
  local function remember_line(line)
    if host.remember and line:find("%S") and line ~= last then
      host.remember(line, path)
      last = line
    end
  end
  if host.history then
    host.history(path)
  end
  while true do
    local chunk, message = read_chunk(host, remember_line)
    if chunk == nil then
      break
    elseif chunk then
      show_results(xpcall(chunk, traceback))
    elseif message then
      show_results(false, message)
    end
    io.stdout:flush()
    collectgarbage "restart" -- an interrupted table stops it
  end
  io.stdout:write("\n")
end

return prompt
