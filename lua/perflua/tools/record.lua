-- perflua record [NAME] -- COMMAND: records what a tool or script needs, and runs it.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local library = require "perflua.meta.library"
local needs = require "perflua.meta.needs"
local perflua = require "perflua"
local tools = require "perflua.tools"
local amounts = require "perflua.doctor.words"

local tool = {
  description = "record a command with the events that a tool or script needs, then run that",
  usage = "record [--force] [-o FILE] [NAME] -- COMMAND…",
  reads = "nothing", operands = { 1, math.huge }, paged = false,
  options = {
    force = "replace the recording if there is one; it becomes FILE.old",
    o = { "FILE", "record to FILE; default: perf.data" },
  },
  help = [[
Prints the perf command that NAME declares (perflua help NAME shows it) with COMMAND in place of its own,
runs it without a shell, says what was recorded and lost, and runs NAME over the recording. Without NAME
it samples where COMMAND takes its time, with call chains (perf record -g), and names the commands that
show it.]],
}

local USAGE <const> = 2
local SAMPLING <const> = "perf record -g -- COMMAND" -- without a name

---Puts an empty name before -- if there is none.
---@param args string[]
---@return string[]
function tool.spell_out(args)
  local i = 1
  while args[i] and args[i]:find "^%-." and args[i] ~= "--" do
    i = i + (args[i] == "-o" and 2 or 1)
  end
  if args[i] ~= "--" then return args end
  local spelled = table.move(args, 1, #args, 1, {})
  table.insert(spelled, i, "")
  return spelled
end

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
  local found = not name:find "[/.]" and tools.find(name)
  if found then return found end
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

-- Says on standard error what was recorded, and which commands show it.
local function tell_recorded(name, path)
  local file <close>, message = perflua.open(path)
  if not file then return message end
  local counts = core.count(file)
  local samples = 0
  for _, event in ipairs(counts.events) do samples = samples + event.count end
  local lost = counts.lost_records + counts.lost_samples
  local word = fmt.shell_word(path)
  io.stderr:write(("# %s: %s, %s, %s\n# perflua %s\n# perflua %s %s\n"):format(fmt.escape(path),
    amounts.bytes(file.size), amounts.count(samples, "sample"),
    lost == 0 and "nothing lost" or amounts.count(lost, "record") .. " lost: perflua doctor "
      .. fmt.escape(word), fmt.escape(word), name == "" and "report" or fmt.shell_word(name),
    fmt.escape(word)))
end

-- Returns the line of perf for a name; or nil, what is wrong, and the status.
local function find_line(name)
  if name == "" then return SAMPLING end
  local described, message, unread = find_described(name)
  if not described then return nil, message, USAGE end
  local line = needs.record(described)
  if line then return line end
  return nil, ("%s does not say how to record for it%s"):format(name,
    unread and ": " .. unread or ""), USAGE
end

---@param args table
---@param out file*
---@param host table of the interpreter
---@return integer | nil status
---@return string | nil message
function tool.run(args, out, host)
  local name = args[1]
  local line, message, status = find_line(name)
  if not args[2] and (line or status == USAGE) then
    local shown = line and name ~= "" and name or "[NAME]"
    message = ("%sa command is missing: perflua record %s -- COMMAND"):format(
      message and message .. "; " or "", shown)
    line = nil
  end
  if not line then return status or USAGE, "record: " .. message end
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
  status, message = host.run(words)
  if not status then return nil, "record: " .. message end
  if not core.stat(path) then
    return nil, ("record: perf wrote no recording; its status is %d"):format(status)
  end
  message = tell_recorded(name, path)
  if message then return nil, "record: " .. message end
  return name ~= "" and host.perform(name, path) or nil
end

return tool
