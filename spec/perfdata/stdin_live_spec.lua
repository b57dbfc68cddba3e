-- Recordings that are read while they are written.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

local shell = run.shell_with

describe("a recorder that still runs", function()
  -- Lets the shell wait for a file that the script makes, but not for ever.
  local wait =
    [[wait_for() { for i in $(seq 6000); do [ -s "$1" ] && return; sleep 0.05; done; echo late; }]]

  it("has its first records in the script before it writes the next", function()
    local b = small()
    local path, mark = b:write(), files.temporary()
    local half = b:offsets()[2]
    local got = shell(wait .. ([[

      { head -c %d "$1"; wait_for "$2" >&2; tail -c +%d "$1"; } | "$perflua" "$3" - "$2"]]):format(half, half + 1),
      path, mark, run.script [[
        local first = true
        for r in perflua.open("-"):records { order = "file" } do
          if first then
            local f = io.open(arg[2], "w")
            f:write "seen"
            f:close()
            first = false
          end
          print(r.type)
        end]])
    assert.are.same({ status = 0, out = "comm\nsample\nsample\n", err = "" }, got)
  end)

  it("is opened before its first record comes", function()
    local b = small()
    local path, mark = b:write(), files.temporary()
    local at = b:offsets()[1] + 8 -- the first header says that the head has ended
    local got = shell(wait .. ([[

      { head -c %d "$1"; wait_for "$2" >&2; tail -c +%d "$1"; } | "$perflua" "$3" - "$2"]]):format(at, at + 1),
      path, mark, run.script [[
        local file = perflua.open("-")
        local f = io.open(arg[2], "w")
        f:write(file.features.hostname)
        f:close()
        print(file:records():count())]])
    assert.are.same({ status = 0, out = "3\n", err = "" }, got)
  end)

  needs.it("kernel", "is perf: records come while the command runs", function()
    local mark = files.temporary()
    local got = shell(wait .. [[

      export mark="$2"
      perf record -q -N -m 16 --no-buffering -F 999 -e cpu-clock -o - -- \
        sh -c 'for i in $(seq 2000); do [ -s "$mark" ] && exit; done; for i in $(seq 200); do
          [ -s "$mark" ] && exit; sleep 0.02; done; echo late >&2' | timeout 300 "$perflua" "$1" - "$2"]],
      run.script [[
        local file = assert(perflua.open("-"))
        local samples, comm = 0, false
        for r in file:records() do
          if r.type == "sample" then
            samples = samples + 1
            if samples == 1 then
              local f = io.open(arg[2], "w")
              f:write "seen"
              f:close()
            end
          end
          comm = comm or r.type == "comm" and r.comm == "sh"
        end
        print(file.mode, samples > 0, comm, file.complete, file.events[1].name)]], mark)
    assert.are.equal("pipe\ttrue\ttrue\ttrue\tcpu-clock\n", got.out, got.err)
    assert.is_nil(got.err:find("late", 1, true), got.err)
  end)

  needs.it("tracepoints",
    "is perf with tracepoints, whose records perf itself finds, too", function()
    local path = files.temporary()
    local got = shell([[
      perf record -q -N -m 64 -e sched:sched_switch -e cpu-clock -o - -- sh -c 'sleep 0.01 | cat' |
        tee "$1" | "$perflua" "$2" -]], path, run.script [[
        local file = assert(perflua.open("-"))
        print(file.features.tracing_data ~= nil, file.events[1].name, file.events[2].name)
        for r in file:records({ container = true }) do print(r.offset, r.size, r.type_id) end]])
    local names, rest = got.out:match "^([^\n]*)\n(.*)$"
    assert.are.equal("true\tsched:sched_switch\tcpu-clock", names, got.err)
    local theirs = {}
    for _, r in ipairs(oracle.dump(path)) do
      theirs[#theirs + 1] = ("%d\t%d\t%d\n"):format(r.offset + 16, r.size, r.type_id)
    end
    assert.is_true(#theirs > 10)
    local ours = {}
    for line in rest:gmatch "[^\n]*\n" do
      ours[line] = true
    end
    for _, line in ipairs(theirs) do
      assert.is_true(ours[line], line)
    end
  end)
end)
