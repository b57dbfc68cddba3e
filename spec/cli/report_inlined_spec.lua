-- perflua report: functions that were inlined are callers, as in perf report.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local START <const>, PID <const> = 0x400000, binaries.PID

local trees = {} -- they are there as long as their programs are read

-- Returns a recording of one sample in `inner`, inlined in `middle` and that in `outer`, which
-- `main` called; and the tree with its program, of which a command may change the symbols.
local function recording(command)
  local tree = binaries.tree()
  trees[#trees + 1] = tree
  tree:write("app/spin.c", files.read(files.fixture "clang/spin.c"))
  tree:sh "cd app && gcc -g -O2 -no-pie -Wl,--build-id -o spin spin.c"
  local program = tree:symbols "app/spin"
  tree:sh "objcopy -w -N 'in_*' app/spin" -- these are places in functions
  if command then tree:sh(command) end
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1,
    sample_type = { "ip", "tid", "time", "callchain" } }
  b:record("mmap2", { pid = PID, tid = PID, addr = START, len = 0x100000, prot = 5, flags = 2,
    misc = 2, filename = tree.path .. "/app/spin", build_id = program.build_id })
  b:sample(event, { ip = START + program.in_inner, pid = PID, tid = PID, time = 1,
    callchain = { -512, START + program.in_inner, START + program.in_main } })
  return b:write(), tree
end

local function rows(...)
  local list = {}
  for line in run.perflua({ "report", "-q", "-s", "sym", ... }).out:gmatch "[^\n]+" do
    list[#list + 1] = line:gsub("^ +", ""):gsub(" +", " ")
  end
  table.sort(list)
  return list
end

describe("perflua report", function()
  needs.it("gcc", "counts inlined functions as callers, as perf 7.2 in all chains", function()
    local path = recording()
    local all = { "100.00% 0.00% [.] inner (inlined)", "100.00% 0.00% [.] main",
      "100.00% 0.00% [.] middle (inlined)", "100.00% 100.00% [.] outer" }
    local alone = { "100.00% 0.00% [.] main", "100.00% 100.00% [.] outer" }
    assert.are.same(all, rows("--as", "7.3", path))
    assert.are.same(alone, rows("--as", "7.3", "--no-inline", path))
    assert.are.same(alone, rows("--as", "6.1", path))
    assert.are.same({ "100.00% [.] outer" }, rows("--as", "7.3", "--no-children", path))
  end)

  needs.it("gcc", "draws them where they were called", function()
    local path = recording()
    local out = run.perflua({ "report", "-q", "-s", "dso,sym", "--no-children", "-g", "callee",
      path }).out
    assert.are.equal([[
   100.00%  spin           [.] outer
            |
            ---inner (inlined)
               middle (inlined)
               outer
               main

]], out)
  end)

  needs.it("gcc", "does not mark those with the name of what they are inlined into", function()
    local path = recording "objcopy --redefine-sym outer=inner app/spin"
    assert.are.same({ "100.00% 0.00% [.] main", "100.00% 0.00% [.] middle (inlined)",
      "100.00% 100.00% [.] inner" }, rows("--as", "7.3", path))
    local out = run.perflua({ "script", "--as", "7.3", "-F", "ip,sym", path }).out
    assert.are.equal(" inner\n middle (inlined)\n inner\n main\n",
      (out:gsub("%s+%x+( [^\n]+\n)\n*", "%1")))
  end)

  needs.it("gcc,record", "has those of stacks that perf unwinds", function()
    local _, tree = recording()
    tree:write("app/busy.c", [[
      static inline __attribute__((always_inline)) unsigned mix(unsigned x)
      { for (int i = 0; i < 50; i++) { x ^= x << 13; __asm__ volatile("" : "+r"(x)); } return x; }
      __attribute__((noinline)) unsigned work(unsigned n)
      { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += mix(i); return s; }
      int main(void) { unsigned s = 0; for (int i = 0; i < 2000; i++) s += work(1000); return s & 1; }
    ]])
    tree:sh "cd app && gcc -g -O2 -no-pie -Wl,--build-id -o busy busy.c"
    local path = oracle.record("-e cpu-clock:u -F 500 --call-graph dwarf,4096",
      tree.path .. "/app/busy || true")
    local theirs = {}
    for line in files.lines("perf report --stdio -f -g none -s dso,sym -i " .. path
      .. " 2>/dev/null") do
      local share, name = line:match "^ +([%d.]+%%) .* busy +%[%.%] (%w+ %(inlined%))"
      if name then theirs[name] = share end
    end
    local ours = {}
    for _, line in ipairs(rows(path)) do
      local share, name = line:match "^([%d.]+%%) .*%[%.%] (%w+ %(inlined%))$"
      if name then ours[name] = share end
    end
    assert.is_truthy(ours["mix (inlined)"])
    assert.are.same(theirs, ours)
  end)
end)
