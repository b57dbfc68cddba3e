-- perflua doctor: whether it calls a recording healthy or damaged, and how it ends.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local helper = require "spec.cli.doctor"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local doctor, find, ailing = helper.examine, helper.find, helper.ailing
local START = helper.START

describe("a healthy recording", function()
  it("gets a verdict and lines of facts", function()
    local got, report = doctor(run.demo)
    assert.are.equal(0, got.status)
    assert.matches("^spec/fixtures/demo.perf.data: healthy", got.out)
    local names = {}
    for name in got.out:gmatch "\n  (%l+) +[^\n]" do
      table.insert(names, name)
    end
    assert.are.same({ "recording", "time", "events", "records", "lost", "throttled", "order",
      "gaps", "stacks",
      "binaries" }, { table.unpack(names, #names - 9) })
    assert.matches("\n  events     cpu-clock 457, page-faults 39, context-switches 176\n",
      got.out, 1, true)
    assert.matches("\n  lost       nothing\n", got.out, 1, true)
    assert.is_true(report.complete)
    assert.are.equal(672, report.samples)
    assert.are.equal(768, report.records.total)
    assert.are.same({ mode = "file", stream = false, version = 2, byte_order = "little",
      size = 83040,
      compressed = false }, report.container)
  end)

  it("says where it comes from", function()
    local got = run.shell_with('cat "$1" | "$perflua" doctor -', run.demo)
    assert.are.equal(0, got.status)
    assert.matches(
      "^%-: healthy.*\n  recording  file on standard input, PERFILE2, little%-endian", got.out)
    local b = builder.new { container = "pipe", endian = "big" }
    b:sample(b:event { name = "e" }, { time = START })
    got = run.shell_with('cat "$1" | "$perflua" doctor -', b:write())
    assert.matches("\n  recording  pipe on standard input, PERFILE2, big-endian\n", got.out, 1,
      true)
  end)
end)

describe("--no-symbols", function()
  it("leaves out where names come from, and what follows from it", function()
    local got = run.perflua { "doctor", "--no-symbols", run.demo }
    assert.matches("\n  binaries   not looked for\n$", got.out)
    assert.equal("", got.err)
    local whole = dkjson.decode(run.perflua({ "doctor", "--json", run.demo }).out)
    local report = dkjson.decode(run.perflua({ "doctor", "--json", "--no-symbols",
      run.demo }).out)
    for _, key in ipairs { "binaries", "unproven", "sources" } do
      assert.is_table(whole[key])
      assert.is_nil(report[key])
    end
    for key, value in pairs(report) do
      if key ~= "findings" and key ~= "verdict" then assert.are.same(whole[key], value) end
    end
    for _, code in ipairs { "symbols", "unproven" } do
      assert.is_nil(helper.find(report, code))
    end
  end)
end)

describe("a damaged recording", function()
  it("has status 3 and a list of its damage", function()
    local b = ailing(function() end)
    local offsets = b:offsets()
    local got, report = doctor(b:write { truncate = offsets[50] + 20 })
    assert.are.equal(3, got.status)
    assert.matches("^[^\n]*: damaged\n  damage     damaged in 3 places\n", got.out)
    assert.matches(("offset %d: "):format(offsets[50]), got.out, 1, true)
    assert.is_false(report.complete)
    assert.are.equal("damaged", report.verdict)
    assert.are.equal(offsets[50], report.damage[3].offset)
    assert.are.equal(49, report.samples)
  end)

  it("shows only the first of many places", function()
    local b = builder.new()
    local event = b:event {}
    for i = 1, 20 do
      for k = 1, 5 do
        b:sample(event, { time = START + i * 10 + k })
      end
      b:raw(9, 2, ("\1"):rep(8), 3)
    end
    local got, report = doctor(b:write())
    assert.are.equal(3, got.status)
    assert.are.equal(20, #report.damage)
    assert.are.equal(6, #find(report, "damage").details)
    assert.matches("\n             and 15 more\n", got.out, 1, true)
  end)

  it("says once that it was not finished, and how to end a recording", function()
    local got, report = doctor(ailing(function() end)
      :write { data = { size = 0 }, no_features = true })
    assert.are.equal(3, got.status)
    assert.is_true(report.unfinished)
    assert.matches("SIGINT", find(report, "unfinished").advice, 1, true)
    assert.is_nil(find(report, "damage"))
    assert.is_nil(find(report, "missing"))
  end)

  it("sets status 3 for several, and all are reported", function()
    local good, bad = ailing(function() end):write(), ailing(function() end)
      :write { truncate = 3000 }
    local got = run.perflua { "doctor", good, bad, good }
    assert.are.equal(3, got.status)
    local verdicts = {}
    for verdict in ("\n\n" .. got.out):gmatch "\n\n/[^\n]*: (%l+)" do
      table.insert(verdicts, verdict)
    end
    assert.are.same({ "healthy", "damaged", "healthy" }, verdicts)
    local lines = {}
    for line in run.perflua({ "doctor", "--json", good, bad }).out:gmatch "[^\n]+" do
      table.insert(lines, dkjson.decode(line).verdict)
    end
    assert.are.same({ "healthy", "damaged" }, lines)
  end)

  it("is another thing than a file that cannot be read: that has status 1", function()
    local good = ailing(function() end):write()
    local got = run.perflua { "doctor", "/no/such.data", good }
    assert.are.equal(1, got.status)
    assert.matches("^perflua: /no/such.data: [^\n]*\n$", got.err)
    assert.matches("^" .. good:gsub("%p", "%%%0") .. ": healthy\n", got.out)
    assert.are.equal(1, run.perflua({ "doctor", run.script "not a recording" }).status)
    assert.are.equal(2, run.perflua({ "doctor" }).status)
    assert.are.equal(2, run.perflua({ "doctor", "--bogus", good }).status)
  end)
end)

describe("a recording made now", function()
  needs.it("tracepoints,cpus",
    "whose buffers were too small has lost what perf says", function()
    local calls, path, records, samples = 30000
    repeat -- how many records are lost is a matter of luck
      path, records, samples = oracle.record("-a -m 1 -e raw_syscalls:sys_enter",
        "dd if=/dev/zero of=/dev/null bs=1 count=" .. calls), 0, 0
      for line in files.lines("perf report -D -f -i " .. path .. " 2>/dev/null") do
        records = records + (line:match "PERF_RECORD_LOST: .*lost:(%d+)" or 0)
        samples = samples + (line:match "PERF_RECORD_LOST_SAMPLES: .*lost samples :(%d+)" or 0)
      end
      calls = calls * 4
    until records > 0 or calls > 10000000
    local _, report = doctor(path)
    assert.are.equal(records, report.lost.records)
    assert.are.equal(samples, report.lost.samples)
    assert.is_truthy(find(report, "lost"))
  end)

  needs.it("record", "is not finished if perf was killed", function()
    local path = files.temporary()
    files.output(
      ("perf record -q -e cpu-clock -o %s -- sh -c 'kill -9 $PPID; sleep 0.1' 2>/dev/null")
        :format(path))
    local got = run.perflua { "doctor", path }
    assert.are.equal(3, got.status)
    assert.matches("did not finish the file", got.out, 1, true)
  end)
end)

describe("a real recording", function()
  corpus.each_file(it, "has a report", function(recording)
    local got = run.perflua { "doctor", "--json", recording.path }
    if got.status == 1 then
      return assert.matches("^perflua: [^\n]*\n$", got.err)
    end
    local report = assert(dkjson.decode(got.out))
    assert.are.equal(report.complete and #report.damage == 0 and 0 or 3, got.status)
    assert.are.equal("", got.err)
  end)
end)
