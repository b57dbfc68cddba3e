-- modules.lua FILE...: does each C file include only what its module may know?
--
-- A module is a folder of src. It may include headers of its own, and public headers of the modules named in its
-- row; only src/binding and src/host include Lua.

local function words(text)
  local list = {}
  for word in text:gmatch("%S+") do
    list[word] = true
  end
  return list
end

-- A row: folder, the modules it uses, its public headers.
local modules = {
  { "perfdata/format", "perfdata/format/views perfdata/container perfdata/tracepoint" },
  { "perfdata/format/views", "perfdata/format perfdata/container" },
  { "perfdata/tracepoint", "perfdata/format perfdata/format/views perfdata/container" },
  { "perfdata/input", "perfdata/format" },
  { "perfdata/container", "perfdata/format perfdata/tracepoint perfdata/input perfdata/order" },
  { "perfdata/stream", "perfdata/format perfdata/tracepoint perfdata/input perfdata/container" },
  { "perfdata/order", "perfdata/format perfdata/tracepoint perfdata/input perfdata/container perfdata/stream" },
  { "perfdata", "perfdata/format perfdata/tracepoint perfdata/input perfdata/container perfdata/stream perfdata/order analysis",
    "perfdata.h" },
  { "analysis", "perfdata/format perfdata/stream perfdata/order" },
  { "symbols", "", "symbols.h" },
  { "trace", "perfdata", "trace.h" },
  { "machine", "perfdata symbols trace", "machine.h" },
  { "query", "perfdata symbols machine", "query.h" },
  { "script", "perfdata symbols machine", "script.h" },
  { "binding", "perfdata symbols trace machine query script" },
  { "host", "" },
}
local knows_lua = words "binding host"
local lua_headers = words "lua.h lauxlib.h lualib.h luaconf.h"

local rows = {}
for _, row in ipairs(modules) do
  rows[row[1]] = { uses = words(row[2]), public = row[3] and words(row[3]) }
end

local function complaint(path, name, quoted)
  local module = path:match("^src/(.+)/[^/]+$") or ""
  local row = rows[module]
  if not row then
    return ("src/%s is no module: add a row to .ci/modules.lua"):format(module)
  elseif lua_headers[name] and not knows_lua[module] then
    return "only src/binding and src/host know Lua"
  elseif not quoted then
    return nil
  end
  local other, header = name:match("^(.+)/([^/]+)$")
  if not other or other == module then
    return nil
  elseif not rows[other] then
    return ("include it by its path from src: no module is called %s"):format(other)
  elseif not row.uses[other] then
    return ("src/%s may not use src/%s"):format(module, other)
  elseif rows[other].public and not rows[other].public[header] then
    return ("%s is internal to src/%s"):format(header, other)
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
