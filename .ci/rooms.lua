-- rooms.lua FILE...: does each C file include only what its room may know?

-- What is above may enter what is below, through the door of the same name.
local below = {
  perfdata = {},
  symbols = {},
  trace = { perfdata = true },
  machine = { perfdata = true, symbols = true, trace = true },
  query = { perfdata = true, symbols = true, machine = true },
  script = { perfdata = true, symbols = true, machine = true },
  binding = { perfdata = true, symbols = true, trace = true, machine = true, query = true, script = true },
}
local knows_lua = { binding = true, [""] = true }
local lua_headers = { ["lua.h"] = true, ["lauxlib.h"] = true, ["lualib.h"] = true, ["luaconf.h"] = true }

local function room_of(path)
  return path:match("^src/(%w+)/[^/]+$") or ""
end

-- The file that `#include "name"` in a file of this room means: beside it, else from src/.
local function resolve(room, name)
  local path = name:gsub("^%.%./", "")
  if path:find("/", 1, true) then
    return "src/" .. path
  end
  return ("src/%s/%s"):format(room, path):gsub("//", "/")
end

local function complaint(path, name, quoted)
  local room = room_of(path)
  if lua_headers[name] and not knows_lua[room] then
    return "only src/binding and src/perflua.c know Lua"
  elseif not quoted then
    return nil
  end
  local other = room_of(resolve(room, name))
  if other == room then
    return nil
  elseif not (below[room] or {})[other] then
    return ("src/%s knows nothing of src/%s"):format(room, other)
  elseif not name:find("%f[%w]" .. other .. "%.h$") then
    return ("src/%s is entered through %s.h"):format(other, other)
  end
end

local failed = false
for _, path in ipairs(arg) do
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    local open, name = line:match("^%s*#%s*include%s*([<\"])([^>\"]+)")
    local message = name and complaint(path, name, open == "\"")
    if message then
      failed = true
      print(("%s:%d: includes %s: %s"):format(path, number, name, message))
    end
  end
end
os.exit(not failed)
