-- Arguments of tracepoints in where, select, group_by and measures: the core and the
-- interpreter read them alike.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local args_recording = require "spec.support.args_recording"
local exact = require "spec.support.exact"
local reading = require "spec.support.reading"
local tracing = require "spec.support.builder_tracing"

local function rows_of(query)
  local list = {}
  for row in query:sort():rows() do list[#list + 1] = exact(row) end
  table.sort(list)
  return list
end

local function values_of(query)
  local list = {}
  query:each(function(...) list[#list + 1] = exact { n = select("#", ...), ... } end)
  return list
end

-- Filters for all samples.
local filters = {
  "args.id == 3", "args.id ~= 3", "args.id < 0", "args.id == nil", "args.ret ~= nil",
  "args.ret == -2",
  "args.id in { 1, 2, -1 }", "args.flags > 202", "args.level < -3", "args.port >= 65030",
  "args.delta == -4",
  "args.len > 0x80000000", "args.fd < 0", "args.big > 5", "args.big == 0x8000000000000001",
  "args.small < 0",
  "args.ptr > 0xff", "args.comm == 'thread1'", "args.comm < 'thread2'", "find(args.name, 'nn')",
  "starts(args.comm, 'thr')", "args.comm in { 'thread0', 'thread3' }", "#args.name == 3",
  "#args.comm > 3",
  "args.args[1] == 4", "args.args[2] > 5", "args.args[4] == nil",
  "args.args[3] == 9 or args.ret == 1",
  "#args.args == 3",
  "args.args ~= nil", "args.args == nil", "args.mixed > 5", "args.mixed < 0",
  "args.mixed == -5", "args.fits == -1",
  "args.fits == 0xffffffff", "args.fits > 0", "args.either == 'e5'", "args.either == 5",
  "args.either ~= nil",
  "args.fd + args.level == 2 * args.small", "args.big - args.ptr < 0",
  "bucket(args.port, 10) == 65010",
  "args.common_type == 300", "args.common_pid == 0", "not (args.id == 1)", "args ~= nil",
  "args == nil",
  "event == 'sys:leave' and args.ret > 10", "args.list == nil", "#args.list == 2",
  "args.list[2] > 5",
}
local keys = {
  "args.id", "args.ret", "args.flags", "args.level", "args.port", "args.delta", "args.len",
  "args.fd", "args.big",
  "args.small", "args.ptr", "args.comm", "args.name", "args.mixed", "args.fits", "args.either",
  "args.args[2]",
  "#args.name", "#args.args", "#args", "bucket(args.len, 16)", "bucket(args.fd, 5)",
  "args.id & 1", "args.common_type",
  "#args.comm", "args.list[1]", "#args.list",
}
local measured = {
  sum = { "args.fd", "args.small", "args.len", "args.args[1]", "#args.name", "args.ret",
    "args.fits" },
  avg = { "args.fd", "args.level", "args.ret", "args.port" },
  min = { "args.fd", "args.big", "args.comm", "args.mixed", "args.ptr" },
  max = { "args.small", "args.big", "args.name", "args.mixed", "args.len" },
  quantile = { "args.len", "args.ret" }, hist = { "args.port", "args.fd" },
  distinct = { "args.comm", "args.id", "args.either", "args.mixed" },
  first = { "args.comm", "args.ret" }, last = { "args.name", "args.big" },
  share = { "args.flags" },
}

-- Returns the answers to all questions above, from a File that is read in one way.
local function answers(file, interpreted)
  local list = {}
  local function ask(text, read, query)
    interpret(query, interpreted)
    list[#list + 1] = { text = text, got = read(query) }
  end
  for _, filter in ipairs(filters) do
    ask("where " .. filter, values_of, file:samples():where(filter):select("time"))
  end
  for _, key in ipairs(keys) do
    ask("select " .. key, values_of, file:samples():select("time", key))
    ask("group_by " .. key, rows_of, file:samples():all_events():group_by(key):count())
  end
  for measure, fields in pairs(measured) do
    for _, field in ipairs(fields) do
      local query = file:samples():all_events():group_by("args.id")
      ask(measure .. " " .. field, rows_of,
        query[measure](query, field, measure == "quantile" and 0.5 or nil))
    end
  end
  table.sort(list, function(a, b) return a.text < b.text end)
  return list
end

local function same_answers(path)
  local lua, core = answers(assert(perflua.open(path)), true),
    answers(assert(perflua.open(path)))
  for i, one in ipairs(lua) do assert.same(one, core[i]) end
end

local raw_first = { "identifier", "tid", "time", "raw" }
local behind_chain = { "identifier", "ip", "tid", "time", "cpu", "period", "callchain", "raw" }
local recordings = {
  ["little-endian"] = {}, ["big-endian"] = { endian = "big" },
  ["of a kernel of 32 bits"] = { long_size = 4 },
  ["big-endian, of a kernel of 32 bits"] = { endian = "big", long_size = 4 },
  ["without much before the raw data"] = { sample_type = raw_first },
  ["with call chains before the raw data"] = { sample_type = behind_chain },
  ["big-endian with call chains"] = { endian = "big", sample_type = behind_chain },
}

describe("a query of tracepoints' arguments", function()
  for name, options in pairs(recordings) do
    it("has one answer, whoever gives it, of a recording that is " .. name, function()
      same_answers(args_recording.of(options):write())
    end)
  end

  it("has it of a stream, too", function()
    same_answers(args_recording.of { container = "pipe" }:write())
  end)

  local file
  before_each(function() file = reading.open(args_recording.of()) end)

  it("runs in C, all of it", function()
    local lines = file:samples():where("args.id > 1 and starts(args.comm, 'th')")
      :where("args.args[1] == 1")
      :where("#args.name > 0"):group_by("args.fd", "bucket(args.len, 16)"):sum("args.small")
        :explain()
    assert.not_matches("Lua", lines)
    assert.not_matches("Lua", file:samples():select("args.id", "args.comm", "args.args[3]")
      :explain())
  end)

  it("reads each event's own field", function()
    local got = {}
    local query = file:samples():all_events():where("args.fits ~= nil")
      :group_by("event.name", "args.fits"):count()
    for row in query:sort():rows() do
      got[#got + 1] = ("%s %s"):format(row["event.name"], row["args.fits"])
    end
    table.sort(got)
    assert.same({ "sys:enter 0", "sys:enter 4294967295", "sys:leave -1" }, got)
  end)

  it("reads numbers without a sign as such where no event says otherwise", function()
    assert.equal(24, file:samples():where("args.big > 0x7fffffffffffffff"):count())
    assert.equal(0, file:samples():where("args.mixed > 0x7fffffff and event == 'sys:leave'")
      :count())
  end)

  it("gives nothing of what raw data are too short for", function()
    local short = file:samples():where("time >= 3000")
    for id, level, comm in short:select("args.id", "args.fd", "args.comm") do
      assert.is_true(id == false or id == 5)
      assert.is_true(level == false or level == -3)
      assert.is_true(comm == false or ("cut"):find(comm, 1, true) == 1)
    end
    assert.equal(2, short:where("args.id == nil"):count())
  end)

  it("says what is wrong with a name that no event has, before anything is read", function()
    local function refused(pattern, make)
      local ok, message = pcall(make)
      assert.is_false(ok)
      assert.matches(pattern, message)
    end
    refused("unknown field 'args.comn'; the closest is 'comm'", function()
      file:samples():where "args.comn == 'x'"
    end)
    refused("unknown field 'args.ret'", function()
      file:samples("sys:enter"):where "args.ret == 1"
    end)
    refused("unknown field 'args.id'", function() file:samples("cycles"):select "args.id" end)
    refused("'args.id' has no parts", function() file:samples():where "args.id.x == 1" end)
    refused("'args.id' has no parts", function() file:samples():where "args.id[1] == 1" end)
    refused("'args.args' is an array: its items are args.args%[1%]", function()
      file:samples():where "args.args.x == 1"
    end)
    refused("args.args is a view", function() file:samples():where "args.args == 1" end)
    refused("cannot compare", function() file:samples():where "args.comm == 1" end)
  end)

  it("is given to handlers as values", function()
    local got, want = {}, {}
    file:run {
      ["sys:enter"] = { "args.id", "time", "args.comm", "args.args[1]",
        "args.big", function(...)
        got[#got + 1] = exact { ... }
      end },
      ["sys:leave"] = { "args.ret", function(ret) got[#got + 1] = exact { ret } end },
    }
    for s in file:samples() do
      local a = s.args
      if s.event.name == "sys:enter" then
        local first = a.args and a.args[1]
        want[#want + 1] = exact { a.id or false, s.time, a.comm or false, first or false,
          a.big or false }
      elseif a then
        want[#want + 1] = exact { a.ret }
      end
    end
    assert.is_true(#got > 50)
    assert.same(want, got)
  end)
end)

describe("an argument of an event that comes late", function()
  local function open()
    local t = tracing.new()
    local early = t:event("sys", "early",
      { fields = { { "u32", "a" }, { "char", "b", count = 8 } } })
    local late = t:event("sys", "late",
      { fields = { { "char", "a", count = 8 }, { "int", "b" }, { "int", "c" } } })
    local b, events = t:recording { container = "pipe", event_desc = false }
    table.remove(b.events)
    b:sample(events[1], { time = 1, raw = t:raw(early, { a = 5, b = "five" }) })
    b:record("header_attr", { event = events[2] })
    b:sample(events[2], { time = 2, raw = t:raw(late, { a = "six", b = 6, c = 7 }) })
    return reading.open(b)
  end

  for _, how in ipairs { "the core", "the interpreter" } do
    it("is read if it is of the kind that is known, else absent: by " .. how, function()
      local function count(filter)
        local query = open():samples()
        interpret(query, how == "the interpreter")
        return query:where(filter):count()
      end
      assert.equal(1, count "args.a == 5")
      assert.equal(1, count "args.a ~= nil")
      assert.equal(1, count "args.a < 10 or args.a > 11")
      assert.equal(1, count "args.b == 'five' or args.b > 'a'")
      assert.equal(2, count "args.common_type >= 300")
      assert.equal(1, count "#args.b == 4")
    end)
  end
end)

describe("tracepoints of several recordings", function()
  it("are one event only if they have the same fields", function()
    local function one(fields, values)
      local t = tracing.new()
      local event = t:event("sys", "ev", { fields = fields })
      local b, events = t:recording()
      b:sample(events[1], { time = 1, raw = t:raw(event, values) })
      return b:write()
    end
    local narrow, wide = { { "int", "a" } }, { { "u32", "pad" }, { "u64", "a" } }
    local file <close> = assert(perflua.open { one(narrow, { a = -1 }), one(narrow, { a = 1 }),
      one(wide, { a = -1 }) })
    assert.equal(2, #file.events)
    local got = {}
    for a in file:samples { order = "file" }:select "args.a" do got[#got + 1] = a end
    assert.same({ -1, 1, -1 }, got)
    assert.equal(1, file:samples(file.events[2]):where("args.a > 5"):count())
    assert.equal(1, file:samples(file.events[1]):where("args.a > 0"):count())
  end)
end)
