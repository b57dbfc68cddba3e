-- perflua migrations: which threads were moved from processor to processor.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"

local moves = {
  { 1000, 0, "migrate", 7, 0, 1 }, { 2000, 0, "migrate", 7, 0, 1 },
  { 3000, 0, "migrate", 8, 1, 2 },
  { 4000, 0, "migrate", 7, 1, 3 }, { 5000, 0, "migrate", 8, 0, 9 },
}

local function migrations(prepare, ...)
  local got = run.perflua { "migrations", switches.recording(moves, { [7] = "a\27" }, prepare),
    ... }
  assert.are.equal("", got.err)
  return got.out
end

describe("perflua migrations", function()
  it("is a row for each thread and pair of processors", function()
    assert.are.equal([[
comm   tid  from  to  across  migrations
a\x1b    7     0   1  -                2
a\x1b    7     1   3  -                1
-        8     0   9  -                1
-        8     1   2  -                1
]], migrations())
    assert.are.equal("comm,tid,migrations\na\27,7,3\n,8,2\n",
      migrations(nil, "--by=thread", "--csv"))
    local json = migrations(nil, "--by=cpus", "--json")
    assert.matches('^{"rows":%[\n{"from":0,"to":1,"across":null,"migrations":2},\n', json)
  end)

  it("tells across what, where the recording has the topology", function()
    local function topology(b)
      b:feature("nrcpus", { available = 4, online = 4 })
      b:feature("cpu_topology", {
        cores = { "0-1", "2-3" }, threads = { "0-1", "2", "3" },
        cpus = {
          { core_id = 0, socket_id = 0 }, { core_id = 0, socket_id = 0 },
          { core_id = 1, socket_id = 0 },
          { core_id = 0, socket_id = 1 },
        },
      })
      b:feature("numa_topology", {
        { node = 0, mem_total = 1, mem_free = 1, cpus = "0-2" },
        { node = 1, mem_total = 1, mem_free = 1, cpus = "3" },
      })
    end
    assert.are.equal([[
from  to  across  migrations
   0   1  cpu              2
   0   9  -                1
   1   2  core             1
   1   3  node             1
]], migrations(topology, "--by", "cpus"))
  end)

  needs.it("tracepoints,cpus", "counts what perf script prints", function()
    local work = "perf bench sched messaging -g 2 -l 100"
    local path = oracle.record("-a -m 512 -e sched:sched_migrate_task", work)
    local theirs, ours, n = {}, {}, 0
    for line in files.lines("perf script -f -F trace -i " .. files.quote(path)
        .. " 2>/dev/null") do
      local key = ("%s,%s,%s"):format(line:match "pid=(%d+) .*orig_cpu=(%d+) dest_cpu=(%d+)")
      theirs[key], n = (theirs[key] or 0) + 1, n + 1
    end
    local got = run.perflua { "migrations", "--csv", path }
    for key, count in got.out:gmatch ",(%d+,%d+,%d+),[^,]*,(%d+)\n" do
      ours[key] = tonumber(count)
    end
    assert.are.same(theirs, ours)
    assert.is_true(n > 3)
  end)
end)
