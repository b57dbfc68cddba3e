-- perflua pack --archive: the binaries of a recording, as perf archive has them.
local archive = require "perflua.toolkit.archive"
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local tar = require "perflua.text.tar"

local WORDS <const> = files.fixture "words"
local KERNEL <const> = 0xffffffff81000000
local quote = files.quote

local function pack(...)
  return run.perflua({ "pack", "--archive", ... }, { env = "HOME=/nonexistent" })
end

--- Packs into OUT.tar of a tree; returns what was printed.
local function packed(tree, ...)
  local result = pack("--force", "-o", tree.path .. "/OUT.tar", ...)
  assert.equal(0, result.status, result.err)
  return result.out
end

--- Lists an archive: "name" of files, "name -> target" of links.
local function listed(path)
  local list = {}
  for line in files.lines("tar tvf " .. quote(path)) do
    list[#list + 1] = line:match "^%S+ 0/0 +%d+ 1970%-01%-01 00:00 (.*)$" or line
  end
  return list
end

--- The path of a binary in the directory "cache" of a tree.
local function cached(tree, id)
  return ("%s/cache/.build-id/%s/%s/elf"):format(tree.path, id:sub(1, 2), id:sub(3))
end

--- A recording of a sample in a program of a tree.
local function recorded(tree, name, more)
  local map = { filename = tree.path .. "/" .. name, misc = 2 | 1 << 14,
    build_id = tree:build_id(name) }
  for key, value in pairs(more or {}) do map[key] = value end
  return binaries.recorded({ map }, { 0x401130 })
end

describe("perflua pack --archive", function()
  it("writes the binaries and their links, the same each time", function()
    local tree = binaries.tree()
    tree:program "bin/tool"
    local path, id = recorded(tree, "bin/tool"), tree:build_id "bin/tool"
    assert.match("OUT%.tar: 1 binary, %d+%.%d kB\n$", packed(tree, path))
    local name = tree.path:sub(2) .. "/bin/tool/" .. id
    assert.same({ name .. "/elf", (".build-id/%s/%s -> ../../%s"):format(id:sub(1, 2),
      id:sub(3), name) }, listed(tree.path .. "/OUT.tar"))
    local first = files.read(tree.path .. "/OUT.tar")
    tree:sh "mkdir cache; tar xf OUT.tar -C cache"
    assert.equal(files.read(tree.path .. "/bin/tool"), files.read(cached(tree, id)))
    assert.equal(first, pack(path, "-o", "-").out)
    -- also from the cache, where the binary is gone
    tree:sh "rm bin/tool"
    packed(tree, path, "--buildid-dir", tree.path .. "/cache")
    assert.equal(first, files.read(tree.path .. "/OUT.tar"))
  end)

  needs.it("perf", "gives perf the names of binaries that are gone", function()
    local tree = binaries.tree()
    local symbols = tree:program "tool"
    local path = binaries.recorded({ { filename = tree.path .. "/tool", misc = 2 | 1 << 14,
      build_id = symbols.build_id } }, { 0x400000 + symbols.first })
    packed(tree, path)
    tree:sh "rm tool; mkdir -p home/.debug"
    local options = { before = "--buildid-dir " .. tree.path .. "/home/.debug" }
    assert.same({ "[unknown]" }, binaries.of_perf(path, options))
    tree:sh "tar xf OUT.tar -C home/.debug"
    assert.same({ "first+0x0" }, binaries.of_perf(path, options))
  end)

  it("has names of any length", function()
    local tree = binaries.tree()
    local name = ("directory/"):rep(20) .. ("n"):rep(200)
    tree:program(name)
    local id = tree:build_id(name)
    packed(tree, recorded(tree, name))
    tree:sh "mkdir cache; tar xf OUT.tar -C cache"
    assert.equal(files.read(tree.path .. "/" .. name), files.read(cached(tree, id)))
  end)

  it("has the debug files of stripped binaries", function()
    local tree = binaries.tree()
    tree:program("tool", "-g")
    tree:sh [[objcopy --only-keep-debug tool tool.debug
      objcopy --strip-all --add-gnu-debuglink=tool.debug tool]]
    packed(tree, recorded(tree, "tool"))
    local list = listed(tree.path .. "/OUT.tar")
    assert.match("/elf$", list[1])
    assert.match("/debug$", list[2])
    tree:sh "mkdir cache; tar xf OUT.tar -C cache; cmp tool.debug cache/.build-id/*/*/debug"
  end)

  it("has binaries without symbols", function()
    local tree = binaries.tree()
    tree:sh [[echo 'void _start(void) { for (;;) ; }' >tool.c
      gcc -nostdlib -static -Wl,--build-id -o tool tool.c; strip tool]]
    packed(tree, recorded(tree, "tool"))
    tree:sh "mkdir cache; tar xf OUT.tar -C cache; cmp tool cache/.build-id/*/*/elf"
  end)

  it("has the kernel's symbols if its build-id is that of the list", function()
    local tree, id = binaries.tree(), ("c0ffee42"):rep(5)
    local text = ("%x T _text\n%x T do_work\n"):format(KERNEL, KERNEL + 0x100)
    local path = binaries.recorded({ { pid = -1, tid = 0, addr = KERNEL, len = 0x1000000,
      pgoff = KERNEL, misc = 1 | 1 << 14, filename = "[kernel.kallsyms]_text",
      build_id = id } }, { KERNEL + 0x100 }, { misc = 1 })
    local list = tree:write("[kernel.kallsyms]/" .. id .. "/kallsyms", text)
    packed(tree, path, "--buildid-dir", tree.path)
    assert.same({ "[kernel.kallsyms]/" .. id .. "/kallsyms",
      (".build-id/c0/%s -> ../../[kernel.kallsyms]/%s"):format(id:sub(3), id) },
      listed(tree.path .. "/OUT.tar"))
    assert.equal(text, tree:sh "tar xOf OUT.tar --wildcards '*/kallsyms'")
    local result = pack(path, "--kallsyms", list, "-o", tree.path .. "/other.tar")
    assert.equal(1, result.status)
  end)

  it("leaves out and names what no file here has the build-id of", function()
    local tree = binaries.tree()
    tree:program "tool"
    tree:program("changed", "-DCHANGED=1")
    local path = binaries.recorded({
      { filename = tree.path .. "/tool", misc = 2 | 1 << 14, build_id = tree:build_id "tool" },
      { filename = tree.path .. "/changed", addr = 0x1400000, misc = 2 | 1 << 14,
        build_id = ("ab"):rep(20) },
      { filename = tree.path .. "/gone\27[31m", addr = 0x2400000, misc = 2 | 1 << 14,
        build_id = ("cd"):rep(20) },
      { filename = tree.path .. "/unproven", addr = 0x3400000 },
      { filename = tree.path .. "/unhit", addr = 0x4400000, misc = 2 | 1 << 14,
        build_id = ("ef"):rep(20) },
    }, { 0x401130, 0x1401130, 0x2401130, 0x3401130 })
    local out = packed(tree, path)
    assert.match("1 binary, .*\n  2 binaries left out, as no file here has the build%-id: "
      .. "[^\n]*/changed, [^\n]*/gone\\x1b%[31m\n  1 binary left out, as no build%-id was "
      .. "recorded\n$", out)
    assert.equal(2, #listed(tree.path .. "/OUT.tar"))
  end)

  it("leaves out what would be outside of the cache", function()
    local tree = binaries.tree()
    tree:program "bin/tool"
    local path = recorded(tree, "bin/../bin/tool", { build_id = tree:build_id "bin/tool" })
    local result = pack(path, "-o", tree.path .. "/OUT.tar")
    assert.equal(1, result.status)
    assert.match("no file here is proven", result.err)
  end)

  it("writes nothing where it has no binary, and says why", function()
    local tree = binaries.tree()
    tree:program "tool"
    local out = tree.path .. "/OUT.tar"
    for text, path in pairs {
      ["no binary with samples has a recorded build%-id"] = recorded(tree, "tool",
        { misc = 2, build_id = false }),
      ["no file here is proven by the build%-id"] = recorded(tree, "tool",
        { build_id = ("ab"):rep(20) }),
    } do
      local result = pack(path, "-o", out)
      assert.equal(1, result.status)
      assert.match(text, result.err)
      assert.is_false(files.exists(out))
    end
  end)

  it("does not take the files that a bundle names for those here", function()
    local tree, words = binaries.tree(), files.temporary()
    assert.equal(0, run.perflua({ "pack", "--symfs", WORDS, WORDS .. "/perf.data", "--force",
      "-o", words }).status)
    local result = pack(words, "-o", tree.path .. "/OUT.tar")
    assert.match("no file here is proven", result.err)
    packed(tree, words, "--symfs", WORDS)
    assert.equal(2, #listed(tree.path .. "/OUT.tar"))
  end)

  it("replaces no file unless it is told to, and takes no options of the bundle", function()
    local out = files.temporary "mine"
    local result = pack("--symfs", WORDS, WORDS .. "/perf.data", "-o", out)
    assert.equal(1, result.status)
    assert.match("the file exists; %-%-force replaces it", result.err)
    assert.equal("mine", files.read(out))
    result = pack("--source", WORDS .. "/perf.data", "-o", out)
    assert.equal(2, result.status)
    assert.match("%-%-source and %-%-min%-share are for the bundle", result.err)
  end)
end)

describe("an archive of a binary", function()
  local id = ("ab"):rep(20)
  local note = "GNU\0" .. ("\xab"):rep(20)
  local bytes = "\x7fELF" .. ("."):rep(1 << 20) .. note .. ("."):rep(100)

  --- Archives a file, which has other bytes when its header was written.
  local function archived(now)
    local path = files.temporary(bytes)
    local out = {}
    function out:write() files.write(path, now) return self end
    return archive.write({ { name = "/a", kind = "file", build_id = id, note = note,
      symbol_file = path, mapped_file = path, debug_file = path } }, out)
  end

  it("is refused if the binary changes while it is read", function()
    assert.equal(1, archived(bytes).binaries)
    for _, now in ipairs { bytes:sub(1, -2), bytes .. ".", bytes:gsub("\xab", "\xac"), "" } do
      local summary, message = archived(now)
      assert.is_nil(summary)
      assert.match(": the file changed while it was read$", message)
    end
  end)

  it("is refused if it cannot be written", function()
    local full <close> = assert(io.open("/dev/full", "wb"))
    full:setvbuf "no"
    local path = files.temporary(bytes)
    local summary, message, code = archive.write({ { name = "/a", kind = "file", build_id = id,
      note = note, symbol_file = path, mapped_file = path } }, full)
    assert.is_nil(summary)
    assert.match("No space left", message)
    assert.equal("ENOSPC", code)
  end)

  it("may be larger than a header of ustar says", function()
    local path = files.temporary(tar.file("large", 10000000000))
    assert.match("0/0 +10000000000 1970", (files.output("tar tvf " .. path .. " 2>/dev/null")))
  end)
end)
