-- Which of the symbols of an ELF file an address has.
local binaries = require "spec.support.binaries"
local builder_elf = require "spec.support.builder_elf"
local needs = require "spec.support.needs"

local X86, PPC64, ARM, ARM64, RISCV = 62, 21, 40, 183, 243
local EXEC, DATA = 6, 3

---Returns what perflua and perf call the bytes of .text that `at` lists, in a file of these
---symbols. file: as builder_elf has it, more sections in `more`.
local function named(file, at)
  file.machine = file.machine or X86
  file.sections = { { name = ".text", data = ("\0"):rep(512), flags = EXEC },
    table.unpack(file.more or {}) }
  for _, symbol in ipairs(file.symbols) do
    symbol.section = symbol.section or ".text"
  end
  local tree = binaries.tree()
  local bytes, sections = builder_elf.pack(file)
  local path = tree:write("lib.so", bytes)
  local ips = {}
  for i, offset in ipairs(at) do
    ips[i] = 0x400000 + sections[1].offset + offset
  end
  local recording = binaries.recorded({ { filename = path } }, ips)
  return binaries.found(recording), not needs.missing "perf" and binaries.of_perf(recording),
    sections
end

local function is_named(expected, file, at)
  local ours, perfs = named(file, at)
  assert.same(expected, ours)
  if needs.missing "perf" then return pending(needs.missing "perf") end
  assert.same(expected, perfs)
end

-- Two at one address: the better one, what makes it so.
local better = {
  { { name = "base" }, { name = "base_weak", binding = "weak" }, "is not weak" },
  { { name = "base" }, { name = "base_local", binding = "local" }, "is global" },
  { { name = "base" }, { name = "base_unique", binding = "unique" },
    "is global, and not one of a kind" },
  { { name = "base" }, { name = "_base2" }, "has fewer underscores" },
  { { name = "longer" }, { name = "short" }, "has the longer name" },
}

describe("the symbol of an address", function()
  for _, case in ipairs(better) do
    for turn = 1, 2 do
      it(("is the one of two that %s, as the %s"):format(case[3], turn == 1 and "first"
        or "second"), function()
        local one, other = { size = 16 }, { size = 16 }
        for k, v in pairs(case[1]) do one[k] = v end
        for k, v in pairs(case[2]) do other[k] = v end
        local symbols = turn == 1 and { one, other } or { other, one }
        symbols[3] = { name = "next", value = 16, size = 16 }
        is_named({ one.name .. "+0x4" }, { symbols = symbols }, { 4 })
      end)
    end
  end

  it("is the one of two that has a size, unless the other one is the last there and gets "
    .. "one", function()
    local sized, empty = { name = "sized", size = 16 }, { name = "longer_but_empty" }
    local after = { name = "next", value = 16 }
    is_named({ "sized+0x4" }, { symbols = { empty, sized, after } }, { 4 })
    is_named({ "longer_but_empty+0x4" }, { symbols = { sized, empty, after } }, { 4 })
  end)

  it("is a function and not a mere label there, as later versions of perf have it", function()
    local ours = named({ symbols = {
      { name = "a_label", type = "notype", size = 16 },
      { name = "work", binding = "local", size = 16 },
    } }, { 4 })
    assert.same({ "work+0x4" }, ours)
  end)

  it("reaches to the next one when its file gives no size, and the last to the end of the "
    .. "next page", function()
    is_named({ "one+0x0", "one+0x1f", "two+0x0", "two+0x5f" }, { symbols = {
      { name = "one" }, { name = "two", value = 32 },
    } }, { 0, 31, 32, 127 })
  end)

  it("is none between two that have sizes", function()
    is_named({ "one+0x0", "one+0xf", "[unknown]", "two+0x0", "[unknown]" }, { symbols = {
      { name = "one", size = 16 }, { name = "two", value = 32, size = 1 },
    } }, { 0, 15, 16, 32, 33 })
  end)

  it("is the inner one of two that lie in one another", function()
    local ours = named({ symbols = {
      { name = "outer", size = 64 }, { name = "inner", value = 16, size = 16 },
      { name = "deep", value = 20, size = 4 },
      { name = "across", value = 60, size = 20 },
    } }, { 0, 15, 16, 20, 24, 32, 59, 60, 79, 80 })
    assert.same({ "outer+0x0", "outer+0xf", "inner+0x0", "deep+0x0", "inner+0x8", "outer+0x20",
      "outer+0x3b",
      "across+0x0", "across+0x13", "[unknown]" }, ours)
  end)

  it("is the same in whatever order addresses are looked up", function()
    local symbols = { { name = "first", size = 8 }, { name = "outer", value = 16, size = 80 },
      { name = "inner", value = 24, size = 8 }, { name = "deep", value = 26, size = 2 },
      { name = "across", value = 90, size = 20 }, { name = "last", value = 130, size = 9 } }
    local function expected(at) -- that of the symbols around it which begins last
      local name = "[unknown]"
      for _, symbol in ipairs(symbols) do
        local from = symbol.value or 0
        if at >= from and at < from + symbol.size then
          name = ("%s+0x%x"):format(symbol.name, at - from)
        end
      end
      return name
    end
    local offsets, names = {}, {}
    for i = 1, 600 do
      offsets[i] = i * 97 % 150
      names[i] = expected(offsets[i])
    end
    assert.same(names, (named({ symbols = symbols }, offsets)))
  end)

  it("is the function, not what has no size in it, as perf has it", function()
    for _, kind in ipairs { "notype", "func" } do
      local ours, perfs = named({ symbols = {
        { name = "inner", type = kind, value = 16 },
        { name = "outer", size = 64 },
        { name = "also_inner", type = kind, value = 63 },
        { name = "after", type = kind, value = 64 },
        { name = "outside", value = 80 },
        { name = "last", value = 96, size = 16 },
      } }, { 0, 15, 16, 32, 63, 64, 79, 80, 95, 96 })
      local expected = { "outer+0x0", "outer+0xf", "outer+0x10", "outer+0x20", "outer+0x3f",
        "after+0x0", "after+0xf", "outside+0x0", "outside+0xf", "last+0x0" }
      assert.same(expected, ours)
      if perfs then
        expected[3], expected[4], expected[5] = "inner+0x0", "inner+0x10", "also_inner+0x0"
        assert.same(expected, perfs)
      end
    end
  end)

  it("is of data, an IFUNC or a label as well as a function", function()
    is_named({ "data+0x0", "ifunc+0x0", "label+0x0" }, { symbols = {
      { name = "data", type = "object", size = 16 },
      { name = "ifunc", type = "ifunc", value = 16, size = 16 },
      { name = "label", type = "notype", value = 32, size = 16 },
    } }, { 0, 16, 32 })
  end)

  it("is none of a section, a source file, a thread's variable, a hidden label or another "
    .. "file", function()
    is_named({ "[unknown]", "[unknown]", "[unknown]", "[unknown]", "[unknown]", "[unknown]",
      "work+0x0" }, { symbols = {
      { name = "section", type = "section", size = 16 },
      { name = "file", type = "file", value = 16, size = 16 },
      { name = "tls", type = "tls", value = 32, size = 16 },
      { name = "hidden", type = "notype", value = 48, size = 16, other = 2 },
      { name = "undefined", value = 64, size = 16, section = 0 },
      { name = "absolute", value = 80, size = 1, section = 0xfff1 },
      { name = "work", value = 96, size = 16 },
    } }, { 0, 16, 32, 48, 64, 80, 96 })
  end)

  it("is none of a section that is not in memory when the program runs", function()
    is_named({ "[unknown]", "work+0x0" }, {
      more = { { name = ".gnu.warning", data = ("\0"):rep(64), flags = 0 } },
      symbols = {
        { name = "warning", section = ".gnu.warning", size = 512 },
        { name = "work", value = 16, size = 16 },
      },
    }, { 0, 16 })
  end)
end)

