-- A key's values as columns; the cells are counted from the samples by loops.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local Table = require "perflua.table"
local two_events = require "spec.support.two_events"
local raises = two_events.raises

local function csv(t)
  local out = { text = "" }
  function out:write(text) self.text = self.text .. text end
  assert(t:csv(out))
  return out.text
end

describe("a pivot", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  -- By pid: { total, [cpu] = …, n = { [cpu] = samples } } of the periods of all samples of an
  -- event, or of all.
  local function sums(event)
    local of_pid = {}
    for _, s in ipairs(two_events.samples()) do
      if s.event == event or not event then
        local one = of_pid[s.pid] or { total = 0, n = {} }
        of_pid[s.pid], one.total = one, one.total + s.period
        one[s.cpu], one.n[s.cpu] = (one[s.cpu] or 0) + s.period, (one.n[s.cpu] or 0) + 1
      end
    end
    return of_pid
  end

  local function by_pid_and_cpu(query) return (query or file:samples():all_events())
    :group_by("pid", "cpu") end

  it("has a column for each value, and a row for each of the other keys", function()
    local t, expected = by_pid_and_cpu():sum("period"):pivot("cpu"):table(), sums()
    local n = 0
    for row in t:rows() do
      local one = expected[row.pid]
      assert.equal(one.total, row.period)
      for cpu = 0, 4 do assert.equal(one[cpu], row.pivot[cpu]) end
      assert.is_nil(row.cpu)
      assert.is_nil(row.other)
      n = n + 1
    end
    assert.equal(3, n)
    assert.equal([[
pid  cpu=0  cpu=1  cpu=2  cpu=3
  9      -      2      -    600
  7    101    300      -      -
 -1      -      -      7      -]], tostring(t))
    assert.equal("pid,cpu=0,cpu=1,cpu=2,cpu=3\n9,,2,,600\n7,101,300,,\n-1,,,7,\n",
      csv(t))
  end)

  it("names each measure of a cell, and computed columns", function()
    local t = by_pid_and_cpu():count():sum("period"):column("mean", "period / count")
      :pivot("cpu"):sort("period")
    local expected = sums()
    for row in t:rows() do
      for cpu = 0, 3 do
        local cell, one = row.pivot[cpu], expected[row.pid]
        if not one[cpu] then
          assert.is_nil(cell)
        else
          assert.same({ count = one.n[cpu], period = one[cpu], mean = one[cpu] / one.n[cpu] },
            cell)
        end
      end
    end
    assert.equal("pid,cpu=0:count,cpu=0:period,cpu=0:mean,cpu=1:count", csv(t)
      :match("^[^,]+,[^,]+,[^,]+,[^,]+,[^,]+"))
  end)

  it("puts the rest together after the greatest n", function()
    local t, expected = by_pid_and_cpu():sum("period"):pivot("cpu", 1):table(), sums()
    for row in t:rows() do
      local one = expected[row.pid]
      assert.equal(one[3], row.pivot[3])
      local other = one.total - (one[3] or 0)
      assert.equal(other > 0 and other or nil, row.other)
    end
    assert.equal("pid,cpu=3,other\n9,600,2\n7,,401\n-1,,7\n", csv(t))
    assert.equal(csv(by_pid_and_cpu():sum("period"):pivot("cpu"):table()),
      csv(by_pid_and_cpu():sum("period"):pivot("cpu", 4):table()))
  end)

  it("merges averages, quantiles and sets of the rest as they are merged everywhere", function()
    local function ask(q) return q:avg("period"):max("time"):distinct("tid")
      :quantile("period", 0.5):share("period") end
    local whole = {}
    for row in ask(file:samples("cycles"):group_by("pid")):table()
      :rows() do whole[row.pid] = row end
    for row in ask(by_pid_and_cpu(file:samples("cycles"))):pivot("cpu", 1):table():rows() do
      for _, name in ipairs { "avg_period", "max_time", "distinct_tid", "quantile_period",
        "share_period" } do
        assert.equal(whole[row.pid][name], row[name])
      end
    end
  end)

  it("is of each event by itself", function()
    local t = file:samples():group_by("pid", "cpu"):sum("period"):pivot("cpu"):table()
    for row in t:rows() do
      local one = sums(row.event)[row.pid]
      for cpu = 0, 3 do assert.equal(one[cpu], row.pivot[cpu]) end
    end
    assert.equal([[
# cycles:P
pid  cpu=0  cpu=1  cpu=3
  9      -      -    600
  7    100    300      -

# faults
pid  cpu=0  cpu=1  cpu=2
 -1      -      -      7
  9      -      2      -
  7      1      -      -]], tostring(t))
    assert.matches("^event,pid,cpu=0,cpu=1,cpu=2,cpu=3\ncycles:P,9,,,,600\n", csv(t))
  end)

  it("does not add events together when they are the columns", function()
    local t = file:samples():group_by("pid", "event"):sum("period"):pivot("event"):table()
    assert.same({ pid = 9, pivot = { ["cycles:P"] = 600, faults = 2 } }, t[1])
    assert.same({ pid = 7, pivot = { ["cycles:P"] = 400, faults = 1 } }, t[2])
    assert.same({ pid = -1, pivot = { faults = 7 } }, t[3])
    local shares = file:samples():group_by("pid", "event"):share("period"):pivot("event")
      :table()
    assert.same({ ["cycles:P"] = 60.0, faults = 20.0 }, shares[1].pivot)
  end)

  it("has no first and last value of several groups, of which none knows the order", function()
    local q = by_pid_and_cpu():first("time"):last("tid")
    local rows = {}
    for row in q:pivot("cpu"):table():rows() do rows[row.pid] = row end
    assert.is_nil(rows[7].first_time)
    assert.is_nil(rows[7].last_tid)
    assert.same({ first_time = 1000000500, last_tid = 8 }, rows[7].pivot[1])
    assert.equal(2000000000, rows[-1].first_time)
    local other = file:samples():all_events():group_by("cpu", "pid"):count():first("time")
      :pivot("pid", 1):having("cpu == 1"):table()
    assert.same({ { pivot = { [7] = { count = 1, first_time = 1000000500 } },
      other = { count = 1, first_time = 1900000000 }, cpu = 1, count = 2 } }, { other[1] })
  end)

  it("filters and sorts rows by their total over all values", function()
    local t = by_pid_and_cpu():count():sum("period"):having("period > 7"):pivot("cpu")
      :sort("count", "asc")
    local seen = {}
    for row in t:rows() do seen[#seen + 1] = ("%d %d"):format(row.pid, row.count) end
    assert.same({ "7 3", "9 3" }, seen)
    assert.equal(1, #t:top(1))
  end)

  it("may leave one row of all", function()
    local t = file:samples("cycles"):group_by("cpu"):sum("period"):pivot("cpu"):table()
    assert.equal(1, #t)
    assert.same({ [0] = 100, [1] = 300, [3] = 600 }, t[1].pivot)
    assert.equal("cpu=0  cpu=1  cpu=3\n  100    300    600", tostring(t))
  end)

  it("has texts, addresses and absent values as columns", function()
    local ip = file:samples("faults"):group_by("pid", "ip"):sum("period"):pivot("ip"):table()
    assert.equal("pid,ip=0x401004,ip=0x402000\n-1,,7\n9,,2\n7,1,\n", csv(ip))
    assert.equal(7, ip[1].pivot[0x402000])
    local comm = file:samples():all_events():group_by("cpu", "comm"):count():pivot("comm")
      :sort("cpu", "asc")
    assert.equal(2, comm[1].pivot.sh)
    local frame = file:samples():all_events():group_by("cpu", "callchain[2].ip"):as("caller")
      :count():pivot("caller")
      :sort("cpu", "asc")
    assert.same({ [0x1234] = 1, [false] = 1 }, frame[1].pivot)
    assert.matches("^cpu,caller=0x1234,caller=nil\n0,1,1\n", csv(frame))
    local kernel = file:samples():all_events():group_by("cpu", "ip > 0x7fffffffffffffff")
      :as("kernel"):count()
      :pivot("kernel"):sort("cpu", "asc")
    assert.same({ [true] = 1, [false] = 1 }, kernel[1].pivot)
  end)

  it("shows the unit of its key and of its measures in text only", function()
    local t = file:samples("cycles"):group_by("pid", "bucket(time, '500ms')"):as("at")
      :unit("duration"):sum("time")
      :unit("duration"):pivot("at"):sort("pid", "asc")
    assert.equal("pid  at=1s  at=1.5s\n  7  2.00s        -\n  9  1.00s    1.50s", tostring(t))
    assert.matches("^pid,at=1000000000,at=1500000000\n7,2000000500,\n", csv(t))
  end)

  it("is written as JSON under the names that CSV has", function()
    local path = files.temporary()
    assert(by_pid_and_cpu():sum("period"):pivot("cpu", 1):table():json(path))
    assert.equal('[\n{"pid":9,"cpu=3":600,"other":2},\n{"pid":7,"cpu=3":null,"other":401},\n'
      .. '{"pid":-1,"cpu=3":null,"other":7}\n]\n', files.read(path))
  end)

  it("asks for a limit when there are too many values", function()
    local b = builder.new()
    local event = b:event { name = "e", type = 1, config = 1, sample_type = { "tid", "ip" } }
    for i = 1, 1001 do b:sample(event, { pid = 1, tid = 1, ip = i }) end
    local many <close> = assert(perflua.open(b:write()))
    local t = many:samples():group_by("pid", "ip"):count():pivot("ip"):table()
    raises("pivot: 'ip' has 1001 values; pivot%(\"ip\", n%) makes columns of the n greatest",
      function() return t[1] end)
    assert.equal(1000, t:pivot("ip", 1)[1].other)
    assert.is_nil(t:pivot("ip", 1001)[1].other)
  end)

  it("raises for unknown keys, and for tables that cannot be pivoted", function()
    local q = by_pid_and_cpu():count()
    raises("pivot: no key 'cpuu'; the keys are pid, cpu; the closest is 'cpu'",
      function() q:pivot("cpuu") end)
    raises("pivot: 'count' is a measure; a key of group_by is expected",
      function() q:pivot("count") end)
    raises("pivot: a number of values from 1 on expected, got 0",
      function() q:pivot("cpu", 0) end)
    raises("pivot: a number of values from 1 on expected, got the string 'two'", function()
      q:table():pivot("cpu", "two")
    end)
    raises("pivot: a column's name expected, got nil", function() q:pivot() end)
    raises("events are not added together, so all are columns: pivot%(\"event\"%)", function()
      file:samples():group_by("pid", "event"):pivot("event", 1)
    end)
    raises("pivot comes after group_by", function() file:samples():pivot("cpu") end)
    raises("'cpu' is turned into columns by pivot", function() q:pivot("cpu"):sort("cpu") end)
    raises("'cpu' is turned into columns by pivot", function() q:pivot("cpu")
      :top(1, nil, { per = "cpu" }) end)
    raises("'cpu' is turned into columns by pivot", function() q:pivot("cpu")
      :having("cpu == 1") end)
    raises("'cpu' is turned into columns by pivot", function() q:sort("cpu"):pivot("cpu") end)
    raises("'running_count' is a running column", function() q:running("count")
      :pivot("cpu") end)
    raises("a row's field 'other' holds the cells", function() q:column("other", "1")
      :pivot("cpu") end)
    raises("count comes before column, having, pivot", function() q:pivot("cpu"):count() end)
  end)

  it("adds no comparisons up, which stand for one group each", function()
    local data = { description = {}, keys = { { name = "a", kind = "signed" },
      { name = "b", kind = "signed" } },
      measures = { { name = "m", measure = "compared", kind = "float" },
        { name = "d", measure = "delta", kind = "float" } } }
    local t = Table.of(data, { { keys = { 1, 1 }, { 1.5 }, { 9.0 } },
      { keys = { 1, 2 }, { 7.5 }, { 2.0 } }, { keys = { 2, 1 }, { 3.5 }, { 4.0 } } })
    assert.equal("a,b=1:m,b=1:d,b=2:m,b=2:d\n1,1.5,9,7.5,2\n2,3.5,4,,\n",
      csv(t:pivot("b"):sort("a", "asc")))
    local row = t:pivot("b"):sort("a", "asc")[1]
    assert.same({ nil, nil }, { row.m, row.d })
  end)
end)
