-- Records of several kinds that open spans, or close them, and which of them answer to which.
local perflua = require "perflua"
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises = two_events.raises

for _, where in ipairs { "in the core", "in Lua" } do
describe("pair() of several kinds of records, " .. where, function()
  local function pair(rows, options) return spanned.pair(rows, options, where == "in Lua") end

  -- as calls of the kernel: a return has the number of its call, -1 after a signal's handler,
  -- or the number 11 if the call replaced the program
  local CALLS = {
    open = "open",
    close = {
      { event = "close", where = "addr == open.addr" },
      { event = "close", where = "addr == 0xff and open.addr == 15" },
      { event = "close", where = { addr = 11, ["open.addr"] = { 59, 322 } } },
    },
  }

  it("closes a span with any record that answers to the one that opened it", function()
    local spans = pair({
      { "open", 7, 100, 1 }, { "open", 8, 101, 15 }, { "open", 9, 102, 59 },
      { "close", 9, 110, 11 }, { "close", 8, 120, 0xff }, { "close", 7, 130, 1 },
    }, CALLS)
    assert.same({ "9:102-110", "8:101-120", "7:100-130" }, spanned.texts(spans))
    assert.same({ 3, 0, 0 }, { spans.counts.pairs, spans.counts.mismatched,
      spans.counts.unopened })
  end)

  it("drops a span at a record that closes others, and counts both", function()
    local spans = pair({
      { "open", 7, 100, 1 }, { "close", 7, 110, 2 }, { "close", 7, 120, 1 },
      { "open", 7, 130, 1 }, { "close", 7, 140, 0xff }, { "open", 7, 150, 3 },
      { "close", 7, 160, 3 },
    }, CALLS)
    assert.same({ "7:150-160" }, spanned.texts(spans))
    assert.same({ 1, 2, 3, 0 }, { spans.counts.pairs, spans.counts.mismatched,
      spans.counts.unopened, spans.counts.restarted })
    assert.matches("not counted: 3 ends without a start, 2 whose start and end do not match",
      tostring(spans:group_by("tid"):count():top(3)))
  end)

  it("lets a record close one span and open the next, of other keys", function()
    local switch = { event = "tick", key = "addr" }
    local spans = pair({
      { "tick", 7, 100, 8 }, { "tick", 8, 110, 9 }, { "open", 4, 115, 7 },
      { "tick", 9, 120, 7 },
    }, { open = { "open", { event = "tick", where = "tid ~= 0" } }, close = { switch } })
    -- a tick is a switch: its thread leaves, and the one in addr comes back
    assert.same({ "7:100-120" }, spanned.texts(spans))
    assert.same({ 1, 2, 3 }, { spans.counts.pairs, spans.counts.unopened,
      spans.counts.unclosed })
  end)

  it("takes events, filters and functions in one list, each with its fields", function()
    local spans = pair({
      { "open", 7, 100, 1 }, { "tick", 7, 110 }, { "tick", 8, 120, 5 }, { "close", 8, 130 },
      { "open", 9, 140, 2 }, { "close", 3, 150, 9 },
    }, {
      open = { "open", { event = "tick", where = "addr == 5" } },
      close = { { event = "tick", where = "addr == 0" },
        { event = "close", key = "addr", where = function(record) return record.addr == 9 end },
        { event = "close", where = "cpu == open.cpu and open.event ~= 'close'" } },
    })
    assert.same({ "7:100-110", "8:120-130", "9:140-150" }, spanned.texts(spans))
    assert.same({ { "open", "tick" }, { "tick", "close" }, { "open", "close" } },
      spans:select("open.event.name", "close.event.name"):collect())
    assert.same({ 7, 8, 9 }, spans:select("key"):collect())
  end)

  it("does not count records as ends for which a part of the condition is false", function()
    local spans = pair({ { "close", 7, 100, 0, 1 }, { "close", 7, 110, 0, 0 },
      { "open", 7, 120, 0, 1 }, { "close", 7, 130, 0, 0 }, { "close", 7, 140, 0, 1 } },
      { open = "open", close = { event = "close", where = "cpu ~= 0 and cpu == open.cpu" } })
    assert.same({ "7:120-140" }, spanned.texts(spans))
    assert.same({ 1, 1 }, { spans.counts.pairs, spans.counts.unopened })
  end)

  it("closes a span with the next record on its cpu alone, with next_on_cpu", function()
    -- a tick is a switch from its thread to the one in addr
    local spans = pair({
      { "tick", 1, 100, 7, 0 }, { "tick", 7, 110, 8, 0 }, -- 7 runs on cpu 0
      { "tick", 9, 120, 7, 0 }, -- 8 has left unseen
      { "tick", 8, 125, 1, 0 }, -- so has 7
      { "tick", 1, 130, 7, 1 }, { "tick", 7, 135, 1, 0 }, { "tick", 7, 140, 7, 1 },
      { "tick", 7, 140, 9, 1 }, { "tick", 2, 150, 3, 2 },
      { "tick", 8, 160, 4, 2 }, -- 3 has left, and has no end
    }, { open = { event = "tick", key = "addr" }, close = { event = "tick", key = "tid",
      next_on_cpu = true, where = "cpu == open.cpu" }, unfinished = true })
    local list = {}
    for span in spans:each() do
      list[#list + 1] = ("%d:%d-%s"):format(span.open.addr, span.start, span.stop or "?")
    end
    assert.same({ "7:100-110", "7:140-140", "1:135-?", "9:140-?", "4:160-?" }, list)
    assert.same({ 2, 3 }, { spans.counts.pairs, spans.counts.unfinished })
  end)

  it("takes the record with which a span entered its state for its cpu", function()
    local spans = pair({
      { "open", 7, 100, 0, 1 }, { "tick", 7, 110, 0, 0 }, { "close", 7, 120, 0, 0 },
      { "open", 8, 130, 0, 1 }, { "tick", 8, 140, 0, 0 }, { "close", 9, 150, 0, 0 },
      { "close", 8, 160, 0, 0 }, { "open", 6, 170, 0, 1 }, { "close", 5, 180, 0, 1 },
      { "tick", 6, 190, 0, 1 }, { "close", 6, 200, 0, 1 },
    }, { open = { event = "open", state = "woken" }, change = { event = "tick", key = "tid",
      state = "running" }, close = { event = "close", from = "running", next_on_cpu = true } })
    assert.same({ "7:100-120", "6:170-200" }, spanned.texts(spans))
    assert.same({ 1, 3, 0 }, { spans.counts.restarted, spans.counts.unopened,
      spans.counts.mismatched })
  end)

  it("compares texts of the opening record", function()
    local spans = pair({
      { "comm", 7, 1, "seven" }, { "comm", 8, 2, "a name of 15 b" }, { "open", 7, 100 },
      { "open", 8, 110 }, { "comm", 8, 120, "eight" }, { "close", 7, 130 }, { "close", 8, 140 },
    }, { open = "open", close = { event = "close",
      where = "comm == open.comm and #open.comm == 5 and starts(open.comm, 's')" } })
    assert.same({ "7:100-130" }, spanned.texts(spans))
    assert.equal(1, spans.counts.mismatched)
  end)
end)
end

describe("records that close spans", function()
  local file
  setup(function() file = assert(perflua.open(spanned.write { { "open", 7, 1 },
    { "close", 7, 2 }, { "tick", 7, 3 } })) end)
  teardown(function() file:close() end)

  local function fails(pattern, close, open)
    raises("answers_spec.lua:%d+: .*" .. pattern, function()
      file:samples():pair { open = open or "open", close = close }
    end)
  end

  it("are refused at the script's line where they are described wrongly", function()
    fails("'open' is a record; name a field of it: 'open.comm'", { event = "close",
      where = "open == 1" })
    fails("unknown field 'adr'; the closest is 'addr'", { event = "close",
      where = "open.adr == 1" })
    fails("unknown option 'wher'", { { event = "close" }, { event = "tick", wher = "1" } })
    fails("open: 'next_on_cpu' is for records that close spans", "close",
      { event = "open", next_on_cpu = true })
    fails("key: lengths differ: 1 for open, 2 for close",
      { { event = "close", key = { "tid", "cpu" } } })
    fails("never equals", "close", { "open", { event = "tick", key = "comm" } })
    fails("close: at most 8 kinds of records; here are 9", { {}, "a", "b", "c", "d", "e", "f",
      "g", "h" })
  end)
end)