describe("symbols of other machines", function()
  for _, class in ipairs { 32, 64 } do
    for _, endian in ipairs { "little", "big" } do
      it(("are read from files of %d bits, %s endian"):format(class, endian), function()
        is_named({ "work+0x4" }, { machine = class == 32 and 8 or 22, class = class,
          endian = endian, symbols = {
          { name = "work", size = 16 } } }, { 4 })
      end)
    end
  end

  it("are of ARM without the mark of Thumb code, and without marks of code and data", function()
    is_named({ "arm+0x2", "thumb+0x0", "thumb+0x6" }, { machine = ARM, class = 32, symbols = {
      { name = "arm", size = 16 }, { name = "$a", type = "notype", binding = "local" },
      { name = "thumb", value = 17, size = 16 },
      { name = "$t", type = "notype", binding = "local", value = 16 },
      { name = "$d", type = "notype", binding = "local", value = 20 },
    } }, { 2, 16, 22 })
  end)

  for name, machine in pairs { arm64 = ARM64, riscv = RISCV } do
    it("are of " .. name .. " without marks of code and data", function()
      local marks = { "$x", "$d" }
      local symbols = { { name = "work", size = 32 } }
      for i, mark in ipairs(marks) do
        symbols[i + 1] = { name = mark, type = "notype", binding = "local", value = 4 * i }
      end
      assert.same({ "work+0x5", "work+0x9" },
        (named({ machine = machine, symbols = symbols }, { 5, 9 })))
    end)
  end

  it("are of 64-bit PowerPC where the descriptors of functions say", function()
    local symbols = { { name = "work", section = ".opd", value = 24, size = 16 } }
    local file = { machine = PPC64, endian = "big", symbols = symbols }
    -- the first section's address is known before the second is written
    local start = builder_elf.base + 128
    file.more = { { name = ".opd", flags = DATA,
      data = string.pack(">I8I8I8I8I8I8", start, 0, 0, start + 64, 0, 0) } }
    is_named({ "[unknown]", "work+0x0", "work+0xf", "[unknown]" }, file, { 0, 64, 79, 80 })
  end)
end)

