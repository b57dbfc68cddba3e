-- Spans that are open at the end of the recording, as rows.
local builder = require "spec.support.builder"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises, rows_of = two_events.raises, two_events.rows

local UNFINISHED = { open = "open", close = "close", unfinished = true }

local plain = {
  { "comm", 7, 1, "seven" }, { "open", 8, 90, 0xb }, { "open", 7, 100, 0xa },
  { "close", 7, 150, 0xc }, { "open", 9, 155, 1, 3 }, { "open", 7, 160, 0xd },
  { "open", 7, 170, 0xe }, { "tick", 5, 200 },
}

local function texts(spans)
  local list = {}
  for span in spans:each() do
    list[#list + 1] = ("%s:%d-%s %s"):format(span.key, span.start, span.stop, span.so_far)
  end
  return list
end

for _, where in ipairs { "in the core", "in Lua" } do
describe("pair() with unfinished = true, " .. where, function()
  local function pair(file, options)
    return interpret(file:samples(), where == "in Lua"):pair(options or UNFINISHED)
  end

  it("gives the spans that are open at the end, in the order in which they began", function()
    local file <close> = assert(perflua.open(spanned.write(plain)))
    local spans = pair(file)
    assert.same({ "7:100-150 nil", "8:90-nil 110", "9:155-nil 45", "7:170-nil 30" },
      texts(spans))
    local counts = spans.counts
    assert.same({ 1, 3, 0, 1 }, { counts.pairs, counts.unfinished, counts.unclosed,
      counts.restarted })
    assert.equal(1, #spans:where("duration >= 0"):collect())
    local last = spans:where("so_far < 40"):first()
    assert.is_nil(last.close)
    assert.is_nil(last.duration)
    assert.equal(0xe, last.open.addr)
    assert.matches("%- %? %(30 ns so far%)", tostring(last))
  end)

  it("counts those of several recordings up to the last record of their own", function()
    local function write(tid, last)
      return spanned.write { { "open", tid, 100 + tid }, { "open", tid + 10, 110 + tid },
        { "open", tid, 120 + tid }, { "tick", 1, last } }
    end
    local file <close> = assert(perflua.open { write(1, 200), write(2, 300), write(3, 400) })
    assert.same({ "11:111-nil 89", "12:112-nil 188", "13:113-nil 287", "1:121-nil 79",
      "2:122-nil 178", "3:123-nil 277" }, texts(pair(file)))
  end)

  it("counts those of recordings with clocks of their own by these", function()
    local function write(tid, wall)
      return spanned.write({ { "open", tid, 100 + tid }, { "tick", 1, 200 } }, { wall = wall })
    end
    local file <close> = assert(perflua.open { write(1, 10^9 | 0), write(2, 5 * 10^9 | 0) })
    assert.same({ "1:101-nil 99", "2:102-nil 98" }, texts(pair(file)))
  end)

  it("keeps fractions and texts beside integers that it met before", function()
    local rows = { { "comm", 7, 1, "seven" } }
    for i, tid in ipairs { 2, 4, 6, 8, 10, 12, 7, 14 } do
      rows[i + 1] = { "open", tid, 100 + i, tid }
    end
    rows[#rows + 1] = { "close", 4, 300 }
    rows[#rows + 1] = { "close", 7, 310 }
    rows[#rows + 1] = { "open", 16, 320, 16 }
    local file <close> = assert(perflua.open(spanned.write(rows)))
    local spans = pair(file, { open = "open", close = "close", unfinished = true,
      key = "tid / 2" })
    local got = {}
    for key, addr, name in spans:select("key", "open.addr", "open.comm"):each() do
      got[#got + 1] = ("%s %d %s"):format(key, addr, name)
    end
    assert.same({ "2 4 :4", "3.5 7 seven", "1 2 :2", "3 6 :6", "4 8 :8", "5 10 :10", "6 12 :12",
      "7 14 :14", "8 16 :16" }, got)
    spans = pair(file, { open = "open", close = "close", unfinished = true, key = "tid / 2" })
    assert.same({ 2, 3.5, 1, 3, 4, 5, 6, 7, 8 }, spans:select("key"):collect())
  end)

  it("groups them with the others, and says how many there are", function()
    local file <close> = assert(perflua.open(spanned.write(plain)))
    local t = pair(file):group_by("key"):count():sum("duration"):sum("so_far")
      :sort("key", "asc")
    assert.same({ { key = 7, count = 2, duration = 50, so_far = 30 },
      { key = 8, count = 1, duration = 0, so_far = 110 },
      { key = 9, count = 1, duration = 0, so_far = 45 } }, rows_of(t))
    assert.matches("# 1 span, and 3 not over when the recording ended; not counted: 1 start",
      tostring(t), 1, true)
  end)

  it("gives their keys as they are paired", function()
    local file <close> = assert(perflua.open(spanned.write(plain)))
    local spans = pair(file, { open = "open", close = "close", key = { "comm", "tid / 2" },
      unfinished = true })
    assert.same({ "seven", 3.5 }, spans:first().key)
    assert.same({ "seven", ":8", ":9", "seven" }, spans:select("key[1]"):collect())
    assert.same({ 5, 4 }, { spans:select("#key[1]"):first(),
      pair(file, { open = "open", close = "close", key = "tid / 2", unfinished = true })
        :where("so_far == 110"):select("key"):first() })
  end)

  it("has the records inside of them, which waited", function()
    local file <close> = assert(perflua.open(spanned.write(plain)))
    local spans, got = pair(file, { open = "open", close = "close", key = false,
      unfinished = true }), {}
    local ticks = file:samples("tick")
    interpret(ticks, where == "in Lua")
    for record, span in ticks:within(spans, { closed = true }):each() do
      got[#got + 1] = { record.time, span.start, span.so_far }
    end
    assert.same({ { 200, 170, 30 } }, got)
    assert.same({ 30 }, ticks:within(spans):select("span.so_far"):collect())
    assert.same({ 200 }, ticks:within(spans):where("span.stop == nil"):select("time"):collect())
  end)

  it("says how long they were open in their own recording", function()
    local a, b = spanned.write { { "open", 7, 100 }, { "tick", 1, 120 } },
      spanned.write { { "open", 7, 110 }, { "tick", 1, 500 } }
    local file <close> = assert(perflua.open { a, b })
    assert.same({ "7:100-nil 20", "7:110-nil 390" }, texts(pair(file)))
  end)
end)
end

describe("unfinished spans", function()
  it("are the same in a stream", function()
    local b, events = spanned.builder { container = "pipe" }
    spanned.add(b, events, plain)
    local file <close> = assert(perflua.open(spanned.write(plain)))
    local expected = texts(file:samples():pair(UNFINISHED))
    local other <close> = assert(perflua.open(b:write()))
    assert.same(expected, texts(other:samples():pair(UNFINISHED)))
  end)

  it("have the items of the record that opened them", function()
    local b = builder.new()
    local event = b:event { name = "open", type = 1, ids = { 11 },
      sample_type = { "identifier", "tid", "time", "callchain" } }
    b:sample(event, { identifier = 11, pid = 7, tid = 7, time = 100, callchain = { 1, 2 } })
    b:sample(event, { identifier = 11, pid = 7, tid = 7, time = 130, callchain = { 3, 4, 5 } })
    local file <close> = assert(perflua.open(b:write()))
    local spans = file:samples():pair { open = "open", close = "open", unfinished = true }
    assert.same({ { 1, 30, false }, { 2, 30, false }, { 3, false, 0 }, { 4, false, 0 },
      { 5, false, 0 } },
      spans:unnest("open.callchain"):select("frame.ip", "duration", "so_far"):collect())
    assert.same({ 3, 4, 5 }, spans:unnest("close.callchain"):select("frame.ip"):collect())
  end)

  it("are left out of exports", function()
    local file <close> = assert(perflua.open(spanned.write(plain)))
    local path = os.tmpname()
    assert(perflua.export(file:samples():pair(UNFINISHED), "chrome", path))
    local out = assert(io.open(path)):read "a"
    os.remove(path)
    local _, n = out:gsub('"ph":"e"', "")
    assert.equal(1, n)
  end)

  it("have no fields that nobody asked for", function()
    local file <close> = assert(perflua.open(spanned.write(plain)))
    raises("'so_far': only spans of pair { unfinished = true } have it", function()
      file:samples():pair({ open = "open", close = "close" }):where("so_far > 1")
    end)
    raises("within: inner spans must have ended: pair them without `unfinished`",
      function()
        file:samples():pair(UNFINISHED):within(file:samples():pair(UNFINISHED))
      end)
  end)
end)
