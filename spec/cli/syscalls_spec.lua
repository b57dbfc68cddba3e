-- perflua syscalls: what perf trace -s says of a recording, and of what it does not.
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"
local tracing = require "spec.support.builder_tracing"

-- A recording of { time, tid, number of the call, its result (nil: its start) }, or { time }
-- where records were lost.
local function recording(list)
  local t = tracing.new()
  local enter = t:event("raw_syscalls", "sys_enter", {
    fields = { { "long", "id" }, { "unsigned long", "args", count = 6 } },
  })
  local exit = t:event("raw_syscalls", "sys_exit",
    { fields = { { "long", "id" }, { "long", "ret" } } })
  local b, events = t:recording()
  b:feature("arch", "x86_64")
  b:record("comm", { pid = 7, tid = 7, comm = "a\27b" }, { time = 1 })
  for _, one in ipairs(list) do
    local time, tid, id, ret = table.unpack(one)
    if not tid then
      b:record("lost", { id = 101, lost = 3 }, { time = time, id = 101 })
    else
      local event = ret and exit or enter
      local raw = t:raw(event, { id = id, ret = ret })
      b:sample(events[ret and 2 or 1], { time = time, pid = tid, tid = tid, raw = raw })
    end
  end
  return b:write()
end

local function json(path, ...)
  local got = run.perflua { "syscalls", "--json", path, ... }
  assert.is_true(got.err == "" or got.err:find "no rows to show\n$" ~= nil, got.err)
  return dkjson.decode(got.out)
end

-- "thread syscall" → row.
local function rows_of(path)
  local rows = {}
  for _, row in ipairs(json(path, "--by", "thread,syscall").rows) do
    rows[row.tid .. " " .. row.syscall] = row
  end
  return rows
end

local plain = {
  { 1000, 7, 0 }, { 1100, 8, 0 }, { 3000, 7, 0, 5 }, { 4000, 7, 1 }, { 4500, 8, 0, -4 },
  { 5000, 7, 1, 9 },
  { 6000, 7, 0 }, { 6500, 7, 0, -2 },
}

