-- perflua report: what perf report --stdio prints, and what it does not.
local builder = require "spec.support.builder"
local compressed = require "spec.support.compressed"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local report_rows = require "spec.support.report_rows"
local run = require "spec.cli.run"
local system = require "spec.support.system"
local zstd = require "spec.support.builder_zstd"

local words = files.fixture "words/perf.data"
local symfs = { "--symfs", files.fixture "words" }

-- Runs the tool on the recording that comes with its binary.
local function report(...)
  local got = run.perflua { "report", symfs[1], symfs[2], words, ... }
  assert.are.equal("", got.err)
  assert.are.equal(0, got.status)
  return got.out
end

local function count(map)
  local n = 0
  for _ in pairs(map) do
    n = n + 1
  end
  return n
end

describe("perflua report", function()
  it("is a table for each event, headed by what was lost and what has no name", function()
    local text = report("--no-children", "--count", "3")
    assert.are.equal([[
# 729 samples of event 'cpu-clock:u', none lost, all have a function
# Event count: 731193561
#
# Overhead  Command  Shared Object  Symbol
# ........  .......  .............  ................
#
    30.18%  tree     words          [.] compare
    26.06%  tree     words          [.] find_in_tree
    13.99%  list     words          [.] compare
]], text)
  end)

  it("counts callers where there are call chains, each once in a sample", function()
    local rows = report_rows.of_text(report())
    local by_name = {}
    for _, row in ipairs(rows) do
      by_name[row[3] .. " " .. row[5]] = { row[1], row[2] }
    end
    -- which calls itself
    assert.are.same({ "55.01%", "26.06%" }, by_name["tree [.] find_in_tree"])
    assert.are.same({ "62.55%", "0.00%" }, by_name["tree [.] main"])
    assert.are.same({ "30.18%", "30.18%" }, by_name["tree [.] compare"])
  end)

  it("has a section for each event, and those that are asked for only", function()
    local out = run.perflua({ "report", "--sort", "comm", run.demo }).out
    local events = {}
    for n, event in out:gmatch "# (%d+) samples of event '([^']+)'" do
      events[event] = tonumber(n)
    end
    assert.are.same({ ["cpu-clock"] = 457, ["page-faults"] = 39, ["context-switches"] = 176 },
      events)
    out = run.perflua({ "report", "--sort=comm", "--event", "page*", run.demo }).out
    assert.is_nil(out:find("cpu-clock", 1, true))
    assert.matches("\n    89.21%%    89.21%%  find\n", out)
  end)

  it("takes any field, conditions and a least share", function()
    local text = report("--sort", "comm,srcline", "--where", "comm == 'list'",
      "--percent-limit", "4")
    assert.matches("\n# Overhead  Command  Source:Line\n.*%%  list     words%.c:%d+\n", text)
    assert.matches("^# 152 of 729 samples of event 'cpu%-clock:u'", text)
    for share in text:gmatch "([%d.]+)%%  list" do
      assert.is_true(tonumber(share) >= 4)
    end
  end)

  it("has shares of all samples of the event, or of those that are chosen", function()
    local text = report("--comm", "list", "--sort", "comm,symbol", "--no-children",
      "--count", "1")
    assert.are.equal([[
# comm: list
# 152 of 729 samples of event 'cpu-clock:u', none lost, all have a function
# Event count: 731193561
#
# Overhead  Symbol
# ........  ...........
#
    13.99%  [.] compare
]], text)
    text = report("--comm", "list", "--sort", "comm", "--percentage", "relative")
    assert.are.equal([[
# 152 samples of event 'cpu-clock:u', none lost
# Event count: 152457368
#
# Children      Self  Command
# ........  ........  .......
#
   100.00%   100.00%  list
]], text)
    local event = dkjson.decode(report("--json", "--where", "comm == 'list'", "--sort",
      "comm")).events[1]
    assert.are.same({ 152, 152457368, { samples = 729, period = 731193561 } },
      { event.samples, event.period, event.all })
    assert.are.equal(100 * 152457368 / 731193561, event.rows[1].percent)
    for _, option in ipairs { "--time=0%-50%", "--event=cpu-clock:u" } do
      assert.matches("\n   100.00%%  ", report(option, "--sort", "dso"))
    end
  end)

  it("writes exact numbers for machines", function()
    local lines = {}
    for line in report("--csv", "--no-children", "--sort", "comm", "--count", "1")
        :gmatch "[^\n]+" do
      table.insert(lines, line)
    end
    assert.are.equal("event,percent,comm,samples,period", lines[1])
    assert.matches("^cpu%-clock:u,62%.551%d+,tree,456,457372104$", lines[2])
    local decoded = dkjson.decode(report("--json", "--count", "1"))
    assert.are.same({ 729, 731193561, 0, 0 },
      { decoded.events[1].samples, decoded.events[1].period,
      decoded.events[1].lost_samples, decoded.events[1].unresolved })
    assert.are.equal("_start", decoded.events[1].rows[1].symbol)
  end)

  it("reads a stream", function()
    local got =
      run.shell_with('cat "$1" | "$perflua" report --no-children --symfs "$2" --count 1 -',
        words, symfs[2])
    assert.matches("^# 729 samples of event 'cpu%-clock:u'.-30.18%%  tree", got.out)
    local b = builder.new { container = "pipe" }
    b:sample(b:event { name = "cycles" }, { time = 1, pid = 1, tid = 1, ip = 1 })
    got = run.shell_with(('cat "$1" | "$perflua" report -s tgid %s --percentage absolute -')
      :format "--tid 1", b:write())
    assert.are.same({ status = 2, out = "", err = "perflua: --percentage absolute takes two "
      .. "passes, and a stream can be read only once\n" }, got)
    got = run.shell_with('cat "$1" | "$perflua" report --sort tgid -', b:write())
    -- of losses it says nothing
    assert.matches("^# 1 sample of event 'cycles'\n.-\n   100.00%%     1\n$", got.out)
    got = run.shell_with('cat "$1" | "$perflua" report --sort pid -', b:write())
    assert.are.same({ status = 2, out = "", err = "perflua: pid takes two passes, and a "
      .. "stream can be read only once: tgid shows the process, tid the thread\n" }, got)
    assert.equal("event,percent,pid,samples,period\ncycles,100,1::1,1,1\n",
      run.perflua({ "report", "--csv", "--sort", "pid", b:write() }).out)
  end)

  it("says what to ask of a recording of counters, as script does, status 0", function()
    local b = builder.new()
    local event = b:event { name = "instructions", sample_type = { "identifier" } }
    for _ = 1, 3 do b:record("stat", { id = event.id, val = 4 }) end
    b:record("stat_round", { type = 1, time = 2 })
    b:raw(32772, 0, ("x"):rep(8))
    local path = b:write()
    local question = 'print(file:records("stat"):group_by("event.name"):sum("val"))'
    local said = ("no samples; records: stat 3, stat_round 1, unknown 32772 1: perflua -e '%s' "
      .. "FILE adds up its counters\n"):format(question)
    for _, words_of in ipairs { {}, { "--sort=addr,dso" }, { "--where=cpu == 1 and ip > 0" },
        { "--no-children", "--sort=regs_user.ax" } } do
      assert.same({ status = 0, out = "# " .. said, err = "" },
        run.perflua { "report", path, table.unpack(words_of) })
    end
    assert.same({ status = 0, out = "", err = ("perflua: script: %s: %s"):format(path, said) },
      run.perflua { "script", path })
    assert.same({ status = 0, out = "event.name    val\ninstructions   12\n", err = "" },
      run.perflua { "-e", question, path })
  end)

  it("says that there are no samples, whatever the fields and conditions, status 0", function()
    local empty = { status = 0, out = "# no samples\n", err = "" }
    local dummy, pipe = builder.new(), builder.new { container = "pipe" }
    dummy:event { name = "dummy:u", type = 1, config = 9 }
    dummy:record("comm", { pid = 1, tid = 1, comm = "x" })
    pipe:record("finished_round")
    for _, b in ipairs { dummy, pipe } do
      local path = b:write()
      for _, words_of in ipairs { {}, { "--sort=addr,dso" }, { "--where=cpu == 1 and ip > 0" },
          { "--children" },
        { "--no-children", "--sort=regs_user.ax" } } do
        assert.are.same(empty, run.perflua { "report", path, table.unpack(words_of) })
      end
      assert.are.same(empty, run.shell_with('cat "$1" | "$perflua" report -', path))
    end
    assert.are.equal(2, run.perflua({ "report", "--sort=com", dummy:write() }).status)
  end)

  it("says that the options choose none of the samples", function()
    local b = builder.new()
    b:sample(b:event { name = "cycles" }, { time = 1, pid = 1, tid = 1, ip = 1 })
    local path = b:write()
    for _, option in ipairs { "--dso=x", "--where=pid == 2", "--tid=7" } do
      assert.are.equal("# no samples that the options choose\n",
        run.perflua({ "report", option, path }).out)
    end
  end)

  it("says which names of options nothing has, with the closest", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "callchain" } }
    b:record("comm", { pid = 1, tid = 1, comm = "server" }, { pid = 1, tid = 1, time = 1 })
    for i, name in ipairs { "main", "parse_line" } do
      b:record("ksymbol", { addr = 0x1000 * i, len = 0x1000, ksym_type = 1, name = name },
        { pid = 1, tid = 1, time = 1 })
    end
    b:sample(event, { time = 2, pid = 1, tid = 1, ip = 0x2008, misc = 1,
      callchain = { -128, 0x2008, 0x1008 } })
    local path = b:write()
    local function said(option, expected)
      assert.are.equal("# no samples that the options choose" .. expected .. "\n",
        run.perflua({ "report", option, path }).out)
    end
    said("--comm=severs", ": no thread is named 'severs'; the closest is 'server'")
    said("--symbol=parse_lime", ": no sample is of function 'parse_lime'; the closest is "
      .. "'parse_line'")
    said("--where=not (pid == 2) and under('mian')", ": no sample is of function 'mian'; the "
      .. "closest is 'main'")
    said("--where=under('ma*') and pid == 2", "")
    said("--symbol=main", "") -- a caller only
  end)

  it("does not refuse fields that only events without samples lack", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "id", "addr" }, ids = { 1 } }
    b:event { name = "dummy:u", type = 1, config = 9,
      sample_type = { "ip", "tid", "time", "id" }, ids = { 2 } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1, id = 1, addr = 0x1234 })
    local path = b:write()
    assert.matches("   100.00%%  0x1234\n$", run.perflua({ "report", "--sort=addr", path }).out)
    assert.are.equal("# no samples\n",
      run.perflua({ "report", "--sort=addr", "--event=dummy:u", path }).out)
    local got = run.perflua { "report", "--sort=phys_addr", path }
    assert.are.same({ 2, "perflua: no record of this query has a field 'phys_addr'; perf "
      .. "record --phys-data records it\n" },
      { got.status, got.err })
  end)

  it("refuses conditions on fields that no sample has", function()
    for _, sort in ipairs { {}, { "--sort=comm" } } do
      local got = run.perflua { "report", "--where=cpu == 1", run.demo, table.unpack(sort) }
      assert.are.same({ 2, "" }, { got.status, got.out })
      assert.matches("no record of this query has a field 'cpu'", got.err, 1, true)
    end
  end)

  it("shows samples without an address as those of none", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "tid", "time", "period" } }
    b:record("comm", { pid = 1, tid = 1, comm = "x" })
    b:sample(event, { pid = 1, tid = 1, time = 1, period = 5 })
    assert.matches("   100.00%%  x +%[unknown%] +%[%.%] %[unknown%]\n$",
      run.perflua({ "report", b:write() }).out)
  end)

  it("has the events of a pipe whose attrs come late", function()
    local b = builder.new { container = "pipe" }
    b:record("finished_round")
    for i = 1, 2 do
      local event = b:event { type = 1, config = i + 1, ids = { i },
        sample_type = { "identifier", "ip", "tid", "time", "period" } }
      table.remove(b.events)
      b:record("header_attr", { event = event })
      b:sample(event, { identifier = i, ip = 0x1000 * i, pid = 1, tid = 1, time = i,
        period = 5 * i })
    end
    for _, words_of in ipairs { "", "--sort comm,ip", "--children" } do
      local got =
        run.shell_with(('"$perflua" report %s "$1"; cat "$1" | "$perflua" report %s -')
          :format(words_of,
        words_of), b:write())
      assert.are.same({ 0, "" }, { got.status, got.err })
      local events = {}
      for event,
          period in got.out:gmatch "# 1 sample of event '([^']+)'.-# Event count: (%d+)" do
        events[#events + 1] = event .. " " .. period
      end
      assert.are.same({ "page-faults 5", "context-switches 10", "page-faults 5",
        "context-switches 10" }, events)
    end
    assert.matches("^faults ", run.perflua({ "faults", b:write() }).out)
    assert.matches("has no field 'cgroup_path'", run.perflua({ "cgroups", b:write() }).err, 1,
      true)
  end)

  it("sets samples aside whose period is damage, and says so", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time", "period" } }
    for i = 1, 3 do
      b:sample(event, { ip = i, pid = 1, tid = 1, time = i, period = i == 2 and math.maxinteger
        - 15 or 1000 })
    end
    local path = b:write()
    local said = "1 sample was not counted: a period of 2^56 or more is damage\n"
    local got = run.perflua { "report", path }
    assert.are.same({ 0, "" }, { got.status, got.err })
    assert.are.equal("# " .. said .. "# 2 samples of event 'cycles'",
      got.out:match "^.-'cycles'")
    assert.are.same(got, run.shell_with('cat "$1" | "$perflua" report -', path))
    assert.are.equal(1, dkjson.decode(run.perflua({ "report", "--json", path }).out).set_aside)
    got = run.perflua { "report", "--csv", path }
    assert.are.equal("perflua: report: " .. said, got.err)
    assert.is_nil(got.out:find "9223")
    for _, tool in ipairs { "fold", "fold --inline", "flame -o /dev/null" } do
      got = run.shell_with('"$perflua" ' .. tool .. ' "$1"', path)
      assert.are.same({ 0, ("perflua: %s: %s"):format(tool:match "%a+", said) },
        { got.status, got.err })
    end
    assert.are.equal(":1;[unknown] 2000\n", run.perflua({ "fold", path }).out)
    assert.are.equal(":1;[unknown] 3\n", run.perflua({ "fold", "--count", path }).out)
    got = run.shell_with([["$perflua" "$2" "$1"]], path, run.script(
      "return function(f) return f:samples():group_by('event'):sum('period') end"))
    assert.are.equal(1, got.status)
    assert.matches("a sum exceeds 2^63-1", got.err, 1, true)
  end)

  -- Samples of threads that get their names later: lines of spec.support.system, without names.
  local later_names = { "10 sample 7/7", "20 comm 7/7 sh", "30 sample 7/7", "35 sample 7/7",
    "40 comm 7/7 cat", "50 sample 7/7",
    "60 sample 8/8", "70 fork 8/8 from 9/9", "90 exec 8/8 dog", "95 sample 8/8",
    "100 fork 3/3 from 9/9", "101 sample 3/3", "102 exec 3/3 cow",
    "110 sample 5/5" }

  local function rows_by_name(path)
    return report_rows.parse(run.perflua({ "report", "--no-children", "-n",
      "--show-total-period", path }).out)
  end

  it("gives samples before a thread's first name that name, as far back as a fork", function()
    local expected = { ["sh"] = 3, ["cat"] = 1, [":8"] = 1, dog = 1, cow = 1,
      [":5"] = 1, [":6"] = 1 }
    local lines = table.move({ "120 sample 6/6", "130 exit 6/6", "140 comm 6/6 late" }, 1, 3,
      #later_names + 1, { table.unpack(later_names) })
    for _, options in ipairs { {}, { endian = "big" }, { container = "pipe" } } do
      local path, found = system.written(lines, options), {}
      for name, row in pairs(rows_by_name(path)) do
        found[name:match "^%S+"] = row.samples
      end
      assert.are.same(expected, found)
      assert.are.equal(":7\n", run.perflua({ "-e",
        "print(file:samples():first().comm)", path }).out)
    end
  end)

  it("does so where a name comes after samples that were counted", function()
    local b, payload = compressed.start(), zstd.frame()
    b:feature("compressed", { version = 1, type = 1, level = 1, ratio = 3, mmap_len = 4096 })
    local function add(line, rounds)
      local text = b:apart(function() system.add(b, { line }) end)
      for _ = 1, rounds or 1 do
        b:record("compressed2", { data = payload(text:rep(rounds and 60000 // #text or 1)) })
        b:record "finished_round"
      end
    end
    add "- comm 8/8 sh"
    add("10 sample 7/7", 40)
    add("20 sample 8/8", 40)
    add "30 comm 7/7 cat"
    add "31 sample 7/7"
    local names = {}
    for name in pairs(rows_by_name(b:write())) do names[#names + 1] = name:match "^%S+" end
    table.sort(names)
    assert.are.same({ "cat", "sh" }, names)
  end)

  needs.it("perf", "gives samples the names that perf report gives them", function()
    local path, names = system.written(later_names), {}
    for i, rows in ipairs { rows_by_name(path), report_rows.of_perf(path, "--no-children") } do
      names[i] = {}
      for name, row in pairs(rows) do names[i][name:match "^%S+"] = row.samples end
    end
    assert.are.same(names[2], names[1])
  end)

  it("says what is wrong with its options", function()
    for words_of, message in pairs {
      ["--sort=com"] = "unknown field 'com'; the closest is 'comm'",
      ["--sort="] = "no field is named",
      ["--where=pid =="] = "filter \"pid ==\", column 7",
      ["--event=x"] = "this recording has no event 'x'",
      ["--percent-limit=x"] = "a percentage expected",
      ["--percentage=x"] = "absolute or relative expected, got 'x'",
      ["--count=1.5"] = "a number of rows expected",
    } do
      local got = run.perflua { "report", words_of, run.demo }
      assert.are.equal(2, got.status)
      assert.matches(message, got.err, 1, true)
      assert.are.equal("", got.out)
    end
    assert.are.equal(1, run.perflua({ "report", "/nonexistent" }).status)
  end)
end)

needs.describe("perf", "its rows and those of perf report", function()
  it("match by pid, which is a thread with its last name", function()
    for _, name in ipairs { "demo.perf.data", "switches.perf.data", "words/perf.data" } do
      for _, sort in ipairs { "pid", "pid,dso" } do
        local got = run.shell_with([[
          show() { "$@" 2>/dev/null | grep -v '^#' | sed 's/ *$//' | grep . | sort; }
          show perf report --stdio --no-children -g none --sort "$2" -i "$1"
          echo =
          show "$perflua" report --no-children --sort "$2" "$1"]], files.fixture(name), sort)
        local theirs, ours = got.out:match "^(.*\n)=\n(.*)$"
        assert.matches(" %d+:%w", theirs)
        assert.are.equal(theirs, ours, name)
      end
    end
  end)

  it("match where options choose samples", function()
    for _, options in ipairs {
      "--comms list", "--comms list -s comm", "--comms list,tree --no-children",
      "--dsos words --no-children", "--symbols compare --no-children",
      "--symbols compare -s sym,comm --no-children",
      "--comms tree --percentage relative", "--comms list --percent-limit 5",
      "--comms list,tree --percentage relative --no-children --symbols compare,sort",
    } do
      local got = run.shell_with([[
        show() { "$@" 2>/dev/null | grep -v '^#' | sed 's/ *$//' | grep . | sort; }
        show perf report --stdio -g none $3 --symfs "$2" -i "$1"
        echo =
        show "$perflua" report --symfs "$2" $3 "$1"]], words, symfs[2],
        options)
      local theirs, ours = got.out:match "^(.*\n)=\n(.*)$"
      assert.are.equal(theirs, ours, options)
    end
  end)

  it("match with callers, for the recording that comes with perflua", function()
    local theirs = report_rows.of_perf(words, "--children --symfs " .. symfs[2])
    local ours = report_rows.of_ours(words, "--children", symfs[1], symfs[2])
    assert.are.equal(count(theirs), count(ours))
    for key, row in pairs(theirs) do
      assert.are.same({ key, row.samples, row.period },
        { key, ours[key].samples, ours[key].period })
      assert.is_true(math.abs(row.children - ours[key].children_percent) <= 0.0051, key)
      assert.is_true(math.abs(row.share - ours[key].percent) <= 0.0051, key)
    end
  end)

  local work = "sh -c 'ls -R /usr/include | sort | gzip -9 | wc -c'"

  -- Other processes may have a root of their own, whose binaries perf reads.
  local of_work = { ls = true, sort = true, gzip = true, wc = true, sh = true }

  local function check(path)
    local theirs = report_rows.of_perf(path, "--no-children --no-group")
    local ours, same, whole = report_rows.of_ours(path, "--no-children"), 0, 0
    for key, row in pairs(theirs) do
      if not of_work[key:match "^%S+"] then row = { period = 0 } end
      whole = whole + row.period
      -- stubs of libraries' functions have no names, or wrong ones, there
      if ours[key] and ours[key].samples == row.samples and ours[key].period == row.period then
        same = same + row.period
      end
    end
    assert.is_true(whole > 0)
    assert.is_true(same / whole > 0.97,
      ("%.1f %% of the periods are in the same rows"):format(100 * same / whole))
  end

  needs.it("record", "match for a recording made here", function()
    check(oracle.record("-F 2000 -e cpu-clock", work))
  end)

  needs.it("cpus,mounted root", "match for a recording of all processors made here, with "
    .. "counter values", function()
    check(oracle.record("-a -e '{cpu-clock,context-switches,page-faults}:S'", work))
  end)
end)
