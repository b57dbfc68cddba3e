-- Fields by the names that perf report has for its keys.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local split = require "perflua.text.split"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- PERF_MEM_OP_LOAD, LVL_HIT | LVL_L1, SNOOP_HITM, LOCK_LOCKED, TLB_HIT | TLB_L1, BLK_DATA
local L1_HIT <const> = 0x2 | 0x2 << 5 | 0x8 << 5 | 0x10 << 19 | 0x2 << 24 | 0x2 << 26
  | 0x8 << 26
  | 0x2 << 40

local function recording()
  local b = builder.new()
  b:event { name = "loads", ids = { 5 },
    sample_type = { "ip", "tid", "time", "addr", "cpu", "weight", "data_src", "phys_addr" } }
  b:feature("nrcpus", { available = 3, online = 3 })
  b:feature("cpu_topology", { cores = { "0-2" }, threads = { "0", "1", "2" },
    cpus = { { core_id = 0, socket_id = 0 }, { core_id = 1, socket_id = 0 },
      { core_id = 0, socket_id = 7 } } })
  for i, comm in ipairs { "kworker/12:3", "worker", "9" } do
    b:record("comm", { pid = i, tid = i, comm = comm })
    b:sample(b.events[1], { ip = 16, pid = i, tid = i, time = i, addr = 0x1000 + 40 * i,
      cpu = i - 1, weight = 10 * i, data_src = L1_HIT, phys_addr = 0x77 })
  end
  return b:write()
end

