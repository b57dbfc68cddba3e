-- perflua report --branch-history: the branches of branch stacks in call chains, and -g with
-- the words address, srcline and branch.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local EMPTY <const> = "spec/fixtures/empty"
local KERNEL <const>, USER <const> = -128 & -1, -512 & -1
local CODE <const> = 0x400000

-- A recording of samples { ip, chain, branches, period =, time = }: branches are { from, to,
-- predicted =, … }. Addresses are those of a program that is mapped at CODE, unless they are
-- larger than its code.
local function recorded(samples, options)
  options = options or {}
  local b = builder.new()
  local types = { "ip", "tid", "time", "period", "branch_stack" }
  if options.chains ~= false then types[#types + 1] = "callchain" end
  local event = b:event { name = "cycles", sample_type = types,
    branch_sample_type = options.branches or { "any", "type_save" } }
  if options.feature ~= false then b:feature("branch_stack", true) end
  b:record("comm", { pid = 7, tid = 7, comm = "prog" })
  b:record("mmap2", { pid = 7, tid = 7, addr = CODE, len = 0x10000, pgoff = 0, prot = 5,
    filename = "/usr/bin/prog" })
  local function at(address)
    return address >= 0 and address < 0x10000 and CODE + address or address
  end
  for i, sample in ipairs(samples) do
    local chain, stack = {}, { nr = sample.nr }
    for k, address in ipairs(sample[2]) do chain[k] = at(address) end
    for k, branch in ipairs(sample[3]) do
      local entry = { from = at(branch[1]), to = at(branch[2]) }
      for name, value in pairs(branch) do entry[name] = value end
      stack[k] = entry
    end
    b:sample(event, { ip = at(sample[1]), pid = 7, tid = 7, time = sample.time or i,
      period = sample.period or 1, callchain = chain, branch_stack = stack })
  end
  return b:write()
end

local function report(path, ...)
  local got = run.perflua { "report", "--symfs", EMPTY, "--kallsyms", "/dev/null", path, ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out
end

-- The lines of a report without its head, blanks as one.
local function lines_of(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
    if line ~= "" and not line:find "^#" then list[#list + 1] = line end
  end
  return list
end

local function history(path, ...)
  return lines_of(report(path, "--branch-history", "--as", "6.1", ...))
end

local function words_of(options)
  local words = {}
  for word in options:gmatch "%S+" do words[#words + 1] = word end
  return table.unpack(words)
end

-- Compares a report with that of the installed perf, which has `least` lines or more.
local function assert_as_perf(path, options, least)
  local perf = lines_of(files.output(("trap '' PIPE; perf report --stdio %s --symfs %s "
    .. "--kallsyms /dev/null -f -i %s 2>/dev/null"):format(options, EMPTY, files.quote(path))))
  assert.is_true(#perf >= least)
  assert.are.same(perf, lines_of(report(path, "--as", oracle.version, words_of(options))),
    options)
end

local call = { 0x214, 0x300, predicted = true, cycles = 5 }
local jump = { 0x114, 0x200, mispred = true, cycles = 7 }
local abort = { 0x50, 0x110, predicted = true, abort = true, cycles = 1 }

describe("perflua report --branch-history", function()
  it("draws branches from the latest on, and the calls that they do not stand for", function()
    local path = recorded { { 0x310, { USER, 0x218, 0x118, 0x510, 0x610, 0x710, 0x810 },
      { call, jump } } }
    assert.are.same({ "100.00% prog[310] [.] 0x0000000000000310 prog - -", "|", "---0x400300",
      "0x400214 (cycles:5)", "0x400200 (predicted:0.0%)", "0x400114 (cycles:7)",
      -- the call that returns after the first branch's source is one with it, and the marker
      "0x400218 (calltrace)", "0x400118 (calltrace)", "0x400510 (calltrace)",
      "0x400610 (calltrace)" }, history(path, "--no-children"))
  end)

  it("draws the oldest branch first by default, with a row for each address", function()
    local path = recorded { { 0x310, { USER, 0x310, 0x218, 0x118 }, { call, jump, abort } } }
    local got = history(path)
    local rows = {}
    for _, line in ipairs(got) do
      rows[#rows + 1] = line:match "^100.00%% (%d+.00%% prog%S+)"
    end
    table.sort(rows)
    assert.are.same({ "0.00% prog[110]", "0.00% prog[114]", "0.00% prog[118]",
      "0.00% prog[200]", "0.00% prog[214]", "0.00% prog[300]", "0.00% prog[50]",
      "100.00% prog[310]" }, rows)
    assert.are.same({ "100.00% 100.00% prog[310] [.] 0x0000000000000310 prog - -", "|",
      "---0x400110 (abort:100.0%)", "0x400050 (cycles:1)", "0x400200 (predicted:0.0%)",
      "0x400114 (cycles:7)", "0x400300", "0x400214 (cycles:5)", "0x400118 (calltrace)" },
      table.move(got, 1, 9, 1, {}))
  end)

  it("leaves out loops, and tells how often they went round", function()
    local samples = {}
    for i = 1, 3 do
      samples[i] = { 0x310, {}, { { 0x319, 0x310, predicted = true, cycles = 2 },
        { 0x319, 0x310, predicted = true, cycles = 3 },
        { 0x319, 0x310, predicted = true, cycles = 4 },
        { 0x214, 0x300, predicted = i > 1, cycles = 10 } } }
    end
    assert.are.same({ "100.00% prog[310] [.] 0x0000000000000310 prog - -", "|", "---0x400310",
      "0x400319 (cycles:2)", "0x400310", "0x400319 (cycles:4 iter:1 avg_cycles:3)",
      "0x400300 (predicted:66.7%)", "0x400214 (cycles:10)" },
      history(recorded(samples, { chains = false }), "--no-children"))
  end)

  it("tells the types of branches, and how far they go", function()
    local path = recorded({ { 0x10, {}, { { 0x214, 0x300, predicted = true, type = 1 },
      { 0x1100, 0x200, predicted = true, type = 1 },
      { 0x700, 0x90000000, predicted = true, type = 4 } } } }, { chains = false })
    local got = history(path, "--no-children")
    assert.are.same({ "---0x400300 (COND_FWD)", "0x400214",
      "0x400200 (COND_BWD CROSS_4K)", "0x401100", "0x90000000 (CALL CROSS_2M)", "0x400700" },
      table.move(got, 3, 8, 1, {}))
  end)

  it("has columns of the branches from 7.2 on", function()
    local path = recorded { { 0x310, { USER, 0x310 }, { call, jump, abort } },
      { 0x310, { USER, 0x310 }, { call, jump } } }
    local text = report(path, "--branch-history", "--no-children", "--as", "7.3")
    assert.matches("# Overhead +Source:Line +Symbol +Shared Object +Predicted +Abort +Cycles +"
      .. "IPC   %[IPC Coverage%]\n", text)
    -- 3 of 10 ends are targets that were predicted; 5 + 7 + 1 + 5 + 7 cycles
    assert.are.equal("100.00% prog[310] [.] 0x0000000000000310 prog 30.0% 1 2 - -",
      lines_of(text)[1])
  end)

  it("sorts and shows by other fields", function()
    local path = recorded { { 0x310, { USER, 0x310 }, { call } },
      { 0x410, { USER, 0x410 }, { jump }, period = 3 } }
    local got = history(path, "-s", "comm", "--no-children", "-g", "graph,0")
    assert.are.equal("100.00% prog", got[1])
    got = lines_of(report(path, "--branch-history", "--no-children", "-g", "none", "-s",
      "sym,callchain_branch_cycles,callchain_branch_predicted"))
    assert.are.same({ "75.00% [.] 0x0000000000000410 3 0.0%",
      "25.00% [.] 0x0000000000000310 2 50.0%" }, got)
  end)

  it("takes as many branches, and calls, as --max-stack says", function()
    local path = recorded { { 0x310, { USER, 0x310, 0x510, 0x610, 0x710 },
      { call, jump, abort } } }
    assert.are.same({ "100.00% prog[310] [.] 0x0000000000000310 prog - -", "|", "---0x400300",
      "0x400214 (cycles:5)", "0x400310 (calltrace)" },
      history(path, "--no-children", "--max-stack", "1"))
  end)

  it("survives stacks that no processor has", function()
    local long, wild = {}, {}
    for i = 1, 2000 do long[i] = { i * 16, i * 16 + 8, cycles = 0xffff } end
    for i = 1, 127 do wild[i] = { i % 3 == 0 and -1 or -CODE, i % 2 == 0 and 0 or -1,
      flags = -1 } end
    for _, sample in ipairs { { 0x310, { USER, 0x310 }, long }, { 0x310, {}, wild },
      { 0x310, { KERNEL }, wild }, { 0, { USER, USER, USER }, { { -CODE, -CODE } } },
      { 0x310, { USER, 0x310 }, {} } } do
      for _, option in ipairs { "--no-children", "--children", "-n" } do
        local text = report(recorded { sample, sample }, "--branch-history", option)
        assert.matches("100.00%%", text)
      end
    end
    -- more than 127 branches are none of a processor: perf leaves them out, too
    assert.are.same({ "100.00% prog[310] [.] 0x0000000000000310 prog - -", "|",
      "---0x400310 (calltrace)" },
      history(recorded { { 0x310, { USER, 0x310 }, long } }, "--no-children"))
  end)

  it("says nothing about branches where the recording does not tell that it has them",
    function()
      local path = recorded({ { 0x310, { USER, 0x218, 0x118, 0x510 }, { jump } } },
        { feature = false })
      assert.are.same({ "---0x400200", "0x400114", "0x400218", "0x400118" },
        table.move(history(path, "--no-children"), 3, 6, 1, {}))
    end)

  it("names the option of perf record that records branch stacks", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "callchain" } }
    b:sample(event, { ip = 1, pid = 7, time = 1 })
    local got = run.perflua { "report", "--branch-history", b:write() }
    assert.are.same({ 2, "perflua: --branch-history: no event has branch stacks; "
      .. "perf record -b records them\n" }, { got.status, got.err })
    got = run.perflua { "report", "-s", "callchain_branch_abort", b:write() }
    assert.are.same({ 2, "perflua: report: callchain_branch_abort: --branch-history tells of "
      .. "the branches in call chains\n" }, { got.status, got.err:match "[^\n]+\n$" })
  end)

  needs.it("perf", "prints the lines that perf report does", function()
    local random = math.random
    math.randomseed(40)
    for _ = 1, 6 do
      local samples = {}
      for i = 1, 40 do
        local chain, branches, k = { random(3) == 1 and KERNEL or USER }, {}, 0
        for n = 1, random(0, 6) do chain[n + 1] = random(0, 12) * 0x100 + 8 end
        for n = 1, random(0, 24) do
          k = random(4) == 1 and random(0, 6) or (k + 1) % 4
          branches[n] = { k * 0x100 + 4, random(0, 6) * 0x100, predicted = random(4) > 1,
            abort = random(9) == 1, cycles = random(0, 9), type = random(0, 6) }
        end
        -- no two sums are equal, so that rows and calls have one order
        samples[i] = { random(1, 4) * 0x100, chain, branches, period = random(1 << 40) }
      end
      local path = recorded(samples)
      for _, options in ipairs { "--branch-history --no-children",
        "--branch-history --no-children -g caller,0", "--branch-history --no-children -s sym",
        "--no-branch-stack --no-children -g address",
        "--no-branch-stack --no-children -g branch,address,callee" } do
        assert_as_perf(path, options, 11)
      end
    end
  end)

  describe("of call stacks of branches", function()
    local OPTIONS <const> = "--no-branch-stack --no-children -g address,folded"
    local path = recorded({ { 0x110, { KERNEL, 0x7fff0010, USER, 0x110, 0x10 },
      { { 0x10, 0x100 } } } }, { branches = { "user", "call_stack" } })

    it("begins them as the version of perf does", function()
      for as, first in pairs { ["6.1"] = "0x400100", ["7.3"] = "0x400110" } do
        assert.are.same({ "100.00% prog prog [.] 0x0000000000000110",
          "100.00% 0x7fff0010;" .. first .. ";0x400010" },
          lines_of(report(path, "--as", as, words_of(OPTIONS))), as)
      end
    end)

    needs.it("perf", "draws them as perf does", function()
      assert_as_perf(path, OPTIONS, 2)
    end)
  end)
end)
