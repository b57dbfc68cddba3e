-- Where the symbols of the kernel and its modules are taken from.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local perflua = require "perflua"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"

local TEXT = 0xffffffff81000000
local ID = ("c0ffee42"):rep(5)

local kallsyms = [[
ffffffff81000000 T _text
ffffffff81000000 t local_alias
ffffffff81000100 T do_work
ffffffff81000100 W weak_work
ffffffff81000200 t helper
ffffffff81000300 d table
ffffffff81000380 r constants
ffffffff81000400 b zeros
ffffffff81000480 A absolute
ffffffff81000500 t $d
ffffffff81000600 T SyS_read
ffffffff81000600 T sys_read
ffffffff81000700 T last
ffffffffa0000000 t init_module	[mine]
ffffffffa0000040 t mine_work	[mine]
ffffffffa0001010 t other_work	[other]
nonsense
ffffffff81000800 T
]]

local function kernel(extra)
  local map = { pid = -1, tid = 0, addr = TEXT, len = 0x1000000, pgoff = TEXT, misc = 1,
    filename = "[kernel.kallsyms]_text" }
  for k, v in pairs(extra or {}) do
    map[k] = v
  end
  return map
end

local function module(name, at)
  return { pid = -1, tid = 0, addr = at, len = 0x1000, pgoff = 0, misc = 1, filename = name }
end

local with_id = { misc = 1, features = {
  build_id = { { build_id = ID, filename = "[kernel.kallsyms]", cpumode = "kernel" } },
} }

