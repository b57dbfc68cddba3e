local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"

local MS <const> = 1000000

-- Records a clock and a tracepoint of two threads, `n` times a millisecond. `more` may add
-- samples by its argument, a function of a thread and a time in ms.
local function recording(n, more)
  local b = builder.new()
  local sample_type = { "ip", "tid", "time", "callchain", "period", "id" }
  local clock = b:event { name = "cpu-clock", type = 1, config = 0, ids = { 1 },
    sample_type = sample_type }
  local switch = b:event { name = "sched:sched_switch", type = 2, config = 3, ids = { 2 },
    sample_type = sample_type }
  mapped.add(b, { chains.kernel })
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
  b:record("comm", { pid = 7, tid = 8, comm = "worker" }, { time = 1 })
  local function sample(event, tid, time, period, ...)
    b:sample(event, { ip = chains.READ, pid = 7, tid = tid, time = time * MS, period = period,
      misc = 1, id = event == clock and 1 or 2, callchain = { chains.KERNEL, ... } })
  end
  for i = 1, n do sample(clock, 7, i, MS // 2, chains.READ, chains.TWICE) end
  sample(clock, 8, 3, MS, chains.TWICE)
  sample(switch, 8, 4, 1, chains.READ)
  if more then
    more(function(tid, time) sample(clock, tid, time, MS, chains.TWICE) end)
  end
  return b:write()
end

local function export(path, format, options)
  local file <close> = assert(perflua.open(path, chains.options()))
  local out = os.tmpname()
  finally(function() os.remove(out) end)
  return out, perflua.export(file:samples(), format, out, options)
end

describe("an export with times", function()
  it("writes firefox threads with their samples, and tracepoints as markers", function()
    local got = profiles.firefox((export(recording(2), "firefox")))
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

  it("writes firefox what each event weighs over time", function()
    local got = profiles.firefox((export(recording(10), "firefox")))
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
    local out = os.tmpname()
    finally(function() os.remove(out) end)
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

  it("writes perfetto a sequence of packets for each event, with what they refer to", function()
    local got = perfetto.read((export(recording(2), "perfetto")))
    assert.same({ [7] = "sh" }, got.processes)
    assert.same({ [7] = "sh", [8] = "worker" }, got.threads)
    local clock, switch = got.sequences[1], got.sequences[2]
    assert.same({ "cpu-clock", "sched:sched_switch" }, { clock.name, switch.name })
    local function sample(time, tid, stack, count)
      return { time = time * MS, pid = 7, tid = tid, stack = stack, mode = 1, count = count,
        cpu = nil }
    end
    assert.same({ sample(1, 7, "twice;read", MS // 2), sample(2, 7, "twice;read", MS),
      sample(3, 8, "twice", 2 * MS) }, clock.samples)
    assert.same({ sample(4, 8, "read", 1) }, switch.samples)
    assert.equal("[kernel.kallsyms]", switch.frames[1].mapping.path)
    assert.equal(1, #switch.frames)
  end)

  it("writes perfetto source lines, binaries and as many samples as there are", function()
    local out = os.tmpname()
    finally(function() os.remove(out) end)
    local file <close> = assert(perflua.open("spec/fixtures/words/perf.data",
      { symfs = "spec/fixtures/words" }))
    assert(perflua.export(file:samples(), "perfetto", out))
    local got = perfetto.read(out).sequences[1]
    assert.equal(file:samples():count(), #got.samples)
    assert.equal(file:samples():sum "period", got.samples[#got.samples].count)
    local frame = got.frames[1]
    assert.equal("usr/local/bin/words", frame.mapping.path)
    assert.equal(20, #frame.mapping.build_id)
    local lines = 0
    for _, one in ipairs(got.frames) do
      if one.line then
        assert.matches("words%.c$", one.file)
        lines = lines + 1
      end
    end
    assert.is_true(lines > 5)
  end)

  it("writes perfetto what the scheduler did", function()
    local got = perfetto.read((export(switches.recording({
      { 1000, 0, "switch", 7, 1, 8 }, { 1002, 0, "waking", 7, 8 },
      { 1004, 1, "switch", 0, -1, 7 }, { 1005, 1, "migrate", 7, 0, 1 },
    }, { [7] = "sh", [8] = "worker" }), "perfetto")))
    table.sort(got.sched)
    assert.same({ "0 1000 7 switch  7 0 1  8 0", "0 1002 8 waking sh 7 0 0",
      "1 1004 0 switch  0 0 -1  7 0" }, got.sched)
  end)

  it("writes speedscope the samples in the order of time", function()
    local path = recording(3)
    local got = profiles.json(files.read((export(path, "speedscope"))))
    assert.same({ 1.5 * MS }, got.profiles[1].weights)
    got = profiles.json(files.read((export(path, "speedscope", { timeline = true }))))
    assert.same({ MS / 2, MS / 2, MS / 2 }, got.profiles[1].weights)
    assert.equal(1.5 * MS, got.profiles[1].endValue)
  end)

  it("makes times coarser until they fit, and says so", function()
    local path = recording(4000)
    local out, written = export(path, "speedscope", { timeline = true, max_size = 20000 })
    local text = files.read(out)
    assert.is_true(#text <= 20000 and #text > 2000)
    assert.matches("^times are exact to [%d.]+ms only, so that", written.notes[1])
    assert.equal(4002, written.samples)
    local got = profiles.json(text)
    assert.equal(2000 * MS, got.profiles[1].endValue)
    assert.is_true(#got.profiles[1].weights > 100)
    local _, done, message = export(path, "speedscope", { timeline = true, max_size = 100 })
    assert.is_nil(done)
    assert.matches(": the profile has [%d.]+%a+ even without times, more than "
      .. "%-%-max%-size$", message)
  end)

  it("counts samples with one time, thread and call chain as one, with any workers", function()
    local path = recording(30000, function(sample)
      for _ = 1, 3 do sample(8, 30001) end
      sample(8, 30000)
    end)
    local function threads_of(workers)
      local file <close> = assert(perflua.open(path, { jobs = workers }))
      local out = os.tmpname()
      finally(function() os.remove(out) end)
      assert(perflua.export(file:samples(), "firefox", out))
      return profiles.firefox(out).threads
    end
    local one = threads_of(1)
    assert.equal(30000, #one[1].samples)
    local worker = one[2].samples
    assert.same({ 3, 1, 29999, 1, 30000, 3 }, {
      #worker, worker[1].weight, worker[2].time, worker[2].weight, worker[3].time,
      worker[3].weight })
    assert.same(one, threads_of(4))
  end)

  it("leaves no new file where the profile does not fit, and empties an old one", function()
    local file <close> = assert(perflua.open(recording(1), chains.options()))
    local out = files.directory {} .. "/out.json"
    finally(function() os.remove(out) end)
    local function write(max_size)
      return perflua.export(file:samples(), "speedscope", out,
        { timeline = true, max_size = max_size })
    end
    assert.is_nil((write(100)))
    assert.is_false(files.exists(out))
    assert(write(100000))
    assert.is_nil((write(100)))
    assert.equal("", files.read(out))
  end)

  it("refuses formats and samples without times, and sizes that are none", function()
    local path = recording(1)
    assert.has_error(function() export(path, "pprof", { timeline = true }) end,
      "export: pprof has no room for times")
    assert.has_error(function() export(path, "firefox", { max_size = 0 }) end,
      "export: max_size: a number of bytes expected")
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid" } }
    b:sample(event, { ip = chains.READ, pid = 7, tid = 7, misc = 1 })
    path = b:write()
    assert.has_error(function() export(path, "firefox") end,
      "export: firefox needs times, and samples have none: record with -T")
    local got = run.perflua { "export", "--to", "speedscope", "--max-size", "5 MB", path }
    assert.equal("perflua: export: --max-size: '5 MB' is no number of bytes, as 5000000 or "
      .. "50M\n", got.err)
  end)
end)
