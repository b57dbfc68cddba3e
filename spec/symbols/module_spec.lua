-- The files of the kernel's modules.
local binaries = require "spec.support.binaries"
local needs = require "spec.support.needs"

local AT = 0xffffffffc0000000
local KERNEL = { pid = -1, tid = 0, addr = 0xffffffff81000000, len = 0x1000000,
  pgoff = 0xffffffff81000000, misc = 1,
  filename = "[kernel.kallsyms]_text" }

--- A module root/lib/modules/6.1.0-mine/kernel/my-mod.ko of two functions, as the compiler
--- makes one; returns {build_id, name = offset}.
local function built(tree)
  tree:write("mod.c", "int first(int n) { return n * 3; } int second(int n) { return n ^ 5; }")
  tree:sh [[
    mkdir -p root/lib/modules/6.1.0-mine/kernel
    gcc -O1 -c -o mod.o mod.c
    ld -r --build-id -o root/lib/modules/6.1.0-mine/kernel/my-mod.ko mod.o]]
  local found = { build_id = tree:build_id "root/lib/modules/6.1.0-mine/kernel/my-mod.ko" }
  for offset, name in tree:sh "nm mod.o":gmatch "(%x+) %a (%S+)" do
    found[name] = tonumber(offset, 16)
  end
  return found
end

local function recorded(module, filename, build_id)
  local map = { pid = -1, tid = 0, addr = AT, len = 0x1000, pgoff = 0, misc = 1,
    filename = filename }
  return binaries.recorded({ KERNEL, map }, { AT + module.first, AT + module.second + 1 }, {
    misc = 1,
    features = {
      osrelease = "6.1.0-mine",
      build_id = build_id and { { build_id = build_id, filename = filename,
        cpumode = "kernel" } } or {},
    },
  })
end

local expected, none = { "first+0x0", "second+0x1" }, { "[unknown]", "[unknown]" }
local FILE = "/lib/modules/6.1.0-mine/kernel/my-mod.ko"

describe("the symbols of a module", function()
  for _, with in ipairs { true, false } do
    it("are those of its file, with or without a recorded build-id: "
      .. tostring(with), function()
      local tree = binaries.tree()
      local module = built(tree)
      local path = recorded(module, FILE, with and module.build_id)
      local options = { symfs = tree.path .. "/root" }
      assert.same(expected, (binaries.found(path, options)))
      if needs.missing "perf" then return pending(needs.missing "perf") end
      assert.same(expected, binaries.of_perf(path, { after = "--symfs " .. options.symfs }))
    end)
  end

  for _, how in ipairs { "gzip", "xz", "zstd -q --rm" } do
    it("are those of its file compressed by " .. how:match "%w+", function()
      local tree = binaries.tree()
      local module = built(tree)
      tree:sh("cd root/lib/modules/6.1.0-mine/kernel && " .. how .. " my-mod.ko")
      local suffix = tree:sh "ls root/lib/modules/6.1.0-mine/kernel":match "%.ko(%.%w+)"
      local path = recorded(module, FILE .. suffix, module.build_id)
      assert.same(expected, (binaries.found(path, { symfs = tree.path .. "/root" })))
    end)
  end

  it("are those of the build-id cache", function()
    local tree = binaries.tree()
    local module = built(tree)
    local id = module.build_id
    tree:sh((
      "head=%s tail=%s\nmkdir -p cache/.build-id/$head cache/mod\nmv root%s cache/mod/elf\n"
      .. "ln -s ../../mod cache/.build-id/$head/$tail"):format(id:sub(1, 2), id:sub(3), FILE))
    local path, cache = recorded(module, FILE, id), tree.path .. "/cache"
    assert.same(expected, (binaries.found(path, { buildid_dir = cache })))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    assert.same(expected, binaries.of_perf(path, { before = "--buildid-dir " .. cache }))
  end)

  it("are those of the file of its name and build-id among the modules of the "
    .. "release", function()
    local tree = binaries.tree()
    local module = built(tree)
    tree:write("root/lib/modules/6.1.0-mine/modules.dep",
      "kernel/other.ko: kernel/my-mod.ko\nkernel/my-mod.ko:\nkernel/my-mod-2.ko:\n")
    local options = { symfs = tree.path .. "/root" }
    assert.same(expected, (binaries.found(recorded(module, "[my_mod]", module.build_id),
      options)))
    local list, missing = binaries.found(recorded(module, "[my_mod]", ("ab"):rep(20)), options)
    assert.same(none, list)
    local tried = {}
    for _, m in ipairs(missing) do
      tried[#tried + 1] = table.concat(m.tried, "\n")
    end
    assert.matches("my%-mod.ko: build%-id differs", table.concat(tried, "\n"))
  end)

  it("are not those of another build", function()
    local tree = binaries.tree()
    local module = built(tree)
    local list = binaries.found(recorded(module, FILE, ("ab"):rep(20)),
      { symfs = tree.path .. "/root" })
    assert.same(none, list)
  end)
end)

describe("a recording that is a directory", function()
  it("brings the kernel's symbols in its kcore_dir", function()
    local tree = binaries.tree()
    local text =
      "ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000200 T more\n"
    local path = binaries.recorded({ KERNEL }, { 0xffffffff81000101 }, { misc = 1 })
    tree:sh(("mkdir -p data/kcore_dir && mv %s data/data"):format(path))
    tree:write("data/kcore_dir/kallsyms", text)
    assert.same({ "do_work+0x1" }, (binaries.found(tree.path .. "/data")))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    assert.same({ "do_work+0x1" }, binaries.of_perf(tree.path .. "/data"))
  end)

  it("has no kernel's symbols if kallsyms in its kcore_dir leads to a device, or to a file of "
    .. "/proc", function()
    for target, why in pairs {
      ["/dev/zero"] = "is a device, not a file",
      ["/proc/version"] = "is a file of /proc, /sys or the like, not a regular file",
    } do
      local tree = binaries.tree()
      local path = binaries.recorded({ KERNEL }, { 0xffffffff81000101 }, { misc = 1 })
      tree:sh(("mkdir -p data/kcore_dir && mv %s data/data; ln -s %s data/kcore_dir/kallsyms")
        :format(path, target))
      local _, missing = binaries.found(tree.path .. "/data")
      assert.equal(("%s/data/kcore_dir/kallsyms: %s"):format(tree.path, why),
        missing[1].tried[1])
    end
  end)
end)
