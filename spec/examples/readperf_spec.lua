-- examples/readperf.lua writes the four tables of readperf, and perf counts the same.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local user = require "spec.examples.user"

local names = { "stat", "overview", "processes", "results" }

-- A line's values; none of these recordings has quotes or commas in its names.
local function values_of(line)
  local values = {}
  for value in (line .. ","):gmatch '"?([^",]*)"?,' do
    table.insert(values, value)
  end
  return values
end

-- The tables by their names: the header and the rows, arrays of texts; and what was printed.
local function readperf(path, symfs)
  local dir = files.directory {}
  local printed = user.run(("perflua examples/readperf.lua %s %s %s"):format(files.quote(path),
    dir, symfs or ""))
  local tables = { printed = printed }
  for _, name in ipairs(names) do
    local csv = dir .. "/" .. name .. ".csv"
    local rows = {}
    for line in io.lines(csv) do
      table.insert(rows, values_of(line))
    end
    tables[name] = { header = table.concat(table.remove(rows, 1), ","), rows = rows }
    os.remove(csv)
  end
  return tables
end

-- The index, type and time of each row of overview.csv, in the order of the file.
local function in_file_order(rows)
  local list = {}
  for _, row in ipairs(rows) do
    table.insert(list, { tonumber(row[1]), row[2], tonumber(row[5]) })
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

-- Returns the index of the core's pass in that order, which has perf's own records, too.
local function indexed(path)
  local list, index = {}, 0
  local file <close> = assert(perflua.open(path))
  local known = {}
  for r in file:records() do known[r.type] = true end
  for r in file:records { order = "file", container = true } do
    if known[r.type] then table.insert(list, { index, r.type:upper(), r.time }) end
    index = index + 1
  end
  return list
end

local function sum(rows, column, event_column, event)
  local total = 0
  for _, row in ipairs(rows) do
    if row[event_column] == event then
      total = total + tonumber(row[column])
    end
  end
  return total
end

-- perf's counts in the demo's recording, see spec/fixtures/README.md.
local records = {
  MMAP = 1, MMAP2 = 52, COMM = 13, FORK = 11, EXIT = 12, SAMPLE = 672, ID_INDEX = 1,
  THREAD_MAP = 1, CPU_MAP = 1,
  EVENT_UPDATE = 2,
}
local samples = { ["cpu-clock"] = 457, ["page-faults"] = 39, ["context-switches"] = 176 }

