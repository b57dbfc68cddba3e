-- perflua doctor: what it says of a recording with each ailment, and of one without.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local MS = 1000000
local START = 1000 * MS

--- What it finds: its output, and its JSON.
local function doctor(path)
  local text, json = run.perflua { "doctor", path }, run.perflua { "doctor", "--json", path }
  assert.are.equal(text.status, json.status)
  assert.are.equal("", text.err .. json.err)
  return text, assert(dkjson.decode(json.out))
end

--- The finding of that code, nil if there is none.
local function find(report, code)
  for _, finding in ipairs(report.findings) do
    if finding.code == code then
      return finding
    end
  end
end

--- A builder with one event of these parts, of which `change` may make more, with samples each millisecond.
local function ailing(change, parts, members)
  local b = builder.new()
  local event = {
    name = "cycles", freq = true, sample_freq = 4000, sample_period = nil,
    sample_type = { "ip", "tid", "time", "id", "cpu", table.unpack(parts or {}) },
  }
  for name, value in pairs(members or {}) do
    event[name] = value
  end
  event = b:event(event)
  for i = 1, 100 do
    b:sample(event, { time = START + i * MS })
  end
  change(b, event)
  return b
end

--- The finding of that code about what `change` does.
local function finding(code, change, parts, members)
  local got, report = doctor(ailing(change, parts, members):write())
  local found = assert(find(report, code), got.out)
  assert.matches("\n  " .. found.level .. " +" .. found.text:gsub("%p", "%%%0") .. "\n", got.out)
  for _, line in ipairs(found.details or {}) do
    assert.matches("\n             " .. line .. "\n", got.out, 1, true)
  end
  if found.advice then
    assert.matches("\n             -> " .. found.advice .. "\n", got.out, 1, true)
  end
  return found, got
end

