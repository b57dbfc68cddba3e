-- Scripts that are found by their name, and what a script says of itself.
--
-- perflua NAME looks for NAME and NAME.lua in the working directory, then for NAME.lua in the
-- directories of PERFLUA_PATH, and in $XDG_DATA_HOME/perflua, by default
-- ~/.local/share/perflua. With -E only the working directory counts.

local api = require "perflua.api"
local core = require "perflua.core"
local strip_position = require("perflua.errors").strip_position

local library = {}

-- Finds the meta of a script in its text, so that no script is run to describe it.
--
-- A meta is a table that is assigned to `meta`, or is the last value that the script returns,
-- and has a key of a meta. It is read if it consists of constants: strings, numbers, operators
-- and tables. Without names and parentheses nothing in it can be called or indexed, so its
-- evaluation neither reads nor writes, and its time depends on the length of the text alone.

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
function library.constants(text)
  text = text:gsub("^#[^\r\n]*", "")
  local ok, result = pcall(read, text)
  if ok then return result end
  if type(result) ~= "table" then error(result, 0) end
  local _, lines = text:sub(1, result.at):gsub("\n", "")
  return nil, result.message, lines + 1
end

local MOST <const> = 1 << 20 -- bytes that are read of a script to describe it

local function from_environment(name)
  local value = not debug.getregistry().LUA_NOENV and os.getenv(name) or nil
  return value ~= "" and value or nil
end

---@return string[] # the directories of scripts, the working directory first
function library.directories()
  local list = { "." }
  for dir in (from_environment "PERFLUA_PATH" or ""):gmatch "[^:]+" do list[#list + 1] = dir end
  local home = from_environment "HOME"
  local data = from_environment "XDG_DATA_HOME" or home and home .. "/.local/share"
  if data then list[#list + 1] = data .. "/perflua" end
  return list
end

local function is_file(path)
  local kind = core.stat(path)
  return kind == "file" or kind == "stream"
end

---@param name string
---@return string? path
function library.find(name)
  if is_file(name) then return name end
  for _, dir in ipairs(library.directories()) do
    local path = ("%s/%s.lua"):format(dir, name)
    if is_file(path) then return path end
  end
end

---@param host table what src/host/perflua.c gives
---@return { name: string, path: string }[] # all scripts that could be found, in the order in
--- which they are looked for
function library.scripts(host)
  local list = {}
  for _, dir in ipairs(library.directories()) do
    local names = host.list(dir) or {}
    table.sort(names)
    for _, file in ipairs(names) do
      local name, path = file:match "^([^.].*)%.lua$", dir .. "/" .. file
      if name and core.stat(path) == "file" then
        list[#list + 1] = { name = name, path = path }
      end
    end
  end
  return list
end

---@param host table what src/host/perflua.c gives
---@return string[] # the names of those of these scripts that a command line may have
function library.names(host)
  local names = {}
  for _, script in ipairs(library.scripts(host)) do
    if not script.name:find "^%-" then names[#names + 1] = script.name end -- an option's word
  end
  return names
end

-- Returns the comment at the top of a script, without its dashes.
local function top_comment(source)
  local lines = {}
  for line in source:gsub("^#[^\n]*\n", ""):gmatch("([^\n]*)\n?") do
    local text = line:match("^%-%-%s?(.*)")
    if not text then break end
    lines[#lines + 1] = text
  end
  return table.concat(lines, "\n")
end

---Reads what a script says of itself, and runs nothing of it.
---@param path string
---@return table? meta, string? text # nil and what is wrong if it cannot be read; else meta is
--- {} without one, and text the comment at its top
---@return string? message # why it has a meta that cannot be read
function library.read(path)
  local kind, size = core.stat(path)
  if kind and kind ~= "file" then return nil, path .. ": a file with a script expected" end
  local file <close>, wrong = io.open(path)
  if not file then return nil, wrong end
  -- files of the kernel have no size, and may have the reader wait
  local source = size > 0 and file:read(math.min(size, MOST)) or ""
  local meta, message, line = library.constants(source)
  return meta or {}, top_comment(source),
    message and size <= MOST and ("%s:%d: %s"):format(path, line, message) or nil
end

---Describes a script, for `perflua help SCRIPT` and `perflua SCRIPT --help`.
---@param path string of the script
---@param meta table its description
---@return string # for people; raises what is wrong with meta
function library.describe(path, meta)
  -- loaded when they are asked for
  local fmt, options = require "perflua.text.fmt", require "perflua.options"
  local needs = require "perflua.meta.needs"
  local declared = options.declare(meta.options or {})
  local title = meta.description ~= nil and ("%s: %s"):format(path, tostring(meta.description))
  local text = { title and fmt.escape(title) .. "\n" or "", options.usage(declared, path) }
  for _, line in ipairs(needs.lines(meta)) do text[#text + 1] = line .. "\n" end
  local help = options.help(declared)
  if help ~= "" then text[#text + 1] = "\n" .. help end
  return table.concat(text)
end

return library
