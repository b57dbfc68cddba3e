-- share(f, "absolute"): shares of all samples of an event, as perf report has them.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"

local demo <const> = files.fixture "demo.perf.data"

describe("share(f, \"absolute\")", function()
  it("is of all samples of the event, whatever filters leave", function()
    local file <close> = assert(perflua.open(demo))
    local sorted = file:samples():where "comm == 'sort'"
    for event, of_event in pairs { ["cpu-clock"] = 0, ["page-faults"] = 0 } do
      local sums = {}
      for sample in file:samples { event = event }:each() do
        sums.all = (sums.all or 0) + sample.period
        if sample.comm == "sort" then of_event = of_event + sample.period end
      end
      local row = file:samples { event = event }:where "comm == 'sort'":group_by "comm"
        :share("period", "absolute"):table()[1]
      assert.is_near(100 * of_event / sums.all, row.share_period, 1e-9)
    end
    local rows = sorted:group_by "comm":share("period", "relative"):table()
    for row in rows:rows() do assert.are.equal(100, row.share_period) end
  end)

  it("has the shares of perf report", function()
    local file <close> = assert(perflua.open(demo))
    local found = {}
    for row in file:samples():where "comm == 'sort'":group_by "comm"
      :share("period", "absolute"):table():rows() do
      found[#found + 1] = ("%9.2f%%  sort"):format(row.share_period)
    end
    local out = run.perflua { "report", "-q", "--comm", "sort", "-s", "comm", "--no-children",
      demo }.out
    assert.are.equal(out:gsub("\n+", "\n"), table.concat(found, "\n") .. "\n")
  end)

  it("keeps the windows of time, which are what shares are of", function()
    local file <close> = assert(perflua.open(demo))
    local windows = { { "0%", "30%" }, { "60%", "80%" } }
    local whole = file:samples { event = "cpu-clock" }:between(windows):sum "period"
    local row = file:samples { event = "cpu-clock" }:between(windows):where "comm == 'sort'"
      :group_by "comm":sum "period":as "total":share("period", "absolute"):table()[1]
    assert.is_near(100 * row.total / whole, row.share_period, 1e-9)
    assert.is_true(row.share_period < 100)
  end)

  it("is of each event where all are together, and of functions of call chains", function()
    local file <close> = assert(perflua.open(demo))
    local apart, n = {}, 0
    for row in file:samples():where "comm == 'sort'":group_by "event"
      :share("period", "absolute"):table():rows() do
      apart[row.event] = row.share_period
    end
    for row in file:samples():where "comm == 'sort'":all_events():group_by("event", "comm")
      :share("period", "absolute"):table():rows() do
      assert.are.equal(apart[row.event], row.share_period)
      n = n + 1
    end
    assert.are.equal(3, n)
    local functions = file:samples { event = "cpu-clock" }:where "comm == 'sort'"
      :unnest("callchain", { once = "frame.dso" }):group_by "frame.dso"
      :share("period", "absolute"):table()
    assert.is_true(functions[1].share_period <= apart["cpu-clock"])
  end)

  it("tells events of one name apart", function()
    local b = builder.new()
    for i = 1, 2 do
      local event = b:event { name = "cycles", ids = { i },
        sample_type = { "identifier", "ip", "tid", "time", "period" } }
      for tid = 1, 4 do
        b:sample(event, { identifier = i, ip = 1, pid = tid, tid = tid, time = 10 * i + tid,
          period = i == 1 and 10 or tid })
      end
    end
    local file <close> = assert(perflua.open(b:write()))
    local shares = {}
    for row in file:samples():where "tid == 4":group_by "tid":share("period", "absolute")
      :table():rows() do shares[#shares + 1] = row.share_period end
    assert.are.same({ 25, 40 }, shares)
  end)

  it("refuses what it cannot tell", function()
    local file <close> = assert(perflua.open(demo))
    local samples = file:samples()
    assert.error_matches(function() samples:group_by "comm":share("period", "all") end,
      "share: \"absolute\" or \"relative\" expected, got all")
    assert.error_matches(function()
      samples:group_by "comm":share("period"):share("ip // 1", "absolute"):table()
    end, "share: absolute and relative shares cannot stand side by side")
    local got = run.shell_with([[cat "$1" | $perflua -e "file:samples():group_by('comm')
      :share('period', 'absolute'):table()" -]], files.fixture "perf-7.3/pipe.data")
    assert.matches("absolute shares take two passes", got.err, 1, true)
  end)
end)
