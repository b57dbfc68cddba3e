-- perflua report: what perf report --stdio prints, and what it does not.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local report_rows = require "spec.support.report_rows"
local run = require "spec.cli.run"

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
    assert.are.same({ "55.01%", "26.06%" }, by_name["tree [.] find_in_tree"]) -- which calls itself
    assert.are.same({ "62.55%", "0.00%" }, by_name["tree [.] main"])
    assert.are.same({ "30.18%", "30.18%" }, by_name["tree [.] compare"])
  end)

  it("has a section for each event, and those that are asked for only", function()
    local out = run.perflua({ "report", "--sort", "comm", run.demo }).out
    local events = {}
    for n, event in out:gmatch "# (%d+) samples of event '([^']+)'" do
      events[event] = tonumber(n)
    end
    assert.are.same({ ["cpu-clock"] = 457, ["page-faults"] = 39, ["context-switches"] = 176 }, events)
    out = run.perflua({ "report", "--sort=comm", "--event", "page*", run.demo }).out
    assert.is_nil(out:find("cpu-clock", 1, true))
    assert.matches("\n    89.21%%  find\n", out)
  end)

  it("takes any field, conditions and a least share", function()
    local text = report("--sort", "comm,srcline", "--where", "comm == 'list'", "--percent-limit", "20")
    assert.matches("\n# Overhead  Command  Source:Line\n.*%%  list     words%.c:%d+\n", text)
    assert.matches("^# 152 samples of event 'cpu%-clock:u'", text)
    for share in text:gmatch "([%d.]+)%%  list" do
      assert.is_true(tonumber(share) >= 20)
    end
  end)

  it("writes exact numbers for machines", function()
    local lines = {}
    for line in report("--csv", "--no-children", "--sort", "comm", "--count", "1"):gmatch "[^\r\n]+" do
      table.insert(lines, line)
    end
    assert.are.equal("event,percent,comm,samples,period", lines[1])
    assert.matches("^cpu%-clock:u,62%.551%d+,tree,456,457372104$", lines[2])
    local decoded = dkjson.decode(report("--json", "--count", "1"))
    assert.are.same({ 729, 731193561, 0, 0 }, { decoded.events[1].samples, decoded.events[1].period,
      decoded.events[1].lost_samples, decoded.events[1].unresolved })
    assert.are.equal("_start", decoded.events[1].rows[1].symbol)
  end)

  it("reads a stream", function()
    local got = run.shell_with('cat "$1" | "$perflua" report --no-children --symfs "$2" --count 1 -', words, symfs[2])
    assert.matches("^# 729 samples of event 'cpu%-clock:u'.-30.18%%  tree", got.out)
    local b = builder.new { container = "pipe" }
    b:sample(b:event { name = "cycles" }, { time = 1, pid = 1, tid = 1, ip = 1 })
    got = run.shell_with('cat "$1" | "$perflua" report --sort pid -', b:write())
    assert.matches("^# 1 sample of event 'cycles'\n.-\n   100.00%%    1\n$", got.out) -- of losses it says nothing
  end)

  it("says what is wrong with its options", function()
    for words_of, message in pairs {
      ["--sort=com"] = "unknown field 'com'; the closest is 'comm'", ["--sort="] = "no field is named",
      ["--where=pid =="] = "filter \"pid ==\", column 7", ["--event=x"] = "this recording has no event 'x'",
      ["--percent-limit=x"] = "a percentage expected", ["--count=1.5"] = "a number of rows expected",
    } do
      local got = run.perflua { "report", words_of, run.demo }
      assert.are.equal(2, got.status)
      assert.matches(message, got.err, 1, true)
      assert.are.equal("", got.out)
    end
    assert.are.equal(1, run.perflua({ "report", "/nonexistent" }).status)
  end)
end)

needs.describe("perf", "its rows are those of perf report", function()
  it("with callers, of the recording that comes with perflua", function()
    local theirs = report_rows.of_perf(words, "--children --symfs " .. symfs[2])
    local ours = report_rows.of_ours(words, "--children", symfs[1], symfs[2])
    assert.are.equal(count(theirs), count(ours))
    for key, row in pairs(theirs) do
      assert.are.same({ key, row.samples, row.period }, { key, ours[key].samples, ours[key].period })
      assert.is_true(math.abs(row.children - ours[key].children_percent) <= 0.0051, key)
      assert.is_true(math.abs(row.share - ours[key].percent) <= 0.0051, key)
    end
  end)

  local work = "sh -c 'ls -R /usr/include | sort | gzip -9 | wc -c'"

  local function check(path)
    local theirs = report_rows.of_perf(path, "--no-children --no-group")
    local ours, same, whole = report_rows.of_ours(path, "--no-children"), 0, 0
    for key, row in pairs(theirs) do
      whole = whole + row.period
      -- stubs of libraries' functions have no names, or wrong ones, there
      if ours[key] and ours[key].samples == row.samples and ours[key].period == row.period then
        same = same + row.period
      end
    end
    assert.is_true(whole > 0)
    assert.is_true(same / whole > 0.97, ("%.1f %% of the periods are in the same rows"):format(100 * same / whole))
  end

  needs.it("record", "of a recording made here", function()
    check(oracle.record("-F 2000 -e cpu-clock", work))
  end)

  needs.it("record,cpus", "of a recording made here, of samples with counter values", function()
    check(oracle.record("-a -e '{cpu-clock,context-switches,page-faults}:S'", work))
  end)
end)
