-- perflua diff: the command line of perflua.diff, and the same deltas as perf diff.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"
local works = require "spec.support.works"

local PARTS = { parse = 0.3, solve = 0.4, write = 0.2 }
local SLOWER = { parse = 0.3, solve = 0.4, write = 0.29 }

local function diff(...)
  local got = run.perflua { "diff", ... }
  assert.equal(0, got.status, got.err)
  return got.out, got.err
end

local function fails(status, pattern, ...)
  local got = run.perflua { "diff", ... }
  assert.equal(status, got.status, got.out)
  assert.matches(pattern, got.err)
end

describe("perflua diff", function()
  local a, b, more, others

  setup(function()
    a, b = works.write { seed = 3, parts = PARTS }, works.write { seed = 4, parts = SLOWER }
    more, others = {}, {}
    for i = 1, 3 do
      more[i] = works.write { seed = 10 + i, parts = PARTS, seconds = 2 }
      others[i] = works.write { seed = 20 + i, parts = SLOWER, seconds = 2 }
    end
  end)

  it("shows what changed, and what the intervals mean", function()
    local out = diff("--sort", "comm", a, b)
    assert.matches("comm +before +after +delta +low +high +verdict", out)
    assert.matches("write +8%d%dM +1.%d%dG +3%d%dM .* slower\n", out)
    assert.matches("parse .* noise %(3 rows%)\n", out)
    assert.matches("\n# low to high: the 95 %% interval of delta, within%-run noise only", out)
  end)

  it("takes several runs on both sides of --, and options anywhere", function()
    local out, err = diff("--sort", "comm", more[1], more[2], more[3], "--", others[1], "--csv",
      others[2], others[3])
    assert.matches("^comm,before,after,delta,low,high,verdict\n", out)
    assert.matches("\nwrite,[^\n]*,slower\n", out)
    assert.matches("%(3 runs before, 3 runs after%)", err)
    assert.equal(out, (diff("--csv", "-s", "comm", more[1], more[2], more[3], "--", others[1],
      others[2], others[3])))
  end)

  it("has the result of perflua.diff", function()
    local function query(path)
      return assert(perflua.open(path)):samples():group_by("comm"):sum("period")
    end
    local path = files.temporary()
    assert(perflua.diff(query(a), query(b), { per = "share" }):csv(path))
    assert.equal(files.read(path), (diff("--per", "share", "--sort", "comm", "--csv", a, b)))
  end)

  it("writes one JSON object with its notes", function()
    local out = diff("--json", "--sort", "comm", a, b)
    assert.matches('^{"notes":%["low to high: [^]]*%],"rows":%[\n{"comm":"write",', out)
    assert.matches('"verdict":"slower"', out)
  end)

  it("reads saved tables", function()
    local saved = files.temporary()
    assert(assert(perflua.open(a)):samples():group_by("comm"):sum("period"):table():save(saved))
    local out = diff("--sort", "comm", saved, b)
    assert.matches("# no intervals: tables have no times", out)
    assert.matches("write +8", out)
    out = diff("--sort", "comm", "--comm", "write", saved, b)
    assert.matches("# --comm: nothing was chosen in " .. saved .. ", a saved table", out, 1,
      true)
    assert.same({ status = 2, out = "",
      err = "perflua: diff: --comm, --time: saved tables have no samples to choose from\n" },
      run.perflua { "diff", "--comm", "write", "--time", "10%", saved, saved })
  end)

  it("takes the shared options of tools", function()
    local out = diff("--sort", "comm", "--comm", "parse", a, b)
    assert.matches("parse", out)
    assert.not_matches("solve", out)
    assert.matches("corrected for 1 row that was tested", out)
    out = diff("--sort", "comm", "--time", "99.5%-100%", a, b)
    assert.matches("too few samples %(%d+%)\n", out)
    assert.not_matches("tested", out)
    out = diff("--sort", "comm", "--match", "write=print", a,
      works.write { seed = 4, parts = { parse = 0.3, solve = 0.4, print = 0.29 } })
    assert.matches("print +8%d%dM .* slower", out)
  end)

  describe("--flame", function()
    -- Two paths of a program, of which one is slower, and one has nothing to do with it.
    local function chains(seed, slow, container)
      local made = builder.new { container = container }
      local event = made:event { name = "cpu-clock", type = 1, config = 0,
        sample_type = { "ip", "tid", "time", "period", "callchain" } }
      made:record("comm", { pid = 1, tid = 1, comm = "a;b<" }, { pid = 1, tid = 1, time = 1 })
      for i, name in ipairs { "main", "parse", "solve", "copy" } do
        made:record("ksymbol", { addr = 0x1000 * i, len = 0x1000, ksym_type = 1, name = name },
          { pid = 1, tid = 1, time = 1 })
      end
      math.randomseed(seed)
      for ms = 1, 4000 do
        local at = math.random()
        local chain = at < 0.3 and { 0x2001, 0x1001 } or at < 0.6 and { 0x4001, 0x3001, 0x1001 }
          or at < 0.6 + slow and { 0x4001, 0x2001, 0x1001 } or nil
        if chain then
          made:sample(event, { ip = chain[1], pid = 1, tid = 1, time = ms * 1000000,
            period = 1000000, misc = 1, callchain = { -128, table.unpack(chain) } })
        end
      end
      return made:write()
    end

    -- The frames of the page: name → { kind, before, after, verdict } by path.
    local function frames_of(svg)
      local data = svg:match "<metadata>(.-)</metadata>"
      local function list(name) return data:match('"' .. name .. '":%[(.-)%]') end
      local names, verdicts, numbers, changes = {}, {}, {}, {}
      for one in list("names"):gmatch '"(.-)"' do names[#names + 1] = one end
      for one in list("verdicts"):gmatch '"(.-)"' do verdicts[#verdicts + 1] = one end
      for one in list("frames"):gmatch "[^,%s]+" do numbers[#numbers + 1] = tonumber(one) end
      for one in list("changes"):gmatch "[^,%s]+" do changes[#changes + 1] = tonumber(one) end
      local frames, path, depth = {}, {}, -1
      for i = 0, #changes // 4 - 1 do
        depth = depth + numbers[4 * i + 1]
        path[depth] = names[(numbers[4 * i + 2] >> 3) + 1]
        frames[table.concat(path, " ", 0, depth)] = { numbers[4 * i + 2] & 7,
          changes[4 * i + 1], changes[4 * i + 2], verdicts[changes[4 * i + 3] + 1],
          changes[4 * i + 4] }
      end
      return frames
    end

    it("is an HTML page with a policy after a name that ends so", function()
      local path = files.temporary() .. ".html"
      diff("--flame", path, chains(1, 0.1), chains(2, 0.1))
      local page = files.read(path)
      os.remove(path)
      assert.matches("^<!DOCTYPE html>.*Content%-Security%-Policy.*<svg ", page)
    end)

    it("prints the table beside a graph that is a file", function()
      local path = files.temporary()
      local first, second = chains(1, 0.1), chains(2, 0.3)
      for _, options in ipairs { {}, { "--csv", "--sort", "symbol" }, { "--json" },
          { "--count", "1" } } do
        local words = table.move(options, 1, #options, 1, {})
        words[#words + 1], words[#words + 2] = first, second
        local table_alone, notes = diff(table.unpack(words))
        assert.same({ table_alone, notes }, { diff("--flame", path, table.unpack(words)) })
        assert.matches("^<svg ", files.read(path))
      end
      local got = run.shell_with([[cat "$1" | "$perflua" diff --flame "$2" - "$3"]],
        chains(1, 0.1, "pipe"), path, second)
      assert.same({ "", "perflua: diff: no table: the graph has read a stream, which can be "
        .. "read only once\n" }, { got.out, got.err })
      assert.matches("^<svg ", files.read(path))
      os.remove(path)
    end)

    it("has shades by the size of the change", function()
      local frames = frames_of(diff("--flame", "-", chains(1, 0.1), chains(2, 0.3)))
      local largest = 0
      for _, frame in pairs(frames) do
        if frame[1] ~= 0 then largest = math.max(largest, math.abs(frame[3] - frame[2])) end
      end
      local n = 0
      for path, frame in pairs(frames) do
        if frame[1] ~= 0 then
          n = n + 1
          local share = math.abs(frame[3] - frame[2]) / largest
          assert.is_true(math.abs(frame[5] - 7 * share) <= 0.5, path)
        end
      end
      assert.is_true(n >= 3)
    end)

    it("draws one event, and names the others", function()
      local _, err = diff("--flame", "-", run.demo, run.demo)
      assert.equal("perflua: diff: using samples of cpu-clock; --event selects another: "
        .. "page-faults, context-switches\n", err)
      _, err = diff("--flame", "-", "--event", "page-faults", run.demo, run.demo)
      assert.equal("", err)
    end)

    it("colours the frames that changed, and leaves those of noise grey", function()
      local first, second = chains(1, 0.1), chains(2, 0.3)
      local svg = diff("--flame", "-", first, second)
      local frames = frames_of(svg)
      local main = "all a:b\\u003c main "
      local slow, same = frames[main .. "parse copy"], frames[main .. "solve"]
      assert.same({ 6, "slower" }, { slow[1], slow[4] })
      assert.is_true(slow[2] > 3.4e8 and slow[2] < 4.6e8 and slow[3] > 1.1e9)
      assert.same({ 0, "noise" }, { same[1], same[4] })
      local whole = frames["all"]
      local function total(path)
        return assert(perflua.open(path)):samples():sum("period")
      end
      assert.same({ total(first), total(second) }, { whole[2], whole[3] })
      assert.matches("Differential flame graph", svg, 1, true)
      local heading = svg:match 'id="title"[^>]*>(.-)</text>'
      local before, after = whole[2] / 1e9, whole[3] / 1e9
      assert.equal(("%s, %.2fs → %s, %.2fs (%+.1f %%)"):format(first:match "[^/]*$", before,
        second:match "[^/]*$", after, 100 * (after / before - 1)), heading)
      local back = frames_of(diff("--flame", "-", second, first))[main .. "parse copy"]
      assert.same({ 7, "faster" }, { back[1], back[4] })
    end)
  end)

  it("says how many runs find a change", function()
    local out = diff("--plan", "10%", "--sort", "comm", "--csv", table.unpack(more))
    local few = math.tointeger(tonumber(out:match "solve,[^\n]*,(%d+)\n"))
    out = diff("--plan", "2%", "--sort", "comm", "--csv", table.unpack(more))
    local many = math.tointeger(tonumber(out:match "solve,[^\n]*,(%d+)\n"))
    assert.is_true(few >= 2 and many > few, ("%s and %s runs"):format(few, many))
    -- longer runs do not help against the drift from run to run
    assert.matches("^comm,period,spread_percent,longer,runs\n", out)
    assert.matches("solve,[%d.]+,[%d.]+,,%d+\n", out)
    out = diff("--plan", "10%", "--sort", "comm", "--csv", table.unpack(more))
    local longer = tonumber(out:match "write,[%d.]+,[%d.]+,([%d.]+),%d+\n")
    assert.is_true(longer > 1 and longer < 1000)
    fails(1, "2 runs are too few: at least 3 show how much runs vary", "--plan", "2%",
      more[1], more[2])
    fails(1, "1 run is too few", "--plan", "2%", more[1])
  end)

  it("says which samples it did not count", function()
    local made = builder.new()
    local event = made:event { name = "cpu-clock", type = 1, config = 0,
      sample_type = { "ip", "tid", "time", "period" } }
    made:record("comm", { pid = 1, tid = 1, comm = "parse" }, { pid = 1, tid = 1, time = 1 })
    for ms = 1, 1000 do
      made:sample(event, { ip = 1, pid = 1, tid = 1, time = ms * 1000000,
        period = ms == 500 and 1 << 60 or 1000000 })
    end
    local out = diff("--sort", "comm", a, made:write())
    assert.matches("# after: 1 sample was not counted: a period of 2^56 or more is damage", out,
      1, true)
    assert.matches("parse +1%.17G +999M ", out)
  end)

  it("says that there are no samples, as the report does", function()
    local made = builder.new()
    made:event { name = "cpu-clock", type = 1, config = 0, sample_type = { "tid", "time" } }
    made:record("comm", { pid = 1, tid = 1, comm = "x" }, { pid = 1, tid = 1, time = 1 })
    local none = made:write()
    assert.equal("# no samples\n", (diff(none, none)))
    assert.equal("# no samples\n", (diff(none, none, none, "--", none)))
    assert.equal('{"notes":["no samples"],"rows":[]\n}\n', (diff("--json", none, none)))
    assert.equal("comm,dso,symbol,before,after,delta,low,high,verdict\n",
      (diff("--csv", none, none)))
    assert.equal("# no samples\n", (diff("--plan", "5%", none, none, none)))
    local svg, err = diff("--flame", "-", none, none)
    assert.matches("^<svg .*</svg>\n$", svg)
    assert.equal("perflua: diff: no samples\n", err)
    assert.equal("# no samples that the options choose: no thread is named 'nobody'\n",
      (diff("--comm", "nobody", a, b)))
    fails(1, "after is empty: no record was read from", "--sort", "comm", a, none)
    fails(2, "unknown field 'commm'", "--sort", "commm", none, none)
  end)

  it("refuses what it does not understand", function()
    fails(2, "1 recording is named: BEFORE and AFTER", a)
    fails(2, "3 recordings are named", a, b, a)
    fails(2, "no recording after %-%-", a, "--")
    fails(2, "no recording before %-%-", "--", a)
    fails(2, "standard input is one recording, which can be read only once", "-", "-")
    fails(2, "%-%-per: share, second or event:NAME expected, got 'hour'", "--per", "hour", a, b)
    fails(2, "%-%-match: FROM=TO expected, got 'x'", "--match", "x", a, b)
    fails(2, "%-%-plan: a percentage expected", "--plan", "0", a, b, a)
    fails(2, "%-%-plan and %-%-per exclude each other", "--plan", "5%", "--per", "share", a, b,
      a)
    fails(2, "%-%-plan takes equal runs, without %-%-", "--plan", "5%", a, "--", b, a)
    fails(2, "%-%-flame %- and %-%-sort exclude", "--flame", "-", "--sort", "comm", a, b)
    fails(2, "%-%-csv and %-%-json", "--csv", "--json", a, b)
    fails(2, "^perflua: diff: %-%-sort: unknown field 'commm'; the closest is 'comm'", "--sort",
      "commm", a, b)
    fails(2, "^perflua: diff: %-%-where: filter", "--where", "commm == 1", a, b)
    fails(1, "No such file", a, a .. ".no")
    fails(1, "no common event", "--sort", "comm", a,
      works.write { seed = 1, parts = PARTS, event = "cycles" })
  end)

  needs.it("perf", "has the deltas of perf diff", function()
    local got = run.shell_with([[perf diff -f -s comm "$1" "$2" 2>/dev/null]], a, b)
    local ours, n = {}, 0
    for comm, before, delta in diff("--per", "share", "--sort", "comm", "--csv", a, b)
      :gmatch "(%w+),([%d.]+),[%d.]+,([-%d.]+)," do
      ours[comm] = { before = ("%.2f"):format(before), delta = ("%+.2f"):format(delta) }
    end
    for before, delta, comm in got.out:gmatch "([%d.]+)%% +([-+][%d.]+)%% +(%w+)" do
      assert.same(ours[comm], { before = before, delta = delta }, comm)
      n = n + 1
    end
    assert.equal(3, n, got.out)
  end)

  needs.it("record", "has the deltas of functions that perf diff has", function()
    local paths = { files.temporary(), files.temporary() }
    for i, path in ipairs(paths) do
      assert.equal(0, run.shell_with(([[perf record -q --no-bpf-event -e cpu-clock:u -o "$1" sh -c \
        'i=0; while [ $i -lt %d00000 ]; do i=$((i+1)); done' >/dev/null 2>&1]]):format(i + 1),
        path).status)
    end
    local ours = {}
    for symbol, delta in diff("--per", "share", "--sort", "symbol", "--csv", paths[1],
      paths[2]):gmatch "([%w_]+),[%d.]+,[%d.]+,([-%d.]+)," do
      ours[symbol] = ("%+.2f"):format(delta)
    end
    local got, n = run.shell_with([[perf diff -f -s sym "$1" "$2" 2>/dev/null]], paths[1],
      paths[2]), 0
    for delta, symbol in got.out:gmatch "[%d.]+%% +([-+][%d.]+)%% +%[[.k]%] ([%a_][%w_]*)\n" do
      assert.equal(ours[symbol], delta, symbol)
      n = n + 1
    end
    assert.is_true(n > 0 or next(ours) == nil, got.out)
  end)
end)
