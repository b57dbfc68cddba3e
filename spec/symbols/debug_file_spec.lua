-- Symbols of programs whose separate debug file alone is there: its headers have other offsets
-- than the program's.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local PAGE = 4096

-- The code spans pages, so that an offset that is wrong by one names another function.
local PROGRAM = [[
  static int table[9000] = { 1 };
  __attribute__((noinline)) static int second(volatile int *n) { return table[*n & 1] + ++*n; }
  __attribute__((noinline)) void padding(void) { __asm__ volatile(".skip 9000, 0x90"); }
  __attribute__((noinline)) int first(volatile int *n) {
    for (int i = 0; i < 20000; i++) *n += second(n);
    return *n;
  }
  int main(int argc, char **argv) {
    volatile int n = 0;
    for (int i = 0; i < argc * 2000; i++) if (first(&n) == 77) padding();
    return argv == 0;
  }]]

-- The program that a debug file is made with, and how it is made of "prog".
local separations = {
  { "objcopy", "objcopy --only-keep-debug prog prog.debug" },
  { "llvm-objcopy", "llvm-objcopy --only-keep-debug prog prog.debug" },
  { "eu-strip", "cp prog copy && eu-strip -f prog.debug copy" },
  { "dwz", "objcopy --only-keep-debug prog prog.debug && dwz prog.debug" },
}

local programs = {} -- trees with programs that were built, by linker and flags

local function built(linker, flags)
  local key, tree = linker .. " " .. flags, binaries.tree()
  if not programs[key] then
    programs[key] = binaries.tree()
    programs[key]:write("prog.c", PROGRAM)
    programs[key]:sh(("gcc -O1 -g -Wl,--build-id -fuse-ld=%s -o prog prog.c"):format(key))
  end
  tree:sh(("cp %s/prog* ."):format(programs[key].path))
  return tree, tree:build_id "prog"
end

-- The addresses of functions, as the file has them.
local function addresses(tree)
  local found = {}
  for address, symbol in tree:sh "nm prog":gmatch "(%x+) [Tt] (%S+)" do
    found[symbol] = tonumber(address, 16)
  end
  return found
end

local function down(n, page) return n - n % page end
local function up(n, page) return down(n + page - 1, page) end

--- The segments of prog: {address, offset, size, prot}.
local function segments(tree)
  local list = {}
  for offset, address, size, flags in
    tree:sh "readelf -lW prog 2>/dev/null"
      :gmatch "LOAD +(0x%x+) (0x%x+) 0x%x+ 0x%x+ (0x%x+) ([RWE ]+) 0x" do
    list[#list + 1] = { address = tonumber(address), offset = tonumber(offset),
      size = tonumber(size),
      prot = (flags:find "R" and 1 or 0) | (flags:find "W" and 2 or 0)
        | (flags:find "E" and 4 or 0) }
  end
  return list
end

