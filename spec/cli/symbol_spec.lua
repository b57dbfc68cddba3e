-- perflua symbol FILE ADDRESS: each step from an address to its name, and where the way ends.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local SECOND = 1000000000
local KERNEL = 0xffffffff81000000
local ID = ("5a"):rep(20)

-- Runs the tool with these words and returns its output.
local function symbol(...)
  local got = run.perflua { "symbol", ... }
  assert.same({ 0, "" }, { got.status, got.err })
  return got.out
end

local function has(text, ...)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), ("%q is not in\n%s"):format(part, text))
  end
end

local function lacks(text, ...)
  for _, part in ipairs { ... } do
    assert(not text:find(part, 1, true), ("%q is in\n%s"):format(part, text))
  end
end

-- A recording of records { type, fields, time in s } and of samples of a process, 7 if it is
-- not said, at addresses.
local function recording(records, ips, pid)
  pid = pid or 7
  local b = binaries.of_here(builder.new())
  local event = b:event { name = "cpu-clock", type = 1, sample_type = { "ip", "tid", "time" } }
  for _, r in ipairs(records) do
    b:record(r[1], r[2], { pid = r[2].pid or 7, tid = r[2].tid or 7, time = r[3] * SECOND })
  end
  for i, ip in ipairs(ips or { 0x1 }) do
    b:sample(event, { ip = ip, pid = pid, tid = pid, time = 10 * SECOND + i,
      misc = ip < 0 and 1 or 2 })
  end
  return b:write()
end

local function map(fields)
  local record = { pid = 7, tid = 7, addr = 0x400000, len = 0x10000, prot = 5, flags = 2,
    misc = 2 }
  for name, value in pairs(fields) do record[name] = value end
  return record
end

local function comm(pid, name) return { pid = pid, tid = pid, comm = name } end