describe("examples/readperf.lua", function()
  local demo = readperf(files.fixture "demo.perf.data")
  local words = readperf(files.fixture "words/perf.data", files.fixture "words")

  it("writes the columns that the report on readperf describes", function()
    assert.are.equal("record,count", demo.stat.header)
    assert.are.equal("nr,type,pid,tid,time,info", demo.overview.header)
    assert.are.equal("pid,comm,#mmap,fork,exit,samples,period,event", demo.processes.header)
    assert.are.equal("period,samples,filename,function,event", demo.results.header)
  end)

  it("writes as many columns in a row as there are in the header", function()
    for _, tables in ipairs { demo, words } do
      for _, name in ipairs(names) do
        local n = #values_of(tables[name].header)
        for _, row in ipairs(tables[name].rows) do
          assert.are.equal(n, #row, table.concat(row, ","))
        end
      end
    end
  end)

  it("says of each record where in the file it is, as an index", function()
    assert.are.same(indexed(files.fixture "demo.perf.data"), in_file_order(demo.overview.rows))
  end)

  it("prints the functions of each event below its name", function()
    local events = {}
    for name,
        heading in demo.printed:gmatch "([%g]+)\n(   per       period samples function)\n" do
      table.insert(events, name)
      assert.is_truthy(heading)
    end
    assert.are.same({ "context-switches", "cpu-clock", "page-faults" }, events)
  end)

  needs.it("cpus",
    "knows the index of records that are compressed, and of those in a directory", function()
    for _, options in ipairs { "-z", "--threads=cpu" } do
      local path = files.directory {} .. "/recording"
      local text, ok = files.output(
        "perf record -q -N -m 64 --no-bpf-event -F 2000 -e cpu-clock -a -o " .. path .. " "
        .. options .. " -- sh -c 'ls -R /usr/include | sort' 2>&1 >/dev/null")
      assert(ok, text)
      local ours = in_file_order(readperf(path).overview.rows)
      assert.is_true(#ours > 100)
      assert.are.same(indexed(path), ours)
      os.execute("rm -r " .. path)
    end
  end)

  needs.it("record",
    "lists the samples of a group's record with one index, and counts the record "
      .. "once", function()
    -- perf follows no children of a group that it reads: the shell itself works
    local path = oracle.record("-F 2000 -e '{cpu-clock,page-faults}:S'",
      "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'")
    local tables, indexes, n = readperf(path), {}, 0
    for _, row in ipairs(tables.overview.rows) do
      if row[2] == "SAMPLE" then indexes[row[1]], n = (indexes[row[1]] or 0) + 1, n + 1 end
    end
    local of_records = 0
    for _ in pairs(indexes) do of_records = of_records + 1 end
    local stats = oracle.stats(path)
    assert.are.equal(stats.types.sample, of_records)
    assert.is_true(n > of_records)
    for _, row in ipairs(tables.stat.rows) do
      if row[1] == "SAMPLE" then assert.are.equal(of_records, tonumber(row[2])) end
    end
    local file <close> = assert(perflua.open(path))
    for _, event in ipairs(file.events) do
      -- nil where the event has no sample
      assert.are.equal(file:samples(event.name):sum("period") or 0,
        sum(tables.results.rows, 1, 5, event.name))
    end
  end)

  it("counts the records that perf counts", function()
    local counts = {}
    for _, row in ipairs(demo.stat.rows) do
      counts[row[1]] = tonumber(row[2])
    end
    assert.are.same(records, counts)
    assert.are.equal(766, #demo.overview.rows)
  end)

  it("sorts by time", function()
    local last = 0
    for _, row in ipairs(demo.overview.rows) do
      local time = tonumber(row[5])
      assert.is_true(not time or time >= last)
      last = time or last
    end
    assert.are.equal(1718686464754, last)
  end)

  it("has every sample once in processes and in functions, those of each event by themselves",
    function()
    for event, n in pairs(samples) do
      assert.are.equal(n, sum(demo.processes.rows, 6, 8, event))
      assert.are.equal(n, sum(demo.results.rows, 2, 5, event))
    end
  end)

  it("knows when a process began, what it was called, and when it ended", function()
    local found = {}
    for _, row in ipairs(demo.processes.rows) do
      found[row[1]] = row
    end
    local sort = found["10673"]
    assert.are.same({ "sort", "1718444180393", "1718686026637" }, { sort[2], sort[4], sort[5] })
  end)

  it("finds functions and their source files in this process", function()
    local rows = {}
    for _, row in ipairs(words.results.rows) do
      rows[row[4]] = row
    end
    assert.are.same({ "355065186", "354", "words.c", "compare", "cpu-clock:u" }, rows.compare)
    assert.are.same({ "190571710", "190", "words.c", "find_in_tree", "cpu-clock:u" },
      rows.find_in_tree)
  end)

  needs.it("record", "agrees with perf about a recording made here", function()
    local command = "sh -c 'ls -R /usr/include | sort'"
    local path = oracle.record("-F 2000 -e cpu-clock -e page-faults", command)
    local tables, stats = readperf(path), oracle.stats(path)
    for event, n in pairs(stats.events) do
      assert.are.equal(n, sum(tables.processes.rows, 6, 8, event))
      assert.are.equal(n, sum(tables.results.rows, 2, 5, event))
    end
    local lines = {}
    for _, row in ipairs(tables.overview.rows) do
      if row[2] == "SAMPLE" then
        table.insert(lines, ("%s %s/%s %s"):format(row[1], row[3], row[4],
          row[6]:match "^%g+ %g+"))
      end
    end
    local theirs = {}
    for i, r in ipairs(oracle.dump(path)) do
      if r.pid then
        table.insert(theirs, { r.time, r.offset,
          ("%d %s/%s %s %s"):format(i - 1, r.pid, r.tid, r.ip, r.period) })
      end
    end
    table.sort(theirs, function(a, b)
      return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
    end)
    for i, line in ipairs(theirs) do
      theirs[i] = line[3]
    end
    assert.are.same(theirs, lines)
  end)
end)
