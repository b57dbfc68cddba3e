-- Debug information that was made to harm: it costs little, and no more than some names are
-- unknown.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"

local START = 0x400000

-- A program of one function of 64 bytes, and debug information that says of it what is given.
local PROGRAM = [[
	.text
	.globl _start
	.type _start, @function
_start:	.fill 64, 1, 0x90
	.size _start, .-_start
.Lend:
	.section .debug_abbrev, ""
.Labbrev:
	.uleb128 1, 0x11; .byte 1; .uleb128 0x11, 1, 0x12, 6, 0x10, 0x17, 0x1b, 8, 0, 0 /* unit */
	.uleb128 2, 0x2e; .byte 1; .uleb128 3, 8, 0x11, 1, 0x12, 6, 0, 0 /* function */
	.uleb128 3, 0x1d; .byte 1; .uleb128 0x31, 0x13, 0x11, 1, 0x12, 6, 0x59, 0xb, 0, 0 /* inlined */
	.uleb128 4, 0x0b; .byte 1; .uleb128 0, 0 /* block */
	.uleb128 5, 0x2e; .byte 0; .uleb128 0x55, 0x17, 0, 0 /* function of ranges */
	.uleb128 6, 0x2e; .byte 0; .uleb128 0x47, 0x13, 0, 0 /* function of another declaration */
	.uleb128 7, 0x24; .byte 0; .uleb128 1, 0x13, 3, 8, 0, 0 /* type with a sibling */
	.uleb128 8, 0x24; .byte 0
%s
	.uleb128 0, 0
	.byte 0
	.section .debug_info, ""
.Lunit:	.long .Lunit_end - .Lafter
.Lafter: .short 4
	.long .Labbrev
	.byte 8
	.uleb128 1; .quad _start; .long 64; .long .Lline; .asciz "/dir"
%s
	.byte 0
.Lunit_end:
	.section .debug_ranges, ""
.Lranges:
%s
	.quad 0, 0
	.section .debug_line, ""
.Lline:
%s
]]

local FUNCTION = '.uleb128 2; .asciz "%s"; .quad _start; .long 64'
local INLINED = ".uleb128 3; .long %s - .Lunit; .quad _start; .long 64; .byte 7"

local LINES = [[
	.long .Lline_end - .Lhead
.Lhead:	.short 4
	.long .Lprogram - .Lnames
.Lnames: .byte 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
%s
	.byte 0
%s
	.byte 0
.Lprogram:
	.byte 0, 9, 2; .quad _start
%s
	.byte 1, 2, 64, 0, 1, 1
.Lline_end:
]]

local function program(parts)
  local tree = binaries.tree()
  local lines = LINES:format(parts.dirs or "", parts.files or '.asciz "x.c"; .byte 0, 0, 0',
    parts.rows or "")
  tree:write("x.s", PROGRAM:format(parts.abbrev or "", parts.info or FUNCTION:format "f"
    .. "\n.byte 0",
    parts.ranges or "", parts.line or lines))
  tree:sh "gcc -nostdlib -static -no-pie -Wl,--build-id -o x x.s"
  return tree, tree:symbols "x"
end

local function recorded(path, at)
  local b = binaries.of_here(builder.new())
  local event = b:event { name = "cpu-clock", type = 1,
    sample_type = { "ip", "tid", "time", "callchain" } }
  b:record("mmap2", { pid = 7, tid = 7, addr = START, len = 0x1000000, prot = 5, flags = 2,
    misc = 2, filename = path })
  for i = 0, 60, 20 do
    b:sample(event, { ip = START + at + i, pid = 7, tid = 7, time = i + 1,
      callchain = { -512, START + at + i } })
  end
  return b:write()
end

local function read(path, at)
  local file <close> = assert(perflua.open(recorded(path, at)))
  local first
  for s in file:samples() do
    first = first or { srcline = s.srcline, inlined = s.callchain[1].inlined }
  end
  return first
end

local function memory()
  return tonumber(files.read "/proc/self/status":match "VmRSS:%s*(%d+)") / 1024
end

