-- Scripts of handlers over whatever a recording comes in.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local small_pipe = require "spec.support.small_pipe"
local two_events = require "spec.support.two_events"

-- Says which handler got what, and when.
local said = [[
local function say(name)
  return function(r) print(name, r.type, r.time, r.source) end
end
return {
  begin = function(file) print("begin", #file.events) end,
  finish = function(file) print("finish", #file.events) end,
  interval = function(time) print("interval", time) end, interval_ms = 250,
  comm = say "comm",
  cycles = { "time", function(time) print("cycles", time) end },
  ["f*"] = say "f*",
  other = say "other",
}]]

local function lines(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

describe("a script of handlers", function()
  local script = run.script(said)
  local wanted = {
    "begin\t2", "comm\tcomm\t999999999\tnil", "cycles\t1000000000", "cycles\t1000000500",
    "f*\tsample\t1000001000\tnil", "cycles\t1000002000", "interval\t1249999999",
    "interval\t1499999999",
    "cycles\t1500000000", "interval\t1749999999", "f*\tsample\t1900000000\tnil",
    "interval\t1999999999",
    "f*\tsample\t2000000000\tnil", "other\texit\t2000000001\tnil", "finish\t2",
  }

  -- The map has no time, and stands where it lay.
  local function without_map(text)
    local list = {}
    for _, line in ipairs(lines(text)) do
      if not line:find "mmap2" then list[#list + 1] = line end
    end
    return list
  end

  it("is called in the order of time over a file", function()
    local got = run.perflua { script, two_events.write() }
    assert.equal("", got.err)
    assert.same(wanted, without_map(got.out))
    assert.matches("\nother\tmmap2\tnil\tnil\n", got.out)
  end)

  it("is called likewise over the file on standard input", function()
    local got = run.shell_with([["$perflua" "$1" - <"$2"]], script, two_events.write())
    assert.same(wanted, without_map(got.out))
    got = run.shell_with([[cat "$2" | "$perflua" "$1" -]], script, two_events.write())
    assert.same(wanted, without_map(got.out))
  end)

  it("is called in the order of time over several files, with the source of each "
    .. "record", function()
    local got = run.perflua { script, two_events.write(), two_events.write() }
    local n = {}
    for _, line in ipairs(lines(got.out)) do
      local name = line:match "^%S+"
      n[name] = (n[name] or 0) + 1
    end
    assert.same({ begin = 1, finish = 1, comm = 2, cycles = 8, ["f*"] = 6, interval = 4,
      other = 4 }, n)
    assert.matches("f%*\tsample\t1000001000\t1\nf%*\tsample\t1000001000\t2\n", got.out)
  end)

  it("is called for events that a stream tells of late", function()
    local b = small_pipe()
    b:feature("event_desc", { { name = "one", ids = { 11, 12 } },
      { name = "two", ids = { 21 } },
      { name = "late:event", ids = { 31 } } })
    local late = b:event { type = 2, config = 7, ids = { 31 },
      sample_type = { "identifier", "ip", "tid", "time" } }
    table.remove(b.events)
    b:record("header_attr", { event = late })
    b:sample(late, { identifier = 31, ip = 0x3000, pid = 5, time = 4 })
    local late_script = run.script [[
      local function fn(name) return { "ip", "time", function(ip, time) print(name, ip, time) end } end
      return { ["late:*"] = fn "late", sample = fn "sample", finish = function() print "finish" end }]]
    local got = run.shell_with([[cat "$2" | "$perflua" "$1" -]], late_script, b:write())
    assert.same({ status = 0, err = "",
      out = "sample\t4096\t2\nsample\t8192\t3\nlate\t12288\t4\nfinish\n" }, got)
  end)
end)

needs.describe("tracepoints", "a script of handlers over a recording made now", function()
  -- Each handler's number of calls, each in the order of time; steps of 10 ms of recording
  -- time.
  local counting = run.script [[
    local n, last, from = {}, 0, nil
    local function count(name)
      return function(s)
        n[name] = (n[name] or 0) + 1
        from = from or s.time
        if s.time then
          if s.time < last then print "not in order" end
          last = s.time
        end
      end
    end
    return {
      ["sched:sched_switch"] = count "sched:sched_switch",
      ["sched:*"] = count "sched:*",
      ["*"] = count "*",
      comm = count "comm",
      other = count "other",
      interval = function(time)
        n.interval = (n.interval or 0) + 1
        if time < last then print "late" end
        last = time
      end,
      interval_ms = 10,
      finish = function()
        for _, name in ipairs { "sched:sched_switch", "sched:*", "*", "comm", "interval" } do print(name, n[name]) end
      end,
    }]]
  local events = "-c 1 -e sched:sched_switch -e sched:sched_process_exit -e page-faults"
  local record = "perf record -q -N -m 64 --no-bpf-event " .. events .. " -o %s -- "
    .. "sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done' 2>/dev/null"
  -- Returns perf's counterpart.
  local function by_perf(path)
    local n = {}
    for event in files.lines("perf script -F event -i " .. path .. " 2>/dev/null") do
      local name = event:match "^%s*([^%s]-):?%s*$"
      n[name] = (n[name] or 0) + 1
    end
    return n
  end

  local function check(got, path)
    local wanted = by_perf(path)
    assert.equal("", got.err)
    local n = {}
    for _, line in ipairs(lines(got.out)) do
      local name, count = line:match "^(.-)\t(%d+)$"
      n[name or line] = math.tointeger(tonumber(count))
    end
    assert.equal(wanted["sched:sched_switch"], n["sched:sched_switch"])
    assert.equal(wanted["sched:sched_process_exit"], n["sched:*"])
    assert.equal(wanted["page-faults"], n["*"])
    assert.is_true(n["sched:*"] == 9 and n["*"] > 100 and n.comm >= 9)
    assert.is_true(n.interval >= 7)
    assert.is_nil(n["not in order"])
    assert.is_nil(n.late)
  end

  it("reads fields of tracepoints, by name and listed with others", function()
    local path = assert(oracle.record("-c 1 -e sched:sched_switch -e sched:sched_process_exit",
      "sh -c 'sleep 0.01; sleep 0.01; sleep 0.01'"))
    local script = run.script [[
      return {
        meta = { needs = { events = "sched:sched_switch", fields = { "args.prev_pid" } } },
        ["sched:sched_switch"] = { "args.prev_pid", "tid", "args.next_comm", function(pid, tid, comm)
          print("switch", pid == tid, type(comm))
        end },
        ["sched:*"] = function(s) print("exit", s.args.pid == s.tid, s.args.prev_pid) end,
      }]]
    local got = run.perflua { script, path }
    assert.equal("", got.err)
    assert.matches("switch\ttrue\tstring\n.*switch\ttrue", got.out)
    assert.matches("exit\ttrue\tnil\n", got.out)
    assert.is_nil(got.out:find("switch\tfalse", 1, true))
    script = run.script [[return { ["sched:*"] = { "args.pid", "args.prev_pid", function(...) print(...) end } }]]
    got = run.perflua { script, path }
    assert.matches("false\t%d+\n", got.out)
    assert.matches("%d+\tfalse\n", got.out)
    script = run.script [[return { meta = { needs = { "args.nosuch", "callchain" } }, sample = error }]]
    assert.matches(
      "no field 'args.nosuch' and no field 'callchain'; record it with: perf record -g -- "
        .. "COMMAND",
      run.perflua({ script, path }).err, 1, true)
  end)

  it("counts what perf counts, in a file and in the stream as it is recorded", function()
    local path = files.temporary()
    check(run.shell_with((record):format "-" .. [[ | tee "$2" | "$perflua" "$1" -]], counting,
      path), path)
    check(run.perflua { counting, path }, path)
  end)
end)
