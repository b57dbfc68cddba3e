-- Which file the symbols of a program or library are taken from.
local binaries = require "spec.support.binaries"
local needs = require "spec.support.needs"

-- Changes to the program below app/ of a directory, and whose symbols are found then; `other`:
-- not perf's.
local cases = {
  { "itself", "true" },
  { "a file beside it that its debug link names", [[
    objcopy --only-keep-debug app/prog app/prog.dbg
    strip --strip-all app/prog && objcopy --add-gnu-debuglink=app/prog.dbg app/prog]] },
  { "a file in .debug that its debug link names", [[
    mkdir app/.debug
    objcopy --only-keep-debug app/prog app/.debug/prog.dbg
    strip --strip-all app/prog && objcopy --add-gnu-debuglink=app/.debug/prog.dbg app/prog]] },
  { "a file in .debug of its own name", [[
    mkdir app/.debug
    objcopy --only-keep-debug app/prog app/.debug/prog && strip --strip-all app/prog]] },
  { "the build-id cache", [[
    mkdir -p cache/app/$id cache/.build-id/$head
    mv app/prog cache/app/$id/elf && ln -s ../../app/$id cache/.build-id/$head/$tail]] },
  { "the debug file of the build-id cache", [[
    mkdir -p cache/app/$id cache/.build-id/$head
    objcopy --only-keep-debug app/prog cache/app/$id/debug && strip --strip-all app/prog
    mv app/prog cache/app/$id/elf && ln -s ../../app/$id cache/.build-id/$head/$tail]] },
  { "a build-id cache of long ago", [[
    mkdir -p cache/.build-id/$head && mv app/prog cache/prog && ln -s ../../prog cache/.build-id/$head/$tail]] },
}

-- Below a symfs: the program is at its path there, and `root` in the place of /.
local below = {
  { "the same path", "mkdir -p root$dir/app && mv app/prog root$dir/app" },
  { "usr/lib/debug by the path and .debug", [[
    mkdir -p root/usr/lib/debug$dir/app root$dir/app
    objcopy --only-keep-debug app/prog root/usr/lib/debug$dir/app/prog.debug
    strip --strip-all app/prog && mv app/prog root$dir/app]] },
  { "usr/lib/debug by the path", [[
    mkdir -p root/usr/lib/debug$dir/app root$dir/app
    objcopy --only-keep-debug app/prog root/usr/lib/debug$dir/app/prog
    strip --strip-all app/prog && mv app/prog root$dir/app]] },
  { "usr/lib/debug by the build-id", [[
    mkdir -p root/usr/lib/debug/.build-id/$head root$dir/app
    objcopy --only-keep-debug app/prog root/usr/lib/debug/.build-id/$head/$tail.debug
    strip --strip-all app/prog && mv app/prog root$dir/app]] },
  { "the build-id cache .debug", [[
    mkdir -p root/.debug/app/$id root/.debug/.build-id/$head
    mv app/prog root/.debug/app/$id/elf && ln -s ../../app/$id root/.debug/.build-id/$head/$tail]] },
}

-- The build-id cache of a tree, which may have nothing in it.
local function cache_of(tree)
  local path = tree.path .. "/cache"
  assert(os.execute("mkdir -p " .. path))
  return path
end

local function made(script)
  local tree = binaries.tree()
  tree:sh "mkdir app"
  local program = tree:program "app/prog"
  local id = program.build_id
  tree:sh(("dir=%s id=%s head=%s tail=%s\n%s"):format(tree.path, id, id:sub(1, 2), id:sub(3),
    script))
  return tree, program
end

local function recorded(tree, program, build_id)
  local map = { filename = tree.path .. "/app/prog", build_id = build_id }
  return binaries.recorded({ map }, { 0x400000 + program.first, 0x400001 + program.second })
end

local expected = { "first+0x0", "second+0x1" }

