-- Options of scripts and tools: a declaration, and the words of a command line as its values.
--
-- A declaration is a list of rows { NAME, TYPE, help =, default =, value =, choices =, many =,
-- positional = }: see the class Option in lua/perflua/api/script.lua. NAME is without dashes;
-- one of a single letter is written with one dash.

local declaration = require "perflua.options.declaration"
local fmt = require "perflua.text.fmt"
local suggest = require "perflua.errors.suggest"

---@param rows string[][] an option as it is written, and its help
---@return string # a line for each
local function columns(rows)
  local width, names, lines = 10, {}, {}
  for i, row in ipairs(rows) do
    names[i] = fmt.escape(row[1])
    width = math.max(width, utf8.len(names[i]))
  end
  for i, row in ipairs(rows) do
    lines[i] = ("  %s%s  %s\n"):format(names[i], (" "):rep(width - utf8.len(names[i])),
      fmt.escape(row[2]))
  end
  return table.concat(lines)
end

---@param row table
---@param letter string? another spelling
---@return string # the option as help shows it
local function spelled(row, letter)
  local value = declaration.value_name(row)
  if row[2] == "flag" and row.choices then
    return ("%s[=%s]"):format(declaration.spell(row[1]), table.concat(row.choices, "|"))
  end
  return (letter and ("-%s, "):format(letter) or "") .. declaration.spell(row[1])
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
local function usage_of(declared, name)
  local words = { "usage: perflua", name }
  if #declared.named > 0 then words[#words + 1] = "[options]" end
  for _, row in ipairs(declared.positional) do
    words[#words + 1] = declaration.value_name(row)
  end
  return fmt.escape(table.concat(words, " ")) .. " [perf.data…]\n"
end

---@param declared table
---@return string # a line for each option, those that are positional first; "" without options
local function help_on(declared)
  local rows = {}
  for _, row in ipairs(declared.positional) do
    rows[#rows + 1] = { declaration.value_name(row), help_of(row) }
  end
  for _, row in ipairs(declared.named) do
    rows[#rows + 1] = { spelled(row), help_of(row) }
  end
  return columns(rows)
end

local convert, find_row, spell, value_name = declaration.convert, declaration.find,
  declaration.spell, declaration.value_name

local options = { declare = declaration.declare, find = find_row, columns = columns,
  spelled = spelled, usage = usage_of, help = help_on }

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

-- Adds the option at words[i] to the values. Returns the place after it; or nil and what is
-- wrong.
local function parse_option(declared, words, i, values)
  local word = words[i]
  local written, text = split_word(word)
  local row, candidates = find_row(declared, written)
  if not row then return nil, unknown_option(declared, word, written, candidates) end
  if row[2] == "flag" then
    if text and not row.choices then
      return nil, unknown_option(declared, word, written, {})
    end
    local value, message = true, nil
    if text then value, message = convert(row, text) end
    values[row[1]] = value
    return value and i + 1 or nil, message
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
---@param text string? the help; default: the usage and the options
---@return table<string, any> values, string[] rest
function options.read(declared, words, text)
  local name = words[0] or "script.lua"
  local usage = options.usage(declared, name)
  if options.ask_help(declared, words) then
    local list = options.help(declared)
    options.stop(text or usage .. (list ~= "" and "\n" .. list or ""), true)
  end
  local values, rest = options.of_script(declared, words)
  if values then return values, rest end
  return options.stop(("%s: %s\n%s"):format(name, rest, usage))
end

return options
