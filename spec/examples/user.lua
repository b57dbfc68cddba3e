-- A user's shell: `perflua` is the interpreter under test, `lua5.4` finds the module, the
-- recordings are those of `make demo`.
local demo = require "spec.support.demo"
local files = require "spec.support.files"

local user = {}

local function absolute(path)
  return path:find("^/") and path or files.output("pwd"):gsub("\n$", "/") .. path
end

local binary = absolute(os.getenv "PERFLUA" or "build/perflua")
local lua = os.getenv "PERFLUA_LUA" or "lua5.4"
local root = absolute("")

-- Settings of make test, for busted by hand.
local lua_path = os.getenv "LUA_PATH" or ("%slua/?.lua;%slua/?/init.lua;;"):format(root, root)
local lua_cpath = os.getenv "LUA_CPATH" or root .. "build/lib/?.so;;"

local prelude = ([[
perflua() { %s "$@"; }
export LUA_PATH=%s LUA_CPATH=%s
]]):format(files.quote(binary), files.quote(lua_path), files.quote(lua_cpath))

---Returns the output of a shell command, errors included, when it is run in the project's
---directory.
function user.run(command)
  command = command:gsub("%f[^\n\0]lua5%.4%f[%s]", function() return lua end)
  return files.output(("{ %s%s\n} 2>&1"):format(prelude, command))
end

---Returns the output of a shell command in a new directory that has what `make demo` leaves in
---build/demo, and these files.
function user.run_beside_recording(command, scripts)
  local lines = {
    "dir=$(mktemp -d) && trap 'rm -rf \"$dir\"' EXIT && cd \"$dir\" || exit 1",
  }
  for name, path in pairs(demo.recordings()) do
    table.insert(lines, ("cp -r %s %s"):format(files.quote(absolute(path)), name))
  end
  for name, path in pairs(scripts or {}) do
    table.insert(lines, ("cp %s %s"):format(files.quote(absolute(path)), files.quote(name)))
  end
  table.insert(lines, command)
  return user.run(table.concat(lines, "\n"))
end

return user
