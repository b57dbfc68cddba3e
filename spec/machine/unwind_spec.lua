-- Call chains that are unwound from the registers and the stack of a sample.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local stacked = require "spec.support.stacked"

local KERNEL, USER = -128 & -1, -512 & -1

-- Recursion, a callback from libc, a stack of changing size, a signal's handler, a thread.
local busy = [[
  #include <pthread.h>
  #include <signal.h>
  #include <stdlib.h>
  #include <string.h>
  #include <sys/time.h>
  volatile unsigned long sink;
  __attribute__((noinline)) void leaf(int n) { while (n--) sink = sink * 3 + 1; }
  __attribute__((noinline)) void down(int n) { if (n) down(n - 1); else leaf(20000); sink++; }
  int compare(const void *a, const void *b) { leaf(200); return *(int *)a - *(int *)b; }
  __attribute__((noinline)) void sort(void) {
    int v[99];
    for (int i = 0; i < 99; i++) v[i] = i * 7919 % 1000;
    qsort(v, 99, sizeof(int), compare); sink += (unsigned long)v[3];
  }
  __attribute__((noinline)) void wide(int n) { char b[n]; memset(b, n, (size_t)n); leaf(20000); sink += b[n / 2]; }
  void handler(int n) { (void)n; leaf(50000); }
  void *work(void *n) { for (int i = 0; i < 200; i++) { down(i % 40); sort(); wide(100 + i); } return n; }
  int main(void) {
    struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
    pthread_t thread;
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, 0);
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
  }]]

