-- Compares wakers with perf's text of wakes and switches, and waits for a processor with perf
-- sched timehist.
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local switches = require "spec.support.switch_text"
local tool_rows = require "spec.support.tool_rows"

local EVENTS = "-a -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new"
local NEEDS = "tracepoints,cpus"
local path = not needs.missing(NEEDS) and oracle.record_whole(1024, EVENTS,
  switches.workload)

local function wakers(...)
  local got = run.perflua { "wakers", ... }
  assert.are.equal(0, got.status, got.err)
  return got.out
end

needs.describe(NEEDS, "perflua wakers, of a recording made now", function()
  local list = path and switches.of_perf(path)

  it("has the wakes of each thread by each, and their times, that perf script's text "
    .. "has", function()
    local expected, got, contexts = {}, {}, {}
    for tid, thread in pairs(switches.wakes(list)) do
      for waker, one in pairs(thread.by) do
        if waker >= 0 then
          expected[waker .. " woke " .. tid] = ("%d %d"):format(one.count, one.total)
        end
      end
    end
    local sums = {}
    for row in tool_rows(wakers("--by", "thread", "--csv", path)) do
      local name = row.waker_tid .. " woke " .. row.tid
      local sum = sums[name] or { 0, 0 }
      sums[name], contexts[row.context] = sum, true
      sum[1], sum[2] = sum[1] + row.count, sum[2] + row.total_ms * 1e6
      got[name] = ("%d %.0f"):format(sum[1], sum[2])
    end
    for name in pairs(got) do -- perf's text names no thread that has ended
      if not expected[name] then got[name] = nil end
    end
    assert.is_true(contexts.task and (contexts.hardirq or contexts.softirq))
    assert.are.same(expected, got)
  end)

  it("has the delays of perf sched timehist, for threads of which all switches were "
    .. "recorded", function()
    local theirs, off, ours, compared = switches.timehist(path), switches.off(list), {}, 0
    local _, unseen = switches.wakes(list)
    -- perf 6.12 and later count what preempted threads wait for a processor, too
    local newer, both = oracle.does.preempted_delays, switches.woken_while_ready(list)
    for row in tool_rows(wakers("--by", "thread", "--csv", path)) do
      ours[row.tid] = (ours[row.tid] or 0) + row.total_ms
    end
    for tid, thread in pairs(theirs) do
      local known = off[tid]
      local whole = known and known.again == 0 and not unseen[tid] and not (newer and both[tid])
      local over = known and (known.ended or thread.forgotten)
      -- timehist tells of a time when the thread next leaves
      if whole and not over and known.last == 0 then
        compared = compared + 1
        local delay = (ours[tid] or 0) + (newer and known.preempted[2] / 1e6 or 0)
        assert.is_true(math.abs(thread.delay - delay) <= 0.001 * thread.n,
          ("%d: %s, perf: %s"):format(tid, delay, thread.delay))
      end
    end
    assert.is_true(compared >= 5, compared .. " threads")
  end)

  it("tells the wakers of wakers", function()
    local out = wakers("--comm", "sched-pipe", "--depth", "3", path)
    assert.matches("\nsched%-pipe .* sched%-pipe <%- sched%-pipe <%- sched%-pipe\n", out)
    assert.is_nil(out:find "<%- [^\n]*<%- [^\n]*<%- ")
  end)

  it("says so where there are no call chains", function()
    local got = run.perflua { "wakers", "--chains", path }
    assert.are.equal(1, got.status)
    assert.matches("record it with: perf record -a -g -e sched:sched_switch", got.err, 1, true)
  end)

  it("prints its query as a script, which gives the same rows", function()
    local shown
    assert(load(wakers("--explain", path), "=script", "t", setmetatable({ arg = { path },
      print = function(made) shown = made end }, { __index = _G })))()
    local sums, got = { 0, 0 }, { 0, 0 }
    for row in shown:rows() do sums = { sums[1] + row.count, sums[2] + row.total } end
    for row in tool_rows(wakers("--csv", path)) do
      got = { got[1] + row.count, got[2] + math.floor(row.total_ms * 1e6 + 0.5) }
    end
    assert.are.same(sums, got)
    assert.is_true(sums[1] > 100)
  end)

  it("prints the query of chains as a script, whose rows are their wakes", function()
    local n, sum, got = 0, 0, { 0, 0 }
    assert(load(wakers("--explain", "--depth", "2", path), "=script", "t",
      setmetatable({ arg = { path }, print = function(_, _, _, _, took)
        n, sum = n + 1, sum + took
      end }, { __index = _G })))()
    for row in tool_rows(wakers("--csv", "--depth", "2", path)) do
      got = { got[1] + row.count, got[2] + math.floor(row.total_ms * 1e6 + 0.5) }
    end
    assert.are.same({ n, sum }, got)
    assert.is_true(n > 100)
  end)

  it("is told what is wrong with an option", function()
    local got = run.perflua { "wakers", "--depth", "0", path }
    assert.are.equal(2, got.status)
    assert.are.equal("perflua: wakers: --depth: a number from 1 to 64 expected, got 0\n",
      got.err)
    for _, case in ipairs { { "--folded", "--folded and --svg need --chains" },
      { "--chains", "--depth", "2", "--chains excludes --depth and --by" },
      { "--chains", "--folded", "--svg", "--folded and --svg exclude each other" } } do
      local message = table.remove(case)
      got = run.perflua { "wakers", path, table.unpack(case) }
      assert.are.same({ 2, "perflua: wakers: " .. message .. "\n" }, { got.status, got.err })
    end
  end)
end)

local with_chains = path and oracle.record_whole(1024, EVENTS .. " -g", switches.workload)

needs.describe(NEEDS, "perflua wakers --chains, of a recording made now", function()
  -- The time that threads slept until they were woken, where they ran later, by perf script's
  -- text.
  local function slept(tids)
    local total, left, slept_for = 0, {}, {}
    for _, one in ipairs(switches.of_perf(with_chains)) do
      if one.prev then
        total = total + (tids[one.next] and slept_for[one.next] or 0)
        left[one.next], slept_for[one.next], slept_for[one.prev] = nil, nil, nil
        left[one.prev] = not one.state:find "^R" and one.time or nil
      elseif left[one.wakes] then
        slept_for[one.wakes], left[one.wakes] = one.time - left[one.wakes], nil
      end
    end
    return total
  end

  it("folds the call chains of both ends, and the time between them", function()
    local total = 0
    for stack, ns in wakers("--chains", "--folded", "--comm", "sched-pipe", with_chains)
      :gmatch "([^\n]+) (%d+)\n" do
      total = total + ns
      assert.matches("^sched%-pipe;.*__schedule;%-%-;try_to_wake_up;.*;[^;]+$", stack)
    end
    assert.is_true(total > 0)
    local tids = {}
    for row in tool_rows(wakers("--by", "thread", "--csv", with_chains)) do
      if row.woken == "sched-pipe" then tids[row.tid] = true end
    end
    assert.are.equal(slept(tids), total)
  end)

  it("draws them, or shows them in a table", function()
    local graph = wakers("--chains", "--svg", with_chains)
    assert.matches("<title>Sleepers and wakers</title>", graph, 1, true)
    assert.matches("<desc>time asleep until a wake  ·  %d+ times  ·  ", graph)
    assert.matches(" sched%-pipe;[^\n]*;%-%-;[^\n]*;sched%-pipe\n",
      wakers("--chains", "--comm", "sched-pipe", with_chains))
  end)
end)
