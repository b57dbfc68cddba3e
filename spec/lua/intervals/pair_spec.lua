-- Spans of time between records: what is paired, and what is counted instead.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises, rows_of = two_events.raises, two_events.rows

local BOTH = { open = "open", close = "close" }

local function opened(rows, options)
  return assert(perflua.open(spanned.write(rows, options)))
end

local in_lua -- as functions of Lua have it done

local function by(query)
  return interpret(query, in_lua)
end

local function spans_of(rows, options)
  local file = opened(rows)
  return by(file:samples()):pair(options or BOTH), file
end

local function counted(spans, expected)
  local all = { pairs = 0, unopened = 0, unclosed = 0, unfinished = 0, restarted = 0,
    repeated = 0, mismatched = 0, lost = 0, lost_at_least = 0, lost_at_most = 0, kept = 0,
    stray = 0, unkeyed = 0 }
  for name, n in pairs(expected) do all[name] = n end
  assert.same(all, spans.counts)
end

local plain = {
  { "comm", 7, 1, "seven" }, { "comm", 8, 2, "eight" },
  { "open", 7, 100, 0xa }, { "open", 8, 110, 0xb }, { "close", 7, 150, 0xc },
  { "tick", 8, 155 },
  { "close", 8, 160, 0xd }, { "open", 7, 200, 0xe }, { "close", 7, 300, 0xf },
}

