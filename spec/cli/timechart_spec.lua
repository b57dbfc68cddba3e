-- perflua timechart: threads on processors over time, as a page.
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"
local switch_text = require "spec.support.switch_text"
local switches = require "spec.support.switches"

local US <const> = 1000

local function timechart(...) return run.perflua { "timechart", "-o", "-", ... } end

-- The data of a page: rows with their segments as "start-stop other", in microseconds.
local function read(page)
  local data = profiles.json(assert(page:match "<metadata>(.-)</metadata>"))
  local rows = {}
  for i, row in ipairs(data.rows) do
    rows[i] = { row.name, row.ran / US }
    for _, list in ipairs { row.runs, row.waits, row.unknown > 0 and row.gaps or nil } do
      local texts, last = {}, 0
      for at = 1, #list, 4 do
        local start = last + list[at]
        last = start + list[at + 1]
        texts[#texts + 1] = ("%g-%g %d"):format(start / US, last / US, list[at + 3])
      end
      table.insert(rows[i], table.concat(texts, ", "))
    end
  end
  return rows, data
end

describe("perflua timechart", function()
  local path = switches.recording({
    { 100 * US, 0, "switch", 0, 0, 7 }, { 102 * US, 0, "waking", 8, 7 },
    { 104 * US, 1, "switch", 0, 0, 8 }, { 110 * US, 0, "switch", 7, 0, 9 },
    { 115 * US, 0, "switch", 9, 1, 7 }, { 120 * US, 1, "switch", 8, 1, 0 },
    { 125 * US, 0, "switch", 7, 1, 0 },
  }, { [7] = "a<b>&\"]]>", [8] = "b", [9] = "c" })

  it("reads a recording twice: to count its switches, and to draw them", function()
    local told = dkjson.decode(timechart("--timing=json", path).err)
    local names = {}
    for i, pass in ipairs(told.files[1].passes) do names[i] = pass.what end
    assert.same({ "counts of records", "loop" }, names)
  end)

  it("has a row for each processor and thread: runs, waits and wake-ups", function()
    local got = timechart(path)
    assert.same({ 0, "" }, { got.status, got.err })
    local rows, data = read(got.out)
    assert.same({
      { "cpu 0", 25.0, "0-10 0, 10-15 1, 15-25 0", "" }, { "cpu 1", 16.0, "4-20 2", "" },
      { "a<b>&\"]]> 7", 20.0, "0-10 0, 15-25 0", "10-15 -1" },
      { "b 8", 16.0, "4-20 1", "2-4 -1" },
      { "c 9", 5.0, "10-15 0", "" },
    }, { rows[1], rows[2], rows[3], rows[4], rows[5] })
    assert.same({ 2 * US, 2, 3 }, data.wakes)
    assert.equal("100000", data.origin)
    assert.matches("0.000025 s, 2 processors, 3 threads", got.out, 1, true)
    assert.matches(">a&lt;b&gt;&amp;&quot;]]&gt; 7</text>", got.out, 1, true)
    if needs.missing "xmllint" then return pending(needs.missing "xmllint") end
    assert.equal("", (files.output("xmllint --noout " .. files.temporary(got.out) .. " 2>&1")))
  end)

  it("draws the threads that are asked for, or that ran longest", function()
    local rows = read(timechart("--count", "1", path).out)
    assert.same({ "cpu 0", "cpu 1", "a<b>&\"]]> 7" }, { rows[1][1], rows[2][1], rows[3][1] })
    assert.matches("2 further threads ran 21.0us", timechart("--count", "1", path).out, 1, true)
    rows = read(timechart("--comm", "c", "--title", "Mine", path).out)
    assert.same({ 3, "c 9" }, { #rows, rows[3][1] })
  end)

  it("draws no run without both ends, and hatches its processor until the next one", function()
    local got = timechart(switches.recording {
      { 10 * US, 0, "switch", 0, 0, 7 }, { 20 * US, 0, "switch", 8, 0, 0 },
      { 30 * US, 0, "switch", 0, 0, 9 }, { 35 * US, 0, "lost" },
      { 40 * US, 0, "switch", 9, 0, 7 }, { 45 * US, 0, "switch", 7, 1, 0 },
      { 50 * US, 0, "switch", 8, 0, 7 }, { 52 * US, 0, "switch", 7, 0, 0 },
      { 55 * US, 1, "switch", 8, 0, 7 }, { 60 * US, 0, "switch", 0, 0, 7 },
      { 70 * US, 1, "switch", 8, 0, 0 },
    })
    local rows, data = read(got.out)
    assert.same({ "cpu 0", 17.0, "30-35 0, 40-42 0, 50-60 0", "",
      "0-10 -1, 20-30 -1, 35-40 -1" }, rows[1])
    assert.same({ "cpu 1", 0.0, "", "", "0-45 -1, 45-60 -1" }, rows[2])
    assert.same({ 25.0 * US, 60.0 * US }, { data.rows[1].unknown, data.rows[2].unknown })
    assert.matches("  ·  who ran is not known for 85.0us of the processors&#39; time  ·  "
      .. "9 runs and waits, and 4 not over when the recording ended; not counted: 7 ends "
      .. "without a start, 2 starts without an end, 2 during which records were lost  ·  ",
      got.out, 1, true)
    assert.matches('<path class="gap" d="M0 108h', got.out, 1, true)
    assert.matches(">not known who ran</text>", got.out, 1, true)
    assert.not_matches(">not known who ran</text>", timechart(path).out, 1, true)
  end)

  it("draws no run of a thread that came to another processor meanwhile", function()
    local rows = read(timechart(switches.recording {
      { 10 * US, 0, "switch", 7, 1, 0 }, { 10 * US, 1, "switch", 0, 0, 0 },
      { 20 * US, 0, "switch", 0, 0, 7 }, { 30 * US, 1, "switch", 0, 0, 7 },
      { 35 * US, 1, "switch", 7, 1, 0 }, { 40 * US, 0, "switch", 7, 1, 0 },
      { 50 * US, 0, "switch", 0, 0, 7 }, { 60 * US, 1, "switch", 0, 0, 7 },
      { 65 * US, 1, "switch", 7, 1, 0 }, { 70 * US, 1, "switch", 0, 0, 0 },
    }).out)
    assert.same({
      { "cpu 0", 0.0, "", "", "10-30 -1, 40-60 -1" }, { "cpu 1", 10.0, "20-25 0, 50-55 0", "" },
      { "[unknown] 7", 10.0, "20-25 1, 50-55 1", "" },
    }, { rows[1], rows[2], rows[3] })
  end)

  it("refuses wrong words, and recordings without switches", function()
    assert.equal(2, run.perflua({ "timechart", path }).status)
    assert.equal(2, timechart("--count", "0", path).status)
    local got = timechart(run.demo)
    assert.equal(1, got.status)
    assert.matches("has no event 'sched:sched_switch'", got.err, 1, true)
  end)

  needs.it("tracepoints,cpus", "adds up to the run times of perf sched timehist", function()
    local recorded = oracle.record_whole(1024, "-a -e sched:sched_switch",
      switch_text.never_idle "perf bench sched messaging -g 1 -l 40")
    local rows, ours, n = read(timechart("--count", "1000", recorded).out), {}, 0
    for _, row in ipairs(rows) do
      local tid = row[1]:match "^.* (%d+)$"
      if not row[1]:find "^cpu %d+$" then ours[tonumber(tid)] = row[2] / 1000 end
    end
    local theirs = switch_text.timehist(recorded)
    for tid, count in pairs(switch_text.whole(switch_text.of_perf(recorded))) do
      n = n + 1
      -- perf cuts each run to microseconds
      local more = ours[tid] - theirs[tid].run
      assert.is_true(more > -1e-6 and more < 0.001 * count + 1e-6, ("%d: %g"):format(tid, more))
    end
    assert.is_true(n > 20, n .. " threads")
  end)
end)
