local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"

local MS <const> = 1000000

local export = exported.samples

describe("perflua.export for firefox", function()
  it("writes firefox threads with their samples, and tracepoints as markers", function()
    local got = profiles.firefox((export(exported.timed(2), "firefox")))
    assert.equal(60, got.meta.preprocessedProfileVersion)
    assert.equal(1, got.meta.startTime)
    local sh, worker = got.threads[1], got.threads[2]
    assert.same({ "sh, cpu-clock", "sh", "7", 7, "tracing-ms" },
      { sh.name, sh.process, sh.pid, sh.tid, sh.unit })
    assert.same({ "worker, cpu-clock", "sh", "7", 8 },
      { worker.name, worker.process, worker.pid, worker.tid })
    local sample = { stack = "twice;read", kind = "Kernel", weight = 0.5, time = 0 }
    assert.same({ sample, { stack = "twice;read", kind = "Kernel", weight = 0.5, time = 1 } },
      sh.samples)
    assert.same({ { stack = "twice", kind = "Kernel", weight = 1, time = 2 } }, worker.samples)
    assert.same({}, sh.markers)
    assert.same({ { name = "sched:sched_switch", time = 3, stack = "read" } }, worker.markers)
    assert.equal("worker, sched:sched_switch", got.threads[3].name)
    assert.same({ { stack = "read", kind = "Kernel", weight = 1, time = 3 } },
      got.threads[3].samples)
    assert.same({}, got.threads[3].markers)
    assert.equal("[kernel.kallsyms]", got.libs[1].name)
  end)

  it("names the process of a firefox thread after the main thread, by its last name", function()
    local got = profiles.firefox((export(exported.timed(2, function(add, rename)
      add(6, 2) -- a thread id below that of the main thread
      for i, name in ipairs { "awk", "bash" } do
        rename(name, 10 * i)
        add(7, 10 * i + 1)
      end
    end), "firefox")))
    local processes = {}
    for _, thread in ipairs(got.threads) do
      processes[#processes + 1] = ("%d %s"):format(thread.tid, thread.process)
    end
    assert.same({ "6 bash", "7 bash", "7 bash", "7 bash", "8 bash", "8 bash" }, processes)
  end)

  it("shows of firefox the heaviest rows of the first event other than tracepoints", function()
    local b = builder.new()
    local sample_type = { "ip", "tid", "time", "period", "id" }
    local switch = b:event { name = "sched:sched_switch", type = 2, config = 3, ids = { 1 },
      sample_type = sample_type }
    local clock = b:event { name = "cpu-clock", type = 1, config = 0, ids = { 2 },
      sample_type = sample_type }
    for i = 0, 19 do
      local tid = 7 + i
      local sample = { ip = chains.READ, pid = 7, tid = tid, time = MS, misc = 1 }
      sample.id, sample.period = 1, 1000 * MS
      b:sample(switch, sample)
      sample.id, sample.period, sample.time = 2, (i % 10 + 1) * MS, 2 * MS
      if i ~= 9 then b:sample(clock, sample) end
    end
    local got = profiles.firefox((export(b:write(), "firefox")))
    local shown, main = {}, {}
    for i, number in ipairs(got.meta.initialVisibleThreads) do
      local thread = got.threads[number + 1]
      assert.matches("cpu%-clock$", thread.name)
      assert.equal("sched:sched_switch", thread.markers[1].name)
      shown[i] = thread.tid
    end
    assert.same({ 26, 15, 25, 14, 24, 13, 23, 12, 22, 11, 21, 10, 20, 9, 19 }, shown)
    assert.same({ got.meta.initialVisibleThreads[1] }, got.meta.initialSelectedThreads)
    for _, thread in ipairs(got.threads) do
      if thread.is_main then main[#main + 1] = thread.name .. " " .. thread.tid end
      if thread.tid == 16 then assert.equal(1, #thread.markers) end
    end
    assert.same({ ":7, cpu-clock 7" }, main)
  end)

  it("counts the processor time of firefox threads once, whatever number of clocks", function()
    local b = builder.new()
    local events = {}
    for i, event in ipairs { { "cycles", 0, 0 }, { "task-clock", 1, 1 }, { "cpu-clock", 1, 0 } }
    do
      events[i] = b:event { name = event[1], type = event[2], config = event[3], ids = { i },
        sample_type = { "ip", "tid", "time", "period", "id" } }
    end
    for i, n in ipairs { 5, 2, 3 } do
      for k = 1, n do
        b:sample(events[i], { ip = 1, pid = 7, tid = 7, time = k * MS, period = MS, id = i })
      end
    end
    local used = {}
    for i, thread in ipairs(profiles.firefox((export(b:write(), "firefox"))).threads) do
      used[i] = { thread.name, thread.used }
    end
    assert.same({ { ":7, cycles" }, { ":7, task-clock" }, { ":7, cpu-clock", 3 * MS } }, used)
  end)

  it("writes firefox what each event weighs over time", function()
    local got = profiles.firefox((export(exported.timed(10), "firefox")))
    local sums = {}
    for i, counter in ipairs(got.counters) do
      local samples, sum = counter.samples, 0
      assert.equal(samples.length, #samples.time)
      for k, count in ipairs(samples.count) do
        assert.is_true(k == 1 or samples.time[k] > samples.time[k - 1])
        sum = sum + count
      end
      sums[i] = ("%s %d"):format(counter.name, sum)
    end
    assert.same({ "cpu-clock " .. 6 * MS, "sched:sched_switch 1" }, sums)
    assert.equal(MS // 2, got.counters[1].samples.count[1])
  end)

  it("writes firefox lines, inlined functions and build-ids", function()
    local out = files.temporary()
    local file <close> = assert(perflua.open("spec/fixtures/words/perf.data",
      { symfs = "spec/fixtures/words" }))
    assert(perflua.export(file:samples(), "firefox", out))
    local got, total = profiles.firefox(out), 0
    for _, thread in ipairs(got.threads) do
      for _, sample in ipairs(thread.samples) do total = total + sample.weight end
    end
    local period = file:samples():sum "period"
    assert.is_true(math.abs(total * MS - period) < 1)
    local id = got.libs[1].codeId
    assert.matches("^%x+$", id)
    assert.equal((id:sub(7, 8) .. id:sub(5, 6) .. id:sub(3, 4) .. id:sub(1, 2)):upper(),
      got.libs[1].breakpadId:sub(1, 8))
    assert.equal("0", got.libs[1].breakpadId:sub(33))
    local lines = 0
    for _, line in ipairs(got.shared.frameTable.line) do lines = lines + (line and 1 or 0) end
    assert.is_true(lines > 0)
  end)
end)
