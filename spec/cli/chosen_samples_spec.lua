-- The options by which tools look at some samples only.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"
local two_events = require "spec.support.two_events"

local DEMO <const> = run.demo

-- The lines of a text that are not empty and no comments.
local function lines_of(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    if not line:find "^#" and line:find "%S" then list[#list + 1] = line end
  end
  return list
end

local function times_of(...)
  local got = run.perflua { "script", "-G", "-F", "time", "--ns", ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  local list = {}
  for time in got.out:gmatch "([%d.]+): \n" do list[#list + 1] = time end
  return table.concat(list, " ")
end

describe("--time", function()
  it("says that a single time is a beginning", function()
    for time, shown in pairs { ["10"] = "10 s", ["20ms"] = "20ms" } do
      local got = run.perflua { "stat", "--time", time, DEMO }
      assert.equal(("perflua: --time %s: from %s on; a range with an end is FROM,TO\n"):format(
        time, shown), got.err)
    end
    assert.equal("", run.perflua({ "stat", "--time", "10,", DEMO }).err)
  end)

  local path = two_events.write()

  it("has both ends in it, as in perf", function()
    assert.are.equal("1.000000500 1.000001000 1.000002000",
      times_of(path, "--time", "1.0000005,1.000002"))
    assert.are.equal("1.900000000 2.000000000", times_of(path, "--time", "1.9,"))
    assert.are.equal("1.000000000", times_of(path, "--time", ",1.0000001"))
    assert.are.equal("1.000000000 1.500000000 1.900000000",
      times_of(path, "--time", "0.5,1.0000001 1.4,1.9"))
  end)

  it("takes slices, shares and lists of them", function()
    assert.are.equal("1.000000000 1.000000500 1.000001000 1.000002000",
      times_of(path, "--time", "10%"))
    assert.are.equal("1.500000000", times_of(path, "--time", "10%/6"))
    assert.are.equal("1.500000000 1.900000000", times_of(path, "--time", "10%/6,10%/10")
      :gsub(" 2%.0+$", ""))
    assert.are.equal("1.500000000 1.900000000", times_of(path, "--time", "40%-90%"))
    assert.are.equal("1.500000000 1.900000000", times_of(path, "--time", "50%,90%"))
    assert.are.equal("1.500000000", times_of(path, "--time", "100ms,600ms"))
  end)

  needs.it("perf", "chooses the samples that perf chooses", function()
    local shown = " -G -F comm,tid,time "
    for _, range in ipairs { "10%", "10%/2", "10%/1,10%/3", "0%-10%,30%-40%", "1718.5,",
      ",1718.4",
      "1718.33,1718.34 1718.5,1718.6", "33%/3", "0%-100%" } do
      local theirs = files.output(("perf script --time %s%s-f -i %s 2>/dev/null"):format(
        files.quote(range), shown, DEMO))
      local ours = run.shell(("$perflua script --as %s --time %s%s%s"):format(oracle.version,
        files.quote(range), shown, DEMO))
      assert.are.same(lines_of(theirs), lines_of(ours.out), range)
      assert.is_true(#lines_of(theirs) > 0)
    end
  end)

  needs.it("perf", "reports the samples that perf reports", function()
    for _, range in ipairs { "10%/2", "0%-10%,30%-40%", "1718.5," } do
      local theirs = files.output(("perf report --stdio --no-children -g none --sort comm "
        .. "--time %s -f -i %s 2>/dev/null"):format(files.quote(range), DEMO))
      local ours = run.perflua { "report", "--no-children", "--sort", "comm", "--time", range,
        DEMO }
      local function rows(text)
        local list = {}
        for percent, comm in text:gmatch "\n +([%d.]+%%) +(%S+)" do
          list[#list + 1] = percent .. " " .. comm
        end
        table.sort(list)
        return list
      end
      assert.are.same(rows(theirs), rows(ours.out), range)
    end
  end)

  needs.it("perf", "counts times as perf's --reltime and --deltatime", function()
    for _, option in ipairs { "--reltime", "--deltatime", "--ns --deltatime" } do
      local shown = " -G -F comm,tid,time "
      local theirs = files.output(("perf script %s%s-f -i %s 2>/dev/null"):format(option, shown,
        DEMO))
      local ours = run.shell(("$perflua script --as %s %s%s%s"):format(oracle.version, option,
        shown, DEMO))
      assert.are.same(lines_of(theirs), lines_of(ours.out), option)
    end
    local got = run.perflua { "script", "--reltime", "--deltatime", DEMO }
    assert.are.same({ 2, "perflua: script: --reltime and --deltatime exclude each other\n" },
      { got.status, got.err })
  end)

  it("is taken from the samples where the header has zeros", function()
    local zeros = two_events.write(function(b)
      b:feature("sample_time", { first = 0, last = 0 })
    end)
    assert.are.equal("1.900000000 2.000000000", times_of(zeros, "--time", "1.9,"))
  end)

  it("is refused where it means nothing", function()
    local header = two_events.write(function(b)
      b:feature("sample_time", { first = 1000000000, last = 2000000000 })
    end)
    for range, message in pairs {
      ["12:30"] = "--time: '12:30' is not a time such as 1718.35, 20ms or 10%; a range is",
      ["5,6"] = "--time: between: 5.000000 to 6.000000 is outside of the recording",
      ["10%/11"] = "--time: between \"10%/11\": no such slice",
      ["1.9,1.5"] = "--time: between: from 1.900000 is not before to 1.500000",
      ["1,2,3"] = "--time: '1,2,3' is not a range of times, FROM,TO",
      [" "] = "--time: no time is named",
      ["2026-11-20 12:00,"] = "does not say how its clock relates to the time of day",
    } do
      for _, tool in ipairs { "script", "report", "fold" } do
        local got = run.perflua { tool, "--time", range, header }
        assert.are.equal(2, got.status, range)
        assert.matches(("perflua: %s: "):format(tool) .. ".*", got.err)
        assert.is_truthy(got.err:find(message, 1, true), got.err)
      end
    end
  end)
end)

describe("script -F tod", function()
  local NOON <const> = 1795176000 * 1000000000 -- 2026-11-20 12:00:00 UTC

  it("is the local time of day", function()
    local path = two_events.write(function(b)
      b:feature("clock_data", { clockid = 1, wall_clock = NOON + 1000000000,
        clock_time = 1000000000 })
    end)
    local got = run.perflua({ "script", "--ns", "-F", "tod,time", "--event", "faults", path },
      { env = "TZ=Europe/Berlin" })
    assert.are.same({
      "2026-11-20 13:00:01.000001000     1.000001000: ",
      "2026-11-20 13:00:01.900000000     1.900000000: ",
      "2026-11-20 13:00:02.000000000     2.000000000: ",
    }, lines_of(got.out))
  end)

  it("is refused where the recording does not know it", function()
    local got = run.perflua { "script", "-F", "tod", two_events.write() }
    assert.are.equal(2, got.status)
    assert.matches("do not have the data that field 'tod' shows; perf record %-k CLOCK_",
      got.err)
  end)
end)

describe("the options that choose samples", function()
  local file = assert(perflua.open(DEMO))

  local function rows_of(...)
    local got = run.perflua { "report", DEMO, "--no-children", "--csv", "--sort", "pid",
      "--event",
      "cpu-clock*", ... }
    assert.are.same({ 0, "" }, { got.status, got.err })
    local n = 0
    for samples in got.out:gmatch "\n[^\n]*,(%d+),%d+\r?%f[\n]" do n = n + tonumber(samples) end
    return n
  end

  it("stand together, each with several values", function()
    local samples = file:samples "cpu-clock*"
    local function count(filter) return samples:where(filter):count() end
    for _, case in ipairs {
      { { "--comm", "sort,gzip" }, "comm in {'sort', 'gzip'}" },
      { { "--comm", "sort", "--pid", "10660-10665" }, "comm == 'sort' and pid <= 10665" },
      { { "--tid", "10665,10666" }, "tid in {10665, 10666}" },
      { { "--where", "period > 0 or pid == 1", "--comm", "sh" },
        "(period > 0 or pid == 1) and comm == 'sh'" },
      { { "--dso", "[kernel.kallsyms]" }, "dso == '[kernel.kallsyms]'" },
    } do
      local filtered = count(case[2])
      assert.is_true(filtered > 0, case[2])
      assert.are.equal(filtered, rows_of(table.unpack(case[1])), case[2])
    end
  end)

  it("are those of all tools that read samples", function()
    for _, tool in ipairs { "alloc", "cgroups", "faults", "flame", "fold", "io", "irqs",
      "locks",
      "migrations", "offcpu", "report", "sched", "script", "syscalls", "timeline", "wakers" } do
      local help = run.perflua { "help", tool }
      for _, option in ipairs { "--time RANGES", "--comm N", "--where EXPR" } do
        assert.is_truthy(help.out:find(option, 1, true), tool .. " " .. option)
      end
    end
  end)

  it("say what is wrong with them", function()
    for _, case in ipairs {
      { "--pid", "x", "--pid: 'x' is not a number, nor a range such as 0-3" },
      { "--tid", "7-5", "--tid: '7-5' is not a number" },
      { "--cpu", "", "--cpu: '' names nothing" },
      { "--comm", ",", "--comm: ',' names nothing" },
      { "--where", "pid = 1", "--where: filter \"pid = 1\", column 5" },
    } do
      local got = run.perflua { "faults", case[1], case[2], DEMO }
      assert.are.equal(2, got.status, case[1])
      assert.is_truthy(got.err:find("perflua: faults: " .. case[3], 1, true), got.err)
    end
  end)
end)

describe("--event", function()
  it("takes names with commas: of a PMU, or in quotes", function()
    local b = builder.new()
    for i, name in ipairs { "cpu/event=0x1,umask=2/", "a,b", "cycles:u" } do
      local event = b:event { name = name, ids = { i }, sample_type = { "ip", "tid", "time",
        "identifier" } }
      for k = 1, i do
        b:sample(event, { identifier = i, ip = 1, pid = 1, tid = 1, time = k })
      end
    end
    local path = b:write()
    for asked, n in pairs {
      ["cpu/event=0x1,umask=2/"] = 1, ["'a,b'"] = 2, ['"a,b"'] = 2,
      ["cpu/event=0x1,umask=2/,cycles:u"] = 4, ["cycles:u , 'a,b'"] = 5, ["c*"] = 4,
    } do
      local got = run.perflua { "report", "--csv", "--sort", "pid", "--event", asked, path }
      assert.are.equal(0, got.status, got.err)
      local sum = 0
      for samples in got.out:gmatch ",(%d+),%d+\n" do sum = sum + tonumber(samples) end
      assert.are.equal(n, sum, asked)
    end
    local got = run.perflua { "report", "--event", "'a'b", path }
    assert.are.equal(2, got.status)
    assert.matches("a comma expected after 'a'", got.err, 1, true)
  end)
end)

describe("--cpu", function()
  local RUNNABLE <const>, SLEEPS <const>, PREEMPTED <const> = 0, 1, 256

  it("chooses spans by the processor on which they begin", function()
    local path = switches.recording({
      { 1000, 0, "switch", 0, RUNNABLE, 7 }, { 2000, 0, "waking", 8 },
      { 4000, 0, "switch", 7, RUNNABLE, 8 }, { 9000, 0, "switch", 8, SLEEPS, 7 },
      { 9500, 0, "switch", 7, SLEEPS, 0 }, { 10000, 1, "waking", 7 },
      { 10650, 1, "migrate", 7, 0, 1 }, { 10700, 1, "switch", 0, RUNNABLE, 7 },
      { 12000, 1, "switch", 7, PREEMPTED, 0 }, { 14900, 0, "migrate", 7, 1, 0 },
      { 15000, 0, "switch", 0, 0, 7 },
    })
    local function sum_of(tool, column, cpus)
      local got, sum = run.perflua { tool, "--json", "--cpu", cpus, path }, 0
      local rows = dkjson.decode(got.out).rows
      local said = rows[1] and "" or ("perflua: %s: no rows to show\n"):format(path)
      assert.are.same({ 0, said }, { got.status, got.err })
      for _, row in ipairs(rows) do sum = sum + row[column] end
      return sum
    end
    -- by processor: 0, 1
    for tool, expected in pairs {
      sched = { 4, 1, "runs" }, offcpu = { 2, 1, "count" }, wakers = { 1, 1, "count" },
      migrations = { 1, 1, "migrations" },
    } do
      local column = expected[3]
      assert.are.equal(expected[1], sum_of(tool, column, "0"), tool)
      assert.are.equal(expected[2], sum_of(tool, column, "1"), tool)
      assert.are.equal(expected[1] + expected[2], sum_of(tool, column, "0-1"), tool)
      assert.are.equal(0, sum_of(tool, column, "2-9"), tool)
    end
  end)

  it("is refused where it is not a number, and where no processor is recorded", function()
    local path = switches.recording { { 1000, 0, "switch", 0, RUNNABLE, 7 } }
    for _, tool in ipairs { "sched", "offcpu", "migrations", "timeline" } do
      local got = run.perflua { tool, "--cpu", "x", path }
      assert.are.equal(2, got.status)
      assert.matches(("perflua: %s: --cpu: 'x' is not a number"):format(tool), got.err, 1, true)
    end
    local got = run.perflua { "offcpu", "--cpu", "0", DEMO }
    assert.are.equal(2, got.status)
    assert.matches("perflua: offcpu: --cpu: filter \"cpu == 0\", column 1: no record of this "
      .. "query has a field 'cpu'", got.err, 1, true)
  end)
end)

describe("perflua dump", function()
  local function types_of(...)
    local got = run.perflua { "dump", "--json", DEMO, ... }
    assert.are.same({ 0, "" }, { got.status, got.err })
    local counts = {}
    for line in got.out:gmatch "[^\n]+" do
      local type = dkjson.decode(line).type
      counts[type] = (counts[type] or 0) + 1
    end
    return counts
  end

  it("chooses records of any type by the options that choose samples", function()
    local file = assert(perflua.open(DEMO))
    for _, case in ipairs {
      { "--comm", "sort", "comm == 'sort'" },
      { "--pid", "10665,10666", "pid in {10665,10666}" },
      { "--event", "page-faults", "event == 'page-faults'" },
      { "--dso", "[kernel.kallsyms]", "dso == '[kernel.kallsyms]'" },
    } do
      local expected = {}
      for record in file:records { container = true, order = "file" }:where(case[3]):each() do
        expected[record.type] = (expected[record.type] or 0) + 1
      end
      assert.is_truthy(next(expected), case[3])
      assert.are.same(expected, types_of(case[1], case[2]), case[3])
    end
    file:close()
  end)

  it("chooses records by --time with both ends in it", function()
    local path = two_events.write()
    local function count(...)
      local got = run.perflua { "dump", "--type", "sample", path, ... }
      assert.are.same({ 0, "" }, { got.status, got.err })
      return select(2, got.out:gsub("\n", ""))
    end
    assert.are.equal(2, count("--time", "1.9,2"))
    assert.are.equal(1, count("--between", "1.9,2.0"))
  end)
end)

describe("perflua stat --time", function()
  local function stat(...)
    local got = run.perflua { "stat", "--json", ... }
    assert.are.same({ 0, "" }, { got.status, got.err })
    return (dkjson.decode(got.out))
  end

  it("counts the records of these times", function()
    for _, path in ipairs { DEMO, "spec/fixtures/perf-7.3/group.data" } do
      local whole, all = stat(path), stat("--time", "0%-100%", path)
      assert.are.same(whole.events, all.events)
      assert.are.same({ whole.lost_records, whole.lost_samples },
        { all.lost_records, all.lost_samples })
      assert.are.equal(whole.last_time, all.last_time)
      local halves = { stat("--time", "50%/1", path), stat("--time", "50%/2", path) }
      for i, event in ipairs(whole.events) do
        local counted = 0
        for _, half in ipairs(halves) do counted = counted + half.events[i].samples end
        assert.are.equal(event.samples, counted, event.event)
      end
      assert.is_true(halves[1].last_time < halves[2].first_time)
    end
  end)

  it("needs a file, as it is read several times", function()
    local got = run.shell_with('cat "$1" | "$perflua" stat --time 10% -',
      "spec/fixtures/perf-7.3/pipe.data")
    assert.are.equal(2, got.status)
    assert.matches("stat: --time needs a file: a stream is read only once", got.err, 1, true)
  end)
end)

describe("an option that chooses samples", function()
  it("is refused with a reason by tools for which it means nothing", function()
    for tool, case in pairs {
      doctor = { "--cpu=0", "it examines whole recordings" },
      fields = { "--comm=x", "it describes whole recordings" },
      header = { "--time=10%", "it reads no samples" },
      sched = { "--dso=x", "it reads the switches of all threads" },
      io = { "--pid=1", "it reads the requests of all of them" },
      stat = { "--comm=x", "it counts records of any type" },
    } do
      local got = run.perflua { tool, case[1], DEMO }
      assert.are.equal(2, got.status)
      local said = ("perflua: %s: no option '%s': %s\nusage: "):format(tool, case[1], case[2])
      assert.matches(said, got.err, 1, true)
    end
  end)
end)
