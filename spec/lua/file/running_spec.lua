-- Compares the running thread with switches that are written here, and with real ones that are
-- read one by one.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local switches = require "spec.support.switches"
local two_events = require "spec.support.two_events"
local raises = two_events.raises

-- The tids that ran on a processor at some times, "-" for none.
local function tids(file, cpu, times)
  local list = {}
  for i, time in ipairs(times) do
    local thread = file:running(cpu, time)
    list[i] = thread and tostring(thread.tid) or "-"
  end
  return table.concat(list, " ")
end

describe("file:running, by sched:sched_switch", function()
  local file

  setup(function()
    file = assert(perflua.open(switches.recording({
      { 100, 0, "switch", 7, 0, 8 }, { 150, 1, "waking", 9 }, { 200, 0, "switch", 8, 0, 0 },
      { 300, 0, "switch", 0, 0, 7 }, { 310, 1, "switch", 0, 0, 9 },
        { 400, 0, "switch", 9, 0, 8 },
      { 450, 0, "lost" }, { 500, 0, "switch", 8, 0, 7 }, { 600, 1, "waking", 9 },
    }, { [7] = "seven", [8] = "eight" })))
  end)
  teardown(function() file:close() end)

  it("is the thread that came last", function()
    assert.equal("8 8 0 0 7", tids(file, 0, { 100, 199, 200, 299, 300 }))
    assert.equal("9 9 9", tids(file, 1, { 310, 311, 600 }))
  end)

  it("is the thread that left first, since the recording began", function()
    assert.equal("0 0", tids(file, 1, { 100, 309 }))
    assert.equal("-", tids(file, 1, { 99 }))
  end)

  it("takes times as between does", function()
    assert.equal("8 8 0", tids(file, 0, { "@0.0000001", "0ns", "@0.000000200" }))
    assert.equal("9", tids(file, 1, { "100%" }))
    raises("write absolute times as perf prints them", function() file:running(0, "@x") end)
  end)

  it("says that no record tells where and when threads were switched", function()
    local none <close> = assert(perflua.open "spec/fixtures/demo.perf.data")
    local thread, why = none:running(0, none.first_time)
    local NOWHERE <const> = "its records do not say on which processor and when threads were "
      .. "switched"
    assert.same({ nil, NOWHERE }, { thread, why })
    for parts, expected in pairs { [{ "tid", "time" }] = NOWHERE,
        [{ "tid", "time", "cpu" }] = "the recording has no switches that say where and when: "
          .. "perf record -a --switch-events, or -e sched:sched_switch" } do
      local b = builder.new()
      local event = b:event { name = "cpu-clock", type = 1, config = 0, sample_type = parts }
      b:sample(event, { pid = 7, tid = 7, time = 10, cpu = 0 })
      if not parts[3] then b:record("switch", { misc = 0 }, { pid = 7, tid = 7, time = 10 }) end
      local made <close> = assert(perflua.open(b:write()))
      assert.same({ nil, expected }, { made:running(0, 10) })
    end
  end)

  it("is nil before and after the recording, and on a processor that it does not know",
    function()
    assert.equal("- - -", tids(file, 0, { 99, 0, -1 }))
    assert.equal("- -", tids(file, 0, { 601, math.maxinteger }))
    assert.equal("- -", tids(file, 2, { 150, 400 }))
  end)

  it("is nil between switches that contradict each other", function()
    -- 7 came at 300, but 9 left at 400
    assert.equal("7 - -", tids(file, 0, { 300, 301, 399 }))
  end)

  it("is nil from a switch to the next one where records were lost", function()
    assert.equal("8 - - 7 7", tids(file, 0, { 400, 401, 499, 500, 600 }))
  end)

  it("knows less where only the switches of some threads were recorded", function()
    local some <close> = assert(perflua.open(switches.recording {
      { 100, 0, "switch", 7, 0, 8 }, { 200, 0, "switch", 8, 0, 7 }, { 250, 1, "waking", 9 },
      { 300, 0, "switch", 7, 0, 9 }, { 400, 0, "waking", 9 },
    }))
    assert.equal("8 8 7 7 9 - -", tids(some, 0, { 100, 199, 200, 299, 300, 301, 400 }))
    assert.equal("- -", tids(some, 1, { 250, 300 }))
  end)

  it("is nil where not every switch has a sample", function()
    local sampled <close> = assert(perflua.open "spec/fixtures/perf-7.3/exits.data")
    local n = 0
    for time, cpu in sampled:samples("sched:sched_switch"):select("time", "cpu") do
      assert.is_nil(sampled:running(cpu, time))
      n = n + 1
    end
    assert.is_true(n > 10)
  end)

  it("has the thread as file:thread has it, or what the switch says", function()
    local seven = file:running(0, 350 - 50)
    assert.equal("seven", seven.comm)
    assert.same({ 8, "eight" }, { file:running(0, 150).pid, file:running(0, 150).comm })
    local idle = file:running(0, 250)
    assert.same({ 0, 0, "swapper" }, { idle.pid, idle.tid, idle.comm })
    assert.same({}, idle.maps())
  end)

  it("raises for a wrong processor or time, and for a closed file", function()
    raises("running: cpu is an integer, got 0.5", function() file:running(0.5, 1) end)
    raises('running: time is an integer %(ns%) or a text such as "@440.5", got nil', function()
      file:running(0)
    end)
    raises("running takes at most 2 arguments", function() file:running(0, 1, 2) end)
    local closed = assert(perflua.open(two_events.write()))
    closed:close()
    raises("closed", function() closed:running(0, 1) end)
  end)
end)