-- Cases: what is said, and what is found nevertheless; MB and seconds are bounds with much
-- room.
local cases = {
  ["functions that stand for themselves"] = {
    info = FUNCTION:format "f" .. "\n.Lself: " .. INLINED:format ".Lself" .. "\n.byte 0, 0",
    inlined = 1,
  },
  ["functions that stand for each other"] = {
    info = ".La: .uleb128 6; .long .Lb - .Lunit\n.Lb: .uleb128 6; .long .La - .Lunit\n"
      .. FUNCTION:format "f" .. "\n" .. INLINED:format ".La" .. "\n.byte 0, 0",
    inlined = 1,
  },
  ["a hundred thousand blocks in each other"] = {
    info = FUNCTION:format "f" .. "\n.rept 100000\n.uleb128 4\n.endr\n.fill 100001, 1, 0",
  },
  ["hundreds of functions inlined into each other"] = {
    info = ".Ldeep: " .. FUNCTION:format "f" .. "\n.rept 400\n" .. INLINED:format ".Ldeep"
      .. "\n.endr\n.fill 401, 1, 0",
    srcline = false,
  },
  ["many functions of many ranges"] = {
    info = ".rept 100000\n.uleb128 5; .long .Lranges\n.endr",
    ranges = ".rept 20000\n.quad 1, 2\n.endr",
  },
  ["many functions of lists that lead nowhere"] = {
    info = ".rept 100000\n.uleb128 5; .long .Lranges\n.endr",
    ranges = ".rept 20000\n.quad -1, 7\n.endr",
  },
  ["a sibling that lies before"] = {
    info = '.Lback: .uleb128 4\n.uleb128 7; .long .Lback - .Lunit; .asciz "t"\n.byte 0',
  },
  ["entries of a hundred thousand attributes"] = {
    abbrev = ".rept 100000\n.uleb128 0x3f, 0x19\n.endr",
    info = ".rept 300000\n.uleb128 8\n.endr",
  },
  ["entries of an unknown kind"] = { info = ".uleb128 9" },
  ["lines of a million files below a long directory"] = {
    dirs = '.fill 4000, 1, 0x61\n.byte 0',
    files = '.rept 1000000\n.asciz "x"; .byte 1, 0, 0\n.endr',
    srcline = false,
  },
  ["lines of files that the program defines below a long directory"] = {
    dirs = '.fill 4000, 1, 0x61\n.byte 0',
    rows = '.rept 300000\n.byte 0, 6, 3, 0x78, 0, 1, 0, 0\n.endr',
    srcline = false,
  },
  ["lines with a directory that has no end"] = { dirs = ".fill 100000, 1, 0x61",
    srcline = false },
  ["lines of twenty million rows"] = { rows = ".fill 20000000, 1, 0x0e", srcline = false },
  ["lines longer than their section"] = { line = ".Lline: .long 0x7fffff00\n.short 4",
    srcline = false },
}

describe("debug information of", function()
  for name, case in pairs(cases) do
    it(name .. " is survived", function()
      local tree, at = program(case)
      local before, started = memory(), os.clock()
      local found = read(tree.path .. "/x", at._start)
      assert.is_true(os.clock() - started < 20)
      assert.is_true(memory() - before < 1000)
      if case.inlined then
        assert.equal(case.inlined, #found.inlined)
      end
      if case.srcline == false then
        assert.is_nil(found.srcline)
      end
    end)
  end

  it("an honest program is read", function()
    local tree, at = program {}
    assert.equal("x.c:1", read(tree.path .. "/x", at._start).srcline)
  end)
end)

describe("damaged debug information", function()
  local TIMES = os.getenv "SWEEP" and 3000 or 40

  --- Where the sections of debug information are in a file: {{offset, size}…}.
  local function sections(tree)
    local list = {}
    for offset, size in tree:sh "readelf -SW x"
        :gmatch "%.debug_[%w_]+ +PROGBITS +%x+ (%x+) (%x+)" do
      list[#list + 1] = { tonumber(offset, 16), tonumber(size, 16) }
    end
    return list
  end

  local function damaged(bytes, where)
    local parts, at = {}, {}
    for i = 1, math.random(8) do
      local section = where[math.random(#where)]
      at[i] = section[1] + math.random(section[2])
    end
    table.sort(at)
    local last = 0
    for _, i in ipairs(at) do
      if i > last then
        parts[#parts + 1] = bytes:sub(last + 1, i - 1) .. string.char(math.random(0, 255))
        last = i
      end
    end
    return table.concat(parts) .. bytes:sub(last + 1)
  end

  for name, flags in pairs { ["DWARF 5"] = "-gdwarf-5", ["DWARF 4"] = "-gdwarf-4" } do
    it("is survived, with " .. name, function()
      local tree = binaries.tree()
      tree:write("x.cc", [[
        #include <algorithm>
        #include <vector>
        int main(int argc, char **) {
          std::vector<int> v(argc * 10);
          std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
          return v[0];
        }]])
      tree:sh("g++ -O2 -no-pie -Wl,--build-id=none -o x x.cc " .. flags)
      local at, where = tree:symbols "x", sections(tree)
      local bytes = files.read(tree.path .. "/x")
      assert.is_true(#where > 4)
      assert.truthy(read(tree.path .. "/x", at.main).srcline)
      math.randomseed(1)
      for _ = 1, TIMES do
        tree:write("x", damaged(bytes, where))
        read(tree.path .. "/x", at.main)
        tree:write("x", bytes:sub(1, math.random(#bytes)))
        read(tree.path .. "/x", at.main)
      end
    end)
  end
end)