--- The chains of all samples, each "symbol+0xoffset" joined by spaces.
local function chains_of(path, options)
  local list = {}
  local file <close> = assert(perflua.open(path, options))
  for s in file:samples() do
    local chain = {}
    for i, frame in ipairs(s.callchain) do
      chain[i] = frame.symbol and ("%s+0x%x"):format(frame.symbol, frame.symoff) or "[unknown]"
    end
    list[#list + 1] = table.concat(chain, " ")
  end
  return list
end

-- perf with libunwind shows an address of -1 for a caller beyond what was copied of the stack.
local function chains_of_perf(path)
  local list, chain = {}, nil
  for line in files.lines("perf script --no-inline -f -F tid,time,ip,sym,symoff -i " .. path
      .. " 2>/dev/null") do
    local ip, symbol = line:match "^%s+(%x+) (.*)$"
    if line:find "^%s*%d+%s+%d+%.%d+:" then
      chain = {}
    elseif line == "" then
      list[#list + 1] = table.concat(chain, " ")
    elseif ip ~= "ffffffffffffffff" then
      chain[#chain + 1] = symbol
    end
  end
  return list
end

local function is_plt(frame)
  return frame:find "@plt%+" or frame:find "^%.plt" or frame:find "^_init%+"
end

local function frames_of(chain)
  local list = {}
  for frame in chain:gmatch "%S+" do list[#list + 1] = frame end
  return list
end

-- perf also does not read the last word of the copy, where one more return address may be.
-- Names of .plt entries are not compared here. Some versions of perf read nothing of the
-- vdso.
local function agrees(ours, perfs)
  if ours:find "^__vdso_" and perfs == "[unknown]" then return true end
  local own, theirs = frames_of(ours), frames_of(perfs)
  for i, frame in ipairs(theirs) do
    if own[i] ~= frame and not (own[i] and is_plt(own[i])) then return false end
  end
  return #own - #theirs <= 1
end

local registers = stacked.registers

describe("a call chain unwound from a sample's stack", function()
  for name, flags in pairs { ["position-independent"] = "-O2",
      ["of fixed addresses"] = "-O2 -no-pie" } do
    needs.it("record", "is as perf script has it, of a program " .. name, function()
      local tree = binaries.tree()
      tree:write("busy.c", busy)
      tree:sh("gcc " .. flags .. " -fomit-frame-pointer -o busy busy.c -lpthread")
      local path = oracle.record("-F 1999 -e cpu-clock:u --call-graph dwarf",
        tree.path .. "/busy")
      local ours, perfs = chains_of(path), chains_of_perf(path)
      assert.is_true(#perfs > 20)
      assert.equal(#perfs, #ours)
      for i = 1, #perfs do
        assert.is_true(agrees(ours[i], perfs[i]), ours[i] .. "\nperf: " .. perfs[i])
      end
    end)
  end

  describe("of a program", function()
    local tree, code

    setup(function()
      tree = binaries.tree()
      code = tree:program("a", "-O1", stacked.program)
    end)

    local function chain(sample)
      return binaries.chain(stacked.recorded(tree, code.build_id, { sample }))
    end

    local function address(symbol, offset)
      return 0x400000 + code[symbol] + offset
    end

    it("has the address of the call in callers, and follows the kernel's part", function()
      local ret = address("bottom", 7)
      assert.same({ 0xffff1000, address("bottom", 1), ret - 1, ret - 1 }, chain {
        callchain = { KERNEL, 0xffff1000, USER },
        regs_user = registers(0x7ffe0000, address("bottom", 1)), stack_user = { ret, ret },
      })
    end)

    it("ends after 127 frames", function()
      local stack = {}
      for i = 1, 500 do
        stack[i] = address("bottom", 7)
      end
      assert.equal(127, #chain { regs_user = registers(0x7ffe0000, address("bottom", 1)),
        stack_user = stack })
    end)

    it("ends where the return address is said to be undefined", function()
      assert.same({ address("bottom", 1), address("lost", 1) }, chain {
        regs_user = registers(0x7ffe0000, address("bottom", 1)),
        stack_user = { address("lost", 2), address("bottom", 7) },
      })
    end)

    it("takes rbx of a caller for what it is in a function that says nothing of it", function()
      local regs = registers(0x7ffe0000, address("bottom", 1))
      regs[stacked.BX] = 0x7ffe0010
      local ret = address("bottom", 7)
      assert.same({ address("bottom", 1), address("based", 1), ret - 1 }, chain {
        regs_user = regs, stack_user = { address("based", 2), 1, 0, ret },
      })
    end)

    it("follows the frame pointer through code that nothing is known of", function()
      local ret = address("bottom", 7)
      assert.same({ address("bare", 1), ret - 1, ret - 1 }, chain {
        regs_user = registers(0x7ffe0000, address("bare", 1), 0x7ffe0010),
        stack_user = { 1, 2, 3, ret, ret },
      })
      assert.same({ address("bare", 1) }, chain { -- it is not in the stack
        regs_user = registers(0x7ffe0000, address("bare", 1), 0x10),
        stack_user = { 1, 2, 3, ret, ret },
      })
      assert.same({ address("bare", 1) }, chain { -- nothing was mapped where it leads
        regs_user = registers(0x7ffe0000, address("bare", 1), 0x7ffe0010),
        stack_user = { 1, 2, 3, 4, ret },
      })
    end)

    it("ends where it leads to memory without code, as from perf 7.2 on", function()
      local path = stacked.recorded(tree, code.build_id, { {
        regs_user = registers(0x7ffe0000, address("bottom", 1)), stack_user = { 0x900010 },
      } }, nil, function(b)
        b:record("mmap2", { pid = 7, tid = 7, addr = 0x900000, len = 0x1000, prot = 3,
          flags = 2, filename = "//anon" })
      end)
      assert.same({ address("bottom", 1) }, binaries.chain(path))
      local file <close> = assert(perflua.open(path, { as = "6.12" }))
      assert.equal(2, #file:samples():first().callchain)
    end)

    it("does not read what was not copied", function()
      local ret = address("bottom", 7)
      local regs = registers(0x7ffe0000, address("bottom", 1))
      assert.equal(2, #chain { regs_user = regs, stack_user = { ret, ret, ret }, dyn_size = 8 })
      assert.equal(4, #chain { regs_user = regs, stack_user = { ret, ret, ret },
        dyn_size = -1 & -1 })
      regs = registers(-8, address("bottom", 1)) -- the stack goes on at address 0
      assert.equal(2, #chain { regs_user = regs, stack_user = { ret, ret, ret } })
    end)

    it("is only what was recorded without registers or stack", function()
      local sample = { callchain = { USER, 0x1234 }, stack_user = { 1 } }
      sample.regs_user, sample.ip = { abi = 0 }, 0x1234
      assert.same({ 0x1234 }, chain(sample))
      assert.same({ 0x1234 }, chain {
        callchain = { USER, 0x1234 }, regs_user = registers(0x7ffe0000, address("bottom", 1)),
        stack_user = "",
      })
    end)

    it("has only its first frame when the file is another build", function()
      local ret = address("bottom", 7)
      local path = stacked.recorded(tree, ("ab"):rep(20), { {
        regs_user = registers(0x7ffe0000, address("bottom", 1)), stack_user = { ret, ret },
      } })
      assert.same({ address("bottom", 1) }, binaries.chain(path))
    end)

    it("is the same when it is asked for again, and its own of each sample", function()
      local ret = address("bottom", 7)
      local path = stacked.recorded(tree, code.build_id, { {
        regs_user = registers(0x7ffe0000, address("bottom", 1)), stack_user = { ret, ret },
      } })
      local file <close> = assert(perflua.open(path))
      local s = file:samples():first()
      assert.equal(3, #s.callchain)
      assert.equal(3, #s:copy().callchain)
      assert.equal(0, #s.callchain.ips)
    end)
  end)
end)
