-- Records in a row are mostly alike: what is known of one is not read of the next. Here it
-- changes in every way.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local builder = require "spec.support.builder"
local tracing = require "spec.support.builder_tracing"

local parts = { "identifier", "ip", "tid", "time" }

-- Samples of events with and without a recorded period, of threads that are named, named again,
-- and never named.
local function recording(endian)
  local b = builder.new { endian = endian }
  local with_period = table.move(parts, 1, #parts, 1, {})
  with_period[#with_period + 1] = "period"
  local events = {
    b:event { name = "clock", type = 1, config = 0, sample_type = with_period, ids = { 16 } },
    b:event { name = "every", type = 1, config = 2, sample_type = parts, sample_period = 50,
      ids = { 32 } },
    b:event { name = "often", type = 1, config = 3, sample_type = parts, sample_period = 7,
      ids = { 48 } },
  }
  local function comm(tid, name, time)
    b:record("comm", { pid = tid, tid = tid, comm = name },
      { pid = tid, tid = tid, time = time, identifier = 16 })
  end
  comm(5, "sh", 10)
  comm(6, "sh", 11)
  comm(7, "make", 12)
  for i = 1, 400 do
    local event, tid = events[i % 3 + 1], (i // 7) % 5 + 4
    if i == 150 then comm(5, "cc", 100 + i * 10) end
    if i == 200 then comm(6, "cc", 100 + i * 10 - 55) end
    if i % 50 == 0 then b:record "finished_round" end
    b:sample(event, { identifier = event.ids[1], ip = i, pid = tid, tid = tid,
      time = 100 + i * 10, period = i })
  end
  return b:write()
end

local questions = {
  ["names of threads"] = function(file)
    return file:samples():all_events():group_by("comm"):count():sum("period")
  end,
  ["names of threads of one event"] = function(file)
    return file:samples("every"):group_by("comm"):count():sum("period")
  end,
  ["names beside other keys"] = function(file)
    return file:samples():all_events():group_by("comm", "tid", "event"):sum("period")
      :max("time")
  end,
  ["names in filters, of other records than those that count"] = function(file)
    return file:samples():all_events():where("comm ~= 'cc' and period > 6")
      :group_by("comm", "event.name"):count()
  end,
  ["periods as keys"] = function(file)
    return file:samples():all_events():group_by("period"):count()
  end,
  ["events"] = function(file)
    return file:samples():all_events():group_by("event"):count():sum("period")
  end,
  ["members of events"] = function(file)
    return file:samples():all_events():group_by("event.config"):sum("event.config * 1")
  end,
  ["kinds"] = function(file)
    return file:records():group_by("type", "type_id"):sum("type_id * 1")
  end,
  ["names of all records"] = function(file)
    return file:records():group_by("comm", "type"):count()
  end,
  ["numbers of kinds in filters"] = function(file)
    return file:records():where("type_id == 3 or period == 50"):group_by("type"):count()
  end,
}

local function rows(query, interpreted)
  interpret(query, interpreted)
  local list = {}
  for row in query:sort():rows() do list[#list + 1] = row end
  return list
end

-- Tracepoints whose arguments stay for some samples, and are cut off in some.
local function tracepoints(endian)
  local t = tracing.new { endian = endian }
  local one = t:event("sys", "one",
    { fields = { { "int", "a" }, { "char", "text", count = 8 }, { "u64", "b" } } })
  local other = t:event("sys", "other",
    { fields = { { "u64", "b" }, { "char", "text", count = 8 }, { "u8", "a" } } })
  local b, events = t:recording()
  for i = 1, 300 do
    local is_one = (i // 5) % 2 == 0
    local raw = t:raw(is_one and one or other,
      { a = i // 20 - 3, b = i // 30, text = "t" .. i // 25 })
    if i % 13 == 0 then raw = raw:sub(1, 20) end
    b:sample(events[is_one and 1 or 2], { time = i, tid = 1, pid = 1, raw = raw })
  end
  return b:write()
end

local of_arguments = {
  ["integers"] = function(file)
    return file:samples():all_events():group_by("args.a"):count():sum("args.b")
  end,
  ["texts"] = function(file)
    return file:samples():all_events():group_by("args.text"):max("args.a"):last("args.b")
  end,
  ["both, of one event"] = function(file)
    return file:samples("sys:one"):group_by("args.text", "args.a"):count():sum("args.a + 1")
  end,
  ["a filter"] = function(file)
    return file:samples():all_events():where("args.a > 3 and args.b < 8")
      :group_by("args.b", "event"):sum("args.a")
  end,
}

describe("what records have alike", function()
  for _, endian in ipairs { "little", "big" } do
    for name, ask in pairs(questions) do
      it("is read where it changes: " .. name .. ", " .. endian .. "-endian", function()
        local file <close> = assert(perflua.open(recording(endian)))
        local got = rows(ask(file), nil)
        assert.is_true(#got > 1)
        assert.same(rows(ask(file), true), got)
      end)
    end
  end

  for _, endian in ipairs { "little", "big" } do
    for name, ask in pairs(of_arguments) do
      it("is read where arguments of tracepoints change: " .. name .. ", " .. endian
        .. "-endian", function()
        local file <close> = assert(perflua.open(tracepoints(endian)))
        local got = rows(ask(file), nil)
        assert.is_true(#got > 5)
        assert.same(rows(ask(file), true), got)
      end)
    end
  end

  it("is the period that an event was asked for", function()
    local file <close> = assert(perflua.open(recording "little"))
    local sums = {}
    for row in file:samples():all_events():group_by("event.name"):count():sum("period"):sort()
        :rows() do
      sums[row["event.name"]] = row.period // row.count
    end
    assert.equal(50, sums.every)
    assert.equal(7, sums.often)
  end)
end)
