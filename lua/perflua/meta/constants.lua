-- Finds the meta of a script in its text, so that no script is run to describe it.
--
-- A meta is a table that is assigned to `meta`, or is the last value that the script returns,
-- and has a key of a meta. It is read if it consists of constants: strings, numbers, operators
-- and tables. Without names and parentheses nothing in it can be called or indexed, so its
-- evaluation neither reads nor writes, and its time depends on the length of the text alone.

local api = require "perflua.api"
local strip_position = require("perflua.errors").strip_position

-- Names that may stand for a value or between values.
local WORDS <const> = { ["true"] = true, ["false"] = true, ["nil"] = true, ["and"] = true,
  ["or"] = true, ["not"] = true }

local DEEPEST <const> = 100 -- tables in one another; Lua has no more than 200

-- Tokens are names, single characters, and these two.
local CONSTANT <const>, COMPARISON <const> = "0", "=="

-- Raises what is wrong with the text, for read().
local function refuse(at, message, ...)
  error({ at = at, message = message:format(...) }, 0)
end

-- Returns the position after blanks, comments and the attribute of a local variable.
local function skip_blank(text, at)
  while true do
    at = text:match("^%s*()", at)
    local after = text:match("^<const>()", at)
    if not after then
      if text:sub(at, at + 1) ~= "--" then return at end
      local level, _ = text:match("^%-%-%[(=*)%[", at), nil
      _, after = text:find(level and "]" .. level .. "]" or "[\r\n]", at, level ~= nil)
      if level and not after then refuse(at, "unfinished comment") end
      after = (after or #text) + 1
    end
    at = after
  end
end

-- Returns the position after a string in quotes.
local function skip_quoted(text, from)
  local quote, at = text:sub(from, from), from + 1
  while true do
    at = text:find("[\\\r\n'\"]", at) or #text + 1
    local c = text:sub(at, at)
    if c == quote then
      return at + 1
    elseif c == "\\" then
      at = text:match("^z%s*()", at + 1) or text:match("^\r\n()", at + 1) or at + 2
    elseif c == "'" or c == '"' then
      at = at + 1
    else
      refuse(from, "unfinished string")
    end
  end
end

-- Returns the position after a token, and the token.
local function skip_token(text, at)
  local stop = text:match("^[%a_][%w_]*()", at)
  if stop then return stop, text:sub(at, stop - 1) end
  stop = text:match("^%.?%d[%w_.]*()", at)
  if stop then return stop, CONSTANT end
  if text:find("^['\"]", at) then return skip_quoted(text, at), CONSTANT end
  local level = text:match("^%[(=*)%[", at)
  if level then
    local _, last = text:find("]" .. level .. "]", at, true)
    return (last or refuse(at, "unfinished string")) + 1, CONSTANT
  end
  if text:find("^[=~<>]=", at) then return at + 2, COMPARISON end
  return at + 1, text:sub(at, at)
end

-- Notes of an open table that a token is in it.
local function note_token(inner, text, at, stop, token)
  local is_name = token:find "^[%a_]"
  if is_name and text:find("^=[^=]", skip_blank(text, stop)) then
    inner.has_key = inner.has_key or api.members("Meta")[token] ~= nil
  elseif is_name and not WORDS[token] or token:find "^[():]" then
    inner.wrong = inner.wrong or { at = at, token = token }
  end
end

local function open_table(open, table_at, is_named, is_last)
  if #open == DEEPEST then refuse(table_at, "more than %d tables in one another", DEEPEST) end
  open[#open + 1] = { from = table_at, is_named = is_named, is_last = is_last }
end

-- Returns the innermost table. If it is not a constant, the table around it is not one either.
local function close_table(open, stop)
  local inner = table.remove(open)
  local outer = open[#open]
  inner.stop = stop
  if outer then outer.wrong = outer.wrong or inner.wrong end
  return inner
end

-- Returns the meta, { from, stop, wrong }. wrong: the first { at, token } that is not constant.
local function find_meta(text)
  local open, last, before, earlier = {}, nil, "", ""
  local at = skip_blank(text, 1)
  while at <= #text do
    local stop, token = skip_token(text, at)
    local inner = open[#open]
    if token == "{" then
      open_table(open, at, before == "=" and earlier == "meta", not inner and before == ",")
    elseif token == "}" and inner then
      inner = close_table(open, stop)
      if inner.is_named and inner.has_key then return inner end
      last = inner.is_last and inner.has_key and inner or nil
    elseif inner then
      note_token(inner, text, at, stop, token)
    elseif token ~= ";" then
      last = nil
    end
    earlier, before = before, token
    at = skip_blank(text, stop)
  end
  return last
end

local function evaluate(text, found)
  local code = "return " .. text:sub(found.from, found.stop - 1)
  local chunk, message = load(code, "=meta", "t", {})
  local ok, value = pcall(chunk or error, message)
  return ok and value or refuse(found.from, "%s", strip_position(value))
end

local function read(text)
  local found = find_meta(text)
  if not found then return nil end
  local wrong = found.wrong
  if wrong then refuse(wrong.at, "meta is not made of constants only: '%s'", wrong.token) end
  return evaluate(text, found)
end

---@param text string of a script
---@return table? meta # nil: it has none
---@return string? message # why the meta that it has cannot be read
---@return integer? line # of the text
return function(text)
  text = text:gsub("^#[^\r\n]*", "")
  local ok, result = pcall(read, text)
  if ok then return result end
  if type(result) ~= "table" then error(result, 0) end
  local _, lines = text:sub(1, result.at):gsub("\n", "")
  return nil, result.message, lines + 1
end
