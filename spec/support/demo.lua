-- The recordings that the pages of the manual name: fixtures, and some that are written here.
-- `make demo` leaves them in build/demo, so that readers can repeat what the pages show.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local for_all_tools = require "spec.support.for_all_tools"
local switches = require "spec.support.switches"

local demo = {}

local MS <const> = 1000000
local START <const> = 1000000 * MS
local RUNNABLE <const>, SLEEPS <const> = 0, 1

-- A server on processor 0 that shares it with a batch job, and a worker on processor 1 that the
-- server wakes.
local function scheduling()
  local list = {}
  local function add(ms, ...)
    list[#list + 1] = { START + ms * MS // 1, ... }
  end
  for round = 0, 4 do
    local at = 20 * round
    add(at, 0, "switch", 0, RUNNABLE, 100)
    add(at + 2, 0, "waking", 200, 100)
    add(at + 2.5, 1, "switch", 0, RUNNABLE, 200)
    add(at + 4, 0, "switch", 100, RUNNABLE, 300)
    add(at + 9, 0, "switch", 300, RUNNABLE, 100)
    add(at + 12, 0, "switch", 100, SLEEPS, 300)
    add(at + 12.5, 1, "waking", 100, 200)
    add(at + 13 + round, 1, "switch", 200, SLEEPS, 0)
    add(at + 15, 0, "switch", 300, SLEEPS, 0)
    add(at + 19, 0, "waking", 300)
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local threads = { [100] = "server", [200] = "worker", [300] = "batch" }
  return switches.recording(list, threads)
end

-- Samples of a group of counters, of two programs on one processor.
local function counters()
  local b, events = builder.new(), {}
  for i, name in ipairs { "cycles", "instructions" } do
    events[i] = b:event { name = name, type = 0, config = i - 1,
      sample_type = { "identifier", "ip", "tid", "time", "cpu", "period", "read" },
      read_format = { "id", "group" }, sample_period = i == 1 and 1000 or 0, ids = { 10 * i } }
  end
  b:feature("group_desc", { { name = "{anon_group}", leader = 0, members = 2 } })
  b:record("comm", { pid = 7, tid = 7, comm = "sort" }, { time = 1 })
  b:record("comm", { pid = 8, tid = 8, comm = "gzip" }, { time = 1 })
  local cycles, instructions = 0, 0
  for i = 1, 40 do
    local pid = i % 4 == 0 and 8 or 7
    cycles, instructions = cycles + 1000, instructions + (pid == 7 and 750 or 2100)
    b:sample(events[1], { identifier = 10, ip = 0x1000, pid = pid, tid = pid, cpu = 0,
      time = START + i * MS, period = 1000,
      read = { { value = cycles, id = 10 }, { value = instructions, id = 20 } } })
  end
  return b:write()
end

-- Samples of processes in two containers and outside of them.
local function containers()
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1, config = 0, sample_period = 1000000,
    sample_type = { "ip", "tid", "time", "period", "cgroup" } }
  local groups = {
    { id = 1, path = "/system.slice/docker-" .. ("4f"):rep(32) .. ".scope", n = 6 },
    { id = 2, path = "/system.slice/docker-" .. ("a7"):rep(32) .. ".scope", n = 3 },
    { id = 3, path = "/user.slice", n = 1 },
  }
  for i, group in ipairs(groups) do
    b:record("cgroup", { cgroup_id = group.id, path = group.path }, { time = 1 })
    for k = 1, group.n do
      b:sample(event, { ip = 0x1000, pid = i, tid = i, time = START + (10 * k + i) * MS,
        period = 1000000, cgroup = group.id })
    end
  end
  return b:write()
end

local made -- paths by name, once they were asked for

---@return table<string, string> # paths from the project's directory, or absolute ones, by the
--- names of the pages; words is a directory
function demo.recordings()
  made = made or {
    ["perf.data"] = files.fixture "demo.perf.data",
    ["calls.data"] = files.fixture "calls.perf.data",
    ["switches.data"] = files.fixture "switches.perf.data", words = "spec/fixtures/words",
    ["sched.data"] = scheduling(), ["ipc.data"] = counters(), ["cgroups.data"] = containers(),
    ["kernel.data"] = for_all_tools.builder(1):write(),
  }
  return made
end

---Puts the recordings into a new directory.
---@param dir string
function demo.write(dir)
  dir = files.quote(dir)
  assert(os.execute("mkdir " .. dir))
  for name, path in pairs(demo.recordings()) do
    assert(os.execute(("cp -r %s %s/%s"):format(files.quote(path), dir, name)))
  end
  assert(os.execute("chmod -R u+w,a+r " .. dir))
end

return demo
