-- Spans that were open when records were lost: how long they were at least and at most, and
-- which of them are kept on request.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises = two_events.raises

for _, where in ipairs { "in the core", "in Lua" } do
describe("spans open at a loss, " .. where, function()
  local function pair(rows, options) return spanned.pair(rows, options, where == "in Lua") end

  local function asked(spans)
    local list = spanned.texts(spans)
    local c = spans.counts
    return { list, c.pairs, c.kept, c.lost, c.lost_at_least, c.lost_at_most, c.unopened }
  end

  local DROP = { open = "open", close = "close" }
  local KEEP = { open = "open", lost = "keep",
    close = { event = "close", where = "addr == open.addr" } }

  it("counts how long they were, to the last record before and the next of the key", function()
    local spans = pair({
      { "open", 7, 100, 1 }, { "open", 8, 110, 1 }, { "open", 9, 120, 1 }, { "tick", 5, 130 },
      { "lost", 0, 200 },
      { "tick", 7, 210 }, { "close", 7, 220, 1 }, { "open", 8, 230 }, { "close", 8, 240 },
      { "tick", 5, 300 },
    }, DROP)
    -- at least 30 + 20 + 10; at most 120 + 120 + 180, as 9 never comes back
    assert.same({ { "8:230-240" }, 1, 0, 3, 60, 420, 1 }, asked(spans))
    assert.matches("3 during which records were lost", tostring(spans:group_by("tid"):count()
      :top(3)))
  end)

  it("counts on to the last record of the cpu whose records were lost", function()
    assert.same({ {}, 0, 0, 2, 10, 100, 0 }, asked(pair({
      { "open", 7, 100, 1, 0 }, { "tick", 7, 110, 0, 0 }, { "open", 8, 120, 1, 1 },
      { "tick", 5, 150, 1, 1 }, { "lost", 0, 160 },
    }, DROP)))
    -- nothing is known of cpu 3 before
    assert.same({ {}, 0, 0, 2, 0, 100, 0 }, asked(pair({
      { "open", 7, 100, 1, 0 }, { "tick", 7, 110, 0, 0 }, { "open", 8, 120, 1, 1 },
      { "tick", 5, 150, 1, 1 }, { "lost", 3, 160 },
    }, DROP)))
  end)

  it("keeps those whose next record answers to the one that opened them", function()
    local rows = {
      { "open", 7, 100, 1 }, { "open", 8, 101, 1 }, { "open", 9, 102, 1 }, { "open", 6, 103 },
      { "tick", 5, 110, 1 },
      { "lost", 0, 200 }, { "lost", 0, 205 },
      { "close", 7, 210, 1 }, { "close", 8, 220, 2 }, { "open", 9, 230, 1 },
      { "close", 9, 240, 1 }, { "tick", 5, 303 },
    }
    local spans = pair(rows, KEEP)
    -- 7 is kept; lost are 8, which another one closes, 9, which opens again, and 6
    assert.same({ { "7:100-210", "9:230-240" }, 2, 1, 3, 9 + 8 + 7, 119 + 128 + 200, 1 },
      asked(spans))
    assert.matches("# 2 spans, 1 of them across lost records; not counted: 1 end without a "
      .. "start, 3 during which", tostring(spans:group_by("tid"):count():top(3)))
    assert.same({ { "9:230-240" }, 1, 0, 4, 10 + 9 + 8 + 7, 110 + 119 + 128 + 200, 2 },
      asked(pair(rows, { open = "open", close = KEEP.close })))
  end)

  it("has no rows of unfinished ones that may have ended", function()
    local spans = pair({ { "open", 7, 100 }, { "lost", 0, 110 }, { "open", 8, 120 },
      { "tick", 5, 130 } }, { open = "open", close = "close", unfinished = true })
    assert.same({ 8 }, spans:select("key"):collect())
    assert.same({ 1, 1 }, { spans.counts.unfinished, spans.counts.lost })
  end)

  it("has them as unfinished ones in the order of their beginnings, if kept", function()
    local rows = {
      { "open", 7, 100, 1 }, { "open", 8, 110, 1 }, { "open", 9, 120, 1 }, { "lost", 0, 200 },
      { "open", 5, 210, 1 }, { "close", 8, 220, 1 }, { "tick", 5, 300 },
    }
    local spans = pair(rows,
      { open = "open", close = "close", lost = "keep", unfinished = true })
    local got = {}
    for span in spans:each() do
      got[#got + 1] = { span.key, span.start, span.stop, span.so_far }
    end
    assert.same({ { 8, 110, 220 }, { 7, 100, nil, 200 }, { 9, 120, nil, 180 },
      { 5, 210, nil, 90 } }, got)
    local counts = spans.counts
    assert.same({ 1, 1, 3, 0 }, { counts.pairs, counts.kept, counts.unfinished, counts.lost })
  end)

  it("has those that began at one time in the order of the recording, if kept", function()
    local spans = pair({
      { "open", 9, 90 }, { "open", 8, 100 }, { "close", 9, 100 }, { "open", 7, 100 },
      { "lost", 0, 200 }, { "open", 6, 210 }, { "tick", 5, 300 },
    }, { open = "open", close = "close", lost = "keep", unfinished = true })
    assert.same({ 9, 8, 7, 6 }, spans:select("key"):collect())
  end)

  it("keeps records inside of them until it is known", function()
    local spans, file = pair({
      { "open", 7, 100, 1 }, { "tick", 7, 110 }, { "lost", 0, 200 }, { "tick", 7, 205 },
      { "close", 7, 210, 1 }, { "open", 7, 220, 1 }, { "tick", 7, 230 }, { "lost", 0, 240 },
      { "close", 7, 250, 2 },
    }, KEEP)
    local ticks = file:samples("tick")
    interpret(ticks, where == "in Lua")
    assert.same({ 110, 205 }, ticks:within(spans, { closed = true }):select("time"):collect())
    assert.same({ 110, 230 }, ticks:within(spans):select("time"):collect())
  end)
end)
end

describe("what becomes of spans at losses", function()
  it("is one of two, at the script's line", function()
    local file <close> = assert(perflua.open(spanned.write { { "open", 7, 1 },
      { "close", 7, 2 } }))
    raises('lost_spec.lua:%d+: pair: lost: "drop" or "keep" expected, got', function()
      file:samples():pair { open = "open", close = "close", lost = "all" }
    end)
  end)

  it("counts a span once, however often records are lost", function()
    local b, events = spanned.builder()
    for i = 1, 20000 do spanned.add(b, events, { { "open", i, i } }) end
    for i = 1, 20000 do spanned.add(b, events, { { "lost", 0, 20000 + i } }) end
    local file <close> = assert(perflua.open(b:write()))
    local spans = file:samples():pair { open = "open", close = "close", key = { "tid", "cpu" } }
    assert.equal(0, spans:count())
    assert.equal(20000, spans.counts.lost)
  end)
end)
