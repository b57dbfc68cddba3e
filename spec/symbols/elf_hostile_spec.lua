-- ELF files that are cut, damaged or made to harm.
local binaries = require "spec.support.binaries"
local builder_elf = require "spec.support.builder_elf"
local files = require "spec.support.files"

local source = [[
  #include <stdio.h>
  namespace space { template <class T> struct Of { T get(T t) { return t; } }; template struct Of<int>; }
  extern "C" __attribute__((noinline)) int first(int n) { return n * 3; }
  int main(int argc, char **) { return puts("") + first(argc); }]]

local function program(tree)
  tree:write("prog.cc", source)
  tree:sh("g++ -O1 -Wl,-z,noseparate-code -Wl,--build-id -o prog prog.cc")
  return files.read(tree.path .. "/prog"),
    tonumber(tree:sh "nm prog | grep ' first$'":match "%x+", 16)
end

---Returns what is found for `at` in a file of these bytes.
local function found(tree, bytes, at)
  local path = tree:write("lib.so", bytes)
  return (binaries.found(binaries.recorded({ { filename = path } }, { 0x400000 + at })))[1]
end

local function small()
  return builder_elf.pack { machine = 62,
    symbols = { { name = "f", section = ".text", size = 16 } },
    sections = { { name = ".text", data = ("\0"):rep(64), flags = 6 } } }
end

describe("an ELF file", function()
  it("has its symbols or none if it is cut anywhere", function()
    local tree = binaries.tree()
    local bytes, at = program(tree)
    assert.equal("first+0x0", found(tree, bytes, at))
    for i = 1, 150 do
      local name = found(tree, bytes:sub(1, #bytes * i // 151), at)
      assert.is_true(name == "[unknown]" or name == "first+0x0", name)
    end
  end)

  it("can be asked with damage anywhere in its headers and tables", function()
    local tree = binaries.tree()
    local bytes, sections = small()
    local names = {}
    for i = 1, #bytes do
      local byte = string.char(i % 2 == 0 and 0xff or 0x80)
      local name = found(tree, bytes:sub(1, i - 1) .. byte .. bytes:sub(i + 1),
        sections[1].offset)
      names[name] = (names[name] or 0) + 1
    end
    -- most of the bytes say nothing of the symbol, some of them where it is
    assert.is_true(names["f+0x0"] > 100)
    assert.is_true(names["[unknown]"] > 10)
  end)

  it("does not fill memory if its many symbols share one long name", function()
    local tree = binaries.tree()
    local symbols = {}
    for i = 1, 20000 do
      symbols[i] = { name = "", st_name = 1, value = i % 4096, size = 1, section = ".text" }
    end
    local bytes, sections = builder_elf.pack { machine = 62, symbols = symbols,
      strings = "\0" .. ("x"):rep(30000) .. "\0",
      sections = { { name = ".text", data = ("\0"):rep(4096), flags = 6 } } }
    local before = tonumber(files.read "/proc/self/statm":match "%d+") * 4
    assert.matches("^xxx", found(tree, bytes, sections[1].offset + 1))
    assert.is_true(tonumber(files.read "/proc/self/statm":match "%d+") * 4 - before < 100
      * 1024)
  end)

  for _, strings in ipairs { "", "\0", "\0f", ("f"):rep(40000) } do
    it(("whose table of names is of %d bytes has no name that is not there"):format(
      #strings), function()
      local symbols = {}
      for i, st_name in ipairs { 0, 1, 2, 39999, 1 << 31, (1 << 32) - 1 } do
        symbols[i] = { name = "", st_name = st_name, section = ".text", size = 64 }
      end
      local bytes, sections = builder_elf.pack { machine = 62, symbols = symbols,
        strings = strings,
        sections = { { name = ".text", data = ("\0"):rep(64), flags = 6 } } }
      assert.equal("[unknown]", found(binaries.tree(), bytes, sections[1].offset))
    end)
  end
end)

describe("a compressed ELF file", function()
  for _, how in ipairs { "gzip -c", "xz -c", "zstd -q -c" } do
    it("is read as what it holds, with " .. how, function()
      local tree = binaries.tree()
      local _, at = program(tree)
      tree:sh(how .. " prog >packed")
      assert.equal("first+0x0", found(tree, files.read(tree.path .. "/packed"), at))
    end)

    it("is none when it is cut, with " .. how, function()
      local tree = binaries.tree()
      local _, at = program(tree)
      tree:sh(how .. " prog >packed")
      local bytes = files.read(tree.path .. "/packed")
      for i = 1, 20 do
        assert.equal("[unknown]", found(tree, bytes:sub(1, #bytes * i // 21), at))
      end
    end)
  end

  it("is none when a few bytes stand for very many", function()
    local tree = binaries.tree()
    local _, at = program(tree)
    tree:sh "{ cat prog; head -c 120000000 /dev/zero; } | zstd -q -c >packed"
    assert.equal("[unknown]", found(tree, files.read(tree.path .. "/packed"), at))
  end)
end)
