-- The fields of a sample that say where it was: symbol, symoff, dso, map, those of addr, and
-- the whole stack.
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local names = require "spec.support.names"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local system = require "spec.support.system"

local without = { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }

describe("where a sample was without symbols", function()
  it("is a mapping, and no symbol", function()
    local path = mapped.written { "- map 7 1000-3000@200 /bin/a", "10 sample 7 1234" }
    local file <close> = assert(perflua.open(path, without))
    local s = file:samples():first()
    assert.is_nil(s.symbol)
    assert.is_nil(s.symoff)
    assert.is_nil(s.srcline)
    assert.are.equal("/bin/a", s.dso)
    assert.are.same({ 0x1000, 0x2000, 0x200, "/bin/a", 5 },
      { s.map.start, s.map.len, s.map.pgoff, s.map.filename, s.map.prot })
    assert.is_nil(s.map.build_id)
  end)

  it("is [unknown] where nothing was mapped", function()
    local path = mapped.written { "10 sample 7 1234" }
    local file <close> = assert(perflua.open(path, without))
    local s = file:samples():first()
    assert.are.same({ nil, "[unknown]", nil }, { s.symbol, s.dso, s.map })
    assert.are.equal("[unknown]", s.stack)
  end)

  it("is nothing of a sample without ip, and of other records", function()
    local b = system.builder({}, { "tid", "time" })
    mapped.add(b, { "- map 7 1000-3000 /bin/a", "10 sample 7 1234" })
    local file <close> = assert(perflua.open(b:write(), without))
    for r in file:records() do
      assert.are.same({}, { r.symbol, r.dso, r.map, r.stack, r.dso_daddr })
    end
  end)

  it("looks addr up in the kernel, too, as perf does, but not ip", function()
    local b = system.builder({}, { "ip", "tid", "time", "addr" })
    mapped.add(b, {
      "- kernel ffffffff81000000-ffffffff82000000@ffffffff81000000 [kernel.kallsyms]_text",
      "- data 7 1000-3000 [heap]",
    })
    for i, misc in ipairs { 1, 2 } do
      for k, addr in ipairs { 0x1000, 0xffffffff81000000, 0x5000 } do
        b:sample(b.events[1], { ip = addr, addr = addr, pid = 7, tid = 7, time = 10 * i + k,
          misc = misc })
      end
    end
    local file <close> = assert(perflua.open(b:write(), without))
    assert.are.same({ "[heap]", "[kernel.kallsyms]", "[unknown]", "[heap]", "[kernel.kallsyms]",
      "[unknown]" },
      file:samples():select("dso_daddr"):collect())
    assert.are.same({ "[unknown]", "[kernel.kallsyms]", "[unknown]", "[heap]", "[unknown]",
      "[unknown]" },
      file:samples():select("dso"):collect())
  end)
end)

