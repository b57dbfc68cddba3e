-- The states that spans go through, and spans that are cut at borders.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local builder = require "spec.support.builder"
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises, rows_of = two_events.raises, two_events.rows

-- Off a cpu: a thread sleeps until a tick wakes it, then it waits for a cpu.
local STATES = {
  open = { event = "open", state = "asleep" }, close = "close",
  change = { { event = "tick", where = "addr == 1", state = "waiting", key = "cpu" },
    { event = "tick", where = "addr == 2", state = "asleep" } },
}

local function with(options, more)
  local all = {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(more) do all[name] = value end
  return all
end

for _, where in ipairs { "in the core", "in Lua" } do
local function pair(rows, options) return spanned.pair(rows, options, where == "in Lua") end

describe("states of spans, " .. where, function()
  local function states(spans)
    return spans:select("key", "duration", "in_asleep", "in_waiting"):collect()
  end

  it("have the time that was spent in them, which adds up", function()
    local spans = pair({
      { "open", 7, 100 }, { "tick", 1, 130, 1, 7 }, { "tick", 7, 140, 2 },
      { "tick", 1, 145, 1, 7 }, { "close", 7, 160 }, { "open", 8, 170 }, { "close", 8, 175 },
    }, STATES)
    assert.same({ { 7, 60, 35, 25 }, { 8, 5, 5, 0 } }, states(spans))
    local span = spans:first()
    assert.same({ 35, 25 }, { span.in_asleep, span.in_waiting })
    assert.same({ { key = 7, in_asleep = 35, in_waiting = 25 },
      { key = 8, in_asleep = 5, in_waiting = 0 } },
      rows_of(spans:group_by("key"):sum("in_asleep"):sum("in_waiting"):sort("key", "asc")))
    assert.equal(1, spans:where("in_waiting > 0 and in_asleep + in_waiting == duration")
      :count())
  end)

  it("may be entered again, at one time, or in any order", function()
    local spans = pair({
      { "tick", 7, 90, 2 }, -- of no span
      { "open", 7, 100 }, { "tick", 7, 110, 2 }, { "tick", 1, 120, 1, 7 },
      { "tick", 1, 125, 1, 7 }, { "tick", 7, 130, 2 }, { "tick", 1, 130, 1, 7 },
      { "close", 7, 150 }, { "tick", 7, 160, 2 },
    }, STATES)
    assert.same({ { 7, 50, 20, 30 } }, states(spans))
    assert.equal(2, spans.counts.stray)
  end)

  it("begin in the state of the record that opens the span", function()
    local spans = pair({ { "open", 7, 100, 1 }, { "close", 7, 110 }, { "open", 7, 120, 2 },
      { "close", 7, 150 } }, { close = "close", open = {
      { event = "open", where = "addr == 1", state = "spinning" },
      { event = "open", where = "addr == 2", state = "sleeping" } } })
    assert.same({ { 10, 0 }, { 0, 30 } }, spans:select("in_spinning", "in_sleeping"):collect())
  end)

  it("go on to the end in spans that are open then", function()
    local spans = pair({ { "open", 7, 100 }, { "tick", 1, 130, 1, 7 }, { "tick", 5, 190 } },
      with(STATES, { unfinished = true }))
    assert.same({ { 30, 60, 90 } }, spans:select("in_asleep", "in_waiting", "so_far"):collect())
  end)

  it("are known of records inside once the span has ended", function()
    local spans, file = pair({ { "open", 7, 100 }, { "tick", 1, 130, 1, 7 },
      { "tick", 7, 135, 3 }, { "close", 7, 150 } }, STATES)
    local ticks = file:samples("tick")
    interpret(ticks, where == "in Lua")
    assert.same({ { 135, 30, 20 } }, ticks:within(spans):select("time", "span.in_asleep",
      "span.in_waiting"):collect())
  end)
end)

describe("spans that are cut, " .. where, function()
  local function parts(spans)
    local list = {}
    for span in spans:each() do
      list[#list + 1] = ("%s:%d-%s%s"):format(span.key, span.start, span.stop
        or "?" .. span.so_far, span.cut and " cut" or "")
    end
    return list
  end

  local rows = {
    { "open", 7, 95 }, { "open", 8, 101 }, { "close", 8, 109 }, { "open", 8, 110 },
    { "close", 8, 120 }, { "tick", 1, 122, 1, 7 }, { "close", 7, 130 }, { "open", 9, 133 },
    { "open", 6, 140 }, { "close", 6, 140 }, { "tick", 5, 145 },
  }

  it("are cut at multiples of a slice, and their parts add up", function()
    local spans = pair(rows, with(STATES, { slice = "10ns" }))
    assert.same({ "8:101-109", "8:110-120", "7:95-100 cut", "7:100-110 cut", "7:110-120 cut",
      "7:120-130 cut", "6:140-140" }, parts(spans))
    local t = spans:group_by("key"):count():sum("duration"):sum("in_asleep"):sum("in_waiting")
      :sort("key", "asc")
    assert.same({
      { key = 6, count = 1, duration = 0, in_asleep = 0, in_waiting = 0 },
      { key = 7, count = 4, duration = 35, in_asleep = 27, in_waiting = 8 },
      { key = 8, count = 2, duration = 18, in_asleep = 18, in_waiting = 0 },
    }, rows_of(t))
    assert.equal(4, spans.counts.pairs)
    assert.same({ 2, 8 }, spans:where("start == 120 and cut"):select("in_asleep",
      "in_waiting"):collect()[1])
    assert.same({ 130 }, spans:where("start == 100"):select("close.time"):collect())
  end)

  it("have parts only in a window, for which records before it are read", function()
    local spans = pair(rows, with(STATES, { window = { 105, 125 } }))
    assert.same({ "8:105-109 cut", "8:110-120", "7:105-125 cut" }, parts(spans))
    assert.same({ { true, 17, 3 } }, spans:where("key == 7"):select("cut", "in_asleep",
      "in_waiting"):collect())
    assert.same({ 3, 0, 0 }, { spans.counts.pairs, spans.counts.unclosed,
      spans.counts.unopened })
    assert.same({ "7:95-100 cut" }, parts((pair(rows,
      with(STATES, { window = { nil, 100 } })))))
    assert.same({ "6:140-140" }, parts((pair(rows,
      with(STATES, { window = { "@0.000000140" } })))))
    assert.same({ "8:110-115 cut", "7:110-115 cut" }, parts((pair(rows,
      with(STATES, { window = { 109, 115 }, slice = 10 })):between(110))))
  end)

  it("count what is missing in the window only", function()
    local spans = pair({
      { "close", 1, 90 }, { "open", 2, 91 }, { "open", 2, 92 }, { "close", 3, 110 },
      { "open", 2, 120 }, { "close", 4, 210 }, { "open", 5, 220 }, { "open", 2, 230 },
    }, { open = "open", close = "close", window = { 100, 200 } })
    assert.same({}, parts(spans))
    assert.same({ 0, 1, 2, 0 }, { spans.counts.pairs, spans.counts.unopened,
      spans.counts.restarted, spans.counts.unclosed })
  end)

  it("are cut if they are unfinished, too", function()
    assert.same({ "9:133-140 cut", "9:140-?5 cut" }, parts((pair(rows,
      with(STATES, { slice = 10, unfinished = true, window = { 131 } })):where("key == 9"))))
    assert.same({ "9:133-140 cut" }, parts((pair(rows,
      with(STATES, { unfinished = true, window = { 131, 140 } })))))
  end)
end)
end

describe("slices", function()
  it("have the items of the span's record in each part", function()
    local b = builder.new()
    local event = b:event { name = "open", type = 1, ids = { 11 },
      sample_type = { "identifier", "tid", "time", "callchain" } }
    b:sample(event, { identifier = 11, pid = 7, tid = 7, time = 105, callchain = { 1, 2 } })
    b:sample(event, { identifier = 11, pid = 7, tid = 7, time = 125, callchain = { 3 } })
    local file <close> = assert(perflua.open(b:write()))
    local spans = file:samples():pair { open = "open", close = "open", slice = 10 }
    assert.same({ { 1, 5 }, { 2, 5 }, { 1, 10 }, { 2, 10 }, { 1, 5 }, { 2, 5 } },
      spans:unnest("open.callchain"):select("frame.ip", "duration"):collect())
    assert.same({ 3, 3, 3 }, spans:unnest("close.callchain"):select("frame.ip"):collect())
  end)

  it("are too many where a span has billions", function()
    local file <close> = assert(perflua.open(spanned.write { { "open", 7, 100 },
      { "close", 7, 100 + 3600 * 10 ^ 9 // 1 | 0 } }))
    local spans = file:samples():pair { open = "open", close = "close", slice = "1ns" }
    raises("slices of 1 ns cut the spans into 3600000000000 rows or more; at most 268435456 "
      .. "are possible: choose longer slices, or a window", function() spans:count() end)
    assert.equal(60, file:samples():pair { open = "open", close = "close", slice = "1ns",
      window = { 200, 260 } }:count())
  end)
end)

describe("states, slices and windows", function()
  local file
  setup(function() file = assert(perflua.open(spanned.write { { "open", 7, 1 },
    { "close", 7, 2 }, { "tick", 7, 3 } })) end)
  teardown(function() file:close() end)

  it("are refused at the script's line where they make no sense", function()
    local function fails(pattern, options)
      raises("states_spec.lua:%d+: .*" .. pattern, function()
        file:samples():pair(with({ open = "open", close = "close" }, options))
      end)
    end
    local tick = { event = "tick", state = "b" }
    fails("open: 'state' is missing: the state of a span from then on", { change = { tick } })
    fails("change: 'state' is missing", { open = { event = "open", state = "a" },
      change = "tick" })
    fails("close: a span that ends has no 'state'",
      { close = { event = "close", state = "a" } })
    fails('open: a state is a name, "running"; found on cpu', {
      open = { event = "open", state = "on cpu" } })
    fails("change: 'key' is missing", { key = { open = "tid", close = "addr" },
      open = { event = "open", state = "a" }, change = { tick } })
    fails('slice: a duration expected, "10ms" or nanoseconds, got 0', { slice = 0 })
    fails("slice: a duration expected", { slice = "ten" })
    fails("window: { from, to } expected", { window = {} })
    fails("window: { from, to } expected", { window = "10ms" })
  end)

  it("are fields of those spans that have them", function()
    local spans = file:samples():pair(with(STATES, {}))
    raises("'in_sleep': no such state; there are in_asleep, in_waiting", function()
      spans:where("in_sleep > 1")
    end)
    raises("'cut': only spans of pair { slice = …, window = … } have it", function()
      spans:where("cut")
    end)
    raises("within: the spans are cut: pair them without `slice` and `window`", function()
      file:samples():within(file:samples():pair(with(STATES, { slice = 10 })))
    end)
  end)
end)
