-- Records that end and begin several spans, each by a key of its own, and kinds of records for
-- spans in some states only.
local perflua = require "perflua"
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises = two_events.raises

-- The life of threads: at a tick thread `tid` leaves its cpu, and `addr` comes; an open says
-- that `addr` was woken.
local LIFE = {
  open = { { event = "tick", key = "addr", where = "addr ~= 0", state = "running" },
    { event = "tick", key = "tid", where = "tid ~= 0", state = "asleep" },
    { event = "open", key = "addr", again = "keep", state = "ready" } },
  change = { { event = "tick", key = "tid", from = "running", where = "cpu == open.cpu",
    state = "asleep" }, { event = "open", key = "addr", from = "asleep", state = "ready" } },
  close = { { event = "tick", key = "addr", where = "addr ~= 0", from = { "asleep", "ready" } },
    { event = "tick", key = "tid", where = "tid == 5", from = "running" } },
}

for _, where in ipairs { "in the core", "in Lua" } do
local function pair(rows, options) return spanned.pair(rows, options, where == "in Lua") end

describe("spans that one record ends and begins, " .. where, function()
  local rows = {
    { "tick", 0, 100, 7 }, { "open", 7, 105, 8 }, { "open", 7, 106, 8 }, { "tick", 7, 110, 8 },
    { "open", 8, 115, 7 }, { "open", 8, 116, 7 }, { "tick", 8, 120, 7 }, { "tick", 7, 130, 5 },
    { "tick", 5, 140, 8 }, { "tick", 8, 150, 0 },
  }

  it("have keys of their own, and go on where a record has changed them", function()
    local spans = pair(rows, LIFE)
    assert.same({
      { 8, 105, 110, 0, 0, 5, "ready" }, { 7, 100, 120, 10, 5, 5, "ready" },
      { 8, 110, 140, 10, 20, 0, "asleep" }, { 5, 130, 140, 10, 0, 0, "running" },
    }, spans:select("key", "start", "stop", "in_running", "in_asleep", "in_ready", "state")
      :collect())
    assert.same({ 4, 2, 3 }, { spans.counts.pairs, spans.counts.repeated,
      spans.counts.unclosed })
  end)

  it("have their last state in loops, in filters and as key", function()
    local spans, list = pair(rows, LIFE), {}
    for span in spans:each() do list[#list + 1] = span.state end
    assert.same({ "ready", "ready", "asleep", "running" }, list)
    assert.same({ 2, 2 }, { spans:where("state == 'ready'"):count(),
      spans:where("state ~= 'ready'"):count() })
    assert.same({ state = "ready", count = 2 },
      two_events.rows(spans:group_by("state"):count():top(1, "count"))[1])
    assert.equal(20, spans:where("state == 'asleep'"):sum("in_asleep"))
  end)

  it("are dropped where a record does not follow on their state", function()
    local spans = pair({
      { "tick", 0, 100, 7 }, { "tick", 0, 110, 7 }, -- it came twice
      { "tick", 7, 120, 0, 1 }, -- it left another cpu: nothing is known but that it is off
      { "tick", 7, 125, 0 }, -- and again
      { "tick", 0, 130, 7 },
    }, LIFE)
    assert.same({ { 7, 125, 130, 0, 5 } }, spans:select("key", "start", "stop", "in_running",
      "in_asleep"):collect())
    assert.same({ 1, 1, 2 }, { spans.counts.pairs, spans.counts.mismatched,
      spans.counts.restarted })
  end)

  it("are cut, or end with the recording, each by itself", function()
    local options = { slice = "8ns", unfinished = true }
    for name, value in pairs(LIFE) do options[name] = value end
    local spans = pair({ { "tick", 0, 104, 7 }, { "tick", 7, 110, 5 }, { "open", 5, 113, 7 },
      { "tick", 5, 116, 7 } }, options)
    assert.same({
      { 7, 104, 112, "asleep" }, { 7, 112, 116, "ready" },
      { 5, 110, 112, "running" }, { 5, 112, 116, "running" },
      { 7, 116, 116, "running" }, { 5, 116, 116, "asleep" },
    }, spans:select("key", "start", "stop or start + so_far", "state"):collect())
  end)

  it("add up to the time that each covers", function()
    assert.same({ { 7, 20 }, { 8, 35 }, { 5, 10 } }, pair(rows, LIFE):union()
      :select("key", "duration"):collect())
  end)
end)
end

describe("kinds of records for spans in some states", function()
  it("say what is wrong with them", function()
    local file = assert(perflua.open(spanned.write { { "open", 1, 1 } }))
    local function pairing(change)
      return function()
        local options = { open = "open", close = "close" }
        for name, value in pairs(change) do options[name] = value end
        file:samples():pair(options)
      end
    end
    raises("pair: close: 'from' names states, which these spans do not have",
      pairing { close = { event = "close", from = "a" } })
    raises("pair: open: a span that begins comes 'from' no state",
      pairing { open = { event = "open", state = "a", from = "a" } })
    raises("pair: close: from: no state 'b'; there are a", pairing {
      open = { event = "open", state = "a" },
      close = { event = "close", from = { "a", "b" } } })
    raises("pair: close: from: the list is empty", pairing {
      open = { event = "open", state = "a" }, close = { event = "close", from = {} } })
  end)
end)