describe("where a sample of the kernel was", function()
  local KALLSYMS = "ffffffff81000000 T _text\nffffffff81000100 T first\n"
    .. "ffffffff81fff000 T last\nffffffff82000800 t once\nffffffff82001000 T _end\n"
  local lines = {
    "- kernel ffffffff81000000-ffffffff82000000@ffffffff81000000 [kernel.kallsyms]_text",
    "10 ksample 7 ffffffff81000110", "11 ksample 7 ffffffff82000010",
    "12 ksample 7 ffffffff82000810",
    "13 ksample 7 ffffffff90000000",
  }
  local expected = {
    "first [kernel.kallsyms]", "last [kernel.kallsyms]", "once [kernel.kallsyms]",
    "nil [unknown]",
  }

  local function places(path, options)
    local file <close> = assert(perflua.open(path, options))
    local list = {}
    for s in file:samples() do
      list[#list + 1] = tostring(s.symbol) .. " " .. s.dso
    end
    return list
  end

  it("is told by its symbols, also after what was mapped of it, as perf says", function()
    local path, kallsyms = mapped.written(lines), files.temporary(KALLSYMS)
    assert.are.same(expected, places(path, { kallsyms = kallsyms }))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    local theirs = {}
    for line in files.lines("perf script -F ip,sym,dso --kallsyms=" .. kallsyms .. " -f -i "
        .. path .. " 2>&1") do
      local symbol, dso = line:match "^%s*%x+ (%S+) %((%S+)%)$"
      theirs[#theirs + 1] = symbol and symbol:gsub("%[unknown%]", "nil") .. " " .. dso
    end
    assert.are.same(expected, theirs)
  end)

  it("is told by the kallsyms that were recorded with it", function()
    local b = system.builder { container = "directory" }
    mapped.add(b, lines)
    local path = b:write()
    os.execute("mkdir " .. path .. "/kcore_dir")
    files.write(path .. "/kcore_dir/kallsyms", KALLSYMS)
    assert.are.same(expected, places(path))
    os.execute("rm -r " .. path .. "/kcore_dir")
  end)
end)

describe("the stack of a sample", function()
  local KERNEL, USER = -128, -512

  local function record(lines, chain)
    local b = system.builder({}, { "ip", "tid", "time", "callchain" })
    mapped.add(b, lines)
    b:sample(b.events[1], { ip = 0x1000, pid = 7, tid = 7, time = 10, misc = 2,
      callchain = chain })
    return b:write()
  end

  local function stack(lines, chain)
    local file <close> = assert(perflua.open(record(lines, chain), without))
    return file:samples():first().stack
  end

  it("is caller first, by the names of binaries where there are no symbols", function()
    assert.are.equal("[c.so];[a];[unknown];[kernel.kallsyms]", stack({
      "- kernel ffffffff81000000-ffffffff82000000@ffffffff81000000 [kernel.kallsyms]_text",
      "- map 7 1000-2000 /bin/a", "- map 7 2000-3000 /lib/c.so",
    }, { KERNEL, 0xffffffff81000010, USER, 0x9000, 0x1010, 0x2010 }))
  end)

  it("holds nothing that separates frames or moves a cursor but what is between "
    .. "them", function()
    for name, shown in pairs {
      ["a;b\27c"] = "a:b?c", ["a\u{9b}31mb"] = "a?31mb", ["a\u{202e}b"] = "a?b",
      ["a\x9b\xc2b\xff"] = "a??b?",
      ["\u{a0}ü\u{10ffff}"] = false,
      ["\xed\xa0\x80\xc0\x80"] = "?????",
    } do
      local path = record({ "- map 7 1000-2000 /bin/" .. name }, { USER, 0x1000, 0x9000 })
      local file <close> = assert(perflua.open(path, without))
      local expected = ("[unknown];[%s]"):format(shown or name)
      assert.are.equal(expected, file:samples():first().stack)
      assert.are.equal(expected, file:samples():group_by("stack"):count():sort():rows()().stack)
      assert.are.equal(".[unknown]\t\t0x0000000000009000\n", file:samples()
        :first().frames:match "[^\n]*\n$")
      assert.matches("./bin/" .. (shown or name) .. "\t\t0x", file:samples():first().frames, 1,
        true)
    end
  end)

  it("is the ip alone of an empty call chain", function()
    assert.are.equal("[a]", stack({ "- map 7 1000-2000 /bin/a" }, {}))
  end)
end)

local source = [[
#include <stdlib.h>
char table[1 << 20], *heap;
__attribute__((noinline)) void fill(int step) { for (int i = 0; i < 1 << 20; i += step) table[i] = i; }
__attribute__((noinline)) long sum(void) { long s = 0; for (int i = 0; i < 1 << 20; i++) s += table[i]; return s; }
int main(void) { long s = 0; for (int i = 1; i < 60; i++) { fill(i); s += sum(); } return s == 1; }
]]

needs.describe("record,kernel", "the fields of samples of a program", function()
  local dir = files.directory { ["main.c"] = source }
  local program = dir .. "/main"

  setup(function()
    local text, built = files.output(
      ("gcc -g -O1 -fno-omit-frame-pointer -o %s %s/main.c 2>&1"):format(program, dir))
    assert(built, text)
  end)

  teardown(function() os.execute("rm -r " .. dir) end)

  ---Returns what perf prints of samples, with this machine's symbols: the matches of `pattern`
  ---in its lines.
  local function of_perf(path, fields, pattern)
    local list = {}
    for line in files.lines("perf script -f -F " .. fields .. " -i " .. path
        .. " 2>/dev/null") do
      list[#list + 1] = line:match(pattern)
    end
    return list
  end

  it("are perf's", function()
    local path = names.record("-e cpu-clock -F 15000", program)
    local ours = {}
    local file <close> = assert(perflua.open(path))
    for s in file:samples() do
      if s.dso == program then
        ours[#ours + 1] = ("%x %s+0x%x (%s)"):format(s.ip, s.symbol, s.symoff, s.dso)
        assert.are.equal(program, s.map.filename)
        assert.is_true(s.map.start <= s.ip and s.ip < s.map.start + s.map.len)
        assert.are.equal(s.symbol, s.stack)
        assert.are.equal("main.c", s.srcline and s.srcline:match "^[^:]+" or "main.c")
      end
    end
    assert.is_true(#ours > 50, #ours .. " samples")
    names.same(of_perf(path, "ip,sym,symoff,dso", "(%x+ %S+ %(%S+/main%))%s*$"), ours)
  end)

  it("are perf's of addr", function()
    local path = names.record("-d -c 1 -e page-faults", program)
    local ours = {}
    local file <close> = assert(perflua.open(path))
    for s in file:samples() do
      if s.dso_daddr == program then
        ours[#ours + 1] = ("%x %s"):format(s.addr, s.symbol_daddr
          and ("%s+0x%x"):format(s.symbol_daddr, s.symoff_daddr) or "[unknown]")
      end
    end
    assert.is_true(#ours > 0)
    names.same(of_perf(path, "addr,sym,symoff,dso,ip", "^%s*(%x+ %S+) %(%S+/main%) "), ours)
  end)
end)
