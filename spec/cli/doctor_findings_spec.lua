-- perflua doctor: what it says of a recording with each ailment.
local builder = require "spec.support.builder"
local helper = require "spec.cli.doctor"
local run = require "spec.cli.run"

local doctor, find, ailing, finding = helper.examine, helper.find, helper.ailing, helper.finding
local START, MS = helper.START, 1000000

describe("the doctor", function()
  it("counts what was lost, and names the buffers there were", function()
    local found = finding("lost", function(b, event)
      b:feature("cmdline", { "/usr/bin/perf", "record", "-m", "1", "sleep" })
      b:record("lost", { id = 100, lost = 25 }, { time = START })
      b:record("lost_samples", { lost = 25 }, { event = event, time = 0 })
    end)
    assert.are.equal("problem", found.level)
    assert.are.equal("25 records lost (19.7 % of all); 25 samples lost (20 % of them)",
      found.text)
    assert.are.equal(
      "larger buffers (perf record -m 16M; it was -m 1), or a lower frequency (-F; it was "
        .. "4000)",
      found.advice)
  end)

  it("says why processes outside a container have no binaries", function()
    local found = finding("pid_namespace", function(b, event)
      for i, sample in ipairs { { 0, 2 }, { 0, 1 }, { 7, 2 }, { 0, 2 } } do
        b:sample(event, { pid = sample[1], tid = 0, misc = sample[2],
          time = START + (200 + i) * MS })
      end
    end)
    assert.are.equal("problem", found.level)
    assert.are.equal("2 samples of user code (1.92 %) have pid 0, as perf ran in a container, "
      .. "which does not show the pids of processes outside: their binaries and functions are "
      .. "not known", found.text)
    assert.matches("--pid=host", found.advice, 1, true)
  end)

  it("says that a group with :S leaves out what the command starts", function()
    local function recording(members, n)
      return helper.ailing(function(b, event)
        for i = 1, n do
          b:record("fork", { pid = 7 + i, ppid = 7, tid = 7 + i, ptid = 7, time = START },
            { event = event, time = START })
        end
      end, { "read" }, members)
    end
    local members = { read_format = { "id", "group" }, enable_on_exec = true, inherit = false }
    local report = select(2, doctor(recording(members, 3):write()))
    assert.are.same({ code = "inherit", level = "problem", text = "perf turned inheritance off "
      .. "for a group with :S: 3 threads and processes that were started have no samples",
      advice = "record with -a, or without :S; from Linux and perf 6.13 on :S inherits, too" },
      find(report, "inherit"))
    -- nothing was started; the whole system is recorded; it inherits; no group
    for _, case in ipairs { { {}, 0 }, { { enable_on_exec = false }, 3 },
        { { inherit = true }, 3 }, { { read_format = { "id" } }, 3 } } do
      local changed = {}
      for name, value in pairs(members) do changed[name] = value end
      for name, value in pairs(case[1]) do changed[name] = value end
      report = select(2, doctor(recording(changed, case[2]):write()))
      assert.is_nil(find(report, "inherit"))
    end
  end)

  it("names the events whose samples were lost", function()
    local found = finding("lost", function(b)
      local other = b:event { name = "faults",
        sample_type = { "ip", "tid", "time", "id", "cpu" } }
      b:sample(other, { time = START })
      b:record("lost_samples", { lost = 1 }, { event = other, time = 0 })
    end)
    assert.are.same({ "faults: 1 sample, 50 % of it" }, found.details)
  end)

  it("adds up what was throttled", function()
    local found = finding("throttled", function(b)
      for cpu = 0, 1 do
        b:record("throttle", { time = START, id = 100, stream_id = cpu },
          { time = START, cpu = cpu })
        b:record("unthrottle", { time = START + 3 * MS, id = 100, stream_id = cpu },
          { time = START, cpu = cpu })
      end
    end)
    assert.are.equal("throttled 2 times: events took no samples for 6 ms in total",
      found.text)
    assert.are.same({ "cpu 0: 1 time, for 3 ms", "cpu 1: 1 time, for 3 ms" }, found.details)
    assert.matches("kernel.perf_event_max_sample_rate", found.advice, 1, true)
  end)

  it("finds records that come too late for perf", function()
    local found = finding("late", function(b, event)
      b:record "finished_round"
      b:sample(event, { time = START + 200 * MS })
      b:record "finished_round"
      b:sample(event, { time = START + 60 * MS })
    end)
    assert.are.equal(
      "1 record (0.98 %) came too late for perf to sort: by up to 40 ms, the first at 1.060000",
      found.text)
  end)

  it("finds a clock that goes back", function()
    local found = finding("clock", function(b, event)
      for i = 1, 10 do
        b:sample(event, { time = START + i * MS })
      end
    end)
    assert.are.equal("the clock went back 1 time, by up to 99 ms, first to 1.001000",
      found.text)
    assert.matches("CLOCK_MONOTONIC", found.advice, 1, true)
  end)

  it("says when there were no samples", function()
    local found = finding("gaps", function(b, event)
      b:record("lost", { id = 100, lost = 1 }, { time = START + 1500 * MS })
      b:sample(event, { time = START + 1500 * MS })
    end)
    assert.are.equal("note", found.level)
    assert.are.equal(
      "1 gap of 300 ms or more without a sample, 1.4 s in total; samples are usually 1 ms "
        .. "apart",
      found.text)
    assert.are.same({ "1.100000 for 1.4 s; 1 record lost then" }, found.details)
  end)

  it("finds call chains that were cut", function()
    local function chains(frames)
      return function(b, event)
        for _, n in ipairs(frames) do
          local chain = { -128 }
          for i = 1, n do
            chain[i + 1] = i
          end
          b:sample(event, { time = START + 101 * MS, callchain = chain })
        end
      end
    end
    local found = finding("chains", chains { 127, 3, 4, 127 }, { "callchain" })
    assert.are.equal("50 % of the call chains are cut at the limit of 127 frames",
      found.text)
    assert.matches("sysctl kernel.perf_event_max_stack", found.advice, 1, true)
    found = finding("chains", chains { 8, 3 }, { "callchain" }, { sample_max_stack = 8 })
    assert.matches("are cut at the limit of 8 frames", found.text, 1, true)
    assert.matches("max-stack", found.advice, 1, true)
    -- one with more frames shows that the limit was another
    local _, report = doctor(ailing(chains { 127, 300, 300 }, { "callchain" }):write())
    assert.is_nil(find(report, "chains"))
    assert.is_nil(report.events[1].chain_limit)
    assert.matches("66.7 % of the call chains of cycles have 300 frames",
      find(report, "long_chains").text, 1, true)
  end)

  it("finds copies of stacks that were full, and names a larger size while there is "
    .. "one", function()
    local function copies(size)
      return finding("stacks", function(b, event)
        b:sample(event, { time = START, stack_user = ("s"):rep(64) })
        b:sample(event, { time = START, stack_user = ("s"):rep(64), dyn_size = 8 })
      end, { "stack_user" }, { sample_stack_user = size })
    end
    assert.are.equal(
      "50 % of the copied stacks are cut at 64 bytes: outer callers are missing",
      copies(8192).text)
    assert.are.equal("--call-graph dwarf,16384", copies(8192).advice)
    assert.are.equal("--call-graph dwarf,8192", copies(64).advice)
    assert.are.equal("--call-graph dwarf,65528", copies(40000).advice)
    assert.matches("fp", copies(65528).advice, 1, true)
  end)

  it("finds LBR call stacks that were full", function()
    local found = finding("lbr", function(b, event)
      local branches = {}
      for i = 1, 32 do
        branches[i] = { from = i, to = i }
      end
      b:sample(event, { time = START, branch_stack = branches })
    end, { "branch_stack" }, { branch_sample_type = { "user", "call_stack" } })
    assert.matches("are full at 32 calls", found.text, 1, true)
  end)

  it("finds samples whose deferred call chain never came", function()
    local function deferred(b, event)
      b:sample(event, { time = START, callchain = { -128, 1, -640, 7 } })
    end
    finding("deferred", deferred, { "callchain" }, { defer_callchain = true })
    local _, report = doctor(ailing(function(b, event)
      deferred(b, event)
      b:record("callchain_deferred", { cookie = 7, ips = { 1 } }, { time = START })
    end, { "callchain" }, { defer_callchain = true }):write())
    assert.is_nil(find(report, "deferred"))
  end)

  it("finds AUX data and maps that are not whole", function()
    assert.are.same({ "truncated 1 time: the AUX buffer was full" }, finding("aux", function(b)
      b:record("aux", { flags = 1 }, { time = START })
    end).details)
    assert.matches("--proc-map-timeout", finding("maps_cut", function(b)
      b:record("mmap2", { pid = 1, tid = 1, filename = "/a", misc = 1 << 12 | 2 })
    end).advice, 1, true)
  end)

  it("finds samples that have no event, no time, records of no known type", function()
    assert.are.equal("1 sample (0.99 %) of an event that the recording does not describe",
      finding("unknown_events",
      function(b, event)
        b:event { sample_type = { "ip", "tid", "time", "id", "cpu" } }
        b:sample(event, { time = START, id = 4711 })
      end).text)
    finding("untimed_samples", function(b, event) b:sample(event, { time = 0 }) end)
    finding("untimed_records", function(b)
      b:record("comm", { pid = 1, tid = 1, comm = "x" })
    end, nil,
      { sample_id_all = false })
    assert.are.same({ "type 200: 1 record" }, finding("unknown_types", function(b)
      b:raw(200, 0, "")
    end).details)
  end)

  it("finds what the header lacks, if it matters", function()
    local function mapped(b) b:record("mmap2", { pid = 1, tid = 1, filename = "/a" }) end
    assert.matches("no build-ids", finding("missing", mapped).text, 1, true)
    local _, report = doctor(ailing(function(b)
      mapped(b)
      b:feature("build_id", { { build_id = ("00"):rep(20), filename = "/a" } })
    end):write())
    assert.is_nil(find(report, "missing"))
    local found = finding("missing", mapped, nil, { type = 2 })
    assert.are.equal(2, #found.details)
    assert.matches("registers", finding("missing", function() end, { "regs_user" }).text, 1,
      true)
  end)

  it("says that there are no samples", function()
    local b = builder.new()
    b:event {}
    b:record("comm", { pid = 1, tid = 1, comm = "x" })
    local got, report = doctor(b:write())
    assert.are.equal(0, got.status)
    assert.is_truthy(find(report, "no_samples"))
    b:record("stat", { id = 100 })
    assert.is_nil(find(select(2, doctor(b:write())), "no_samples"))
  end)

  it("says that nothing decodes AUX data here, without samples and beside them", function()
    local b = builder.new()
    b:event { name = "intel_pt//", type = 8 }
    b:record("auxtrace_info", { auxtrace_type = 1, priv = { 1, 2, 3 } })
    b:record("auxtrace", { data = "trace!!!", idx = 1, tid = 2, cpu = 3 })
    local got, report = doctor(b:write())
    assert.are.equal(0, got.status)
    assert.are.equal(
      "there are no samples, only AUX data (Intel PT), which perflua does not decode",
      find(report, "aux_only").text)
    assert.is_nil(find(report, "no_samples"))
    b.container = "pipe"
    got = run.shell_with('cat "$1" | "$perflua" doctor -', b:write())
    assert.matches("there are no samples, only AUX data, which perflua does not decode",
      got.out, 1, true)
    b.container = "file"
    b:sample(b.events[1], { time = START })
    report = select(2, doctor(b:write()))
    assert.is_nil(find(report, "aux_only"))
    assert.equal("besides samples there are AUX data (Intel PT), which perflua does not "
      .. "decode", find(report, "aux_beside").text)
  end)

  it("examines samples without an ip", function()
    for _, part in ipairs { "callchain", "addr" } do
      local b = builder.new()
      local event = b:event { name = "ev", sample_type = { "tid", "time", part } }
      b:record("mmap2", { pid = 1, tid = 1, addr = 0x400000, len = 4096, prot = 5,
        filename = "/nosuch" }, { time = 1 })
      b:sample(event, { pid = 1, tid = 1, time = START, addr = 0x400010,
        callchain = { -512, 0x400010 } })
      local got, report = doctor(b:write())
      assert.are.equal(0, got.status)
      assert.are.equal(1, report.samples)
    end
  end)

  it("lets nothing of a recording move the cursor", function()
    local b = builder.new()
    local event = b:event { name = "ev\27[2J\n", freq = true, sample_freq = 1 }
    b:feature("cmdline", { "perf", "record", "-m", "\27[1m" })
    b:record("lost", { id = 100, lost = 25 }, { time = START })
    b:sample(event, { time = START })
    local got = run.perflua { "doctor", b:write() }
    assert.is_nil(got.out:find "[\0-\8\11-\31]")
    assert.matches("it was -m \\x1b[1m", got.out, 1, true)
  end)

  it("knows unsigned numbers", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "id" } }
    b:sample(event, { time = 1 })
    b:sample(event, { time = -2 })
    b:record("lost", { id = 100, lost = -1 }, { time = 5 })
    local got = run.perflua { "doctor", "--json", b:write() }
    assert.matches('"last_time":18446744073709551614,', got.out, 1, true)
    assert.matches('"records":18446744073709551615,', got.out, 1, true)
    assert.is_nil(got.out:find(":-", 1, true))
    got = run.perflua { "doctor", b:write() }
    assert.matches("18446744073709551615 records lost (100 % of all)", got.out, 1, true)
    assert.is_nil(got.out:find " %-%d")
  end)
end)
