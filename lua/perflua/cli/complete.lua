-- Completion at the prompt: globals, methods and fields by the API's description, and inside of
-- strings the events, record types and fields of the open recording. Types of chains of names,
-- such as file:samples():first().callchain[1], follow from the API's description and the core's
-- tables. Nothing is called or read.
--
-- A type is { class }, a class of the API, of a Query with what it is made of (`of`); { view }
-- or { item }, a view of a record or an item of one; { list }, an array of a type; { args },
-- the fields of tracepoints; or { value }, a Lua table.

local api = require "perflua.api"
local core = require "perflua.core"
local events = require "perflua.recording.events"
local fmt = require "perflua.text.fmt"
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

local known = { Record = true, Event = true, Features = true }
for _, class in ipairs(api.classes()) do known[class.name] = true end

-- Steps of a Query after which its items are not records; true: the items have no class.
local items_after = { pair = "Span", within = "Span", select = true, group_by = true,
  unnest = true }

---Returns the recording that is open at the prompt, if there is one.
---@return perflua.File?
local function open_file()
  local file = rawget(_G, "file")
  if file == nil then file = _G.arg[1] and recordings.file() end
  return file and getmetatable(file) == "perflua.file" and file or nil
end

-- Returns the type of a value.
local function type_of(value)
  local meta = getmetatable(value)
  if value ~= nil and value == rawget(_G, "perflua") then return { class = "perflua" } end
  local class = classes[type(meta) == "table" and meta.__name or meta]
  return class and { class = class } or type(value) == "table" and { value = value } or nil
end

-- Returns the type of a description: "Query|integer" is a Query, "Thread[]" a list.
local function type_in(text)
  for name, brackets in text:gmatch "(%u%w+)(%[?%]?)" do
    if known[name] then
      return brackets == "[]" and { list = { class = name } } or { class = name }
    end
  end
end

local function step_of_query(query, step)
  local class = query.of or "Record"
  local item = type(class) == "string" and { class = class } or nil
  if not step.called then return nil end
  if step.name == "first" or step.name == "last" then return item end
  if step.name == "collect" then return item and { list = item } end
  local row = api.members("Query")[step.name]
  local returned = row and row.returns and type_in(row.returns[1][1])
  if returned and returned.class == "Query" then
    returned.of = items_after[step.name] or query.of
  end
  return returned
end

local function field_of_record(name)
  if name == "event" then return { class = "Event" } end
  if name == "args" then return { args = true } end
  for _, fields in ipairs { core.types()[0].fields, core.types()[SAMPLE].fields } do
    for _, field in ipairs(fields) do
      if field.name == name and field.view then return { view = field.view } end
    end
  end
end

local function member_of_class(class, step)
  if class == "Record" then return not step.called and field_of_record(step.name) or nil end
  if class == "Event" or class == "Features" then return nil end
  local row = api.members(class)[step.name]
  local returned = row and row.returns and row.returns[1] and row.returns[1][1]
  local text = step.called and (returned or "") or row and not row.returns and row[2]
  return text and type_in(text)
end

local function indexed(whole)
  if whole.class == "Events" then return { class = "Event" } end
  if whole.view then return { item = whole.view } end
  return whole.list
end

-- Returns the type of what a step leads to.
local function step_from(from, step)
  local to
  if from.value and not step.called then
    to = type_of(rawget(from.value, step.name))
  elseif from.class == "Query" then
    to = step_of_query(from, step)
  elseif from.class then
    to = member_of_class(from.class, step)
  end
  return to and step.indexed and indexed(to) or not step.indexed and to or nil
end

-- Takes what `patterns` match off the end of a text. Returns the rest, or nil.
local function strip(text, patterns)
  for _, pattern in ipairs(patterns) do
    local rest = text:match(pattern)
    if rest and rest:find "[%w_)%]]$" then return rest end
  end
end

local ARGUMENTS <const> = { "^(.-%S)%s*%b()$", "^(.-%S)%s*%b{}$", '^(.-%S)%s*%b""$',
  "^(.-%S)%s*%b''$" }
local INDEX <const> = { "^(.-%S)%s*%b[]$" }

-- Splits the chain of names at the end of a text: a list of { name, called, indexed }; nil if
-- there is none.
local function split(text)
  local steps = {}
  while true do
    local whole = strip(text, INDEX)
    local called = strip(whole or text, ARGUMENTS)
    local head, separator, name =
      (called or whole or text):match "^(.-)([.:]?)%s*([%a_][%w_]*)$"
    if not name then return nil end
    table.insert(steps, 1, { name = name, called = called ~= nil, indexed = whole ~= nil })
    if separator == "" then return steps end
    text = head
  end
end

