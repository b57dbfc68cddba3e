-- perflua report -b: the branches of branch stacks, as perf report -b counts them.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

local EMPTY <const> = "spec/fixtures/empty"
-- A sample of user code, whose branches enter the kernel, and one of the kernel, whose branches
-- leave it.
local function recording()
  local b = builder.new()
  local event = b:event { name = "cycles", ids = { 5 },
    sample_type = { "ip", "tid", "time", "branch_stack" }, branch_sample_type = 1 }
  b:record("comm", { pid = 7, tid = 7, comm = "prog" })
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x2000, pgoff = 0x1000,
    prot = 5, filename = "/usr/bin/prog" })
  b:record("mmap2", { pid = -1, tid = 0, addr = 0xffffffff81000000, len = 0x1000000,
    pgoff = 0xffffffff81000000, prot = 5, misc = 1, filename = "[kernel.kallsyms]_text" })
  local enter = { from = 0x400010, to = 0xffffffff81000100, predicted = true, cycles = 3 }
  local leave = { from = 0xffffffff81000180, to = 0x400012, mispred = true, in_tx = true }
  local jump = { from = 0x400020, to = 0x400010, predicted = true, abort = true }
  b:sample(event, { ip = 0x400010, pid = 7, tid = 7, time = 1,
    branch_stack = { enter, jump } })
  b:sample(event, { ip = 0xffffffff81000180, pid = 7, tid = 7, time = 2, misc = 1,
    branch_stack = { leave, jump, { from = 0x900000, to = 0 } } })
  return b:write()
end

