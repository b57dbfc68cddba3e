local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"
local timechart = require "perflua.timechart"
local trace_events = require "spec.support.trace_events"

local export = trace_events.export

local function show(slices)
  local lines = {}
  for i, slice in ipairs(slices) do
    lines[i] = ("%s %s %g+%g"):format(slice.track, slice.name, slice.ts, slice.dur)
  end
  table.sort(lines)
  return lines
end

describe("perflua.export of the runs of threads as trace events", function()
  local US <const> = 1000

  it("draws threads on processors, processors' threads, wake-ups and what runs", function()
    local trace, written = export(switches.recording({
      { 1000 * US, 0, "switch", 0, 0, 7 }, { 1002 * US, 0, "waking", 8, 7 },
      { 1003 * US, 0, "waking", 8, 7 }, { 1004 * US, 1, "switch", 0, 0, 8 },
      { 1005 * US + 1, 0, "switch", 7, 1, 0 }, { 1006 * US, 0, "waking", 7, 0 },
      { 1009 * US, 1, "switch", 8, 0, 7 },
    }, { [7] = "a\"<b>", [8] = "c" }))
    assert.same({ '0/0 a"<b> (7) 0+5.001', '0/1 a"<b> (7) 9+0', "0/1 c (8) 4+5",
      "7/7 cpu 0 0+5.001", "7/7 cpu 1 9+0", "8/8 cpu 1 4+5" }, show(trace.slices))
    assert.equal(7, written.samples)
    local flow = trace.flows["wake-up 1"]
    assert.same({ 7, 2, 8, 4 }, { flow.s.tid, flow.s.ts, flow.f.tid, flow.f.ts })
    assert.is_nil(trace.flows["wake-up 2"])
    assert.same({ "running threads 0 1", "running threads 4 2", "running threads 5.001 1",
      "running threads 9 0", "running threads 9 1", "running threads 9 0" }, trace.counters)
    assert.same({ "processors", "cpu 1", 'a"<b>', "c" }, { trace.names["process_name 0/0"],
      trace.names["thread_name 0/1"], trace.names["process_name 7/7"],
      trace.names["thread_name 8/8"] })
    assert.same({ exporter = "perflua", start = "0.001000", seconds_not_known = 0 },
      trace.other)
  end)

  it("draws the runs that the spans between switches are", function()
    local on, list, seed = { [0] = 0, 0, 0 }, {}, 7
    local function random(n)
      seed = seed * 6364136223846793005 + 1442695040888963407
      return (seed >> 33) % n
    end
    for i = 1, 2000 do
      local cpu, tid = random(3), random(9)
      for other = 0, 2 do tid = on[other] == tid and 0 or tid end
      list[i] = { 10 * i * US, cpu, "switch", on[cpu], random(2), tid }
      on[cpu] = tid
    end
    local path, drawn, runs = switches.recording(list), {}, {}
    for _, slice in ipairs(export(path).slices) do
      local cpu, tid = slice.track:match "^0/(%d+)$", slice.name:match "%((%d+)%)$"
      if cpu and tid then
        drawn[#drawn + 1] = ("%s %s %g+%g"):format(cpu, tid, slice.ts, slice.dur)
      end
    end
    local file <close> = assert(perflua.open(path))
    local chart = timechart.read(file, { most = 100 })
    for _, row in ipairs(chart.cpus) do
      for i = 1, #row.runs, 4 do
        local start, stop, _, tid = table.unpack(row.runs, i, i + 3)
        runs[#runs + 1] = ("%d %d %g+%g"):format(row.id, tid, (start - chart.from) / US,
          (stop - start) / US)
      end
    end
    table.sort(drawn)
    table.sort(runs)
    assert.is_true(#runs > 1000)
    assert.same(runs, drawn)
  end)

  it("names threads by switches to them, and puts those below the recorded ones", function()
    local trace = export(switches.recording({
      { 10 * US, 0, "switch", 0, 0, 8, "early" }, { 20 * US, 0, "switch", 8, 0, 7, "no" },
      { 30 * US, 0, "switch", 7, 0, 9 }, { 40 * US, 0, "switch", 9, 0, 8, "late" },
      { 50 * US, 0, "switch", 8, 0, 0 },
    }, { [7] = "known" }))
    assert.same({ "0/0 [unknown] (9) 20+10", "0/0 early (8) 0+10", "0/0 known (7) 10+10",
      "0/0 late (8) 30+10", "7/7 cpu 0 10+10", "8/8 cpu 0 0+10", "8/8 cpu 0 30+10",
      "9/9 cpu 0 20+10" }, show(trace.slices))
    assert.same({ [0] = 0, [7] = 1, [8] = 2, [9] = 2 }, trace.places)
  end)

  it("draws no run without an end, but until when its processor is not known", function()
    local trace = export(switches.recording {
      { 10 * US, 0, "switch", 0, 0, 7 }, { 20 * US, 0, "switch", 8, 0, 0 },
      { 30 * US, 0, "switch", 0, 0, 9 }, { 40 * US, 1, "switch", 0, 0, 9 },
      { 50 * US, 1, "switch", 9, 0, 0 },
    })
    assert.same({ "0/0 not known who ran 0+10", "0/0 not known who ran 20+20",
      "0/1 [unknown] (9) 30+10", "9/9 cpu 1 30+10" }, show(trace.slices))
    assert.equal(30e-6, trace.other.seconds_not_known)
  end)

  it("draws no run during which its thread left another processor", function()
    local trace = export(switches.recording {
      { 10 * US, 0, "switch", 0, 0, 7 }, { 20 * US, 1, "switch", 0, 0, 7 },
      { 30 * US, 1, "switch", 7, 0, 0 }, { 40 * US, 0, "switch", 7, 0, 0 },
    })
    assert.same({ "0/0 not known who ran 0+30", "0/1 [unknown] (7) 10+10", "7/7 cpu 1 10+10" },
      show(trace.slices))
  end)

  it("draws a thread on one processor at a time, and no run across lost records", function()
    local trace = export(switches.recording {
      { 10 * US, 0, "switch", 0, 0, 7 }, { 20 * US, 0, "switch", 7, 0, 8 },
      { 30 * US, 0, "switch", 8, 0, 7 }, { 35 * US, 1, "switch", 0, 0, 9 },
      { 40 * US, 0, "lost" }, { 50 * US, 1, "switch", 9, 0, 7 },
      { 60 * US, 1, "switch", 7, 0, 8 }, { 70 * US, 2, "switch", 0, 0, 8 },
      { 80 * US, 1, "waking", 9, 8 },
    })
    assert.same({ "0/0 [unknown] (7) 0+10", "0/0 [unknown] (8) 10+10",
      "0/0 not known who ran 20+50", "0/1 [unknown] (7) 40+10", "0/1 not known who ran 25+15",
      "0/1 not known who ran 50+20", "0/2 [unknown] (8) 60+10", "7/7 cpu 0 0+10",
      "7/7 cpu 1 40+10", "8/8 cpu 0 10+10", "8/8 cpu 2 60+10" }, show(trace.slices))
  end)

  it("draws the first wake-up of a thread that waits, where its waker is known to run",
    function()
    local trace = export(switches.recording {
      { 5 * US, 1, "waking", 7, 6 }, { 10 * US, 0, "switch", 0, 0, 7 },
      { 15 * US, 1, "switch", 0, 0, 8 }, { 20 * US, 1, "waking", 7, 8 },
      { 30 * US, 0, "switch", 7, 1, 9 }, { 40 * US, 1, "waking", 7, 8 },
      { 45 * US, 1, "waking", 7, 8 }, { 50 * US, 0, "switch", 9, 0, 7 },
      { 60 * US, 0, "switch", 7, 1, 0 },
      { 70 * US, 1, "switch", 8, 1, 0 },
    })
    local flow = trace.flows["wake-up 1"]
    assert.same({ 8, 30, 40 }, { flow.s.tid, flow.s.ts, flow.f.ts })
    assert.is_nil(trace.flows["wake-up 2"])
  end)

  it("leaves out short runs where there is no room for all, and says how many", function()
    local list, at, longest = {}, 0, 0
    for i = 1, 200 do
      list[i] = { at, 0, "switch", i > 1 and 7 + (i - 1) % 3 or 0, 0, 7 + i % 3 }
      local length = (i * 37 % 100 + 1) * US
      at, longest = at + length, i < 200 and math.max(longest, length) or longest
    end
    local path = switches.recording(list)
    local all = export(path)
    local trace, written, size = export(path, nil, { max_size = 15000 })
    local least, unit, n, sum = written.notes[1]:match("^runs shorter than ([%d.]+)(%a+) are "
      .. "left out, so that the trace has at most %-%-max%-size: (%d+), of ([%d.]+)ms in all$")
    least = tonumber(least) * (unit == "us" and 1 or 1000)
    local shown = {}
    for _, slice in ipairs(all.slices) do
      if slice.dur >= least then shown[#shown + 1] = slice end
    end
    assert.same(show(shown), show(trace.slices))
    assert.is_true(#shown > 20 and size <= 15000, size)
    assert.equal(#all.slices - #shown, 2 * tonumber(n))
    local left = 0
    for _, slice in ipairs(all.slices) do
      left = left + (slice.dur < least and slice.dur or 0)
    end
    assert.is_true(math.abs(left / 2000 - tonumber(sum)) < 0.01)
    assert.same({}, select(2, export(path, nil, { max_size = 1000000 })).notes)
  end)

  it("leaves no file with more switches of a stream than fit", function()
    local list = {}
    for i = 1, 100 do list[i] = { i * US, 0, "switch", i % 2, 0, 1 - i % 2 } end
    local path = switches.recording(list, nil, function(b) b.container = "pipe" end)
    local out = files.directory {} .. "/trace.json"
    local got = run.shell_with(
      [[cat "$1" | "$perflua" export --to chrome --max-size 5k -o "$2" -]], path, out)
    assert.same({ status = 1, out = "", err = "perflua: " .. out .. ": tracepoints "
      .. "keep their times, as do switches of streams, and take more than the 5.00kB of "
      .. "--max-size: choose fewer, as with --time, or a larger size\n" }, got)
    assert.is_false(files.exists(out))
  end)
end)