describe("the symbols of a program", function()
  for _, case in ipairs(cases) do
    it("are those of " .. case[1], function()
      local tree, program = made(case[2])
      local path = recorded(tree, program, program.build_id)
      local options = { buildid_dir = cache_of(tree) }
      assert.same(expected, (binaries.found(path, options)))
      if needs.missing "perf" then return pending(needs.missing "perf") end
      assert.same(expected, binaries.of_perf(path,
        { before = "--buildid-dir " .. options.buildid_dir }))
    end)
  end

  for _, case in ipairs(below) do
    it("are those of a file below symfs, by " .. case[1], function()
      local tree, program = made(case[2])
      local path = recorded(tree, program, program.build_id)
      assert.same(expected, (binaries.found(path, { symfs = tree.path .. "/root" })))
      if needs.missing "perf" then return pending(needs.missing "perf") end
      assert.same(expected, binaries.of_perf(path,
        { after = "--symfs " .. tree.path .. "/root" }))
    end)
  end

  it("are those of the build-id cache that the environment or perf's configuration "
    .. "names", function()
    local tree, program = made(cases[5][2])
    local path = recorded(tree, program, program.build_id)
    local config = "# perf\n[report]\n\tdir = no\n[buildid]\n  dir = %s/cache # mine\n"
    tree:write("home/.perfconfig", config:format(tree.path))
    tree:write("ask.lua",
      "for s in assert(perflua.open(arg[1])):samples() do print(s.symbol) end")
    tree:sh "mkdir none"
    for environment, symbols in pairs {
      ["HOME=home"] = "first\nsecond\n",
      ["HOME=none"] = "nil\nnil\n",
      ["HOME=none PERF_BUILDID_DIR=cache"] = "first\nsecond\n",
    } do
      local ask = "%s %s ask.lua %s"
      assert.equal(symbols, tree:sh(ask:format(environment, os.getenv "PERFLUA", path)))
    end
  end)

  it("are those of .gnu_debugdata where it is stripped", function()
    -- perf 6.1 does not read it
    local tree, program = made [[
      nm -D app/prog --format=posix --defined-only | cut -d' ' -f1 | sort >dynsyms
      nm app/prog --format=posix --defined-only | cut -d' ' -f1 | sort >keep
      objcopy -S --keep-symbols=keep app/prog mini && xz mini
      strip --strip-all app/prog && objcopy --add-section .gnu_debugdata=mini.xz app/prog]]
    assert.same(expected, (binaries.found(recorded(tree, program, program.build_id))))
  end)

  it("are those of a file without a recorded build-id, as long as it is there", function()
    local tree, program = made "true"
    assert.same(expected, (binaries.found(recorded(tree, program))))
  end)

  it("are those of a stripped program that is linked statically, at their addresses", function()
    local tree = binaries.tree()
    tree:sh "mkdir app"
    local program = tree:program("app/prog", "-static")
    tree:sh [[
      objcopy --only-keep-debug app/prog app/prog.dbg
      strip --strip-all app/prog && objcopy --add-gnu-debuglink=app/prog.dbg app/prog]]
    assert.same(expected, (binaries.found(recorded(tree, program, program.build_id))))
  end)
end)

local function without(script, change)
  local tree, program = made(script)
  local build_id = program.build_id
  if change then
    build_id = change
  end
  local list, missing = binaries.found(recorded(tree, program, build_id),
    { buildid_dir = cache_of(tree) })
  assert.same({ "[unknown]", "[unknown]" }, list)
  assert.equal(1, #missing)
  assert.equal(tree.path .. "/app/prog", missing[1].filename)
  assert.equal(build_id, missing[1].build_id)
  return missing[1], tree
end

local function tried(missing, path, pattern)
  for _, line in ipairs(missing.tried) do
    if line:sub(1, #path + 2) == path .. ": " then
      assert.matches(pattern, line)
      return
    end
  end
  error(path .. " was not tried:\n" .. table.concat(missing.tried, "\n"))
end

describe("a program without symbols", function()
  it("is missing when its file has gone, with the paths that were tried", function()
    local missing, tree = without "rm app/prog"
    assert.equal("no file was found", missing.reason)
    tried(missing, tree.path .. "/app/prog", "No such file")
    tried(missing, "/usr/lib/debug" .. tree.path .. "/app/prog.debug", "No such file")
  end)

  it("is missing when another build is in its place", function()
    local missing, tree = without("true", ("ab"):rep(20))
    assert.equal("no file with its build-id was found", missing.reason)
    tried(missing, tree.path .. "/app/prog", "build%-id differs: found %x+, recorded abab")
  end)

  it("is missing when what is in its place has no build-id", function()
    local missing, tree = without "objcopy --remove-section=.note.gnu.build-id app/prog"
    assert.equal("no file with its build-id was found", missing.reason)
    tried(missing, tree.path .. "/app/prog", "has no build%-id, recorded was")
  end)

  it("is missing when another build is in the build-id cache", function()
    local missing = without [[
      mkdir -p cache/.build-id/$head && rm app/prog && cp /bin/ls cache/.build-id/$head/$tail]]
    assert.equal("no file with its build-id was found", missing.reason)
  end)

  it("is missing when it is stripped", function()
    local missing, tree = without "strip --strip-all -R .dynsym -R .gnu.version app/prog"
    assert.equal("no symbols in it", missing.reason)
    tried(missing, tree.path .. "/app/prog", "no symbols in it")
  end)

  for name, case in pairs {
    ["no ELF file"] = { "head -c 9999 /dev/urandom >app/prog" },
    ["empty"] = { ": >app/prog" },
    ["a directory"] = { "rm app/prog; mkdir app/prog", "is a directory, not a file" },
    ["a fifo"] = { "rm app/prog; mkfifo app/prog", "is a FIFO, not a file" },
    ["a link to itself"] = { "rm app/prog; ln -s prog app/prog" },
  } do
    it("is missing when what is in its place is " .. name, function()
      local missing, tree = without(case[1])
      assert.equal(case[2] or "no file was found", missing.reason)
      tried(missing, tree.path .. "/app/prog", ".")
    end)
  end

  it("is missing when its name is not a path", function()
    local path = binaries.recorded({ { filename = "prog" } }, { 0x400000 })
    local list, missing = binaries.found(path)
    assert.same({ "[unknown]" }, list)
    assert.same({}, missing[1].tried)
  end)
end)