-- Rows of a report, without its comments: columns separated by one blank, in alphabetic order.
local function rows_of(text)
  local rows = {}
  for line in text:gmatch "[^\n]+" do
    if not line:find "^#" then
      rows[#rows + 1] = line:gsub("^ +", ""):gsub(" +$", ""):gsub(" +", " ")
    end
  end
  table.sort(rows)
  return rows
end

local function report(path, ...)
  local got = run.perflua { "report", "-b", "--symfs", EMPTY, "--kallsyms", "/dev/null", "-n",
    path, ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out
end

describe("perflua report -b", function()
  local path = recording()

  it("counts branches by command, source and target", function()
    local out = report(path)
    assert.matches("^# 5 branches of event 'cycles', none lost\n# Event count: 5\n", out)
    assert.matches("\n# Overhead       Samples  Command  Source Shared Object  Source Symbol +"
      .. "Target Symbol +Basic Block Cycles\n", out)
    assert.are.same({
      "20.00% 1 prog [kernel.kallsyms] [k] 0xffffffff81000180 [.] 0x0000000000001012 -",
      "20.00% 1 prog [unknown] [H] 0x0000000000900000 [H] 0000000000000000 -",
      "20.00% 1 prog prog [.] 0x0000000000001010 [k] 0xffffffff81000100 3",
      "40.00% 2 prog prog [.] 0x0000000000001020 [.] 0x0000000000001010 -",
    }, rows_of(out))
  end)

  it("knows perf's keys of branches, beside those of samples", function()
    for keys, expected in pairs {
      mispredict = { "20.00% 1 N/A", "20.00% 1 Y", "60.00% 3 N" },
      ["in_tx,abort"] = { "20.00% 1 T .", "40.00% 2 . .", "40.00% 2 . A" },
      ["pid,dso_from"] = { "20.00% 1 7:prog [kernel.kallsyms]", "20.00% 1 7:prog [unknown]",
        "60.00% 3 7:prog prog" },
      cycles = { "20.00% 1 3", "80.00% 4 -" },
      addr_to = { "20.00% 1 [.] 0x0000000000001012", "20.00% 1 [H] 0000000000000000",
        "20.00% 1 [k] 0xffffffff81000100", "40.00% 2 [.] 0x0000000000001010" },
      -- the function and the binary of a branch are those of its target
      ["dso,sym"] = { "20.00% 1 [kernel.kallsyms] [k] 0xffffffff81000100",
        "20.00% 1 [unknown] [H] 0000000000000000", "20.00% 1 prog [.] 0x0000000000400012",
        "40.00% 2 prog [.] 0x0000000000400010" },
    } do
      assert.are.same(expected, rows_of(report(path, "-s", keys)), keys)
    end
  end)

  it("counts the branches of the samples that are chosen", function()
    assert.are.same({ "50.00% 1 N -", "50.00% 1 N 3" },
      rows_of(report(path, "-s", "mispredict,cycles", "--time", "0,0.000000001")))
    for of, share in pairs { absolute = "20.00", relative = "33.33" } do
      local expected = {}
      for i, word in ipairs { "N", "N/A", "Y" } do
        expected[i] = ("%s%% 1 %s"):format(share, word)
      end
      assert.are.same(expected, rows_of(report(path, "-s", "mispredict", "--where",
        "time == 2", "--percentage", of)))
    end
  end)

  it("writes CSV and JSON with the members beside what is shown", function()
    local csv = report(path, "--csv", "--count", "1")
    assert.are.equal("event,percent,comm,dso_from,symbol_from,symbol_to,cycles,"
      .. "branch.kind_from,branch.kind_to,samples,period\n"
      .. "cycles,40,prog,/usr/bin/prog,0x1020,0x1010,0,user,user,2,2\n", csv)
    local rows = dkjson.decode((report(path, "--json", "-s", "mispredict"))).events[1].rows
    assert.are.same({ mispredict = false, ["branch.predicted"] = true, samples = 3, period = 3,
      percent = 60 }, rows[1])
  end)

  it("looks up each end of a branch in the mode that its address implies", function()
    local file <close> = assert(perflua.open(path, { symfs = EMPTY }))
    local of_rows, of_view = {}, {}
    for from, to in file:samples():unnest("branch_stack"):select("branch.dso_from",
      "branch.dso_to") do of_rows[#of_rows + 1] = from .. " " .. to end
    for sample in file:samples():each() do
      for i = 1, #sample.branch_stack do
        local one = sample.branch_stack[i]
        of_view[#of_view + 1] = one.dso_from .. " " .. one.dso_to
      end
    end
    assert.are.same({ "/usr/bin/prog [kernel.kallsyms]", "/usr/bin/prog /usr/bin/prog",
      "[kernel.kallsyms] /usr/bin/prog", "/usr/bin/prog /usr/bin/prog",
      "[unknown] [unknown]" }, of_rows)
    assert.are.same(of_rows, of_view)
    assert.are.same({ "kernel", "user", false }, file:samples():where("time == 2")
      :unnest("branch_stack"):select("branch.kind_from"):collect())
  end)

  -- The map of a relocated kernel may begin among the addresses of processes. perf takes
  -- 1 << 63 for the border of an x86-64 kernel.
  it("tells addresses of an x86-64 kernel apart whatever its map says", function()
    local b = builder.new()
    b:feature("arch", "x86_64")
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "branch_stack" }, branch_sample_type = 1 }
    b:record("mmap", { pid = -1, tid = 0, addr = 0x15600000, len = 0xffffffffaa9fffff,
      pgoff = 0xffffffff96600198, misc = 1, filename = "[kernel.kallsyms]_stext" })
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x7f0000400000, len = 0x2000, prot = 5,
      filename = "/usr/bin/prog" })
    for time, misc in ipairs { 2, 1 } do
      b:sample(event, { ip = misc == 2 and 0x7f0000400010 or 0xffffffff96600200, pid = 7,
        tid = 7, time = time, misc = misc, branch_stack = {
          { from = 0x7f0000400010, to = 0xffffffff96600200 }, { from = 0x7f0000403000, to = 0 },
        } })
    end
    local relocated = b:write()
    assert.are.same({ "50.00% 2 [unknown] [unknown]", "50.00% 2 prog [kernel.kallsyms]" },
      rows_of(report(relocated, "-s", "dso_from,dso_to")))
    local file <close> = assert(perflua.open(relocated, { symfs = EMPTY }))
    for sample in file:samples():each() do
      local known, unknown = sample.branch_stack[1], sample.branch_stack[2]
      assert.are.same({ "/usr/bin/prog", "[kernel.kallsyms]", "[unknown]" },
        { known.dso_from, known.dso_to, unknown.dso_from })
    end
    local got = run.perflua { "script", "--as", "6.1", "--symfs", EMPTY, "-F", "brstack,dso",
      relocated }
    assert.are.equal(2, select(2, got.out:gsub(
      "0x7f0000400010%(/usr/bin/prog%)/0xffffffff96600200%(%[kernel.kallsyms%]%)/", "")))
    got = run.perflua { "symbol", "--symfs", EMPTY, relocated, "7f0000403000" }
    assert.is_nil(got.out:find("kernel", 1, true), got.out)
  end)

  it("names a kernel by its file as the plain report does", function()
    local b = builder.new()
    b:feature("build_id", {
      { build_id = ("ab"):rep(20), filename = "/tmp/vmlinux", cpumode = "kernel" },
    })
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "branch_stack" }, branch_sample_type = 1 }
    b:record("mmap2", { pid = -1, tid = 0, addr = 0xffffffff81000000, len = 0x1000000,
      pgoff = 0xffffffff81000000, prot = 5, misc = 1, filename = "[kernel.kallsyms]_text" })
    b:sample(event, { ip = 0xffffffff81000180, pid = 7, tid = 7, time = 1, misc = 1,
      branch_stack = { { from = 0xffffffff81000180, to = 0xffffffff81000100 } } })
    local by_file = b:write()
    assert.are.same({ "100.00% 1 [kernel.vmlinux] [kernel.vmlinux]" },
      rows_of(report(by_file, "-s", "dso_from,dso_to")))
    local plain = run.perflua { "report", "--symfs", EMPTY, "--kallsyms", "/dev/null", "-n",
      "-s", "dso", by_file }
    assert.are.same({ "100.00% 1 [kernel.vmlinux]" }, rows_of(plain.out))
  end)

  it("names the code of a thread's JIT compiler by the thread", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "branch_stack" }, branch_sample_type = 1 }
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x2000, pgoff = 0,
      prot = 5, filename = "//anon" })
    b:sample(event, { ip = 0x400010, pid = 7, tid = 7, time = 1,
      branch_stack = { { from = 0x400010, to = 0x400020 } } })
    assert.are.same({ "100.00% 1 [JIT] tid 7 [JIT] tid 7" },
      rows_of(report(b:write(), "-s", "dso_from,dso_to")))
  end)

  it("has rows of threads, and no column for the one command that is asked for", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "branch_stack" },
      branch_sample_type = 1 }
    for tid, comm in pairs { [7] = "main", [8] = "other" } do
      b:record("comm", { pid = 7, tid = tid, comm = comm })
      b:sample(event, { ip = 1, pid = 7, tid = tid, branch_stack = { { from = 1, to = 2 } } })
    end
    local threads = b:write()
    assert.are.same({ "50.00% 1 7:main", "50.00% 1 8:other" },
      rows_of(report(threads, "-s", "pid")))
    local out = report(threads, "-s", "comm,dso_to", "--comm", "main")
    assert.matches("^# comm: main\n", out)
    assert.are.same({ "50.00% 1 [unknown]" }, rows_of(out))
  end)

  it("refuses a recording without branches, and callers", function()
    local got = run.perflua { "report", "-b", run.demo }
    assert.are.equal(2, got.status)
    assert.matches("no record of this query has a field 'branch_stack'", got.err, 1, true)
    got = run.perflua { "report", "-b", "--children", path }
    assert.are.same({ 2, "perflua: --children and --branch-stack exclude each other\n" },
      { got.status, got.err })
  end)

  -- Rows with the same text are one: perf tells addresses of a function that is not known apart
  -- by where they were mapped. Its columns cut long names, and an IPC is added to symbols.
  local function added_up(rows)
    local sums = {}
    for _, row in ipairs(rows) do
      local n, rest = row:match "^%S+ (%d+) (.*)$"
      rest = rest:gsub(" %-$", ""):gsub("%S+", function(word) return word:sub(1, 18) end)
      sums[rest] = (sums[rest] or 0) + math.tointeger(tonumber(n))
    end
    return sums
  end

  needs.it("corpus", "has the rows of perf report -b", function()
    for _, name in ipairs {
      "GrapheneOS__platform_system_extras/simpleperf/testdata/perf_b.data",
      "KDAB__perfparser/tests/auto/perfdata/vector_static_gcc/perf.lbr.data",
      "google__autofdo/testdata/perf-kernel.data",
      "google__perf_data_converter/src/quipper/testdata/perf.data.callgraph_and_branch-3.4",
      "google__perf_data_converter/src/quipper/testdata/perf.data.branch-3.8",
    } do
      local recorded = corpus.root .. "/collected/" .. name
      for _, keys in ipairs { "mispredict,in_tx,abort", "comm,dso_from,dso_to",
        "dso_from,symbol_from,symbol_to" } do
        local theirs = files.output(("perf report -f -b --stdio -n -s %s --symfs=%s "
          .. "--kallsyms=/dev/null -i %s 2>/dev/null"):format(keys, EMPTY,
            files.quote(recorded)))
        local expected = added_up(rows_of(theirs))
        assert.is_truthy(next(expected), name)
        assert.are.same(expected, added_up(rows_of(report(recorded, "-s", keys))),
          name .. " " .. keys)
      end
    end
  end)
end)