--- The maps that a loader makes of the segments with code, at `base`. whole: the first one, if
--- it has code, is as long as all of them are.
local function loaded(tree, base, whole, page)
  local maps, list = {}, segments(tree)
  page = page or PAGE
  local last = list[#list]
  for i, segment in ipairs(list) do
    local from = down(segment.address, page)
    local to = up(segment.address + segment.size, page)
    if whole and i == 1 then to = up(last.address + last.size, page) end
    if segment.prot & 4 ~= 0 then
      maps[#maps + 1] = { addr = base + from, len = to - from,
        pgoff = down(segment.offset, page), prot = segment.prot }
    end
  end
  return maps
end

--- A recording of samples in all functions of the program "prog" of a tree, which is at the
--- path `app/prog` there.
local function recorded(tree, maps, base, arch)
  local found = addresses(tree)
  local b = builder.new()
  if arch then b:feature("arch", arch) end
  local event = b:event { name = "cpu-clock", type = 1, sample_type = { "ip", "tid", "time" },
    build_id = true }
  for _, map in ipairs(maps) do
    local record = { pid = binaries.PID, tid = binaries.PID, flags = 2, misc = 2,
      filename = tree.path .. "/app/prog",
      build_id = tree:build_id "prog" }
    for k, v in pairs(map) do record[k] = v end
    b:record("mmap2", record)
  end
  for i, name in ipairs { "first", "second", "padding", "main" } do
    b:sample(event, { ip = base + found[name] + i, pid = binaries.PID, tid = binaries.PID,
      time = i })
  end
  return b:write()
end

local expected = { "first+0x1", "second+0x2", "padding+0x3", "main+0x4" }
local nothing = { "[unknown]", "[unknown]", "[unknown]", "[unknown]" }

-- Puts the debug file where it is looked for; returns the options of open.
local function in_cache(tree, id)
  local parts = { id = id, head = id:sub(1, 2), tail = id:sub(3) }
  tree:sh(([[
    mkdir -p cache/app/$id cache/.build-id/$head
    mv prog.debug cache/app/$id/debug
    ln -s ../../app/$id cache/.build-id/$head/$tail]]):gsub("%$(%a+)", parts))
  return { buildid_dir = tree.path .. "/cache" }
end

local function in_symfs(tree, id)
  tree:sh((
    "mkdir -p root/usr/lib/debug/.build-id/%s; mv prog.debug "
      .. "root/usr/lib/debug/.build-id/%s/%s.debug")
    :format(id:sub(1, 2), id:sub(1, 2), id:sub(3)))
  return { symfs = tree.path .. "/root" }
end

-- A debug file in the place of the program itself.
local function in_place(tree)
  tree:sh "mkdir app; mv prog.debug app/prog"
  return {}
end

-- A server that has no executables.
local function on_server(tree, id)
  tree:sh(("mkdir -p server/buildid/%s; mv prog.debug server/buildid/%s/debuginfo"):format(id,
    id))
  return { debuginfod = true }
end

local places = {
  { "is in the build-id cache", in_cache }, { "is below symfs", in_symfs },
  { "lies where the program was", in_place },
}

local layouts = {
  { "bfd", "-pie" }, { "bfd", "-no-pie" }, { "bfd", "-pie -z noseparate-code" },
  { "gold", "-pie" }, { "gold", "-no-pie" },
  { "lld", "-pie" }, { "lld", "-no-pie" }, { "lld", "-pie -z separate-code" },
  { "lld", "-no-pie -Xlinker --no-rosegment" },
}

local function base_of(flags) return flags:find "%-no%-pie" and 0 or 0x555555554000 end

describe("a debug file without its program", function()
  for _, layout in ipairs(layouts) do
    local linker, flags = table.unpack(layout)
    for _, separation in ipairs(separations) do
      local needed = ("gcc -fuse-ld=%s %s,%s"):format(linker, flags, separation[1])
      local title = ("names functions that %s %s linked and %s separated"):format(linker, flags,
        separation[1])
      needs.it(needed, title, function()
        local tree, id = built(linker, flags)
        local base = base_of(flags)
        local paths = { recorded(tree, loaded(tree, base), base),
          recorded(tree, loaded(tree, base, true), base) }
        tree:sh(separation[2])
        local options = in_symfs(tree, id)
        for _, path in ipairs(paths) do
          local list, missing = binaries.found(path, options)
          assert.same(expected, list)
          assert.same({}, missing)
        end
      end)
    end
  end
end)

describe("a debug file without its program", function()
  local function made(separation, change)
    local tree, id = built("lld", "-pie")
    local maps = loaded(tree, base_of "-pie")
    for _, map in ipairs(maps) do
      for k, v in pairs(change or {}) do map[k] = map[k] + v end
    end
    local path = recorded(tree, maps, base_of "-pie")
    tree:sh(separation or separations[1][2])
    return tree, id, path
  end

  for _, page in ipairs { 4096, 16384, 65536 } do
    needs.it("gcc -fuse-ld=lld", ("names functions of a machine with pages of %d bytes"):format(
      page), function()
      local tree, id = built("lld", "-pie -z max-page-size=65536")
      local path = recorded(tree, loaded(tree, 0x10000, false, page), 0x10000, "aarch64")
      tree:sh(separations[1][2])
      assert.same(expected, (binaries.found(path, in_symfs(tree, id))))
    end)
  end

  for _, place in ipairs(places) do
    needs.it("gcc -fuse-ld=lld", "names functions when it " .. place[1], function()
      local tree, id, path = made()
      assert.same(expected, (binaries.found(path, place[2](tree, id))))
    end)
  end

  needs.it("libdebuginfod,gcc -fuse-ld=lld", "names functions when a server has it", function()
    local tree, id, path = made()
    on_server(tree, id)
    tree:write("ask.lua", [[
      local file = assert(perflua.open(arg[1], { debuginfod = true }))
      for s in file:samples() do print(s.symbol .. "+" .. s.symoff) end]])
    local got =
      tree:sh(("DEBUGINFOD_URLS=file://%s/server DEBUGINFOD_CACHE_PATH=%s/cached %s ask.lua %s")
      :format(tree.path, tree.path, os.getenv "PERFLUA", path))
    assert.equal("first+1\nsecond+2\npadding+3\nmain+4\n", got)
  end)

  for _, separation in ipairs(separations) do
    needs.it("gcc -fuse-ld=lld," .. separation[1], "names source lines, as separated by "
      .. separation[1], function()
      local tree, id, path = made(separation[2])
      local file <close> = assert(perflua.open(path, in_symfs(tree, id)))
      local lines = {}
      for s in file:samples() do lines[#lines + 1] = s.srcline end
      assert.equal(4, #lines)
      assert.equal("prog.c:4", lines[1])
      assert.equal("prog.c:2", lines[2])
      assert.equal("prog.c:3", lines[3])
    end)
  end

  local function is_missing(change)
    local tree, id, path = made(nil, change)
    local list, missing = binaries.found(path, in_symfs(tree, id))
    assert.same(nothing, list)
    assert.equal(1, #missing)
    assert.matches("^only a debug file was found", missing[1].reason)
    assert.matches("%.debug: a debug file, and no recorded mapping matches",
      table.concat(missing[1].tried, "\n"))
  end

  needs.it("gcc -fuse-ld=lld",
    "names nothing when no segment has the length of the map", function()
    is_missing { len = PAGE }
  end)

  needs.it("gcc -fuse-ld=lld",
    "names nothing when no segment has the flags of the map", function()
    is_missing { prot = 2 }
  end)

  it("names nothing in a part that two segments may be, and names the others", function()
    local tree = binaries.tree()
    tree:write("prog.c", "")
    tree:write("prog.s", [[
      .globl first, second, padding, main
      .macro code name, bytes
      .section .\name\(), "ax", @progbits
      .type \name, @function
      \name: .fill \bytes, 1, 0x90
      .size \name, . - \name
      .endm
      code first, 100
      code second, 200
      code padding, 5000
      code main, 10]])
    tree:write("prog.ld", [[
      PHDRS { n PT_NOTE FLAGS(4); head PT_LOAD FILEHDR PHDRS FLAGS(4); a PT_LOAD FLAGS(5); b PT_LOAD FLAGS(5);
        c PT_LOAD FLAGS(5); }
      SECTIONS {
        . = 0x400000 + SIZEOF_HEADERS;
        .note.gnu.build-id : { *(.note.gnu.build-id) } :head :n
        . = 0x500000; .first : { *(.first) } :a
        . = 0x600000; .second : { *(.second) } :b
        . = 0x700000; .padding : { *(.padding) } :c
        .main : { *(.main) } :c
      }]])
    tree:sh("gcc -nostdlib -static -no-pie -Wl,--build-id -Wl,-T,prog.ld -Wl,-e,first -o prog "
      .. "prog.s")
    local id, path = tree:build_id "prog", recorded(tree, loaded(tree, 0), 0)
    tree:sh "objcopy --only-keep-debug prog prog.debug"
    assert.same({ "[unknown]", "[unknown]", "padding+0x3", "main+0x4" },
      (binaries.found(path, in_symfs(tree, id))))
  end)

  for _, separation in ipairs { separations[1], separations[3] } do
    for _, linker in ipairs { "bfd", "gold", "lld" } do
      local needed = ("record,gcc -fuse-ld=%s,%s"):format(linker, separation[1])
      local title = "names the functions of a recording made now that its program names: %s, %s"
      needs.it(needed, title:format(linker, separation[1]), function()
        local tree, id = built(linker, "-pie")
        tree:sh [[
          mkdir app && mv prog app
          perf record -q -N --no-bpf-event -m 64 -e cpu-clock:u -F 5000 -o data app/prog many
          mv app/prog .]]
        local function names(options)
          local list = {}
          local file <close> = assert(perflua.open(tree.path .. "/data", options))
          for s in file:samples() do
            if s.dso == tree.path .. "/app/prog" then
              list[#list + 1] = ("%s+%d %s"):format(s.symbol, s.symoff or 0, s.srcline)
            end
          end
          return list
        end
        tree:sh("mkdir -p whole" .. tree.path .. "/app && cp prog whole" .. tree.path .. "/app")
        local theirs = names { symfs = tree.path .. "/whole" }
        assert.is_true(#theirs > 50, #theirs .. " samples")
        assert.is_truthy(table.concat(theirs, "\n"):find "second%+%d+ prog.c:2")
        tree:sh(separation[2])
        assert.same(theirs, names(in_symfs(tree, id)))
      end)
    end
  end
end)
