-- Options of scripts and tools: a declaration, and the words of a command line as its values.
--
-- A declaration is a list of rows { NAME, TYPE, help =, default =, value =, choices =, many =,
-- positional = }: see the class Option in lua/perflua/api/script.lua. NAME is without dashes;
-- one of a single letter is written with one dash.

local api = require "perflua.api"
local duration = require "perflua.text.duration"
local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error

local options = {}

-- By type: what stands for a value in help; and a function of a text, which returns its value,
-- or nil and what the text is not.
local types = {
  flag = { value = "" },
  string = { value = "TEXT", convert = function(text) return text end },
  event = { value = "EVENT", convert = function(text) return text end },
  choice = { value = "" },
  number = { value = "NUMBER", convert = function(text)
    local value = tonumber(text)
    if value and value == value and math.abs(value) < math.huge then return value end
    return nil, "is not a number"
  end },
  integer = { value = "N", convert = function(text)
    local value = math.tointeger(tonumber(text))
    if value then return value end
    return nil, "is not an integer"
  end },
  time = { value = "TIME", convert = function(text)
    local value = math.tointeger(tonumber(text)) or duration.nanoseconds(text)
    if value then return value end
    return nil, "is not a length of time such as 1.5s, 20ms, 3us or 4ns"
  end },
}

local function check_choices(where, row)
  if type(row.choices) ~= "table" or #row.choices == 0 then
    usage_error("%s: a choice needs choices = { … }", where)
  end
  for _, choice in ipairs(row.choices) do
    if type(choice) ~= "string" then usage_error("%s: choices are strings", where) end
  end
end

local function check_default(where, row)
  local value, kind = row.default, row[2]
  if value == nil then return end
  local is_right = kind == "flag" and type(value) == "boolean"
    or kind == "number" and type(value) == "number"
    or (kind == "integer" or kind == "time") and math.type(value) == "integer"
    or (kind == "string" or kind == "event" or kind == "choice") and type(value) == "string"
  if row.many or row.positional then
    usage_error("%s: an option that is %s has no default", where, row.many and "many"
      or "positional")
  elseif not is_right then
    usage_error("%s: the default is a %s, the type is %s", where, type(value), kind)
  end
end

-- Raises if a row of a declaration is wrong.
local function check_row(i, row)
  local where = ("options[%d]"):format(i)
  if type(row) ~= "table" then
    usage_error("%s: a table expected, got a %s", where, type(row))
  elseif type(row[1]) ~= "string" or not row[1]:find "^%a[%w_-]*$" or row[1] == "help" then
    usage_error("%s: a name of letters, digits and dashes expected, got '%s'", where,
      tostring(row[1]))
  end
  where = ("option '%s'"):format(row[1])
  if not types[row[2]] then
    usage_error(suggest.message(("%s: unknown type '%s'"):format(where, tostring(row[2])),
      tostring(row[2]), suggest.names(types)))
  end
  for key in pairs(row) do
    if key ~= 1 and key ~= 2 and not api.members("Option")[key] then
      usage_error(suggest.message(("%s: unknown key '%s'"):format(where, tostring(key)),
        tostring(key), api.names "Option"))
    end
  end
  if row[2] == "choice" then check_choices(where, row) end
  if row[2] == "flag" and row.positional then
    usage_error("%s: a flag cannot be positional", where)
  end
  check_default(where, row)
end

-- The name by which a word finds its option: "min_period" and "min-period" are the same.
local function key_of(name) return (name:gsub("_", "-")) end

---Checks a declaration; what is wrong with it raises.
---@param list table[] rows
---@param aliases table<string, string>? other spellings of names, where these are declared
---@param refused table<string, string>? names that are no options, and why
---@return table # for the other functions
function options.declare(list, aliases, refused)
  if type(list) ~= "table" then
    usage_error("options: a list of options expected, got a %s", type(list))
  end
  local declared = { named = {}, by_key = {}, positional = {}, aliases = aliases or {},
    refused = refused or {} }
  for i, row in ipairs(list) do
    check_row(i, row)
    if declared.by_key[key_of(row[1])] then
      usage_error("option '%s' is declared twice", row[1])
    end
    declared.by_key[key_of(row[1])] = row
    table.insert(row.positional and declared.positional or declared.named, row)
  end
  for key in pairs(list) do
    if math.type(key) ~= "integer" then
      usage_error("options: a list of options expected, found the key '%s'", tostring(key))
    end
  end
  return declared
