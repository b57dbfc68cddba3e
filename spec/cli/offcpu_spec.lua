-- Times off the processors are those that perf's text of the switches gives, and perf sched
-- timehist.
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local switches = require "spec.support.switch_text"
local tool_rows = require "spec.support.tool_rows"

local NEEDS = "tracepoints,cpus"
local path = not needs.missing(NEEDS) and oracle.record_whole(1024,
  "-a -g -e sched:sched_switch", switches.workload)

local function offcpu(...)
  local got = run.perflua { "offcpu", ... }
  assert.are.equal(0, got.status, got.err)
  return got
end

needs.describe(NEEDS, "perflua offcpu, of a recording made now", function()
  local list = path and switches.of_perf(path)

  it("has the times of each thread, blocked and preempted, that perf script's text "
    .. "has", function()
    local expected, got, preempted = {}, {}, 0
    for tid, thread in pairs(switches.off(list)) do
      for _, state in ipairs { "blocked", "preempted" } do
        local count, total = table.unpack(thread[state])
        if count > 0 then expected[tid .. state] = ("%d %.0f"):format(count, total) end
      end
      preempted = preempted + thread.preempted[1]
    end
    for row in tool_rows(offcpu("--csv", path).out) do
      got[row.tid .. row.state] = ("%d %.0f"):format(row.count, row.total_ms * 1e6)
    end
    assert.is_true(preempted > 20)
    assert.are.same(expected, got)
  end)

  -- timehist tells of a time when the thread next leaves, and gives the last time of a thread
  -- that ended to thread -1.
  it("has the wait times of perf sched timehist, for threads that neither ended nor ran on at "
    .. "the end", function()
    local theirs, off, compared = switches.timehist(path), switches.off(list), 0
    local ours = {}
    for row in tool_rows(offcpu("--csv", path).out) do
      ours[row.tid] = (ours[row.tid] or 0) + row.total_ms
    end
    for tid, thread in pairs(theirs) do
      local known = off[tid]
      if known and known.again == 0 and not known.ended and not thread.forgotten then
        compared = compared + 1
        local mine = (ours[tid] or 0) - known.last / 1e6
        local said = ("%d: %s, perf: %s"):format(tid, mine, thread.wait)
        assert.is_true(math.abs(thread.wait - mine) <= 0.001 * thread.n, said)
      end
    end
    assert.is_true(compared >= 5, compared .. " threads")
  end)

  it("says what is not counted", function()
    local again = 0
    for _, thread in pairs(switches.off(list)) do again = again + thread.again end
    local out = offcpu("--json", path).out
    assert.matches(('"restarted":%d,'):format(again), out, 1, true)
    assert.matches('"lost":0,', out, 1, true)
  end)

  -- perf has no call chain where one has an impossible address. Only the kernel's functions are
  -- known, as perf confuses libraries here with those of processes of other containers.
  it("folds the call chains that perf script has, of the programs that were run for "
    .. "it", function()
    local expected = switches.stacks(path,
      "--symfs=spec/fixtures/empty --kallsyms=/proc/kallsyms")
    local got, programs = {}, {}
    local folded = offcpu("--folded", "--symfs", "spec/fixtures/empty", "--kallsyms",
      "/proc/kallsyms", path)
    for stack, total in folded.out:gmatch "([^\n]+) (%d+)\n" do
      got[stack] = math.tointeger(tonumber(total))
    end
    for _, stacks in ipairs { expected, got } do
      for stack in pairs(stacks) do
        local program = stack:match "^sched%-pipe;" and "pipe"
          or stack:match "^sleep;.*nanosleep" and "sleep"
        if program then programs[program] = true else stacks[stack] = nil end
      end
    end
    -- others depend on when they were preempted
    assert.are.same({ pipe = true, sleep = true }, programs)
    assert.are.same(expected, got)
  end)

  it("draws them", function()
    local got = offcpu("--svg", "-o", "-", "--state", "preempted", path)
    assert.matches("Off-CPU time", got.out, 1, true)
    assert.matches('"[preempted\\u005d"', got.out, 1, true)
    assert.matches(">preempted</text>", got.out, 1, true)
    local n = got.out:match '"counted":"time".-"frames":%[%s*1,%d+,%d+,0,(%d+),'
    assert.equal(n, got.out:match "<desc>time off the processors, preempted  ·  (%d+) times?")
    assert.matches("<desc>time off the processors, preempted  ·  %d+ times  ·  ", got.out)
    assert.matches(" times? [^·]*not counted: [^·]*  ·  " .. path:gsub("%p", "%%%0"), got.out)
    assert.matches("<title>Mine</title>", offcpu("--svg", "--title", "Mine", path).out, 1, true)
  end)

  it("prints its query as a script, which gives the same rows", function()
    local shown, sums, got = nil, { 0, 0 }, { 0, 0 }
    assert(load(offcpu("--explain", "--state", "preempted", path).out, "=script", "t",
      setmetatable({ arg = { path }, print = function(made) shown = made end },
        { __index = _G })))()
    for row in shown:rows() do sums = { sums[1] + row.count, sums[2] + row.total } end
    for row in tool_rows(offcpu("--csv", "--state", "preempted", path).out) do
      got = { got[1] + row.count, got[2] + math.floor(row.total_ms * 1e6 + 0.5) }
    end
    assert.are.same(sums, got)
    assert.is_true(sums[1] > 20)
  end)

  it("prints the query of stacks as a script, whose rows add up to them", function()
    local explained, sums, got = offcpu("--explain", "--folded", "--by=tid", path).out, 0, 0
    assert(load(explained, "=script", "t", setmetatable({ arg = { path },
      print = function(made) for row in made:rows() do sums = sums + row.total end end },
        { __index = _G })))()
    for total in offcpu("--folded", "--by=tid", path).out:gmatch " (%d+)\n" do
      got = got + math.tointeger(tonumber(total))
    end
    assert.are.equal(sums, got)
    assert.is_true(sums > 0)
  end)

  it("reads a pipe", function()
    for _, words in ipairs { "--csv", "--folded" } do
      local piped = run.shell_with('"$perflua" offcpu ' .. words .. ' - <"$1"', path)
      assert.are.equal(offcpu(words, path).out, piped.out)
    end
  end)
end)
