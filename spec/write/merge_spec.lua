-- perflua merge: several recordings of one system as one.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local tracing = require "spec.support.builder_tracing"

local KINDS <const> = { "id", "ip", "tid", "time", "period" }

--- Opens recordings of builders as one, and writes that; returns the new File and the summary,
--- or nil and what is wrong.
local function merged(...)
  local paths = {}
  for i, b in ipairs { ... } do paths[i] = b:write() end
  warn "@off"
  local file <close> = assert(perflua.open(paths))
  local path = rewritten.path()
  local summary, message, code = file:records { container = true }:write(path)
  if not summary then
    assert.is_false(files.exists(path))
    return nil, message, code
  end
  local copy = assert(perflua.open(path))
  assert.are.equal(0, #copy.damage)
  return copy, summary
end

--- A recording with an event that has an id, and samples at times.
local function recording(name, id, times, options)
  local b = builder.new(options)
  local event = b:event { name = name, type = 1, config = #name, sample_type = KINDS,
    ids = { id } }
  for i, time in ipairs(times) do
    b:sample(event, { id = id, ip = i, pid = 7, tid = 7, time = time, period = id })
  end
  return b
end

--- Its samples in their order, with their events and ids.
local function each(file)
  local list = {}
  for s in file:samples { expand = false } do
    list[#list + 1] = ("%d %s %d"):format(s.time, s.event.name, s.id or 0)
  end
  return list
end

describe("recordings that are merged", function()
  reading.either_order(describe, function(endian)
    local order = { endian = endian }

    it("have those samples of all that are chosen, as those of parts have", function()
      local paths, choice = {}, "--tid 7,9 --time 0.000000116,0.000000316"
      for i = 1, 2 do
        local b = builder.new(order)
        b:event { ids = { i }, sample_type = KINDS, sample_id_all = true }
        for tid = 7, 9 do
          b:record("comm", { pid = tid, tid = tid, comm = "t" .. tid })
        end
        for n = 1, 4 do
          for tid = 7, 9 do
            b:sample(b.events[1], { id = i, ip = n, pid = tid, tid = tid,
              time = n * 100 + tid * 2 + i, period = i })
          end
          b:record("switch", {}, { pid = n, tid = n, time = n * 100 + 50, id = i })
        end
        paths[i] = b:write()
      end
      local path = rewritten.path()
      local got = run.shell_with(('"$perflua" merge %s "$1" "$2" -o "$3"'):format(choice),
        paths[1], paths[2], path)
      assert.are.same({ 0, "" }, { got.status, got.err })
      local copy <close> = assert(perflua.open(path))
      local found = {}
      for r in copy:records() do
        found[#found + 1] = r.type == "comm" and r.comm or r.type .. r.tid .. "@" .. r.time
      end
      assert.are.same({ "t7", "t9", "sample7@116", "sample9@119", "sample9@120", "switch1@150",
        "switch1@150", "sample7@215", "sample7@216", "sample9@219", "sample9@220",
        "switch2@250", "switch2@250", "sample7@315", "sample7@316" }, found)
      got = run.shell_with(([["$perflua" cut %s "$1" -o "$3.1" &&
          "$perflua" cut %s "$2" -o "$3.2" && "$perflua" merge "$3.1" "$3.2" -o "$3.parts" &&
          cmp "$3" "$3.parts"]]):format(choice, choice), paths[1], paths[2], path)
      assert.are.same({ 0, "" }, { got.status, got.err })
      got = run.shell_with('"$perflua" merge --every 2 "$1" "$2" -o x', paths[1], paths[2])
      assert.are.equal(2, got.status)
    end)

    it("have the samples of all in the order of time", function()
      local copy <close>, summary = merged(recording("cycles", 5, { 10, 30 }, order),
        recording("cycles", 5, { 20, 40 }, order))
      assert.are.same({ "10 cycles 5", "20 cycles 5", "30 cycles 5", "40 cycles 5" },
        each(copy))
      assert.are.equal(1, #copy.events)
      assert.are.same({ 4, 0 }, { summary.samples, summary.merged.doubles })
      assert.are.same({ first = 10, last = 40 }, { first = copy.features.sample_time.first,
        last = copy.features.sample_time.last })
    end)

    it("give ids that mean different events new numbers", function()
      local copy <close> = merged(recording("cycles", 5, { 10 }, order),
        recording("instructions", 5, { 20 }, order), recording("cycles", 9, { 30 }, order))
      assert.are.same({ "10 cycles 5", "20 instructions 10", "30 cycles 9" }, each(copy))
      assert.are.same({ 5, 9 }, { copy.events[1].ids[1], copy.events[1].ids[2] })
      assert.are.equal(10, copy.events[2].ids[1])
      local names = {}
      for i, e in ipairs(copy.features.event_desc) do names[i] = e.name end
      assert.are.same({ "cycles", "instructions" }, names)
    end)

    it("change ids wherever records have them", function()
      local b = builder.new(order)
      local event = b:event { name = "other", config = 3, ids = { 5, 6 },
        sample_type = { "identifier", "ip", "tid", "time", "id", "stream_id", "read" },
        read_format = { "id", "group", "time_enabled" } }
      local function trailer(id, time)
        return { identifier = id, id = id, stream_id = id, time = time }
      end
      b:sample(event, { identifier = 5, id = 5, stream_id = 6, time = 20, ip = 1,
        read = { time_enabled = 3, { value = 100, id = 5 }, { value = 5, id = 6 } } })
      b:record("lost", { id = 6, lost = 1 }, trailer(6, 21))
      b:record("throttle", { time = 22, id = 5, stream_id = 5 }, trailer(5, 22))
      b:record("id_index", { entries = { { id = 6, idx = 0, cpu = 1, tid = 1 } } })
      local first = builder.new(order)
      local own = first:event { name = "one", ids = { 5, 6 }, read_format = { "id", "group" },
        sample_type = { "identifier", "ip", "tid", "time", "id", "stream_id", "read" } }
      first:sample(own, { identifier = 5, id = 5, stream_id = 5, time = 10, ip = 1,
        read = { { value = 1, id = 5 } } })
      local copy <close> = assert(merged(first, b))
      assert.are.same({ 7, 8 }, { copy.events[2].ids[1], copy.events[2].ids[2] })
      local sample = copy:samples { expand = false, event = "other" }:first()
      assert.are.same({ 7, 8, 7, 8 },
        { sample.id, sample.stream_id, sample.read[1].id, sample.read[2].id })
      assert.are.same({ 100, 5 }, { sample.read[1].value, sample.read[2].value })
      local lost, throttle = copy:records("lost"):first(), copy:records("throttle"):first()
      assert.are.same({ 8, "other", 7, 7, "other" }, { lost.id, lost.event.name, throttle.id,
        throttle.stream_id, throttle.event.name })
      assert.are.equal(8, copy:records("id_index"):first().entries[1].id)
    end)

    it("get ids where nothing told events apart", function()
      local parts = {}
      for i, name in ipairs { "cycles", "faults" } do
        parts[i] = builder.new(order)
        local event = parts[i]:event { name = name, config = i, ids = { i * 10 },
          sample_type = { "ip", "tid", "time", "callchain" } }
        parts[i]:record("comm", { pid = i, tid = i, comm = name }, { time = i })
        parts[i]:sample(event, { ip = 7, pid = i, tid = i, time = i * 10,
          callchain = { 7, 8, 9 } })
      end
      local copy <close> = assert(merged(parts[1], parts[2]))
      assert.are.same({ "10 cycles 10", "20 faults 20" }, each(copy))
      local comms = {}
      for r in copy:records("comm") do
        comms[#comms + 1] = r.comm .. " " .. r.event.name .. " " .. r.id
      end
      assert.are.same({ "cycles cycles 10", "faults faults 20" }, comms)
      for s in copy:samples() do assert.are.equal(3, #s.callchain) end
    end)

    it("shift times to one clock by the wall clock", function()
      local function part(clockid, wall, time)
        local b = builder.new(order)
        local event = b:event { name = "cycles", use_clockid = true, clockid = clockid,
          sample_type = { "ip", "tid", "time" }, ids = { 1 } }
        b:feature("clock_data", { clockid = clockid, wall_clock = wall, clock_time = 0 })
        b:record("time_conv", { time_shift = clockid, time_mult = 2, time_zero = 3 })
        b:record("fork", { pid = 2, ppid = 1, tid = 2, ptid = 1, time = time }, { time = time })
        b:sample(event, { ip = clockid, pid = 1, tid = 1, time = time + 5 })
        return b
      end
      local copy <close>, summary = merged(part(4, 7000000000, 100), part(1, 3000000000, 200))
      assert.are.same({ 4000000000, 0 }, summary.merged.shifts)
      local seen = {}
      for s in copy:samples() do seen[#seen + 1] = ("%d %d"):format(s.time, s.ip) end
      assert.are.same({ "205 1", "4000000105 4" }, seen)
      local forks = {}
      for r in copy:records("fork") do forks[#forks + 1] = r.time end
      assert.are.same({ 200, 4000000100 }, forks)
      assert.are.same({ 1, 1 }, { #copy.events, copy.events[1].clockid })
      assert.are.equal(1, copy.features.clock_data.clockid)
      assert.are.equal(1, copy:records("time_conv"):count())
      assert.are.equal(1, copy:records("time_conv"):first().time_shift)
    end)

    it("tell what was there when each began, at that time", function()
      local parts = {}
      for i, comm in ipairs { "old", "new" } do
        parts[i] = recording("cycles", 5, { i * 100 }, order)
        local b = builder.new(order)
        b:event(parts[i].events[1])
        b:record("mmap", { pid = -1, tid = 0, addr = 0x1000, len = 16,
          filename = "[kernel.kallsyms]_text" })
        b:record("fork", { pid = 7, tid = 7, ppid = 1, ptid = 1 })
        b:record("comm", { pid = 7, tid = 7, comm = comm })
        b:sample(b.events[1], { id = 5, ip = i, pid = 7, tid = 7, time = i * 100 })
        parts[i] = b
      end
      local copy <close>, summary = merged(parts[1], parts[2])
      local comms = {}
      for s in copy:samples() do comms[#comms + 1] = s.comm end
      assert.are.same({ "old", "new" }, comms)
      local times = {}
      for r in copy:records("comm") do
        times[#times + 1] = ("%s %s"):format(r.time, r.restated)
      end
      assert.are.same({ "nil nil", "199 true" }, times)
      assert.are.equal(1, copy:records("mmap"):count())
      assert.are.equal(1, copy:records("fork"):count()) -- nothing changed in between
      assert.are.equal(2, summary.merged.doubles)
    end)

    it("tell again what was there only if something changed since the whole began", function()
      for _, comm in ipairs { 20, 30 } do -- when the first part has it
        local parts = {}
        for i = 1, 2 do
          local b = builder.new(order)
          parts[i] = b
          b:event { name = "cycles", ids = { 5 }, sample_type = KINDS }
          for tid = 1, 4000 do
            b:record("fork", { pid = tid, tid = tid, ppid = 1, ptid = 1 })
            b:record("comm", { pid = tid, tid = tid, comm = "found" })
          end
          for time = 10, i == 1 and 30 or 0, 20 do
            b:sample(b.events[1], { id = 5, ip = 1, pid = 9, tid = 9, time = time })
          end
          b:record("comm", { pid = 9, tid = 9, comm = "named" },
            { pid = 9, tid = 9, time = i == 1 and comm or 30, id = 5 })
          b:sample(b.events[1], { id = 5, ip = 1, pid = 9, tid = 9, time = 40 + i })
        end
        local copy <close>, summary = merged(parts[1], parts[2])
        local again = comm == 20
        assert.are.equal(again and 0 or 8001, summary.merged.doubles)
        assert.are.equal(again and 8000 or 0, copy:records():where "restated":count())
        local names = {}
        for s in copy:samples() do names[#names + 1] = s.comm end
        assert.are.same({ "found", "named", "named", "named" }, names)
        local got = run.perflua { "doctor", "--no-symbols", copy.path }
        assert.matches("nothing too late for perf", got.out)
      end
    end)

    it("tell again what changed, and changed back, while nobody recorded", function()
      local parts = {}
      for i, comm in ipairs { "one", "two", "one" } do
        local b = builder.new(order)
        parts[i] = b
        b:event { name = "cycles", ids = { 5 }, sample_type = KINDS }
        b:record("mmap", { pid = -1, tid = 0, addr = i, len = 1, filename = "[module" .. i })
        for tid, name in pairs { [7] = comm, [8] = "same" } do
          b:record("comm", { pid = tid, tid = tid, comm = name })
        end
        b:sample(b.events[1], { id = 5, ip = 1, pid = 7, tid = 7, time = 10 * i })
      end
      local copy <close>, summary = merged(table.unpack(parts))
      local comms = {}
      for s in copy:samples() do comms[#comms + 1] = s.comm end
      assert.are.same({ "one", "two", "one" }, comms)
      assert.are.equal(1, summary.merged.doubles) -- the second part has the same thread 8
    end)

    it("mark what was restated, for dump and doctor, also where samples got an id", function()
      for _, is_alone in ipairs { true, false } do
        local parts = {}
        for i = 1, 2 do
          local b = builder.new(order)
          parts[i] = b
          b:event { name = "e" .. i, config = i, ids = is_alone and { 1 } or { i, 10 * i },
            sample_type = is_alone and { "ip", "tid", "time", "cpu" } or KINDS }
          b:record("namespaces", { pid = 7, tid = 7, namespaces = { { dev = 1, ino = i } } })
          b:record("mmap", { pid = 7, tid = 7, addr = i, len = 1, filename = "/a" })
          b:record("mmap2", { pid = 7, tid = 7, addr = i, len = 1, filename = "/b" })
          b:record("comm", { pid = 7, tid = 7, comm = "found" })
          b:record("fork", { pid = 7, tid = 7, ppid = 1, ptid = 1 })
          b:record("comm", { pid = 7, tid = 7, comm = "named", exec = true },
            { pid = 7, tid = 7, time = 20 * i, id = i })
          b:record("comm", { pid = 0, tid = 0, comm = "outside" }, { time = 20 * i, id = i })
          b:sample(b.events[1], { ip = 1, pid = 7, tid = 7, time = 30 * i, id = i })
        end
        local copy <close> = assert(merged(parts[1], parts[2]))
        local found = {}
        for r in copy:records():where "restated" do found[#found + 1] = r.type .. r.time end
        assert.are.same({ "namespaces39", "mmap39", "mmap239", "comm39", "fork39" }, found)
        local got = run.perflua { "dump", copy.path, "--type", "comm", "--where", "restated" }
        assert.matches("^[^\n]* comm=found exec=false restated=true time=0%.000000039 "
          .. "[^\n]*\n$", got.out)
        got = run.perflua { "doctor", "--no-symbols", copy.path }
        assert.matches("note +5 records of threads and mappings that perf found when it began "
          .. "a part of this merged recording: they have the time at which that part begins",
          got.out)
      end
    end)

    it("have the groups, build-ids, command lines and programs of all", function()
      local parts = {}
      for i = 1, 2 do
        local b = builder.new(order)
        for k = 1, 3 do
          b:event { name = "e" .. k, config = k == 3 and i or 0, type = k, ids = { i * 10 + k },
            sample_type = KINDS }
        end
        b:feature("group_desc", { { name = "{one,two}", leader = i - 1, members = 2 } })
        b:feature("build_id", { { pid = -1, build_id = ("ab"):rep(20), filename = "/same" },
          { pid = -1, build_id = ("cd"):rep(20), filename = "/only" .. i },
          { pid = -1, build_id = ("e" .. i):rep(20), filename = "/other" } })
        b:feature("cmdline", { "perf", "record", "-e", "e" .. i })
        b:feature("bpf_btf", { { id = 1, data = "same" }, { id = 1 + i, data = "own" } })
        b:feature(i == 1 and "cpuid" or "cpudesc", "x")
        b:feature("branch_stack", i == 1 or nil)
        b:sample(b.events[1], { id = i * 10 + 1, time = i })
        parts[i] = b
      end
      parts[2].sections[15] = nil
      local copy <close>, summary = merged(parts[1], parts[2])
      local names = {}
      for i, e in ipairs(copy.events) do names[i] = e.name .. " " .. #e.ids end
      -- e2 and e3 are a group in the second alone
      assert.are.same({ "e1 1", "e2 1", "e3 1", "e1 1", "e2 1", "e3 1" }, names)
      local groups = {}
      for i, g in ipairs(copy.features.group_desc) do
        groups[i] = ("%s %d %d"):format(g.name, g.leader, g.members)
      end
      assert.are.same({ "{one,two} 1 2", "{one,two} 5 2" }, groups)
      local binaries = {}
      for i, e in ipairs(copy.features.build_id) do
        binaries[i] = e.filename .. " " .. e.build_id:sub(1, 2)
      end
      assert.are.same({ "/same ab", "/only1 cd", "/other e1", "/only2 cd" }, binaries)
      assert.are.equal(1, summary.merged.rebuilt)
      assert.are.equal("perf record -e e1 + perf record -e e2",
        table.concat(copy.features.cmdline, " "))
      assert.are.equal(3, #copy.features.bpf_btf)
      assert.are.same({ "x", "x" }, { copy.features.cpuid, copy.features.cpudesc })
      assert.is_nil(copy.features.branch_stack)
    end)

    it("have no names of events where none had", function()
      local parts = {}
      for i = 1, 2 do
        local b = builder.new(order)
        b:sample(b:event { sample_type = { "ip", "time" } }, { ip = 1, time = i })
        parts[i] = b
      end
      local copy <close> = merged(parts[1], parts[2])
      assert.is_nil(copy.features.event_desc)
      assert.are.equal(2, copy:samples():count())
    end)

    it("have the formats of all tracepoints", function()
      local parts = {}
      for i, name in ipairs { "sched_switch", "sched_waking" } do
        local t = tracing.new(order)
        t:event("sched", "sched_both", { id = 300, fields = { { "int", "value" } } })
        local of_part = t:event("sched", name,
          { id = 300 + i, fields = { { "int", "value" } } })
        local b, events = t:recording()
        b:sample(events[2], { identifier = 102, time = i, raw = t:raw(of_part,
          { value = 40 + i }) })
        parts[i] = b
      end
      local copy <close> = assert(merged(parts[1], parts[2]))
      local values = {}
      for s in copy:samples() do values[#values + 1] = s.event.name .. " " .. s.args.value end
      assert.are.same({ "sched:sched_switch 41", "sched:sched_waking 42" }, values)
      assert.are.equal(3, copy.features.tracing_data.systems.sched)
    end)
  end)

  it("are the same in whatever form they are", function()
    local file <close> = assert(perflua.open(run.demo))
    local expected = rewritten.named(file:samples { expand = false })
    for _, form in ipairs { { pipe = true }, { compress = 1 } } do
      local paths = {}
      for i, range in ipairs { { "0%", "40%" }, { "40%", nil } } do
        paths[i] = rewritten.path()
        local chosen = file:samples { expand = false }:between(range[1], range[2])
        assert(chosen:write(paths[i], form))
      end
      local parts <close> = assert(perflua.open(paths))
      for _, out in ipairs { {}, { pipe = true, compress = 1 } } do
        local path = rewritten.path()
        assert(parts:records { container = true }:write(path, out))
        local copy <close> = assert(perflua.open(path))
        assert.are.same(expected, rewritten.named(copy:samples { expand = false }))
      end
    end
  end)

  it("lose their AUX areas, which is said", function()
    local b = recording("cycles", 5, { 10 })
    b:record("auxtrace", { data = ("x"):rep(16), idx = 1 })
    local path, out = b:write(), rewritten.path()
    local got = run.perflua { "merge", path, recording("cycles", 5, { 20 }):write(), "-o", out }
    assert.are.equal(0, got.status)
    assert.matches("1 record of AUX areas %(16 bytes%) left out: a selection cannot be decoded",
      got.out)
  end)

  local function refused(pattern, one, other)
    local ok, message, code = merged(one, other)
    assert.are.same({ nil, "FORMAT" }, { ok, code })
    assert.matches(pattern, message)
  end

  it("are refused if they are of several systems", function()
    local function of(feature, value, options)
      return recording("cycles", 5, { 10 }, options):feature(feature, value)
    end
    refused('hostname is "b" here, "a" in .*: recordings of several systems cannot be one',
      of("hostname", "a"), of("hostname", "b"))
    refused('osrelease is "6.2" here, "6.1" in', of("osrelease", "6.1"), of("osrelease", "6.2"))
    refused('arch is "aarch64" here, "x86_64" in', of("arch", "x86_64"), of("arch", "aarch64"))
    refused('byte order is "big%-endian" here, "little%-endian"', of("cpuid", "a"),
      of("cpuid", "a", { endian = "big" }))
    refused("found counts of perf stat", of("cpuid", "a"), of("stat", true))
    local function kernel(id)
      return of("build_id", { { pid = -1, cpumode = "kernel", build_id = id:rep(20),
        filename = "[kernel.kallsyms]" } })
    end
    refused("the build%-id of %[kernel.kallsyms%] is another one than in", kernel "ab",
      kernel "cd")
  end)

  it("are refused if their clocks or attrs differ", function()
    local function part(members)
      local b = builder.new {}
      b:event { name = "cycles", sample_type = members.type or { "ip", "time" },
        use_clockid = members.clock ~= nil, clockid = members.clock, ids = { 1 },
        sample_id_all = members.all }
      if members.second then b:event(members.second) end
      b:sample(b.events[1], { time = 1 })
      return b
    end
    refused("the clocks of the recordings differ, and not all know the wall clock: clockid is "
      .. "%-1 in one, 1 in another", part {}, part { clock = 1 })
    refused("the attrs of cycles and cycles cannot be joined: only one has sample_id_all",
      part {}, part { all = false })
    local several = { second = { name = "x", config = 7, sample_type = { "ip", "time" } } }
    refused("no id tells whose its samples are", part { type = { "ip", "tid", "time" } },
      part(several))
  end)

  it("are refused if a record has no room for an id", function()
    local function part(config, size)
      local b = builder.new {}
      local event = b:event { name = "e" .. config, config = config,
        sample_type = { "ip", "time", "raw" } }
      b:sample(event, { time = config, raw = ("x"):rep(size) })
      return b
    end
    refused("found a record of 65528 bytes, which has no room for the id that tells its event",
      part(1, 100), part(2, 65528 - 8 - 16 - 4))
  end)

  it("are not written over one of them, also by a link", function()
    local paths = {}
    for i = 1, 2 do paths[i] = recording("cycles", 5, { i }):write() end
    local got = run.shell_with('ln -s "$2" "$2.link"; "$perflua" merge --force "$1" "$2" -o '
      .. '"$2.link"', paths[1], paths[2])
    assert.are.equal(1, got.status)
    assert.matches("this is the recording that is read: choose another name", got.err)
    got = run.perflua { "merge", paths[1], "-o", rewritten.path() }
    assert.are.equal(2, got.status)
    assert.matches("merge: two recordings at least", got.err)
    warn "@off"
    local file <close> = assert(perflua.open(paths))
    for _, options in ipairs { { every = 2 }, { max_size = 1000 }, { unwind = true } } do
      assert.error_matches(function()
        file:records():write(rewritten.path(), options)
      end, "takes the records of several recordings as they are")
    end
  end)

  needs.it("record", "are read by perf, with the samples of all", function()
    local path = rewritten.path()
    local got = run.shell_with([[
      fields=comm,tid,time,event,ip,sym,dso,period
      perf record -q -e page-faults:u -c 1 -o "$1.1" -- true 2>/dev/null || exit
      perf record -q -e page-faults:u -c 1 -o "$1.2" -- sh -c true 2>/dev/null
      perf record -q -g -e task-clock:u -c 10000 -o "$1.3" -- ls / >/dev/null 2>&1
      "$perflua" merge "$1.1" "$1.2" "$1.3" -o "$1" >/dev/null || exit
      for part in "$1.1" "$1.2" "$1.3"; do
        perf script -F $fields --ns -i "$part" 2>/dev/null
      done | sed 's/ \+/ /g; s/^ //' | sort >"$1.e"
      perf script -F $fields --ns -i "$1" 2>"$1.err" | sed 's/ \+/ /g; s/^ //' | sort >"$1.f"
      cat "$1.err"
      test -s "$1.e" && cmp "$1.e" "$1.f"]], path)
    assert.are.same({ status = 0, out = "", err = "" }, got)
  end)
end)