describe("a healthy recording", function()
  it("gets a verdict and ten lines of facts", function()
    local got, report = doctor(run.demo)
    assert.are.equal(0, got.status)
    assert.matches("^spec/fixtures/demo.perf.data: healthy", got.out)
    local names = {}
    for name in got.out:gmatch "\n  (%l+) +[^\n]" do
      table.insert(names, name)
    end
    assert.are.same({ "recording", "time", "events", "records", "lost", "throttled", "order", "gaps", "stacks" },
      { table.unpack(names, #names - 8) })
    assert.matches("\n  events     cpu-clock 457, page-faults 39, context-switches 176\n", got.out, 1, true)
    assert.matches("\n  lost       nothing\n", got.out, 1, true)
    assert.is_true(report.complete)
    assert.are.equal(672, report.samples)
    assert.are.equal(768, report.records.total)
    assert.are.same({ mode = "file", stream = false, version = 2, byte_order = "little", size = 83040,
      compressed = false }, report.container)
  end)

  it("says where it comes from", function()
    local got = run.shell_with('cat "$1" | "$perflua" doctor -', run.demo)
    assert.are.equal(0, got.status)
    assert.matches("^%-: healthy.*\n  recording  file on standard input, PERFILE2, little%-endian", got.out)
    local b = builder.new { container = "pipe", endian = "big" }
    b:sample(b:event { name = "e" }, { time = START })
    got = run.shell_with('cat "$1" | "$perflua" doctor -', b:write())
    assert.matches("\n  recording  pipe on standard input, PERFILE2, big-endian\n", got.out, 1, true)
  end)
end)

describe("a damaged recording", function()
  it("has status 3 and a list of its damage", function()
    local b = ailing(function() end)
    local offsets = b:offsets()
    local got, report = doctor(b:write { truncate = offsets[50] + 20 })
    assert.are.equal(3, got.status)
    assert.matches("^[^\n]*: damaged\n  damage     damaged in 3 places\n", got.out)
    assert.matches(("offset %d: "):format(offsets[50]), got.out, 1, true)
    assert.is_false(report.complete)
    assert.are.equal("damaged", report.verdict)
    assert.are.equal(offsets[50], report.damage[3].offset)
    assert.are.equal(49, report.samples)
  end)

  it("shows only the first of many places", function()
    local b = builder.new()
    local event = b:event {}
    for i = 1, 20 do
      for k = 1, 5 do
        b:sample(event, { time = START + i * 10 + k })
      end
      b:raw(9, 2, ("\1"):rep(8), 3)
    end
    local got, report = doctor(b:write())
    assert.are.equal(3, got.status)
    assert.are.equal(20, #report.damage)
    assert.are.equal(6, #find(report, "damage").details)
    assert.matches("\n             and 15 more\n", got.out, 1, true)
  end)

  it("that was not finished says so once, and how to end a recording", function()
    local got, report = doctor(ailing(function() end):write { data = { size = 0 }, no_features = true })
    assert.are.equal(3, got.status)
    assert.is_true(report.unfinished)
    assert.matches("SIGINT", find(report, "unfinished").advice, 1, true)
    assert.is_nil(find(report, "damage"))
    assert.is_nil(find(report, "missing"))
  end)

  it("among several has status 3, and all are reported", function()
    local good, bad = ailing(function() end):write(), ailing(function() end):write { truncate = 3000 }
    local got = run.perflua { "doctor", good, bad, good }
    assert.are.equal(3, got.status)
    local verdicts = {}
    for verdict in ("\n\n" .. got.out):gmatch "\n\n/[^\n]*: (%l+)" do
      table.insert(verdicts, verdict)
    end
    assert.are.same({ "healthy", "damaged", "healthy" }, verdicts)
    local lines = {}
    for line in run.perflua({ "doctor", "--json", good, bad }).out:gmatch "[^\n]+" do
      table.insert(lines, dkjson.decode(line).verdict)
    end
    assert.are.same({ "healthy", "damaged" }, lines)
  end)

  it("is another thing than a file that cannot be read: that has status 1", function()
    local good = ailing(function() end):write()
    local got = run.perflua { "doctor", "/no/such.data", good }
    assert.are.equal(1, got.status)
    assert.matches("^perflua: /no/such.data: [^\n]*\n$", got.err)
    assert.matches("^" .. good:gsub("%p", "%%%0") .. ": healthy\n", got.out)
    assert.are.equal(1, run.perflua({ "doctor", run.script "not a recording" }).status)
    assert.are.equal(2, run.perflua({ "doctor" }).status)
    assert.are.equal(2, run.perflua({ "doctor", "--bogus", good }).status)
  end)
end)

describe("the doctor", function()
  it("counts what was lost, and names the buffers there were", function()
    local found = finding("lost", function(b, event)
      b:feature("cmdline", { "/usr/bin/perf", "record", "-m", "1", "sleep" })
      b:record("lost", { id = 100, lost = 25 }, { time = START })
      b:record("lost_samples", { lost = 25 }, { event = event, time = 0 })
    end)
    assert.are.equal("problem", found.level)
    assert.are.equal("25 records lost (19.7 % of all); 25 samples lost (20 % of them)", found.text)
    assert.are.equal("larger buffers (perf record -m 16M; it was -m 1), or a lower frequency (-F; it was 4000)",
      found.advice)
  end)

  it("names the events whose samples were lost", function()
    local found = finding("lost", function(b)
      local other = b:event { name = "faults", sample_type = { "ip", "tid", "time", "id", "cpu" } }
      b:sample(other, { time = START })
      b:record("lost_samples", { lost = 1 }, { event = other, time = 0 })
    end)
    assert.are.same({ "faults: 1 sample, 50 % of it" }, found.details)
  end)

  it("adds up what was throttled", function()
    local found = finding("throttled", function(b)
      for cpu = 0, 1 do
        b:record("throttle", { time = START, id = 100, stream_id = cpu }, { time = START, cpu = cpu })
        b:record("unthrottle", { time = START + 3 * MS, id = 100, stream_id = cpu }, { time = START, cpu = cpu })
      end
    end)
    assert.are.equal("throttled 2 times: for 6 ms in all an event took no samples on a cpu", found.text)
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
    assert.are.equal("1 record (0.98 %) came too late for perf to put them in order: by up to 40 ms, the first at "
      .. "1.060000", found.text)
  end)

  it("finds a clock that goes back", function()
    local found = finding("clock", function(b, event)
      for i = 1, 10 do
        b:sample(event, { time = START + i * MS })
      end
    end)
    assert.are.equal("the clock goes back 1 time, by up to 99 ms, first to 1.001000", found.text)
    assert.matches("CLOCK_MONOTONIC", found.advice, 1, true)
  end)

  it("says when there were no samples", function()
    local found = finding("gaps", function(b, event)
      b:record("lost", { id = 100, lost = 1 }, { time = START + 1500 * MS })
      b:sample(event, { time = START + 1500 * MS })
    end)
    assert.are.equal("note", found.level)
    assert.are.equal("1 gap of 300 ms or more without a sample, 1.4 s in all; else one comes every 1 ms", found.text)
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
    assert.are.equal("50 % of the call chains are cut: they have 127 frames, the most allowed", found.text)
    assert.matches("sysctl kernel.perf_event_max_stack", found.advice, 1, true)
    found = finding("chains", chains { 8, 3 }, { "callchain" }, { sample_max_stack = 8 })
    assert.matches("have 8 frames, the most allowed", found.text, 1, true)
    assert.matches("max-stack", found.advice, 1, true)
    -- one with more frames shows that the limit was another
    local _, report = doctor(ailing(chains { 127, 300, 300 }, { "callchain" }):write())
    assert.is_nil(find(report, "chains"))
    assert.is_nil(report.events[1].chain_limit)
    assert.matches("66.7 % of the call chains of cycles have 300 frames", find(report, "long_chains").text, 1, true)
  end)

  it("finds copies of stacks that were full, and names a larger size while there is one", function()
    local function copies(size)
      return finding("stacks", function(b, event)
        b:sample(event, { time = START, stack_user = ("s"):rep(64) })
        b:sample(event, { time = START, stack_user = ("s"):rep(64), dyn_size = 8 })
      end, { "stack_user" }, { sample_stack_user = size })
    end
    assert.are.equal("50 % of the copied stacks are cut: there was more than the 64 bytes, and outer callers are "
      .. "missing", copies(8192).text)
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
    assert.matches("are full: 32 calls", found.text, 1, true)
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
    assert.are.equal("1 sample (0.99 %) of no event that the recording describes", finding("unknown_events",
      function(b, event)
        b:event { sample_type = { "ip", "tid", "time", "id", "cpu" } }
        b:sample(event, { time = START, id = 4711 })
      end).text)
    finding("untimed_samples", function(b, event) b:sample(event, { time = 0 }) end)
    finding("untimed_records", function(b) b:record("comm", { pid = 1, tid = 1, comm = "x" }) end, nil,
      { sample_id_all = false })
    assert.are.same({ "type 200: 1 record" }, finding("unknown_types", function(b) b:raw(200, 0, "") end).details)
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
    assert.matches("registers", finding("missing", function() end, { "regs_user" }).text, 1, true)
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

describe("a recording made now", function()
  local live = oracle.perf and it or function(name) pending(name .. ": perf is not installed") end

  live("whose buffers were too small has lost what perf says", function()
    local path, message = oracle.record("-a -m 1 -e raw_syscalls:sys_enter",
      "dd if=/dev/zero of=/dev/null bs=1 count=30000")
    if not path then
      return pending(message)
    end
    local _, report = doctor(path)
    local records, samples = 0, 0
    for line in files.lines("perf report -D -f -i " .. path .. " 2>/dev/null") do
      records = records + (line:match "PERF_RECORD_LOST: .*lost:(%d+)" or 0)
      samples = samples + (line:match "PERF_RECORD_LOST_SAMPLES: .*lost samples :(%d+)" or 0)
    end
    assert.are.equal(records, report.lost.records)
    assert.are.equal(samples, report.lost.samples)
    if records == 0 then
      return pending("the recorder lost nothing this time")
    end
    assert.is_truthy(find(report, "lost"))
  end)

  live("that was killed is not finished", function()
    local path = files.temporary()
    files.output(("perf record -q -e cpu-clock -o %s -- sh -c 'kill -9 $PPID; sleep 0.1' 2>/dev/null"):format(path))
    local got = run.perflua { "doctor", path }
    if got.status == 1 then
      return pending "it was killed before it had written anything"
    end
    assert.are.equal(3, got.status)
    assert.matches("did not finish it", got.out, 1, true)
  end)
end)

describe("a real recording", function()
  corpus.each_file(it, pending, "has a report", function(recording)
    local got = run.perflua { "doctor", "--json", recording.path }
    if got.status == 1 then
      return assert.matches("^perflua: [^\n]*\n$", got.err)
    end
    local report = assert(dkjson.decode(got.out))
    assert.are.equal(report.complete and #report.damage == 0 and 0 or 3, got.status)
    assert.are.equal("", got.err)
  end)
end)
