-- Completion at the prompt: globals, methods and fields by the API's description, and inside of
-- strings the events, record types and fields of the open recording.

local chain = require "perflua.cli.chain"
local events = require "perflua.recording.events"
local fmt = require "perflua.text.fmt"
local suggest = require "perflua.errors.suggest"
local types = require("perflua.recording").types

local complete = {}

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
  local file = chain.file()
  local word = before:match "([%w_]+)%s*[%({]*%s*$" or before:match "([%w_]+)%s*=%s*{?%s*$"
  if word == "open" or word == "load" or word == "save" then return nil end
  local is_event = word == "samples" or word == "event" or word == "open" or word == "close"
    or before:find "events%s*%[%s*$"
  if is_event then return file and events.names(file.events) or {}, true end
  if word == "records" or word == "type" then return suggest.names(types()), true end
  return chain.field_names(), not of_expressions[word]
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
    local at = chain.type(text)
    local before = word:sub(1, #word - #partial)
    return add_matching({}, before, partial, at and chain.members(at, separator) or {},
      IDENTIFIER)
  end
  partial = line:match "[%a_][%w_]*$" or ""
  local names = chain.members({ value = _G }, ".")
  if rawget(_G, "file") == nil then names[#names + 1] = "file" end
  return add_matching({}, word:sub(1, #word - #partial), partial, names, IDENTIFIER)
end

return complete
