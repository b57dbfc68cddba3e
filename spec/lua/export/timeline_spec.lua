local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local export_formats = require("perflua.export").formats
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"

local MS <const> = 1000000

-- Records a clock and a tracepoint of two threads, `n` times a millisecond. `more` may add
-- samples by its first argument, a function of a thread and a time in ms, and rename pid 7 by
-- its second one, a function of a name and a time in ms.
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
    more(function(tid, time) sample(clock, tid, time, MS, chains.TWICE) end,
      function(name, time)
        b:record("comm", { pid = 7, tid = 7, comm = name }, { time = time * MS })
      end)
  end
  return b:write()
end

local export = exported.samples

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

  it("names the process of a firefox thread after the main thread, by its last name", function()
    local got = profiles.firefox((export(recording(2, function(add, rename)
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

  it("writes perfetto a sequence of packets for each event, with what they refer to", function()
    local got = perfetto.read((export(recording(2), "perfetto")))
    assert.same({ [7] = "sh" }, got.processes)
    assert.same({ [7] = "sh", [8] = "worker" }, got.threads)
    local clock, switch = got.sequences[1], got.sequences[2]
    assert.same({ "cpu-clock", "sched:sched_switch" }, { clock.name, switch.name })
    assert.same({ 1, nil }, { clock.counter, switch.counter })
    local counted = perfetto.read((export(recording(2), "perfetto", { count = true })))
    assert.same({ nil, 3 }, { counted.sequences[1].counter, #counted.sequences[1].samples })
    local function sample(time, tid, stack, count)
      return { time = time * MS, pid = 7, tid = tid, stack = stack, mode = 1, count = count,
        cpu = nil }
    end
    assert.same({ sample(1, 7, "twice;read", MS // 2), sample(2, 7, "twice;read", MS // 2),
      sample(3, 8, "twice", MS) }, clock.samples)
    assert.same({ sample(4, 8, "read", 1) }, switch.samples)
    assert.equal("[kernel.kallsyms]", switch.frames[1].mapping.path)
    assert.equal(1, #switch.frames)
  end)

  it("names processes and threads to perfetto by whole names, with their spaces", function()
    local got = perfetto.read((export(recording(2, function(add, rename)
      rename("Web Content", 10)
      add(7, 11)
    end), "perfetto")))
    assert.same({ [7] = "Web Content" }, got.processes)
    assert.same({ [7] = "Web Content", [8] = "worker" }, got.threads)
  end)

  it("tells perfetto and firefox which frames are the kernel's: a hypervisor's, too", function()
    local HYPERVISOR <const>, GUEST_KERNEL <const> = -32, -2176
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "callchain", "period" } }
    b:sample(event, { ip = 0x10, pid = 7, tid = 7, time = MS, misc = 3, period = 1,
      callchain = { HYPERVISOR, 0x10, GUEST_KERNEL, 0x20, chains.USER, 0x30 } })
    local path, kinds = b:write(), {}
    for i, frame in ipairs(perfetto.read((export(path, "perfetto"))).sequences[1].frames) do
      kinds[i] = frame.kind -- 1: native, 2: of the kernel; the caller first
    end
    assert.same({ 1, 2, 2 }, kinds)
    local thread = profiles.firefox((export(path, "firefox"))).threads[1]
    assert.equal("Kernel", thread.samples[1].kind)
  end)

  it("writes perfetto source lines, binaries and as many samples as there are", function()
    local out = files.temporary()
    local file <close> = assert(perflua.open("spec/fixtures/words/perf.data",
      { symfs = "spec/fixtures/words" }))
    assert(perflua.export(file:samples(), "perfetto", out))
    local got = perfetto.read(out).sequences[1]
    assert.equal(file:samples():count(), #got.samples)
    local sum = 0
    for _, sample in ipairs(got.samples) do sum = sum + sample.count end
    assert.equal(file:samples():sum "period", sum)
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

  it("shares in perfetto the weight of samples of one time, thread and call chain", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time", "period" } }
    for _, period in ipairs { 1, 5, 1 } do
      b:sample(event, { ip = chains.READ, pid = 7, tid = 7, time = MS, misc = 1,
        period = period })
    end
    local counts = {}
    for i, sample in ipairs(perfetto.read((export(b:write(), "perfetto"))).sequences[1].samples)
    do counts[i] = sample.count end
    assert.same({ 3, 2, 2 }, counts)
  end)

  it("makes times of perfetto coarser, with one packet for samples of one time", function()
    local path = recording(20000) -- so many that the step is estimated first
    local out, written = export(path, "perfetto", { max_size = 100000 })
    local size = #files.read(out)
    assert.is_true(size > 50000 and size <= 100000)
    assert.matches("^times are exact to 8.39ms only, so that", written.notes[1])
    local sequences = perfetto.read(out).sequences
    local sum, n = 0, #sequences[1].samples
    for _, sample in ipairs(sequences[1].samples) do sum = sum + sample.count end
    assert.equal(20000 * MS // 2 + MS, sum)
    assert.is_true(n > 2300 and n < 2500)
    assert.same(1, sequences[2].samples[1].count)
  end)

  it("writes perfetto what the scheduler did", function()
    local got = perfetto.read((export(switches.recording({
      { 1000, 0, "switch", 7, 1, 8 }, { 1002, 0, "waking", 7, 8 },
      { 1004, 1, "switch", 0, -1, 7 }, { 1005, 1, "migrate", 7, 0, 1 },
    }, { [7] = "sh", [8] = "worker" }, function(b)
      b:feature("osrelease", "6.1.0-13-amd64")
    end), "perfetto")))
    table.sort(got.sched)
    assert.same({ "Linux", "6.1.0-13-amd64" }, got.system)
    assert.same({ "0 1000 7 switch  7 0 1  8 0", "0 1002 8 waking sh 7 0 0",
      "1 1004 0 switch  0 0 -1  7 0" }, got.sched)
  end)

  it("reads what the scheduler did in one pass", function()
    local file <close> = assert(perflua.open(switches.recording({
      { 1000, 0, "switch", 7, 1, 8 }, { 1002, 0, "waking", 7, 8 },
    }, { [7] = "sh", [8] = "worker" })))
    local exports = require "perflua.export"
    assert.equal(2, #exports.readings(file:samples(), exports.find "perfetto", {}))
  end)

  it("says that switches were recorded in part only, if it draws them", function()
    local path = switches.recording({ { 1000, 0, "switch", 0, 0, 7 },
      { 2000, 0, "waking", 8, 7 } }, nil, function(b) b.events[1].sample_period = 3 end)
    local file <close> = assert(perflua.open(path))
    for _, format in ipairs { "perfetto", "chrome" } do
      local _, all = exported.query(file:samples(), format)
      assert.matches("^'sched:sched_switch' was sampled: one sample stands for up to 3 events",
        all.notes[1])
      local _, others = exported.query(file:samples "sched:sched_waking", format)
      assert.same({}, others.notes)
    end
  end)

  it("writes speedscope the samples in the order of time", function()
    local path = recording(3)
    local got = profiles.json(files.read((export(path, "speedscope"))))
    assert.same({ 1.5 * MS }, got.profiles[2].weights)
    got = profiles.json(files.read((export(path, "speedscope", { timeline = true }))))
    assert.same({ MS / 2, MS / 2, MS / 2 }, got.profiles[2].weights)
    assert.equal(1.5 * MS, got.profiles[2].endValue)
  end)

  it("makes times coarser until they fit, and says so", function()
    local path = recording(4000)
    local out, written = export(path, "speedscope", { timeline = true, max_size = 20000 })
    local text = files.read(out)
    assert.is_true(#text <= 20000 and #text > 2000)
    assert.matches("^times are exact to [%d.]+ms only, so that", written.notes[1])
    assert.equal(4002, written.samples)
    local got = profiles.json(text)
    assert.equal(2000 * MS, got.profiles[2].endValue)
    assert.is_true(#got.profiles[2].weights > 100)
    local _, done, message = export(path, "speedscope", { timeline = true, max_size = 100 })
    assert.is_nil(done)
    assert.matches(": the profile has [%d.]+%a+ even without times, more than "
      .. "%-%-max%-size: choose fewer samples$", message)
  end)

  it("counts samples with one time, thread and call chain as one, with any workers", function()
    local path = recording(30000, function(sample)
      for _ = 1, 3 do sample(8, 30001) end
      sample(8, 30000)
    end)
    local function threads_of(workers)
      local file <close> = assert(perflua.open(path, { jobs = workers }))
      local out = files.temporary()
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

  it("writes the same bytes in every format with any number of workers", function()
    local order = 0
    local b, sample = chains.recording { "0 map 7 1000-9000@0 /bin/x" }
    for i = 1, 30000 do
      order = order * 1103515245 + 12345 & 0x7fffffff -- chains come back, in no order
      local caller, leaf = order >> 8 & 255, order >> 16 & 63
      sample(i, 7 + i % 3, { chains.USER, 0x1000 + leaf, 0x2000 + caller, 0x3000 + i % 7 })
      if i % 1000 == 0 then
        b:record("comm", { pid = 7, tid = 7, comm = "name " .. i }, { time = i })
      end
    end
    local path, options = b:write(), chains.options()
    local function bytes(format, workers)
      options.jobs = workers
      local file <close> = assert(perflua.open(path, options))
      local query = file:samples()
      local more = format == "folded-diff" and { before = query } or nil
      local out, written = exported.query(query, format, more)
      assert.is_true(assert(written).samples >= 30000)
      return files.read(out)
    end
    for _, format in ipairs(export_formats) do
      local one = bytes(format, 1)
      assert.is_true(one == bytes(format, 2) and one == bytes(format, 4), format)
    end
  end)

  it("compresses the same file with any number of workers, whatever its size", function()
    local b, written = builder.new(), {}
    local clock = b:event { type = 1, sample_type = { "ip", "tid", "time" } }
    for i = 100, 330 do -- each name is three times in the text
      b:record("mmap", { pid = 7, tid = 7, addr = i << 20, len = 1 << 20,
        filename = ("/%d"):format(i):rep(1000) }, { time = 0 })
      b:sample(clock, { ip = (i << 20) + 8, pid = 7, tid = 7, time = i })
    end
    local path, out = b:write(), nil
    for _, workers in ipairs { 1, 2, 4 } do
      local file <close> = assert(perflua.open(path, { jobs = workers }))
      out = exported.query(file:samples(), "firefox")
      written[#written + 1] = files.read(out)
    end
    assert.is_true(written[1] == written[2] and written[1] == written[3])
    assert.is_true(#files.output("gzip -dc " .. files.quote(out)) > 5 * 2 ^ 19)
    local left = {}
    for _, lib in ipairs(profiles.firefox(out).libs) do
      left[lib.path] = (left[lib.path] or 0) + 1
    end
    for i = 100, 330 do assert.equal(1, left[("/%d"):format(i):rep(1000)]) end
  end)

  it("leaves no new file where the profile does not fit, and an old one as it was", function()
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
    local old = files.read(out)
    assert.is_nil((write(100)))
    assert.equal(old, files.read(out))
  end)

  it("refuses formats and samples without times, and sizes that are none", function()
    local path = recording(1)
    assert.has_error(function() export(path, "pprof", { timeline = true }) end,
      "export: pprof cannot hold times")
    assert.has_error(function() export(path, "firefox", { max_size = 0 }) end,
      "export: max_size: a number of bytes expected")
    assert.has_error(function() export(path, "pprof", { max_size = 9 }) end,
      "export: max_size makes times coarser, and pprof cannot hold times")
    assert.has_error(function() export(path, "speedscope", { max_size = 9 }) end,
      "export: max_size makes times coarser, and there are none without timeline")
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid" } }
    b:sample(event, { ip = chains.READ, pid = 7, tid = 7, misc = 1 })
    path = b:write()
    assert.has_error(function() export(path, "firefox") end,
      "export: firefox needs times, and samples have none: record with -T")
    local got = run.perflua { "export", "--to", "speedscope", "--max-size", "5 MB", path }
    assert.equal("perflua: export: --max-size: '5 MB' is not a number of bytes, as 5000000 or "
      .. "50M\n", got.err)
  end)
end)
