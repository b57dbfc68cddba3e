-- Scripts that are found by their name, and what a script says of itself.
--
-- perflua NAME looks for NAME and NAME.lua in the working directory, then for NAME.lua in the
-- directories of PERFLUA_PATH, and in $XDG_DATA_HOME/perflua, by default
-- ~/.local/share/perflua. With -E only the working directory counts.

local core = require "perflua.core"
local returned = require "perflua.meta.returned"

local library = {}

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
      if name and is_file(path) then list[#list + 1] = { name = name, path = path } end
    end
  end
  return list
end

-- Globals of a script that is only asked for its description: nothing that reads or writes.
local function make_environment()
  local env = { perflua = require "perflua", arg = {} }
  for _, name in ipairs { "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall",
      "rawequal", "rawget", "rawlen", "rawset", "select", "setmetatable", "tonumber",
      "tostring", "type", "xpcall", "coroutine", "math", "string", "table", "utf8" } do
    env[name] = _G[name]
  end
  function env.require(name)
    if name:find "^perflua" then return require(name) end
    error(("no module '%s' here"):format(name))
  end
  return env
end

-- Returns the meta of a script. A script that does not assign to `meta` or `description`
-- outside of comments is not run; one that reads or writes before it returns has none.
local function meta_of(path, source)
  local code = source:gsub("%-%-[^\n]*", "")
  if not code:find "%f[%w_]meta%s*=[^=]" and not code:find "%f[%w_]description%s*=[^=]" then
    return nil
  end
  local chunk = loadfile(path, "t", make_environment())
  local ok, value, second = pcall(chunk or error)
  return ok and returned.meta(value, second) or nil
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

---Reads what a script says of itself.
---@param path string
---@return table? meta, string? comment # nil and what is wrong if it cannot be read; else meta
--- is {} without one
function library.read(path)
  local file <close>, message = io.open(path)
  if not file then return nil, message end
  local source = file:read "a"
  if not source then return nil, path .. ": cannot be read" end
  return meta_of(path, source) or {}, top_comment(source)
end

return library
