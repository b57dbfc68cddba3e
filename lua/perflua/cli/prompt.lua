-- The prompt: reads Lua from a terminal, prints what it gives, completes words and explains
-- functions. Expressions need no `return`.

local core = require "perflua.core"
local quality = require "perflua.cli.quality"
local screen = require "perflua.cli.screen"
local show = require "perflua.cli.show"
local strip_position = require("perflua.errors").strip_position

local prompt = {}

local TEXT <const> = [[
Type Lua statements, or expressions to see their values: a query with groups is
shown as a table, another one as its first rows, a record as a list of fields.

  file                  the recording on the command line
  file.events           its events
  file:samples()        a query of its samples
  file:samples():where "comm == 'sh'":group_by("symbol"):sum("period")

  help(file.samples)    explains a method or function, so does help "samples"
  help "report"         explains a tool, as perflua help does
  quit                  ends the session; so does ^D

Tab completes names, also of fields and events in strings. ^C ends what runs: a pass gives what
it has read so far, anything else is an error.
]]

-- Returns the functions of objects by the classes of the API.
local function functions_of(class)
  require "perflua.file.records" -- which adds steps to queries
  local found = {
    perflua = _G.perflua, File = core.methods "file",
    Query = require("perflua.query").methods, Table = require("perflua.table").methods,
  }
  return found[class] or {}
end

local function explain(class, row)
  local params = {}
  for i, param in ipairs(row.params or {}) do params[i] = param[1] end
  local lines = { ("%s%s(%s)\n  %s"):format(class.prefix or "", row[1],
    table.concat(params, ", "), row[2]) }
  for _, param in ipairs(row.params or {}) do
    lines[#lines + 1] = ("  %s: %s%s"):format(param[1], param[3] or param[2],
      param.default and ("; default: %s"):format(param.default) or "")
  end
  for _, returned in ipairs(row.returns or {}) do
    lines[#lines + 1] = ("  returns %s%s"):format(returned[1], returned[2]
      and ": " .. returned[2] or "")
  end
  if row.errors then lines[#lines + 1] = "  raises on " .. row.errors end
  return table.concat(lines, "\n") .. "\n"
end

-- Returns the texts of all methods and functions that a test chooses.
local function explain_all(is_meant)
  local texts, api = {}, require "perflua.api" -- large, and most sessions ask for no help
  for _, class in ipairs(api.classes()) do
    local functions = functions_of(class.name)
    for _, row in ipairs(class.methods or {}) do
      if is_meant(row[1], functions[row[1]]) then texts[#texts + 1] = explain(class, row) end
    end
  end
  return texts
end

local function explain_name(name, host)
  local texts = explain_all(function(method) return method == name end)
  if #texts > 0 then return table.concat(texts, "\n") end
  local tools = require "perflua.tools"
  local ok, status, message = pcall(tools.find("help").run, { name }, io.stdout, host)
  if ok and not status then return "" end
  return (ok and message or ("no help about '%s'"):format(name)) .. "\n"
end

---@param host table what src/host/perflua.c gives
---@return table # the global `help`
local function new_help(host)
  local function call(_, about)
    if about == nil then
      io.stdout:write(TEXT)
    elseif type(about) == "string" then
      io.stdout:write(explain_name(about, host))
    else
      local texts = explain_all(function(_, fn) return fn ~= nil and fn == about end)
      io.stdout:write(#texts > 0 and table.concat(texts, "\n")
        or "nothing is known of this value: help \"name\" looks for a name\n")
    end
  end
  return setmetatable({}, { __call = call, __tostring = function() return TEXT:sub(1, -2) end,
    __name = "perflua.help" })
end

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
  _G.help = new_help(host)
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