for _, where in ipairs { "in the core", "in Lua" } do
describe("pair() " .. where, function()
  setup(function() in_lua = where == "in Lua" end)

  it("gives a span for each open and the close of its thread, as they end", function()
    local spans = spans_of(plain)
    assert.same({ "7:100-150", "8:110-160", "7:200-300" }, spanned.texts(spans))
    counted(spans, { pairs = 3 })
  end)

  it("gives spans their duration and both records", function()
    local span = spans_of(plain):first()
    assert.equal(50, span.duration)
    assert.equal("open", span.open.event.name)
    assert.equal("close", span.close.event.name)
    assert.equal(0xa, span.open.addr)
    assert.equal(0xc, span.close.addr)
    assert.equal("seven", span.open.comm)
    assert.matches("50 ns", tostring(span))
  end)

  it("gives one span at a time without a key, whatever the thread", function()
    local spans = spans_of(plain, { open = "open", close = "close", key = false })
    local got = {}
    for span in spans:each() do got[#got + 1] = { span.start, span.stop, span.key } end
    assert.same({ { 110, 150 }, { 200, 300 } }, got)
    counted(spans, { pairs = 2, unopened = 1, restarted = 1 })
    raises("'key': the spans have no key", function() spans:select "key" end)
  end)

  it("gives spans that follow one another where one event closes and opens", function()
    local spans = spans_of(plain, { open = { "open", "close" }, close = { "open", "close" } })
    assert.same({ "7:100-150", "8:110-160", "7:150-200", "7:200-300" }, spanned.texts(spans))
    counted(spans, { pairs = 4, unopened = 2, unclosed = 2 })
  end)

  it("keeps the records of a span apart from those that follow", function()
    local all = opened(plain):samples { reuse = true }:pair(BOTH):collect()
    assert.same({ 0xa, 0xc }, { all[1].open.addr, all[1].close.addr })
    assert.same({ 0xe, 0xf }, { all[3].open.addr, all[3].close.addr })
  end)

  it("counts records without a partner, and closes no span twice", function()
    local spans = spans_of {
      { "close", 7, 90 }, { "open", 7, 100 }, { "close", 7, 110 }, { "close", 7, 120 },
      { "open", 8, 130 },
    }
    assert.same({ "7:100-110" }, spanned.texts(spans))
    counted(spans, { pairs = 1, unopened = 2, unclosed = 1 })
  end)

  it("counts the records of recordings with one side only", function()
    local spans = spans_of { { "open", 7, 100 }, { "open", 8, 110 }, { "tick", 7, 120 } }
    assert.same({}, spanned.texts(spans))
    counted(spans, { unclosed = 2 })
    spans = spans_of { { "close", 7, 100 }, { "close", 8, 110 }, { "close", 7, 120 } }
    assert.same({}, spanned.texts(spans))
    counted(spans, { unopened = 3 })
  end)

  it("starts again at a second open, and counts the first one", function()
    local spans = spans_of { { "open", 7, 100 }, { "open", 7, 120 }, { "close", 7, 150 } }
    assert.same({ "7:120-150" }, spanned.texts(spans))
    counted(spans, { pairs = 1, restarted = 1 })
  end)

  it("goes on at a second open of a kind that says so, and counts that one", function()
    local rows = { { "open", 7, 100 }, { "open", 7, 120 }, { "close", 7, 150 },
      { "tick", 8, 160 }, { "tick", 8, 170 }, { "close", 8, 180 },
      { "open", 9, 200 }, { "lost", 9, 210 }, { "open", 9, 220 }, { "close", 9, 230 } }
    local open = { { event = "open", again = "keep" }, "tick" }
    local spans = spans_of(rows, { open = open, close = "close" })
    assert.same({ "7:100-150", "8:170-180", "9:220-230" }, spanned.texts(spans))
    counted(spans, { pairs = 3, restarted = 1, repeated = 1, lost = 1,
      lost_at_least = spans.counts.lost_at_least,
      lost_at_most = 20 })
    local kept = spans_of(rows, { open = open, close = "close", lost = "keep" })
    assert.same({ "7:100-150", "8:170-180", "9:200-230" }, spanned.texts(kept))
    raises("pair: close: 'again' is for records that open spans", function()
      spans_of(rows, { open = "open", close = { event = "close", again = "keep" } })
    end)
    raises('pair: open: again: "drop" or "keep" expected, got first', function()
      spans_of(rows, { open = { event = "open", again = "first" }, close = "close" })
    end)
  end)

  it("drops open spans when records are lost", function()
    local spans = spans_of {
      { "open", 7, 100, 0, 0 }, { "open", 8, 101, 0, 1 }, { "lost", 0, 120 },
      { "close", 7, 150 }, { "close", 8, 151 },
      { "open", 7, 160 }, { "close", 7, 170 },
    }
    assert.same({ "7:160-170" }, spanned.texts(spans))
    counted(spans, { pairs = 1, lost = 2, lost_at_most = 100, unopened = 2 })
  end)

  it("drops open spans of one cpu only, if spans are by cpu", function()
    local spans = spans_of({
      { "open", 7, 100, 5, 0 }, { "open", 8, 101, 5, 1 }, { "lost", 0, 120 },
      { "close", 9, 150, 5, 0 },
      { "close", 9, 151, 5, 1 },
    }, { open = "open", close = "close", key = { "addr", "cpu" } })
    assert.same({ "5/1:101-151" }, spanned.texts(spans))
    counted(spans, { pairs = 1, lost = 1, lost_at_most = 50, unopened = 1 })
  end)

  it("sees lost records through the filters of the query", function()
    local file = opened { { "open", 7, 100 }, { "lost", 0, 120 }, { "close", 7, 150 } }
    for _, condition in ipairs { "tid == 7", function(s) return s.tid == 7 end } do
      local spans = by(file:samples { "open", "close" }):where(condition):pair(BOTH)
      assert.same({}, spanned.texts(spans))
      counted(spans, { lost = 1, lost_at_most = 50, unopened = 1 })
    end
  end)

  it("takes fields of any number as the key, other ones for open and close", function()
    local rows = {
      { "open", 7, 100, 8, 1 }, { "open", 7, 101, 9, 1 }, { "close", 8, 120, 7, 1 },
      { "close", 9, 130, 7, 2 },
    }
    local key = { open = { "tid", "addr", "cpu" }, close = { "addr", "tid", "cpu" } }
    local spans = spans_of(rows, { open = "open", close = "close", key = key })
    assert.same({ "7/8/1:100-120" }, spanned.texts(spans))
    assert.same({ "8:100-120", "9:101-130" }, spanned.texts(spans_of(rows,
      { open = "open", close = "close", key = { open = "addr", close = "tid" } })))
  end)

  it("lets one record close a span and open the next", function()
    local rows = { { "tick", 7, 100, 1 }, { "tick", 7, 110, 2 }, { "tick", 8, 115, 3 },
      { "tick", 7, 130, 4 } }
    local spans = spans_of(rows, { open = "tick", close = "tick" })
    assert.same({ "7:100-110", "7:110-130" }, spanned.texts(spans))
    assert.same({ { 1, 2 }, { 2, 4 } }, spans:select("open.addr", "close.addr"):collect())
    counted(spans, { pairs = 2, unopened = 2, unclosed = 2 })
  end)

  it("takes events by name, glob, Event and list, filters and functions", function()
    local file = opened(plain)
    local expected = { "7:100-150", "8:110-160", "7:200-300" }
    for _, open in ipairs {
      "open", "op*", { "open" }, file.events.open, { event = "open" },
      { where = "event == 'open'" },
      { event = { "open", "tick" }, where = "addr ~= 0" },
      { event = "open", where = { tid = { 7, 8 } } },
      function(record)
        return record.event.name == "open"
      end, { type = "sample", event = "open" },
      { event = "open", where = function(record) return record.addr > 0 end },
    } do
      assert.same(expected, spanned.texts(by(file:samples())
        :pair { open = open, close = "close" }))
    end
    assert.same({ "7:200-300" }, spanned.texts(by(file:samples()):pair {
      open = { event = "open", where = "addr == 0xe" }, close = "close",
    }))
  end)

  it("pairs records that are not samples", function()
    local b = spanned.builder()
    b:record("switch", { out = true }, { pid = 7, tid = 7, time = 100 })
    b:record("switch", {}, { pid = 7, tid = 7, time = 130 })
    b:record("lost", { id = 11, lost = 1 }, { time = 140 })
    b:record("exit", { pid = 7, ppid = 1, tid = 7, ptid = 1, time = 200 },
      { pid = 7, tid = 7, time = 200 })
    local file <close> = assert(perflua.open(b:write()))
    local off = { open = { type = "switch", where = "out" },
      close = { type = "switch", where = "not out" } }
    assert.same({ "7:100-130" }, spanned.texts(by(file:records("switch")):pair(off)))
    assert.same({ "7:100-130" }, spanned.texts(by(file:records()):pair(off)))
    local till_exit = { open = { type = "switch", where = "out" }, close = { type = "exit" } }
    local spans = by(file:records()):pair(till_exit)
    assert.same({}, spanned.texts(spans))
    assert.equal(1, spans.counts.lost)
  end)

  it("has only the fields that were asked for, where that is all", function()
    local span = spans_of(plain, { open = "open", close = "close",
      fields = { "addr", "close.event", "open.comm" } })
      :first()
    assert.same({ addr = 0xa, comm = "seven" }, span.open)
    assert.equal(0xc, span.close.addr)
    assert.equal("close", span.close.event.name)
    assert.is_nil(span.close.comm)
  end)

  it("is of the query's records only, and of its times", function()
    local file = opened(plain)
    assert.same({ "7:100-150", "7:200-300" },
      spanned.texts(by(file:samples()):where("tid == 7"):pair(BOTH)))
    local late = by(file:samples()):between(105, nil):pair(BOTH)
    assert.same({ "8:110-160", "7:200-300" }, spanned.texts(late))
    counted(late, { pairs = 2, unopened = 1 })
  end)

  it("is in the order of time, whatever the order of the file", function()
    local mixed = { plain[8], plain[9], plain[5], plain[7], plain[4], plain[3] }
    assert.same({ "7:100-150", "8:110-160", "7:200-300" }, spanned.texts(spans_of(mixed)))
  end)

  it("reads streams, once", function()
    local rows = { table.unpack(plain) }
    local b, events = spanned.builder { container = "pipe" }
    spanned.add(b, events, rows)
    local file <close> = assert(perflua.open(b:write()))
    local t = by(file:samples()):pair(BOTH):group_by("tid"):sum("duration"):sort("tid", "asc")
    assert.same({ { tid = 7, duration = 150 }, { tid = 8, duration = 50 } }, rows_of(t))
  end)

  it("does not pair records of different recordings", function()
    local a = spanned.write { { "open", 7, 100 }, { "open", 8, 101 }, { "close", 8, 125 } }
    local b = spanned.write { { "open", 7, 110 }, { "lost", 0, 115 }, { "close", 7, 120 },
      { "close", 7, 130 } }
    local file <close> = assert(perflua.open { a, b })
    local spans = by(file:samples()):pair(BOTH)
    assert.same({ "8:101-125" }, spanned.texts(spans))
    counted(spans, { pairs = 1, lost = 1, lost_at_most = 10, unopened = 2, unclosed = 1 })
  end)

  it("counts records that have no key", function()
    local file = opened(plain)
    -- by zero
    local spans = by(file:samples())
      :pair { open = "open", close = "close", key = "addr // cpu" }
    assert.equal(0, spans:count())
    counted(spans, { unkeyed = 6 })
  end)

  describe("raises at the script's line", function()
    local file
    setup(function() file = opened(plain) end)
    teardown(function() file:close() end)

    local function fails(pattern, options, query)
      raises("pair_spec.lua:%d+: .*" .. pattern, function()
        (query or file:samples()):pair(options)
      end)
    end

    it("rejects unknown options", function()
      fails("pair: a table", nil)
      fails("pair: 'open' is missing: the records that open a span", {})
      fails("pair: 'close' is missing: the records that close a span", { open = "open" })
      fails("unknown option 'kye'; the closest is 'key'",
        { open = "open", close = "close", kye = "tid" })
    end)

    it("rejects unknown events", function()
      fails("no event 'opne'; the closest is 'open'", { open = "opne", close = "close" })
      fails("does not read event 'close'", BOTH, file:samples("open"))
      fails("open: an event, a list of events, { event, where } or a function "
        .. "expected, got a number",
        { open = 1, close = 1 })
      fails("open: unknown option 'wher'", { open = { wher = "x" }, close = "close" })
      fails("unknown record type 'swich'", { open = { type = "swich" }, close = "close" })
      fails("does not read records of type 'switch'",
        { open = { type = "switch" }, close = "close" })
    end)

    it("rejects invalid keys", function()
      fails("unknown field 'tidd'", { open = "open", close = "close", key = "tidd" })
      fails("key: lengths differ: 2 for open, 1 for close", { open = "open", close = "close",
        key = { open = { "tid", "cpu" }, close = "tid" } })
      fails("never equals", { open = "open", close = "close",
        key = { open = "tid", close = "comm" } })
      fails("a number or a string expected, but event is neither",
        { open = "open", close = "close", key = "event" })
      fails("the list of fields is empty",
        { open = "open", close = "close", key = { open = {}, close = {} } })
    end)

    it("rejects queries that cannot be paired", function()
      fails("needs records in time order", BOTH, file:samples { order = "file" })
      fails("before group_by", BOTH, file:samples():group_by("tid"))
      fails("pair comes before select", BOTH, file:samples():select("tid"))
      fails("a query over records expected, got one over spans", BOTH,
        by(file:samples()):pair(BOTH))
      raises("pair_spec.lua:%d+: pair: a Query expected", function()
        perflua.intervals.pair(1, BOTH)
      end)
    end)
  end)
end)
end
