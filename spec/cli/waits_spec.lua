-- offcpu, wakers, locks and irqs over records that do not match, and over names that would
-- harm.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local run = require "spec.cli.run"
local traced = require "spec.support.traced"

local function output(...)
  local got = run.perflua { ... }
  assert.are.equal(0, got.status, got.err)
  return got.out
end

local LOCKS = { "lock:contention_begin", "lock:contention_end" }
local MUTEX, SPIN = 32, 1

local function begin(time, tid, cpu, lock, flags)
  return { LOCKS[1], time, tid, cpu, { lock_addr = lock, flags = flags } }
end

local function finish(time, tid, cpu, lock)
  return { LOCKS[2], time, tid, cpu, { lock_addr = lock } }
end

describe("perflua locks", function()
  it("takes a mutex that spins and then sleeps as one wait", function()
    local path = traced.write(LOCKS,
      { begin(1000, 7, 0, 0x100, MUTEX | SPIN), begin(3000, 7, 0, 0x100, MUTEX),
      finish(6000, 7, 1, 0x100) })
    assert.are.equal("count,total_ms,max_us,avg_us,type,comm,tid\n1,0.005,5,5,mutex,:7,7\n",
      output("locks", "--by", "thread", "--csv", path))
    assert.matches("# 1 wait; not counted: 1 repeated start\n",
      output("locks", "--by", "lock", path), 1, true)
  end)

  it("keeps the idle threads of processors, and the locks of a thread, apart", function()
    local path = traced.write(LOCKS, {
      begin(1000, 0, 0, 0x100, SPIN), begin(2000, 0, 1, 0x100, SPIN),
      finish(4000, 0, 0, 0x100), finish(9000, 0, 1, 0x100),
      begin(10000, 7, 0, 0x100, 2), begin(11000, 7, 0, 0x200, SPIN), finish(12000, 7, 0, 0x200),
      finish(20000, 7, 0, 0x100),
    })
    assert.are.equal("count,total_ms,max_us,avg_us,type,lock\n2,0.01,7,5,spinlock,0x100\n"
      .. "1,0.01,10,10,rwsem:R,0x100\n1,0.001,1,1,spinlock,0x200\n",
      output("locks", "--by", "lock", "--csv", path))
  end)

  it("drops waits during which records were lost, and says so", function()
    local path = traced.write(LOCKS,
      { begin(1000, 7, 0, 0x100, SPIN), { "lost", 2000, 7, 0, { id = 101, lost = 3 } },
      finish(3000, 7, 0, 0x100), begin(4000, 7, 0, 0x100, SPIN) })
    local got = dkjson.decode(output("locks", "--by=thread", "--json", path))
    assert.are.same({ 1, 0, 1, 1, {} }, { got.unopened, got.restarted, got.lost, got.unclosed,
      setmetatable(got.rows, nil) })
  end)

  it("does not count waits with a time that is damage, and says so", function()
    local path = traced.write(LOCKS,
      { begin(1000, 7, 0, 0x100, SPIN), finish(3000, 7, 0, 0x100),
      begin(4000, 7, 0, 0x100, SPIN), finish(1 << 60, 7, 0, 0x100) })
    local got = output("locks", "--by=thread", path)
    assert.matches("# 1 sample was not counted: a period of 2^56 or more is damage\n", got, 1,
      true)
    assert.matches("\n +1 +0.002 +2.00 +2.00 ", got)
  end)

  it("names what a recording lacks, and how it is recorded", function()
    assert.same({ status = 1, out = "", err = "perflua: " .. run.demo
      .. ": this recording has no event "
      .. "'lock:contention_begin' and no event 'lock:contention_end'; record it with: perf "
      .. "lock record -- COMMAND\n" },
      run.perflua { "locks", run.demo })
  end)
end)

