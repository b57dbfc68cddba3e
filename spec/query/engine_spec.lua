-- A described query has one answer, whether the core runs it or Lua does.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local finalizers = require "spec.support.finalizers"
local two_events = require "spec.support.two_events"

local function interpreted(query)
  return interpret(query, true)
end

local rows = two_events.rows

-- The rows of a table: the core's, after they were found to be Lua's.
local function agreed(make)
  local by_core = make()
  assert.matches("C    group by", by_core:explain(), 1, true)
  local got = rows(by_core:sort())
  assert.same(rows(interpreted(make()):sort()), got)
  return got
end

-- Grouped queries over samples with a call chain, of two events.
local questions = {
  ["counts and sums"] = function(q) return q:group_by("pid", "cpu"):count():sum("period") end,
  ["absent keys"] = function(q) return q:group_by("callchain[1].ip", "comm"):count() end,
  ["names"] = function(q)
    return q:group_by("comm", "dso", "symbol"):count():share("period")
  end,
  ["call chains"] = function(q) return q:group_by("stack"):count():sum("period") end,
  ["frames"] = function(q) return q:group_by("frames"):count() end,
  ["averages"] = function(q) return q:group_by("pid"):avg("ip"):avg("period"):avg("cpu") end,
  ["extremes"] = function(q)
    return q:group_by("cpu"):min("ip"):max("ip"):min("comm"):max("callchain[2].ip")
      :max("event.name")
  end,
  ["spreads"] = function(q)
    return q:group_by("tid"):quantile("ip", 0.5):quantile("callchain[1].ip", 0.9):hist("period")
      :hist("pid")
  end,
  ["sets"] = function(q)
    return q:group_by("pid"):distinct("event"):distinct("comm"):distinct("callchain[1].ip")
  end,
  ["the first and the last"] = function(q)
    return q:group_by("pid"):first("ip"):last("time"):first("comm"):last("callchain[1].ip")
      :first("event")
  end,
  ["all events"] = function(q) return q:group_by("pid"):all_events():count():sum("period") end,
  ["ratios"] = function(q)
    return q:group_by("pid"):ratio("cycles:P", "faults"):ratio("faults", "cycles:P", "cpu")
  end,
  ["weights"] = function(q)
    return q:group_by("cpu"):count():weight("period"):avg("ip"):weight("period"):hist("ip")
      :weight("period")
  end,
  ["the event as a key"] = function(q)
    return q:group_by("event", "cpu"):count():share("period")
  end,
  ["members of events"] = function(q)
    return q:group_by("event.name", "event.config", "event.index"):count()
  end,
  ["expressions"] = function(q)
    return q:group_by("bucket(time, '1ms')", "ip % 16", "comm == 'sh'"):sum("period * 2 + 1")
      :max("-period")
  end,
  ["conditions"] = function(q)
    return q:where "cpu in { 0, 3 } or comm == 'sh'"
      :where "not (period < 2) and event ~= 'faults' or tid == -1"
      :group_by("tid"):count()
  end,
  ["absent operands"] = function(q)
    return q:where "callchain[1].ip ~= 1 or callchain == nil"
      :where "#callchain > 0 or not (callchain[9].ip == 1)"
      :group_by("ip"):count()
  end,
  ["texts"] = function(q)
    return q:where "starts(comm, 's') or find(dso, 'known') or under('nothing')"
      :group_by("comm"):count()
  end,
  ["tables of values"] = function(q)
    return q:where { cpu = { 0, 1, 3 }, event = "cycles:P" }:where { pid = 9 }:group_by("cpu")
      :count()
  end,
  ["times"] = function(q) return q:between(1000000500, 1900000000):group_by("cpu"):count() end,
  ["the order of the file"] = function(q) return q:group_by("pid"):last("cpu") end,
}

