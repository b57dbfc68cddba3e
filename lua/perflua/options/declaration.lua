-- Declarations of options: which rows they may have, and what a row says of a word.

local api = require "perflua.api"
local units = require "perflua.text.units"
local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error

local declaration = {}

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
    local value = math.tointeger(tonumber(text)) or units.nanoseconds(text)
    if value then return value end
    return nil, "is not a duration such as 1.5s, 20ms, 3us or 4ns"
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

local function check_texts(where, row)
  for _, key in ipairs { "help", "value" } do
    if row[key] ~= nil and type(row[key]) ~= "string" then
      usage_error("%s: %s is a string, got a %s", where, key, type(row[key]))
    end
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
    usage_error(suggest.among(("%s: unknown type '%s'"):format(where, tostring(row[2])),
      tostring(row[2]), suggest.names(types)))
  end
  for key in pairs(row) do
    if key ~= 1 and key ~= 2 and not api.members("Option")[key] then
      usage_error(suggest.message(("%s: unknown key '%s'"):format(where, tostring(key)),
        tostring(key), api.names "Option"))
    end
  end
  check_texts(where, row)
  if row[2] == "choice" or row[2] == "flag" and row.choices then check_choices(where, row) end
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
---@param refused table<string, string>? names that are not options, and why
---@return table # for the other functions
function declaration.declare(list, aliases, refused)
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

---@param name string without dashes
---@return string # as it is written
function declaration.spell(name) return (#name == 1 and "-" or "--") .. name end

---Finds the option that a name stands for.
---@param declared table
---@param name string without dashes
---@return table? row, string[]? candidates nil and the names that begin so
function declaration.find(declared, name)
  local key, found = key_of(name), {}
  local row = declared.by_key[key] or declared.by_key[declared.aliases[key] or ""]
  if row and not row.positional then return row end
  for _, named in ipairs(#key > 1 and declared.named or {}) do
    local own = named[1]
    if #own > 1 and key_of(own):sub(1, #key) == key then found[#found + 1] = own end
  end
  table.sort(found)
  if #found == 1 then return declared.by_key[key_of(found[1])] end
  return nil, found
end

---@param row table
---@param text string
---@return any value, string? message nil and what is wrong with the text
function declaration.convert(row, text)
  local value, message
  if row[2] == "choice" or row[2] == "flag" then
    for _, choice in ipairs(row.choices) do
      if choice == text then return text end
    end
    message = ("is none of %s"):format(table.concat(row.choices, ", "))
  else
    value, message = types[row[2]].convert(text)
  end
  if value ~= nil then return value end
  local name = row.positional and row[1] or declaration.spell(row[1])
  return nil, ("%s: '%s' %s"):format(name, text, message)
end

---@param row table
---@return string # what stands for its value in help
function declaration.value_name(row)
  if row.value then return row.value end
  if row[2] == "choice" then return table.concat(row.choices, "|") end
  return row.positional and row[1]:upper() or types[row[2]].value
end

return declaration
