-- modules.lua FILE...: checks that each C file includes, and each Lua file requires, only what
-- its module may know, and that no row allows more than is used.
--
-- A module is a folder of src, or of lua/perflua. It may use files of its own, and public ones
-- of the modules named in its row, which for Lua are rows above it; only src/binding and
-- src/host include Lua.

local function words(text)
  local list = {}
  for word in text:gmatch("%S+") do
    list[word] = true
  end
  return list
end

-- A row: folder, the modules it uses, its public headers.
local modules = {
  { "base", "",
    "arena columns cursor hash helpers map pattern producer progress radix "
    .. "replacement sha256 string_builder timing vector wide" },
  { "perfdata/format", "base",
    "attr coder error event feature fields format layout perf_text "
    .. "print print_scalar record rows sample text views" },
  { "perfdata/format/views", "perfdata/format", "" },
  { "perfdata/tracepoint", "base perfdata/format", "message tracepoint tracing syscalls" },
  { "perfdata/input", "base perfdata/format", "blocks decompress input" },
  { "perfdata/container", "base perfdata/format perfdata/tracepoint perfdata/input",
    "file session" },
  { "perfdata/stream", "base perfdata/format perfdata/input perfdata/container",
    "bind counters reader record_batches timestamp" },
  { "perfdata/order", "base perfdata/format perfdata/container perfdata/stream",
    "partitions time_order walk" },
  { "analysis", "base perfdata/format perfdata/stream perfdata/order", "health stat" },
  { "stats", "", "stats" },
  { "symbols/elf", "base",
    "build_id demangle elf elf_parts elf_placing file interrupt table text" },
  { "symbols/jit", "base symbols/elf", "jitdump perfmap" },
  { "symbols", "base symbols/elf symbols/jit",
    "asked bundle code dso find internal load memo proof source symbols" },
  { "symbols/lines", "base symbols/elf symbols", "lines" },
  { "pack", "base symbols symbols/jit symbols/lines", "pack text" },
  { "disasm", "base", "disasm" },
  { "machine/maps", "base symbols", "maps" },
  { "machine",
    "base perfdata/format perfdata/tracepoint perfdata/container perfdata/stream "
      .. "perfdata/order symbols symbols/lines disasm machine/maps",
    "machine" },
  { "write",
    "base perfdata/format perfdata/tracepoint perfdata/container perfdata/stream "
      .. "perfdata/order machine",
    "description directory edit merge outline output rewriter selection thin writer" },
  { "describe", "base perfdata/format perfdata/container write", "build describe" },
  { "scrub",
    "base perfdata/format perfdata/tracepoint perfdata/container perfdata/order symbols pack "
      .. "machine write",
    "scrub" },
  { "inject",
    "base perfdata/format perfdata/tracepoint perfdata/stream symbols "
      .. "symbols/elf symbols/jit machine write",
    "inject" },
  { "query/chains", "base perfdata/format machine",
    "chains stacks strings value" },
  { "query/fields", "base perfdata/format perfdata/tracepoint query/chains",
    "fields" },
  { "query/program", "base query/fields", "expr" },
  { "query/scope",
    "base perfdata/format perfdata/order query/chains query/program",
    "once scope" },
  { "query/group", "base perfdata/format query/chains query/program", "group report" },
  { "query/rows", "base query/chains query/fields query/scope",
    "rows rows_made" },
  { "query",
    "base perfdata/format perfdata/stream perfdata/order analysis query/chains query/scope "
      .. "query/group query/rows",
    "query" },
  { "result", "base perfdata/format query",
    "column report_trees result saved tree view writer" },
  { "compare", "base symbols result stats", "binaries compare" },
  { "script", "base perfdata/format machine result", "levels report script" },
  { "sqlite", "base perfdata/format query", "database" },
  { "export",
    "base perfdata/format symbols/lines query result",
    "export spans" },
  { "annotate", "query/group", "functions" },
  { "binding",
    "base perfdata/format perfdata/tracepoint analysis symbols pack machine query "
      .. "stats disasm",
    "functions handle pass_progress record stack system timing value writer" },
  { "binding/query",
    "base perfdata/format symbols query result compare script sqlite export "
      .. "disasm annotate describe write scrub inject binding", "" },
  { "host", "base", "" },
}
local knows_lua = words "binding binding/query host"
local lua_headers = words "lua.h lauxlib.h lualib.h luaconf.h"

