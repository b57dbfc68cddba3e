local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"
local switches = require "spec.support.switches"

local MS <const> = 1000000

local export = exported.samples

describe("perflua.export for perfetto", function()
  it("writes perfetto a sequence of packets for each event, with what they refer to", function()
    local got = perfetto.read((export(exported.timed(2), "perfetto")))
    assert.same({ [7] = "sh" }, got.processes)
    assert.same({ [7] = "sh", [8] = "worker" }, got.threads)
    local clock, switch = got.sequences[1], got.sequences[2]
    assert.same({ "cpu-clock", "sched:sched_switch" }, { clock.name, switch.name })
    assert.same({ 1, nil }, { clock.counter, switch.counter })
    local counted = perfetto.read((export(exported.timed(2), "perfetto", { count = true })))
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
    local got = perfetto.read((export(exported.timed(2, function(add, rename)
      rename("Web Content", 10)
      add(7, 11)
    end), "perfetto")))
    assert.same({ [7] = "Web Content" }, got.processes)
    assert.same({ [7] = "Web Content", [8] = "worker" }, got.threads)
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
    local path = exported.timed(20000) -- so many that the step is estimated first
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
end)
