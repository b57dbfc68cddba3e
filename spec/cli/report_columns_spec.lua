-- The columns of perflua report, and the order of its rows, as perf report has them.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local report_lines = require "spec.support.report_lines"
local run = require "spec.cli.run"

local words = files.fixture "words/perf.data"

-- A recording of samples { weight, ins_lat, p_stage_cyc, tid }.
local function weighed(samples)
  local b = builder.new()
  local event = b:event { type = 4, ids = { 1 }, name = "it",
    sample_type = { "identifier", "ip", "tid", "time", "addr", "period", "weight_struct",
      "data_src" } }
  for tid = 5, 6 do b:record("comm", { pid = 5, tid = tid, comm = "thread" .. tid }) end
  for i, sample in ipairs(samples) do
    b:sample(event, { identifier = 1, ip = 0x400010, pid = 5, tid = sample[4], time = i,
      period = i, addr = 0x1000, data_src = 0x68100142,
      weight = sample[1], ins_lat = sample[2], retire_lat = sample[3] })
  end
  return b:write()
end

local weights = weighed { { 7, 1, 2, 5 }, { 7, 1, 2, 5 }, { 7, 2, 9, 6 }, { 30, 2, 2, 5 },
  { 8, 900, 2, 6 } }

local function head_of(...)
  return run.perflua({ "report", ... }).out:match "\n# (%S[^\n]*)\n# %.%."
end

describe("perflua report -F", function()
  it("has the columns in the order in which they are named", function()
    assert.are.equal("Command  Overhead       Samples",
      head_of("-F", "comm,overhead,sample", words))
    assert.are.equal("Children      Self        Period  Command",
      head_of("-F", "+period", "-s", "comm", words))
    assert.are.equal("Overhead  Children  Command",
      head_of("-F", "overhead,overhead_children", "-s", "comm", "--no-children", words))
  end)

  it("sorts rows by them, numbers from the greatest on, or by --sort before", function()
    local function first_of(...)
      return run.perflua({ "report", "-q", "--no-children", words, ... }).out:match "^[^\n]*"
    end
    assert.are.equal("  list       20.85%", first_of("-F", "comm,overhead"))
    assert.are.equal("           456  tree", first_of("-F", "sample,comm"))
    assert.are.equal("           152  list", first_of("-F", "sample", "-s", "comm"))
  end)

  it("averages weights, and shows one row of each event if no field is named", function()
    assert.are.equal("          11.8         181.2           3.4\n",
      run.perflua({ "report", "-q", "-F", "weight1,weight2,weight3", weights }).out)
    assert.are.equal("   100.00%             5\n",
      run.perflua({ "report", "-q", "-F", "overhead,sample", weights }).out)
  end)

  it("separates or widens them as it is asked to", function()
    assert.are.equal(" 20.85% ;list\n 16.60% ;table\n 62.55% ;tree\n",
      run.perflua({ "report", "-q", "--no-children", "-t", ";", "-s", "comm,overhead",
        words }).out)
    for message, option in pairs {
      ["--field-separator: a text other than a point expected"] = "-t.",
      ["--column-widths: '-1' is not a number of columns"] = "-w-1",
      ["--column-widths: '5000' is not a number of columns"] = "-w5000",
    } do
      local got = run.perflua { "report", option, words }
      assert.are.same({ 2, "" }, { got.status, got.out })
      assert.matches(message, got.err, 1, true)
    end
  end)

  it("says which field a recording lacks", function()
    local got = run.perflua { "report", "-F", "comm,weight2", words }
    assert.are.same({ 2, "" }, { got.status, got.out })
    assert.matches("has a field 'ins_lat'; perf record -W records it", got.err, 1, true)
  end)
end)

needs.describe("perf", "the columns of perflua report, and those of perf report", function()
  for _, options in ipairs {
    "-F comm,overhead", "-F overhead,comm", "-F overhead,sym -s comm", "-F sample,overhead",
    "-F overhead_sys,overhead_us,comm", "-F overhead,sample,period,comm,dso",
    "-F comm,sample,overhead_guest_sys,overhead_guest_us", "-s comm,overhead_us",
    "-s comm,overhead,sample", "-s sample,comm", "--show-cpu-utilization -s comm,sym",
    "-n --show-total-period -s comm", "-s dso,period,sym", "-F +period", "-s +pid",
    "-F +overhead_us -s comm", "-F overhead,comm -s comm,overhead", "-F sample,period",
    "-F comm,overhead,overhead_children", "-F overhead --percent-limit 20 -s comm",
    "-F comm,overhead --percent-limit 20", "-t ,", "-t '|' -F comm,period,overhead",
    "-t x -n", "-w 12,0,20,9", "-w 0,0,3",
  } do
    it("are the same with " .. options, function()
      options = "--no-children -g none --symfs spec/fixtures/words " .. options
      local theirs = report_lines.of_perf(words, options)
      assert.are.same(theirs, report_lines.of_ours(words, options))
      assert.is_not_nil(theirs[1])
    end)
  end

  for _, options in ipairs {
    "-s local_weight", "-s weight", "-s comm,weight", "-s weight,comm", "-s ins_lat",
    "-F comm,weight,sample,overhead", "-s local_ins_lat", "-s local_weight,weight",
    "-F sample,local_weight,comm", "--mem-mode -s comm", "--mem-mode -s local_weight,comm",
  } do
    it("are the same with " .. options .. " for weights", function()
      options = report_lines.unresolved .. " " .. options
      local theirs = report_lines.sorted(report_lines.of_perf(weights, options))
      assert.are.same(theirs, report_lines.sorted(report_lines.of_ours(weights, options)))
      assert.is_not_nil(theirs[1])
    end)
  end
end)
