-- Time as queries say it: elapsed, wall_time, lengths of time, windows.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"
local two_events = require "spec.support.two_events"

local SECOND <const> = 1000000000
local MONOTONIC <const>, REALTIME <const> = 1, 0
local NOON <const> = 1795176000 * SECOND -- 2026-11-20 12:00:00 UTC

local function raises(message, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(err):find(message, 1, true), tostring(err))
end

-- Writes samples with these times; `wall` is the wall clock's time when the recording's clock
-- is at 0.
local function recording(times, options)
  options = options or {}
  local b = builder.new { container = options.container }
  b:event { name = "ticks", sample_type = { "ip", "tid", "time" }, ids = { 5 },
    use_clockid = options.clock ~= nil,
    clockid = options.clock }
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { pid = 7, tid = 7, time = times[1] - 1 })
  for i, time in ipairs(times) do b:sample(b.events[1], { ip = i, pid = options.pid or 7,
    tid = 7, time = time }) end
  if options.host then b:feature("hostname", options.host) end
  if options.wall then
    b:feature("clock_data", { clockid = options.clock, wall_clock = options.wall + SECOND,
      clock_time = SECOND })
  end
  if options.header then b:feature("sample_time", { first = times[1],
    last = times[#times] }) end
  return b:write()
end

local function open(...) return assert(perflua.open(recording(...))) end

describe("elapsed", function()
  local times = { 5 * SECOND, 5 * SECOND + 10, 7 * SECOND }

  it("counts from the first sample, known from the header or not", function()
    for _, header in ipairs { true, false } do
      local file <close> = open(times, { header = header })
      assert.are.same({ 0, 10, 2 * SECOND }, file:samples():select("elapsed"):collect())
      assert.are.same({ 0, 10, 2 * SECOND }, file:samples():select("elapsed"):collect())
      local of_records = {}
      for sample in file:samples() do of_records[#of_records + 1] = sample.elapsed end
      assert.are.same({ 0, 10, 2 * SECOND }, of_records)
      assert.are.equal(1, file:samples():where("elapsed > 1.5s"):count())
      assert.are.equal(2 * SECOND, file:samples():max("elapsed"))
    end
  end)

  it("is known to a record whose loop began before it was asked for", function()
    local file <close> = open(times)
    local got = {}
    file:run { sample = function(sample) got[#got + 1] = sample.elapsed end }
    assert.are.same({ 0, 10, 2 * SECOND }, got)
  end)

  it("is negative before the first sample, and nil without a time", function()
    local file <close> = assert(perflua.open(two_events.write()))
    assert.are.equal(-1, file:records("comm"):first().elapsed)
    assert.is_nil(file:records("mmap2"):first().elapsed)
    assert.are.equal(1, file:records():where("elapsed < 0"):count())
    assert.are.equal(0, file:records("mmap2"):where("elapsed ~= nil"):count())
  end)

  it("is of each recording", function()
    local file <close> = assert(perflua.open { recording { 10, 30 }, recording { 20, 25 } })
    assert.are.same({ 0, 0, 5, 20 }, file:samples():select("elapsed"):collect())
  end)

  it("counts from the first delivered sample of a stream", function()
    local path = recording({ 5 * SECOND, 5 * SECOND + 500, 7 * SECOND }, { container = "pipe" })
    local text = [[
      local file = assert(perflua.open "-")
      local list = {}
      for record in file:records() do list[#list + 1] = record.elapsed or record.type end
      print(table.concat(list, " "))]]
    local got = run.shell_with('cat "$1" | "$perflua" "$2"', path, run.script(text))
    assert.are.equal("comm 0 500 2000000000\n", got.out)
    local query = [[return file:samples():where("elapsed >= 500"):group_by("elapsed"):count()]]
    got = run.shell_with('cat "$1" | "$perflua" -e "$2" -', path, query)
    local rows = {}
    for elapsed, count in got.out:gmatch("(%d+)%s+(%d+)\n") do
      rows[tonumber(elapsed)] = tonumber(count)
    end
    assert.are.same({ [500] = 1, [2 * SECOND] = 1 }, rows)
  end)

  it("has no column in a dump", function()
    local got = run.perflua { "dump", two_events.write() }
    assert.is_nil(got.out:find("elapsed", 1, true))
    assert.is_nil(got.out:find("wall_time", 1, true))
  end)
end)

describe("wall_time", function()
  it("is known from the header or from the clock itself, else nil", function()
    local file <close> = open({ 5 * SECOND, 6 * SECOND }, { clock = MONOTONIC, wall = NOON })
    assert.are.same({ NOON + 5 * SECOND, NOON + 6 * SECOND },
      file:samples():select("wall_time"):collect())
    local real <close> = open({ NOON }, { clock = REALTIME })
    assert.are.equal(NOON, real:samples():first().wall_time)
    local other <close> = open { NOON }
    assert.is_nil(other:samples():first().wall_time)
    local monotonic <close> = open({ NOON }, { clock = MONOTONIC })
    assert.is_nil(monotonic:samples():first().wall_time)
  end)

  it("is a key that recordings of several machines have in common", function()
    local a = open({ 5 * SECOND, 6 * SECOND }, { clock = MONOTONIC, wall = NOON })
    local b = open({ 15 * SECOND, 17 * SECOND }, { clock = MONOTONIC,
      wall = NOON - 10 * SECOND })
    local function per_second(file) return file:samples():group_by("bucket(wall_time, "
      .. "1s)"):count():sort() end
    local rows = {}
    for row in (per_second(a):merge(per_second(b))):rows() do rows[row["bucket(wall_time, "
      .. "1s)"] - NOON] = row.count end
    assert.are.same({ [5 * SECOND] = 2, [6 * SECOND] = 1, [7 * SECOND] = 1 }, rows)
  end)

  it("orders recordings whose clocks differ", function()
    local a = recording({ 100, 300, 500 }, { host = "a", clock = MONOTONIC, wall = NOON,
      pid = 1 })
    local b = recording({ 5200, 5250, 5400 }, { host = "b", clock = MONOTONIC,
      wall = NOON - 5000, pid = 2 })
    local file <close> = assert(perflua.open { a, b })
    assert.are.same({ 100, 5200, 5250, 300, 5400, 500 },
      file:samples():select("time"):collect())
    local walls = file:samples():select("wall_time"):collect()
    for i = 2, #walls do assert.is_true(walls[i - 1] <= walls[i]) end
    local pids = file:samples():where("elapsed >= 50"):select("pid"):collect()
    assert.are.same({ 2, 1, 2, 1 }, pids)
  end)
end)

describe("a length of time in a filter", function()
  local file = assert(perflua.open(two_events.write()))
  local samples = file:samples()

  it("is an integer of nanoseconds", function()
    for text, ns in pairs {
      ["1.5s"] = 1500000000, ["10ms"] = 10000000, ["3us"] = 3000, ["4ns"] = 4, [".5us"] = 500,
      ["1s + 2ms"] = 1002000000, ["3 * 2us"] = 6000, ["10ms // 1us"] = 10000,
        ["-(1s)"] = -1000000000,
    } do
      assert.are.equal(ns, samples:select(text):first(), text)
    end
    assert.are.equal(2, samples:where("bucket(elapsed, 500ms) == 500ms"):count())
    assert.are.equal(2, samples:where("elapsed in { 500ns, 1us }"):count())
  end)

  it("compares with no point in time", function()
    for _, filter in ipairs { "time > 1.5s", "1ms <= time", "time == 2 * 1s",
      "pid == 7 and time < 1us" } do
      raises("use elapsed, which counts from the first sample", samples.where, samples, filter)
    end
    assert.are.equal(7, samples:where("time - 1s >= 0"):count())
  end)

  it("is refused if it is malformed", function()
    raises("1.5ns is not a whole number of nanoseconds", samples.where, samples,
      "elapsed > 1.5ns")
    raises("malformed number '5m'; a length of time is written 1.5s, 10ms, 3us or 4ns",
      samples.where, samples,
      "elapsed > 5m")
    raises("malformed number '0x1s'", samples.where, samples, "elapsed > 0x1s")
  end)
end)

describe("windows of time", function()
  local path = two_events.write()
  local file = assert(perflua.open(path))
  local samples = file:samples()

  local function times(query) return query:select("time"):collect() end

  it("are slices, which share the recording among them", function()
    for _, width in ipairs { "10", "25", "33", "33.333333", "50", "100", "0.5" } do
      local all, i, n = {}, 1, math.ceil(100 / tonumber(width))
      while i <= n do
        table.move(times(samples:between(("%s%%/%d"):format(width, i))), 1, 7, #all + 1, all)
        i = i + 1
      end
      table.sort(all)
      assert.are.same(times(samples), all, width)
    end
    assert.are.same({ 1500000000 }, times(samples:between("10%/6")))
    assert.are.same({ 1900000000, 2000000000 }, times(samples:between("10%/10")))
    assert.are.same(times(samples:between("10%", "100%")), times(samples:between("10%")))
  end)

  it("are several", function()
    assert.are.same({ 1000000000, 1000000500, 2000000000 },
      times(samples:between { { nil, 1000001000 }, { "@2" } }))
    assert.are.same({ 1000001000, 1500000000 }, times(samples:between { { "1us", "2us" },
      "10%/6" }))
    local q = samples:between { { 0, 1000000500 }, { 1500000000, 1900000000 } }
    assert.are.same({ 1000000000 }, times(q:between(nil, "10%")))
    assert.are.same({ 1500000000 }, times(q:where("pid == 9")))
    assert.are.equal(2, q:count())
  end)

  it("are the same in the core and in Lua", function()
    local q = samples:between { { "0%", "10%" }, "10%/6", { 1900000001 } }
    local by_lua = q:where(function() return true end)
    assert.are.same(times(q), times(by_lua))
    assert.are.same({ 1000000000, 1000000500, 1000001000, 1000002000, 1500000000, 2000000000 },
      times(q))
  end)

  it("are those of the starts of spans", function()
    local spans = samples:pair { open = "cycles:P", close = "faults", key = "tid" }
    assert.are.same({ { 1000000000, 1000 }, { 1500000000, 400000000 } }, spans:select("start",
      "duration"):collect())
    local late = spans:between { { 999999999, 1000000000 }, { 1200000000 } }
    assert.are.same({ 1500000000 }, late:select("start"):collect())
    local grouped = late:group_by("pid"):count():sort()
    assert.are.equal(1, #grouped)
    assert.are.equal(9, grouped[1].pid)
  end)

  it("are said in a Table's description", function()
    local a = samples:between { { 0, 1000000500 }, "10%/6" }:group_by("pid"):count():sort()
    local b = samples:between { { 0, 1000000500 }, "10%/7" }:group_by("pid"):count():sort()
    local kept = files.temporary()
    local out <close> = assert(io.open(kept, "wb"))
    assert(a:save(out) and b:save(out))
    out:flush()
    local _, message = perflua.load(kept)
    assert.matches('between: "0 to 1000000500 or 10%%/6" here, "0 to 1000000500 or 10%%/7" '
      .. 'there', message)
  end)

  it("are refused with the syntax they have", function()
    local header = assert(perflua.open(two_events.write(function(b)
      b:feature("sample_time", { first = 1000000000, last = 2000000000 })
    end))):samples()
    for message, args in pairs {
      ["no such slice; \"10%/1\" is the first tenth"] = { "10%/11" },
      ["between \"10%/0\": no such slice"] = { "10%/0" },
      ["between \"10%/x\": no such slice"] = { "10%/x" },
      ["a slice has both ends"] = { "10%/2", "3s" },
      ["a percentage is from 0 to 100"] = { "101%/1" },
      ["between { { a, b }, { c, d } }"] = { { { 1, 2 } }, 3 },
      ["an empty list of windows"] = { {} },
      ["a window is { from, to } or a slice (\"10%/2\"), not 3"] = { { 3 } },
      ["expected nanoseconds (an integer)"] = { "12:30" },
      ["between \"2026-02-30\": no such time; \"2026-11-22 07:56:00.5\" is local "
        .. "time"] = { "2026-02-30" },
      ["does not say how its clock relates to the time of day: perf record "
        .. "-k"] = { "2026-11-20 12:00:00" },
      ["between: from 3.000000 on is outside of the recording, which lasts from 1.000000 to "
        .. "2.000000"] = { "@3" },
      ["between: from 2.000000 is not before to 1.500000"] = { "@2", "@1.5" },
    } do
      raises(message, header.between, header, table.unpack(args, 1, 2))
    end
  end)
end)

describe("the wall clock in between", function()
  local times = {}
  for i = 0, 9 do times[i + 1] = 100 * SECOND + i * SECOND end
  local path = recording(times, { clock = MONOTONIC, wall = NOON - 100 * SECOND })
  local file = assert(perflua.open(path))

  local function count(...) return file:samples():between(...):count() end

  it("has a zone, or is local time", function()
    assert.are.equal(3, count("2026-11-20 12:00:01Z", "2026-11-20T12:00:04Z"))
    assert.are.equal(3, count("2026-11-20 13:00:01+01:00", "2026-11-20 07:30:04-0430"))
    assert.are.equal(10, count("2026-11-20 12:00Z"))
    assert.are.equal(9, count("2026-11-20 12:00:00.000000001Z"))
    assert.are.equal(10, count("2026-11-20Z" and "2026-11-20 00:00Z", "2026-11-21 00:00Z"))
    for zone, text in pairs { ["UTC"] = "2026-11-20 12:00:07",
      ["Europe/Berlin"] = "2026-11-20 13:00:07",
      ["EST5EDT,M3.2.0,M11.1.0"] = "2026-11-20 07:00:07" } do
      local got = run.perflua({ "-e",
        ("print(file:samples():between('%s'):count())"):format(text), path },
        { env = "TZ=" .. zone })
      assert.are.equal("3\n", got.out, zone)
    end
  end)

  it("is converted for each recording", function()
    local other = recording({ 5 * SECOND, 6 * SECOND }, { clock = MONOTONIC,
      wall = NOON - 4 * SECOND, host = "b" })
    local both <close> = assert(perflua.open { path, other })
    assert.are.same({ 101 * SECOND, 5 * SECOND, 102 * SECOND, 6 * SECOND },
      both:samples():between("2026-11-20 12:00:01Z", "2026-11-20 "
        .. "12:00:03Z"):select("time"):collect())
    assert.are.same({ 100 * SECOND }, both:samples():between("10%/1"):select("time"):collect())
  end)

  it("is refused where one of several recordings does not know it", function()
    warn "@off"
    local both <close> = assert(perflua.open { path, (recording { 5 * SECOND }) })
    raises("does not say how its clock relates to the time of day", function()
      return both:samples():between("2026-11-20 12:00:01Z")
    end)
    warn "@on"
  end)
end)

describe("wall_time of a real recording", function()
  corpus.each_file(function(name, body) if name:find("amd64-7.2/clock.data", 1,
    true) then it(name, body) end end,
    "is what perf script -F tod shows in UTC", function(recording_of)
      local file <close> = assert(perflua.open(recording_of.path))
      -- the first line of perf script -F tod: 2026-11-20 12:28:18.741575
      assert.are.equal((NOON // SECOND + 28 * 60 + 18) * 1000000 + 741575,
        file:samples():first().wall_time // 1000)
    end)
end)