local function recorded(ips, more, options)
  local maps = { kernel(more) }
  for _, map in ipairs(more and more.modules or {}) do
    maps[#maps + 1] = map
  end
  return binaries.recorded(maps, ips, options or with_id)
end

-- perf takes the last of several at one address.
local ips, expected = {}, {}
for _, pair in ipairs {
  { TEXT + 0x40, "local_alias+0x40" }, { TEXT + 0x100, "weak_work+0x0" },
  { TEXT + 0x2ff, "helper+0xff" },
  { TEXT + 0x310, "table+0x10" }, { TEXT + 0x390, "table+0x90" },
  { TEXT + 0x490, "zeros+0x90" },
  { TEXT + 0x510, "zeros+0x110" }, { TEXT + 0x600, "sys_read+0x0" },
  { TEXT + 0x17ff, "last+0x10ff" },
} do
  ips[#ips + 1], expected[#expected + 1] = pair[1], pair[2]
end

local function shifted(list, by)
  local out = {}
  for i, v in ipairs(list) do
    out[i] = v + by
  end
  return out
end

describe("the symbols of the kernel", function()
  it("are those of the file that the option kallsyms names", function()
    local path, text = recorded(ips), files.temporary(kallsyms)
    assert.same(expected, (binaries.found(path, { kallsyms = text })))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    assert.same(expected, binaries.of_perf(path, { after = "--kallsyms " .. text }))
  end)

  it("are moved with the kernel", function()
    local by = 0x1a000000
    local path = recorded(shifted(ips, by), { addr = TEXT + by, pgoff = TEXT + by })
    local text = files.temporary(kallsyms)
    assert.same(expected, (binaries.found(path, { kallsyms = text })))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    assert.same(expected, binaries.of_perf(path, { after = "--kallsyms " .. text }))
  end)

  it("are as they stand where the recording does not know its addresses", function()
    local path = recorded({ TEXT + 0x100 }, { pgoff = 0 })
    assert.same({ "weak_work+0x0" },
      (binaries.found(path, { kallsyms = files.temporary(kallsyms) })))
  end)

  for name, case in pairs {
    ["a cache of perf"] = "[kernel.kallsyms]/" .. ID .. "/kallsyms",
    ["a cache of an older perf"] = "[kernel.kallsyms]/" .. ID,
  } do
    it("are those of the recorded build-id in " .. name, function()
      local tree, path = binaries.tree(), recorded(ips)
      tree:sh("mkdir -p '" .. case:match "^(.*)/" .. "'")
      files.write(tree.path .. "/" .. case, kallsyms)
      assert.same(expected, (binaries.found(path, { buildid_dir = tree.path })))
      if needs.missing "perf" then return pending(needs.missing "perf") end
      if oracle.does.running_kernel then return end
      assert.same(expected, binaries.of_perf(path, { before = "--buildid-dir " .. tree.path }))
    end)
  end

  local needed = "kallsyms,kernel notes,this architecture"
  needs.it(needed, "are those of this machine if it is the one that was recorded", function()
    local notes, at = files.read "/sys/kernel/notes", nil
    -- NT_GNU_BUILD_ID
    local _, after = notes:find(string.pack("I4I4I4z", 4, 20, 3, "GNU"), 1, true)
    local id = notes:sub(after + 1, after + 20):gsub(".", function(c)
      return ("%02x"):format(c:byte())
    end)
    local f = io.open "/proc/kallsyms"
    for line in f and f:lines() or function() end do
      at = at or line:match "^(%x+) T _text$"
    end
    at = math.tointeger(tonumber(at, 16))
    for _, by in ipairs { 0, 0x2000000 } do
      local path = recorded({ at + by }, { addr = at + by, pgoff = at + by },
        { misc = 1, features = {
        build_id = { { build_id = id, filename = "[kernel.kallsyms]",
          cpumode = "kernel" } } } })
      local list, missing = binaries.found(path, { buildid_dir = "spec/fixtures/empty" })
      assert.matches("%+0x0$", list[1])
      assert.same({}, missing)
      list, missing = binaries.found(path,
        { buildid_dir = "spec/fixtures/empty", symfs = "spec/fixtures/empty" })
      assert.same({ "[unknown]" }, list)
      assert.equal(1, #missing)
    end
  end)

  local placed =
    "are those of this machine, without build-ids, if its kernel lies where the recorded one "
      .. "did"

  -- Where the code of the kernel that runs here begins and ends; its host and release.
  local function running_kernel()
    local first, last
    local f = io.open "/proc/kallsyms"
    for line in f and f:lines() or function() end do
      local at, name = line:match "^(%x+) %a (%S+)$"
      first = name == "_text" and at or first
      last = name == "_etext" and at or last
    end
    return math.tointeger(tonumber(first, 16)), math.tointeger(tonumber(last, 16)),
      files.output "uname -n":match "%S+", files.output "uname -r":match "%S+"
  end

  needs.it("kallsyms", placed, function()
    local first, last, host, release = running_kernel()
    local function found(change)
      local is = { host = host, release = release, at = first, len = last - first }
      for k, v in pairs(change) do is[k] = v end
      return binaries.found(recorded({ is.at }, { addr = is.at, pgoff = is.at, len = is.len },
        { misc = 1,
        features = { hostname = is.host, osrelease = is.release } }),
          { buildid_dir = "spec/fixtures/empty" })
    end
    local list, missing = found {}
    assert.matches("%+0x0$", list[1])
    assert.same({}, missing)
    for _, other in ipairs { { host = "other" }, { release = "6.0.0" },
        { len = last - first + 8 },
      { at = first + 0x2000000 } } do
      list, missing = found(other)
      assert.same({ "[unknown]" }, list)
      assert.matches("its build%-id was not recorded", missing[1].reason)
    end
  end)

  needs.it("kallsyms,strace", "are not all read if the kernel lay elsewhere", function()
    local first, last, host, release = running_kernel()
    for _, by in ipairs { 0, 0x2000000 } do
      local path = recorded({ first + by },
        { addr = first + by, pgoff = first + by, len = last - first },
        { misc = 1, features = { hostname = host, osrelease = release } })
      local command = "strace -f -e trace=read -P /proc/kallsyms %s report %s 2>&1 >/dev/null"
      local said = files.output(command:format(files.quote(os.getenv "PERFLUA"), path))
      local reads = select(2, said:gsub("read%(", ""))
      assert.is_true(by == 0 and reads > 10 or by > 0 and reads == 1, reads .. " reads")
    end
  end)
end)

local function missing(options, record_options, more)
  options.buildid_dir = options.buildid_dir or "spec/fixtures/empty"
  local list, all = binaries.found(recorded({ TEXT + 0x100 }, more, record_options), options)
  assert.same({ "[unknown]" }, list)
  assert.equal(1, #all)
  return all[1].reason, table.concat(all[1].tried, "\n")
end

describe("a kernel without symbols", function()
  needs.it("kernel notes,this architecture",
    "is missing when its build-id is that of no kernel here", function()
    local reason, tried = missing {}
    assert.equal("no kernel with its build-id was found", reason)
    assert.matches("/proc/kallsyms: build%-id differs: found %x+, recorded c0ffee", tried)
    assert.matches("%[kernel.kallsyms%]/c0ffee%x+/kallsyms: No such file", tried)
  end)

  it("is missing when its build-id was not recorded, whatever runs here", function()
    assert.matches("build%-id was not recorded", (missing({}, { misc = 1 })))
  end)

  for name, text in pairs {
    ["are hidden"] = kallsyms:gsub("%x+ (%a) ", ("0"):rep(16) .. " %1 "),
    ["lack the symbol that says where it was"] = kallsyms:gsub("_text", "_else"),
    ["are none"] = "0000000000000000 T nothing\nnothing\n\n\0\n",
    ["are in an empty file"] = "",
  } do
    it("is missing when the addresses of the option kallsyms " .. name, function()
      local path = files.temporary(text)
      local reason, tried = missing { kallsyms = path }
      assert.equal("the given file cannot be used", reason)
      assert.equal(1, (select(2, tried:gsub(path .. ": ", ""))))
    end)
  end

  it("cannot be asked for from what is not a list of symbols", function()
    local path = recorded { TEXT + 0x100 }
    local wrong = {
      ["/nonexistent/kallsyms"] = "ENOENT", ["/"] = "EISDIR", ["/dev/zero"] = "FORMAT",
      ["/etc/passwd"] = "FORMAT",
    }
    for source, code in pairs(wrong) do
      local file, message, got = perflua.open(path, { kallsyms = source })
      assert.is_nil(file)
      assert.are.equal(code, got)
      assert.matches("^kallsyms: " .. source .. ": .", message)
    end
  end)
end)

describe("the symbols of a module", function()
  local at = 0xffffffffa0000000
  local more = { modules = { module("[mine]", at),
    module("/lib/modules/6.1/kernel/other.ko.xz", at + 0x1000) } }
  local places = { at + 0x45, at + 0x1011, at + 0x1001 }

  it("are those that the kernel's kallsyms has of it", function()
    local path, text = recorded(places, more), files.temporary(kallsyms)
    assert.same({ "mine_work+0x5", "other_work+0x1", "[unknown]" },
      (binaries.found(path, { kallsyms = text })))
    -- perf fills a module's symbols in only once an address of the kernel itself was looked up
    if needs.missing "perf" then return pending(needs.missing "perf") end
    path = recorded({ TEXT, table.unpack(places) }, more)
    assert.same({ "local_alias+0x0", "mine_work+0x5", "other_work+0x1", "[unknown]" },
      binaries.of_perf(path, { after = "--kallsyms " .. text }))
  end)

  it("are not taken when it was elsewhere", function()
    local moved = { modules = { module("[mine]", at + 0x10000) } }
    local list = binaries.found(recorded({ at + 0x10045 }, moved),
      { kallsyms = files.temporary(kallsyms) })
    assert.same({ "[unknown]" }, list)
  end)

  it("are not taken when the kernel was moved", function()
    local by = { addr = TEXT + 0x1000, pgoff = TEXT + 0x1000, modules = more.modules }
    local list = binaries.found(recorded(places, by), { kallsyms = files.temporary(kallsyms) })
    assert.same({ "[unknown]", "[unknown]", "[unknown]" }, list)
  end)
end)

describe("the size of the kernel", function()
  local function sizes(path, options)
    local file <close> = assert(perflua.open(path, options))
    return file:samples():select("dso_size", "map.len"):collect()
  end
  local list = kallsyms:gsub("nonsense.*", "")

  it("is what its kallsyms spans, as perf has it, or what was mapped", function()
    local path, text = recorded({ TEXT + 0x40 }), files.temporary(list)
    assert.same({ { 0x2000, 0x1000000 } }, sizes(path, { kallsyms = text }))
    assert.same({ { 0x1000000, 0x1000000 } }, sizes(path, { kallsyms = "/dev/null" }))
    assert.same({ { 0x1000000, 0x1000000 } }, sizes(path))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    local theirs = files.output(("perf report -f --stdio -s dso,dso_size --kallsyms %s -i %s "
      .. "2>/dev/null"):format(text, path))
    assert.matches("%] +8192 *\n", theirs)
  end)
end)

describe("a kernel's file", function()
  -- The smallest kernel: its code at an address of kernels.
  local function vmlinux(tree, address)
    tree:write("vmlinux.c",
      "void _text(void) { } int do_work(int n) { return n * 3; } int table[9] = { 1 };")
    tree:sh((
      "gcc -O1 -nostdlib -static -Wl,--build-id -Wl,-e,_text -mcmodel=kernel -fno-pie -no-pie "
      .. "-Wl,-Ttext=0x%x -Wl,-Tdata=0x%x -o vmlinux vmlinux.c"):format(address,
      address + 0x100000))
    local found = {}
    for a, name in tree:sh "nm vmlinux":gmatch "(%x+) %a (%S+)" do
      found[name] = math.tointeger(tonumber(a, 16))
    end
    return found, tree:build_id "vmlinux"
  end

  local function with(id)
    return { misc = 1, features = {
      build_id = { { build_id = id, filename = "[kernel.kallsyms]", cpumode = "kernel" } },
      osrelease = "6.1.0-mine",
    } }
  end

  it("has the symbols when the option vmlinux names it, also of a kernel that was "
    .. "moved", function()
    local tree = binaries.tree()
    local at, id = vmlinux(tree, TEXT)
    for _, by in ipairs { 0, 0x1000000 } do
      local path = recorded({ at.do_work + by + 1 },
        { addr = TEXT + by, pgoff = at._text + by }, with(id))
      assert.same({ "do_work+0x1" },
        (binaries.found(path, { vmlinux = tree.path .. "/vmlinux" })))
      if needs.missing "perf" then return pending(needs.missing "perf") end
      assert.same({ "do_work+0x1" },
        binaries.of_perf(path, { after = "--vmlinux " .. tree.path .. "/vmlinux" }))
    end
  end)

  it("names the addresses after a label in a function by it, as its kallsyms do", function()
    local tree = binaries.tree()
    tree:write("vmlinux.S", ".globl _text, entry, after\n.type entry,@function\n_text: nop\n"
      .. "entry: nop\nafter: nop\nnop\n.size entry, . - entry\n")
    tree:sh(("gcc -nostdlib -static -Wl,--build-id -Wl,-e,_text -no-pie -Wl,-Ttext=0x%x "
      .. "-o vmlinux vmlinux.S"):format(TEXT))
    local path = recorded({ TEXT + 1, TEXT + 3 }, { pgoff = TEXT },
      with(tree:build_id "vmlinux"))
    assert.same({ "entry+0x0", "after+0x1" },
      (binaries.found(path, { vmlinux = tree.path .. "/vmlinux" })))
  end)

  it("has the symbols when it is among the kernels of symfs, or in the build-id "
    .. "cache", function()
    local tree = binaries.tree()
    local at, id = vmlinux(tree, TEXT)
    local path = recorded({ at.do_work + 1 }, { pgoff = at._text }, with(id))
    tree:sh(([[
      mkdir -p root/boot cache/.build-id/%s cache/vmlinux.d
      cp vmlinux root/boot/vmlinux-6.1.0-mine
      cp vmlinux cache/vmlinux.d/elf
      ln -s ../../vmlinux.d cache/.build-id/%s/%s]]):format(id:sub(1, 2), id:sub(1, 2), id:sub(3)))
    for _, options in ipairs { { symfs = tree.path .. "/root" },
        { buildid_dir = tree.path .. "/cache" } } do
      assert.same({ "do_work+0x1" }, (binaries.found(path, options)))
    end
  end)

  it("is refused when it is that of another build", function()
    local tree = binaries.tree()
    local at = vmlinux(tree, TEXT)
    local path = recorded({ at.do_work + 1 }, { pgoff = at._text }, with(ID))
    local list, all = binaries.found(path, { vmlinux = tree.path .. "/vmlinux" })
    assert.same({ "[unknown]" }, list)
    assert.equal("the given file cannot be used", all[1].reason)
    assert.matches("vmlinux: build%-id differs", all[1].tried[1])
  end)
end)
