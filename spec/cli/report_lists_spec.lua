-- perflua report: what it prints in place of rows or after them, and what events switch on.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local words = files.fixture "words/perf.data"

local function report(...) return run.perflua { "report", ... } end

local function theirs(options, path)
  return files.output(("perf report %s -f -i %s 2>/dev/null"):format(options, path))
end

-- Writes a recording of threads: { name, fields } of records, each a nanosecond after the last.
local function recording(records)
  local b = builder.new()
  b:event { name = "cycles" }
  for i, record in ipairs(records) do
    b:record(record[1], record[2], { pid = 1, tid = 1, time = i })
  end
  return b:write()
end

local function fork(ppid, pid) return { "fork", { ppid = ppid, ptid = ppid, pid = pid,
  tid = pid } } end

local function map(pid, addr, len, filename, more)
  local fields = { pid = pid, tid = pid, addr = addr, len = len, pgoff = 0x1000, maj = 1,
    min = 1, ino = 77, ino_generation = 1, prot = 5, flags = 2, filename = filename, misc = 2 }
  for name, value in pairs(more or {}) do fields[name] = value end
  return { "mmap2", fields }
end

describe("perflua report --tasks", function()
  local tree = recording { { "comm", { pid = 300, tid = 300, comm = "sh" } }, fork(300, 301),
    fork(300, 520), fork(301, 302), { "comm", { pid = 301, tid = 301, comm = "ls" } } }

  it("has threads below those that made them, in the order of their ids", function()
    assert.are.equal([[
#      pid      tid     ppid  comm
         0        0       -1 |swapper
       300      300       -1 | sh
       301      301      300 |  ls
       302      302      301 |   sh
       520      520      300 |  sh
]], report("--tasks", "--as", "6.12", tree).out)
  end)

  it("has them in the order of perf 6.1, which keeps threads in 256 lists", function()
    assert.are.equal([[
#      pid      tid     ppid  comm
         0        0       -1 |swapper
       300      300       -1 |sh
       520      520      300 | sh
       301      301      300 | ls
       302      302      301 |  sh
]], report("--tasks", "--as", "6.1", tree).out)
  end)

  it("prints threads that made each other once", function()
    local out = report("--tasks", recording { fork(5, 6), fork(6, 5) }).out
    local _, n = out:gsub("\n", "")
    assert.are.equal(4, n)
  end)

  needs.it("perf", "prints what perf does", function()
    for _, path in ipairs { tree, words, files.fixture "calls.perf.data" } do
      for _, option in ipairs { "--tasks", "--mmaps" } do
        assert.are.equal(theirs(option, path),
          report(option, "--as", oracle.version, path).out)
      end
    end
  end)
end)

describe("perflua report --mmaps", function()
  local path = recording { map(5, 0x1000, 0x4000, "/bin/a"), map(5, 0x2000, 0x1000, "/lib/b"),
    fork(5, 6), map(6, 0x4000, 0x2000, "//anon", { prot = 7 }),
    map(5, 0x9000, 0x1000, "[vdso]") }

  it("has what was mapped at the end, without what was mapped over", function()
    assert.are.equal([[
#      pid      tid     ppid  comm
         0        0       -1 |swapper
         5        5       -1 |:5
                                1000-2000 r-xp 00001000 77 /bin/a
                                2000-3000 r-xp 00001000 77 /lib/b
                                3000-5000 r-xp 00003000 77 /bin/a
                                9000-a000 r-xp 00000000 0 [vdso]
         6        6        5 | :6
                                 1000-2000 r-xp 00001000 77 /bin/a
                                 2000-3000 r-xp 00001000 77 /lib/b
                                 3000-4000 r-xp 00003000 77 /bin/a
                                 4000-6000 rwxp 00001000 77 /tmp/perf-6.map
]], report("--mmaps", "--as", "6.1", path).out)
  end)

  it("calls maps shared as perf 6.12 does, whatever their flags say", function()
    assert.matches("\n +1000%-2000 r%-xs 00001000 77 /bin/a\n",
      report("--mmaps", "--as", "6.12", path).out)
  end)

  needs.it("perf", "prints what perf does", function()
    assert.are.equal(theirs("--mmaps", path),
      report("--mmaps", "--as", oracle.version, path).out)
  end)
end)

describe("perflua report -T", function()
  local function recorded(inherit_stat)
    local b = builder.new()
    local event = b:event { name = "cycles", inherit_stat = inherit_stat, ids = { 1 },
      sample_type = { "ip", "tid", "time", "id" }, read_format = { "id" } }
    b:sample(event, { ip = 1, pid = 10, tid = 10, time = 1, id = 1 })
    for time, tid in ipairs { 11, 10, 11 } do
      b:record("read", { pid = 10, tid = tid, read = { value = 1000 * time, id = 1 } },
        { pid = 10, tid = tid, time = 1 + time, id = 1 })
    end
    return b:write()
  end

  it("adds up the counters of each thread after the rows", function()
    assert.matches("\n\n# PID  TID  cycles\n   10   11    4000\n   10   10    2000\n$",
      report("-T", recorded(true)).out)
  end)

  it("says how they are recorded", function()
    local got = report("-T", recorded(false))
    assert.are.equal(2, got.status)
    assert.matches("record it with: perf record -s", got.err, 1, true)
  end)
end)

describe("perflua report -D", function()
  it("prints the records", function()
    assert.are.equal(run.perflua({ "dump", words }).out, report("-D", words).out)
  end)
end)

describe("perflua report --switch-on", function()
  local b = builder.new()
  local events = {}
  for i, name in ipairs { "cycles", "begin", "finish" } do
    events[i] = b:event { name = name, ids = { i },
      sample_type = { "ip", "tid", "time", "id" } }
  end
  for time, i in ipairs { 1, 3, 1, 2, 1, 2, 1, 3, 1, 1, 2, 1 } do
    b:sample(events[i], { ip = 1, pid = 1, tid = 1, time = time, id = i })
  end
  local path = b:write()

  -- Returns the numbers of samples by event.
  local function counts(...)
    local found, out = {}, report(path, "-s", "comm", ...).out
    for n, event in out:gmatch "# (%d+) samples? of event '(%w+)'" do
      found[event] = tonumber(n)
    end
    return found
  end

  it("counts what is after one event and before the other", function()
    assert.are.same({ cycles = 3, begin = 1 },
      counts("--switch-on", "begin", "--switch-off", "finish"))
    assert.are.same({ cycles = 3, begin = 3, finish = 1 },
      counts("--switch-on", "begin", "--switch-off", "finish", "--show-on-off-events"))
    assert.are.same({ cycles = 5, begin = 2, finish = 1 }, counts("--switch-on", "begin"))
    assert.are.same({ cycles = 1 }, counts("--switch-off", "finish"))
  end)

  it("names the closest event, and events without samples", function()
    assert.matches("no event is called 'beginn'; the closest is 'begin'",
      report("--switch-on", "beginn", path).err, 1, true)
    assert.are.equal(2, report("--show-on-off-events", path).status)
  end)

  needs.it("perf", "counts what perf does", function()
    for _, options in ipairs { "--switch-on begin --switch-off finish",
      "--switch-on begin --switch-off finish --show-on-off-events", "--switch-on begin" } do
      local expected = {}
      for n, event in theirs("--stdio " .. options, path):gmatch
        "# Samples: (%d+)%s+of event '(%w+)'" do
        if n ~= "0" then expected[event] = tonumber(n) end
      end
      local list = {}
      for word in options:gmatch "%S+" do list[#list + 1] = word end
      assert.are.same(expected, counts(table.unpack(list)))
    end
  end)
end)
