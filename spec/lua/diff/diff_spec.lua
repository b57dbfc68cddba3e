-- perflua.diff: what two recordings, or several runs of each side, differ in.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local works = require "spec.support.works"

local open = {}

local function recording(options)
  local file = assert(perflua.open(works.write(options)))
  open[#open + 1] = file
  return file
end

local function by_comm(options) return recording(options):samples():group_by("comm") end

local function rows_of(t, key)
  local rows = {}
  for row in t:rows() do rows[row[key or "comm"]] = row end
  return rows
end

local UNTOLD <const> = { ["too few samples"] = true, ["varies too much"] = true }

local EQUAL = { parse = 0.3, solve = 0.4, write = 0.2 }

-- Runs of work of these parts, with other seeds.
local function runs(n, seed, parts, measure, event)
  local list = {}
  for i = 1, n do
    local query = by_comm { seed = seed + i, parts = parts, seconds = 2, event = event }
    list[i] = query[measure or "count"](query, measure and "period")
  end
  return list
end

local function fails(pattern, fn)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.matches(pattern, message)
  assert.matches("diff_spec", message) -- at the script's line
end

describe("perflua.diff", function()
  after_each(function()
    for _, file in ipairs(open) do file:close() end
    open = {}
  end)

  it("has the values of both sides, exactly, and their difference", function()
    local a, b = by_comm { seed = 1, parts = EQUAL }, by_comm { seed = 2, parts = EQUAL }
    local t = perflua.diff(a:sum "period", b:sum "period")
    local x, y = rows_of(a:sum("period"):table()), rows_of(b:sum("period"):table())
    assert.equal(3, #t)
    for comm, row in pairs(rows_of(t)) do
      assert.equal(x[comm].period, row.before)
      assert.equal(y[comm].period, row.after)
      assert.equal(row.after - row.before, row.delta)
      assert.equal("integer", math.type(row.delta))
      assert.is_true(row.low < row.delta and row.delta < row.high)
    end
  end)

  it("finds what was made slower, and does not take the others for faster", function()
    local slower = { parse = 0.3, solve = 0.4, write = 0.3 }
    local rows = rows_of(perflua.diff(by_comm { seed = 3, parts = EQUAL, seconds = 10 },
      by_comm { seed = 4, parts = slower, seconds = 10 }))
    assert.equal("slower", rows.write.verdict)
    assert.equal("noise", rows.parse.verdict)
    assert.equal("noise", rows.solve.verdict)
    assert.equal("faster", rows_of(perflua.diff(by_comm { seed = 4, parts = slower,
      seconds = 10 }, by_comm { seed = 3, parts = EQUAL, seconds = 10 })).write.verdict)
  end)

  it("says what is new and what is gone, if that is not chance", function()
    local rows = rows_of(perflua.diff(by_comm { seed = 1, parts = { a = 0.5, old = 0.1,
      rare_old = 0.001 } }, by_comm { seed = 2, parts = { a = 0.5, new = 0.1 } }))
    assert.equal("new", rows.new.verdict)
    assert.equal(0, rows.new.before)
    assert.equal("gone", rows.old.verdict)
    assert.equal(0, rows.old.after)
    assert.equal("too few samples", rows.rare_old.verdict)
  end)

  it("does not correct for rows in which nothing could stand out", function()
    -- one program, and thirty threads of 20 samples in the kernel each
    local b = builder.new()
    local event = b:event { name = "cpu-clock", type = 1, config = 0,
      sample_type = { "ip", "tid", "time", "period" } }
    for ms = 1, 4000 do
      local tid = ms % 200 < 30 and ms % 200 + 2 or 1
      b:sample(event, { ip = 1, pid = 1, tid = tid, time = ms * 1000000, period = 1000000,
        misc = tid > 1 and 1 or 2 })
    end
    local file = assert(perflua.open(b:write()))
    open[#open + 1] = file
    local query = file:samples():group_by("tid"):count()
    local t = perflua.diff(query, query)
    assert.matches("verdicts are corrected for 1 row that was tested", tostring(t), 1, true)
    local rows = rows_of(t, "tid")
    assert.equal("noise", rows[1].verdict)
    assert.equal("too few samples", rows[2].verdict)
    assert.matches("  noise\n.*  too few samples %(40%)\n", tostring(t))
  end)

  it("says that a row varies too much where more samples would not help", function()
    local function side(seed, parts)
      local list = {}
      for i, part in ipairs(parts) do
        list[i] = by_comm { seed = seed + i, parts = { parse = part, solve = 0.1 } }
      end
      return list
    end
    local t = perflua.diff(side(1, { 0.05, 0.4, 0.8 }), side(9, { 0.7, 0.1, 0.2 }))
    assert.equal("varies too much", rows_of(t).parse.verdict)
    assert.matches("varies too much %(%d+ samples%)\n", tostring(t))
  end)

  it("flags few rows of equal recordings", function()
    local flagged = 0
    for seed = 1, 40 do
      local t = perflua.diff(by_comm { seed = 2 * seed, parts = EQUAL, seconds = 2 },
        by_comm { seed = 2 * seed + 1, parts = EQUAL, seconds = 2 })
      for row in t:rows() do
        if row.verdict ~= "noise" and not UNTOLD[row.verdict] then
          flagged = flagged + 1
          break
        end
      end
    end
    assert.is_true(flagged <= 5, flagged .. " of 40 comparisons flag a row")
  end)

  it("is wider where a thread runs in phases than where it runs all the time", function()
    local function width(phases)
      local row = rows_of(perflua.diff(
        by_comm { seed = 1, parts = { a = 0.5, b = 0.5 }, phases = phases },
        by_comm { seed = 2, parts = { a = 0.5, b = 0.5 }, phases = phases })).a
      return row.high - row.low
    end
    assert.is_true(width(100) > 3 * width(1))
  end)

  it("compares shares, so that a slower function makes the others less", function()
    local a = by_comm { seed = 1, parts = { parse = 0.3, solve = 0.3 }, seconds = 10 }
    local b = by_comm { seed = 2, parts = { parse = 0.3, solve = 0.6 }, seconds = 10 }
    local t = perflua.diff(a:sum "period", b:sum "period", { per = "share" })
    local rows = rows_of(t)
    assert.equal("more", rows.solve.verdict)
    assert.equal("less", rows.parse.verdict)
    local x, y = a:share("period"):table(), b:share("period"):table()
    for comm, row in pairs(rows) do
      assert.equal(rows_of(x)[comm].share_period, row.before)
      assert.equal(rows_of(y)[comm].share_period, row.after)
    end
    assert.same(rows, rows_of(perflua.diff(a:share "period", b:share "period")))
    assert.matches("%d%.%d%d%%", tostring(t))
  end)

  it("compares per second, so that a longer recording has no more", function()
    local t = perflua.diff(by_comm { seed = 1, parts = EQUAL, seconds = 4 },
      by_comm { seed = 2, parts = EQUAL, seconds = 12 }, { per = "second" })
    for row in t:rows() do
      assert.equal("noise", row.verdict)
      assert.is_true(row.before > 150 and row.before < 450)
    end
    assert.matches("different lengths: 4 s before, 12 s after", tostring(t))
  end)

  it("compares per period of another event", function()
    local function counted(seed)
      return recording { seed = seed, parts = EQUAL, more = "faults" }:samples("cpu-clock")
        :group_by("comm"):count()
    end
    local a, b = counted(1), counted(2)
    local rows = rows_of(perflua.diff(a, b, { per = "event:faults" }))
    local x = rows_of(a:table())
    for comm, row in pairs(rows) do
      assert.equal(x[comm].count / (400 * 500), row.before)
      assert.equal("noise", row.verdict)
    end
    fails("after has no samples of event 'faults'", function()
      perflua.diff(a, recording { seed = 1, parts = EQUAL, more = "faults" }
        :samples("cpu-clock"):between("1ms", "8ms"):group_by("comm"):count(),
        { per = "event:faults" })
    end)
  end)

  it("takes the variation from three runs of a side", function()
    local t = perflua.diff(runs(3, 10, EQUAL), runs(3, 20, { parse = 0.3, solve = 0.4,
      write = 0.29 }))
    local rows = rows_of(t)
    assert.equal("slower", rows.write.verdict)
    assert.equal("noise", rows.parse.verdict)
    assert.equal("float", math.type(rows.parse.before))
    assert.matches("from the variation between runs %(3 runs before, 3 runs after%)",
      tostring(t))
    assert.not_matches("within%-run", tostring(t))
  end)

  it("shrinks the variance of three runs towards that of counting and drift", function()
    local calibration, core = require "perflua.diff.calibration", require "perflua.core"
    local a, b = runs(3, 30, EQUAL), runs(4, 40, EQUAL)
    local function expected(list, comm, prior)
      local values, sum, all, squares = {}, 0, 0, 0
      for i, one in ipairs(list) do
        local rows = rows_of(one:table())
        for _, row in pairs(rows) do all = all + row.count end
        values[i] = rows[comm].count
        sum = sum + values[i]
      end
      local mean = sum / #list
      for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
      local variance = prior.dispersion * mean * (1 - sum / all) + (prior.drift * mean) ^ 2
      return variance / #list, squares / variance
    end
    local function half(comm, load)
      local prior = calibration.priors[load].program
      local v, x = expected(a, comm, prior)
      local w, y = expected(b, comm, prior)
      local factor, freedom = core.shrink(x + y, 5, prior.freedom)
      return core.student_quantile(0.025, freedom) * math.sqrt(factor * (v + w))
    end
    for comm, row in pairs(rows_of(perflua.diff(a, b))) do
      local found = row.high - row.delta
      assert.is_true(math.abs(found - half(comm, "idle")) < 1e-6 * found, comm)
    end
  end)

  it("takes three runs to vary as beside other programs where most rows do", function()
    local function side(seed, factors)
      local list = {}
      for i, factor in ipairs(factors) do
        local parts = {}
        for comm, part in pairs(EQUAL) do parts[comm] = part * factor end
        list[i] = by_comm { seed = seed + i, parts = parts, seconds = 4 }
      end
      return list
    end
    local t = perflua.diff(side(200, { 1.1, 0.9, 1 }), side(300, { 0.9, 1.05, 1.1 }))
    assert.matches("they vary as runs do beside other programs", tostring(t), 1, true)
    t = perflua.diff(side(200, { 1, 1, 1 }), side(300, { 1, 1, 1 }))
    assert.not_matches("beside other programs", tostring(t), 1, true)
  end)

  it("has Welch's interval of three runs of events that are counted one by one", function()
    local a = runs(3, 30, EQUAL, nil, "page-faults")
    local b = runs(4, 40, EQUAL, nil, "page-faults")
    local rows = rows_of(perflua.diff(a, b))
    for comm, row in pairs(rows) do
      local function moments(list)
        local sum, squares = 0, 0
        for _, one in ipairs(list) do sum = sum + rows_of(one:table())[comm].count end
        for _, one in ipairs(list) do
          squares = squares + (rows_of(one:table())[comm].count - sum / #list) ^ 2
        end
        return sum / #list, squares / (#list - 1) / #list
      end
      local m, v = moments(a)
      local n, w = moments(b)
      assert.near(n - m, row.delta, 1e-9)
      local freedom = (v + w) ^ 2 / (v * v / 2 + w * w / 3)
      local half = require "perflua.core".student_quantile(0.025, freedom) * math.sqrt(v + w)
      -- counting may vary more than these runs did, by chance
      assert.is_true(row.high - row.delta >= half * 0.999)
    end
  end)

  it("gives a side of one run the variation of the other's three", function()
    local t = perflua.diff(runs(3, 50, EQUAL), runs(1, 60, EQUAL))
    for row in t:rows() do assert.equal("noise", row.verdict) end
    assert.matches("from the variation between runs %(3 runs before, 1 run after%)",
      tostring(t))
  end)

  it("has intervals of saved tables of three runs, and none of single ones", function()
    local function saved(list)
      local loaded = {}
      for i, query in ipairs(list) do
        local path = files.temporary()
        assert(query:table():save(path))
        loaded[i] = assert(perflua.load(path))
      end
      return loaded
    end
    local a, b = runs(3, 70, EQUAL), runs(3, 80, EQUAL)
    assert.same(rows_of(perflua.diff(a, b)), rows_of(perflua.diff(saved(a), saved(b))))
    local t = perflua.diff(saved(a)[1], saved(b)[1])
    for row in t:rows() do
      assert.is_nil(row.low)
      assert.is_nil(row.verdict)
      assert.equal(row.after - row.before, row.delta)
    end
    assert.matches("no intervals: tables have no times", tostring(t))
  end)

  it("compares values beyond 2^63, of which differences are exact if they can be", function()
    local function query(period)
      local b = builder.new()
      local event = b:event { name = "cpu-clock", type = 1, config = 0,
        sample_type = { "tid", "time", "period" } }
      for ms = 1, 3 do
        b:sample(event, { pid = 1, tid = 1, time = ms * 1000000, period = period })
      end
      open[#open + 1] = assert(perflua.open(b:write()))
      return open[#open]:samples():group_by("pid")
    end
    local EIGHTH <const> = 1 << 61
    local t = perflua.diff(query(EIGHTH):sum("period"), query(EIGHTH + 1):sum("period"))
    assert.same({ 3 * EIGHTH, 3 * EIGHTH + 3, 3 }, { t[1].before, t[1].after, t[1].delta })
    t = perflua.diff({ query(EIGHTH):sum("period"), query(EIGHTH):sum("period") },
      { query(EIGHTH):sum("period"), query(EIGHTH):sum("period") })
    assert.same({ 3 * 2.0 ^ 61, 0 }, { t[1].before, t[1].delta })
    t = perflua.diff(query(1 << 63):quantile("period", 0.5),
      query(3 << 62):quantile("period", 0.5))
    assert.is_true(math.abs(t[1].before / 2 ^ 63 - 1) < 0.01, t[1].before)
    assert.is_true(math.abs(t[1].after / (3 * 2 ^ 62) - 1) < 0.01, t[1].after)
    assert.equal(t[1].after - t[1].before, t[1].delta)
  end)

  it("compares averages, ratios and quantiles", function()
    local function two(seed)
      return recording { seed = seed, parts = EQUAL, more = "faults" }
    end
    local a, b = two(1), two(2)
    for _, measure in ipairs {
      function(f) return f:samples("cpu-clock"):group_by("comm"):avg("time") end,
      function(f) return f:samples("cpu-clock"):group_by("comm"):quantile("time", 0.5) end,
      function(f) return f:samples():group_by("comm"):ratio("cpu-clock", "faults") end,
    } do
      local x, y = measure(a), measure(b)
      local t = perflua.diff(x, y)
      assert.is_true(#t >= 3)
      local name = x:table().view.columns[2].name
      for row in t:rows() do
        local own = rows_of(x:table())[row.comm]
        assert.equal(own[name] and own[name] + 0.0, row.before)
        assert.is_true(row.verdict == "noise" or UNTOLD[row.verdict])
      end
    end
  end)

  it("takes equal quantiles of runs for certain only if their values are alike", function()
    -- runs of 41 samples whose periods are 1 and 2: the median is that of 21 of them
    local function side(ones)
      local list = {}
      for r = 1, 3 do
        local b = builder.new()
        local event = b:event { name = "cycles", ids = { 1 },
          sample_type = { "tid", "time", "period" } }
        for i = 1, 41 do
          b:sample(event, { pid = 1, tid = 1, time = 1000 * i, period = i <= ones and 1 or 2 })
        end
        local file = assert(perflua.open(b:write()))
        open[#open + 1] = file
        list[r] = file:samples():group_by("pid"):quantile("period", 0.5)
      end
      return list
    end
    local row = perflua.diff(side(21), side(20))[1]
    assert.same({ 1.0, 2.0 }, { row.before, row.after })
    assert.is_true(row.low < 0 and row.high >= 1)
    assert.is_nil(row.verdict:match "slower")
    row = perflua.diff(side(41), side(0))[1]
    assert.equal("slower", row.verdict)
    assert.is_true(row.low > 0.9 and row.high < 1.1)
  end)

  it("tells apart keys that differ in their last digits only", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "tid", "time" } }
    for time = 246913578024690, 246913578024693 do
      b:sample(event, { pid = 1, tid = 1, time = time })
    end
    open[1] = assert(perflua.open(b:write()))
    local halves = open[1]:samples():group_by("time / 2"):count()
    local rows = rows_of(perflua.diff(halves, halves), "time / 2")
    for half = 0, 3 do assert.equal(1, rows[123456789012345 + half / 2].before) end
  end)

  it("has no bounds of a quantile where values are too few", function()
    local function tail(seed)
      return by_comm { seed = seed, parts = { a = 0.01 } }:quantile("time", 0.99)
    end
    local row = perflua.diff(tail(1), tail(2))[1]
    assert.is_nil(row.low)
    assert.is_nil(row.high)
    assert.equal("too few samples", row.verdict)
  end)

  it("finds a quantile that moved", function()
    local function late(seed, from)
      return recording { seed = seed, parts = EQUAL }:samples():where(
        ("time > %d"):format(from)):group_by("comm"):quantile("time", 0.5)
    end
    for row in perflua.diff(late(1, 0), late(2, 1500000000)):rows() do
      assert.equal("slower", row.verdict)
      assert.is_true(row.low > 0)
    end
  end)

  it("matches binaries by their file names, and renamed ones as it is told", function()
    local function by_dso(dso)
      return recording { seed = 1, parts = { a = 1 }, dso = dso }:samples():group_by("dso")
    end
    local t = perflua.diff(by_dso "/old/bin/app", by_dso "/new/bin/app")
    assert.equal(1, #t)
    assert.equal("app", t[1].dso)
    assert.equal(0, t[1].delta)
    assert.equal(2, #perflua.diff(by_dso "/bin/app", by_dso "/bin/tool"))
    assert.equal(1, #perflua.diff(by_dso "/bin/app", by_dso "/bin/tool",
      { match = { app = "tool" } }))
  end)

  it("answers alike with one worker and with several", function()
    local b = builder.new()
    local event = b:event { name = "cpu-clock", type = 1, config = 0,
      sample_type = { "ip", "tid", "time", "period" } }
    math.randomseed(5)
    for i = 1, 30000 do
      b:sample(event, { ip = 1, pid = 1, tid = math.random(1500), time = i * 100000,
        period = math.random(1000) })
    end
    local path, answers = b:write(), {}
    for i, jobs in ipairs { 1, 3 } do
      local file = assert(perflua.open(path, { jobs = jobs }))
      open[#open + 1] = file
      local even = file:samples():where("period % 2 == 0"):group_by("tid")
      local odd = file:samples():where("period % 2 == 1"):group_by("tid")
      answers[i] = {}
      for _, t in ipairs { perflua.diff(even, odd), perflua.diff(even:avg "period",
        odd:avg "period") } do
        for row in t:rows() do
          table.insert(answers[i], table.concat({ row.tid, row.before or "-",
            row.after or "-", row.low or "-", row.high or "-", row.verdict or "-" }, " "))
        end
      end
    end
    assert.is_true(#answers[1] > 2000)
    assert.same(answers[1], answers[2])
  end)

  it("says which names to be renamed no row has", function()
    local function compare(...)
      return tostring(perflua.diff(by_comm { seed = 1, parts = EQUAL },
        by_comm { seed = 2, parts = EQUAL }, { match = ... }))
    end
    local name = next(EQUAL)
    assert.not_matches("match:", compare { [name] = "other" })
    assert.matches("^# match: no row has the name 'gone\\x0a'\n",
      compare { [name] = "other", ["gone\n"] = "other" })
  end)

  it("says above the rows what else differs", function()
    local text = tostring(perflua.diff(
      by_comm { seed = 1, parts = EQUAL, host = "old", more = "faults" },
      by_comm { seed = 2, parts = EQUAL, host = "new", seconds = 8 }))
    assert.matches("# different hosts: old before, new after", text)
    assert.matches("# different lengths: 4 s before, 8 s after", text)
    assert.matches("# left out: events only before: faults", text)
    assert.matches("within%-run noise only", text)
  end)

  it("compares events of other precision, and says so", function()
    local function of(event, seed)
      return by_comm { seed = seed, parts = EQUAL, event = event }
    end
    for _, pair in ipairs { { "cycles:P", "cycles:ppp" }, { "cycles", "cycles:P" },
      { "cycles:Pu", "cycles:u" }, { "cpu_core/cycles/P", "cpu_core/cycles/" },
      { "cpu-clock:pppH", "cpu-clock" } } do
      local t = perflua.diff(of(pair[1], 1), of(pair[2], 2))
      assert.equal(3, #t)
      assert.truthy(tostring(t):find(("# %s before is compared with %s after"):format(pair[1],
        pair[2]), 1, true))
    end
    fails("no common event: cycles:u before, cycles:k after", function()
      perflua.diff(of("cycles:u", 1), of("cycles:Pk", 2))
    end)
  end)

  it("reads a stream in slices of a second", function()
    local pipe = works.write { seed = 1, parts = EQUAL, seconds = 30, container = "pipe" }
    local function stream()
      local file = assert(perflua.open(pipe))
      open[#open + 1] = file
      return file:samples():group_by("comm"):count()
    end
    local t = perflua.diff(stream(), stream())
    for row in t:rows() do
      assert.equal(0, row.delta)
      assert.equal("noise", row.verdict)
    end
  end)

  it("has the largest differences first, whatever their sign, and other orders", function()
    local t = perflua.diff(by_comm { seed = 1, parts = { a = 0.1, b = 0.5, c = 0.3 } },
      by_comm { seed = 2, parts = { a = 0.2, b = 0.2, c = 0.3 } })
    assert.equal("b", t[1].comm)
    assert.equal("a", t[2].comm)
    assert.equal("c", t:sort("after")[1].comm)
  end)

  it("can be saved, loaded and written, and not be merged", function()
    local t = perflua.diff(by_comm { seed = 1, parts = EQUAL }, by_comm { seed = 2,
      parts = EQUAL }, { per = "share" })
    local path = files.temporary()
    assert(t:save(path))
    assert.same(rows_of(t), rows_of(assert(perflua.load(path))))
    fails("comparisons cannot be merged", function() t:merge(t) end)
  end)

  describe("an error of perflua.diff", function()
    local a, b

    before_each(function()
      a, b = recording { seed = 1, parts = EQUAL }, recording { seed = 2, parts = EQUAL }
    end)

    it("says that there is nothing to compare", function()
      fails("before: the list is empty", function() perflua.diff({}, {}) end)
      fails("after: a grouped query, a Table or a list of them expected, got a number",
        function() perflua.diff(a:samples():group_by("comm"), 3) end)
      fails("before: group_by comes before diff", function()
        perflua.diff(a:samples(), b:samples())
      end)
      fails("after is empty: no record was read from /%S+, or none passed", function()
        perflua.diff(a:samples():group_by("comm"), b:samples():where("pid == 99")
          :group_by("comm"))
      end)
    end)

    it("says that times are too far apart, as damage may make them", function()
      local made = builder.new()
      local event = made:event { name = "cycles", ids = { 1 }, sample_type = { "tid", "time" } }
      for _, time in ipairs { 0, 5, -1 } do
        made:sample(event, { pid = 1, tid = 1, time = time })
      end
      open[#open + 1] = assert(perflua.open(made:write()))
      local query = open[#open]:samples():group_by("pid")
      fails("records of before are more than 292 years apart: compare a part of its time",
        function() perflua.diff(query, query) end)
    end)

    it("names a run that did not record an event of the other runs", function()
      local other = by_comm { seed = 3, parts = EQUAL, event = "cycles" }
      fails("%S has no event 'cycles', which another run of its side has", function()
        perflua.diff(a:samples():group_by("comm"), { b:samples():group_by("comm"), other })
      end)
    end)

    it("names the first difference of two questions", function()
      fails("different queries: key 1: \"comm %(string%)\" here, \"pid %(signed%)\" there",
        function()
          perflua.diff(a:samples():group_by("comm"), b:samples():group_by("pid"))
        end)
      fails("measure 1: \"count\" here, \"sum of period %(unsigned%)\" there", function()
        perflua.diff(a:samples():group_by("comm"), b:samples():group_by("comm"):sum("period"))
      end)
      fails("no common event: cpu%-clock before, cycles after", function()
        perflua.diff(a:samples():group_by("comm"),
          by_comm { seed = 1, parts = EQUAL, event = "cycles" })
      end)
    end)

    it("names a measure that cannot be compared", function()
      local function both(measure, field, option)
        local x, y = a:samples():group_by("comm"), b:samples():group_by("comm")
        return x[measure](x, field, option), y[measure](y, field, option)
      end
      for _, measure in ipairs { "min", "max", "hist", "distinct", "first", "last" } do
        fails(measure .. " cannot be compared", function()
          perflua.diff(both(measure, "period"))
        end)
      end
      fails("one quantile is compared", function()
        perflua.diff(both("quantile", "period", { 0.5, 0.9 }))
      end)
      fails("per goes with count and sum", function()
        local x, y = both("avg", "period")
        perflua.diff(x, y, { per = "share" })
      end)
    end)

    it("names the side without times", function()
      fails("before has no times", function()
        perflua.diff(by_comm { seed = 1, parts = EQUAL, times = false },
          by_comm { seed = 2, parts = EQUAL })
      end)
    end)

    it("names a wrong option", function()
      local x, y = a:samples():group_by("comm"), b:samples():group_by("comm")
      fails("unknown option 'pre'", function() perflua.diff(x, y, { pre = 1 }) end)
      fails("per: \"share\", \"second\" or \"event:NAME\" expected, got 'hour'", function()
        perflua.diff(x, y, { per = "hour" })
      end)
      fails("confidence: a number from 0.5", function()
        perflua.diff(x, y, { confidence = 95 })
      end)
      fails("match: a table", function() perflua.diff(x, y, { match = "a=b" }) end)
      fails("per = \"second\" needs recordings", function()
        perflua.diff(x:table(), y:table(), { per = "second" })
      end)
      fails("goes with one window of time, but before has several", function()
        local windows = { { "0%", "10%" }, { "50%", "60%" } }
        perflua.diff(a:samples():between(windows):group_by("comm"), y, { per = "second" })
      end)
      fails("column, having, pivot and running come after diff", function()
        perflua.diff(x:count():having("count > 1"), y:count())
      end)
    end)
  end)
end)
