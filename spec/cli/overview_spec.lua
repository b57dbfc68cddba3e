local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local WORDS <const> = files.fixture "words"
local RECORDING <const> = WORDS .. "/perf.data"

local function parsed(words)
  local got = run.perflua(words)
  assert.are.equal("", got.err)
  return assert(dkjson.decode(got.out))
end

-- Returns the shares that report prints beside the first names of a key, in its order.
local function report_rows(key, path, ...)
  local rows = {}
  local got = run.perflua { "report", "--no-children", "--sort", key, path, ... }
  for line in got.out:gmatch "[^\n]+" do
    local share, name = line:match "^ +([%d.]+)%% +(.-) *$"
    if share then rows[#rows + 1] = share .. " " .. name end
  end
  assert.is_true(#rows > 0, got.out .. got.err)
  return rows
end

describe("a recording as the only argument", function()
  it("is shown on one screen", function()
    local got = run.perflua { RECORDING, "--symfs", WORDS }
    local _, lines = got.out:gsub("\n", "")
    assert.is_true(lines <= 40, got.out)
    for _, text in ipairs { "recorded ", "on demo\n", "  machine    Linux ",
      "  command    /usr/bin/perf record -q ", "  events     cpu-clock:u at 997 Hz; with call ",
      "  samples    cpu-clock:u 729\n", "cpu-clock:u by command\n", "cpu-clock:u by function\n",
      "  lost       nothing\n", "perflua report --symfs " .. WORDS .. " " .. RECORDING,
      "perflua record NAME -- COMMAND" } do
      assert.matches(text, got.out, 1, true)
    end
    assert.are.same({ 0, "" }, { got.status, got.err })
  end)

  it("has the shares that report prints", function()
    local found = parsed { RECORDING, "--json", "--symfs", WORDS }
    local top = found.top[1]
    for list, key in pairs { commands = "comm", functions = "symbol" } do
      local rows = report_rows(key, RECORDING, "--symfs", WORDS)
      for i, row in ipairs(top[list]) do
        local mark = key == "symbol" and "[.] " or ""
        local name = mark .. (row.comm or row.symbol)
        assert.are.equal(rows[i], ("%.2f %s"):format(row.percent, name))
      end
    end
  end)

  it("aligns the binaries of functions", function()
    local got = run.perflua { RECORDING, "--symfs", WORDS }
    local n, at = 0, nil
    for line in got.out:match(" by function[^\n]*\n(.-)\n\n"):gmatch "[^\n]+" do
      n, at = n + 1, at or line:find "%S+$"
      assert.are.equal(at, (line:find "%S+$"), got.out)
    end
    assert.is_true(n > 1, got.out)
  end)

  needs.it("terminal", "has commands that can be pasted, whatever its width", function()
    local terminal = require "spec.support.terminal"
    local command = "  perflua report --symfs words words/perf.data"
    local comment = "# functions, binaries and threads by their share\r\n"
    local forms = { [160] = command .. " +" .. comment,
      [60] = "  " .. comment .. command .. "\r\n" }
    for columns, form in pairs(forms) do
      local t = terminal.shell(("cd %s/.. && exec %s words/perf.data --symfs words --no-pager")
        :format(files.quote(WORDS), files.quote(run.binary)), { columns = columns })
      t:finish()
      assert.matches(form:gsub("%-", "%%-"), t.output)
    end
  end)

  it("has the counts of stat and the findings of doctor", function()
    local found = parsed { run.demo, "--json" }
    local counts = parsed { "stat", "--json", run.demo }
    local report = parsed { "doctor", "--json", "--no-symbols", run.demo }
    for i, event in ipairs(counts.events) do
      assert.are.same({ event.event, event.samples },
        { found.events[i].event, found.events[i].samples })
    end
    assert.are.same({ report.verdict, report.lost, report.first_time, report.last_time },
      { found.health.verdict, found.health.lost, found.health.first_time,
        found.health.last_time })
  end)

  it("is read three times, the first of which finds the names", function()
    local got = run.perflua { run.demo, "--json", "--timing=json" }
    local passes = dkjson.decode(got.err:match "{\"files\".*").files[1].passes
    local times = {}
    for _, pass in ipairs(passes) do times[pass.what] = (times[pass.what] or 0) + pass.times end
    assert.are.same({ ["counts for doctor"] = 1, groups = 2 }, times)
  end)

  it("names the tools that it answers, and the others", function()
    local found = parsed { run.demo, "--json" }
    local commands, lacking = {}, {}
    for _, row in ipairs(found.commands) do commands[row.command] = true end
    for _, name in ipairs(found.record[1].tools) do lacking[name] = true end
    for _, name in ipairs { "report", "faults", "offcpu" } do
      assert.is_true(commands[("perflua %s %s"):format(name, run.demo)], name)
    end
    assert.are.same({ true, true, nil }, { lacking.syscalls, lacking.locks, lacking.faults })
    for command in pairs(commands) do
      local word = command:match "^perflua (%l+)"
      assert.is_nil(lacking[word], command)
    end
  end)

  it("says what was recorded without call chains", function()
    local b = builder.new()
    local event = b:event { type = 1, config = 0, name = "cpu-clock",
      sample_type = { "ip", "tid", "time", "period" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1, period = 1 })
    local path = b:write()
    local found = parsed { path, "--json" }
    assert.are.equal("perf record -g -- COMMAND", found.record[1].command)
    assert.are.equal(100, found.top[1].without_function)
    local got = run.perflua { path }
    assert.matches("cpu-clock by function (100 % have none here)\n", got.out, 1, true)
  end)

  it("shows events that are not tracepoints where none samples time", function()
    local b = builder.new()
    local faults = b:event { type = 1, config = 2, name = "page-faults",
      sample_type = { "ip", "tid", "time", "id" } }
    local point = b:event { type = 2, config = 7, name = "a:b",
      sample_type = { "ip", "tid", "time", "id" } }
    b:sample(faults, { ip = 1, pid = 1, tid = 1, time = 1 })
    b:sample(point, { ip = 1, pid = 1, tid = 1, time = 2 })
    local found = parsed { b:write(), "--json" }
    assert.are.same({ 1, "page-faults" }, { #found.top, found.top[1].event })
  end)

  it("counts no sample of an event that the recording does not describe", function()
    local b = builder.new()
    local event = b:event { type = 1, config = 0, name = "cpu-clock",
      sample_type = { "ip", "tid", "time", "id" } }
    b:event { sample_type = { "ip", "tid", "time", "id" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1 })
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 2, id = 4711 })
    local found = parsed { b:write(), "--json" }
    assert.are.same({ 1, 100 }, { found.top[1].samples, found.top[1].without_function })
    assert.are.equal("unknown_events", found.health.findings[1].code)
  end)

  it("never lets a name drive the terminal", function()
    local b = builder.new()
    local event = b:event { type = 1, config = 0, name = "cpu-clock",
      sample_type = { "ip", "tid", "time" } }
    b:record("comm", { pid = 1, tid = 1, comm = "a\27[2Jb" })
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1 })
    b:feature("hostname", "h\27]0;x\7")
    local got = run.perflua { b:write() }
    assert.matches("a\\x1b[2Jb", got.out, 1, true)
    assert.is_nil(got.out:find("\27", 1, true))
  end)

  it("is read apart from the others if there are several", function()
    local got = run.perflua { RECORDING, run.demo, "--json" }
    local first, second = got.out:match "^(%b{})\n(%b{})\n$"
    assert.are.equal(RECORDING, dkjson.decode(first).recording.path)
    assert.are.equal(run.demo, dkjson.decode(second).recording.path)
  end)

  it("is less than a tool of its name", function()
    local script = ([[
      perflua=$(readlink -f "$perflua") directory=$(mktemp -d)
      cp %s "$directory/stat" && cd "$directory"
      "$perflua" stat ./stat && "$perflua" ./stat]]):format(files.quote(run.demo))
    local got = run.shell(script)
    assert.matches("^type +records", got.out)
    assert.matches("\n%./stat: 83.0 kB, recorded ", got.out)
  end)

  it("is the first line of the prompt with -i", function()
    local got = run.perflua({ "-i", RECORDING }, { stdin = "file.path\n" })
    assert.matches("^perflua [^\n]+\n" .. RECORDING:gsub("%p", "%%%0") .. ": 101.1 kB, "
      .. "recorded [^\n]+: cpu%-clock:u at 997 Hz; with call chains\n", got.out)
    assert.matches("\n" .. RECORDING, got.out, 1, true)
  end)
end)
