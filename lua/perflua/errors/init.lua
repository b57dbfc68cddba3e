-- Errors of the caller, codes of io functions, warnings; and classes whose methods tell what is
-- wrong with a call.
--
-- Names in a message may come from a recording: it is escaped as all that may go to a terminal.

local api = require "perflua.api"
local fmt = require "perflua.text.fmt"
local suggest = require "perflua.errors.suggest"

local errors = {}

local library = debug.getinfo(1, "S").source:match("^(.*)errors/init") or ""

local function is_own(info)
  local source = info.source
  return info.what == "C"
    or source:sub(1, #library) == library and not source:find("^tools/", #library + 1)
end

---Raises with the position of the first function on the stack that is not the library's own, so
---that a message names the script's line whatever depth it was found at.
---@param format string
---@param ... any for string.format; without any the text is taken as it is
local function usage_error(format, ...)
  local message = select("#", ...) > 0 and format:format(...) or format
  local level = 2
  local info = debug.getinfo(level, "S")
  while info and is_own(info) do
    level = level + 1
    info = debug.getinfo(level, "S")
  end
  error(fmt.escape(message), info and level or 0)
end

errors.usage_error = usage_error

local function return_or_raise(ok, first, ...)
  if ok then return first, ... end
  return usage_error("%s", (tostring(first):gsub("^perflua: ", "")))
end

---Calls the core for a script: what the core raises there is the script's error, at the
---script's line.
---@param fn function of the core, in C: called by pcall itself, so that its message names no
--- line
---@param ... any
---@return any ... # what it returns
function errors.guard(fn, ...) return return_or_raise(pcall(fn, ...)) end

---Returns the message of an error without the position in a script, for users of a command
---line, who have no script.
---@param raised any
---@return string # its message
function errors.strip_position(raised) return (tostring(raised):gsub("^[^:\n]+:%d+: ", "")) end

---Says through warn(), as damage is said, what a script should know and that stops nothing.
---@param format string for string.format
---@param ... any names from a recording are escaped
function errors.warning(format, ...) warn("perflua: " .. fmt.escape(format:format(...))) end

-- Numbers that io functions give with their message, as the codes that open() gives.
local codes = {
  [1] = "EPERM", [2] = "ENOENT", [12] = "ENOMEM", [13] = "EACCES", [17] = "EEXIST",
  [20] = "ENOTDIR",
  [21] = "EISDIR", [22] = "EINVAL", [23] = "ENFILE", [24] = "EMFILE", [26] = "ETXTBSY",
  [27] = "EFBIG",
  [28] = "ENOSPC", [30] = "EROFS", [32] = "EPIPE", [36] = "ENAMETOOLONG", [39] = "ENOTEMPTY",
  [40] = "ELOOP", [122] = "EDQUOT",
}

---Takes what an io function returned: nil, message, number become nil, message, code.
function errors.errno(result_of, message, number)
  if result_of or not message then return result_of, message, number end
  return nil, message, codes[number] or "EIO"
end

-- Advice for calls that are easily taken for others.
local advice = {
  count = 'group_by("field"):count() counts by field, distinct("field") counts its values',
  quantile = "several are a list: { 0.5, 0.9 }",
}

local function check_arguments(name, most, ...)
  for i = select("#", ...), most + 1, -1 do
    if select(i, ...) ~= nil then
      local takes = most == 0 and "no argument" or most == 1 and "one argument"
        or ("at most %d arguments"):format(most)
      local hint = advice[name] and "; " .. advice[name] or ""
      usage_error("%s takes %s, got %d%s", name, takes, i, hint)
    end
  end
end

---Wraps the methods of a class, in place, so that they check their object and the number of
---their arguments.
---@param list table<string, function> methods in Lua
---@param metatable any what getmetatable gives of its objects
---@param class string what they are called: "Query"
---@return table<string, function> list
function errors.checked(list, metatable, class)
  for name, method in pairs(list) do
    local info = debug.getinfo(method, "u")
    local most = info.isvararg and math.huge or info.nparams - 1
    list[name] = function(self, ...)
      if getmetatable(self) ~= metatable then
        usage_error("%s: a %s expected, got a %s; use %s:%s(…)", name, class, type(self),
          class:lower(), name)
      end
      if select("#", ...) > most then check_arguments(name, most, ...) end
      return method(self, ...)
    end
  end
  return list
end

-- Names that others have for methods.
local meant = {
  limit = "top", head = "top", take = "top", order_by = "sort", sort_by = "sort",
  filter = "where", foreach = "each", percentile = "quantile", p50 = "quantile",
  p90 = "quantile", p95 = "quantile", p99 = "quantile", median = "quantile", mean = "avg",
}

---Returns the __index of a class: it finds the methods, and raises for names that the API has
---not.
---@param list table<string, function>
---@param class string as the API calls it
---@return fun(self: any, key: any): any
function errors.named(list, class)
  return function(_, key)
    local method = list[key]
    if method ~= nil or api.members(class)[key] then return method end
    local name = tostring(key)
    local message = ("a %s has no method '%s'"):format(class, name)
    if api.members(class)[meant[name]] then
      return usage_error("%s; '%s' does that", message, meant[name])
    end
    return usage_error(suggest.message(message, name, api.names(class)))
  end
end

---Raises if a script gives an option that the API has not, or no table of options.
---@param options any
---@param class string of options, as the API calls it
---@param message string for string.format, with the option's name: "pair: unknown option '%s'"
function errors.check_options(options, class, message)
  if type(options) ~= "table" then
    usage_error("%sa table of options expected, got a %s", message:match "^(.-)unknown option",
      type(options))
  end
  local known = api.members(class)
  for key in pairs(options) do
    if not known[key] then
      local name = tostring(key)
      usage_error(suggest.message(message:format(name), name, api.names(class)))
    end
  end
end

return errors
