-- The time that spans cover: unions and intersections.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local raises, rows_of = two_events.raises, two_events.rows

-- Requests of two devices (cpu), by their address; and the work of two threads, from tick to
-- tick.
local ROWS = {
  { "comm", 7, 1, "seven" }, { "tick", 7, 90 },
  { "open", 7, 100, 1, 0 }, { "open", 7, 110, 2, 0 }, { "tick", 7, 115 },
  { "open", 8, 120, 3, 1 },
  { "close", 7, 130, 1, 0 }, { "close", 7, 140, 2, 0 }, { "tick", 8, 145 },
  { "open", 7, 150, 1, 0 }, { "close", 8, 160, 3, 1 }, { "close", 7, 170, 1, 0 },
  { "open", 7, 170, 1, 0 }, { "close", 7, 180, 1, 0 }, { "tick", 8, 185 },
  { "open", 9, 190, 4, 1 }, { "tick", 7, 200 },
}

for _, where in ipairs { "in the core", "in Lua" } do
describe("the time that spans cover, " .. where, function()
  local file
  setup(function() file = assert(perflua.open(spanned.write(ROWS))) end)
  teardown(function() file:close() end)

  local function pair(options, of)
    return interpret((of or file):samples(), where == "in Lua"):pair(options)
  end

  local function requests(more)
    local options = { open = "open", close = "close", key = "addr" }
    for name, value in pairs(more or {}) do options[name] = value end
    return pair(options)
  end

  it("is that of any of them, by their key", function()
    local got = {}
    for cover in requests():union():each() do
      got[#got + 1] = ("%s:%d-%d %d"):format(cover.key, cover.start, cover.stop, cover.duration)
    end
    assert.same({ "1:100-130 30", "2:110-140 30", "3:120-160 40", "1:150-180 30" }, got)
  end)

  it("is that of any of them, by other fields or by none", function()
    local spans = requests()
    assert.same({ { 100, 140, 0 }, { 120, 160, 1 }, { 150, 180, 0 } },
      spans:union({ key = "open.cpu" }):select("start", "stop", "key"):collect())
    assert.same({ { 100, 180 } },
      spans:union({ key = false }):select("start", "stop"):collect())
    assert.same({ { 100, "seven", 7 } }, spans:union({ key = { "open.comm", "close.tid" } })
      :where("key[2] == 7 and stop < 150"):select("start", "key[1]", "key[2]"):collect())
    assert.same({ { key = 0, count = 2, duration = 70 },
      { key = 1, count = 1, duration = 40 } },
      rows_of(spans:union({ key = "open.cpu" }):group_by("key"):count():sum("duration")
        :sort("key", "asc")))
  end)

  it("is that of the spans that are kept, and counts say what is not", function()
    local spans = requests()
    local union = spans:where("open.tid == 7 and duration < 30"):between(150)
      :union { key = false }
    assert.same({ { 150, 180 } }, union:select("start", "stop"):collect())
    assert.same({ 5, 1 }, { union.counts.pairs, union.counts.unclosed })
    assert.same({ 1, 0, 1 }, { union:where("start >= 150"):count(), union:between(180):count(),
      union:between(nil, 180):count() })
    assert.same({ 150 }, union:where(function(cover) return cover.stop == 180 end)
      :select("start"):collect())
    assert.matches("cover 0.000000 %- 0.000000 %(30 ns%)", tostring(union:first()))
  end)

  it("goes on to the end in spans that are open then, and is cut as they are", function()
    assert.same({ { 120, 160 }, { 190, 200 } }, requests({ unfinished = true })
      :union({ key = "open.cpu" }):where("key == 1"):select("start", "stop"):collect())
    assert.same({ { 125, 155 } }, requests({ window = { 125, 155 }, slice = 10 })
      :union({ key = false }):select("start", "stop"):collect())
  end)

  it("is that of both", function()
    local work = pair { open = "tick", close = "tick" }
    local both = requests():intersection(work, { key = "open.tid" })
    assert.same({ { 100, 140, 7 }, { 145, 160, 8 }, { 150, 180, 7 } },
      both:select("start", "stop", "key"):collect())
    assert.same({ { 100, 140, 7 }, { 150, 180, 7 } }, requests():intersection(
      work:where("open.tid == 7"), { key = "open.tid" }):select("start", "stop", "key")
      :collect())
    assert.same({ { 100, 180 } }, requests():intersection(work, { key = false })
      :select("start", "stop"):collect())
    -- the spans' own keys: an address of one, a thread of the other
    assert.equal(0, requests():intersection(work):count())
    assert.equal(5, both.counts.pairs)
  end)

  it("keeps recordings apart", function()
    local a, b = spanned.write { { "open", 7, 100 }, { "close", 7, 130 } },
      spanned.write { { "open", 7, 120 }, { "close", 7, 150 } }
    local several <close> = assert(perflua.open { a, b })
    local spans = pair({ open = "open", close = "close" }, several)
    assert.same({ { 100, 130, 7 }, { 120, 150, 7 } },
      spans:union():select("start", "stop", "key"):collect())
    assert.equal(0, spans:where("open.source == 1")
      :intersection(spans:where("open.source == 2")):count())
  end)
end)
end

describe("unions and intersections", function()
  it("are refused at the script's line where they make no sense", function()
    local file <close> = assert(perflua.open(spanned.write(ROWS)))
    local other <close> = assert(perflua.open(spanned.write(ROWS)))
    local spans = file:samples():pair { open = "open", close = "close" }
    local function fails(pattern, call) raises("covers_spec.lua:%d+: .*" .. pattern, call) end
    fails("union: spans from pair%(%) expected, got a Query",
      function() file:samples():union() end)
    fails("union: spans from pair%(%) expected, got a Query",
      function() spans:union():union() end)
    fails("union comes before group_by, select and unnest",
      function() spans:select("start"):union() end)
    fails("filtered by a Lua function", function()
      spans:where(function() return true end):union()
    end)
    fails("union: unknown option 'kye'", function() spans:union { kye = "tid" } end)
    fails("intersection: spans from pair%(%) expected, got a number",
      function() spans:intersection(1) end)
    fails("intersection: the spans belong to different Files", function()
      spans:intersection(other:samples():pair { open = "open", close = "close" })
    end)
    fails("never equals", function()
      spans:intersection(file:samples():pair { open = "open", close = "close", key = "comm" })
    end)
    fails("unknown field 'open.tid'", function() spans:union():where("open.tid == 1") end)
    fails("a query over records expected", function()
      spans:union():within(spans)
    end)
    fails("spans from pair%(%) expected", function()
      file:samples():within(spans:union())
    end)
    fails("unnest", function() spans:union():unnest("open.callchain") end)
  end)

  it("say what they read", function()
    local file <close> = assert(perflua.open(spanned.write(ROWS)))
    local spans = file:samples():pair { open = "open", close = "close" }
    assert.matches("the time covered by spans from open to close by tid",
      spans:union():group_by("key"):sum("duration"):explain(), 1, true)
  end)

  it("are the same in a stream", function()
    local b, events = spanned.builder { container = "pipe" }
    spanned.add(b, events, ROWS)
    local file <close> = assert(perflua.open(spanned.write(ROWS)))
    local stream <close> = assert(perflua.open(b:write()))
    local function asked(of)
      local spans = of:samples():pair { open = "open", close = "close" }
      return spans:intersection(of:samples():pair { open = "tick", close = "tick" },
        { key = "open.comm" }):select("start", "stop", "key"):collect()
    end
    local expected = asked(file)
    assert.is_true(#expected > 0)
    assert.same(expected, asked(stream))
  end)
end)
