-- Expressions wherever a query takes a field.
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local raises, rows = two_events.raises, two_events.rows

describe("an expression in a query", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  it("is selected as a field is", function()
    local got = {}
    for doubled, odd, name in file:samples("cycles")
        :select("period * 2", "cpu % 2 == 1", "event.name") do
      got[#got + 1] = ("%s %s %s"):format(doubled, odd, name)
    end
    assert.same({ "200 false cycles:P", "600 true cycles:P", "400 true cycles:P",
      "800 true cycles:P" }, got)
  end)

  it("comes as false where it has no value", function()
    local counts = {}
    for n in file:samples():select("#callchain") do counts[#counts + 1] = n end
    assert.same({ 2, 2, false, 2, 2, false, false }, counts)
    assert.same({ false, false, false, false, false, false, false }, file:samples()
      :select("period // 0"):collect())
  end)

  it("is a key, whose column has its text as the name", function()
    assert.same({ { ["pid % 2"] = 1, count = 7 } },
      rows(file:samples():all_events():group_by("pid % 2"):sort()))
    assert.same({ { even = true, count = 4 }, { even = false, count = 3 } },
      rows(file:samples():all_events():group_by("period % 100 == 0"):as("even"):count()
        :sort("count")))
  end)

  it("is a key of its absent values, too", function()
    assert.same({ { n = 2, count = 4 }, { count = 3 } },
      rows(file:samples():all_events():group_by("#callchain"):as("n"):count():sort("count")))
    assert.same({ { count = 7 } },
      rows(file:samples():all_events():group_by("period // 0"):as("n"):count():sort()))
    assert.same({ { count = 7 } },
      rows(file:samples():all_events():group_by("(period - period) / 0 * 1.0"):as("nan"):count()
        :sort()))
  end)

  it("shows numbers of one value as one, whichever came first", function()
    for _, text in ipairs { "period / period", "(pid - pid) * -1.0" } do
      local t = file:samples():all_events():group_by(text):as("x"):count():sort()
      assert.equal(1, #t)
      assert.equal("float", math.type(t[1].x))
      assert.matches("^[10]%.0$", tostring(t[1].x))
    end
  end)

  it("puts times and addresses into buckets", function()
    assert.same({ { t = 1000000000, count = 4 }, { t = 1500000000, count = 1 },
      { t = 1900000000, count = 1 },
      { t = 2000000000, count = 1 } },
      rows(file:samples():all_events():group_by("bucket(time, '100ms')"):as("t"):count()
        :sort("t", "asc")))
    assert.same({ { event = "faults", page = 0x402000, count = 2 },
      { event = "faults", page = 0x401000, count = 1 } },
      rows(file:samples("faults"):group_by("bucket(ip, 'page')"):as("page"):count()
        :sort("count")))
  end)

  it("is measured as a field of its kind is", function()
    assert.equal(2020, file:samples():sum("period * 2"))
    assert.equal(-30, file:samples("faults"):sum("0 - period * 3"))
    assert.equal(7, file:samples():max("period % 100"))
    assert.equal(2, file:samples():distinct("#callchain") + file:samples():distinct("pid == 7")
      - 1)
    assert.equal(0.5, file:samples("faults"):min("period / 2"))
    assert.equal(7, file:samples():sum("1"))
    local row = file:samples():all_events():group_by("type"):sum("period * 2"):avg("period + 1")
      :max("cpu * 2")
      :sort()[1]
    assert.same({ type = "sample", ["period * 2"] = 2020, ["avg_period + 1"] = 1017 / 7,
      ["max_cpu * 2"] = 6 }, row)
  end)

  it("has a kind, which says how its values are shown", function()
    assert.equal("bucket(ip, 'page')  max_ip & 0xfff  pid - 8\n"
      .. "          0x401000               0        0", tostring(file:samples("cycles")
      :where("tid in {8, 9} and ip < 0x402000"):group_by("bucket(ip, 'page')"):max("ip & 0xfff")
        :sum("pid - 8"):sort()))
  end)

  it("filters by the words of the language", function()
    assert.equal(4, file:samples():where("find(event.name, 'cycl')"):count())
    assert.equal(3, file:samples():where("starts(event.name, 'fau')"):count())
    assert.equal(4, file:samples():where("cpu in {1, 3}"):count())
    assert.equal(3, file:samples():where("not (cpu in {1, 3})"):count())
    assert.equal(1, file:samples():where("pid in {-1}"):count())
    assert.equal(4, file:samples():where("event in {'cycles'}"):count())
    assert.equal(4, file:samples():where("#callchain == 2"):count())
    assert.equal(3, file:samples():where("#callchain == nil"):count())
    assert.equal(3, file:samples():where("#event.name == 6"):count())
    assert.equal(4, file:samples():where("bucket(time, '1ms') == 1000000000"):count())
    assert.equal(4, file:samples():where { ["cpu % 2"] = 1 }:count())
  end)

  it("gives the same by records and by values", function()
    local function yes() return true end
    for _, text in ipairs { "cpu in {0, 3}", "#event.name > 6", "bucket(period, 100) == 300",
        "under('x')",
      "starts(event.name, 'c') and period > 100" } do
      assert.equal(file:samples():where(text):count(), file:samples():where(yes):where(text)
        :count(), text)
    end
  end)

  it("raises with its column, at the line that wrote it, if it is wrong", function()
    raises("^spec/lua/query/expressions_spec.lua:%d+: expression \"perod %* 2\", column 1: "
      .. "unknown field 'perod'; "
      .. "the closest is 'period'$", function() file:samples():sum "perod * 2" end)
    raises("expressions_spec.lua:%d+: expression \"period %*\", column 9: a field", function()
      file:samples():select("pid", "period *")
    end)
    raises("expression \"event %+ 1\", column 1: '%+' expects numbers, found event %(an "
      .. "event%)", function()
      file:samples():group_by "event + 1"
    end)
    raises("expression \"nil\", column 1: nil is not a value", function()
      file:samples():select "nil"
    end)
    raises("expression \"buket%(time, 5%)\", column 1: unknown function 'buket'; the "
      .. "functions are bucket, find, glob, lower, match, starts and under",
      function() file:samples():group_by "buket(time, 5)" end)
    raises("sum: cannot measure cpu == 1 %(boolean%)", function()
      file:samples():sum "cpu == 1"
    end)
    raises("filter \"#callchain%[1%] > 1\", column 2: '#' counts the items of a view, but "
      .. "callchain%[1%] is a single item", function()
      file:samples():where "#callchain[1] > 1"
    end)
    raises("no record of this query has a field 'symbol'", function()
      file:records("comm"):where "under('x')"
    end)
  end)
end)