describe("perflua syscalls", function()
  it("is a row for each call: how many, how many failed, their times", function()
    local got = run.perflua { "syscalls", recording(plain) }
    assert.are.equal([[
syscall  calls  errors  total_ms  min_us  avg_us  max_us  p50_us  p95_us  p99_us
read         3       2    0.0059    0.50    1.97    3.40    2.01    3.40    3.40
write        1       0     0.001    1.00    1.00    1.00    1.00    1.00    1.00
]], got.out)
  end)

  it("is a row for each thread, or each call of each thread", function()
    local got = run.perflua { "syscalls", "--by", "thread", "--errno", recording(plain) }
    assert.matches(
      "\na\\x1bb    7      3       1 .- ENOENT:1\n%-         8      1       1 .- EINTR:1\n",
      got.out)
    got = run.perflua {
      "syscalls", "--by", "syscall,thread", "--csv", "--count", "2", "--sort", "calls",
      recording(plain),
    }
    assert.are.equal("comm,tid,syscall,calls,errors,total_ms,min_us,avg_us,max_us,p50_us,"
      .. "p95_us,p99_us\na\27b,7,read,2,1,0.0025,0.5,1.25,2,0.502,2,2\n"
      .. "a\27b,7,write,1,0,0.001,1,1,1,1,1,1\n", got.out)
  end)

  it("is a row for each combination of names, processes, groups, calls and errors", function()
    local function rows_by(by, ...)
      local list = {}
      for i, row in ipairs(json(recording(plain), "--by", by, "--sort", "calls").rows) do
        list[i] = { row.calls, row.errors }
        for n, name in ipairs { ... } do list[i][2 + n] = row[name] end
      end
      return list
    end
    assert.are.same({ { 3, 1, "a\27b" }, { 1, 1, ":8" } }, rows_by("comm", "comm"))
    assert.are.same({ { 3, 1, 7, "a\27b" }, { 1, 1, 8 } },
      rows_by("process", "pid", "comm"))
    assert.are.same({ { 2, 0, "" }, { 1, 1, "EINTR" }, { 1, 1, "ENOENT" } },
      rows_by("errno", "errno"))
    assert.are.same({ { 1, 0, "read", "" }, { 1, 1, "read", "EINTR" },
      { 1, 1, "read", "ENOENT" }, { 1, 0, "write", "" } },
      rows_by("errno,syscall", "syscall", "errno"))
    assert.are.same({ { 2, 1, 7, 7, "read" }, { 1, 0, 7, 7, "write" }, { 1, 1, 8, 8, "read" } },
      rows_by("syscall,thread,process", "pid", "tid", "syscall"))
    local got = run.perflua { "syscalls", "--by", "cgroup", recording(plain) }
    assert.matches("this recording has no field 'cgroup_path'; record it with: "
      .. "perf record --all-cgroups -e 'raw_syscalls:*' -- COMMAND\n", got.err, 1, true)
  end)

  it("tells how many calls took how long", function()
    local read = json(recording(plain), "--hist").rows[1]
    assert.are.same({ [256] = 1, [1024] = 1, [2048] = 1 },
      { [256] = read.hist[1].count, [1024] = read.hist[3].count,
      [2048] = read.hist[4].count })
    assert.are.equal(256, read.hist[1].from)
  end)

  it("says which records are not a pair of start and return", function()
    local got = json(recording {
      { 1000, 7, 0, 1 }, { 2000, 7, 0 }, { 3000, 7, 0 }, { 3100, 7, 0, 1 }, { 4000, 7, 231 },
    })
    assert.are.same({ 1, 1, 1, 0, 1 },
      { got.pairs, got.unopened, got.restarted, got.lost, got.unclosed })
    assert.are.equal(1, #got.rows)
    assert.are.same({ 1, 100 }, { got.rows[1].calls, got.rows[1].total_ms * 1e6 })
    got = run.perflua { "syscalls", recording { { 1000, 7, 0, 1 } } }
    assert.matches("^# 0 calls; not counted: 1 end without a start\n", got.out)
    assert.matches("no rows to show", got.err)
  end)

  it("takes a return without a number for that of the call that its thread has open", function()
    local path = recording {
      { 1000, 7, 15 }, { 1100, 8, 0 }, { 1200, 7, -1, -4 }, { 1300, 8, -1, 5 },
      { 1400, 8, -1, -4 },
    }
    local got = json(path, "--by", "thread,syscall", "--errno")
    assert.are.same({ 1, 0, 0, 0 }, { got.unopened, got.restarted, got.lost, got.unclosed })
    local rows = {}
    for _, row in ipairs(got.rows) do
      rows[row.tid .. " " .. row.syscall] = { row.calls, row.errors, row.errno,
        math.floor(row.total_ms * 1e6 + 0.5) }
    end
    -- what it returned is a register that the program had: no error
    assert.are.same({ ["7 rt_sigreturn"] = { 1, 0, "", 200 }, ["8 read"] = { 1, 0, "", 200 } },
      rows)
  end)

  it("does not take a return of another call for that of the open one, but after an "
    .. "exec", function()
    local rows = rows_of(recording { { 1000, 7, 322 }, { 1100, 7, 59, 0 }, { 1200, 7, 203 },
      { 1300, 7, 16, 0 } })
    assert.are.equal(1, rows["7 execveat"].calls)
    assert.are.same({ nil, nil }, { rows["7 execve"], rows["7 sched_setaffinity"] })
    local got = json(recording { { 1200, 7, 203 }, { 1300, 7, 16, 0 }, { 1400, 7, 322 },
      { 1500, 7, 59, -2 } })
    assert.are.same({ 0, 2, 2, 0, 0, 0 }, { got.pairs, got.mismatched, got.unopened,
      got.restarted, got.lost, got.unclosed })
  end)

  it("counts the calls that pair() counts", function()
    local path = files.fixture "calls.perf.data"
    local file <close> = assert(perflua.open(path))
    local spans = file:samples():pair { open = "raw_syscalls:sys_enter",
      close = "raw_syscalls:sys_exit" }
    local theirs = {}
    for row in spans:group_by("open.syscall"):count():sum("duration"):sort():rows() do
      theirs[row["open.syscall"]] = { row.count, row.duration }
    end
    local got = json(path)
    local ours = {}
    for _, row in ipairs(got.rows) do
      ours[row.syscall] = { row.calls, math.floor(row.total_ms * 1e6 + 0.5) }
    end
    assert.are.same(theirs, ours)
    assert.are.equal(7, ours.rt_sigreturn[1])
    assert.are.same({ spans.counts.unopened, spans.counts.restarted, spans.counts.unclosed },
      { got.unopened, got.restarted, got.unclosed })
  end)

  it("does not take for a pair what is on both sides of lost records", function()
    local got = json(recording { { 1000, 7, 0 }, { 1500 }, { 2000, 7, 0, 1 }, { 3000, 7, 0 },
      { 3200, 7, 0, 1 } })
    assert.are.same({ 1, 1, 1, 200 },
      { got.lost, got.unopened, got.rows[1].calls, got.rows[1].total_ms * 1e6 })
  end)

  it("says what it needs, and what is wrong with its options", function()
    local got = run.perflua { "syscalls", run.demo }
    assert.are.equal(1, got.status)
    assert.matches("record it with: perf record -e 'raw_syscalls:*' -- COMMAND", got.err, 1,
      true)
    for words, message in pairs {
      ["--by=cpu"] = "--by: comm, thread, process, cgroup, syscall, errno expected, got 'cpu'",
      ["--sort=calsl"] = "no column 'calsl'; the closest is 'calls'",
      ["--sort=weight"] = "no column 'weight'; there are avg_us, calls, errors, ",
      ["--count=x"] = "a number of rows expected",
    } do
      got = run.perflua { "syscalls", words, recording(plain) }
      assert.are.equal(2, got.status)
      assert.matches(message, got.err, 1, true)
    end
  end)
end)

needs.describe("perf trace", "its numbers and those of perf trace -s", function()
  -- "tid syscall" → { calls, errors, total, min, average, max } in milliseconds.
  local function theirs_of(path)
    local rows, tid = {}, nil
    for line in files.lines("perf trace -s -i " .. files.quote(path) .. " 2>&1") do
      tid = line:match "^ .* %((%d+)%), %d+ events" or tid
      local name, numbers = line:match "^   ([%w_]+) +(%d[%d. ]*)"
      if name then
        local row = {}
        for number in numbers:gmatch "[%d.]+" do row[#row + 1] = tonumber(number) end
        rows[tid .. " " .. name] = row
      end
    end
    return rows
  end

  -- From perf script's text, "tid syscall" → { calls, errors } of returns without a start: perf
  -- counts them, as calls that took no time, or the time since an older start.
  local function without_start(path)
    local open, counts = {}, {}
    for _, line in ipairs(oracle.script(path, "tid,event,trace")) do
      local tid, what, number, ret =
        line:match "^%s*(%d+)%s+raw_syscalls:sys_(%a+):%s+NR (%-?%d+)%s*=?%s*(%-?%d*)"
      if what == "enter" then
        open[tid] = number
      elseif what == "exit" then
        if open[tid] ~= number and number ~= "-1" then
          local key = tid .. " " .. perflua.syscall(math.tointeger(tonumber(number)))
          local count = counts[key] or { 0, 0 }
          counts[key] = { count[1] + 1, count[2] + (ret:find "^%-" and 1 or 0) }
        end
        open[tid] = nil
      end
    end
    return counts
  end

  local function check(path)
    local ours, n, timed, alone = rows_of(path), 0, 0, without_start(path)
    for key, row in pairs(theirs_of(path)) do
      local own = ours[key] or { calls = 0, errors = 0 }
      local more = alone[key] or { 0, 0 }
      n = n + (ours[key] and 1 or 0)
      assert.are.same({ key, row[1], row[2] },
        { key, own.calls + more[1], own.errors + more[2] })
      if not alone[key] then
        timed = timed + 1
        for i, value in ipairs { own.total_ms, own.min_us / 1e3, own.avg_us / 1e3,
            own.max_us / 1e3 } do
          assert.is_true(math.abs(value - row[i + 2]) <= 0.00051,
            ("%s: %g, %g"):format(key, value, row[i + 2]))
        end
      end
    end
    for key in pairs(ours) do
      -- perf does not count calls whose return carries no number
      if not key:find "rt_sigreturn" and not key:find("[unknown]", 1, true) then n = n - 1 end
    end
    assert.are.equal(0, n)
    return timed
  end

  local work = "sh -c 'ls -l /usr/include | sort | wc -c; ls /nonexistent; sleep 0.05'"

  local function recorded(options)
    return oracle.record_whole(1024, options .. " -e 'raw_syscalls:*'", work)
  end

  it("match for a command", function()
    assert.is_true(check(recorded "") > 40)
  end)

  it("match for returns from signal handlers, which perf script prints as often", function()
    local path = oracle.record_whole(1024, "-e 'raw_syscalls:*'",
      "sh -c 'trap : USR1; for i in 1 2 3; do kill -USR1 $$; done'")
    local printed, counted = 0, 0
    for _, line in ipairs(oracle.script(path, "event,trace")) do
      if line:find "sys_exit: NR %-1 " then printed = printed + 1 end
    end
    for _, row in ipairs(json(path).rows) do
      if row.syscall == "rt_sigreturn" or row.syscall == "[unknown]" then
        counted = counted + row.calls
      end
    end
    assert.is_true(printed >= 3)
    assert.are.equal(printed, counted)
  end)

  needs.it("cpus",
    "match for all processors, with calls that were open when it began", function()
    assert.is_true(check(recorded "-a") > 40)
  end)

  it("match in a pipe, and for the events of single calls", function()
    local path = oracle.record("-e raw_syscalls:sys_exit", "true")
    local pipe = run.shell_with [[
perf record -q -o - -e "raw_syscalls:*" -- true 2>/dev/null | "$perflua" syscalls --csv -]]
    assert.are.equal(0, pipe.status)
    assert.matches("\nmunmap,1,0,", pipe.out)
    local single = run.shell_with([[
events=syscalls:sys_enter_openat,syscalls:sys_exit_openat
perf record -q -N --no-bpf-event -o "$1" -e $events -- ls /usr >/dev/null 2>&1
"$perflua" syscalls --json "$1"; perf script -F event -i "$1" | grep -c exit_]], path)
    local rows, calls = {}, 0
    for _, row in ipairs(dkjson.decode(single.out).rows) do
      rows[row.syscall], calls = true, calls + row.calls
    end
    local n = tonumber(single.out:match "(%d+)%s*$")
    assert.are.same({ { openat = true }, n }, { rows, calls })
    assert.is_true(n > 4)
  end)
end)