describe("names of perf's keys", function()
  local file

  setup(function() file = assert(perflua.open(recording())) end)
  teardown(function() file:close() end)

  local function values(name) return file:samples():select(name):collect() end

  it("are those of members of data_src", function()
    for name, value in pairs {
      mem = "L1 hit", snoop = "HitM", tlb = "L1 hit", dtlb = "L1 hit", locked = "Yes",
      blocked = "Data", op = "LOAD",
    } do
      assert.are.same({ value, value, value }, values(name), name)
      assert.are.equal(3, file:samples():where(("%s == '%s'"):format(name, value)):count())
    end
    assert.are.same(values "data_src.lvl", values "mem")
  end)

  it("are those of other fields", function()
    for name, field in pairs { tgid = "pid", phys_daddr = "phys_addr", local_weight = "weight",
      weight1 = "weight", symbol_iaddr = "symbol", sym = "symbol" } do
      assert.are.same(values(field), values(name), name)
    end
  end)

  it("are those of expressions", function()
    assert.are.same({ 0x1000, 0x1040, 0x1040 }, values "dcacheline")
    local rows = {}
    for row in file:samples():group_by("dcacheline"):count():sort():rows() do
      rows[row.dcacheline] = row.count
    end
    assert.are.same({ [0x1000] = 1, [0x1040] = 2 }, rows)
    assert.are.equal(2, file:samples():where("dcacheline == 0x1040 and mem ~= nil"):count())
  end)

  it("are fields of their own", function()
    assert.are.same({ "kworker/<N>:<N>", "worker", "<N>" }, values "comm_nodigit")
    assert.are.same({ 0, 0, 7 }, values "socket")
    assert.are.same({ "[other]", "[other]", "[other]" }, values "parent")
    assert.are.equal("worker", file:samples():where("socket == 0 and cpu == 1"):first()
      .comm_nodigit)
  end)

  it("are refused where the recording has nothing for them", function()
    local b = builder.new()
    b:event { name = "ticks", ids = { 5 }, sample_type = { "ip", "tid", "time", "cpu" } }
    b:sample(b.events[1], { ip = 1, pid = 1, tid = 1, time = 1, cpu = 0 })
    local other <close> = assert(perflua.open(b:write()))
    for name, field in pairs { mem = "data_src", dcacheline = "addr",
      phys_daddr = "phys_addr" } do
      local ok, message = pcall(function() return other:samples():select(name) end)
      assert.is_false(ok)
      assert.matches(("no record of this query has a field '%s'"):format(field), message)
    end
    assert.are.same({ false }, other:samples():select("socket"):collect())
  end)

  it("say why they are not answered", function()
    for name, why in pairs {
      typeoff = "does not look up types of data", simd = "Arm SPE",
      parallelism = "how many threads ran", cache = "a query groups by data_src.lvl_num",
      ipc_lbr = "report --branch-stack --sort symbol",
      cgroup_id = "perflua cgroups --by namespace",
      symbol_from = "report -b, or unnest('branch_stack') and branch.symbol_from",
      mispredict = "branch.mispred", callchain_branch_cycles = "unnest('branch_stack')",
    } do
      local ok, message = pcall(function() return file:samples():select(name) end)
      assert.is_false(ok)
      assert.matches(("'%s' is not answered: "):format(name), message, 1, true)
      assert.matches(why, message, 1, true)
    end
    -- a field of records has that name
    assert.are.same({ "sample", "sample", "sample" }, values "type")
    local got = run.perflua { "report", "--sort", "type", recording() }
    assert.are.equal(2, got.status)
    assert.matches("'type' is not answered: perflua does not look up types", got.err, 1, true)
  end)

  it("are the length of the mapping", function()
    local b = builder.new()
    b:event { name = "ticks", ids = { 5 }, sample_type = { "ip", "tid", "time" } }
    b:record("mmap2", { pid = 1, tid = 1, addr = 0x400000, len = 0x3000, prot = 5,
      filename = "/bin/a" })
    b:sample(b.events[1], { ip = 0x401000, pid = 1, tid = 1, time = 1 })
    local other <close> = assert(perflua.open(b:write()))
    assert.are.same({ 0x3000 }, other:samples():select("dso_size"):collect())
  end)

  it("are quanta of time in a report", function()
    local b = builder.new()
    b:event { name = "ticks", ids = { 5 }, sample_type = { "ip", "tid", "time" } }
    for _, time in ipairs { 1999999999, 2000000000, 2099999999, 2100000000, 2012345678 } do
      b:sample(b.events[1], { ip = 1, pid = 1, tid = 1, time = time })
    end
    local path = b:write()
    local function rows(...)
      local out = run.perflua({ "report", "-n", "--sort", "time", path, ... }).out
      local found = {}
      for n, time in out:gmatch "\n +[%d.]+%% +(%d+) +(%S+)" do found[time] = n end
      return found
    end
    assert.are.same({ ["1.900000"] = "1", ["2.000000"] = "3", ["2.100000"] = "1" }, rows())
    assert.are.same({ ["1.990000"] = "1", ["2.000000"] = "1", ["2.010000"] = "1",
      ["2.090000"] = "1", ["2.100000"] = "1" }, rows("--time-quantum", "10ms"))
    local csv = run.perflua { "report", "--sort", "time", "--csv", "--count", "1", path }
    assert.matches("ticks,60,2000000000,3,3", csv.out, 1, true)
    local got = run.perflua { "report", "--sort", "time", "--time-quantum", "10", path }
    assert.are.equal(2, got.status)
    assert.matches("--time-quantum: a duration expected, such as 10ms, got '10'",
      got.err, 1, true)
  end)

  needs.it("perf", "have the values that perf report shows", function()
    local words = "spec/fixtures/words"
    local function rows(text)
      local found = {}
      for percent, size, source, symbol in
        text:gmatch "\n +([%d.]+%%) +(%d+) +(%S+) +%[[.k]%] (%S+)" do
        found[#found + 1] = table.concat({ percent, size, source, symbol }, " ")
      end
      table.sort(found)
      return found
    end
    local theirs = rows(files.output(("perf report --stdio --sort symbol_size,srcfile,sym "
      .. "--no-children -g none --symfs %s -f -i %s/perf.data 2>/dev/null"):format(words,
      words)))
    local ours = rows(run.perflua({ "report", "--no-children", "--sort",
      "symbol_size,srcfile,sym", "--symfs", words, words .. "/perf.data" }).out)
    assert.is_true(#theirs > 3)
    assert.are.same(theirs, ours)
  end)
end)

describe("a list of fields", function()
  it("ends at commas that are in no brackets or quotes", function()
    assert.are.same({ "comm", "bucket(time, 10ms)", "args.a[1]" },
      split.list("comm, bucket(time, 10ms),args.a[1],"))
    assert.are.same({ "find(comm, 'a,(')", "comm in { 'a', 'b' }", 'x == ","' },
      split.list("find(comm, 'a,('),comm in { 'a', 'b' },x == \",\""))
    assert.are.same({}, split.list(" , "))
    assert.are.same({ "a(b,c" }, split.list("a(b,c"))
  end)

  it("may hold expressions in a report", function()
    local got = run.perflua { "report", "--no-children", "--csv", "--event", "page-faults",
      "--sort", "bucket(pid, 2),comm == 'sh'", run.demo }
    assert.are.same({ 0, "" }, { got.status, got.err })
    assert.matches("^event,percent,\"bucket%(pid, 2%)\",comm == 'sh',samples,period\r?\n",
      got.out)
  end)
end)
