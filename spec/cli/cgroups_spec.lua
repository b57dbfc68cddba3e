-- perflua cgroups: shares of control groups and namespaces are perf report's; what it makes of
-- containers' names.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local function busy(rounds)
  return ("i=0; while [ $i -lt %d ]; do i=$((i+1)); done"):format(rounds)
end

-- A new control group.
local function new_group()
  local root = files.output("awk '$3 == \"cgroup2\" { print $2; exit }' /proc/mounts")
    :match "%S+"
  local path = ("%s/perflua-spec-%s"):format(root, files.temporary(""):match "[^/]+$")
  assert(select(2, files.output("mkdir " .. path)))
  return path
end

local ID <const> = ("0123456789abcdef"):rep(4)

-- A recording of three groups, two of them one in another.
local function recorded()
  local root = new_group()
  local one = ("%s/%s"):format(root, ID)
  local script = files.temporary(([[
    mkdir -p %s/a
    sh -c 'echo $$ >%s/cgroup.procs; %s'
    sh -c 'echo $$ >%s/a/cgroup.procs; %s'
    %s
  ]]):format(one, one, busy(60000), one, busy(30000), busy(20000)))
  local path = oracle.record("-a --all-cgroups -e cpu-clock -F 2000", "sh " .. script)
  files.output(("rmdir %s/a %s %s 2>/dev/null"):format(one, one, root))
  return path
end