describe("perflua irqs", function()
  local events = { "irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_entry",
    "irq:softirq_exit",
    "irq:softirq_raise" }
  local function irq(what, time, cpu, number, name)
    return { "irq:irq_handler_" .. what, time, 7, cpu, { irq = number, name = name } }
  end
  local function softirq(what, time, cpu, vec)
    return { "irq:softirq_" .. what, time, 7, cpu, { vec = vec } }
  end

  it("tells interrupts inside of softirqs, names, and the delay since the first "
    .. "raise", function()
    local path = traced.write(events, {
      softirq("raise", 1000, 0, 1), softirq("raise", 2000, 0, 1), softirq("entry", 4000, 0, 1),
      irq("entry", 5000, 0, 9, "net\27;1"), irq("exit", 6000, 0, 9),
      softirq("exit", 9000, 0, 1),
      softirq("entry", 9000, 1, 77), softirq("exit", 9500, 1, 77),
    })
    assert.are.equal([[
# 4 runs and raises; not counted: 1 end without a start, 1 repeated start
type     number  name       cpu  count  total_ms  avg_us  max_us  delays  avg_delay_us  max_delay_us
softirq       1  TIMER        0      1     0.005    5.00    5.00       1          3.00          3.00
irq           9  net\x1b;1    0      1     0.001    1.00    1.00       -             -             -
softirq      77  77           1      1    0.0005    0.50    0.50       -             -             -
]], output("irqs", path))
  end)

  it("says so where no start has its end", function()
    local names = { "irq:softirq_entry", "irq:irq_handler_exit" }
    local got = run.perflua { "irqs", traced.write(names,
      { softirq("entry", 1000, 0, 1), irq("exit", 2000, 0, 9) }) }
    assert.are.equal(1, got.status)
    assert.matches("no handler has both its start and its end recorded", got.err, 1, true)
  end)

  it("drops what a processor was at when it lost records, and nothing of the others", function()
    local path = traced.write(events,
      { irq("entry", 1000, 0, 9, "a"), irq("entry", 1000, 1, 9, "a"),
      { "lost", 2000, 7, 1, { id = 101, lost = 3 } }, irq("exit", 3000, 0, 9),
      irq("exit", 3000, 1, 9) })
    local out = output("irqs", "--json", path)
    local counts = dkjson.decode(out)
    assert.are.same({ 1, 1, 1, 0, 0 }, { counts.pairs, counts.unopened, counts.lost,
      counts.restarted, counts.unclosed })
    assert.matches('"cpu":0,"count":1,"total_ms":0.002,', out, 1, true)
    assert.is_nil(out:find('"cpu":1', 1, true))
  end)
end)

local SWITCH, WAKING = "sched:sched_switch", "sched:sched_waking"

local function switch(time, cpu, prev, state, following)
  return { SWITCH, time, prev, cpu,
    { prev_pid = prev, prev_state = state, next_pid = following } }
end

