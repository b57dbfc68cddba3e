-- perflua timeline: how much of each slice of time threads ran.
local builder = require "spec.support.builder"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"
local switch_text = require "spec.support.switch_text"
local switches = require "spec.support.switches"
local tracing = require "spec.support.builder_tracing"

local MS = 1000000

local function timeline(...)
  local got = run.perflua { "timeline", ... }
  return (got.out:gsub("\r", "")), got.err, got.status
end

describe("perflua timeline", function()
  it("is a line for each thread that ran in a slice, with its share of it", function()
    local out, err = timeline(switches.recording({
      { 5 * MS, 0, "switch", 0, 0, 7 }, { 12 * MS, 1, "switch", 0, 0, 8 },
      { 13 * MS, 1, "switch", 8, 1, 0 }, { 36 * MS, 0, "switch", 7, 1, 8 },
      { 40 * MS, 0, "switch", 8, 0, 7 }, { 43 * MS, 1, "switch", 0, 0, 8 },
      { 44 * MS, 0, "switch", 7, 0, 0 },
    }, { [7] = "a, b", [8] = "c" }))
    assert.are.equal("# 4 runs, and 1 not over when the recording ended\n", err)
    assert.are.equal([[
time,comm,tid,share
0.000000,"a, b",7,50.000
0.010000,"a, b",7,100.000
0.010000,c,8,10.000
0.020000,"a, b",7,100.000
0.030000,"a, b",7,60.000
0.030000,c,8,40.000
0.040000,"a, b",7,40.000
0.040000,c,8,10.000
]], out)
  end)

  it("counts runs whose ends are both known, the same in slices of any length", function()
    local path = switches.recording({
      { 5 * MS, 0, "switch", 0, 0, 7 }, { 6 * MS, 1, "switch", 0, 0, 8 },
      { 7 * MS, 0, "switch", 7, 0, 8 }, -- 8 has left processor 1
      { 9 * MS, 0, "switch", 7, 1, 0 }, -- 8 has left, 7 has come
      { 11 * MS, 0, "switch", 0, 0, 7 }, { 14 * MS, 0, "switch", 7, 1, 8 },
      { 15 * MS, 0, "switch", 8, 1, 0 }, { 19 * MS, 1, "switch", 0, 0, 7 },
      { 21 * MS, 0, "switch", 0, 0, 8 }, { 23 * MS, 0, "switch", 8, 0, 0 },
    }, { [7] = "a", [8] = "b" })
    for _, slice in ipairs { "1ms", "3ms", "10ms", "1s" } do
      local out, err, status = timeline("--slice", slice, path)
      local ran = {}
      for tid, share in out:gmatch ",(%d+),([%d.]+)\n" do
        ran[tid] = (ran[tid] or 0) + share / 100 * tonumber(slice:match "%d+")
          * (slice:find "ms" and 1 or 1000)
      end
      assert.equal("9.000 3.000", ("%.3f %.3f"):format(ran["7"], ran["8"]), slice)
      assert.equal(0, status)
      assert.equal("# 4 runs, and 1 not over when the recording ended; not counted: 1 end "
        .. "without a start, 2 starts without an end\n", err)
    end
  end)

  it("leaves out a run that goes on over switches of others on its processor", function()
    local out, err = timeline(switches.recording {
      { 5 * MS, 0, "switch", 0, 0, 7 }, { 6 * MS, 0, "switch", 8, 1, 9 }, -- 7 has left
      { 7 * MS, 0, "switch", 9, 1, 0 }, { 9 * MS, 0, "switch", 7, 1, 0 },
    })
    assert.equal("time,comm,tid,share\n0.000000,,9,10.000\n", out)
    assert.equal("# 1 run; not counted: 2 ends without a start, 1 start without an end\n", err)
  end)

  it("says that runs have no end, and nothing of what began before the recording", function()
    local _, err = timeline(switches.recording {
      { 5 * MS, 0, "switch", 7, 0, 8 }, { 7 * MS, 0, "switch", 0, 0, 8 },
      { 9 * MS, 0, "switch", 8, 0, 0 },
    })
    assert.equal("# 1 run; not counted: 1 end without a start, 1 start without an end\n", err)
  end)

  it("has rows of the threads whose switches were recorded", function()
    local out, err, status = timeline("--json", switches.recording({
      { 1 * MS, 0, "switch", 7, 1, 30 }, { 4 * MS, 0, "switch", 7, 1, 31 },
      { 5 * MS, 1, "switch", 7, 0, 8 }, { 8 * MS, 1, "switch", 8, 1, 30 },
      { 9 * MS, 0, "switch", 8, 1, 31 }, { 99 * MS, 1, "switch", 7, 1, 30 },
    }, { [7] = "parent", [8] = "child" }))
    assert.same({ { time = 0.0, comm = "child", tid = 8, share = 30.0 } }, profiles.json(out))
    assert.equal(0, status)
    assert.matches("# 2 threads were not seen to leave a processor: they are not shown\n$", err)
    assert.matches("^# 1 run, and %d+ not over when the recording ended; not counted: 5 ends "
      .. "without a start, 3 starts without an end\n", err)
  end)

  it("begins slices at multiples of their length, as bucket(time) does", function()
    local path = switches.recording {
      { 1234567 * MS, 0, "switch", 0, 0, 7 }, { 1234599 * MS, 0, "switch", 7, 0, 0 },
    }
    local buckets = {}
    local query = 'print(file:samples():group_by("bucket(time, 7000000)"))'
    for time in run.perflua({ "-e", query, path }).out:gmatch "\n *(%d+)" do
      buckets[#buckets + 1] = ("%.6f"):format(time / 1e9)
    end
    table.sort(buckets)
    local out = timeline("--slice", "7ms", path)
    assert.same(buckets, { out:match "\n(%d+%.%d+),", out:match "\n(%d+%.%d+),[^\n]*\n$" })
  end)

  it("adds up processes, names or processors, as CSV or JSON", function()
    local path = switches.recording({
      { 5 * MS, 0, "switch", 0, 0, 7 }, { 6 * MS, 1, "switch", 0, 0, 8 },
      { 8 * MS, 0, "switch", 7, 1, 9 }, { 9 * MS, 1, "switch", 8, 1, 0 },
      { 10 * MS, 0, "switch", 9, 0, 0 },
    }, { [7] = "a\"", [8] = "a\"", [9] = "b" })
    assert.equal('time,comm,share\n0.000000,"a""",60.000\n0.000000,b,20.000\n',
      (timeline("--by", "comm", path)))
    assert.equal('time,comm,pid,share\n0.000000,"a""",7,30.000\n0.000000,"a""",8,30.000\n'
      .. "0.000000,b,9,20.000\n", (timeline("--by=pid", "--csv", path)))
    assert.equal("time,cpu,share\n0.000000,0,50.000\n0.000000,1,30.000\n",
      (timeline("--by", "cpu", path)))
    local rows = profiles.json((timeline("--json", path)))
    assert.same({ { time = 0.0, comm = 'a"', tid = 7, share = 30.0 },
      { time = 0.0, comm = 'a"', tid = 8, share = 30.0 },
      { time = 0.0, comm = "b", tid = 9, share = 20.0 } }, rows)
    for _, words in ipairs { { "--by", "tids" }, { "--json", "--csv" },
        { "--by", "cpu", "--tid", "7" } } do
      words[#words + 1] = path
      assert.equal(2, select(3, timeline(table.unpack(words))))
    end
  end)

  it("takes slices of other lengths, but not of too many", function()
    local path = switches.recording {
      { 1000, 0, "switch", 0, 0, 7 }, { 3000, 0, "switch", 7, 0, 0 },
      { 1 << 61, 0, "switch", 0, 0, 7 },
      { (1 << 61) + 500, 0, "switch", 7, 0, 8 }, { 1 << 62, 0, "switch", 8, 0, 0 },
    }
    local out, err, status = timeline("--slice", "1us", path)
    assert.same({ "", 1 }, { out, status })
    assert.matches("slices of 1000 ns cut the spans into %d+ rows or more; at most %d+ are "
      .. "possible: choose longer slices, or a window", err)
    assert.equal("time,comm,tid,share\n0.000000,,7,0.020\n",
      (timeline("--slice", "10ms", "--time", "0,1", path)))
    for _, wrong in ipairs { "0s", "10", "x" } do
      assert.are.equal(2, select(3, timeline("--slice", wrong, path)))
    end
  end)

  it("begins anew after lost records", function()
    local out, err = timeline(switches.recording {
      { 1 * MS, 0, "switch", 0, 0, 7 }, { 3 * MS, 0, "lost" }, { 5 * MS, 0, "switch", 7, 0, 8 },
      { 6 * MS, 0, "switch", 8, 0, 0 },
    })
    assert.are.equal("time,comm,tid,share\n0.000000,,8,10.000\n", out)
    assert.equal("# 1 run; not counted: 1 end without a start, 1 during which records were "
      .. "lost\n", err)
  end)

  it("is made of samples of a clock where there are no switches", function()
    local b = builder.new()
    local clock = b:event { name = "cpu-clock", type = 1, config = 0, sample_period = MS }
    for i = 0, 11 do
      b:sample(clock, { time = (5 + i) * MS, pid = 7, tid = i % 3 == 0 and 0 or 7, ip = 1,
        period = MS })
    end
    local out = timeline(b:write())
    assert.are.equal("time,comm,tid,share\n0.000000,,7,30.000\n0.010000,,7,50.000\n", out)
  end)

  it("writes nothing where switches have other fields", function()
    local t = tracing.new()
    local switch = t:event("sched", "sched_switch", { fields = { { "int", "other" } } })
    local b, attrs = t:recording()
    b:sample(attrs[1], { time = MS, pid = 7, tid = 7, raw = t:raw(switch, { other = 1 }) })
    local path = b:write()
    for _, how in ipairs { "--json", "--csv" } do
      local out, err, status = timeline(how, path)
      assert.are.same({ "", 1 }, { out, status })
      assert.matches("unknown field 'args.next_pid'", err)
    end
  end)

  it("adds up to what sched says of the same times, to the nanosecond", function()
    local rows, at, on = {}, 0, { [0] = 0, [1] = 0 }
    math.randomseed(36)
    for _ = 1, 400 do -- threads that come, leave, and sometimes do so unseen
      local cpu, tid = math.random(0, 1), math.random(7, 12)
      at = at + math.random(1, 3000)
      if math.random(10) > 1 and on[1 - cpu] ~= tid then
        rows[#rows + 1] = { at, cpu, "switch", on[cpu], math.random(0, 1), tid }
      end
      if on[1 - cpu] ~= tid then on[cpu] = tid end
    end
    local path = switches.recording(rows)
    local ours, n = {}, 0
    for time, tid, share in timeline("--slice", "100us", path):gmatch
        "(%d+%.%d+),[^,]*,(%d+),([%d.]+)\n" do
      ours[time .. " " .. tid], n = tonumber(share) * 1000, n + 1
    end
    for from = 0, at, 100000 do
      local range = ("%.9f,%.9f"):format(from / 1e9, (from + 100000) / 1e9)
      local got = run.perflua { "sched", "--json", "--time", range, path }
      for _, row in ipairs(profiles.json(got.out).rows) do
        local key = ("%.6f %d"):format(from / 1e9, row.tid)
        local ns = math.tointeger(math.floor(row.run_ms * 1e6 + 0.5))
        assert.equal(ns, math.floor((ours[key] or 0) + 0.5), key)
        if ns > 0 then n = n - 1 end
      end
    end
    assert.equal(0, n)
  end)

  local summed =
    "adds up to the run times of perf sched timehist, of threads all of whose runs are there"

  needs.it("tracepoints,cpus", summed, function()
    local work = switch_text.never_idle "perf bench sched messaging -g 1 -l 40"
    local path = oracle.record_whole(1024, "-a -e sched:sched_switch", work)
    local ours, lines, n, theirs = {}, {}, 0, switch_text.timehist(path)
    for tid, share in timeline("--slice=3ms", path):gmatch ",(%d+),([%d.]+)\n" do
      tid = tonumber(tid)
      ours[tid], lines[tid] = (ours[tid] or 0) + share / 100 * 3, (lines[tid] or 0) + 1
    end
    for tid, runs in pairs(switch_text.whole(switch_text.of_perf(path))) do
      n = n + 1
      -- perf cuts each run to microseconds; a share is rounded to 0.001 % of a slice
      local more, rounded = ours[tid] - theirs[tid].run, 0.5e-5 * 3 * lines[tid] + 1e-6
      assert.is_true(more > -rounded and more < 0.001 * runs + rounded,
        ("%d: %g, %g in %d runs, %d slices"):format(tid, ours[tid], theirs[tid].run, runs,
          lines[tid]))
    end
    assert.is_true(n > 20, n .. " threads")
  end)
end)