-- A row: folder, the modules it uses, its public files. "perflua" is lua/perflua/init.lua
-- itself.
local lua_modules = {
  { "core", "", "init" }, -- in C
  { "api", "", "init" },
  { "text", "core", "display fmt json split tar units" },
  { "errors", "api text", "init suggest" },
  { "recording", "core errors text", "init between distinctions events sampled" },
  { "filter", "core errors recording text", "init arith expr kinds lexer parser" },
  { "fields", "core errors filter recording", "init items members perf_names" },
  { "measures", "core errors filter", "init sums" },
  { "plan", "core errors measures recording", "init engine trees" },
  { "table", "core errors filter measures recording text",
    "init description expression interrupted merge output pair_counts result_table "
      .. "row_output saved" },
  { "group", "core errors measures plan recording table",
    "init aggregate aside profile" },
  { "write", "core errors plan table", "build init rules writer" },
  { "query", "core errors fields filter group measures plan recording table text write",
    "init explain new" },
  { "intervals", "core errors fields filter plan query recording table text", "init" },
  { "file", "core errors fields filter intervals plan query recording table",
    "binaries records run running samples_with_losses unfound" },
  { "options", "api errors text", "init" },
  { "flame", "core group plan recording text", "init folded page stacks" },
  { "waits", "", "switches" },
  { "export", "core errors flame group intervals plan recording table text waits", "init" },
  { "timing", "core text", "init" },
  { "diff", "core errors file group flame measures query table text waits",
    "estimate init" },
  { "annotate", "core errors file flame group plan text", "html init text written" },
  { "perflua", "annotate core diff errors export file intervals options recording table "
      .. "timing write",
    "init" },
  { "check", "core diff errors file table text", "init words" },
  { "meta", "api core errors fields filter options perflua recording table text",
    "candidates library needs returned starter survey" },
  { "header", "core text", "init" },
  { "script", "core errors", "fields" },
  { "doctor", "core errors file perflua recording table text write",
    "init sharing show words" },
  { "overview", "core doctor meta perflua text", "init show" },
  { "report", "core doctor errors group measures plan recording table text",
    "init asked asked_columns blocks columns graph groups quality show stats tasks "
      .. "words written" },
  { "screen", "core report text", "init" },
  { "top", "core errors report screen text", "init" },
  { "map", "core errors meta query recording table text", "handlers result run" },
  { "address", "core table text", "init show" },
  { "toolkit",
    "annotate core diff doctor errors file flame group meta options perflua query "
      .. "recording table text write",
    "archive change_graph declared described explained folded_rows folding names recordings "
      .. "samples sides symbols topics unchosen writing" },
  { "timechart", "core file flame text toolkit waits", "init svg" },
  { "browse", "annotate core errors report screen table text", "init" },
  { "tools",
    "address annotate browse check core diff doctor errors export file flame group header map "
      .. "measures meta "
      .. "options overview perflua plan recording report screen script table text timechart "
      .. "toolkit top waits write",
    "init" },
  { "cli",
    "api core errors fields file filter meta options overview perflua query recording report "
      .. "table text timing tools",
    "init" },
}

-- Rows by folder. A module may only use those in rows above its own, so nothing uses in a
-- circle.
local function indexed(list)
  local rows = {}
  for _, row in ipairs(list) do
    local name, uses = row[1], words(row[2])
    for other in pairs(uses) do
      if not rows[other] then
        error(("%s uses %s, which is not above it"):format(name, other), 0)
      end
    end
    rows[name] = { uses = uses, public = words(row[3]), met = {} }
  end
  return rows
end

local rows, lua_rows = indexed(modules), indexed(lua_modules)

local function complaint(path, name, quoted)
  local module = path:match("^src/(.+)/[^/]+$") or ""
  local row = rows[module]
  if not row then
    return ("src/%s is not a module: add a row to .ci/modules.lua"):format(module)
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
  row.met[other], rows[other].met[header .. ".h"] = true, true
end

-- The module of "perflua.table.merge", and its file: "table", "merge".
local function required(name)
  local inner = name:match("^perflua%.(.+)$")
  if not inner then return "perflua", "init" end
  local path = inner:gsub("%.", "/")
  if lua_rows[path] then return path, "init" end
  return path:match("^(.+)/([^/]+)$")
end

local function lua_complaint(path, name)
  local module = path:match("^lua/perflua/(.+)/[^/]+$") or "perflua"
  local row, other, file = lua_rows[module], required(name)
  if not row then
    return ("lua/perflua/%s is not a module: add a row to .ci/modules.lua"):format(module)
  elseif other == module then
    return nil
  elseif not lua_rows[other] then
    return "no module has such a file"
  elseif not row.uses[other] then
    return ("%s may not use %s"):format(module, other)
  elseif not lua_rows[other].public[file] then
    return ("%s.lua is internal to %s"):format(file, other)
  end
  row.met[other], lua_rows[other].met[file .. ".lua"] = true, true
end

local failed = false

local function report(path, number, verb, name, message)
  if not message then return end
  failed = true
  print(("%s:%d: %s %s: %s"):format(path, number, verb, name, message))
end

local function check_c(path, number, line)
  local open, name = line:match("^%s*#%s*include%s*([<\"])([^>\"]+)")
  if name then report(path, number, "includes", name, complaint(path, name, open == "\"")) end
end

-- Also in functions, where it would hide a circle.
local function check_lua(path, number, line)
  for name in line:gmatch("require%s*%(?%s*[\"'](perflua[%w_.]*)[\"']") do
    report(path, number, "requires", name, lua_complaint(path, name))
  end
end

for _, path in ipairs(arg) do
  local number, check = 0, path:find("%.lua$") and check_lua or check_c
  for line in io.lines(path) do
    number = number + 1
    check(path, number, line)
  end
end

local function stale(...)
  failed = true
  print(".ci/modules.lua: " .. string.format(...))
end

-- Rows name nothing that is not so. The program and scripts require an init, too.
local function check_rows(folder, list, ending)
  for name, row in pairs(list) do
    for other in pairs(row.uses) do
      if not row.met[other] then stale("%s%s does not use %s", folder, name, other) end
    end
    for file in pairs(row.public) do
      if not row.met[file .. ending] and file ~= "init" then
        stale("no module uses %s%s/%s%s", folder, name, file, ending)
      end
    end
  end
end

check_rows("src/", rows, ".h")
check_rows("lua/perflua/", lua_rows, ".lua")
os.exit(not failed)
