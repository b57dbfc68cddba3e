-- Records inside of spans.
local perflua = require "perflua"
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises, rows_of = two_events.raises, two_events.rows

local list = {
  { "comm", 7, 1, "seven" }, { "comm", 8, 2, "eight" },
  { "tick", 7, 50, 1 }, { "open", 7, 100, 0xa }, { "tick", 7, 110, 2 }, { "tick", 8, 115, 3 },
  { "open", 8, 120, 0xb },
  { "tick", 8, 130, 4 }, { "tick", 7, 140, 5 }, { "close", 7, 150, 0xc }, { "tick", 7, 155, 6 },
  { "close", 8, 160, 0xd }, { "open", 7, 200, 0xe }, { "tick", 7, 210, 7 }, { "open", 8, 220 },
  { "tick", 8, 230, 8 },
  { "close", 7, 300, 0xf },
}

describe("within()", function()
  local file, ticks, spans

  before_each(function()
    file = assert(perflua.open(spanned.write(list)))
    ticks, spans = file:samples "tick", file:samples():pair { open = "open", close = "close" }
  end)
  after_each(function() file:close() end)

  local function addrs(query) return query:select("addr"):collect() end

  it("keeps the records that lie in a span of their thread", function()
    assert.same({ 2, 4, 5, 7, 8 }, addrs(ticks:within(spans)))
    assert.equal(5, ticks:within(spans):count())
    assert.same({ pairs = 3, unopened = 0, unclosed = 1, unfinished = 0, restarted = 0,
      repeated = 0, mismatched = 0, lost = 0, lost_at_least = 0, lost_at_most = 0, kept = 0,
    stray = 0, unkeyed = 0 },
      spans.counts)
  end)

  it("gives each with its span, which is told of its end when that comes", function()
    local seen, last = {}, nil
    for tick, span in ticks:within(spans) do
      seen[#seen + 1] = { tick.addr, span.open.addr, span.duration or 0 }
      last = tick.addr == 5 and span or last
    end
    assert.same({ { 2, 0xa, 0 }, { 4, 0xb, 0 }, { 5, 0xa, 0 }, { 7, 0xe, 0 }, { 8, 0, 0 } },
      seen)
    assert.same({ 100, 150, 50, 0xc, 7 },
      { last.start, last.stop, last.duration, last.close.addr, last.key })
  end)

  it("gives the same span to all that lie in it", function()
    for _, closed in ipairs { false, true } do
      local of = {}
      ticks:within(spans, { closed = closed }):each(function(tick, span)
        of[tick.addr] = span
      end)
      assert.equal(of[2], of[5])
      assert.not_equal(of[2], of[7])
    end
  end)

  it("waits for the ends of spans, if they are asked for", function()
    local seen = {}
    for tick, span in ticks:within(spans, { closed = true }):each() do
      seen[#seen + 1] = { tick.addr, span.duration, span.close.addr }
    end
    assert.same({ { 2, 50, 0xc }, { 5, 50, 0xc }, { 4, 40, 0xd }, { 7, 100, 0xf } }, seen)
    assert.same({ 2, 5, 7 }, addrs(ticks:within(spans:where "duration >= 50")))
    assert.same({ 4 }, addrs(ticks:within(spans:where "close.addr == 0xd")))
    assert.same({ 2, 5 }, addrs(ticks:within(spans:where(function(span)
      return span.stop == 150
    end))))
    assert.same({ { 2, 150 }, { 5, 150 }, { 4, 160 }, { 7, 300 } },
      ticks:within(spans):select("addr", "span.stop"):collect())
    assert.same({ 4 }, addrs(ticks:within(spans):where("span.stop == time + 30")))
  end)

  it("keeps records of all threads where spans have no key", function()
    local all = file:samples():pair { open = "open", close = "close", key = false }
    assert.same({ 2, 3, 4, 5, 7, 8 }, addrs(ticks:within(all)))
    assert.same({ 2, 4, 5, 7, 8 }, addrs(ticks:within(spans)))
    raises("key: lengths differ: 1 for a record, 0 for open", function()
      ticks:within(all, { key = "tid" })
    end)
  end)

  it("knows the record that opened a span at once", function()
    assert.same({ 2, 5, 7 }, addrs(ticks:within(spans:where "comm == 'seven'")))
    assert.same({ 4 }, addrs(ticks:within(spans:where "open.addr == 0xb"):where "cpu == 0"))
    assert.same({ 7, 8 }, addrs(ticks:within(spans:between(150, 250))))
    assert.same({ 5, 7 }, addrs(ticks:within(spans):between(140, 220)))
  end)

  it("groups by fields of records and spans", function()
    local grouped = ticks:within(spans):group_by("comm", "span.open.addr"):all_events()
    local t = grouped:count():sum("addr"):sort("addr", "asc")
    assert.same({
      { comm = "eight", ["span.open.addr"] = 0xb, count = 1, addr = 4 },
      { comm = "seven", ["span.open.addr"] = 0xa, count = 2, addr = 7 },
      { comm = "seven", ["span.open.addr"] = 0xe, count = 1, addr = 7 },
      { comm = "eight", ["span.open.addr"] = 0, count = 1, addr = 8 },
    }, rows_of(t))
    local longest = ticks:within(spans):group_by("comm"):max("span.duration")
      :sort("comm", "asc")
    assert.same({
      { comm = "eight", ["max_span.duration"] = 40, event = "tick" },
      { comm = "seven", ["max_span.duration"] = 100, event = "tick" },
    }, rows_of(longest))
    local since = { since = function(s, span) return s.time - span.start end }
    local by_function = ticks:within(spans):group_by(since):all_events():count()
      :sort("since", "asc")
    assert.same({ { since = 10, count = 4 }, { since = 40, count = 1 } }, rows_of(by_function))
  end)

  it("takes the records at the start of a span, not those at its end", function()
    local all = file:samples():within(spans):where("tid == 7"):select("event.name", "time")
      :collect()
    assert.same({ { "open", 100 }, { "tick", 110 }, { "tick", 140 }, { "open", 200 },
      { "tick", 210 } }, all)
  end)

  it("takes other keys than the thread", function()
    local by_ends = file:samples():pair {
      open = "open", close = "close",
      key = { open = { "tid", "cpu" }, close = { "pid", "cpu" } },
    }
    assert.same({ 2, 4, 5, 7, 8 }, addrs(ticks:within(by_ends, { key = { "tid", "cpu" } })))
    raises("within_spec.lua:%d+: within: the spans' ends have different keys; "
      .. "name", function()
      ticks:within(by_ends)
    end)
    local by_cpu = file:samples():pair { open = "open", close = "close", key = "cpu" }
    assert.same({ 2, 3, 4, 5, 7, 8 }, addrs(ticks:within(by_cpu)))
  end)

  it("reads the times of the records and the spans each as their query says", function()
    assert.same({ 5, 7, 8 }, addrs(file:samples("tick"):between(135, nil):within(spans)))
    local late = file:samples():between(105, nil):pair { open = "open", close = "close" }
    assert.same({ 4, 7, 8 }, addrs(ticks:within(late)))
  end)

  it("reads streams", function()
    local b, events = spanned.builder { container = "pipe" }
    spanned.add(b, events, list)
    local stream <close> = assert(perflua.open(b:write()))
    assert.same({ 2, 4, 5, 7, 8 }, addrs(stream:samples "tick":within(stream:samples():pair {
      open = "open", close = "close" })))
  end)

  it("forgets spans when records were lost", function()
    local lossy <close> = assert(perflua.open(spanned.write {
      { "open", 7, 100 }, { "tick", 7, 110, 1 }, { "lost", 0, 120 }, { "tick", 7, 130, 2 },
      { "close", 7, 140 },
    }))
    local some = lossy:samples():pair { open = "open", close = "close" }
    assert.same({ 1 }, addrs(lossy:samples("tick"):within(some)))
    assert.same({}, addrs(lossy:samples("tick"):within(some, { closed = true })))
    assert.equal(1, some.counts.lost)
  end)

  it("describes in explain() what it reads", function()
    assert.matches("^reads    records of type sample inside of spans from open to close by tid",
      ticks:within(spans):explain())
  end)

  it("raises at the script's line", function()
    local function fails(pattern, fn) raises("within_spec.lua:%d+: .*" .. pattern, fn) end
    local other <close> = assert(perflua.open(spanned.write(list)))
    fails("within: spans from pair%(%) expected, got a Query", function()
      ticks:within(ticks)
    end)
    fails("within: spans from pair%(%) expected, got a nil", function()
      ticks:within()
    end)
    fails("the spans are grouped, selected or unnested already", function()
      ticks:within(spans:group_by "comm")
    end)
    fails("the spans belong to another File", function() other:samples():within(spans) end)
    fails("unknown option 'close'; the closest is 'closed'", function()
      ticks:within(spans, { close = true })
    end)
    fails("needs records in time order", function()
      file:samples({ order = "file" }):within(spans)
    end)
    fails("unknown field 'span.durration'", function()
      ticks:within(spans):group_by "span.durration"
    end)
  end)
end)

describe("within() of spans in spans", function()
  local file, outer, inner

  --- Ticks begin and end spans inside, of which some reach out of the spans around them.
  before_each(function()
    local records = {}
    for i = 1, 60 do
      local tid, time = 7 + i % 2, 100 * i
      records[#records + 1] = { i % 3 == 0 and "tick" or "open", tid, time, 1 }
      records[#records + 1] = { i % 3 == 0 and "open" or "tick", tid, time + 1, 1 }
      for k = 1, i % 4 do
        records[#records + 1] = { "tick", tid, time + 10 * k, 2 }
        records[#records + 1] = { "tick", tid, time + 10 * k + k, 1 }
      end
      records[#records + 1] = { i % 5 == 0 and "close" or "tick", tid, time + 60, 2 }
      records[#records + 1] = { i % 5 == 0 and "tick" or "close", tid, time + 61, 2 }
    end
    file = assert(perflua.open(spanned.write(records)))
    outer = file:samples():pair { open = "open", close = "close" }
    inner = file:samples():pair {
      open = { event = "tick", where = "addr == 1" },
      close = { event = "tick", where = "addr == 2" },
    }
  end)
  after_each(function() file:close() end)

  --- Finds in loops over both which spans lie in which.
  local function expected(test)
    local found, around = {}, {}
    for span in outer do around[#around + 1] = span end
    for span in inner do
      for _, one in ipairs(around) do
        local is_inside = one.key == span.key and one.start <= span.start
          and span.stop <= one.stop
        if is_inside and (not test or test(span, one)) then
          found[#found + 1] = { span.start, span.duration, one.start, one.duration }
        end
      end
    end
    return found
  end

  local function sorted(spans)
    table.sort(spans, function(a, b) return a[1] < b[1] end)
    return spans
  end

  local function asked(query)
    local found = {}
    for start, duration, around, whole in query:select("start", "duration", "span.start",
      "span.duration") do
      found[#found + 1] = { start, duration, around, whole }
    end
    return found
  end

  it("keeps those that open no earlier and close no later", function()
    local found = sorted(expected())
    assert.is_true(#found > 20 and #found < inner:count())
    assert.same(found, sorted(asked(inner:within(outer))))
    assert.equal(#found, inner:within(outer):count())
  end)

  it("filters both before it, and what they are together after it", function()
    local found = sorted(expected(function(span, around)
      return span.duration > 5 and around.duration > 59 and around.start + 20 < span.start
    end))
    assert.is_true(#found > 0)
    assert.same(found, sorted(asked(inner:where "duration > 5"
      :within(outer:where "duration > 59"):where "span.start + 20 < start")))
    assert.same(found, sorted(asked(inner:where(function(span) return span.duration > 5 end)
      :within(outer:where(function(span) return span.duration > 59 end))
      :where(function(span, around) return around.start + 20 < span.start end))))
  end)

  it("groups by fields of both", function()
    local sums = {}
    for _, one in ipairs(expected()) do sums[one[4]] = (sums[one[4]] or 0) + one[2] end
    local got = {}
    for row in inner:within(outer):group_by("span.duration"):sum("duration"):sort():rows() do
      got[row["span.duration"]] = row.duration
    end
    assert.same(sums, got)
  end)

  it("gives loops both spans; that around is told of its end when that comes", function()
    local n = 0
    for span, around in inner:within(outer) do
      assert.is_true(around.start <= span.start and span.stop ~= nil)
      assert.is_nil(around.stop)
      n = n + 1
    end
    assert.equal(#expected(), n)
    for span, around in inner:within(outer, { closed = true }) do
      assert.is_true(span.stop <= around.stop)
    end
  end)

  it("takes a field of the spans inside as key", function()
    local by_addr = inner:within(outer, { key = "close.tid" })
    assert.same(sorted(expected()), sorted(asked(by_addr)))
    raises("'duration' is not a field of the spans' records", function()
      inner:within(outer, { key = "duration" })
    end)
    raises("within comes before group_by", function() inner:group_by("key"):within(outer) end)
    raises("spans from pair%(%) expected", function() inner:within(inner:within(outer)) end)
  end)

  it("is explained", function()
    assert.matches("^reads    spans from tick where addr == 1 to tick where addr == 2 by tid, "
      .. "of records of type sample inside of spans from open to close by tid",
      inner:within(outer):explain())
  end)
end)
