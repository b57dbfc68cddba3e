-- Scripts that are found by their name, and what a script says of itself.
--
-- perflua NAME looks for NAME and NAME.lua in the working directory, then for NAME.lua in the
-- directories of PERFLUA_PATH, and in $XDG_DATA_HOME/perflua, by default
-- ~/.local/share/perflua. With -E only the working directory counts.

local constants = require "perflua.meta.constants"
local core = require "perflua.core"

local library = {}

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
  local meta, message, line = constants(source)
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
