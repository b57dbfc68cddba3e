-- Completion at the prompt: globals, methods and fields by the API's description, and inside of
-- strings the events, record types and fields of the open recording.

local api = require "perflua.api"
local core = require "perflua.core"
local events = require "perflua.recording.events"
local recordings = require "perflua.cli.recordings"
local suggest = require "perflua.errors.suggest"
local types = require("perflua.recording").types

local complete = {}

local SAMPLE <const> = 9

-- Classes of the API by what getmetatable() or __name say of their objects.
local classes = {
  ["perflua.file"] = "File", ["perflua.Query"] = "Query", ["perflua.Table"] = "Table",
  ["perflua.record"] = "Record", ["perflua.events"] = "Events",
  ["perflua.event"] = "Event",
}

local known = { Record = true, Event = true }
for _, class in ipairs(api.classes()) do known[class.name] = true end

-- Returns the recording that is open at the prompt, if there is one.
local function open_file()
  local file = rawget(_G, "file")
  if file == nil then file = _G.arg[1] and recordings.file() end
  return file and getmetatable(file) == "perflua.file" and file or nil
end

local function value_of_global(name)
  if name == "file" then return open_file() end
  return rawget(_G, name)
end

local function class_of(value)
  local meta = getmetatable(value)
  if value ~= nil and value == rawget(_G, "perflua") then return "perflua" end
  return classes[type(meta) == "table" and meta.__name or meta]
end

-- Returns the class in a type of the API: "Query|integer" is a Query.
local function class_in(text)
  for name in text:gmatch "%u%w+" do
    if known[name] then return name end
  end
end

local function field_names(file)
  if not file then return suggest.names(core.field_names()) end
  local names, seen = {}, {}
  local function add(name)
    if not seen[name] then names[#names + 1], seen[name] = name, true end
  end
  for _, field in ipairs(core.fields_of(file, SAMPLE)) do add(field.name) end
  for _, name in ipairs { "comm", "event", "elapsed", "wall_time" } do add(name) end
  for i = 1, #file.events do
    for _, field in ipairs(file.events[i].fields or {}) do
      if not field.common then add("args." .. field.name) end
    end
  end
  return names
end

-- Returns the names behind a separator: methods, or fields and functions.
local function members_of(class, separator)
  if class == "Event" then
    local names = {}
    for i, member in ipairs(core.event_members()) do names[i] = member.name end
    return separator == "." and names or {}
  elseif class == "Record" and separator == "." then
    return field_names(open_file())
  end
  local described, names = api.class(class == "Record" and "AnyRecord" or class), {}
  local is_module = described.kind == "module"
  local lists = { separator == "." and described.fields or {},
    (separator == ":" or is_module) and described.methods or {} }
  for _, list in ipairs(lists) do
    for _, row in ipairs(list) do
      if not row.old then names[#names + 1] = row[1] end
    end
  end
  return names
end

-- Takes a call's arguments, or a string or table that stands for them, off the end of a text.
local function strip_arguments(text)
  for _, pattern in ipairs { "^(.-%S)%s*%b()$", "^(.-%S)%s*%b{}$", '^(.-%S)%s*%b""$',
      "^(.-%S)%s*%b''$" } do
    local rest = text:match(pattern)
    if rest and rest:find "[%w_]$" then return rest end
  end
end

-- Splits the chain of names at the end of a text: file:samples():first → a list of
-- { name, called }; nil if there is none.
local function split_chain(text)
  local chain = {}
  while true do
    local rest = strip_arguments(text)
    local head, separator, name = (rest or text):match "^(.-)([.:]?)%s*([%a_][%w_]*)$"
    if not name then return nil end
    table.insert(chain, 1, { name = name, called = rest ~= nil })
    if separator == "" then return chain end
    text = head
  end
end

-- Returns the class of what a chain of names stands for, or its value: a Lua table.
local function resolve(chain)
  local value = value_of_global(chain[1].name)
  local class = class_of(value)
  for i = 2, #chain do
    local step = chain[i]
    if class and class ~= "Record" and class ~= "Event" then
      local row = api.members(class)[step.name]
      local returned = row and row.returns and row.returns[1] and row.returns[1][1]
      local text = step.called and (returned or "") or row and not row.returns and row[2]
      class, value = text and class_in(text), nil
      if not class then return nil end
    elseif type(value) == "table" and not step.called then
      value = rawget(value, step.name)
      class = class_of(value)
    else
      return nil
    end
  end
  return class, value
end

-- Returns the text of a string that is not closed, and what is before it.
local function find_open_string(line)
  local quote, from
  local at = 1
  while at <= #line do
    local c = line:sub(at, at)
    if c == "\\" and quote then
      at = at + 1
    elseif c == quote then
      quote = nil
    elseif not quote and (c == '"' or c == "'") then
      quote, from = c, at
    end
    at = at + 1
  end
  if quote then return line:sub(from + 1), line:sub(1, from - 1) end
end

-- Returns the names that may stand in a string behind this text; nil: those of files.
local function names_in_string(before)
  local file = open_file()
  local word = before:match "([%w_]+)%s*[%({]*%s*$" or before:match "([%w_]+)%s*=%s*{?%s*$"
  if word == "open" or word == "load" or word == "save" then return nil end
  local is_event = word == "samples" or word == "event" or word == "open" or word == "close"
    or before:find "events%s*%[%s*$"
  if is_event then return file and events.names(file.events) or {} end
  if word == "records" or word == "type" then return suggest.names(types()) end
  return field_names(file)
end

local function add_matching(list, before, partial, names)
  for _, name in ipairs(names) do
    if type(name) == "string" and name:sub(1, #partial) == partial then
      list[#list + 1] = before .. name
    end
  end
  table.sort(list)
  return list
end

local function names_of_table(value)
  local names = {}
  for name in pairs(value) do
    if type(name) == "string" and name:find "^[%a_][%w_]*$" then names[#names + 1] = name end
  end
  return names
end

---Completes the last word of a line.
---@param line string up to the cursor
---@param word string its last word, as the terminal library sees it
---@return string[]? # what may stand for the word; nil: files
function complete.candidates(line, word)
  local inside, before_string = find_open_string(line)
  if inside then
    local names = names_in_string(before_string)
    return names and add_matching({}, "", word, names)
  end
  local text, separator, partial = line:match "^(.-)([.:])([%a_]?[%w_]*)$"
  local before = word:sub(1, #word - #(partial or ""))
  local chain = text and not text:find "[.:]$" and split_chain(text)
  if chain then
    local class, value = resolve(chain)
    if class then
      return add_matching({}, before, partial, members_of(class, separator))
    elseif type(value) == "table" and separator == "." then
      return add_matching({}, before, partial, names_of_table(value))
    end
    return {}
  end
  partial = line:match "[%a_][%w_]*$" or ""
  local names = names_of_table(_G)
  if rawget(_G, "file") == nil then names[#names + 1] = "file" end
  return add_matching({}, word:sub(1, #word - #partial), partial, names)
end

return complete
