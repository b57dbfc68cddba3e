-- Names of code that programs make while they run: perf maps and jitdumps; BPF programs; the
-- vdso.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local needs = require "spec.support.needs"

local CODE = 0x7f0000000000

local anonymous = { addr = CODE, len = 0x10000, filename = "//anon" }

-- A pid whose perf map no other program writes.
local pid = 0x3ffff0

local function recorded(ips, more, options)
  local maps = { { pid = pid, tid = pid } }
  for k, v in pairs(anonymous) do
    maps[1][k] = v
  end
  for _, map in ipairs(more or {}) do
    maps[#maps + 1] = map
  end
  options = options or {}
  options.pid = pid
  return binaries.recorded(maps, ips, options)
end

describe("a perf map", function()
  local function found(text, ips)
    local tree = binaries.tree()
    tree:write(("tmp/perf-%d.map"):format(pid), text)
    local path = recorded(ips)
    local list, missing = binaries.found(path, { symfs = tree.path })
    return list, missing, path
  end

  local ips = { CODE + 0x10, CODE + 0x1f, CODE + 0x20, CODE + 0x105, CODE + 0x205, CODE + 0x310,
    CODE + 0x400 }

  it("has a function on each line", function()
    local text =
      ("%x 10 one\n%x 20 two words  and more \n0x%x 0x10 JS:~three /a b.js:1:2\n%x 100 last")
      :format(CODE + 0x10, CODE + 0x100, CODE + 0x200, CODE + 0x300)
    local list, _, path = found(text, ips)
    local expected = { "one+0x0", "one+0xf", "[unknown]", "two words  and more +0x5",
      "JS:~three /a b.js:1:2+0x5",
      "last+0x10", "[unknown]" }
    assert.same(expected, list)
    if needs.missing "perf" then return pending(needs.missing "perf") end
    -- perf does not look below symfs
    local own = ("/tmp/perf-%d.map"):format(pid)
    assert.is_false(files.exists(own))
    files.write(own, text .. "\n")
    local theirs = binaries.of_perf(path)
    os.remove(own)
    assert.same(expected, theirs)
  end)

  it("may have lines that are none", function()
    local text =
      ("\n\nzz 10 no\n%x\n%x 10\n%x  10 spaces\n%x 10 \n%x 10 one\n\0\0\0 10 x\n"
        .. "10000000000000000 1 big\n")
      :format(CODE, CODE, CODE, CODE, CODE + 0x10)
    assert.same({ "one+0x0", "one+0xf", "[unknown]" },
      (found(text, { ips[1], ips[2], ips[3] })))
  end)

  it("may name what was at an address before: the last line holds", function()
    local text = ("%x 20 a_long_name_of_before\n%x 10 now\n"):format(CODE + 0x10, CODE + 0x10)
    assert.same({ "now+0xf" }, (found(text, { ips[2] })))
  end)

  it("is missing if there is no file", function()
    local list, missing = binaries.found(recorded { CODE }, { symfs = "spec/fixtures/empty" })
    assert.same({ "[unknown]" }, list)
    assert.equal("the program left no perf map and no jitdump for its code", missing[1].reason)
    assert.same({ ("spec/fixtures/empty/tmp/perf-%d.map: No such file or directory"):format(
      pid) }, missing[1].tried)
  end)

  needs.it("root", "is not read when it is another user's, but by root", function()
    local tree = binaries.tree()
    tree:write(("tmp/perf-%d.map"):format(pid), ("%x 100 evil\n"):format(CODE))
    tree:write("ask.lua", [[
      for s in assert(perflua.open(arg[1], { symfs = arg[2] })):samples() do print(s.symbol) end]])
    local path = recorded { CODE }
    tree:sh(("cp %s data && cp %s perflua && chmod -R a+rX ."):format(path,
      os.getenv "PERFLUA"))
    for _, case in ipairs { { 65534, 65534, "evil" }, { 0, 65534, "evil" }, { 1, 65534, "nil" },
        { 1, 0, "evil" } } do
      tree:sh(("chown %d tmp/*"):format(case[1]))
      local ask = "setpriv --reuid %d ./perflua ask.lua data %s"
      assert.equal(case[3] .. "\n", tree:sh(ask:format(case[2], tree.path)))
    end
  end)

  it("is not read when it is a fifo, a directory or a link to itself", function()
    for _, script in ipairs { "mkfifo $f", "mkdir $f", "ln -s $f $f" } do
      local tree = binaries.tree()
      tree:sh(("mkdir tmp; f=tmp/perf-%d.map\n%s"):format(pid, script))
      local list, missing = binaries.found(recorded { CODE }, { symfs = tree.path })
      assert.same({ "[unknown]" }, list)
      assert.equal(1, #missing[1].tried)
    end
  end)

  it("is not read when it leads to a file that the kernel makes", function()
    local own = ("/tmp/perf-%d.map"):format(pid)
    assert.is_false(files.exists(own))
    files.output("ln -s /proc/version " .. own)
    local _, missing = binaries.found(recorded { CODE })
    os.remove(own)
    assert.same({ own .. ": is a file of /proc, /sys or the like, not a regular file" },
      missing[1].tried)
  end)
end)

describe("a perf map in a container", function()
  needs.it("mount namespaces",
    "is found by the id that its process has there, while it runs", function()
    -- /proc is the outer one: it tells the outer id of the process inside
    local child = io.popen([[unshare --pid --fork --mount sh -c 'mount -t tmpfs none /tmp &&
      echo "7f0000000000 100 inner" >/tmp/perf-1.map && read -r outer rest </proc/self/stat &&
      echo $outer && exec sleep 300' 2>&1]], "r")
    local outer = child:read "n"
    assert.equal("integer", math.type(outer))
    local function found(host)
      local path = binaries.recorded({ anonymous }, { CODE + 5 },
        { pid = outer, features = {
        hostname = host, osrelease = files.output "uname -r":match "%S+" } })
      return (binaries.found(path))
    end
    assert.same({ "inner+0x5" }, found(files.output "uname -n":match "%S+"))
    assert.same({ "[unknown]" }, found "other")
    files.output("kill -9 " .. outer)
    child:close()
  end)
end)

describe("a jitdump", function()
  local tree = binaries.tree()

  local function found(bytes, ips, options)
    local name = ("%s/jit-%d.dump"):format(tree.path, pid)
    files.write(name, bytes)
    local mark = { pid = pid, tid = pid, addr = CODE + 0x100000, len = 0x1000, filename = name }
    options = options or { monotonic = true }
    return binaries.found(recorded(ips, { mark }, options))
  end

  local at = CODE + 0x100
  local records = {
    { "load", 5, "first", at, 0x20, 1 },
    { "load", 15, "second", at + 0x10, 0x20, 2 },
    { "move", 25, 1, at, at + 0x100, 0x20 },
    { "load", 35, "third", at, 0x8, 3 },
  }

  for _, endian in ipairs { "little", "big" } do
    it("says what was where, and when, in " .. endian .. " endian", function()
      local bytes = jitdump(records, { endian = endian })
      local cases = {
        { 4, "[unknown]", "[unknown]", "[unknown]" },
        { 5, "first+0x1", "first+0x11", "[unknown]" },
        { 15, "first+0x1", "second+0x1", "[unknown]" },
        { 24, "first+0x1", "second+0x1", "[unknown]" },
        { 25, "first+0x1", "second+0x1", "first+0x1" },
        { 35, "third+0x1", "second+0x1", "first+0x1" },
      }
      for _, case in ipairs(cases) do
        for i, ip in ipairs { at + 1, at + 0x11, at + 0x101 } do
          assert.same({ case[i + 1] },
            (found(bytes, { ip }, { monotonic = true, time = case[1] })))
        end
      end
    end)
  end

  it("holds all the time when the recording's clock is another", function()
    assert.same({ "third+0x1", "second+0x1", "first+0x1" },
      (found(jitdump(records), { at + 1, at + 0x11, at + 0x101 }, { time = 1 })))
  end)

  it("holds all the time when its times are cycles of which nothing is known", function()
    assert.same({ "third+0x1" },
      (found(jitdump(records, { flags = 1 }), { at + 1 }, { monotonic = true, time = 1 })))
  end)

  it("is not missing, but is when it has nothing to say", function()
    local _, missing = found(jitdump(records), { at + 1 })
    assert.same({}, missing)
    for reason, bytes in pairs {
      ["no functions in it"] = jitdump {},
      ["shorter than its header"] = "JiTD",
      ["no jitdump"] = ("x"):rep(100),
      ["has unknown flags"] = jitdump(records, { flags = 8 }),
    } do
      local list
      list, missing = found(bytes, { at + 1 })
      assert.same({ "[unknown]" }, list)
      assert.matches("jit%-%d+.dump: " .. reason, missing[1].tried[1])
    end
  end)

  needs.it("root", "is not read when it is another user's, but by root", function()
    local own = binaries.tree()
    own:write(("root/jit-%d.dump"):format(pid), jitdump(records))
    own:write("ask.lua", [[
      local file <close> = assert(perflua.open(arg[1], { symfs = "root" }))
      print(file:samples():first().symbol, (file:missing()[1] or { tried = {} }).tried[1])]])
    local path = recorded({ at + 1 },
      { { pid = pid, tid = pid, addr = CODE + 0x100000, len = 0x1000,
      filename = ("/jit-%d.dump"):format(pid) } })
    own:sh(("cp %s data && cp %s perflua && chmod -R a+rX ."):format(path, os.getenv "PERFLUA"))
    local refused = ("nil\troot/jit-%d.dump: of another user\n"):format(pid)
    for _, case in ipairs { { 65534, 65534 }, { 0, 65534 }, { 1, 65534, refused }, { 1, 0 } } do
      own:sh(("chown %d root/*"):format(case[1]))
      local ask = "setpriv --reuid %d ./perflua ask.lua data"
      assert.equal(case[3] or "third\tnil\n", own:sh(ask:format(case[2])))
    end
  end)

  it("is not read when it is larger than 512 MB, or no file", function()
    local own = binaries.tree()
    local name = ("%s/jit-%d.dump"):format(own.path, pid)
    local mark = { pid = pid, tid = pid, addr = CODE + 0x100000, len = 0x1000, filename = name }
    for script, why in pairs {
      ["truncate -s 536870913 $f"] = "larger than 512 MB",
      ["mkfifo $f"] = "is a FIFO, not a file",
      ["ln -s /dev/zero $f"] = "is a device, not a file",
      ["ln -s /proc/version $f"] =
        "is a file of /proc, /sys or the like, not a regular file",
    } do
      own:sh(("f=%s; rm -f $f; %s"):format(name, script))
      local _, missing = binaries.found(recorded({ at + 1 }, { mark }))
      assert.equal(("%s: %s"):format(name, why), missing[1].tried[1])
    end
  end)

  it("may be cut or damaged anywhere", function()
    local bytes = jitdump(records)
    local names = { ["first+0x1"] = true, ["third+0x1"] = true, ["[unknown]"] = true }
    for n = 0, #bytes, 7 do
      local list = found(bytes:sub(1, n), { at + 1 }, { monotonic = true, time = 40 })
      assert.is_true(names[list[1]])
      found(bytes:sub(1, n) .. "\xff\xff\xff\xff" .. bytes:sub(n + 5), { at + 1 },
        { monotonic = true, time = 40 })
    end
  end)

  needs.it("record,node", "has the names that perf inject gives the code of node", function()
    tree:write("busy.js", [[
      const end = Date.now() + 400; let x = 0;
      while (Date.now() < end) { const f = new Function("n", "let s = 0; for (let i = 0; i < n; i++) s += i; return s");
        for (let j = 0; j < 200; j++) x += f(100); }]])
    tree:sh [[
      perf record -N --no-bpf-event -m 64 -k mono -F 2000 -e cpu-clock:u -o data node --perf-prof busy.js
      perf inject --jit -i data -o jit.data]]
    local theirs, ours = {}, {}
    local lines =
      "cd %s && perf script -f --ns -F ip,time,sym,symoff,dso -i jit.data 2>/dev/null"
    for line in files.lines(lines:format(tree.path)) do
      local time, ip,
        symbol = line:match "^%s*([%d.]+):%s+(%x+) (.-) %([^()]*jitted%-[%d%-]+%.so%)$"
      -- what is compiled into node itself is in both: its own names are those of its file
      if time and #ip > 9 then
        theirs[#theirs + 1] = ("%s %s %s"):format(time, ip, symbol)
      end
    end
    local file <close> = assert(require "perflua".open(tree.path .. "/data"))
    for s in file:samples() do
      if s.dso and s.dso:find "^/tmp/perf%-" and s.symbol then
        ours[#ours + 1] = ("%d.%09d %x %s+0x%x"):format(s.time // 1000000000,
          s.time % 1000000000, s.ip, s.symbol,
          s.symoff)
      end
    end
    assert.is_true(#theirs > 20, #theirs .. " samples")
    assert.same(theirs, ours)
  end)
end)

describe("a BPF program", function()
  it("is the symbol of its own code", function()
    local b = builder.new()
    local event = b:event { name = "cpu-clock", type = 1,
      sample_type = { "ip", "tid", "time" } }
    local from = 0xffffffffc0001000
    b:record("ksymbol", { addr = from, len = 0x80, ksym_type = 1,
      name = "bpf_prog_1234_trace" }, { time = 1 })
    for i, ip in ipairs { from, from + 0x7f, from + 0x80 } do
      b:sample(event, { ip = ip, pid = 7, tid = 7, time = 1 + i, misc = 1 })
    end
    assert.same({ "bpf_prog_1234_trace+0x0", "bpf_prog_1234_trace+0x7f", "[unknown]" },
      (binaries.found(b:write())))
  end)
end)

describe("the vdso", function()
  local vdso = { addr = CODE, len = 0x2000, filename = "[vdso]" }

  -- The build-id in the vdso of this process.
  local function own_build_id()
    local from, to = files.read "/proc/self/maps":match "%f[%x](%x+)%-(%x+) [^\n]*%[vdso%]"
    local memory <close> = assert(io.open("/proc/self/mem", "rb"))
    memory:seek("set", tonumber(from, 16))
    local bytes = memory:read(tonumber(to, 16) - tonumber(from, 16))
    -- NT_GNU_BUILD_ID
    local _, after = bytes:find(string.pack("I4I4I4z", 4, 20, 3, "GNU"), 1, true)
    return (bytes:sub(after + 1, after + 20):gsub(".", function(c)
      return ("%02x"):format(c:byte())
    end))
  end

  needs.it("this architecture", "is found on this machine by the recorded build-id", function()
    vdso.build_id = own_build_id()
    local path = binaries.recorded({ vdso }, { CODE + 0xa00 })
    local list, missing = binaries.found(path, { buildid_dir = "spec/fixtures/empty" })
    assert.matches("^[%w_]+%+0x%x+$", list[1])
    assert.same({}, missing)
  end)

  needs.it("this architecture", "has no symbols if it is of another kernel", function()
    vdso.build_id = ("ab"):rep(20)
    local list, missing = binaries.found(binaries.recorded({ vdso }, { CODE + 0xa00 }))
    assert.same({ "[unknown]" }, list)
    assert.equal("no file with its build-id was found", missing[1].reason)
  end)
end)