local function rows_of(...)
  local got = run.perflua { "cgroups", "--json", ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return dkjson.decode(got.out).rows
end

-- name → { samples, period } of perf report.
local function of_perf(path, key)
  local rows = {}
  for line in files.lines(
      ("perf report --stdio --sort %s -F sample,period,%s -i %s 2>/dev/null"):format(key, key,
      files.quote(path))) do
    local samples, period, name = line:match "^%s+(%d+)%s+(%d+)%s+(%S+)%s*$"
    if samples then rows[name] = { tonumber(samples), tonumber(period) } end
  end
  return rows
end

local NEEDS = "cpus,cgroups"
local path = not needs.missing(NEEDS) and recorded()

needs.describe(NEEDS, "perflua cgroups, of a recording made now", function()
  it("has the samples and periods of each group that perf report --sort cgroup has", function()
    local perf, got, n = of_perf(path, "cgroup"), {}, 0
    for _, row in ipairs(rows_of(path)) do
      got[row.cgroup], n = { row.samples, row.period }, n + row.samples
    end
    assert.is_true(n >= 100)
    assert.are.same(perf, got)
  end)

  it("adds up what is nested, and is short for people", function()
    local own, nested = {}, {}
    for _, row in ipairs(rows_of("--nested", path)) do
      own[row.cgroup], nested[row.cgroup] = row.percent, row.nested
    end
    for group, share in pairs(nested) do
      local sum = 0
      for other, percent in pairs(own) do
        if other == group or group == "/" or other:sub(1, #group + 1) == group .. "/" then
          sum = sum + percent
        end
      end
      assert.is_true(math.abs(share - sum) < 1e-9)
    end
    local text = run.perflua({ "cgroups", "--nested", path }).out
    assert.matches("/0123456789ab/a\n", text, 1, true)
    assert.matches(ID .. "/a\n", run.perflua({ "cgroups", "--full", path }).out, 1, true)
    for _, row in ipairs(rows_of("--by", "container", path)) do
      assert.is_true(row.container == "[host]" or row.container:sub(-64) == ID)
    end
  end)
end)

local UNSHARED = "cpus,cgroup namespaces"
local unshared = not needs.missing(UNSHARED) and
  oracle.record("-a --namespaces -e cpu-clock -F 2000",
    ("sh -c \"unshare -C sh -c '%s'; %s\""):format(
    busy(60000):gsub("%$", "\\$"), busy(30000):gsub("%$", "\\$")))

needs.describe(UNSHARED, "of a recording with namespaces alone", function()
  it("has those of each cgroup namespace that perf report --sort cgroup_id has", function()
    local perf, got, n = of_perf(unshared, "cgroup_id"), {}, 0
    for _, row in ipairs(rows_of(unshared)) do
      got[row.namespace == "[unknown]" and "0/0x0" or row.namespace] =
        { row.samples, row.period }
      n = n + 1
    end
    assert.is_true(n >= 2)
    assert.are.same(perf, got)
  end)

  it("has the rows of perf report --sort cgroup_id in report, too", function()
    local rows = {}
    local out = run.perflua { "report", "-n", "--show-total-period", "--sort", "cgroup_id",
      unshared }.out
    for samples, period, name in out:gmatch "%% +(%d+) +(%d+)  (%S+)\n" do
      rows[name] = { tonumber(samples), tonumber(period) }
    end
    assert.are.same(of_perf(unshared, "cgroup_id"), rows)
  end)
end)

local POD <const> = "11111111-2222-3333-4444-555555555555"

-- A recording of samples { path or nil, period, tid } of the groups' paths, of an event for
-- each name.
local function built(list, names)
  local b, ids = builder.new(), {}
  local events = {}
  for i, name in ipairs(names or { "cycles" }) do
    events[i] = b:event { name = name,
      sample_type = { "ip", "tid", "time", "period", "cgroup", "identifier" },
      ids = { i }, cgroup = true }
  end
  b:record("comm", { pid = 7, tid = 7, comm = "a\27b" }, { time = 1, identifier = 1 })
  for _, one in ipairs(list) do
    if one[1] and not ids[one[1]] then
      ids[#ids + 1], ids[one[1]] = one[1], #ids + 1
      b:record("cgroup", { cgroup_id = #ids, path = one[1] }, { time = 2, identifier = 1 })
    end
  end
  for i, one in ipairs(list) do
    b:sample(events[one.event or 1], { ip = 0, pid = 7, tid = 7, time = 10 * i, period = one[2],
      cgroup = ids[one[1]] or 99, identifier = one.event or 1 })
  end
  return b:write()
end

local function shown(...)
  local names = {}
  for line in run.perflua({ "cgroups", ... }).out:gmatch "[^\n]+" do
    names[#names + 1] = line:match "(%S+)$"
  end
  table.remove(names, 1)
  return names
end

describe("perflua cgroups", function()
  it("shows ids of containers and pods as short as their engines do", function()
    local other = ("f"):rep(64)
    assert.are.same({
      "/system.slice/docker-0123456789ab.scope", "/docker/0123456789ab/init.scope",
      "/kubepods/burstable/pod11111111/ffffffffffff",
      "/kubepods.slice/kubepods-pod11111111.slice/cri-containerd-0123456789ab.scope",
      "/user.slice/a\\x1bb",
      "[unknown]",
    }, shown(built {
      { "/system.slice/docker-" .. ID .. ".scope", 60 },
      { "/docker/" .. ID .. "/init.scope", 50 },
      { "/kubepods/burstable/pod" .. POD .. "/" .. other, 40 },
      { "/kubepods.slice/kubepods-pod" .. POD:gsub("-", "_") .. ".slice/cri-containerd-" .. ID
        .. ".scope", 30 },
      { "/user.slice/a\27b", 20 }, { nil, 10 },
    }))
  end)

  it("shows ids in full where two would be the same", function()
    local one, two = "/docker/" .. ID, "/docker/" .. ID:gsub("f$", "0")
    assert.are.same({ one, two, "/docker/ffffffffffff" },
      shown(built { { one, 3 }, { two, 2 }, { "/docker/" .. ("f"):rep(64), 1 } }))
  end)

  it("has the innermost container of a group, and the rest as the host", function()
    assert.are.same({ "/docker/0123456789ab", "[host]",
      "/docker/0123456789ab/docker/ffffffffffff" },
      shown("--by", "container", built { { "/docker/" .. ID, 2 },
        { "/docker/" .. ID .. "/a/b", 4 }, { "/", 5 },
        { "/docker/" .. ID .. "/docker/" .. ("f"):rep(64), 1 } }))
  end)

  it("has rows of each event and command apart", function()
    local got = run.perflua { "cgroups", "--by", "cgroup,comm", "--nested",
      built({ { "/a/b", 1 }, { "/a", 3 },
      { "/a/b", 7, event = 2 } }, { "cycles", "instructions" }) }
    assert.are.equal([[
event          nested  percent  samples  period  comm    cgroup
cycles        100.00%   75.00%        1       3  a\x1bb  /a
cycles        100.00%    0.00%        0       0  a\x1bb  /
cycles         25.00%   25.00%        1       1  a\x1bb  /a/b
instructions  100.00%  100.00%        1       7  a\x1bb  /a/b
instructions  100.00%    0.00%        0       0  a\x1bb  /
instructions  100.00%    0.00%        0       0  a\x1bb  /a
]], got.out)
  end)

  it("adds up groups of one path over several recordings, whatever their ids", function()
    local paths = { built { { "/a", 1 }, { "/b", 3 } }, built { { "/b", 5 }, { nil, 7 } } }
    local rows = {}
    for _, row in ipairs(rows_of(table.unpack(paths))) do
      rows[row.cgroup] = { row.samples, row.period }
    end
    assert.are.same({ ["/a"] = { 1, 1 }, ["/b"] = { 2, 8 }, ["[unknown]"] = { 1, 7 } }, rows)
  end)

  it("keeps the namespaces of threads of several recordings apart", function()
    -- A recording of two samples of thread 7, in the cgroup namespace with this inode.
    local function in_namespace(inode, period)
      local b = builder.new()
      local event = b:event { name = "cycles", sample_type = { "tid", "time", "period" },
        namespaces = true }
      local list = {}
      for i = 1, 7 do list[i] = { dev = 4, ino = i == 7 and inode or 9 } end
      b:record("namespaces", { pid = 7, tid = 7, namespaces = list }, { time = 1 })
      for i = 1, 2 do
        b:sample(event, { pid = 7, tid = 7, time = 10 * i + period, period = period })
      end
      return b:write()
    end
    local rows = {}
    for _, row in ipairs(rows_of(in_namespace(0xa, 1), in_namespace(0xb, 2))) do
      rows[row.namespace] = { row.samples, row.period }
    end
    assert.are.same({ ["4/0xa"] = { 2, 2 }, ["4/0xb"] = { 2, 4 } }, rows)
  end)

  it("says what it needs, and what is wrong with its options", function()
    local got = run.perflua { "cgroups", run.demo }
    assert.are.equal(1, got.status)
    assert.matches("record it with: perf record -a --all-cgroups -- COMMAND", got.err, 1, true)
    for _, case in ipairs { { "--by=comm", "--by: one of cgroup, container and namespace" },
      { "--by=cgroup,namespace", "--by: one of" }, { "--by=x", "expected, got 'x'" } } do
      got = run.perflua { "cgroups", case[1], built {} }
      assert.are.equal(2, got.status)
      assert.matches(case[2], got.err, 1, true)
    end
  end)
end)