describe("perflua symbol", function()
  local tree = binaries.tree()
  tree:sh "mkdir app"
  local program = tree:program("app/prog", "-g", [[
    static inline __attribute__((always_inline)) int deep(volatile int *n) { return *n += 5; }
    __attribute__((noinline)) int wide(volatile int *n) { return deep(n) * 2; }
    int (*kept)(volatile int *) = wide;
  ]])
  local name = tree.path .. "/app/prog"
  local path = recording({
    { "comm", comm(7, "first"), 1 },
    { "mmap2", map { filename = name, build_id = program.build_id }, 2 },
    { "comm", comm(7, "second"), 5 },
  }, { 0x400000 + program.wide })
  local address = ("%x"):format(0x400000 + program.wide)

  it("walks from an address of a program to its line", function()
    local text = symbol("--pid", "7", path, address)
    has(text, "asked      0x" .. address .. ", an address of a process\n",
      "process    7 second\n",
      "map        0x400000-0x410000 r-x, offset 0x0 of " .. name .. "\n",
      "made by the mmap2 record at offset ",
      ", at 2.000000\n", "holds      from 2.000000 to the end\n",
      ("binary     %s (file), build-id %s\n"):format(name, program.build_id),
      ("address    offset 0x%x in the file, 0x%s for nm and addr2line\n"):format(program.wide,
        address),
      " of " .. name .. " (recorded path)\n",
      name .. ": has the symbols, and is what was mapped (recorded path)\n",
      ("symbol     wide+0x0, 0x%x to "):format(program.wide), "line       prog.c:",
      "debug information of " .. name)
  end)

  it("agrees with nm and addr2line", function()
    local file <close> =
      assert(io.popen(("addr2line -f -i -e %s 0x%x"):format(name, 0x400000 + program.wide + 2)))
    local functions, places = {}, {}
    for line in file:lines() do
      local list = #functions == #places and functions or places
      list[#list + 1] = line:match "[^/]*$":match "^[^ ]*"
    end
    local text = symbol("--pid", "7", path, ("%x"):format(0x400000 + program.wide + 2))
    has(text, "symbol     wide+0x2,", "line       " .. places[1])
    for i = 1, #functions - 1 do
      has(text, ("%s into %s at %s"):format(functions[i], functions[i + 1], places[i + 1]))
    end
  end)

  it("agrees with perf on a symbol and its offset", function()
    if needs.missing "perf" then return pending(needs.missing "perf") end
    local pid = 0x3ffff0 -- none runs here, whose name spaces perf would enter
    local other = recording({ { "mmap2",
      map { pid = pid, tid = pid, filename = name, build_id = program.build_id }, 2 } },
      { 0x400000 + program.wide }, pid)
    has(symbol("--pid", tostring(pid), other, address),
      "symbol     " .. binaries.of_perf(other)[1] .. ",")
  end)

  it("says the name that the process had at a time", function()
    has(symbol("--pid", "7", "--time", "4", path, address), "process    7 first at 4.000000\n")
    has(symbol("--pid", "7", "--time", "6.5", path, address),
      "process    7 second at 6.500000\n")
  end)

  it("says what was before and after an address that no symbol covers", function()
    local text = symbol("--pid", "7", path, ("%x"):format(0x400000 + program.main + 0x8000))
    has(text, "symbol     none covers it\n", "before: ", "after: none\n")
  end)

  it("names each file that was tried, and what to do where none has the symbols", function()
    local other = recording { { "mmap2", map { filename = name, build_id = ID }, 2 } }
    local text = symbol("--pid", "7", other, address)
    has(text, "symbols    none: no file with its build-id was found\n",
      "-> install its debug symbols",
      ("%s: build-id differs: found %s, recorded %s (recorded path)\n"):format(name,
        program.build_id, ID))
    lacks(text, "\nsymbol ", "\nline ")
  end)

  it("says that there are no lines without debug information", function()
    tree:sh "cp app/prog app/bare && strip -g app/bare"
    local bare = recording { { "mmap2",
      map { filename = tree.path .. "/app/bare", build_id = program.build_id }, 2 } }
    has(symbol("--pid", "7", bare, address),
      "line       none: no file with debug information was found")
  end)

  it("shows each time range in which something else was there", function()
    local changed = recording {
      { "comm", comm(7, "prog"), 1 },
      { "mmap2", map { filename = name, build_id = program.build_id }, 2 },
      { "mmap2", map { filename = "/nowhere/b", build_id = ID }, 11 },
    }
    local text = symbol("--pid", "7", changed, address)
    has(text, "holds      from 2.000000 to 11.000000\n", "symbol     wide+0x0",
      "holds      from 11.000000 to the end\nbinary     /nowhere/b (file)")
    text = symbol("--pid", "7", "--time", "10.5", changed, address)
    has(text, "wide+0x0")
    lacks(text, "/nowhere/b")
  end)

  it("follows a fork to the process that mapped it", function()
    local forked = recording {
      { "comm", comm(7, "prog"), 1 },
      { "mmap2", map { filename = name, build_id = program.build_id }, 2 },
      { "fork", { pid = 8, tid = 8, ppid = 7, ptid = 7, time = 3 * SECOND }, 3 },
    }
    local text = symbol("--pid", "8", forked, address)
    has(text, "process    8 prog, began at 3.000000\n", "inherited from process 7 by a fork\n",
      "holds      from 3.000000 to the end\n", "symbol     wide+0x0")
    lacks(text, "map        none")
    text = symbol(forked, address)
    has(text, "processes  2 had it mapped; --pid PID shows one of them step by step\n",
      "           7 prog: wide+0x0 of " .. name .. ", from 2.000000 to the end\n",
      "           8 prog: wide+0x0 of " .. name .. ", from 3.000000 to the end\n")
  end)

  it("needs no process where just one had it mapped", function()
    has(symbol(path, "0x" .. address), "process    7 second\n", "symbol     wide+0x0")
  end)

  it("says what lies around an address that was never mapped", function()
    local text = symbol("--pid", "7", path, "1000")
    has(text, "map        none, the whole recording\n", "next above: 0x400000-0x410000 r-x, "
      .. name .. "\n",
      "-> no record maps it: ")
    has(symbol(path, "1000"),
      "processes  none: no process had it mapped during the recording")
    has(symbol("--pid", "12345", path, "1000"), "-> the recording has no process 12345: ")
  end)

  it("is of a module or the kernel by itself, which may have no map", function()
    local at = KERNEL + 0x100
    local module = KERNEL + 0x40000000
    local kernel = recording({
      { "mmap", { pid = -1, tid = 0, addr = KERNEL, len = 0x1000000, pgoff = KERNEL, misc = 1,
        filename = "[kernel.kallsyms]_text" }, 0 },
      { "mmap", { pid = -1, tid = 0, addr = module, len = 0x1000, misc = 1,
        filename = "[mod]" }, 0 },
    }, { at })
    local list = files.temporary(("%x T _text\n%x t work\n%x t inside\t[mod]\n"):format(KERNEL,
      at - 16, module))
    local text = symbol("--kallsyms", list, kernel, ("%x"):format(at))
    has(text, "an address of the kernel\n", "made by the mmap record at offset ",
      "binary     [kernel.kallsyms] (kernel), no build-id recorded\n",
      list .. ": has the symbols (option kallsyms)\n",
      "symbol     work+0x10,", "line       none: no vmlinux")
    has(symbol("--kallsyms", list, kernel, ("%x"):format(module + 4)),
      "binary     [mod] (module)",
      "offset 0x4 in the module\n", list .. ": has the symbols (symbols of the kernel)\n",
      "symbol     inside+0x4,")
    has(symbol("--symfs", tree.path, kernel, ("%x"):format(at)), "symbols    none: ",
      "-> use --kallsyms with a copy of /proc/kallsyms made by root, or --vmlinux\n")
    has(symbol(path, ("%x"):format(at)), "map        none",
      "-> no mapping of the kernel covers it: ")
  end)

  it("follows a BPF program that is loaded and unloaded", function()
    local at = KERNEL + 0x50000000
    local function ksymbol(symbol_name, flags)
      return { pid = -1, tid = -1, addr = at, len = 0x100, ksym_type = 1, flags = flags,
        name = symbol_name }
    end
    local text = symbol(recording({
      { "ksymbol", ksymbol("bpf_prog_one", 0), 2 },
      { "ksymbol", ksymbol("bpf_prog_one", 1), 12 },
      { "ksymbol", ksymbol("bpf_prog_two", 0), 14 },
    }, { at + 8 }), ("%x"):format(at + 8))
    has(text, "made by the ksymbol record at offset ",
      "holds      from 2.000000 to 12.000000\n",
      "symbols    1 of the KSYMBOL record\n", "symbol     bpf_prog_one+0x8,",
      "map        none, from 12.000000 to 14.000000\n", "symbol     bpf_prog_two+0x8,",
      "line       none: code that is not mapped from a file has no source lines\n")
  end)

  it("follows code made at run time: a jitdump has times, a perf map has none", function()
    local jit = binaries.tree()
    local code = 0x7f0000000000
    local anon = map { addr = code, filename = "//anon", prot = 7 }
    jit:write("tmp/perf-7.map", ("%x 40 last\n"):format(code + 0x40))
    local mapped = recording({ { "mmap2", anon, 2 } }, { code + 0x44 })
    local text = symbol("--symfs", jit.path, "--pid", "7", mapped, ("%x"):format(code + 0x44))
    has(text, "binary     /tmp/perf-7.map (jit)", "tmp/perf-7.map (perf map)\n",
      "symbol     last+0x4,",
      "a perf map has no times: ")
    has(symbol("--symfs", tree.path, "--pid", "7", mapped, ("%x"):format(code + 0x44)),
      "symbols    none: the program left no perf map and no jitdump for its code\n",
      "-> have the program write ")

    jit:sh "rm tmp/perf-7.map"
    jit:write("tmp/jit-7.dump", jitdump {
      { "load", 3 * SECOND, "old", code + 0x40, 0x40, 1 },
      { "load", 11 * SECOND, "new", code + 0x40, 0x40, 2 },
    })
    local b = binaries.of_here(builder.new())
    local event = b:event { name = "cpu-clock", type = 1, sample_type = { "ip", "tid", "time" },
      use_clockid = true,
      clockid = 1 }
    for _, one in ipairs { anon, map { addr = 0x10000, filename = "/tmp/jit-7.dump" } } do
      b:record("mmap2", one, { pid = 7, tid = 7, time = 2 * SECOND })
    end
    b:sample(event, { ip = code + 0x44, pid = 7, tid = 7, time = 10 * SECOND, misc = 2 })
    text = symbol("--symfs", jit.path, "--pid", "7", b:write(), ("%x"):format(code + 0x44))
    has(text, "holds      from 2.000000 to 3.000000\n",
      "a name in a jitdump is valid from the time when its code was made\n",
      "holds      from 3.000000 to 11.000000\n", "symbol     old+0x4,",
      "holds      from 11.000000 to the end\n",
      "symbol     new+0x4,")
  end)

  it("finds the vdso, memory without code, and the kernel of a guest", function()
    local text = symbol("--pid", "7",
      recording { { "mmap2", map { filename = "[heap]", prot = 3 }, 2 } }, address)
    has(text, "(memory)", "symbols    none: memory that is not mapped from a file\n",
      "-> this memory is not mapped from a file")
    local vdso = { { "mmap2", map { filename = "[vdso]", build_id = ID }, 2 } }
    text = symbol("--pid", "7", recording(vdso), address)
    has(text, "binary     [vdso] (vdso)",
      "symbols    none: no file with its build-id was found\n")
    local guest = recording { { "mmap2",
      { pid = 99, tid = 99, addr = KERNEL, len = 0x1000, prot = 5, pgoff = KERNEL,
      filename = "[guest.kernel.kallsyms]_text", misc = 4 }, 2 } }
    local at = ("%x"):format(KERNEL + 8)
    has(symbol("--guest", "99", guest, at), "an address of the kernel of guest 99\n",
      "binary     [guest.kernel.kallsyms.99] (guest, kernel)",
      "-> add the vmlinux of the guest's kernel ")
    has(symbol("--guest", "98", guest, at), "map        none",
      "-> guest 98 has no mapping there: ")
  end)

  it("is one object with --json", function()
    local words = { "symbol", "--json", "--pid", "7", path, address }
    local text = run.perflua(words).out
    has(text, ('"address":"0x%s"'):format(address), '"kind":"user"', '"pid":7', '"ranges":[{',
      ('"elf_address":"0x%s"'):format(address),
      '"verdict":"has the symbols, and is what was mapped"',
      '"from":2000000000', '"type":"mmap2"', '"covered":{"start":"0x')
    assert.equal(1, select(2, text:gsub("\n", "")))
  end)

  it("reads a stream", function()
    local got = run.shell_with('cat "$1" | "$perflua" symbol - ' .. address, path)
    assert.same({ 0, "" }, { got.status, got.err })
    has(got.out, "symbol     wide+0x0")
  end)

  it("says what is wrong with its words", function()
    for _, case in ipairs {
      { { path, "wide" },
        "symbol: 'wide' is not an address: hexadecimal digits, with or without 0x" },
      { { path, "11112222333344445" }, "is not an address" },
      { { "--pid", "x", path, "1" }, "symbol: --pid: 'x' is not a process id" },
      { { "--time", "noon", path, "1" },
        "symbol: --time: 'noon' is not a time: seconds as perf prints them, 8590.143543, "
          .. "or after" },
      { { "1234" }, "symbol: no recording is named, and perf.data: " },
    } do
      local got = run.perflua { "symbol", table.unpack(case[1]) }
      assert.equal(2, got.status)
      has(got.err, case[2])
      assert.equal("", got.out)
    end
  end)
end)