describe("file:running, by switch records", function()
  local function recording(list, more)
    local b = builder.new()
    local event = b:event { name = "e", type = 1, config = 0,
      sample_type = { "tid", "time", "cpu" },
      sample_id_all = true, context_switch = true }
    for _, one in ipairs(list) do
      local time, cpu, tid, out, other, pid = table.unpack(one)
      local fields = { out = out, next_prev_pid = pid or other, next_prev_tid = other }
      b:record(other and "switch_cpu_wide" or "switch", fields,
        { pid = tid, tid = tid, time = time, cpu = cpu })
    end
    if more then more(b, event) end
    return assert(perflua.open(b:write()))
  end

  it("takes both records of a switch for one", function()
    local file <close> = recording {
      { 100, 0, 7, true, 8, 80 }, { 102, 0, 8, false, 7 }, { 200, 0, 8, true, 7 },
        { 201, 0, 7, false, 8 },
    }
    assert.equal("8 8 8 7 7", tids(file, 0, { 100, 101, 150, 200, 201 }))
    assert.same({ 80, ":8" }, { file:running(0, 150).pid, file:running(0, 150).comm })
  end)

  it("does not know who came where only who left was recorded", function()
    local file <close> = recording {
      { 100, 0, 7, false }, { 200, 0, 7, true }, { 300, 0, 8, false }, { 400, 0, 8, true },
        { 500, 1, 9, false },
    }
    assert.equal("7 7 - - 8 8 - -", tids(file, 0, { 100, 199, 200, 299, 300, 399, 400, 500 }))
    assert.equal("- 9", tids(file, 1, { 499, 500 }))
  end)

  it("does not take a thread without an id for one", function()
    local file <close> = recording { { 100, 0, 7, true, -1 }, { 200, 0, 8, true, 9 },
      { 300, 0, 9, false, -1 } }
    assert.equal("- - 9 9", tids(file, 0, { 100, 199, 200, 300 }))
  end)

  it("forgets all processors at a loss of no processor, and none where BPF left records out",
    function()
    local list = { { 100, 0, 7, true, 8 }, { 110, 1, 9, true, 6 } }
    local function rest(b)
      b:record("switch_cpu_wide", { out = true, next_prev_pid = 7, next_prev_tid = 7 },
        { pid = 8, tid = 8, time = 400, cpu = 0 })
    end
    local file <close> = recording(list, function(b)
      b:record("lost_samples", { lost = 5 }, { time = 300, cpu = -1 })
      rest(b)
    end)
    assert.equal("8 - 7", tids(file, 0, { 100, 399, 400 }))
    assert.equal("6 -", tids(file, 1, { 110, 400 }))
    local filtered <close> = recording(list, function(b)
      b:record("lost_samples", { lost = 5, bpf = true }, { time = 300, cpu = 0 })
      rest(b)
    end)
    assert.equal("8 8 7", tids(filtered, 0, { 100, 399, 400 }))
  end)

  it("is nil everywhere in a recording without switches", function()
    local file <close> = assert(perflua.open(two_events.write()))
    assert.equal("- -", tids(file, 0, { file.first_time, file.last_time }))
  end)
end)

describe("file:running, of real recordings", function()
  it("agrees with a walk over the switches that some threads had", function()
    local file <close> = assert(perflua.open "spec/fixtures/switches.perf.data")
    local now, known, unknown = {}, 0, 0
    for r in file:records { type = { "sample", "switch" } } do
      if r.type == "switch" then
        now[r.cpu] = not r.out and r.tid
      else
        assert.equal(r.tid, file:running(r.cpu, r.time).tid)
      end
      for cpu, tid in pairs(now) do
        local thread = file:running(cpu, r.time)
        if tid then known = known + 1 else unknown = unknown + 1 end
        assert.equal(tid or nil, thread and thread.tid, ("cpu %d at %d"):format(cpu, r.time))
      end
    end
    assert.is_true(known > 200 and unknown > 50, known .. ", " .. unknown)
  end)

  needs.it("corpus", "agrees with the samples, and with a walk over the switches", function()
    local recordings = 0
    for _, one in ipairs(corpus.recordings()) do
      if one.name:find("^recorded/[^/]+/sched%.data$")
        or one.name:find("^recorded/[^/]+/switch%.data$") then
        local file <close> = assert(perflua.open(one.path))
        local now, since, n = {}, {}, 0
        for r in file:records() do
          local cpu, time, tid = r.cpu, r.time, r.tid
          if cpu and time and r.type == "switch_cpu_wide" then
            now[cpu], since[cpu] = r.out and r.next_prev_tid or not r.out and tid, time
          elseif cpu and time and r.type == "sample"
            and r.event.name == "sched:sched_switch" then
            now[cpu], since[cpu] = r.args.next_pid, time
          elseif cpu and r.type == "sample" and now[cpu] and tid >= 0 and time > since[cpu] then
            n = n + 1
            local thread = file:running(cpu, time)
            assert.equal(tid, thread and thread.tid, ("%s: cpu %d at %d")
              :format(one.name, cpu, time))
            assert.equal(now[cpu], tid)
          end
        end
        assert.is_true(n > 20, one.name .. ": " .. n .. " samples")
        recordings = recordings + 1
      end
    end
    assert.is_true(recordings >= 10, recordings .. " recordings")
  end)
end)
