-- Recordings made on the spot: their samples come in the order in which perf script prints
-- them.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"

local record = "perf record -q -N -m 64 --no-bpf-event -a "
local workload = " -- sh -c 'for i in 1 2 3 4 5 6 7 8; do seq 4000 | sort -R | wc -c; done' "
local aside = "2>&1 >/dev/null"
local scheduling =
  "-e sched:sched_switch -e sched:sched_wakeup -e sched:sched_process_exec -F 900 -e cpu-clock"

--- Lines "time cpu event" of the samples as perf script prints them.
local function perf_order(path)
  local list = {}
  for _, line in ipairs(oracle.script(path, "time,cpu,event")) do
    local cpu, sec, ns, event = line:match "^%s*%[(%d+)%]%s+(%d+)%.(%d+):%s+(%S+):%s*$"
    if cpu then
      list[#list + 1] = ("%d %d %s"):format(math.tointeger(tonumber(sec .. ns)), tonumber(cpu),
        event)
    end
  end
  return list
end

local function our_order(file)
  local list = {}
  for time, cpu, event in file:samples():select("time", "cpu", "event"):each() do
    list[#list + 1] = ("%d %d %s"):format(time, cpu, event.name)
  end
  return list
end

---Sorts records of one time by their text: they may be in another order there.
local function settled(list)
  local from = 1
  local out = {}
  for i = 1, #list do
    if i == #list or list[i + 1]:match "^%d+" ~= list[i]:match "^%d+" then
      local group = table.move(list, from, i, 1, {})
      table.sort(group)
      table.move(group, 1, #group, #out + 1, out)
      from = i + 1
    end
  end
  return out
end

local function same_lines(theirs, ours)
  theirs, ours = settled(theirs), settled(ours)
  assert.is_true(#theirs > 100, #theirs .. " samples")
  for i = 1, math.max(#theirs, #ours) do
    if theirs[i] ~= ours[i] then
      return assert.are.equal(("%d of %d: %s"):format(i, #theirs, theirs[i]),
        ("%d of %d: %s"):format(i, #ours, ours[i]))
    end
  end
end

local function same_order(path, found)
  same_lines(perf_order(path), found)
end

local function recorded(options)
  local path = files.temporary()
  local text, ok = files.output(record .. options .. " -o " .. path .. workload .. aside)
  assert.is_true(ok, text)
  return path
end

local recordings = {
  { "of all cpus", scheduling },
  { "with -z", "-z " .. scheduling },
  { "whose buffers are written newest first (--overwrite)", "--overwrite " .. scheduling },
  { "with small buffers, so in many rounds", "-m 4 " .. scheduling },
}

for _, recording in ipairs(recordings) do
  needs.it("tracepoints,cpus", "a recording made now " .. recording[1]
    .. " is in perf's order", function()
    local path = recorded(recording[2])
    local file <close> = assert(perflua.open(path))
    same_order(path, our_order(file))
    assert.are.equal(0, file.out_of_order)
    local all = file:records():where(function(r) return r.time end):select("time"):collect()
    for i = 2, #all do
      assert.is_true(all[i] >= all[i - 1], i)
    end
  end)
end

for _, option in ipairs { "", "-z " } do
  needs.it("tracepoints,cpus",
    ("a directory of a thread for each cpu made now, %srecorded with --threads"):format(option)
    .. " is in perf's order", function()
    local path = files.output "mktemp -d":match "%S+"
    local text, ok = files.output(record .. option .. "--threads=cpu " .. scheduling .. " -o "
      .. path .. "/d"
      .. workload .. aside)
    local file = ok and perflua.open(path .. "/d")
    local mode, complete, found = file and file.mode, file and file.complete,
      file and our_order(file)
    local good, problem = pcall(same_order, path .. "/d", found or {})
    os.execute("rm -r " .. path)
    assert.is_true(ok, text)
    assert.are.same({ "directory", true }, { mode, complete })
    assert.is_true(good, problem)
  end)

  needs.it("tracepoints,cpus", ("a pipe that perf %swrites now is in perf's order"):format(
    option), function()
    local path = files.temporary()
    local got = run.shell_with(record .. option .. scheduling .. " -o -" .. workload
      .. '2>/dev/null | tee "$1" | "$perflua" "$2" -', path, run.script [[
        for time, cpu, event in perflua.open("-"):samples():select("time", "cpu", "event") do
          print(("%d %d %s"):format(time, cpu, event.name))
        end]])
    local found = {}
    for line in got.out:gmatch "[^\n]+" do
      found[#found + 1] = line
    end
    same_order(path, found)
    local file <close> = assert(perflua.open(path))
    same_order(path, our_order(file))
  end)
end

needs.it("tracepoints,cpus",
  "two recordings made at the same time are in the order of time together", function()
  local one, other = files.temporary(), files.temporary()
  -- each recorder's command waits for the other's
  local text, ok = files.output(([[
    record() {
      perf record -q -N -m 64 --no-bpf-event -a -o $1 $3 -- sh -c ": >$1.runs
        timeout 300 sh -c 'until [ -e $2.runs ]; do sleep 0.01; done'
        for i in 1 2 3 4 5 6 7 8; do seq 4000 | sort -R | wc -c; done"
    }
    { record %s %s "-e sched:sched_switch" & record %s %s "-F 900 -e cpu-clock" & wait; } 2>&1 >/dev/null
    rm %s.runs %s.runs]]):format(one, other, other, one, one, other))
  assert.is_true(ok, text)
  local lines, more = perf_order(one), perf_order(other)
  table.move(more, 1, #more, #lines + 1, lines)
  table.sort(lines, function(a, b)
    return tonumber(a:match "^%d+") < tonumber(b:match "^%d+")
  end)
  local file <close> = assert(perflua.open { other, one })
  same_lines(lines, our_order(file))
  local runs, last = 0, nil
  for source in file:samples():select("source"):each() do
    runs = runs + (source ~= last and 1 or 0)
    last = source
  end
  assert.is_true(runs > 2, runs .. " runs")
end)