describe("perflua offcpu", function()
  it("knows who was blocked, preempted, or ended, in old kernels and new", function()
    local path = traced.write({ SWITCH }, {
      switch(1000, 0, 7, 1, 8), switch(2000, 0, 8, 0x100, 7), switch(5000, 0, 7, 1024, 8),
      switch(5500, 0, 8, 0x10, 9),
      switch(6000, 0, 9, 0x20, 7), switch(7000, 0, 7, 2, 0),
    }, { [7] = "a;b", [8] = "c\27d" })
    assert.are.equal([[
# 3 times off CPU; not counted: 2 ends without a start, 1 not over when the recording ended
comm    tid  state      count  total_ms  avg_us  max_us
c\x1bd    8  preempted      1     0.003    3.00    3.00
a;b       7  blocked        1     0.001    1.00    1.00
a;b       7  preempted      1     0.001    1.00    1.00
]], output("offcpu", path))
    assert.matches("\na;b +7  blocked +1 ", output("offcpu", "--state", "blocked", path))
    assert.is_nil(output("offcpu", "--state", "blocked", path):find "preempted")
  end)

  it("needs call chains to fold them, and says so", function()
    local path = traced.write({ SWITCH }, { switch(1000, 0, 7, 1, 8) })
    local got = run.perflua { "offcpu", "--folded", path }
    assert.same({ status = 1, out = "", err = "perflua: " .. path
      .. ": this recording has no field 'callchain'; "
      .. "record it with: perf record -a -g -e sched:sched_switch -- COMMAND\n" }, got)
  end)

  it("takes times from switch records, and call chains from the samples before them", function()
    local b = builder.new()
    local cs = b:event { name = "context-switches", type = 1, config = 3, context_switch = true,
      ids = { 1 },
      sample_type = { "identifier", "ip", "tid", "time", "callchain" } }
    local function record(time, out, preempt)
      b:record("switch", { out = out, preempt = preempt },
        { time = time, pid = 7, tid = 7, identifier = 1 })
    end
    b:sample(cs, { identifier = 1, ip = 1, pid = 7, tid = 7, time = 1000,
      callchain = { 0xfffffffffffffe00, 0x10, 0x20 } })
    record(1100, true)
    record(1500, false)
    record(2000, true, true)
    record(2700, false)
    b:record("comm", { pid = 7, tid = 7, comm = "a;\27b" },
      { time = 900, pid = 7, tid = 7, identifier = 1 })
    local path = b:write()
    assert.are.equal("a:?b;[preempted] 700\na:?b;[unknown];[unknown] 400\n",
      output("offcpu", "--folded", path))
    assert.are.equal([[
comm     tid  state      count  total_ms  avg_us  max_us
a;\x1bb    7  preempted      1    0.0007    0.70    0.70
a;\x1bb    7  blocked        1    0.0004    0.40    0.40
]], output("offcpu", path))
  end)

  it("is told what is wrong with options", function()
    local wrong = { { "--svg", "--folded" }, { "--folded", "--csv" }, { "--by", "pid" },
      { "--state", "bloked" } }
    for _, words in ipairs(wrong) do
      local got = run.perflua { "offcpu", run.demo, table.unpack(words) }
      assert.are.equal(2, got.status)
      assert.matches("^perflua: offcpu: .", got.err)
    end
  end)
end)

describe("perflua wakers", function()
  local function wake(time, tid, flags, woken, comm)
    return { WAKING, time, tid, 0, { pid = woken, comm = comm, common_flags = flags } }
  end

  it("counts wakes of threads that sleep, from the first, in tasks and interrupts", function()
    local path = traced.write({ SWITCH, WAKING }, {
      wake(1000, 7, 0, 8, "eight"), wake(1500, 9, 0, 8, "eight"), switch(2000, 0, 7, 1, 8),
      wake(2500, 7, 0, 8, "eight"), switch(3000, 0, 8, 1, 0), wake(4000, 0, 8, 8, "eight"),
      switch(4500, 0, 0, 0, 8),
    }, { [7] = "se\27ven" })
    assert.are.equal([[
# 2 times off CPU; not counted: 1 not over when the recording ended, 1 start without an end, 1 repeated start
woken  waker      context  count  total_ms  avg_us  max_us
eight  se\x1bven  task         1     0.001    1.00    1.00
eight  swapper    hardirq      1    0.0005    0.50    0.50
]], output("wakers", path))
  end)

  it("tells chains of wakers, from the last on, until an interrupt", function()
    local path = traced.write({ SWITCH, WAKING }, {
      wake(1000, 9, 16, 7, "seven"), switch(2000, 0, 1, 1, 7), wake(3000, 7, 0, 8, "eight"),
      switch(4000, 0, 7, 1, 8),
      wake(5000, 8, 0, 6, "six"), switch(6000, 0, 8, 1, 6),
    }, { [6] = "six", [7] = "seven", [8] = "eight", [9] = "nine" })
    assert.matches("\nsix +6 +1 .* eight <%- seven <%- nine %(softirq%)\n",
      output("wakers", "--tid", "6", path))
    assert.matches("eight/8 <%- seven/7\n",
      output("wakers", "--comm=six", "--depth=2", "--by=thread", path))
  end)
end)
