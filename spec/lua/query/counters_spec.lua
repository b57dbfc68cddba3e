-- Samples that carry counter values are delivered for each value that moved (perf's {a,b}:S and
-- a:S).
local core = require "perflua.core"
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local SAMPLE = { "identifier", "ip", "tid", "time", "cpu", "period", "read" }

-- cpu, tid, time, then the counters of that cpu: cycles, faults, misses
local rows = {
  { 0, 7, 1000, { 100, 0, 5 } },
  { 1, 8, 1100, { 50, 3, 0 } },
  { 0, 7, 1200, { 300, 0, 9 } },
  { 1, 9, 1300, { 120, 3, 0 } },
  { 0, 9, 1400, { 301, 12, 9 } },
  { 1, 8, 1500, { 500, 13, 0 } },
  { 0, 7, 1600, { 301, 13, 10 } },
}
local names = { "cycles", "faults", "misses" }

local function id_of(counter, cpu) return 10 * counter + cpu end

-- Returns the events for the builder. The last has no counter values.
local function events_of()
  local events = {}
  for i, name in ipairs(names) do
    events[i] = {
      name = name, type = 1, config = i, sample_type = SAMPLE, read_format = { "id", "group" },
      sample_period = i == 1 and 1000 or 0, ids = { id_of(i, 0), id_of(i, 1) },
    }
  end
  local without = table.move(SAMPLE, 1, #SAMPLE - 1, 1, {})
  events[#events + 1] = { name = "plain", type = 1, config = 9, sample_type = without,
    ids = { 90 } }
  return events
end

local function values_of(i)
  local row, read = rows[i], {}
  for counter, value in ipairs(row[4]) do
    read[counter] = { value = value, id = id_of(counter, row[1]) }
  end
  return {
    identifier = id_of(1, row[1]), ip = 0x1000 + i, pid = row[2], tid = row[2], time = row[3],
    cpu = row[1],
    period = 1000, read = read,
  }
end

local plain = { identifier = 90, ip = 1, pid = 7, tid = 7, time = 1250, cpu = 0, period = 77 }

-- The recording; `extra(b, events)` may add to it.
local function group(options, extra)
  local b = builder.new(options)
  local events = {}
  for i, members in ipairs(events_of()) do events[i] = b:event(members) end
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
  for i in ipairs(rows) do
    b:sample(events[1], values_of(i))
    if i == 3 then b:sample(events[4], plain) end
  end
  if extra then extra(b, events) end
  return b
end

-- Returns the records for a container: two rounds of two processors.
local function in_rounds()
  local rounds = { { [0] = {}, {} }, { [0] = {}, {} } }
  for i, row in ipairs(rows) do
    local buffer = rounds[i <= 4 and 1 or 2][row[1]]
    buffer[#buffer + 1] = { "sample", 1, values_of(i) }
    if i == 3 then table.insert(rounds[1][0], { "sample", 4, plain }) end
  end
  return { events = events_of(), head = {}, rounds = rounds }
end

-- Returns the rows that are to be delivered: { event, time, tid, cpu, id, period }, in time
-- order.
local function expected(wanted)
  local list, last = {}, {}
  for i, row in ipairs(rows) do
    for counter, value in ipairs(row[4]) do
      local id = id_of(counter, row[1])
      local period = value - (last[id] or 0)
      last[id] = value
      if period ~= 0 then
        list[#list + 1] = { names[counter], row[3], row[2], row[1], id, period }
      end
    end
    if i == 3 then list[#list + 1] = { "plain", 1250, 7, 0, 90, 77 } end
  end
  if not wanted then return list end
  local chosen = {}
  for _, one in ipairs(list) do
    if wanted(table.unpack(one)) then chosen[#chosen + 1] = one end
  end
  return chosen
end

local FIELDS = { "event", "time", "tid", "cpu", "id", "period" }

local function of_record(s) return { s.event.name, s.time, s.tid, s.cpu, s.id, s.period } end

local function of_records(query)
  local list = {}
  for s in query:each() do list[#list + 1] = of_record(s) end
  return list
end

local function of_values(query)
  local list = {}
  for event, time, tid, cpu, id, period in query:select(table.unpack(FIELDS)):each() do
    list[#list + 1] = { event.name, time, tid, cpu, id, period }
  end
  return list
end

local function sums(list)
  local by_event = {}
  for _, one in ipairs(list) do
    local sum = by_event[one[1]] or { count = 0, period = 0 }
    by_event[one[1]] = sum
    sum.count, sum.period = sum.count + 1, sum.period + one[6]
  end
  return by_event
end

local function grouped(query)
  local by_event = {}
  for row in query:group_by("event.name"):all_events():count():sum("period"):sort():rows() do
    by_event[row["event.name"]] = { count = row.count, period = row.period }
  end
  return by_event
end

local function interpreted(query) return query:where(function() return true end) end

-- { what it does, whether its answer is sums }
local ways = {
  { function(file) return of_records(file:samples()) end },
  { function(file) return of_values(file:samples()) end },
  { function(file) return of_records(interpreted(file:samples())) end },
  { function(file) return grouped(file:samples()) end, true },
  { function(file) return grouped(interpreted(file:samples())) end, true },
}

describe("samples with counter values", function()
  for _, container in ipairs(containers.list) do
    -- counters of two recordings count apart
    if not container.name:find "pieces" then
      it("are delivered for each value that moved, of a " .. container.name, function()
        local path = container.write(in_rounds())
        for _, way in ipairs(ways) do
          local file <close> = assert(perflua.open(containers.through(container, path)))
          assert.are.same(way[2] and sums(expected()) or expected(), way[1](file))
          assert.are.same({}, file.damage)
        end
      end)
    end
  end

  for _, threads in ipairs { 1, 2 } do
    it("are delivered by " .. threads .. " threads at most", function()
      local file <close> = assert(perflua.open(group():write(), { jobs = threads }))
      assert.are.same(expected(), of_records(file:samples()))
      assert.are.same(expected(), of_records(file:samples { reuse = true }))
      assert.are.same(expected(), of_values(file:samples()))
      assert.are.same(expected(), of_records(interpreted(file:samples())))
      assert.are.same(sums(expected()), grouped(file:samples()))
      assert.are.same(sums(expected()), grouped(interpreted(file:samples())))
      assert.are.equal(#expected(), file:samples():count())
      assert.are.same({}, file.damage)
    end)
  end

  it("are the same of a stream, in one pass", function()
    local b = group { container = "pipe" }
    local path = b:write()
    local run = require "spec.cli.run"
    local got =
      run.shell_with(
        'cat "$1" | "$perflua" -e "print(perflua.open(\'-\'):samples(\'faults\'):count())"'
      .. '; cat "$1" | "$perflua" -e "for s in perflua.open(\'-\'):samples(\'faults\') do '
        .. 'io.write(s.period, 32) end"',
      path)
    assert.are.equal("4\n33212321032132", got.out)
  end)

  it("keep all other fields of their record", function()
    local file <close> = reading.open(group())
    local records = {}
    for r in file:records "sample" do records[r.time] = r:copy() end
    for s in file:samples() do
      local r = records[s.time]
      assert.are.equal(r.offset, s.offset)
      assert.are.equal(r.ip, s.ip)
      assert.are.equal(r:bytes(), s:bytes())
      assert.are.equal(r.comm, s.comm)
      if s.event.name ~= "plain" then assert.are.equal(r.read[1].value, s.read[1].value) end
      local copy = s:copy()
      assert.are.same(of_record(s), of_record(copy))
      assert.matches("period=" .. s.period, tostring(s), 1, true)
    end
  end)

  it("have periods that no choice of events, filter, window or limit changes", function()
    local file <close> = reading.open(group())
    local faults = expected(function(event) return event == "faults" end)
    assert.are.same(faults, of_records(file:samples "faults"))
    assert.are.same(faults, of_values(file:samples "faults"))
    assert.are.same(sums(faults), grouped(file:samples "faults"))
    assert.are.same(sums(faults), grouped(interpreted(file:samples "faults")))
    local late = expected(function(_, time) return time >= 1400 end)
    assert.are.same(late, of_records(file:samples():between(1400, nil)))
    assert.are.same(late, of_values(file:samples():between(1400, nil)))
    assert.are.same(sums(late), grouped(file:samples():between(1400, nil)))
    local of_nine = expected(function(_, _, tid) return tid == 9 end)
    assert.are.same(of_nine, of_records(file:samples():where "tid == 9"))
    assert.are.same(sums(of_nine), grouped(file:samples():where "tid == 9"))
    assert.are.same(expected()[1], of_record(file:samples():first()))
    local large = expected(function(_, _, _, _, _, period) return period > 100 end)
    assert.are.same(large, of_records(file:samples():where "period > 100"))
    assert.are.same(large, of_records(file:samples():where(function(s)
      return s.period > 100
    end)))
  end)

  it("are as they lie with expand = false, and in records()", function()
    local file <close> = reading.open(group())
    local queries = { file:samples { expand = false }, file:records "sample",
      file:records { type = "sample" } }
    for _, query in ipairs(queries) do
      assert.are.equal(#rows + 1, query:count())
      local list = of_records(query)
      assert.are.equal(#rows + 1, #list)
      for _, one in ipairs(list) do
        assert.is_true(one[1] == "plain" or one[1] == "cycles" and one[6] == 1000)
      end
    end
    assert.are.same(expected(), of_records(file:records { type = "sample", expand = true }))
    assert.has_error(function()
      file:samples { expand = 1 }
    end, "expand: true or false expected, got 1")
  end)

  it("come to the handlers of their events", function()
    local file <close> = reading.open(group())
    local got, others, values = {}, {}, {}
    file:run {
      faults = function(s) got[#got + 1] = of_record(s) end,
      misses = { "id", "period", function(id, period)
        values[#values + 1] = { id, period }
      end },
      sample = function(s) others[#others + 1] = of_record(s) end,
    }
    assert.are.same(expected(function(event) return event == "faults" end), got)
    assert.are.same(expected(function(event)
      return event == "cycles" or event == "plain"
    end), others)
    local of_misses = {}
    for _, one in ipairs(expected(function(event) return event == "misses" end)) do
      of_misses[#of_misses + 1] = { one[5], one[6] }
    end
    assert.are.same(of_misses, values)
  end)

  it("are one ratio's two sides", function()
    local file <close> = reading.open(group())
    local row = file:samples():group_by("cpu"):ratio("faults", "cycles"):sort("cpu", "asc")[1]
    assert.are.equal(13 / 301, row["faults/cycles"])
  end)

  it("open and close spans", function()
    local file <close> = reading.open(group())
    local spans = file:samples():pair { open = "misses", close = "faults", key = "cpu" }
    local got = {}
    for span in spans:each() do
      got[#got + 1] = { span.open.period, span.close.period, span.start, span.stop }
    end
    assert.are.same({ { 4, 12, 1200, 1400 } }, got)
    assert.are.equal(1, spans:group_by("cpu"):count():sort()[1].count)
    assert.has_error(function() file:records("sample"):within(spans) end,
      "within: the records and the spans need the same `expand`: samples of this recording "
        .. "carry counter values")
  end)

  it("are read in the order of time by one worker, unless order is \"file\"", function()
    local file <close> = reading.open(group(nil, function(b, events)
      -- later in the file, earlier in time
      b:sample(events[1], {
        identifier = 10, ip = 1, pid = 7, tid = 7, time = 900, cpu = 0,
        read = { { value = 40, id = 10 } },
      })
    end))
    local text = file:samples():group_by("event"):sum("period"):explain()
    assert.matches("order +time: periods are differences of counter values", text)
    assert.matches("workers +1: counter values are differences between successive samples",
      text)
    local by_time = of_records(file:samples "cycles")
    assert.are.same({ "cycles", 900, 7, 0, 10, 40 }, by_time[1])
    assert.are.same({ "cycles", 1000, 7, 0, 10, 60 }, by_time[2])
    assert.are.equal(301 + 500, file:samples("cycles"):sum("period"))
    local in_file = reading.quietly(of_records,
      file:samples { event = "cycles", order = "file" })
    assert.are.same({ "cycles", 1000, 7, 0, 10, 100 }, in_file[1])
    assert.are.equal(301 + 500, reading.quietly(function()
      return file:samples({ event = "cycles", order = "file" }):sum("period")
    end))
  end)

  it("yield nothing when they go back, are noted once for each event, and count on from "
    .. "there", function()
    local function back(b, events)
      for i, value in ipairs { 200, 250, 20, 21 } do
        b:sample(events[1], {
          identifier = 10, ip = 1, pid = 7, tid = 7, time = 2000 + i, cpu = 0,
          read = { { value = value, id = 10 } },
        })
      end
    end
    local file <close> = reading.open(group(nil, back))
    local got = reading.quietly(of_records, file:samples("cycles"):between(2000, nil))
    assert.are.same({ { "cycles", 2002, 7, 0, 10, 50 }, { "cycles", 2004, 7, 0, 10, 1 } }, got)
    reading.quietly(function() return file:samples { order = "file" }:count() end)
    assert.are.equal("counter values of 'cycles' go back: found 200, expected at least 301",
      reading.reasons(file))
  end)

  it("yield nothing for ids that no event has, which is noted", function()
    local file <close> = reading.open(group(nil, function(b, events)
      b:sample(events[1], {
        identifier = 10, ip = 1, pid = 7, tid = 7, time = 3000, cpu = 0,
        read = { { value = 5, id = 4711 }, { value = 302, id = 10 } },
      })
    end))
    local got = reading.quietly(of_records, file:samples():between(3000, nil))
    assert.are.same({ { "cycles", 3000, 7, 0, 10, 1 } }, got)
    assert.are.equal("counter values of 'cycles': found the id 4711, expected one of an event",
      reading.reasons(file))
  end)

  it("count by id for one event, and by thread where the event is inherited", function()
    local b = builder.new()
    local one = b:event {
      name = "cycles", sample_type = { "ip", "tid", "time", "id", "read" },
      read_format = { "id" }, inherit = true,
      sample_period = 1000, ids = { 5 },
    }
    for i, at in ipairs { { 7, 1000 }, { 8, 300 }, { 7, 1800 }, { 8, 900 } } do
      b:sample(one, { ip = 1, pid = 7, tid = at[1], time = i, id = 5,
        read = { value = at[2], id = 5 } })
    end
    local path = b:write()
    local function periods(options)
      local file <close> = assert(perflua.open(path, options))
      local list = {}
      for s in file:samples() do list[#list + 1] = s.period end
      return list, reading.reasons(file)
    end
    assert.are.same({ 1000, 300, 800, 600 }, (periods()))
    local list, reasons = reading.quietly(periods, { as = "6.1" })
    assert.are.same({ 1000, 1500 }, list)
    assert.are.equal("counter values of 'cycles' go back: found 300, expected at least 1000",
      reasons)
  end)

  it("count separately in several recordings", function()
    local path = group():write()
    local file <close> = assert(perflua.open { path, group():write() })
    local twice = sums(expected())
    for _, sum in pairs(twice) do sum.count, sum.period = 2 * sum.count, 2 * sum.period end
    assert.are.same(twice, grouped(file:samples()))
    assert.are.same(twice, grouped(interpreted(file:samples())))
  end)

  it("are counted as records and as samples by stat and doctor", function()
    local run = require "spec.cli.run"
    local path = group():write()
    local text = run.perflua({ "stat", path }).out
    assert.matches("event +records +samples", text)
    assert.matches("cycles +7 +6 ", text)
    assert.matches("faults +0 +4 ", text)
    assert.matches("plain +1 +1 ", text)
    assert.matches("sample +8 ", text)
    text = run.perflua({ "doctor", path }).out
    assert.matches(
      "cycles 6 (7 records), faults 4 (0 records), misses 3 (0 records), plain 1\n", text, 1,
      true)
    local file <close> = assert(perflua.open(path))
    assert.are.same({ 6, 4, 3, 1 }, (function()
      local list = {}
      for i, count in ipairs(core.count(file).events) do list[i] = count.count end
      return list
    end)())
  end)
end)
