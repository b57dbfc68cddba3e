-- perflua sched: what perf sched latency and perf sched timehist say of a recording.
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local switch_text = require "spec.support.switch_text"
local switches = require "spec.support.switches"

local function json(path)
  local got = run.perflua { "sched", "--json", path }
  assert.are.equal("", got.err)
  return dkjson.decode(got.out)
end

-- By tid.
local function rows_of(path)
  local rows, n = {}, 0
  for _, row in ipairs(json(path).rows) do rows[row.tid], n = row, n + 1 end
  return rows, n
end

local RUNNABLE, SLEEPS, DEAD, PREEMPTED = 0, 1, 16, 256

local names = { [7] = "a\27b", [8] = "b" }

describe("perflua sched", function()
  it("has no longest delay where threads ran at once", function()
    local got = rows_of(switches.recording({
      { 1000, 0, "switch", 0, 0, 7 }, { 2000, 0, "switch", 7, 0, 8 },
      { 2000, 1, "switch", 0, 0, 7 }, { 3000, 1, "switch", 7, 1, 0 },
    }))
    assert.are.same({ 1, 0, 0 }, { got[7].delays, got[7].delay_ms, got[7].max_us })
    assert.is_nil(got[7].max_at)
  end)

  it("tells how long threads ran, were off the processor, and could not run though they "
    .. "could", function()
    local path = switches.recording({
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 2000, 0, "waking", 8 },
      { 4000, 0, "switch", 7, RUNNABLE, 8 },
      { 9000, 0, "switch", 8, SLEEPS, 7 }, { 9500, 0, "switch", 7, SLEEPS, 0 },
      { 10000, 1, "waking", 7 },
      { 10700, 1, "switch", 0, RUNNABLE, 7 }, { 12000, 1, "switch", 7, PREEMPTED, 0 },
      { 15000, 0, "switch", 0, 0, 7 },
    }, names)
    assert.are.equal([[
# 8 runs and waits, and 2 not over when the recording ended; not counted: 1 end without a start
comm    tid  runs  run_ms  wait_ms  delays  delay_ms  preempted_ms  avg_us  max_us  max_at
a\x1bb    7     4  0.0048   0.0092       3    0.0087         0.008    2.90    5.00  0.000004
b         8     1   0.005     0.00       1     0.002          0.00    2.00    2.00  0.000002
]], (run.perflua({ "sched", path }).out:gsub("0.000004%d*", "0.000004"):gsub("0.000002%d*", "0.000002")))
    local a = rows_of(path)[7]
    assert.are.same({ 4, 4800, 9200, 8700, 8000 },
      { a.runs, a.run_ms * 1e6, a.wait_ms * 1e6, a.delay_ms * 1e6, a.preempted_ms * 1e6 })
  end)

  it("tells a thread that was woken just when it left from one that could go on", function()
    local got = rows_of(switches.recording({
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 2000, 0, "switch", 7, SLEEPS, 0 },
      { 2000, 1, "waking", 7 }, { 2500, 1, "switch", 0, RUNNABLE, 7 },
    }))
    assert.are.same({ 500, 0 }, { got[7].delay_ms * 1e6, got[7].preempted_ms * 1e6 })
  end)

  it("ignores wake-ups of what can run, and begins anew with a thread that has the number of "
    .. "a dead one", function()
    local got = rows_of(switches.recording({
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 1500, 1, "waking", 7 },
      { 2000, 0, "switch", 7, DEAD, 0 },
      { 9000, 1, "waking", 7 }, { 9100, 1, "waking", 7 }, { 9300, 0, "switch", 0, RUNNABLE, 7 },
    }))
    assert.are.same({ 2, 0, 1, 300 },
      { got[7].runs, got[7].wait_ms, got[7].delays, got[7].max_us * 1e3 })
  end)

  it("has no delays where wake-ups were not recorded", function()
    local got = rows_of(switches.recording({
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 2000, 0, "switch", 7, SLEEPS, 8 },
      { 5000, 0, "switch", 8, RUNNABLE, 7 }, { 9000, 0, "switch", 7, RUNNABLE, 8 },
    }, nil, nil, { "sched_switch" }))
    assert.are.same({ 2, 5000, 3000, 0 },
      { got[7].runs, got[7].run_ms * 1e6, got[7].wait_ms * 1e6, got[7].delays })
    assert.are.same({ 2, 3000, 4000, 1, 4000 }, { got[8].runs, got[8].run_ms * 1e6,
      got[8].wait_ms * 1e6, got[8].delays, got[8].delay_ms * 1e6 })
  end)

  it("leaves out a run that goes on over switches of others on its processor", function()
    local got = json(switches.recording {
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 2000, 0, "switch", 8, SLEEPS, 9 }, -- 7 has left
      { 3000, 0, "switch", 9, SLEEPS, 0 }, { 9000, 0, "switch", 7, SLEEPS, 6 },
      { 9500, 0, "switch", 0, RUNNABLE, 5 }, -- 6 does not run until the end
      { 9900, 0, "switch", 5, SLEEPS, 0 },
    })
    local of = {}
    for _, row in ipairs(got.rows) do of[row.tid] = row.run_ms * 1e6 end
    assert.same({ [9] = 1000, [5] = 400 }, of)
  end)

  it("counts what does not fit together, and takes nothing of it for a time", function()
    local got = json(switches.recording {
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 2000, 0, "switch", 8, SLEEPS, 9 }, -- 7 has left
      { 3000, 0, "switch", 9, SLEEPS, 8 }, -- nobody woke 8
      { 4000, 0, "lost" }, { 5000, 0, "switch", 8, SLEEPS, 9 },
    })
    assert.are.same({ 0, 1, 2 }, { got.unseen, got.unwoken, got.lost })
    local of = {}
    for _, row in ipairs(got.rows) do
      of[row.tid] = { row.runs, row.run_ms * 1e6, row.wait_ms * 1e6, row.delays }
    end
    -- 9 came back at the end, and ran for no time
    assert.are.same({ [9] = { 2, 1000, 0, 0 } }, of)
  end)

  it("names threads whose start was not recorded by the last switch to them", function()
    local rows = rows_of(switches.recording({
      { 1000, 0, "switch", 0, 0, 7, "other" }, { 2000, 0, "switch", 7, SLEEPS, 8, "early" },
      { 3000, 0, "switch", 8, SLEEPS, 9 }, { 4000, 0, "switch", 9, SLEEPS, 8, "late" },
    }, { [7] = "known" }))
    assert.are.same({ "known", "late" }, { rows[7].comm, rows[8].comm })
    assert.is_nil(rows[9].comm)
  end)

  it("reads a recording twice, also for the names of threads that no record has", function()
    local list = { { 1000, 0, "switch", 0, 0, 7, "seven" }, { 2000, 0, "switch", 7, SLEEPS, 8 },
      { 3000, 0, "switch", 8, SLEEPS, 7, "seven" } }
    for _, threads in ipairs { {}, { [2] = "kthreadd", [7] = "seven", [8] = "eight" } } do
      local got = run.perflua { "sched", "--timing=json", switches.recording(list, threads) }
      local passes = {}
      for i, pass in ipairs(dkjson.decode(got.err).files[1].passes) do passes[i] = pass.what end
      table.sort(passes)
      assert.same({ "groups", "index of times", "recorded system" }, passes)
      assert.matches("seven%s+7 ", got.out)
    end
  end)

  it("says when not each switch was recorded", function()
    local list = { { 1000, 0, "switch", 0, 0, 7 }, { 2000, 0, "switch", 7, SLEEPS, 8 } }
    local function said(change, period)
      local path = switches.recording(list, nil, function(b)
        for name, value in pairs(change) do b.events[1][name] = value end
        local add = b.sample
        function b:sample(event, values)
          values.period = period
          return add(self, event, values)
        end
      end)
      return run.perflua({ "sched", path }).err:match "sched_switch.*" or ""
    end
    local frequency = { freq = true, sample_freq = 999, sample_period = false }
    assert.same({ "", "" }, { said({}, 1), said(frequency, 1) })
    local text = "sched_switch' was sampled: one sample stands for up to %d events, the others "
      .. "are missing; record each event with perf record -c 1\n"
    assert.same({ text:format(3), text:format(5) },
      { said({ sample_period = 3 }, 3), said(frequency, 5) })
  end)

  it("says what it needs", function()
    local got = run.perflua { "sched", run.demo }
    assert.are.equal(1, got.status)
    assert.matches(
      "no event 'sched:sched_switch'; record it with: perf sched record -- COMMAND", got.err, 1,
      true)
  end)
