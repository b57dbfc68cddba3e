-- Words that may stand at the end of a command line: for the completion of shells.

local core = require "perflua.core"
local events = require "perflua.recording.events"
local fmt = require "perflua.text.fmt"
local library = require "perflua.meta.library"
local options = require "perflua.options"
local perflua = require "perflua"

local SAMPLE <const> = 9

-- The interpreter's own options; true: the next word is their value.
local own_options = {
  ["-e"] = true, ["-f"] = true, ["-p"] = true, ["-l"] = true, ["-j"] = true,
  ["-i"] = false, ["-v"] = false, ["-W"] = false, ["-E"] = false, ["--"] = false,
  ["--quiet"] = false, ["--help"] = false, ["--version"] = false,
}

-- Options of tools whose values are made of fields.
local of_fields = { sort = true, fields = true, F = true, where = true, ["-f"] = true,
  ["-p"] = true }

-- Tools whose operand is the name of a tool or script.
local of_names = { help = true, record = true }

-- Returns the recording among the words; nil if none can be read. What can be read only once is
-- left alone.
local function open_recording(words)
  local paths = table.move(words, 1, #words, 1, {})
  paths[#paths + 1] = "perf.data"
  for _, path in ipairs(paths) do
    local kind = core.stat(path)
    local file = (kind == "file" or kind == "directory") and perflua.open(path)
    if file and (file.mode ~= "pipe" or #file.events > 0) then return file end
  end
end

local function field_names(file)
  local names = { "comm", "event", "elapsed" }
  for _, field in ipairs(core.fields_of(file, SAMPLE)) do names[#names + 1] = field.name end
  for i = 1, #file.events do
    for _, field in ipairs(file.events[i].fields or {}) do
      if not field.common then names[#names + 1] = "args." .. field.name end
    end
  end
  return names
end

-- Names that a terminal could take for more than text are left out, and those with a tilde at
-- their start, which fish expands.
local function is_plain(name) return fmt.escape(name) == name and name:sub(1, 1) ~= "~" end

-- Appends the names that begin with a text, each once, behind what is before it.
local function add_matching(list, names, before, text)
  local seen = {}
  for _, name in ipairs(names) do
    if name:sub(1, #text) == text and not seen[name] and is_plain(name) then
      seen[name], list[#list + 1] = true, before .. name
    end
  end
  table.sort(list)
  return list
end

-- Completes the value of an option: the last part of a list or expression.
local function complete_value(name, row, before, text, line)
  if row and row[2] == "choice" then return add_matching({}, row.choices, before, text) end
  if row and row.value and row.value:find "^[%l-]+|[%l|-]+$" then
    local choices = {}
    for choice in row.value:gmatch "[^|]+" do choices[#choices + 1] = choice end
    return add_matching({}, choices, before, text)
  end
  local is_event = name == "event" or row and row[2] == "event"
  if not is_event and not of_fields[name] then return {} end
  local file <close> = open_recording(line)
  if not file then return {} end
  local head, last = text:match(is_event and "^(.*,)([^,]*)$" or "^(.*[^%w_.])([%w_.]*)$")
  return add_matching({}, is_event and events.names(file.events) or field_names(file),
    before .. (head or ""), last or text)
end

local function complete_option(declared, text)
  local names = { "--help" }
  for _, row in ipairs(declared.named) do
    names[#names + 1] = (#row[1] == 1 and "-" or "--") .. row[1]
  end
  return add_matching({}, names, "", text)
end

-- Returns the place of the script or tool among the words, and the option of the interpreter
-- whose value the last word is.
local function find_command(words)
  local i = 1
  while i <= #words do
    local takes = own_options[words[i]]
    if i == #words then return nil end
    if words[i] == "--" or not words[i]:find "^%-" then return i end
    if takes and i + 1 == #words then return nil, words[i] end
    i = i + (takes and 2 or 1)
  end
end

local function complete_first(words, option, tools, host, line)
  local text = words[#words]
  if option then return complete_value(option, nil, "", text, line) end
  local names = {}
  if text:find "^%-" then
    for name in pairs(own_options) do names[#names + 1] = name end
  elseif not text:find "[/.]" then
    names = tools.names()
    for _, script in ipairs(library.scripts(host)) do
      if not script.name:find "^%-" then names[#names + 1] = script.name end -- an option's word
    end
  end
  return add_matching({}, names, "", text)
end

-- Returns the options of the tool or script that a word names; nil if it declares none.
local function declared_by(word, tools)
  local tool = not word:find "[/.]" and tools.find(word)
  if tool then return tools.declared(tool) end
  local path = word:find "[/.]" and word or library.find(word)
  local meta = path and library.read(path)
  local ok, declared = pcall(options.declare, meta and meta.options or {})
  return ok and declared or nil
end

---@param line string[] a command line, without the interpreter
---@param n integer? which of its words is completed
---@param host table what src/host/perflua.c gives
---@param tools table the module of tools
---@return string[] # what this word may be; empty: perhaps a file
return function(line, n, host, tools)
  local text = line[n]
  if not text then return {} end
  local words = table.move(line, 1, n, 1, {})
  local at, option = find_command(words)
  if not at then return complete_first(words, option, tools, host, line) end
  local declared = declared_by(words[at], tools)
  if not declared then return {} end
  local rest = table.move(words, at + 1, #words, 1, {})
  local name, value = text:match "^%-%-([^=]+)=(.*)$"
  if not name and #rest > 1 then name, value = rest[#rest - 1]:match "^%-%-?([^=]+)$", text end
  local row = name and options.find(declared, name)
  if row and row[2] ~= "flag" then
    local before = value == text and "" or text:sub(1, #text - #value)
    return complete_value(row[1], row, before, value, line)
  elseif text:find "^%-" then
    return complete_option(declared, text)
  elseif of_names[words[at]] then
    return complete_first({ text }, nil, tools, host)
  end
  return {}
end
