-- perflua record NAME -- COMMAND: records what a tool or script needs, and runs it.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local library = require "perflua.meta.library"
local needs = require "perflua.meta.needs"
local tools = require "perflua.tools"

local tool = {
  description = "record a command with the events that a tool or script needs, then run that",
  usage = "record [--force] [-o FILE] NAME -- COMMAND…",
  reads = "nothing", operands = { 1, math.huge },
  options = {
    force = "replace the recording if there is one; it becomes FILE.old",
    o = { "FILE", "record to FILE; default: perf.data" },
  },
  help = [[
Prints the perf command that NAME declares (perflua help NAME shows it) with COMMAND in place of its own,
runs it without a shell, and runs NAME over the recording.]],
}

local USAGE <const> = 2

-- Splits a line into words; quotes are taken off. Returns nil if one is not closed.
local function split_words(line)
  local words, at = {}, line:match "^%s*()"
  while at <= #line do
    local parts = {}
    while at <= #line and not line:find("^%s", at) do
      local quote = line:match("^['\"]", at)
      local text, stop
      if quote then
        text, stop = line:match(("^%s([^%s]*)%s()"):format(quote, quote, quote), at)
        if not text then return nil end
      else
        text, stop = line:match("^([^%s'\"]+)()", at)
      end
      parts[#parts + 1], at = text, stop
    end
    words[#words + 1], at = table.concat(parts), line:match("^%s*()", at)
  end
  return words
end

-- Returns the words of a declared line before its command; or nil and what is wrong.
local function perf_words(name, line)
  local words = split_words(line)
  if not words then
    return nil, ("the command of %s has an open quote: %s"):format(name, line)
  elseif words[1] ~= "perf" then
    return nil, ("the command of %s does not begin with perf: %s"):format(name, line)
  end
  for i, word in ipairs(words) do
    if word == "--" then return table.move(words, 1, i - 1, 1, {}) end
  end
  return words
end

-- Returns the file that perf's words name, and takes it out of them.
local function take_output(words)
  for i, word in ipairs(words) do
    local joined = word:match "^%-o(.+)" or word:match "^%-%-output=(.+)"
    if joined then
      table.remove(words, i)
      return joined
    elseif word == "-o" or word == "--output" then
      table.remove(words, i)
      return table.remove(words, i)
    end
  end
end

-- Returns what is run for a name, as a tool or a script describes it; or nil and a message. The
-- third value says why a script's meta cannot be read.
local function find_described(name)
  local one = not name:find "[/.]" and tools.find(name)
  if one then return one end
  local path = name:find "[/.]" and name or library.find(name)
  if not path then
    return nil, ("no tool and no script '%s'; perflua list shows them"):format(name)
  end
  return library.read(path)
end

-- Moves a recording that is there out of the way, if that is wanted.
local function make_room(path, args)
  if not core.stat(path) then return nil end
  if not args.force then
    return ("%s exists: --force replaces it, -o FILE names another one"):format(path)
  end
  local ok, message = os.rename(path, path .. ".old")
  return not ok and message or nil
end

---@param _ string
---@param host table what src/host/perflua.c gives
---@return string[] # names of tools that say how to record for them, and of scripts
function tool.completes(_, host)
  local names = library.names(host)
  for _, name in ipairs(tools.names()) do
    if needs.record(tools.find(name)) then names[#names + 1] = name end
  end
  return names
end

---@param args table
---@param out file*
---@param host table of the interpreter
---@return integer | nil status
---@return string | nil message
function tool.run(args, out, host)
  local name = args[1]
  local described, message, unread = find_described(name)
  if not described then
    local hint = not args[2] and not name:find "[/.]"
      and (": perflua record NAME -- %s records it for the tool or script NAME"):format(name)
    return USAGE, "record: " .. message .. (hint or "")
  elseif not args[2] then
    return USAGE, ("record: a command is missing: perflua record %s -- COMMAND"):format(name)
  end
  local line = needs.record(described)
  if not line then
    return USAGE, ("record: %s does not say how to record for it%s"):format(name,
      unread and ": " .. unread or "")
  end
  local words
  words, message = perf_words(name, line)
  if not words then return nil, "record: " .. message end
  local path = args.o or take_output(words) or "perf.data"
  take_output(words)
  message = make_room(path, args)
  if message then return nil, "record: " .. message end
  for _, word in ipairs { "-o", path, "--" } do words[#words + 1] = word end
  table.move(args, 2, #args, #words + 1, words)
  local shown = {}
  for i, word in ipairs(words) do shown[i] = fmt.shell_word(word) end
  io.stderr:write("# ", table.concat(shown, " "), "\n")
  out:flush()
  local status
  status, message = host.run(words)
  if not status then return nil, "record: " .. message end
  if not core.stat(path) then
    return nil, ("record: perf wrote no recording; its status is %d"):format(status)
  end
  return host.perform(name, path)
end

return tool
