-- Uses the value that a script returns: runs a table of handlers over its recordings, shows a
-- result, calls a function, which returns one of these.

local interrupted = require "perflua.table.interrupted"
local perflua = require "perflua"
local spec_of = require("perflua.core").query_spec

local returned = {}

local function class_of(value)
  local meta = getmetatable(value)
  return type(meta) == "table" and meta.__name or nil
end

---@param value any
---@return boolean
function returned.is_handlers(value)
  return type(value) == "table" and getmetatable(value) == nil
end

-- Keys of handlers whose values are neither functions nor lists that end with one.
local settings = { interval_ms = true, interval_clock = true, meta = true }

---@param value table that may be handlers, or values which a script found
---@return boolean # something in it is not a handler
function returned.is_list_of_values(value)
  for key, item in pairs(value) do
    local last = type(item) == "table" and item[#item] or item
    if not settings[key] and type(last) ~= "function" then return true end
  end
  return next(value) == nil
end

---Returns the `meta` of a script: that of its handlers, or its second return value.
---@param value any the first value that the script returned
---@param second any the second one
---@return table? meta
function returned.meta(value, second)
  local meta = second
  if returned.is_handlers(value) then meta = value.meta end
  return type(meta) == "table" and getmetatable(meta) == nil and meta or nil
end

local EXPECTED =
  "expected a table of handlers, a grouped query, a Table or a function of a File"

-- Describes a value: "the number 5", "a string", "a perflua.File".
local function describe_value(value)
  local kind = type(value)
  if kind == "number" or kind == "boolean" then
    return ("the %s %s"):format(kind, tostring(value))
  end
  return "a " .. (class_of(value) or kind == "userdata" and tostring(getmetatable(value))
    or kind)
end

-- Returns false if this process, and those that it started, have written nothing yet.
local function has_written()
  io.stdout:flush()
  local counts <close> = io.open "/proc/self/io"
  return not counts or counts:read "a":match "wchar: (%d+)" ~= "0"
end

-- Uses the value that the function returns for the recordings. It returns nil if it wrote its
-- result itself, nil and a message if it failed, and true if there is nothing to show.
local function made_by(fn, open, meta, values)
  local file <close>, message = open(meta)
  if not file then return nil, message end
  local value, why = fn(file, values)
  if value == nil and type(why) == "string" then return nil, why end
  if value == nil and not (has_written() or interrupted.now()) then
    return nil, "the script's function returned nothing and wrote nothing; expected a grouped "
      .. "query or a Table, or true if there is nothing to show"
  end
  if value == nil or value == true then return nil end
  if type(value) == "function" then
    return nil, "the script's function returned a function; expected a grouped query or a Table"
  end
  local made
  made, message = returned.table(value, open, nil, values)
  return made, message or not made
    and ("the script's function returned %s; expected a grouped query or a Table"):format(
      describe_value(value)) or nil
end

---Returns why the value of a script cannot be used.
---@param value any for which returned.table() returned nil
---@return string? # nil: it is fine
function returned.useless(value)
  if value == nil or type(value) == "function" then return nil end
  return ("the script returned %s; %s"):format(describe_value(value), EXPECTED)
end

---Returns the Table that a script's value is or makes.
---@param value any a Table, a grouped Query, or a function of a File that returns one of these
---@param open fun(meta: table): perflua.File?, string? opens the recordings the script was
--- given, for this meta
---@param meta? table what the script needs: see perflua.meta.needs
---@return perflua.Table? table, string? message # nil alone: the value is none of these
---@param values? table<string, any> of the script's options; default: their defaults
function returned.table(value, open, meta, values)
  meta = meta or {}
  if not values then
    local options = require "perflua.options" -- loaded when it is asked for
    values = options.defaults(options.declare(meta.options or {}))
  end
  perflua.options = values
  if type(value) == "function" then return made_by(value, open, meta, values) end
  -- what few values need is loaded for them
  if require("perflua.table").is(value) then return value end
  if class_of(value) ~= "perflua.Query" then return nil end
  if not spec_of(value).keys then
    return nil,
      "the script returned a query without groups: end it with group_by(…) and measures"
  end
  local lacking = require("perflua.meta.needs").check(spec_of(value).file, meta)
  if lacking then return nil, lacking end
  return value:table()
end

return returned
