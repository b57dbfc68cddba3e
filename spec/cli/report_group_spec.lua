-- perflua report of events that were recorded in groups, as perf report has them.
local builder = require "spec.support.builder"
local needs = require "spec.support.needs"
local report_lines = require "spec.support.report_lines"
local run = require "spec.cli.run"

-- A recording of three events; those of `group` are one. samples: { event, tid, period, ip }.
local function recording(group, samples, is_chainless)
  local b = builder.new()
  for i, name in ipairs { "cycles", "instructions", "faults" } do
    b:event { name = name, ids = { i },
      sample_type = { "identifier", "ip", "tid", "time", "period",
        not is_chainless and "callchain" or nil } }
  end
  if group then b:feature("group_desc", { group }) end
  for tid, comm in ipairs { "one", "two", "three" } do
    b:record("comm", { pid = tid, tid = tid, comm = comm })
    b:record("mmap2", { pid = tid, tid = tid, addr = 0x400000, len = 0x1000,
      pgoff = 0x400000, filename = "/bin/" .. comm })
  end
  for i, one in ipairs(samples) do
    local ip = one[4] or 0x400010
    b:sample(b.events[one[1]], { identifier = one[1], ip = ip, pid = one[2], tid = one[2],
      time = i, period = one[3], callchain = { -512, ip, 0x400020 } })
  end
  return b:write()
end

local SAMPLES <const> = { { 1, 1, 60 }, { 1, 2, 30, 0x400030 }, { 1, 3, 10 }, { 2, 1, 5 },
  { 2, 2, 40 }, { 2, 3, 40, 0x400040 }, { 3, 2, 7 } }
local path = recording({ name = "{anon_group}", leader = 0, members = 2 }, SAMPLES)
local named = recording({ name = "misses", leader = 1, members = 2 }, SAMPLES)
local chainless = recording({ name = "", leader = 0, members = 2 }, SAMPLES, true)
local ungrouped = recording(nil, SAMPLES)

local function report(...)
  local got = run.perflua { "report", ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out
end

describe("perflua report of groups", function()
  it("shows the events of a group together, and others by themselves", function()
    assert.are.equal([[
# 6 samples of events 'anon group { cycles, instructions }', none lost
# Event count: 185
#
#         Overhead  Command
# ................  .......
#
    60.00%   5.88%  one
    30.00%  47.06%  two
    10.00%  47.06%  three


# 1 sample of event 'faults', none lost
# Event count: 7
#
# Overhead  Command
# ........  .......
#
   100.00%  two
]], report("-s", "comm", "--no-children", path))
  end)

  it("names a group as it was recorded", function()
    assert.matches("events 'misses { instructions, faults }'", report(named), 1, true)
  end)

  it("shows each event by itself, or all together", function()
    assert.are.equal(report("--no-group", path), report("--no-group", ungrouped))
    assert.are.equal(report("--no-group", path), report(ungrouped))
    assert.matches("# 7 samples of events 'cycles, instructions, faults'",
      report("--group", ungrouped), 1, true)
  end)

  it("leaves out events without samples, as perf from 6.12 on", function()
    local few = recording({ name = "", leader = 0, members = 3 }, { { 1, 1, 1 }, { 3, 1, 1 } })
    local skipped = report("-q", "-s", "comm", "--no-children", "--as", "6.12", few)
    assert.are.equal("   100.00% 100.00%  one\n", skipped)
    for _, option in ipairs { "--as=6.1", "--no-skip-empty" } do
      assert.are.equal("   100.00%   0.00% 100.00%  one\n", report("-q", "-s", "comm",
        "--no-children", option, few))
    end
  end)

  it("says what is wrong", function()
    for message, words in pairs {
      ["--group and --no-group exclude each other"] = { "--group", "--no-group" },
      ["--group and --json exclude each other"] = { "--group", "--json" },
      ["--group-sort-idx: the number of an event expected, got x"] = { "--group-sort-idx=x" },
      ["--group-sort-idx: 2 events are shown together, numbered from 0; perf record -e "
        .. "'{EVENT,EVENT}' records a group"] = { "--group-sort-idx", "2" },
    } do
      local got = run.perflua { "report", path, table.unpack(words) }
      assert.are.same({ 2, "" }, { got.status, got.out })
      assert.matches(message, got.err, 1, true)
    end
  end)
end)

needs.describe("perf", "the groups of perflua report, and those of perf report", function()
  for _, options in ipairs {
    "-s comm", "-s comm,sym", "-s comm -n --show-total-period", "-s dso --no-children",
    "-F comm,sample,overhead,period", "-s comm,overhead_us", "-s comm --group-sort-idx 1",
    "--no-group -s comm", "-s comm --percent-limit 20", "-G -s comm", "-g callee -s comm",
    "-g caller --no-children -s sym", "--hierarchy -n", "--hierarchy -s comm -g callee",
    "--hierarchy -s comm,sym --group-sort-idx 1", "-g folded,count -s comm",
  } do
    it("are the same with " .. options, function()
      options = ("%s %s%s"):format(report_lines.unresolved,
        options:find "%-[gG] " and "" or "-g none ", options)
      for _, recorded in ipairs { path, named } do
        local theirs = report_lines.of_perf(recorded, options)
        assert.are.same(theirs, report_lines.of_ours(recorded, options))
        assert.is_not_nil(theirs[1])
      end
    end)
  end

  it("have one column of Children that are not there", function()
    for _, option in ipairs { "-F comm,sample,overhead_children", "-s comm,overhead_children",
    } do
      for _, children in ipairs { " --no-children", "" } do
        local options = report_lines.unresolved .. " -g none " .. option .. children
        for _, recorded in ipairs { path, chainless } do
          assert.are.same(report_lines.sorted(report_lines.of_perf(recorded, options)),
            report_lines.sorted(report_lines.of_ours(recorded, options)), options)
        end
      end
    end
  end)

  it("are the same where all events are put together", function()
    for _, option in ipairs { "-s comm", "-n -s comm,sym --no-children" } do
      local options = report_lines.unresolved .. " -g none --group " .. option
      assert.are.same(report_lines.of_perf(ungrouped, options),
        report_lines.of_ours(ungrouped, options))
    end
  end)
end)
