-- Fields of records that change spans, and spans that go on with another key.
local interpret = require("spec.support.model").interpret
local perflua = require "perflua"
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises = two_events.raises

-- Requests at an address: an open puts one into a queue, a close of cpu 2 issues it, of which
-- `tid` is the length; a tick completes 10 of it, after which the rest is 10 higher.
local REQUESTS = {
  key = "addr",
  open = { event = "open", state = "queued" },
  change = {
    { event = "close", where = "cpu == 2", from = "queued", state = "issued" },
    { event = "tick", where = "addr + 10 < at_issued.addr + at_issued.tid", from = "issued",
      to = "addr + 10" },
  },
  close = { event = "tick", where = "addr + 10 == at_issued.addr + at_issued.tid",
    from = "issued" },
}

local function counts(spans, ...)
  local list = {}
  for i, name in ipairs { ... } do list[i] = spans.counts[name] end
  return list
end

for _, where in ipairs { "in the core", "in Lua" } do
local function pair(rows, options) return spanned.pair(rows, options, where == "in Lua") end

describe("records that change spans, " .. where, function()
  it("tell of the record with which a span entered each state", function()
    local spans = pair({ { "open", 7, 100, 50 }, { "close", 10, 110, 50, 2 },
      { "open", 8, 120, 70 }, { "close", 10, 125, 70, 2 }, { "tick", 3, 130, 50 },
      { "tick", 3, 135, 70 } }, REQUESTS)
    assert.same({ { 50, 7, 10, 110, 100, 20 }, { 70, 8, 10, 125, 120, 10 } },
      spans:select("key", "open.tid", "at_issued.tid", "at_issued.time", "at_queued.time",
        "stop - at_issued.time"):collect())
    assert.same({ { ["at_issued.tid"] = 10, count = 2, sum = 45 } },
      two_events.rows(spans:group_by("at_issued.tid"):count():sum("duration"):as("sum")
        :sort("count")))
    assert.equal(1, spans:where("at_issued.time - at_queued.time > 5"):count())
  end)

  it("tell of the last time that it entered one, and of none that it did not", function()
    local spans = pair({ { "open", 1, 100, 50 }, { "tick", 2, 101, 50 }, { "tick", 3, 102, 50 },
      { "close", 4, 103, 50 }, { "open", 5, 104, 50 }, { "close", 6, 105, 50 } }, {
      key = "addr", open = { event = "open", state = "a" },
      change = { event = "tick", state = "b" }, close = "close" })
    assert.same({ { 1, 3, 2 }, { 5, -1, 0 } },
      spans:select("at_a.tid", "at_b.tid or -1", "in_b"):collect())
  end)

  it("give spans another key", function()
    local spans = pair({ { "open", 7, 100, 50 }, { "close", 30, 110, 50, 2 },
      { "tick", 1, 120, 50 }, { "tick", 1, 130, 60 }, { "tick", 1, 140, 70 },
      { "tick", 1, 150, 80 } }, REQUESTS)
    assert.same({ { 70, 100, 140, 7, 50 } },
      spans:select("key", "start", "stop", "open.tid", "at_issued.addr"):collect())
    assert.same({ 1, 1, 0, 0 }, counts(spans, "pairs", "unopened", "stray", "mismatched"))
  end)

  it("drop the span that has the key already", function()
    local spans = pair({ { "open", 7, 100, 50 }, { "close", 20, 110, 50, 2 },
      { "open", 8, 115, 60 }, { "close", 20, 116, 60, 2 }, { "tick", 1, 120, 50 },
      { "tick", 1, 130, 60 }, { "tick", 1, 140, 70 } }, REQUESTS)
    assert.same({ "60:100-130" }, spanned.texts(spans))
    assert.same({ 1, 1, 1 }, counts(spans, "pairs", "restarted", "unopened"))
  end)

  it("open no span with a key that they change, or move a span away from", function()
    local options = {
      open = { { event = "open", state = "a" }, { event = "tick", state = "a" } },
      change = { { event = "tick", from = "a", to = "addr" } }, close = "close" }
    local spans = pair({ { "open", 1, 100 }, { "tick", 1, 110, 2 }, { "close", 1, 115 },
      { "close", 2, 120 }, { "tick", 3, 130, 4 }, { "close", 3, 140 } }, options)
    assert.same({ "2:100-120", "3:130-140" }, spanned.texts(spans))
    assert.same({ 2, 1, 1 }, counts(spans, "pairs", "unopened", "stray"))
  end)

  it("close a span rather than change it, and change one to which no close answers", function()
    local options = { open = { event = "open", state = "a" },
      change = { { event = "tick", where = "addr < 5", state = "b" },
        { event = "tick", where = "addr == 1", from = "b", state = "c" } },
      close = { event = "tick", where = "addr == open.addr" } }
    local spans = pair({ { "open", 1, 100, 3 }, { "tick", 1, 110, 1 }, { "tick", 1, 120, 3 },
      { "open", 2, 130, 4 }, { "tick", 2, 140, 7 }, { "tick", 2, 150, 4 } }, options)
    assert.same({ { 1, "b", 10 } }, spans:select("key", "state", "in_b"):collect())
    assert.same({ 1, 1, 2, 0 }, counts(spans, "pairs", "mismatched", "unopened", "stray"))
  end)

  it("move a span to the key of others before the record opens one with that key", function()
    local options = { close = { event = "close", key = { "tid", "2" } },
      open = { { event = "open", key = { "tid", "1" }, state = "queued" },
        { event = "tick", key = { "tid", "2" }, state = "issued" } },
      change = { event = "tick", key = { "tid", "1" }, to = { "tid", "2" }, state = "issued" } }
    local spans = pair({ { "open", 7, 100 }, { "tick", 7, 110 }, { "close", 7, 120 },
      { "tick", 7, 130 }, { "close", 7, 140 } }, options)
    assert.same({ { 100, 10, 110 }, { 130, 0, 130 } },
      spans:select("start", "in_queued", "at_issued.time"):collect())
    assert.same({ 2, 0, 1 }, counts(spans, "pairs", "restarted", "stray"))
  end)

  it("move spans with texts as keys", function()
    local function named(rows)
      return pair(rows, { key = "comm", open = { event = "open", state = "a" },
        change = { event = "tick", to = "comm ~= nil and 'b'" }, close = { event = "close",
          key = "comm ~= nil and 'b'" } })
    end
    local rows = { { "comm", 1, 90, "a-long-name" }, { "open", 1, 100 }, { "tick", 1, 110 },
      { "close", 1, 120 } }
    assert.same({ { "b", 20 } }, named(rows):select("key", "duration"):collect())
  end)

  it("move spans inside of others, and tell of their changes", function()
    local file = assert(perflua.open(spanned.write { { "open", 9, 90, 1, 3 },
      { "open", 7, 100, 50 }, { "close", 20, 110, 50, 2 }, { "tick", 1, 120, 50 },
      { "tick", 7, 130, 60 }, { "close", 9, 140, 1, 3 } }))
    local samples = interpret(file:samples(), where == "in Lua")
    local outer = samples:pair { open = { event = "open", where = "cpu == 3", state = "out" },
      close = { event = "close", where = "cpu == 3" }, key = false }
    assert.same({ { 9, 20, 50, 30 } }, samples:pair(REQUESTS):within(outer)
      :select("span.at_out.tid", "at_issued.tid", "at_issued.addr", "duration"):collect())
  end)
end)
end

describe("changes of spans", function()
  it("say what is wrong with them", function()
    local file = assert(perflua.open(spanned.write { { "open", 1, 1 } }))
    local function pairing(change)
      return function()
        local options = { open = { event = "open", state = "a" }, close = "close" }
        for name, value in pairs(change) do options[name] = value end
        return file:samples():pair(options)
      end
    end
    raises("pair: close: 'to' is for records that change spans",
      pairing { close = { event = "close", to = "addr" } })
    raises("key: lengths differ: 1 for open, 2 for to of change",
      pairing { change = { event = "tick", to = { "addr", "tid" } } })
    raises("'at_b.tid': no such state; there are at_a",
      function() pairing {}():select "at_b.tid" end)
    raises("'at_a' is a record; name a field of it: 'at_a.comm'",
      function() pairing {}():select "at_a" end)
    raises("unknown field 'at_a'",
      pairing { open = "open", close = { event = "close", where = "at_a.tid == 1" } })
  end)
end)
