-- --explain of analyses prints a script that asks the same: its tables have what tools show.
local builder = require "spec.support.builder"
local demo = require "spec.support.demo"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"
local traced = require "spec.support.traced"

-- The tables that the script prints, by number, and its text.
local function tables_of(...)
  local got = run.perflua { ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  local path, tables = select(select("#", ...), ...), {}
  local globals = setmetatable({ arg = { path },
    print = function(made) tables[#tables + 1] = made end }, { __index = _G })
  assert(load(got.out, "=script", "t", globals))()
  return tables, got.out
end

local function json(...)
  local got = run.perflua { ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return dkjson.decode(got.out)
end

-- A recording of page faults { address, misc } of a process with a heap.
local function faults(list)
  local b = builder.new()
  local event = b:event { name = "page-faults", type = 1, config = 2, sample_period = 1,
    sample_type = { "ip", "tid", "time", "addr" } }
  b:record("comm", { pid = 7, tid = 7, comm = "a" }, { time = 1 })
  b:record("mmap", { pid = 7, tid = 7, addr = 0x1000, len = 0x1000, pgoff = 0,
    filename = "[heap]", data = true }, { time = 2 })
  for i, one in ipairs(list) do
    b:sample(event, { ip = 0, pid = 7, tid = 7, time = 10 * i, addr = one[1], misc = one[2] })
  end
  b:record("lost", { id = 1, lost = 5 }, { time = 1000 })
  return b:write()
end

local USER <const>, KERNEL <const> = 2, 1

describe("--explain", function()
  it("prints the query of faults", function()
    local path = faults { { 0x1010, USER }, { 0x1020, KERNEL }, { 0x90000, USER } }
    local tables, text = tables_of("faults", "--explain", "--comm", "a", path)
    assert.matches("where%(.-comm in { \"a\" }", text)
    assert.matches("\n-- workers ", text)
    local ours, lost = {}, 0
    for row in tables[1]:rows() do
      if row.type == "sample" then
        ours[row["dso_daddr or '[unknown]'"]] = { row.faults, row.kernel }
      else
        lost = lost + row.lost
      end
    end
    local theirs, got = {}, json("faults", "--json", "--comm", "a", path)
    for _, row in ipairs(got.rows) do theirs[row.object] = { row.faults, row.kernel } end
    assert.are.same({ ["[heap]"] = { 2, 1 }, ["[unknown]"] = { 1, 0 } }, ours)
    assert.are.same(theirs, ours)
    assert.are.same({ 5, 5 }, { lost, got.lost_records })
  end)

  it("prints the query of syscalls", function()
    local path = files.fixture "calls.perf.data"
    local tables = tables_of("syscalls", "--explain", "--errno", "--tid", "7714,7722", path)
    local got = json("syscalls", "--json", "--errno", "--tid", "7714,7722", path)
    local ours, n = {}, 0
    for row in tables[1]:rows() do
      ours[perflua.syscall(row["args.id"], "x86_64")] = { row.count, row.errors,
        ("%.3f"):format(row.max_duration / 1e3) }
    end
    for _, row in ipairs(got.rows) do
      assert.are.same({ row.calls, row.errors, ("%.3f"):format(row.max_us) }, ours[row.syscall])
      n = n + 1
    end
    assert.are.equal(#tables[1], n)
    assert.are.same({ got.pairs, got.unopened, got.unclosed },
      { tables[1].counts.pairs, tables[1].counts.unopened, tables[1].counts.unclosed })
  end)

  it("prints the query of cgroups, also of one that needs a function", function()
    local b = builder.new()
    local event = b:event { name = "cycles", namespaces = true,
      sample_type = { "tid", "time", "period", "cgroup" }, cgroup = true }
    local list = {}
    for i = 1, 7 do list[i] = { dev = 4, ino = 9 } end
    b:record("namespaces", { pid = 7, tid = 7, namespaces = list }, { time = 1 })
    b:record("cgroup", { cgroup_id = 1, path = "/a" }, { time = 2 })
    for i = 1, 3 do
      b:sample(event, { pid = 6 + i, tid = 6 + i, time = 10 * i, period = i, cgroup = 1 })
    end
    local path = b:write()
    for by, column in pairs { cgroup = "cgroup_path", namespace = "namespace" } do
      local theirs, ours = {}, {}
      for row in tables_of("cgroups", "--explain", "--by", by, path)[1]:rows() do
        if row.type == "sample" then
          ours[row[column] or "[unknown]"] = { row.samples, row.period }
        end
      end
      for _, row in ipairs(json("cgroups", "--json", "--by", by, path).rows) do
        theirs[row[by]] = { row.samples, row.period }
      end
      assert.are.same(theirs, ours)
      assert.are.same(by == "cgroup" and { ["/a"] = { 3, 6 } }
        or { ["4/0x9"] = { 1, 1 }, ["[unknown]"] = { 2, 5 } }, ours)
    end
  end)

  it("prints the query of locks", function()
    local names, lock = { "lock:contention_begin", "lock:contention_end" }, { lock_addr = 0x10 }
    local path = traced.write(names, {
      { names[1], 1000, 0, 0, { lock_addr = 0x10, flags = 33 } },
      { names[1], 1500, 0, 1, { lock_addr = 0x10, flags = 1 } },
      { names[1], 2000, 0, 0, { lock_addr = 0x10, flags = 32 } },
      { names[2], 4000, 0, 0, lock }, { names[2], 9000, 0, 1, lock },
    })
    local made = tables_of("locks", "--explain", "--by", "thread", path)
    local ours = {}
    for row in made[1]:rows() do ours[#ours + 1] = { row.tid, row.count, row.duration } end
    assert.are.same({ { 0, 1, 7500 }, { 0, 1, 3000 } }, ours)
    local got = json("locks", "--json", "--by", "thread", path)
    assert.are.same({ 7.5, 3, made[1].counts.restarted },
      { got.rows[1].max_us, got.rows[2].max_us, got.restarted })
  end)

  it("prints the query of irqs", function()
    local names = { "irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit" }
    local path = traced.write(names, {
      { "irq:softirq_raise", 1000, 7, 0, { vec = 1 } },
      { "irq:softirq_raise", 2000, 7, 0, { vec = 1 } },
      { "irq:softirq_entry", 4000, 7, 0, { vec = 1 } },
      { "irq:softirq_exit", 9000, 7, 0, { vec = 1 } },
    })
    local made, ours = tables_of("irqs", "--explain", path)[1], {}
    for row in made:rows() do
      ours[row["event.name"]] = { row["args.vec"], row.cpu, row.duration }
    end
    assert.are.same({ ["irq:softirq_raise"] = { 1, 0, 3000 },
      ["irq:softirq_entry"] = { 1, 0, 5000 } }, ours)
    local got = json("irqs", "--json", path)
    assert.are.same({ 3, 5, made.counts.restarted },
      { got.rows[1].max_delay_us, got.rows[1].max_us, got.restarted })
  end)

  it("prints the query of alloc", function()
    local path = traced.write({ "kmem:kmalloc", "kmem:kfree" }, {
      { "kmem:kmalloc", 1000, 7, 0,
        { call_site = 1, ptr = 2, bytes_req = 60, bytes_alloc = 64 } },
      { "kmem:kmalloc", 1100, 7, 0,
        { call_site = 1, ptr = 3, bytes_req = 30, bytes_alloc = 32 } },
      { "kmem:kfree", 2000, 7, 1, { call_site = 9, ptr = 2 } },
      { "kmem:kmalloc", 2100, 7, 0,
        { call_site = 1, ptr = 3, bytes_req = 20, bytes_alloc = 32 } },
    })
    local row = tables_of("alloc", "--explain", path)[1][1]
    local got = json("alloc", "--json", path)
    for column, name in pairs { count = "allocs", requested = "requested", frees = "frees",
      left = "left", left_bytes = "left_bytes", moved = "moved" } do
      assert.are.equal(got.rows[1][name], row[column], name)
    end
    assert.are.same({ 3, 1, 1, 1, 1 },
      { row.count, row.frees, row.moved, row.left, row.unseen })
  end)

  it("prints a script that runs, of each analysis", function()
    for path, tools in pairs { ["sched.data"] = "sched offcpu wakers timeline timechart",
      ["calls.data"] = "syscalls", ["cgroups.data"] = "cgroups",
      ["kernel.data"] = "migrations locks irqs faults io alloc" } do
      for tool in tools:gmatch "%S+" do
        assert.is_true(#tables_of(tool, "--explain", demo.recordings()[path]) > 0, tool)
      end
    end
  end)

  it("is an option of tools with queries only", function()
    local got = run.perflua { "stat", "--explain", faults {} }
    assert.are.equal(2, got.status)
    assert.matches("explain", got.err)
  end)
end)