end)

needs.describe("tracepoints,cpus", "its numbers are those of perf sched", function()
  -- those that only sleep are hardly ever preempted, however busy the machine is
  local work = switch_text.never_idle [[
    for i in $(seq 120); do sleep 0.02 & sleepers="$sleepers $!"; done
    perf bench sched messaging -g 5 -l 20
    wait $sleepers]]

  local function recorded(events)
    return oracle.record_whole(1024, "-a -e " .. events, work)
  end

  -- This version of perf looks at sched_wakeup only, which perf sched record leaves out where
  -- there is sched_waking; and takes the first sched_stat_runtime of a thread for its being
  -- switched out.
  it("latency: how many delays, the average, the longest and when it began", function()
    local path = recorded "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new"
    local ours, preempted, n = rows_of(path), switches.preempted(path), 0
    for line in files.lines("perf sched latency -p -i " .. files.quote(path)
        .. " 2>/dev/null") do
      local tid, count, average, longest, at =
        line:gsub("[%a ]+: ", " ")
          :match ":?(%d+) +| +[%d.]+ [mn]s | +(%d+) | +([%d.]+) ms | +([%d.]+) ms | +([%d.]+) s"
      local own = ours[tonumber(tid)]
      if own and not preempted[own.tid] then -- whose state it does not know
        n = n + 1
        -- a thread that it sees first when it is switched in has a delay of 0 there
        local more = tonumber(count) - own.delays
        assert.is_true(more == 0 or more == 1, line)
        local mean = own.delay_ms / math.max(1, tonumber(count))
        assert.is_true(math.abs(mean - tonumber(average)) <= 0.00051, line)
        assert.is_true(math.abs((own.max_us or 0) / 1e3 - tonumber(longest)) <= 0.00051, line)
        if tonumber(longest) > 0.01 then
          assert.is_true(math.abs(own.max_at - tonumber(at)) < 2e-6, line)
        end
      end
    end
    assert.is_true(n > 60, n .. " threads")
  end)

  -- Its delays are those after wake-ups; from perf 6.12 on those of preempted threads, too.
  it("timehist: the times of all runs, waits and delays, of threads all of whose runs are "
    .. "there", function()
    local path = recorded "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new"
    local ours, n, theirs = rows_of(path), 0, switch_text.timehist(path)
    local list = switch_text.of_perf(path)
    local off, woken_ready = switch_text.off(list), switch_text.woken_while_ready(list)
    for tid, runs in pairs(switch_text.whole(list)) do
      local own, sum = ours[tid], theirs[tid]
      n = n + 1
      assert.are.same({ runs, runs }, { own.runs, sum.n }, tid)
      local unseen = off[tid] and off[tid].times[(sum.forgotten or 0) - 1] or 0
      local delay = own.delay_ms
      if not oracle.does.preempted_delays then
        delay = delay - own.preempted_ms + (woken_ready[tid] or 0) / 1e6
      end
      for name, value in pairs { run = own.run_ms, wait = own.wait_ms - unseen / 1e6,
          delay = delay } do
        local more = value - sum[name] -- it cuts digits off
        -- the delay before the first run of what perf takes for a new thread is not known to it
        local most = name == "delay" and sum.forgotten and math.huge or 0.001 * runs
        assert.is_true(more > -1e-6 and more < most,
          ("%d, %s: %g, %g in %d runs"):format(tid, name, value, sum[name], runs))
      end
    end
    assert.is_true(n > 20, n .. " threads")
  end)
end)