describe("a described query", function()
  local path = two_events.write()
  local file <const> = perflua.open(path)
  local piped = two_events.write(function(b) b.container = "pipe" end)

  for name, question in pairs(questions) do
    it("has the answer that Lua finds: " .. name, function()
      assert.is_true(#agreed(function() return question(file:samples()) end) > 0)
    end)

    it("has the same answer of a stream: " .. name, function()
      local expected = rows(question(file:samples()):sort())
      local stream <close> = perflua.open(containers.stream(piped))
      assert.is_nil(stream.size)
      assert.same(expected, rows(question(stream:samples()):sort()))
    end)
  end

  it("is of all records, or of some types", function()
    agreed(function()
      return file:records():group_by("type", "pid"):count():distinct("comm")
    end)
    local some = { type = { "comm", "mmap2" } }
    agreed(function() return file:records(some):group_by("type"):first("pid"):last("addr") end)
    local all = { container = true, order = "file" }
    agreed(function() return file:records(all):group_by("type"):count():max("size") end)
    agreed(function() return file:records():group_by("event"):count() end)
    agreed(function() return file:samples("faults"):group_by("pid"):count() end)
  end)

  it("is a value without groups", function()
    local function both(ask)
      local value = ask(file:samples())
      assert.same(ask(interpreted(file:samples():where "true")), value)
      return value
    end
    assert.equal(7, both(function(q) return q:count() end))
    assert.equal(1010, both(function(q) return q:sum("period") end))
    assert.is_nil(both(function(q) return q:where "pid == 77":avg("period") end))
    assert.equal(0, both(function(q) return q:where "pid == 77":count() end))
    assert.equal(2, both(function(q) return q:distinct("event") end))
    assert.equal(1, #both(function(q) return q:where "period == 300":hist("period") end))
    assert.equal("faults", both(function(q) return q:max("event.name") end))
  end)

  it("selects the same values in loops", function()
    local function collected(q)
      return q:select("ip", "comm", "event", "callchain[1].ip", "period * 2", "cpu == 0")
        :collect()
    end
    for _, filter in ipairs { "true", "cpu == 3", "callchain[1].ip == nil", "comm == 'sh'" } do
      assert.same(collected(interpreted(file:samples():where(filter))),
        collected(file:samples():where(filter)))
    end
  end)

  it("asks described filters before functions of Lua", function()
    local seen = {}
    local function odd(s)
      seen[#seen + 1] = s.period
      return s.cpu % 2 == 1
    end
    assert.equal(3, file:samples():where(odd):where "period >= 200":count())
    assert.same({ 300, 200, 400 }, seen)
    seen = {}
    local halves = file:samples("cycles:P"):where "pid == 9":group_by({ half = function(s)
      return s.cpu // 2
    end })
    assert.same({ { event = "cycles:P", half = 1, count = 2 } }, rows(halves:count():sort()))
  end)

  it("raises what Lua would raise", function()
    local b = builder.new()
    local event = b:event { name = "big", sample_type = { "tid", "period", "addr" } }
    for _ = 1, 2 do
      b:sample(event, { pid = 1, tid = 1, period = math.maxinteger, addr = -5 })
    end
    local big <close> = perflua.open(b:write())
    local function raised(ask, q)
      local ok, message = pcall(ask, q)
      assert.is_false(ok)
      return (message:gsub("^[^:]*:%d+: ", ""))
    end
    for _, ask in ipairs {
      function(q) return q:sum("period") end,
      function(q) return q:sum("addr") end,
      function(q) return q:group_by("pid"):share("period"):top(1) end,
      function(q) return q:group_by("pid"):count():weight("period"):top(1) end,
      function(q) return q:group_by("pid"):avg("pid"):weight("pid - 2"):top(1) end,
    } do
      assert.equal(raised(ask, interpreted(big:samples():where "true")),
        raised(ask, big:samples()))
    end
    assert.equal(9.2233720368547758e18, big:samples():avg("period"))
  end)

  it("raises if its file is closed", function()
    local closed = perflua.open(path)
    local q = closed:samples():group_by("pid"):count()
    closed:close()
    assert.has_error(function() q:top(1) end, path .. ": the file is closed")
    assert.has_error(function() q:explain() end, path .. ": the file is closed")
  end)

  it("runs with any number of workers", function()
    for _, n in ipairs { 1, 2, 16 } do
      local opened <close> = perflua.open(path, { jobs = n })
      assert.equal(7, opened:samples():count())
    end
    for _, n in ipairs { 0, 17, -1, 1.5, "2" } do
      assert.has_error(function() perflua.open(path, { jobs = n }) end,
        "open: jobs: a number of workers from 1 to 16 expected")
    end
  end)

  it("takes filters that are long, or deep", function()
    local long, deep = {}, "pid"
    for i = 1, 3000 do long[i] = "tid == " .. i end
    for _ = 1, 150 do deep = deep .. " + 1" end
    assert.equal(6, file:samples():where(table.concat(long, " or ")):count())
    assert.equal(3, file:samples():where(deep .. " == 159"):count())
    local q = file:samples()
    for _ = 1, 1000 do q = q:where "pid > 0" end
    assert.equal(6, q:count())
  end)

  it("has as many keys as one likes", function()
    for _, n in ipairs { 64, 65, 300 } do
      local keys = {}
      for i = 1, n do keys[i] = "pid + " .. i end
      local t = file:samples():group_by(table.unpack(keys)):all_events():count()
        :sort("count", "asc")
      assert.same({ 3, n - 1, 1 }, { #t, t[1]["pid + " .. n], t[1].count })
    end
  end)

  it("may be closed by a finalizer while it begins", function()
    local victim
    finalizers.during(function()
      for _ = 1, 30 do
        victim = perflua.open(path)
        local ok, message = pcall(function()
          return #victim:samples():where "comm ~= 'x'":group_by("comm", "stack"):count()
            :distinct("comm"):top(1)
        end)
        assert.is_true(ok or message:find("closed", 1, true) ~= nil)
      end
    end, function()
      if victim then victim:close() end
    end)
  end)
end)