---@param text string that ends with a chain
---@return table? # its type
local function chain_type(text)
  local steps = split(text)
  if not steps or steps[1].called then return nil end
  local first = steps[1].name
  local at = type_of(first == "file" and open_file() or rawget(_G, first))
  if at and steps[1].indexed then at = indexed(at) end
  for i = 2, #steps do at = at and step_from(at, steps[i]) end
  return at
end

-- Adds the names of rows, or of tables with a name.
local function add_names(names, rows)
  for _, row in ipairs(rows or {}) do names[#names + 1] = row.name or row[1] end
  return names
end

-- Returns the names of the fields of tracepoints.
local function argument_names(file, prefix)
  local names = {}
  for i = 1, file and #file.events or 0 do
    for _, field in ipairs(file.events[i].fields or {}) do
      if not field.common then names[prefix .. field.name] = true end
    end
  end
  return suggest.names(names)
end

---@return string[] # names of the fields of the samples of the recording at the prompt
local function field_names()
  local file, names, seen = open_file(), {}, {}
  if not file then return suggest.names(core.field_names()) end
  local function add(name)
    if not seen[name] then names[#names + 1], seen[name] = name, true end
  end
  for _, field in ipairs(core.fields_of(file, SAMPLE)) do add(field.name) end
  for _, name in ipairs { "comm", "event", "elapsed", "wall_time" } do add(name) end
  for _, name in ipairs(argument_names(file, "args.")) do add(name) end
  return names
end

local function members_of_class(class, separator)
  local is_field = separator == "."
  if class == "Event" then return is_field and add_names({}, core.event_members()) or {} end
  if class == "Features" then return is_field and add_names({}, core.features()) or {} end
  if class == "Record" and is_field then return field_names() end
  local described = api.class(class == "Record" and "AnyRecord" or class)
  local names = add_names({}, is_field and described.fields)
  if not is_field or described.kind == "module" then add_names(names, described.methods) end
  return names
end

---@param at table a type
---@param separator "."|":"
---@return string[] # the names after the separator: fields, or methods
local function chain_members(at, separator)
  if at.class then return members_of_class(at.class, separator) end
  if separator == ":" then return {} end
  if at.args then return argument_names(open_file(), "") end
  if at.view then return add_names({}, core.views()[at.view].members) end
  if at.item then return add_names({}, core.views()[at.item].items) end
  local names = {}
  for name in pairs(at.value or {}) do
    if type(name) == "string" and name:find "^[%a_][%w_]*$" then names[#names + 1] = name end
  end
  return names
end

-- Returns the quote of a string that is not closed, and what is before it.
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
  if quote then return quote, line:sub(1, from - 1) end
end

-- Steps whose strings are expressions, in which a name is only a part.
local of_expressions = { where = true, having = true, column = true, weight = true }

-- Returns the names that may stand in a string after this text; nil: those of files. Returns
-- also whether a name ends the string.
local function names_in_string(before)
  local file = open_file()
  local word = before:match "([%w_]+)%s*[%({]*%s*$" or before:match "([%w_]+)%s*=%s*{?%s*$"
  if word == "open" or word == "load" or word == "save" then return nil end
  local is_event = word == "samples" or word == "event" or word == "open" or word == "close"
    or before:find "events%s*%[%s*$"
  if is_event then return file and events.names(file.events) or {}, true end
  if word == "records" or word == "type" then return suggest.names(types()), true end
  return field_names(), not of_expressions[word]
end

-- Names that are code or special in this place are left out: a recording may have any.
local IDENTIFIER <const>, IN_STRING <const> = "^[%a_][%w_]*$", "^[^%c\"'\\]*$"

local function add_matching(list, before, partial, names, form)
  for _, name in ipairs(names) do
    if type(name) == "string" and name:sub(1, #partial) == partial and name:find(form)
        and fmt.escape(name) == name then
      list[#list + 1] = before .. name
    end
  end
  table.sort(list)
  return list
end

---Completes the last word of a line.
---@param line string up to the cursor
---@param word string its last word, as the terminal library sees it
---@return string[]? # what may stand for the word; nil: files
---@return string? # the quote that follows if there is one such word only
function complete.candidates(line, word)
  local quote, before_string = find_open_string(line)
  if quote then
    local names, is_whole = names_in_string(before_string)
    return names and add_matching({}, "", word, names, IN_STRING), is_whole and quote or nil
  end
  local text, separator, partial = line:match "^(.-)([.:])([%a_]?[%w_]*)$"
  if text and not text:find "[.:]$" then
    local at = chain_type(text)
    local before = word:sub(1, #word - #partial)
    return add_matching({}, before, partial, at and chain_members(at, separator) or {},
      IDENTIFIER)
  end
  partial = line:match "[%a_][%w_]*$" or ""
  local names = chain_members({ value = _G }, ".")
  if rawget(_G, "file") == nil then names[#names + 1] = "file" end
  return add_matching({}, word:sub(1, #word - #partial), partial, names, IDENTIFIER)
end

return complete
