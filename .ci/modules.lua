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
  { "base", "", "arena map producer vector" },
  { "perfdata/format", "base",
    "attr cursor error event feature feature_decode fields format layout names perf_text print print_scalar record "
    .. "regs rows sample value views" },
  { "perfdata/format/views", "perfdata/format", "" },
  { "perfdata/tracepoint", "base perfdata/format", "tracepoint tracing syscalls" },
  { "perfdata/input", "base perfdata/format", "blocks decompress input" },
  { "perfdata/container", "base perfdata/format perfdata/tracepoint perfdata/input", "file session" },
  { "perfdata/stream", "base perfdata/format perfdata/input perfdata/container", "batches counters reader stamp" },
  { "perfdata/order", "base perfdata/format perfdata/input perfdata/container perfdata/stream", "order pieces walk" },
  { "analysis", "base perfdata/format perfdata/stream perfdata/order", "health stat" },
  { "symbols/elf", "base",
    "beneath build_id demangle elf elf_parts elf_placing file interrupt table text unpack" },
  { "symbols/jit", "base symbols/elf", "jitdump perfmap" },
  { "symbols", "base symbols/elf symbols/jit", "dso find inside memo symbols" },
  { "symbols/lines", "base symbols/elf symbols", "lines" },
  { "trace", "base perfdata/tracepoint", "trace" },
  { "machine",
    "base perfdata/format perfdata/container perfdata/stream perfdata/order symbols symbols/lines trace",
    "machine" },
  { "query/expr", "base perfdata/format perfdata/tracepoint perfdata/order machine",
    "expr fields scope strings value wide" },
  { "query/group", "base perfdata/format query/expr", "group report" },
  { "query/rows", "base query/expr", "rows" },
  { "query", "base perfdata/stream perfdata/order analysis query/expr query/group query/rows", "query" },
  { "script", "base perfdata/format machine", "script" },
  { "binding", "base perfdata/format perfdata/tracepoint analysis trace machine query script", "" },
  { "host", "", "" },
}
local knows_lua = words "binding host"
local lua_headers = words "lua.h lauxlib.h lualib.h luaconf.h"

local rows = {}
for _, row in ipairs(modules) do
  rows[row[1]] = { uses = words(row[2]), public = words(row[3]) }
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
  local other, header = name:match("^(.+)/([^/]+)%.h$")
  if not other or other == module then
    return nil
  elseif not rows[other] then
    return ("include it by its path from src: no module is called %s"):format(other)
  elseif not row.uses[other] then
    return ("src/%s may not use src/%s"):format(module, other)
  elseif not rows[other].public[header] then
    return ("%s.h is internal to src/%s"):format(header, other)
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
