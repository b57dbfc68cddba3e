-- Source lines of the kernel and its modules.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local perflua = require "perflua"

local TEXT = 0xffffffff81000000
local SHIFT = 0x1a000000
local MODULE = 0xffffffffc0000000

local SOURCE = [[
#define MARK(name) __asm__ volatile(".globl " #name "\n" #name ": nop")
extern int counter;
static inline __attribute__((always_inline)) int twice(int x)
{
	MARK(in_twice);
	return x + x;
}
__attribute__((noinline)) int PRE(first)(int x)
{
	return twice(x) + counter;
}
__attribute__((noinline, section(".text.unlikely"))) int PRE(second)(int x)
{
	MARK(in_second);
	return x ^ counter;
}
__attribute__((section(".init.text"))) int init_module(void)
{
	return PRE(first)(1);
}
int counter;
]]

local function lines_of(maps, ips, options, features)
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1,
    sample_type = { "ip", "tid", "time", "callchain" } }
  for name, value in pairs(features or {}) do
    b:feature(name, value)
  end
  for _, map in ipairs(maps) do
    b:record("mmap2", map)
  end
  for i, ip in ipairs(ips) do
    b:sample(event, { ip = ip, pid = 7, tid = 7, time = i, misc = 1, callchain = { -128, ip } })
  end
  local file <close> = assert(perflua.open(b:write(), options))
  local list = {}
  for s in file:samples() do
    local frame = s.callchain[1]
    local inlined = frame.inlined and ("%s %s < "):format(frame.inlined[1].symbol,
      frame.inlined[1].srcline) or ""
    list[#list + 1] = ("%s%s %s"):format(inlined, frame.symbol, frame.srcline)
  end
  return list
end

local function kernel_map(id)
  return { pid = -1, tid = 0, addr = TEXT + SHIFT, len = 0x1000000, pgoff = TEXT + SHIFT,
    misc = 1, prot = 5,
    filename = "[kernel.kallsyms]_text", build_id = id }
end

local function build_id(name, id)
  return { build_id = { { build_id = id, filename = name, cpumode = "kernel" } } }
end

describe("the source lines of the kernel", function()
  local tree = binaries.tree()
  tree:write("kernel.c", "#define PRE(x) kernel_##x\n#line 1\n" .. SOURCE)
  tree:sh(([[gcc -g -O2 -c -mcmodel=kernel -fno-pic -fno-asynchronous-unwind-tables kernel.c
    ld -Ttext=0x%x --defsym=_text=0x%x --build-id -e kernel_first -o vmlinux kernel.o]]):format(TEXT, TEXT))
  local id = tree:build_id "vmlinux"
  local at = {}
  for address, name in tree:sh "nm vmlinux":gmatch "(%x+) %a (%S+)" do
    at[name] = math.tointeger(tonumber(address, 16))
  end
  tree:sh "objcopy -w -N 'in_*' vmlinux"
  local ips = { at.in_twice + SHIFT, at.in_second + SHIFT }
  local expected = { "twice kernel.c:5 < kernel_first kernel.c:10",
    "kernel_second kernel.c:14" }

  it("are those of the option vmlinux, wherever the kernel lay", function()
    local found = lines_of({ kernel_map() }, ips, { vmlinux = tree.path .. "/vmlinux" },
      build_id("[kernel.kallsyms]", id))
    assert.same(expected, found)
  end)

  it("are those of the file with its build-id where its symbols are of a kallsyms", function()
    local text = ("%x T _text\n%x T kernel_first\n%x t kernel_second\n"):format(TEXT + SHIFT,
      at.kernel_first + SHIFT, at.kernel_second + SHIFT)
    tree:write("kallsyms", text)
    tree:sh "mkdir -p root/boot && cp vmlinux root/boot/vmlinux"
    local options = { kallsyms = tree.path .. "/kallsyms", symfs = tree.path .. "/root" }
    assert.same(expected, lines_of({ kernel_map() }, ips, options,
      build_id("[kernel.kallsyms]", id)))
    assert.same({ "kernel_first nil", "kernel_second nil" },
      lines_of({ kernel_map() }, ips, options, build_id("[kernel.kallsyms]", ("ab"):rep(20))))
  end)
end)

describe("the source lines of a module", function()
  local kinds = { ["DWARF 5"] = "-gdwarf-5", ["DWARF 4"] = "-gdwarf-4",
    ["compressed sections"] = "-g -gz" }
  for name, flags in pairs(kinds) do
    it("are known though its file has no addresses, with " .. name, function()
      local tree = binaries.tree()
      tree:write("mine.c", "#define PRE(x) mine_##x\n#line 1\n" .. SOURCE)
      tree:sh(("gcc %s -O2 -c -mcmodel=kernel -fno-pic mine.c"):format(flags))
      tree:sh "ld -r --build-id -o mine.ko mine.o"
      local id = tree:build_id "mine.ko"
      local at = {}
      for address, symbol in tree:sh "nm mine.ko":gmatch "(%x+) %a (%S+)" do
        at[symbol] = tonumber(address, 16)
      end
      -- .text.unlikely lies after .text, at the next place that is aligned
      local size = (tonumber(tree:sh "size -A -x mine.ko":match "%.text%s+0x(%x+)", 16) + 15)
        & ~15
      tree:sh "objcopy -w -N 'in_*' mine.ko"
      local map = { pid = -1, tid = 0, addr = MODULE, len = 0x1000, pgoff = 0, misc = 1,
        prot = 5,
        filename = tree.path .. "/mine.ko", build_id = id }
      local ips = { MODULE + at.in_twice, MODULE + size + at.in_second }
      assert.same({ "twice mine.c:5 < mine_first mine.c:10", "mine_second mine.c:14" },
        lines_of({ kernel_map(("ab"):rep(20)), map }, ips))
    end)
  end
end)
