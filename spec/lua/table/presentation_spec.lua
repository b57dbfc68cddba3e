-- Steps that say how groups are shown; what they show is counted from the samples by loops.
local files = require "spec.support.files"
local perflua = require "perflua"
local Table = require "perflua.table"
local two_events = require "spec.support.two_events"
local raises = two_events.raises

describe("the presentation of groups", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  -- Sums of periods and numbers of samples, by two keys.
  local function count(first, second, event)
    local sums = {}
    for _, s in ipairs(two_events.samples()) do
      if s.event == event or not event then
        local key = s[first] .. "/" .. s[second]
        local one = sums[key] or { [first] = s[first], [second] = s[second], count = 0,
          period = 0 }
        sums[key] = one
        one.count, one.period = one.count + 1, one.period + s.period
      end
    end
    local list = {}
    for _, one in pairs(sums) do list[#list + 1] = one end
    table.sort(list, function(a, b) return a.period > b.period end)
    return list
  end

  local function by_pid_and_cpu()
    return file:samples():all_events():group_by("pid", "cpu"):count():sum("period")
  end

  it("has the same steps of a query and of its table", function()
    local q = by_pid_and_cpu()
    local function other(x)
      return x:column("mean", "period / count"):having("mean > 1"):unit("si", "period")
        :running("period")
    end
    assert.equal(tostring(other(q):top(3, "period")),
      tostring(other(q:sort()):top(3, "period")))
    assert.equal(tostring(q:pivot("cpu", 2)), tostring(q:table():pivot("cpu", 2)))
    assert.equal(tostring(q:top(1, "count", { per = "pid" })),
      tostring(q:table():top(1, "count", { per = "pid" })))
  end)

  it("keeps all groups, whatever is shown", function()
    local q, path = by_pid_and_cpu(), files.temporary()
    local hidden = q:having("period > 1e9"):table()
    assert.equal(0, #hidden)
    assert(hidden:save(path))
    files.write(path, (files.read(path):gsub("S12:period > 1e9", "S12:period > 0.5")))
    assert.equal(#count("pid", "cpu"), #assert(perflua.load(path)))
    local one_row = q:top(1):column("mean", "period / count")
    assert.equal(#count("pid", "cpu"), #one_row:sort())
  end)

  describe("top of each value of a key", function()
    it("is the first rows of each, which stand together", function()
      local t = by_pid_and_cpu():top(1, "period", { per = "pid" })
      local first, pids = {}, {}
      for _, one in ipairs(count("pid", "cpu")) do
        if not first[one.pid] then first[one.pid], pids[#pids + 1] = one, one.pid end
      end
      assert.equal(#pids, #t)
      for i, pid in ipairs(pids) do assert.same(first[pid], t[i]) end
    end)

    it("is of each event by itself", function()
      local t = file:samples():group_by("pid", "tid"):sum("period"):top(1, nil, { per = "pid" })
      local seen = {}
      for row in t:rows() do
        seen[#seen + 1] = ("%s %d %d"):format(row.event, row.pid, row.period)
      end
      assert.same({ "cycles:P 9 600", "cycles:P 7 300", "faults -1 7", "faults 9 2",
        "faults 7 1" }, seen)
    end)

    it("has no rows of none, and all of many", function()
      assert.equal(0, #by_pid_and_cpu():top(0, nil, { per = "pid" }))
      assert.equal(#count("pid", "cpu"), #by_pid_and_cpu():top(1000, nil, { per = "pid" }))
    end)

    it("raises for names that are not keys", function()
      local q = by_pid_and_cpu()
      raises("top: per: no key 'pidd'; the keys are pid, cpu; the closest is 'pid'", function()
        q:top(1, nil, { per = "pidd" })
      end)
      raises("top: per: 'count' is a measure", function() q:top(1, nil, { per = "count" }) end)
      raises("top: per: a key's name expected, got a number",
        function() q:top(1, nil, { per = 1 }) end)
      raises("top: unknown option 'pre'; the closest is 'per'",
        function() q:top(1, nil, { pre = "pid" }) end)
      raises("top: a table { per = key } expected, got a string", function() q:table()
        :top(1, nil, "pid") end)
    end)
  end)

  describe("having", function()
    it("shows the rows that meet all conditions", function()
      local t = by_pid_and_cpu():having("count >= 1 and period > 100"):having("cpu ~= 1")
        :sort("period")
      local n = 0
      for _, one in ipairs(count("pid", "cpu")) do
        if one.period > 100 and one.cpu ~= 1 then
          n = n + 1
          assert.same(one, t[n])
        end
      end
      assert.equal(n, #t)
      assert.is_true(n > 0)
    end)

    it("leaves shares as they are", function()
      local share = file:samples("cycles"):group_by("pid"):share("period")
        :having("share_period > 50"):table()
      assert.equal(1, #share)
      assert.equal(60.0, share[1].share_period)
    end)

    it("takes absent values as filters do", function()
      local q = file:samples():group_by("pid"):min("callchain[2].ip"):as("frame"):count()
      assert.equal(3, #q:having("frame == nil"):table())
      assert.equal(2, #q:having("frame ~= nil"):table())
      assert.equal(2, #q:having("frame >= 0"):table())
      assert.equal(3, #q:having("not (frame >= 0)"):table())
    end)

    it("accepts the functions of filters", function()
      local q = file:samples():group_by("event", "pid"):count()
      local function pids(condition)
        local list = {}
        for row in q:having(condition):sort("pid", "asc")
          :rows() do list[#list + 1] = row.pid end
        return table.concat(list, " ")
      end
      assert.equal("7 9", pids "event == 'cycles:P'")
      assert.equal("-1 7 9", pids "starts(event, 'fau') and find(event, 'lts')")
      assert.equal("-1 7 9", pids "glob(event, 'f[a-c]*ts')")
      assert.equal("7 9", pids "match(event, '^%l+:%u$')")
      assert.equal("7 9", pids "lower(event) == 'cycles:p' and not glob(event, '*:p')")
      assert.equal("", pids "glob(lower(event), 'F*')")
      assert.equal("-1 7", pids "event == 'faults' and pid in { 7, -1 }")
      assert.equal("9", pids "pid & 8 ~= 0 and pid > 0 and #event == 6")
      assert.equal("7", pids "bucket(pid, 7) == 7 and -pid > -8 and -pid < -6 and count == 2")
    end)

    it("raises for anything but a condition, and names the closest column", function()
      local q = by_pid_and_cpu()
      raises("expression \"perio > 1\", column 1: the table has no column 'perio'; "
        .. "the closest is 'period'",
        function() q:having("perio > 1") end)
      raises("column 1: a condition expected, this is period %(an integer%)",
        function() q:having("period") end)
      raises("column 8: a condition expected, this is an integer",
        function() q:having("period + 1") end)
      raises("column 10: ", function() q:having("period > ") end)
      raises("having: an expression of columns expected, got a function",
        function() q:having(print) end)
      raises("having: an expression of columns expected, got nil", function() q:having() end)
      raises("'hist_period' is a histogram", function() q:hist("period")
        :having("hist_period ~= nil") end)
      raises("'under' is not for columns of a table", function()
        file:samples():group_by("symbol"):having("under('main')")
      end)
      raises("malformed pattern", function()
        file:samples():group_by("symbol"):having("match(symbol, '[a')")
      end)
      raises("'glob' expects a glob in quotes", function()
        file:samples():group_by("symbol"):having("glob(symbol, symbol)")
      end)
      raises("having comes after group_by", function() file:samples():having("pid == 1") end)
    end)
  end)

  describe("a computed column", function()
    it("has the value of an expression of the columns before it", function()
      local t = by_pid_and_cpu():column("mean", "period / count"):column("twice", "mean * 2")
        :sort("twice")
      local means = {}
      for _, one in ipairs(count("pid", "cpu")) do means[one.pid .. "/"
        .. one.cpu] = one.period / one.count end
      local last = math.huge
      for row in t:rows() do
        assert.equal(means[row.pid .. "/" .. row.cpu], row.mean)
        assert.equal(2 * row.mean, row.twice)
        assert.is_true(row.twice <= last)
        last = row.twice
      end
    end)

    it("may name columns that are not words", function()
      local q = file:samples():group_by("pid"):ratio("cycles:P", "faults")
      local t = q:column("scaled", "['cycles:P/faults'] * 100"):sort("pid", "asc")
      assert.same({ 0.0, 40000.0, 30000.0 }, { t[1].scaled, t[2].scaled, t[3].scaled })
      local sums = file:samples():group_by("event"):sum("period * 2")
        :column("half", "['period * 2'] / 2"):table()
      assert.same({ 1000.0, 10.0 }, { sums[1].half, sums[2].half })
    end)

    it("has no value where a part has none", function()
      local t = file:samples():group_by("pid"):min("callchain[2].ip"):as("frame")
        :column("next", "frame + 1"):sort("pid", "asc")
      for row in t:rows() do
        if row.event == "faults" then assert.is_nil(row.next) else assert.equal(row.frame + 1,
          row.next) end
      end
      local zero = by_pid_and_cpu():column("none", "period // (count - count)"):table()
      assert.is_nil(zero[1].none)
    end)

    it("is exact of unsigned values", function()
      local t = file:samples("cycles"):group_by("ip"):count():column("address", "ip + 1")
        :column("page", "ip & ~0xfff")
        :sort("ip")
      assert.equal(0xffffffff81000021, t[1].address)
      assert.equal(0xffffffff81000000, t[1].page)
      local out = { text = "" }
      function out:write(text) self.text = self.text .. text end
      t:csv(out)
      assert.matches("0xffffffff81000020,1,0xffffffff81000021,18446744071578845184\n",
        out.text, 1, true)
    end)

    it("may be a condition, a text or a constant", function()
      local t = file:samples("cycles"):group_by("pid"):count():column("many", "count > 1")
        :column("one", "1")
        :column("same", "pid"):sort("pid", "asc")
      assert.same({ event = "cycles:P", pid = 7, count = 2, many = true, one = 1, same = 7 },
        t[1])
      assert.matches("7      2  true", tostring(t), 1, true)
    end)

    it("raises for malformed names and expressions", function()
      local q = by_pid_and_cpu()
      raises("two columns named 'count'", function() q:column("count", "1") end)
      raises("two columns named 'x'", function() q:column("x", "1"):column("x", "2") end)
      raises("choose another name", function() q:column("event", "1") end)
      raises("column: a column's name expected, got an empty one",
        function() q:column("", "1") end)
      raises("column: a column's name expected, got nil", function() q:column(nil, "1") end)
      raises("column: an expression of columns expected, got a number",
        function() q:column("x", 1) end)
      raises("no column 'y'", function() q:column("x", "y * 2") end)
      raises("'x'", function() q:column("x", "x + 1") end)
      raises("a name in quotes expected between brackets",
        function() q:column("x", "[count]") end)
      raises("'%]' expected to close", function() q:column("x", "['count' + 1") end)
      raises("sum comes before column", function() q:column("x", "count"):sum("time") end)
      raises("as comes before column", function() q:having("count > 1"):as("time") end)
    end)
  end)

  describe("a running column", function()
    it("adds up the rows that are shown, in their order", function()
      local sum = 0
      local t = by_pid_and_cpu():running("period"):sort("period")
      for i, one in ipairs(count("pid", "cpu")) do
        sum = sum + one.period
        assert.equal(sum, t[i].running_period)
      end
      local some = by_pid_and_cpu():having("period < 300"):running("count")
        :sort("period", "asc")
      assert.equal(1, some[1].running_count)
      assert.equal(1 + some[2].count, some[2].running_count)
    end)

    it("begins anew with each event, and with each value that top is of", function()
      local t = file:samples():group_by("pid"):share("period"):running("share_period"):table()
      local list = {}
      for row in t:rows() do list[#list + 1] = ("%.1f"):format(row.running_share_period) end
      assert.same({ "60.0", "100.0", "70.0", "90.0", "100.0" }, list)
      local per = by_pid_and_cpu():running("count"):top(2, "period", { per = "pid" })
      local before = {}
      for row in per:rows() do
        local sum = (before[row.pid] or 0) + row.count
        assert.equal(sum, row.running_count)
        before[row.pid] = sum
      end
    end)

    it("raises if a sum exceeds 2^63-1, from the first row on", function()
      for _, values in ipairs { { math.maxinteger, 1 }, { -1, 2 }, { -1 } } do
        local data = { description = {}, keys = { { name = "k", kind = "signed" } },
          measures = { { name = "m", measure = "max", kind = "unsigned" } } }
        local groups = {}
        for i, value in ipairs(values) do groups[i] = { keys = { i }, value } end
        raises("a sum exceeds 2%^63%-1", function()
          tostring(Table.of(data, groups):running("m"):sort("m"))
        end)
      end
    end)

    it("raises for columns that do not add up", function()
      local q = by_pid_and_cpu()
      raises("running: no column 'periods'; the closest is 'period'",
        function() q:running("periods") end)
      raises("running: 'pid' is not a measure", function() q:running("pid") end)
      raises("'running_count' adds up another column", function() q:running("count")
        :running("running_count") end)
      raises("is added up over the rows", function() q:running("count")
        :having("running_count > 1") end)
      raises("in the order of another column", function() q:running("count")
        :sort("running_count") end)
      local huge = assert(perflua.open(two_events.write(function(b, events)
        for _ = 1, 2 do
          b:sample(events.faults, { identifier = 12, ip = 1, pid = 1, tid = _,
            time = 2100000000, cpu = 0,
            period = math.maxinteger })
        end
      end)))
      local t = huge:samples("faults"):group_by("tid"):sum("period"):running("period"):sort()
      raises("a sum exceeds 2%^63%-1", function() return t[1] end)
      huge:close()
    end)
  end)

  describe("a unit", function()
    it("is shown in text", function()
      local t = file:samples("cycles"):group_by("pid"):sum("time"):unit("duration")
        :sum("period"):unit("si")
        :max("ip & 0xffff"):as("page"):unit("bytes"):sort("pid", "asc")
      assert.equal([[
pid   time  period     page
  7  2.00s     400  4.00KiB
  9  2.50s     600  4.00KiB]], tostring(t))
    end)

    it("does not change CSV, JSON or rows", function()
      local with = file:samples():group_by("bucket(time, '1s')"):as("since"):unit("duration")
        :sum("period"):unit("si")
        :table()
      local without = file:samples():group_by("bucket(time, '1s')"):as("since"):sum("period")
        :table()
      for _, form in ipairs { "csv", "json" } do
        local a, b = files.temporary(), files.temporary()
        assert(with[form](with, a))
        assert(without[form](without, b))
        assert.equal(files.read(b), files.read(a))
      end
      assert.same(without[1], with[1])
      assert.matches("2s", tostring(with))
    end)

    it("keeps keys apart", function()
      local t = file:samples("cycles"):group_by("time"):unit("duration"):count()
        :sort("time", "asc")
      assert.matches("1.0000005s", tostring(t), 1, true)
      assert.matches("1.000002s", tostring(t), 1, true)
    end)

    it("follows a column that gets another name", function()
      local t = file:samples("cycles"):group_by("pid"):sum("time"):unit("duration"):as("took")
        :table()
      assert.matches("2.50s", tostring(t), 1, true)
    end)

    it("is that of all quantiles of one field", function()
      local t = file:samples("cycles"):group_by("pid"):quantile("time", { 0.5, 0.9 })
        :unit("duration"):table()
      assert.same({ "pid", "p50_time", "p90_time" },
        { tostring(t):match("(%S+)  (%S+)  (%S+)") })
      for line in tostring(t):gmatch("\n([^\n]+)") do
        assert.matches("^ *%d+ +[%d.]+s +[%d.]+s$", line)
      end
    end)

    it("raises for another, with the list, and for texts and addresses", function()
      local q = by_pid_and_cpu()
      raises("unit: no unit 'durations'; there are duration, bytes, si; the closest is "
        .. "'duration'",
        function() q:unit("durations") end)
      raises("unit: no unit 'nil'; there are duration, bytes, si", function() q:unit() end)
      raises("unit: no column 'tid'", function() q:unit("si", "tid") end)
      raises("unit: 'comm' is not a column of numbers",
        function() file:samples():group_by("comm"):unit("si") end)
      raises("unit: 'ip' is not a column of numbers",
        function() file:samples():group_by("ip"):unit("bytes") end)
    end)
  end)

  describe("several quantiles", function()
    it("equal those of single quantiles", function()
      local t = file:samples():group_by("pid"):quantile("period", { 0.25, 0.5, 0.999 }):count()
        :sort("p50_period")
      for _, one in ipairs { { "p25_period", 0.25 }, { "p50_period", 0.5 },
        { "p99.9_period", 0.999 } } do
        local single = {}
        for row in file:samples():group_by("pid"):quantile("period", one[2]):table():rows() do
          single[row.event .. row.pid] = row.quantile_period
        end
        for row in t:rows() do assert.equal(single[row.event .. row.pid], row[one[1]]) end
      end
    end)

    it("are a list without groups", function()
      local q = file:samples("cycles")
      assert.same({ q:quantile("period", 0.5), q:quantile("period", 1) },
        q:quantile("period", { 0.5, 1 }))
    end)

    it("are saved, merged and sorted by as others", function()
      local t = file:samples():group_by("pid"):quantile("period", { 0.5, 0.9 })
        :top(2, "p90_period")
      local path = files.temporary()
      assert(t:save(path))
      local back = assert(perflua.load(path))
      assert.equal(tostring(t), tostring(back))
      assert.equal(tostring(t), tostring(back:merge(t)))
    end)

    it("raise for wrong lists of shares, and for equal names", function()
      local q = file:samples():group_by("pid")
      raises("quantile: the list of numbers is empty", function() q:quantile("period", {}) end)
      raises("from 0 to 1", function() q:quantile("period", { 0.5, 50 }) end)
      raises("from 0 to 1", function() q:quantile("period", { "0.5" }) end)
      raises("two columns named 'p50_period'", function()
        q:quantile("period", { 0.5 }):quantile("period", { 0.5, 0.9 })
      end)
      raises("two columns named 'p50_period'",
        function() q:quantile("period", { 0.5, 0.5 }) end)
      raises("as: the last measure has 2 columns", function() q:quantile("period", { 0.5, 0.9 })
        :as("q") end)
    end)
  end)

  it("shows histograms as bars in text, and in full in CSV", function()
    local t = file:samples("cycles"):group_by("pid"):hist("period"):count():sort("pid", "asc")
    assert.equal([[
pid  hist_period                                              count
  7  [64, 128)   1  ########################################      2
     [128, 256)  0
     [256, 512)  1  ########################################
  9  [128, 256)  1  ########################################      2
     [256, 512)  1  ########################################]], tostring(t))
    local out = { text = "" }
    function out:write(text) self.text = self.text .. text end
    t:csv(out)
    assert.equal("pid,hist_period,count\n7,64-128:1 256-512:1,2\n"
      .. "9,128-256:1 256-512:1,2\n", out.text)
  end)

  it("is saved with a table, and applied to merged tables", function()
    local function shape(q)
      return q:column("mean", "period / count"):having("mean > 1"):unit("duration", "period")
        :running("count")
        :top(1, "mean", { per = "pid" })
    end
    local first = shape(file:samples():between(nil, "50%"):all_events():group_by("pid", "cpu")
      :count():sum("period"))
    local second = shape(file:samples():between("50%", "100%"):all_events()
      :group_by("pid", "cpu"):count():sum("period"))
    local path = files.temporary()
    assert(first:save(path))
    assert.equal(tostring(first), tostring(assert(perflua.load(path))))
    assert.equal(tostring(shape(by_pid_and_cpu())),
      tostring(assert(perflua.load(path)):merge(second)))
    local turned = by_pid_and_cpu():pivot("cpu", 2):table()
    assert(turned:save(path))
    assert.equal(tostring(turned), tostring(assert(perflua.load(path))))
  end)

  it("is refused in a file if it does not fit the groups", function()
    local path = files.temporary()
    assert(by_pid_and_cpu():having("count > 1"):table():save(path))
    local text = files.read(path)
    assert.equal(1, select(2, text:gsub("S9:count > 1", "")))
    files.write(path, (text:gsub("S9:count > 1", "S9:coumt > 1")))
    local t, message, code = perflua.load(path)
    assert.is_nil(t)
    assert.matches("damaged: .*description of a table", message)
    assert.equal("FORMAT", code)
  end)
end)
