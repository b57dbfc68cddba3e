-- Words that may stand at the end of a command line: for the completion of shells.

local core = require "perflua.core"
local events = require "perflua.recording.events"
local fmt = require "perflua.text.fmt"
local library = require "perflua.meta.library"
local options = require "perflua.options"
local perflua = require "perflua"
local suggest = require "perflua.errors.suggest"

local SAMPLE <const> = 9

-- The interpreter's own options; true: the next word is their value.
local own_options = {
  ["-e"] = true, ["-f"] = true, ["-p"] = true, ["-l"] = true, ["-j"] = true,
  ["-i"] = false, ["-v"] = false, ["-W"] = false, ["-E"] = false, ["--"] = false,
  ["--quiet"] = false, ["--help"] = false, ["--version"] = false,
}

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

-- Appends the names of the fields of samples: of a recording, or all that there are.
local function add_fields(names, file)
  if not file then
    local all = suggest.names(core.field_names())
    return table.move(all, 1, #all, #names + 1, names)
  end
  for _, name in ipairs { "comm", "event", "elapsed" } do names[#names + 1] = name end
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

-- Appends the names that begin with a text, each once, after what is before it.
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

-- Returns what an option's value may be, or a part of it: names, and whether they are fields,
-- which may stand in an expression.
local function names_of_value(row, line)
  if row[2] == "choice" then return row.choices end
  local names = row.values and table.move(row.values, 1, #row.values, 1, {}) or {}
  if row.value and row.value:find "^[%l-]+|[%l|-]+$" then
    for choice in row.value:gmatch "[^|]+" do names[#names + 1] = choice end
  end
  local is_event = row[1] == "event" or row[2] == "event"
  if not is_event and not row.fields then return names end
  local file <close> = open_recording(line)
  if is_event then return file and events.names(file.events) or names end
  return add_fields(names, file), true
end

-- Completes the value of an option: the last part of a list or expression.
local function complete_value(row, before, text, line)
  local names, are_fields = names_of_value(row, line)
  local head, last = text:match(are_fields and "^(.*[^%w_.])([%w_.]*)$" or "^(.*,)([^,]*)$")
  return add_matching({}, names, before .. (head or ""), last or text)
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
  if option then
    return complete_value({ option, fields = option == "-f" or option == "-p" }, "", text, line)
  end
  local names = {}
  if text:find "^%-" then
    for name in pairs(own_options) do names[#names + 1] = name end
  elseif not text:find "[/.]" then
    names = tools.names()
    local scripts = library.names(host)
    table.move(scripts, 1, #scripts, #names + 1, names)
  end
  return add_matching({}, names, "", text)
end

-- Returns the options of the tool or script that a word names; nil if it declares none. Of a
-- tool returns also what completes its operands, if it has that.
local function declared_by(word, tools)
  local tool = not word:find "[/.]" and tools.find(word)
  if tool then return tools.declared(tool), tool.completes end
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
  local declared, completes = declared_by(words[at], tools)
  if not declared then return {} end
  local rest = table.move(words, at + 1, #words, 1, {})
  local name, value = text:match "^%-%-([^=]+)=(.*)$"
  if not name and #rest > 1 then name, value = rest[#rest - 1]:match "^%-%-?([^=]+)$", text end
  local row = name and options.find(declared, name)
  if row and row[2] ~= "flag" then
    local before = value == text and "" or text:sub(1, #text - #value)
    return complete_value(row, before, value, line)
  elseif text:find "^%-" then
    return complete_option(declared, text)
  elseif completes then
    return add_matching({}, completes(text, host), "", text)
  end
  return {}
end