end

-- Returns how an option is written.
local function spell(name) return (#name == 1 and "-" or "--") .. name end

---Finds the option that a name stands for.
---@param declared table
---@param name string without dashes
---@return table? row, string[]? candidates nil and the names that begin so
local function find_row(declared, name)
  local key, found = key_of(name), {}
  local row = declared.by_key[key] or declared.by_key[declared.aliases[key] or ""]
  if row and not row.positional then return row end
  for _, one in ipairs(#key > 1 and declared.named or {}) do
    if #one[1] > 1 and key_of(one[1]):sub(1, #key) == key then found[#found + 1] = one[1] end
  end
  table.sort(found)
  if #found == 1 then return declared.by_key[key_of(found[1])] end
  return nil, found
end

options.find = find_row

-- Returns what is wrong with an option that find_row does not know.
local function unknown_option(declared, word, name, candidates)
  local why = declared.refused[name]
  if why then return ("no option '%s': %s"):format(word, why) end
  if #candidates > 1 then
    return ("option '%s' is ambiguous: --%s"):format(word, table.concat(candidates, ", --"))
  end
  local long = {}
  for _, row in ipairs(declared.named) do
    if #row[1] > 1 then long[#long + 1] = row[1] end
  end
  local closest = #name > 1 and suggest.closest(name, long)
  return ("unrecognized option '%s'%s"):format(word, closest
    and ("; the closest is '--%s'"):format(closest) or "")
end

-- Parses an option as it was written: its name, and a value joined to it.
local function split_word(word)
  local name, value = word:match "^%-%-([^=]+)=(.*)$"
  if name then return name, value end
  name = word:match "^%-%-(..+)$"
  if name then return name end
  name, value = word:match "^%-([^-])(.*)$"
  return name or word, value ~= "" and value or nil
end

-- Returns the value of a text; or nil and what is wrong with it.
local function convert(row, text)
  local value, message
  if row[2] == "choice" then
    for _, choice in ipairs(row.choices) do
      if choice == text then return text end
    end
    message = ("is none of %s"):format(table.concat(row.choices, ", "))
  else
    value, message = types[row[2]].convert(text)
  end
  if value ~= nil then return value end
  return nil, ("%s: '%s' %s"):format(row.positional and row[1] or spell(row[1]), text, message)
end

-- Returns what stands for an option's value in help.
local function value_name(row)
  if row.value then return row.value end
  if row[2] == "choice" then return table.concat(row.choices, "|") end
  return row.positional and row[1]:upper() or types[row[2]].value
end

-- Adds the option at words[i] to the values. Returns the place behind it; or nil and what is
-- wrong.
local function parse_option(declared, words, i, values)
  local word = words[i]
  local written, text = split_word(word)
  local row, candidates = find_row(declared, written)
  if not row then return nil, unknown_option(declared, word, written, candidates) end
  if row[2] == "flag" then
    if text then return nil, unknown_option(declared, word, written, {}) end
    values[row[1]] = true
    return i + 1
  end
  if not text then
    i = i + 1
    text = words[i]
    if not text then return nil, ("option '%s' needs %s"):format(word, value_name(row)) end
  end
  local value, message = convert(row, text)
  if value == nil then return nil, message end
  if row.many then
    values[row[1]] = values[row[1]] or {}
    table.insert(values[row[1]], value)
  else
    values[row[1]] = value
  end
  return i + 1
end

---Sorts words into values and operands. Nothing is added for options that are not there.
---@param declared table from declare()
---@param words string[]
---@return table<string, any>? values by name, string[]|string operands; or nil and what is
--- wrong
function options.parse(declared, words)
  local values, operands, i, only_operands = {}, {}, 1, false
  while words[i] do
    local word = words[i]
    if only_operands or not word:find "^%-." then
      operands[#operands + 1] = word
      i = i + 1
    elseif word == "--" then
      i, only_operands = i + 1, true
    else
      local message
      i, message = parse_option(declared, words, i, values)
      if not i then return nil, message end
    end
  end
  return values, operands
end

---@param declared table
---@return table<string, any> # values of a script whose command line has no options
function options.defaults(declared)
  local values = {}
  for _, row in ipairs(declared.named) do
    if row.many then
      values[row[1]] = {}
    elseif row[2] == "flag" then
      values[row[1]] = row.default or false
    else
      values[row[1]] = row.default
    end
  end
  return values
end

---Parses the words of a script: options and positional ones, with defaults.
---@param declared table
---@param words string[]
---@return table<string, any>? values by name, string[]|string rest the other operands; or nil
--- and what is wrong
function options.of_script(declared, words)
  local given, operands = options.parse(declared, words)
  if not given then return nil, operands end
  local values = options.defaults(declared)
  for name, value in pairs(given) do values[name] = value end
  for i, row in ipairs(declared.positional) do
    if not operands[i] then
      return nil, ("the argument %s is missing"):format(value_name(row))
    end
    local value, message = convert(row, operands[i])
    if value == nil then return nil, message end
    values[row[1]] = value
  end
  return values, table.move(operands, #declared.positional + 1, #operands, 1, {})
end

---@param words string[]
---@param declared table
---@return boolean # true if they ask for help
function options.ask_help(declared, words)
  for _, word in ipairs(words) do
    if word == "--" then return false end
    if word == "--help" or word == "-h" and not find_row(declared, "h") then return true end
  end
  return false
end

---@param rows string[][] an option as it is written, and its help
---@return string # a line for each
function options.columns(rows)
  local width, lines = 10, {}
  for _, row in ipairs(rows) do width = math.max(width, utf8.len(row[1])) end
  for i, row in ipairs(rows) do
    lines[i] = ("  %s%s  %s\n"):format(row[1], (" "):rep(width - utf8.len(row[1])), row[2])
  end
  return table.concat(lines)
end

---@param row table
---@param letter string? another spelling
---@return string # the option as help shows it
function options.spelled(row, letter)
  local value = value_name(row)
  return (letter and ("-%s, "):format(letter) or "") .. spell(row[1])
    .. (value ~= "" and " " .. value or "")
end

local function help_of(row)
  local text = row.help or ""
  if row.default == nil or row.default == false then return text end
  return ("%s%sdefault: %s"):format(text, text ~= "" and "; " or "", tostring(row.default))
end

---@param declared table
---@param name string of the script
---@return string # "usage: perflua script.lua [options] SYMBOL [perf.data…]"
function options.usage(declared, name)
  local words = { "usage: perflua", name }
  if #declared.named > 0 then words[#words + 1] = "[options]" end
  for _, row in ipairs(declared.positional) do words[#words + 1] = value_name(row) end
  return table.concat(words, " ") .. " [perf.data…]\n"
end

---@param declared table
---@return string # a line for each option, those that are positional first; "" without options
function options.help(declared)
  local rows = {}
  for _, row in ipairs(declared.positional) do
    rows[#rows + 1] = { value_name(row), help_of(row) }
  end
  for _, row in ipairs(declared.named) do
    rows[#rows + 1] = { options.spelled(row), help_of(row) }
  end
  return options.columns(rows)
end

---@param declared table
---@param values table<string, any>
---@return fun(): string?, string? # iterates over the options that name events: as they are
--- written, and an event
function options.events(declared, values)
  return coroutine.wrap(function()
    for _, row in pairs(declared.by_key) do
      local value = values[row[1]]
      if row[2] == "event" and value ~= nil then
        for _, name in ipairs(row.many and value or { value }) do
          coroutine.yield(row.positional and row[1] or spell(row[1]), name)
        end
      end
    end
  end)
end

-- The error object that ends a script whose command line is wrong, or asks for help.
local Ending = { __name = "perflua.Ending" }
function Ending:__tostring() return self.text end

---Ends a script early: raises what the interpreter takes for the end, not for an error of the
---script. In other hosts it is an error with this text.
---@param text string
---@param is_help boolean?
function options.stop(text, is_help)
  error(setmetatable({ text = text, is_help = is_help }, Ending), 0)
end

---@param raised any
---@return table? # { text, is_help } if stop() raised it
function options.ending(raised)
  return getmetatable(raised) == Ending and raised or nil
end

---Parses the words of a script, or ends it: because they are wrong, or ask for help.
---@param declared table
---@param words string[] with the script's name at 0
---@param help string? the help; default: the usage and the options
---@return table<string, any> values, string[] rest
function options.read(declared, words, help)
  local name = words[0] or "script.lua"
  local usage = options.usage(declared, name)
  if options.ask_help(declared, words) then
    local list = options.help(declared)
    options.stop(help or usage .. (list ~= "" and "\n" .. list or ""), true)
  end
  local values, rest = options.of_script(declared, words)
  if values then return values, rest end
  return options.stop(("%s: %s\n%s"):format(name, rest, usage))
end

return options
