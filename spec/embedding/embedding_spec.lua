-- The module in other programs: lua5.4, and a host in C.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Counts the samples of the command that is its second argument, of two; yields at each.
local SCRIPT = [[
local path, which = ...
local perflua = require "perflua"
local file = assert(perflua.open(path))
local comm, n = which == 1 and "sort" or "sh", 0
for s in file:samples():where(("comm == '%s'"):format(comm)):each() do
  n = n + 1
  coroutine.yield(s.time)
end
for row in file:samples():where { comm = comm }:group_by("comm"):all_events():count():sort()
    :rows() do
  assert(row.count == n)
  coroutine.yield()
end
return ("%s %d %s"):format(comm, n, tostring(rawget(_G, "perflua")))
]]

local function variable(name)
  return files.read("build/config.mk"):match(name .. " := ([^\n]*)")
end

-- The program under test starts with what lua5.4 needs before it, sanitizers for example.
local before = (os.getenv "PERFLUA_LUA" or "lua5.4"):gsub("lua5%.4$", "")

describe("the module", function()
  local title = "runs in a C host with two states and coroutines"
  needs.it("gcc,this architecture", title, function()
    local host = files.temporary()
    local command = "gcc -Wall -Wextra -Werror -rdynamic -o %s %s %s %s -lm -ldl 2>&1"
    local said = files.output(command:format(host, variable "LUA_CFLAGS",
      "spec/embedding/host.c", variable "LUA_LIBS"))
    assert.are.equal("", said)
    local got = run.shell_with(before .. '"$1" "$2" "$3"', host, files.temporary(SCRIPT),
      run.demo)
    -- sanitizers handle signals
    if before ~= "" then got.out = got.out:gsub("signal %d+ has a handler\n", "") end
    assert.are.same({ status = 0, out = "sh 45 nil\n", err = "" }, got)
  end)

  needs.it("gnuplot with Lua 5.4", "runs in gnuplot, where it has Lua 5.4", function()
    local script = files.temporary [[
      local perflua = require "perflua"
      local file <close> = assert(perflua.open(os.getenv "RECORDING"))
      print(file:samples("page-faults"):group_by("comm"):count():top(1))]]
    local got = run.shell_with(
      [[RECORDING=$2 ]] .. before .. [[gnuplot -e "set terminal lua '$1'"]], script, run.demo)
    assert.are.equal("comm  count\nsh       28\n", got.out)
  end)

  it("adds no globals to lua5.4, and prints nothing there of damage", function()
    local got = run.shell_with(before .. [[lua5.4 -e '
      local before, bad = {}, {}
      for name in pairs(_G) do before[name] = true end
      local perflua = require "perflua"
      local file <close> = assert(perflua.open(arg[1]))
      assert(file:samples():group_by("comm"):count():sort()[1].count > 0)
      for name in pairs(_G) do bad[#bad + 1] = not before[name] and name or nil end
      print(#bad, table.concat(bad, " "))' /dev/null "$1"; ]] .. before .. [[lua5.4 -e '
      local file = assert(require "perflua".open(arg[1]))
      file:records():count() print(#file.damage > 0)' /dev/null "$2" 2>&1
      ]], run.demo, files.temporary(files.read(run.demo):sub(1, 60000)))
    assert.are.same({ status = 0, out = "0\t\ntrue\n", err = "" }, got)
  end)
end)
