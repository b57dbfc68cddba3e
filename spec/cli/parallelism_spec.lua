-- perflua report --sort parallelism: the rows are those of perf 7.3.
local builder = require "spec.support.builder"
local run = require "spec.cli.run"

-- Writes a recording of lines: { time, "in" | "out" | "sample" | "exit" | "wide", tid }.
local function recording(lines, options)
  local b = builder.new()
  local event = b:event { name = "cycles", sample_type = { "tid", "time" },
    sample_id_all = true, context_switch = not (options and options.without_switches) }
  for _, line in ipairs(lines) do
    local time, what, tid = table.unpack(line)
    local id = { pid = tid, tid = tid, time = time }
    if what == "sample" then
      b:sample(event, id)
    elseif what == "exit" then
      b:record("exit", { pid = tid, tid = tid, ppid = 1, ptid = 1, time = time }, id)
    elseif what == "wide" then
      b:record("switch_cpu_wide", { next_prev_pid = 1, next_prev_tid = 1 }, id)
    else
      b:record("switch", { misc = what == "out" and 1 << 13 or 0 }, id)
    end
  end
  return b:write()
end

local function rows_of(...)
  local got = run.perflua { "report", "-n", "--csv", "--sort", "parallelism", ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  local rows = {}
  for key, samples in got.out:gmatch "\ncycles,[^,]+,(%d+),(%d+)" do
    rows[tonumber(key)] = tonumber(samples)
  end
  return rows
end

describe("perflua report --sort parallelism", function()
  local busy = {
    { 10, "sample", 7 }, { 20, "in", 7 }, { 30, "in", 8 }, { 40, "sample", 7 },
    { 50, "in", 9 }, { 60, "sample", 8 }, { 61, "sample", 9 }, { 70, "out", 8 },
    { 71, "out", 8 }, { 80, "sample", 9 }, { 90, "exit", 9 }, { 91, "sample", 7 },
    { 95, "in", 7 }, { 96, "sample", 7 }, { 97, "in", 0 }, { 98, "sample", 7 },
  }

  it("counts the threads that run, at least one, by their switches and ends", function()
    assert.are.same({ [1] = 2, [2] = 2, [3] = 2, [4] = 2 }, rows_of(recording(busy)))
  end)

  it("is a key beside others", function()
    local out = run.perflua { "report", "-n", "--sort", "tid,parallelism", "--as", "6.1",
      recording(busy) }.out
    assert.matches("\n# Overhead       Samples  Tid  Parallelism\n", out, 1, true)
    assert.matches("\n +25%.00%% +2 +7 +1\n", out)
    assert.matches("\n +12%.50%% +1 +9 +4\n", out)
  end)

  it("counts the threads of each recording apart", function()
    assert.are.same({ [2] = 3, [3] = 1 }, rows_of(
      recording { { 10, "in", 7 }, { 20, "in", 8 }, { 30, "sample", 7 } },
      recording { { 11, "in", 9 }, { 31, "sample", 9 }, { 32, "sample", 9 },
        { 33, "sample", 9 } }))
  end)

  it("refuses recordings that do not tell, and says why", function()
    local cases = {
      [recording({ { 1, "sample", 7 } }, { without_switches = true })] =
        "this recording has no records of switches; record it with: "
          .. "perf record --switch-events",
      [recording { { 1, "wide", 7 }, { 2, "sample", 7 } }] =
        "parallelism is counted for recorded commands, not for all processors",
    }
    for path, message in pairs(cases) do
      local got = run.perflua { "report", "--sort", "parallelism", path }
      assert.are.equal(2, got.status)
      assert.matches(message, got.err, 1, true)
    end
  end)
end)
