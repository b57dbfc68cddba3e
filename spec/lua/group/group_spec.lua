local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local rows = two_events.rows

describe("group_by", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  it("groups by fields, and by event always", function()
    assert.same({
      { event = "cycles:P", pid = 9, count = 2, period = 600 },
      { event = "cycles:P", pid = 7, count = 2, period = 400 },
      { event = "faults", pid = -1, count = 1, period = 7 },
      { event = "faults", pid = 9, count = 1, period = 2 },
      { event = "faults", pid = 7, count = 1, period = 1 },
    }, rows(file:samples():group_by("pid"):count():sum("period"):sort("period")))
  end)

  it("adds events together only when told to", function()
    assert.same({ { pid = 9, count = 3 }, { pid = 7, count = 3 }, { pid = -1, count = 1 } },
      rows(file:samples():group_by("pid"):all_events():count():sort("pid", "desc")))
  end)

  it("does not split groups of records() by event", function()
    assert.same({ { type = "sample", count = 7 }, { type = "comm", count = 1 },
      { type = "exit", count = 1 },
      { type = "mmap2", count = 1 } }, rows(file:records():group_by("type"):count():sort()))
  end)

  it("has the event of a single one, too", function()
    assert.same({ { event = "faults", cpu = 0, count = 1 } },
      rows(file:samples("faults"):where("cpu == 0")
      :group_by("cpu"):count():sort()))
  end)

  it("groups by the event alone", function()
    assert.same({ { event = "cycles:P", count = 4 }, { event = "faults", count = 3 } },
      rows(file:samples():group_by("event"):count():sort()))
    assert.same({ { event = "faults", count = 3 } },
      rows(file:samples("faults"):group_by("event"):count():sort()))
    assert.same({}, rows(file:samples("faults"):where("cpu == 99"):group_by("event"):count()
      :sort()))
    assert.same({ { event = "cycles:P", count = 4 }, { event = "faults", count = 3 } },
      rows(file:records("sample"):group_by("event"):count():sort()))
    assert.equal("event     count\ncycles:P      4\nfaults        3",
      tostring(file:samples():group_by("event"):count():sort()))
  end)

  it("has the event as a key like any other when it is named as one", function()
    local want = { { event = "cycles:P", count = 4 }, { event = "faults", count = 3 } }
    assert.same(want, rows(file:samples():group_by("event"):all_events():count():sort()))
    assert.same(want, rows(file:samples():all_events():group_by("event"):count():sort()))
    assert.same({ { e = "cycles:P", count = 4 }, { e = "faults", count = 3 } },
      rows(file:samples():group_by("event"):as("e"):count():sort()))
    assert.same({ { pid = 9, event = "cycles:P", period = 600, share_period = 60.0 },
      { pid = 7, event = "cycles:P", period = 400, share_period = 40.0 } },
      rows(file:samples():group_by("pid", "event"):sum("period"):share("period"):top(2)))
  end)

  it("groups by functions of a record and by parts of views", function()
    local by_function = rows(file:samples("cycles"):group_by({ kernel = function(s)
      return s.ip < 0
    end })
      :sum("period"):sort())
    assert.same({ { event = "cycles:P", kernel = false, period = 500 },
      { event = "cycles:P", kernel = true, period = 500 } }, by_function)
    assert.equal(3, #file:samples("cycles"):group_by("callchain[1].ip"):count():sort())
    assert.same({ { event = "faults", count = 3 } },
      rows(file:samples():where("event == 'faults'")
      :group_by("callchain[1].ip"):count():sort()))
  end)

  it("keeps absent keys and false apart", function()
    local t = file:records():group_by("exec"):count():sort()
    local seen = {}
    for row in t:rows() do seen[tostring(row.exec)] = row.count end
    assert.same({ ["true"] = 1, ["nil"] = 9 }, seen)
  end)

  it("has every measure", function()
    local t = file:samples("cycles"):group_by("pid"):count():sum("period"):avg("period")
      :min("period")
      :max("period"):quantile("period", 0.5):hist("period"):distinct("cpu"):first("time")
        :last("time")
      :share("period"):sort("pid", "asc")
    local row = t[1]
    assert.equal(2, row.count)
    assert.equal(400, row.period)
    assert.equal(200.0, row.avg_period)
    assert.equal(100, row.min_period)
    assert.equal(300, row.max_period)
    assert.equal(100, row.quantile_period)
    assert.same({ { from = 64, to = 128, count = 1 }, { from = 128, to = 256, count = 0 },
      { from = 256, to = 512, count = 1 } }, row.hist_period)
    assert.equal(2, row.distinct_cpu)
    assert.equal(1000000000, row.first_time)
    assert.equal(1000000500, row.last_time)
    assert.equal(40.0, row.share_period)
    assert.equal(60.0, t[2].share_period)
  end)

  it("shares out each event by itself", function()
    for row in file:samples():group_by("pid"):share("period"):sort():rows() do
      local total = row.event == "faults" and 10 or 1000
      local sum = 0
      for _, s in ipairs(two_events.samples()) do
        if s.event == row.event and s.pid == row.pid then sum = sum + s.period end
      end
      assert.equal(100 * (sum / total), row.share_period)
    end
  end)

  it("counts when no measure is named", function()
    assert.equal(3, #file:samples("faults"):group_by("pid"):sort())
    assert.equal(1, file:samples("faults"):group_by("pid"):first().count)
  end)

  it("names columns with as()", function()
    local row = file:samples("cycles"):group_by("pid"):as("process"):quantile("period", 0.5)
      :as("p50")
      :quantile("period", 0.99):as("p99"):sort("p99"):rows()()
    assert.equal(9, row.process)
    assert.is_true(row.p50 < row.p99)
  end)

  it("is looped over by rows", function()
    local q, list = file:samples("cycles"):group_by("pid"):sum("period"), {}
    for row in q do list[#list + 1] = row.period end
    assert.same({ 600, 400 }, list)
    assert.same(list, { q:collect()[1].period, q:collect()[2].period })
    local n = 0
    q:each(function(row) n = n + row.period end)
    assert.equal(1000, n)
  end)

  it("shows the first of each event with top()", function()
    local t = file:samples():group_by("pid"):count():sum("period"):top(1, "period")
    assert.same({ { event = "cycles:P", pid = 9, count = 2, period = 600 },
      { event = "faults", pid = -1, count = 1, period = 7 } }, rows(t))
    assert.equal(2, #t)
  end)

  it("gives the same whether the core reads the fields or Lua does", function()
    local function ask(q)
      return rows(q:group_by("pid", "cpu"):count():sum("period"):min("ip"):max("time")
        :avg("period"):distinct("tid")
        :sort("pid"))
    end
    assert.same(ask(file:samples():where(function() return true end)), ask(file:samples()))
    assert.same(ask(file:samples():where("cpu < 3"):where(function() return true end)),
      ask(file:samples():where("cpu < 3")))
  end)

  it("raises for impossible keys and measures", function()
    local function raises(pattern, fn) assert.error_matches(fn, pattern) end
    local function q() return file:samples():group_by("pid") end
    raises("two columns named 'pid'", function() q():sum("pid") end)
    raises("two columns named 'count'", function() q():count():count() end)
    raises("two columns named 'event'", function() q():count():as("event") end)
    raises("no column 'perod'; the closest is 'period'", function()
      q():sum("period"):top(3, "perod")
    end)
    raises("a number of rows expected", function() q():count():top() end)
    raises("asc", function() q():count():sort("count", "up") end)
    raises("callchain%[1%] is a view; name one of its fields", function()
      file:samples():group_by("callchain[1]")
    end)
    raises("open.callchain is a view; name one of its fields, or open.stack for its functions",
      function()
        file:samples():pair { open = "cycles", close = "faults" }:group_by("open.callchain")
      end)
    raises("group_by: names of keys expected, got none", function()
      file:samples():group_by()
    end)
    raises("unknown field 'pidd'", function() file:samples():group_by("pidd") end)
    raises("before group_by", function() q():where "pid == 1" end)
    raises("comes before group_by", function() q():select "pid" end)
    raises("cannot measure", function()
      file:records():group_by("type"):sum("filename")
    end)
    raises("function", function() file:samples():group_by({ x = "pid" }) end)
    raises("rows cannot be sorted by a histogram", function()
      q():hist("period"):sort("hist_period")
    end)
  end)

  it("lets a script's error through with its own message", function()
    local ok, message = pcall(function()
      file:samples():group_by({ x = function() error("mine") end }):count():sort()
    end)
    assert.is_false(ok)
    assert.matches("group_spec.lua:%d+: mine$", message)
  end)
end)

describe("quantiles", function()
  it("lie between the least and the greatest value", function()
    local path = two_events.write(function(b, events)
      for i = 1, 3 do
        b:sample(events.faults, { identifier = 12, ip = -4096, pid = 5, tid = i,
          time = 2100000000 + i, cpu = 0,
          period = 833333 })
      end
    end)
    local file <close> = assert(perflua.open(path))
    local q = file:samples("faults"):where("pid == 5")
    for _, at in ipairs { 0, 0.5, 1 } do
      assert.equal(833333, q:quantile("period", at))
      assert.equal(-4096, q:quantile("ip", at))
    end
    local one = q:where("tid == 1"):group_by("pid"):quantile("period", 0.5):sort()
    local two = q:where("tid > 1"):group_by("pid"):quantile("period", 0.5):sort()
    assert.equal(833333, one:merge(two)[1].quantile_period)
    assert.equal(833333, two:merge(one)[1].quantile_period)
    assert.equal(2, file:samples("faults"):where("pid == 9"):quantile("period", 1))
    assert.is_nil(q:where("tid == 99"):quantile("period", 0.5))
  end)
end)

describe("sums", function()
  it("raise past 2^63-1, and averages do not", function()
    local path = two_events.write(function(b, events)
      for _ = 1, 2 do
        b:sample(events.faults, { identifier = 12, ip = 1, pid = 5, tid = 5, time = 2100000000,
          cpu = 0,
          period = math.maxinteger })
      end
    end)
    local file <close> = assert(perflua.open(path))
    local _, message = pcall(function() file:samples("faults"):sum("period") end)
    assert.matches("^spec/lua/group/group_spec.lua:%d+: a sum exceeds 2^63%-1", message)
    _, message = pcall(function()
      file:samples("faults"):group_by("cpu"):sum("period"):sort()
    end)
    assert.matches("^spec/lua/group/group_spec.lua:%d+: a sum exceeds 2^63%-1", message)
    assert.equal((2 * 0x1p63 + 10) / 5, file:samples("faults"):avg("period"))
  end)
end)
