-- The prompt: reads Lua from a terminal, prints what it gives. Expressions need no `return`.

local core = require "perflua.core"
local help = require "perflua.cli.help"
local quality = require "perflua.cli.quality"
local screen = require "perflua.cli.screen"
local show = require "perflua.cli.show"
local strip_position = require("perflua.errors").strip_position

local prompt = {}

local QUIT <const> = {} -- in place of a message: the session ends

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
-- it, or false and QUIT; nil at the end of input.
local function read_chunk(host, remember_line)
  local text = host.read_line(tostring(_G._PROMPT or "> "))
  if not text then
    return text
  end
  if text:find "^%s*quit%s*$" or text:find "^%s*quit%s*%(%s*%)%s*$" then return false, QUIT end
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

-- Returns a function that marks a text with an escape sequence, where colours are shown.
local function marker(sequence)
  local is_shown = screen.has_colors()
  return function(text)
    return is_shown and ("\27[%sm%s\27[0m"):format(sequence, text) or text
  end
end

local function show_results(mark_error, ok, ...)
  if not ok then
    io.stderr:write(mark_error("perflua: " .. tostring((...))), "\n")
  elseif select("#", ...) > 0 then
    local _ <close> = screen.begin()
    local shown, message = pcall(show.values, io.stdout, quality.write, ...)
    if not shown then
      io.stderr:write(mark_error("perflua: " .. strip_position(message)), "\n")
    end
  end
end

-- Returns the candidates of a completion. The first Tab loads that module, which is large.
local function list_candidates(line, word)
  return require("perflua.cli.complete").candidates(line, word)
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
  if host.history then host.history(path, list_candidates) end
  _G.help = help(host)
  local mark_error = marker "31"
  while true do
    local chunk, message = read_chunk(host, remember_line)
    if message == QUIT then return end
    if chunk == nil then
      break
    elseif chunk then
      core.expect_work(nil) -- what was read before is not part of this
      show_results(mark_error, xpcall(chunk, traceback))
    elseif message then
      show_results(mark_error, false, message)
    end
    io.stdout:flush()
    collectgarbage "restart" -- an interrupted table stops it
  end
  io.stdout:write("\n")
end

return prompt
