-- Source lines of addresses, and the functions that were inlined there.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

-- Each mark is an instruction; its name is that of its place.
local SPIN = files.read(files.fixture "clang/spin.c")

local PID <const>, START <const> = binaries.PID, 0x400000

--- A recording of one sample for each place, with a call chain of that address alone.
local function recorded(path, places, build_id)
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1,
    sample_type = { "ip", "tid", "time", "callchain" } }
  b:record("mmap2", { pid = PID, tid = PID, addr = START, len = 0x100000, prot = 5, flags = 2,
    misc = 2,
    filename = path, build_id = build_id })
  for i, place in ipairs(places) do
    b:sample(event, { ip = START + place, pid = PID, tid = PID, time = i,
      callchain = { -512, START + place } })
  end
  return b:write()
end

---Returns what is inlined there and where each was, innermost first; then the function itself.
local function chain(frame)
  local list = {}
  for _, f in ipairs(frame.inlined or {}) do
    list[#list + 1] = ("%s %s"):format(f.symbol, f.srcline)
  end
  list[#list + 1] = ("%s %s"):format(frame.symbol, frame.srcline)
  return list
end

local function chains(path, options)
  local file <close> = assert(perflua.open(path, options))
  local list = {}
  for s in file:samples() do
    list[#list + 1] = chain(s.callchain[1])
  end
  return list
end

local function srclines(path, options)
  local file <close> = assert(perflua.open(path, options))
  local list = {}
  for s in file:samples() do
    list[#list + 1] = s.srcline or "nil"
  end
  return list
end

local NAMES = { "in_inner", "in_middle", "in_outer", "in_main" }

local function places(program)
  local list = {}
  for i, name in ipairs(NAMES) do
    list[i] = assert(program[name], name)
  end
  return list
end

--- The symbols of a program, from which the marks are then taken away.
local function marked(tree, name)
  local program = tree:symbols(name)
  tree:sh("objcopy -w -N 'in_*' " .. name)
  return program
end

local function made(flags)
  local tree = binaries.tree()
  tree:write("app/spin.c", SPIN)
  tree:sh(("cd app && gcc -O2 -no-pie -Wl,--build-id %s -o spin spin.c"):format(flags))
  return tree, marked(tree, "app/spin")
end

local expected = {
  { "inner spin.c:4", "middle spin.c:11", "outer spin.c:16" },
  { "middle spin.c:9", "outer spin.c:16" },
  { "outer spin.c:15" },
  { "main spin.c:22" },
}
local innermost = { "spin.c:4", "spin.c:9", "spin.c:15", "spin.c:22" }
local outermost = { "spin.c:16", "spin.c:16", "spin.c:15", "spin.c:22" }

local function unknown(list)
  for i, name in ipairs { "outer", "outer", "outer", "main" } do
    assert.same({ name .. " nil" }, list[i])
  end
end

describe("the source lines of an address", function()
  for name, flags in pairs {
    ["DWARF 5"] = "-gdwarf-5",
    ["DWARF 4"] = "-gdwarf-4",
    ["DWARF 3"] = "-gdwarf-3 -gstrict-dwarf",
    ["DWARF 5 of 64 bits"] = "-gdwarf-5 -gdwarf64",
    ["compressed sections"] = "-g -gz",
    ["functions in sections of their own"] = "-g -ffunction-sections -Xlinker --gc-sections",
    [".dwo files"] = "-g -gsplit-dwarf",
    [".dwo files of DWARF 4"] = "-gdwarf-4 -gsplit-dwarf",
    ["optimization by the linker"] = "-g -flto=1",
  } do
    needs.it("gcc " .. flags, "are those of the functions inlined there, with " .. name,
      function()
      local tree, program = made(flags)
      local path = recorded(tree.path .. "/app/spin", places(program), program.build_id)
      assert.same(expected, chains(path))
      assert.same(innermost, srclines(path))
    end)
  end

  --- The chains of all samples after those of the first one and a profile of the second.
  local function chains_after_profile(path, change)
    local file <close> = assert(perflua.open(path))
    local first = file:samples():first().callchain[1]
    local before = chain(first)
    assert(perflua.export(file:samples():where "time == 2", "pprof", files.temporary()))
    change()
    assert.same(before, chain(first))
    local list = {}
    for s in file:samples() do list[#list + 1] = chain(s.callchain[1]) end
    return list
  end

  needs.it("gcc -g", "stay after a profile, which closes the debug file, and are read from it "
    .. "again for other addresses", function()
    local tree, program = made "-g"
    local path = recorded(tree.path .. "/app/spin", places(program), program.build_id)
    assert.same(expected, chains_after_profile(path, function() end))
    local list = chains_after_profile(path, function() os.remove(tree.path .. "/app/spin") end)
    assert.same({ expected[1], expected[2], { "outer nil" }, { "main nil" } }, list)
  end)

  for _, version in ipairs { 4, 5 } do
    it("are known of programs by clang, with DWARF " .. version, function()
      local tree = binaries.tree()
      tree:write("app/spin", files.read(files.fixture("clang/spin-dwarf-" .. version)))
      local program = marked(tree, "app/spin")
      local path = recorded(tree.path .. "/app/spin", places(program), program.build_id)
      assert.same(expected, chains(path))
    end)
  end

  needs.it("perf", "are as perf script has them", function()
    local tree, program = made "-g"
    local path = recorded(tree.path .. "/app/spin", places(program), program.build_id)
    local list = {}
    for line in files.lines("perf script -f -F ip,sym,srcline -i " .. files.quote(path)
        .. " 2>/dev/null") do
      list[#list + 1] = line:match "^  (%S+)$"
    end
    assert.same(oracle.does.outermost_line and outermost or innermost, list)
  end)

  needs.it("this architecture", "are known of a unit that says no addresses, as perf inject "
    .. "--jit writes it", function()
    local tree = binaries.tree()
    local program = tree:program("jitted", "", [[
      __asm__(".section .text.made,\"ax\"\n.file 1 \"made.js\"\n.globl made\n.type made, @function\n"
        ".loc 1 7\nmade: nop\n.loc 1 9\nnop\nnop\n.size made, . - made\n"
        ".section .debug_info\n.long 2f - 1f\n1: .short 2\n.long 0\n.byte 8, 1\n.long 0\n2:\n"
        ".section .debug_abbrev\n.byte 1, 0x11, 0, 0x10, 6, 0, 0, 0\n.text\n");
    ]])
    local path = recorded(tree.path .. "/jitted",
      { program.made, program.made + 1, program.made + 2, program.main }, program.build_id)
    assert.same({ "made.js:7", "made.js:9", "made.js:9", "nil" }, srclines(path))
  end)

  it("is one where nothing is inlined", function()
    local tree, program = made "-g -fno-inline"
    local path = recorded(tree.path .. "/app/spin", { program.in_main }, program.build_id)
    local file <close> = assert(perflua.open(path))
    for s in file:samples() do
      assert.equal("spin.c:22", s.callchain[1].srcline)
      assert.is_nil(s.callchain[1].inlined)
    end
  end)

  it("is not known without debug information, nor after the code", function()
    local tree, program = made "-g0"
    unknown(chains(recorded(tree.path .. "/app/spin", places(program), program.build_id)))
    tree, program = made "-g"
    assert.same({ "nil" },
      srclines(recorded(tree.path .. "/app/spin", { 0xfff00 }, program.build_id)))
  end)
end)

describe("debug information", function()
  local function split(script)
    local tree, program = made "-g"
    local id = program.build_id
    tree:sh(("cd app\nhead=%s tail=%s dir=%s/app\n%s"):format(id:sub(1, 2), id:sub(3),
      tree.path, script))
    return tree, recorded(tree.path .. "/app/spin", places(program), id)
  end

  it("is read from the file that a debug link names", function()
    local _, path = split [[
      objcopy --only-keep-debug spin spin.dbg
      strip spin && objcopy --add-gnu-debuglink=spin.dbg spin]]
    assert.same(expected, chains(path))
  end)

  it("is read from a file below symfs with that build-id", function()
    local tree, path = split [[
      mkdir -p root$dir root/usr/lib/debug/.build-id/$head
      objcopy --only-keep-debug spin root/usr/lib/debug/.build-id/$head/$tail.debug
      strip spin && mv spin root$dir]]
    assert.same(expected, chains(path, { symfs = tree.path .. "/app/root" }))
  end)

  it("is read from a debug file also where the program kept its symbols", function()
    local _, path = split [[
      objcopy --only-keep-debug spin spin.dbg
      strip -g spin && objcopy --add-gnu-debuglink=spin.dbg spin]]
    assert.same(expected, chains(path))
  end)

  it("is not used if it is of another build", function()
    local _, path = split [[
      gcc -g -O1 -no-pie -Wl,--build-id -DOTHER -o other spin.c
      objcopy --only-keep-debug other spin.dbg
      strip -g spin && objcopy --add-gnu-debuglink=spin.dbg spin]]
    unknown(chains(path))
  end)

  it("is not known of a stripped program", function()
    local _, path = split "strip -g spin"
    unknown(chains(path))
  end)

  it("leaves lines without functions if a .dwo file is gone, or no file", function()
    for _, instead in ipairs { "true", "mkfifo $dwo", "mkdir $dwo", "echo >$dwo" } do
      local tree, program = made "-g -gsplit-dwarf"
      tree:sh("cd app\ndwo=$(ls *.dwo)\nrm $dwo\n" .. instead)
      local path = recorded(tree.path .. "/app/spin", places(program), program.build_id)
      assert.same(innermost, srclines(path))
    end
  end)
end)

describe("the names of inlined functions", function()
  local CXX = [[
    namespace app {
    template <class T> struct Box {
      T v;
      inline __attribute__((always_inline)) T get() const
      { __asm__ volatile(".globl in_get\nin_get: nop"); return v + 1; }
    };
    }
    __attribute__((noinline)) int run(app::Box<int> &box) { return box.get(); }
    int main(int argc, char **) { app::Box<int> box{argc}; return run(box); }
  ]]
  local tree = binaries.tree()
  tree:write("box.cc", CXX)

  for name, case in pairs {
    ["are those of the source"] = { nil, "app::Box<int>::get" },
    ["are the compiler's if they shall not be demangled"] = { false, "_ZNK3app3BoxIiE3getEv" },
  } do
    it(name, function()
      tree:sh "g++ -g -O2 -no-pie -Wl,--build-id -o box box.cc"
      local program = marked(tree, "box")
      local path = recorded(tree.path .. "/box", { program.in_get }, program.build_id)
      local file <close> = assert(perflua.open(path, { demangle = case[1] }))
      local frame = file:samples():first().callchain[1]
      assert.same(case[2], frame.inlined[1].symbol)
      assert.same("box.cc:5", frame.inlined[1].srcline)
      assert.same("box.cc:8", frame.srcline)
    end)
  end

  it("have the path of their file, from the unit's directory on, if asked for", function()
    tree:sh "mkdir -p below && cp box.cc below/part.cc"
    tree:sh "g++ -g -O2 -no-pie -Wl,--build-id -o part below/part.cc"
    local program = marked(tree, "part")
    local path = recorded(tree.path .. "/part", { program.in_get }, program.build_id)
    local file <close> = assert(perflua.open(path, { full_source_path = true }))
    local frame = file:samples():first().callchain[1]
    assert.same(tree.path .. "/below/part.cc:5", frame.inlined[1].srcline)
    assert.same(tree.path .. "/below/part.cc:8", frame.srcline)
  end)
end)
