-- symfs stands for the root of the recorded machine: paths and links are followed as if it were
-- /.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"

-- Layouts of the program outside/prog, which has symbols, or outside/stripped; root is the
-- symfs.
local found = {
  { "an absolute link",
    "mv outside real; mv real root; mkdir root/app; ln -s /real/prog root/app/prog" },
  { "a link with more .. than there are directories", [[
    mv outside root/real; mkdir root/app; ln -s ../../../../real/prog root/app/prog]] },
  { "an absolute link to a directory", "mv outside root/real; ln -s /real root/app" },
  { "a directory after links to links", [[
    mv outside root/real; mkdir root/a; ln -s ../a/b root/app; ln -s ./c root/a/b; ln -s ../../real/ root/a/c]] },
  { "a path with ..", "mv outside root/real; mkdir root/app", "/app/../real/prog" },
  { "a path with .. after a link",
    "mkdir root/x root/app; mv outside root/x; ln -s /x/outside root/app/l",
    "/app/l/../outside/prog" },
  { "a path that begins with ..", "mv outside root/real", "/../../real/prog" },
  { "an absolute debug link", [[
    mkdir root/app; cp outside/stripped root/app/prog; mkdir root/dbg; mv outside/prog root/dbg/prog
    link /dbg/prog root/app/prog]] },
}

local kept_out = {
  { "an absolute link", "mkdir root/app; ln -s $PWD/outside/prog root/app/prog" },
  { "a link with ..", "mkdir root/app; ln -s ../../outside/prog root/app/prog" },
  { "a link of a directory", "ln -s ../outside root/app" },
  { "a path with ..", "true", "/../outside/prog" },
  { "a path with .. after a link", "mkdir root/x; ln -s x root/app",
    "/app/../../outside/prog" },
  { "a link of the build-id cache", [[
    mkdir -p root/.debug/.build-id/$head; ln -s $PWD/outside/prog root/.debug/.build-id/$head/$tail]] },
  { "an absolute debug link", [[
    mkdir root/app; cp outside/stripped root/app/prog; link $PWD/outside/prog root/app/prog]] },
  { "a debug link with ..", [[
    mkdir root/app; cp outside/stripped root/app/prog; link ../../outside/prog root/app/prog]] },
  { "a link to itself", "mkdir root/app; ln -s prog root/app/prog" },
}

-- A library that has openat2() fail with ENOSYS, as old kernels do and some sandboxes, and says
-- so.
local REFUSE = [[
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <errno.h>
  #include <stdarg.h>
  #include <sys/syscall.h>
  #include <unistd.h>

  long syscall(long number, ...)
  {
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
      a[i] = va_arg(args, long);
    va_end(args);
    if (number != SYS_openat2)
      return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (write(1, "refused\n", 8) == 8)
      errno = ENOSYS;
    return -1;
  }]]

local ASK = [[
  local file <close> = assert(perflua.open(arg[1], { symfs = arg[2] }))
  for s in file:samples() do print("symbol", s.symbol) end]]

-- $head and $tail are the build-id's; link NAME FILE gives a file a debug link.
local FUNCTIONS = [[
  link() {
    printf '%s\0\0\0\0\0' "$1" >link
    objcopy --remove-section=.gnu_debuglink --add-section=.gnu_debuglink=link "$2"
  }
]]

local function symbols(case, environment)
  local tree = binaries.tree()
  tree:sh "mkdir root outside"
  local program = tree:program "outside/prog"
  local id = program.build_id
  tree:sh "objcopy --strip-all -R .dynsym -R .gnu.version outside/prog outside/stripped"
  tree:sh(("%shead=%s tail=%s\n%s"):format(FUNCTIONS, id:sub(1, 2), id:sub(3), case[2]))
  tree:write("ask.lua", ASK)
  tree:write("refuse.c", REFUSE)
  tree:sh "gcc -shared -fPIC -o refuse.so refuse.c -ldl"
  local path = binaries.recorded({ { filename = case[3] or "/app/prog", build_id = id } },
    { 0x400000 + program.first })
  return tree:sh(("%s %s ask.lua %s root"):format(environment, files.quote(os.getenv "PERFLUA"),
    path))
end

local function describe_all(environment, ask)
  for _, case in ipairs(found) do
    it("leads to a file below it by " .. case[1], function()
      assert.equal("symbol\tfirst\n", ask(case, environment))
    end)
  end

  for _, case in ipairs(kept_out) do
    it("is not left by " .. case[1], function()
      assert.equal("symbol\tnil\n", ask(case, environment))
    end)
  end
end

describe("symfs", function() describe_all("", symbols) end)

needs.describe("this architecture", "symfs, where the kernel has no openat2()", function()
  describe_all(
    "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=./refuse.so", function(...)
    local text, refused = symbols(...):gsub("refused\n", "")
    assert.is_true(refused > 0)
    return text
  end)
end)