local programs = {
  ["position-independent"] = "-pie -fPIE", ["at fixed addresses"] = "-no-pie",
  ["linked statically"] = "-static",
  ["with code and data in one segment"] = "-z noseparate-code",
  ["bound when it starts"] = "-z now",
  ["guarded by endbr"] = "-fcf-protection -z ibtplt", ["without a PLT"] = "-fno-plt",
  ["of only dynamic symbols"] = "-rdynamic -s",
}

local source = [[
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>
  __attribute__((noinline)) static int local_one(int n) { return n * 3; }
  __attribute__((noinline)) int real(int n) { return local_one(n) + 1; }
  int alias_of_real(int n) __attribute__((alias("real")));
  int __other(int n) __attribute__((alias("real")));
  __attribute__((weak, noinline)) int weak_one(int n) { return n ^ 5; }
  int strong_one(int n) __attribute__((alias("weak_one")));
  static void *choose(void) { return (void *)local_one; }
  int chosen(int n) __attribute__((ifunc("choose")));
  __asm__(".globl bare\n.type bare,@function\nbare: nop\nnop\nlabel_in_it: nop\nret\n");
  int (*volatile pointer)(const char *) = (int (*)(const char *))puts;
  int main(int argc, char **argv) {
    printf("%d%zu%d", real(argc) + weak_one(argc) + chosen(argc), strlen(argv[0]), rand());
    return pointer("");
  }]]

--- {address…} and {name…} of objdump's labels in the tables of linkage.
local function entries(tree)
  local at, names = {}, {}
  for line in tree:sh("objdump -d -j .plt -j .plt.sec -j .plt.got prog 2>/dev/null || true")
      :gmatch "[^\n]+" do
    local address, name = line:match "^(%x+) <([%w_]+@plt)>:"
    if name then
      at[#at + 1] = tonumber(address, 16)
      names[#names + 1] = name .. "+0x0"
    end
  end
  return at, names
end

describe("the symbols of a program", function()
  for what, flags in pairs(programs) do
    needs.it("perf,gcc " .. flags, "are perf's at every address of one " .. what, function()
      local tree = binaries.tree()
      tree:write("prog.c", source)
      tree:sh("gcc -O1 -w -o prog prog.c " .. flags)
      local offset, size = tree:sh("readelf -SW prog")
        :match "%.text%s+PROGBITS%s+%x+%s+(%x+)%s+(%x+)"
      local ips, count = {}, math.min(tonumber(size, 16), 4000)
      for i = 0, count - 1 do
        ips[i + 1] = 0x400000 + tonumber(offset, 16) + i
      end
      local recording = binaries.recorded({ { filename = tree.path .. "/prog" } }, ips)
      assert.same(binaries.of_perf(recording), (binaries.found(recording)))
    end)
  end

  for _, what in ipairs { "position-independent", "bound when it starts",
      "guarded by endbr" } do
    needs.it("gcc " .. programs[what], "are entries of its PLT as objdump names them, of one "
      .. what, function()
      local tree = binaries.tree()
      tree:write("prog.c", source)
      tree:sh("gcc -O1 -w -o prog prog.c " .. programs[what])
      local at, expected = entries(tree)
      assert.is_true(#at >= 4)
      for i, address in ipairs(at) do
        at[i] = 0x400000 + address
      end
      assert.same(expected,
        (binaries.found(binaries.recorded({ { filename = tree.path .. "/prog" } }, at))))
    end)
  end

  it("are entries of arm64's PLT as their instructions say", function()
    -- adrp x16, page; ldr x17, [x16, #n]; add; br x17, and before the second one bti c
    local function entry(page, n)
      return string.pack("<I4I4I4I4", 0x90000010 | page << 29, 0xf9400211 | (n // 8) << 10,
        0x91000210, 0xd61f0220)
    end
    local plt = entry(0, 0x18) .. string.pack("<I4", 0xd503245f) .. entry(0, 0x10)
      .. ("\x1f\x20\x03\xd5"):rep(1)
    local file = { machine = ARM64,
      symbols = { { name = "one", section = 0 }, { name = "two", section = 0 } }, more = {
      { name = ".plt", data = plt, flags = EXEC },
      -- the relocations are of the words at 0x10010 and 0x10018, for the symbols 1 and 2 of the
      -- table after them
      { name = ".rela.plt", type = 4, flags = 2, link = 5, entsize = 24,
        data = string.pack("<I8I8I8I8I8I8", 0x10010, 1 << 32 | 1026, 0, 0x10018, 2 << 32 | 1026,
          0) },
    } }
    local ours = named(file, { 512, 527, 528, 532, 551 })
    assert.same({ "two@plt+0x0", "two@plt+0xf", "one@plt+0x0", "one@plt+0x4", "one@plt+0x17" },
      ours)
  end)
end)
