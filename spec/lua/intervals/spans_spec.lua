-- Spans are asked as any query is.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local recording_of = require("spec.support.switches").recording
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises, rows_of = two_events.raises, two_events.rows

-- Threads 1 … 4 of two names, with spans of many lengths; some do not end, or are not begun.
local function rows()
  local list = {}
  for tid = 1, 4 do list[tid] = { "comm", tid, tid, tid % 2 == 0 and "even" or "odd" } end
  local state = 12345
  for i = 1, 2000 do
    state = state * 6364136223846793005 + 1442695040888963407
    local tid, random = 1 + (state >> 40) % 4, (state >> 33) % 1000
    list[#list + 1] = { random % 10 < 5 and "open" or random % 10 < 9 and "close" or "tick",
      tid, 10 + i * i,
      random, random % 3 }
  end
  return list
end

-- Pairs records by hand: spans as tables.
local function by_hand(list)
  local names, open, spans, counts = {}, {}, {}, { pairs = 0, unopened = 0, restarted = 0 }
  for _, row in ipairs(list) do
    local name, tid, time, addr, cpu = table.unpack(row)
    if name == "comm" then
      names[tid] = addr
    elseif name == "open" then
      if open[tid] then counts.restarted = counts.restarted + 1 end
      open[tid] = { start = time, tid = tid, comm = names[tid], addr = addr, cpu = cpu }
    elseif name == "close" and open[tid] then
      local span = open[tid]
      span.stop, span.duration, span.close_addr, span.close_cpu, open[tid] = time,
        time - span.start, addr, cpu, nil
      spans[#spans + 1], counts.pairs = span, counts.pairs + 1
    elseif name == "close" then
      counts.unopened = counts.unopened + 1
    end
  end
  return spans, counts
end

describe("spans", function()
  local list, file, spans = rows(), nil, nil
  local expected, counts = by_hand(list)

  local function values(of, ...)
    local all = {}
    for i, span in ipairs(of) do
      local row = {}
      for k, name in ipairs { ... } do row[k] = span[name] end
      all[i] = #row == 1 and row[1] or row
    end
    return all
  end

  local function where(test)
    local kept = {}
    for _, span in ipairs(expected) do
      if test(span) then kept[#kept + 1] = span end
    end
    return kept
  end

  setup(function()
    file = assert(perflua.open(spanned.write(list)))
    spans = file:samples():pair { open = "open", close = "close" }
  end)
  teardown(function() file:close() end)

  it("are those that a plain loop finds", function()
    assert.same(values(expected, "start", "stop", "duration", "tid", "addr", "close_addr"),
      spans:select("start", "stop", "duration", "key", "addr", "close.addr"):collect())
    for name, n in pairs(counts) do assert.equal(n, spans.counts[name]) end
  end)

  it("are filtered by their fields, and those of both records", function()
    for text, test in pairs {
      ["duration > 5000"] = function(s) return s.duration > 5000 end,
      ["open.cpu ~= close.cpu and comm == 'odd'"] = function(s)
        return s.cpu ~= s.close_cpu and s.comm == "odd"
      end,
      ["key == 2 or start < 1000"] = function(s) return s.tid == 2 or s.start < 1000 end,
      ["event == 'open' and addr * 2 > close.addr"] = function(s)
        return s.addr * 2 > s.close_addr
      end,
    } do
      assert.same(values(where(test), "start"), spans:where(text):select("start"):collect())
    end
    local even = where(function(s) return s.tid % 2 == 0 and s.duration > 100 end)
    local by_function = spans:where(function(span)
      return span.open.comm == "even"
    end):where "duration > 100"
    assert.same(values(even, "start"), by_function:select("start"):collect())
    assert.same(values(even, "start"), values(by_function:collect(), "start"))
    assert.same(values(where(function(s) return s.cpu == 1 end), "start"),
      spans:where { ["open.cpu"] = 1 }:select("start"):collect())
  end)

  it("are filtered by when they began", function()
    local from, to = expected[10].start, expected[100].start
    assert.same(values(where(function(s) return s.start >= from and s.start < to end), "start"),
      spans:between(from, to):select("start"):collect())
  end)

  it("are grouped in the core as they are in Lua", function()
    local lua = file:samples()
    interpret(lua, true)
    local spelled = lua:pair { open = "open", close = "close" }
    local function answers(of)
      local filtered = of:where "duration // 3 ~= 5 and find(comm, 'e')"
      return {
        rows_of(of:group_by("comm", "event", "close.cpu", "key"):count():avg("duration")
          :hist("duration")
          :share("duration"):min("comm"):last("close.addr"):distinct("comm")
            :sort("count", "asc"):sort("key", "asc")),
        rows_of(filtered:group_by("bucket(start, 1000)", "cpu + close.cpu"):as("both")
          :max("stop"):avg("duration")
          :weight("close.cpu"):quantile("duration", 0.9):sort("max_stop", "asc")),
        rows_of(of:between(1000, 900000):group_by("close.event.name"):count()
          :sum("stop - start"):as("all"):top(1)),
        filtered:count(), of:max("duration"), of:distinct("addr"),
        rows_of(of:where("duration > (1 << 60)"):group_by("comm"):count():top(1)),
        rows_of(of:where("#comm == 4"):group_by("key"):count():sort("key")),
        rows_of(of:group_by("comm"):ratio("open", "close"):top(9)),
      }
    end
    local by_core, counts_of_core = answers(spans), spans.counts
    assert.same(answers(spelled), by_core)
    assert.same(spelled.counts, counts_of_core)
  end)

  it("are grouped and measured as records are", function()
    local t = spans:group_by("comm", "close.cpu"):count():sum("duration"):max("duration")
      :min("start")
      :distinct("key"):first("duration"):last("stop"):as("till"):sort("comm", "asc")
    local groups = {}
    for _, s in ipairs(expected) do
      local name = s.comm .. s.close_cpu
      local g = groups[name]
        or { count = 0, duration = 0, max = 0, min = math.maxinteger, keys = {},
          first = s.duration }
      groups[name] = g
      g.count, g.duration, g.till = g.count + 1, g.duration + s.duration, s.stop
      g.max, g.min, g.keys[s.tid] = math.max(g.max, s.duration), math.min(g.min, s.start), true
    end
    local n = 0
    for row in t:rows() do
      local g = groups[row.comm .. row["close.cpu"]]
      local distinct = 0
      for _ in pairs(g.keys) do distinct = distinct + 1 end
      assert.same({
        comm = row.comm, ["close.cpu"] = row["close.cpu"], count = g.count,
        duration = g.duration,
        max_duration = g.max, min_start = g.min, distinct_key = distinct,
        first_duration = g.first, till = g.till,
      }, row)
      n = n + 1
    end
    assert.equal(6, n)
  end)

  it("have quantiles, histograms and expressions of their durations", function()
    local durations = values(expected, "duration")
    table.sort(durations)
    local median = durations[(#durations + 1) // 2]
    assert.near(median, spans:quantile("duration", 0.5), median // 50)
    local total = 0
    for _, bucket in ipairs(spans:group_by("comm"):hist("duration")
        :sort("comm", "asc")[1].hist_duration) do
      total = total + bucket.count
    end
    assert.equal(#where(function(s) return s.comm == "even" end), total)
    local t = spans:group_by("bucket(duration, 1000)"):as("us"):count():sort("us", "asc")
    assert.equal(#where(function(s) return s.duration < 1000 end), t[1].count)
    assert.equal(#expected, spans:count())
  end)

  it("are grouped by functions of a span", function()
    local t = spans:group_by({ long = function(span)
      return span.duration > 5000
    end }):count():sort("long", "asc")
    local long = #where(function(s) return s.duration > 5000 end)
    assert.same({ { long = false, count = #expected - long }, { long = true, count = long } },
      rows_of(t))
  end)

  it("keep false apart from absent values", function()
    local b, events = spanned.builder()
    spanned.add(b, events, { { "open", 7, 10 } })
    b:record("switch", { out = true }, { pid = 7, tid = 7, time = 20 })
    b:record("switch", {}, { pid = 7, tid = 7, time = 30 })
    local switches <close> = assert(perflua.open(b:write()))
    local all = switches:records()
      :pair { open = { where = "type ~= 'comm'" }, close = { where = "time > 0" } }
    local t = all:group_by("open.out", "close.out"):count():sum("duration")
      :sort("open.out", "asc")
    assert.same({
      { ["open.out"] = true, ["close.out"] = false, count = 1, duration = 10 },
      { ["close.out"] = true, count = 1, duration = 10 },
    }, rows_of(t))
    assert.same({ { false, true }, { true, false } }, all:select("open.out", "close.out")
      :collect())
    assert.equal(1, all:where("open.out == nil"):count())
    assert.equal(0, all:where("open.out == false"):count())
    assert.equal(1, all:where("close.out == false"):count())
  end)

  it("make tables that say what was not paired, are written and merged", function()
    local t = spans:group_by("comm"):count():sum("duration")
    local both = t:sort("comm", "asc"):merge(t:sort("comm", "asc"))
    assert.equal(2 * #expected, both[1].count + both[2].count)
    assert.equal(2 * counts.restarted, both.counts.restarted)
    assert.matches(
      ("\n# %d spans; not counted: %d ends without a start, .* %d starts without an "
        .. "end$")
      :format(counts.pairs, counts.unopened, counts.restarted), tostring(t:top(5)))
    local path = os.tmpname()
    assert(t:top(5):csv(path))
    local out = assert(io.open(path)):read "a"
    os.remove(path)
    assert.matches("^comm,count,duration\n", out)
  end)

  it("can be looped over again and again, and inside of one another", function()
    local n = 0
    for _ in spans:each() do
      for _ in spans:each() do
        n = n + 1
        if n % 10 == 0 then break end
      end
      if n >= 100 then break end
    end
    assert.equal(100, n)
    n = 0
    for span in spans do
      n = n + 1
      assert.equal(expected[n].start, span.start)
      if n == 3 then break end
    end
    assert.equal(#expected, #spans:collect())
    n = 0
    spans:each(function(span) n = n + span.duration end)
    assert.equal(spans:sum("duration"), n)
  end)

  it("describe their sides in explain()", function()
    local text = spans:where("duration > 5"):group_by("comm"):explain()
    assert.matches("^reads    spans from open to close by tid, of records of type sample in ",
      text)
    assert.matches("\norder    time: spans are built in time order\n", text)
    assert.matches("1  C    where duration > 5\n  2  C    group by comm\n  3  C    count()",
      text, 1, true)
    assert.matches("1  Lua  where a function (", spans:where(function()
      return true
    end):explain(), 1, true)
  end)

  it("raise for fields that they lack, at the script's line", function()
    local function fails(pattern, fn) raises("spans_spec.lua:%d+: .*" .. pattern, fn) end
    fails("unknown field 'duratoin'; the closest is 'duration'", function()
      spans:where "duratoin > 1"
    end)
    fails("unknown field 'adr'; the closest is 'addr'", function()
      spans:group_by "open.adr"
    end)
    fails("'open' is a record; name a field of it: 'open.comm'", function()
      spans:select "open"
    end)
    fails("'key%[2%]' is beyond the spans' key, whose length is 1", function()
      spans:select "key[2]"
    end)
    fails("sum: cannot measure comm", function() spans:sum "comm" end)
    fails("no record of this query has a field 'callchain'", function()
      spans:select "close.callchain"
    end)
  end)

  it("say under their tables which tracepoints were recorded in part only", function()
    local function text_of(period, close)
      local path = recording_of({ { 1000, 0, "switch", 0, 0, 7 },
        { 2000, 0, "waking", 7, 8 }, { 3000, 0, "switch", 7, 0, 8 } }, nil, function(b)
        b.events[1].sample_period = period
      end)
      local traced <close> = assert(perflua.open(path))
      return tostring(traced:samples():pair { open = "sched:sched_waking", close = close,
        key = false }:group_by("open.tid"):count())
    end
    local note = "# 'sched:sched_switch' was sampled: one sample stands for up to 3 events, "
      .. "the others are missing; record each event with perf record -c 1"
    assert.matches(note, text_of(3, "sched:sched_switch"), 1, true)
    assert.not_matches("sampled", text_of(1, "sched:sched_switch"))
    assert.not_matches("sampled", text_of(3, "sched:sched_waking"))
  end)
end)
