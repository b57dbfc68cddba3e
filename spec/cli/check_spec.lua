-- perflua check: expectations of recordings, their exit statuses and forms.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local switches = require "spec.support.builder_tracing"
local builder = require "spec.support.builder"

-- Recordings of functions are made of maps of a perf map file's kind: here, of kernel symbols.
local function recording(seed, parts, seconds)
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1, config = 0,
    sample_type = { "ip", "tid", "time", "period", "callchain" } }
  local id = { pid = 1, tid = 1, time = 1 }
  b:record("comm", { pid = 1, tid = 1, comm = "work" }, id)
  for i, part in ipairs(parts) do
    if part[1] then
      b:record("ksymbol", { addr = 0x1000 * i, len = 0x1000, ksym_type = 1, name = part[1] },
        id)
    end
  end
  math.randomseed(seed)
  for ms = 1, 1000 * (seconds or 4) do
    local left = math.random()
    for i, part in ipairs(parts) do
      left = left - part[2]
      if left < 0 then
        local ip = 0x1000 * i + 8
        b:sample(event, { ip = ip, pid = 1, tid = 1, time = ms * 1000000, period = 1000000,
          misc = 1, callchain = { -128, ip, 0x1008 } })
        break
      end
    end
  end
  return b:write()
end

local PARTS = { { "main", 0.1 }, { "parse", 0.3 }, { "solve", 0.5 } }
local SLOWER = { { "main", 0.1 }, { "parse", 0.39 }, { "solve", 0.5 } }

local function check(spec, ...)
  local path = files.temporary(spec)
  local got = run.perflua { "check", path, ... }
  got.path = path
  return got
end

describe("perflua check", function()
  local path, slower, runs, slow_runs

  setup(function()
    path, slower = recording(1, PARTS), recording(2, SLOWER)
    runs, slow_runs = {}, {}
    for i = 1, 3 do
      runs[i], slow_runs[i] = recording(10 + i, PARTS, 2), recording(20 + i, SLOWER, 2)
    end
  end)

  it("says what holds, with status 0", function()
    local got = check([[
      expect(share "parse"):below "40 %"
      expect(share "parse"):above "30 %"
      expect(share "gone"):below_or_absent "1 %"
      expect(children "main"):above "99 %"
      expect(lost()):below "1 %"
      expect(samples()):above(3000)
      expect(number("samples of solve", function(file)
        return file:samples():where "symbol == 'solve'":count()
      end)):above(1000)]], path)
    assert.equal(0, got.status, got.out .. got.err)
    assert.matches("^ok +share of parse is below 40 %%: 3%d%.%d %% %(3%d%.?%d* to 3%d", got.out)
    assert.matches("share of gone is absent or below 1 %%: 0 %% %(0 to 0.106%), "
      .. "no recording has a function of this name\n", got.out)
    assert.matches("# 7 expectations: 7 ok, 0 failed, 0 cannot be told\n$", got.out)
  end)

  it("writes numbers in three digits, or up to the point", function()
    for value, text in pairs { ["12.34"] = "12.3", ["999.7"] = "1000", ["1234.6"] = "1235" } do
      local spec = "expect(number('x', function() return %s end)):above(1)"
      local got = check(spec:format(value), path)
      assert.matches("x is above 1: " .. text .. "\n", got.out, 1, true)
    end
  end)

  it("fails with status 1, also if something else cannot be told", function()
    local got = check([[
      expect(share "parse"):below "5 %"
      expect(share "parse"):below "33.3 %"
      expect(share "solve"):above "5 %"]], path)
    assert.equal(1, got.status)
    assert.matches("FAILED +share of parse is below 5 %%: 3", got.out)
    assert.matches("cannot tell +share of parse is below 33.3 %%", got.out)
    assert.matches("# 3 expectations: 1 ok, 1 failed, 1 cannot be told\n$", got.out)
  end)

  it("has status 4 if something cannot be told", function()
    local got = check([[expect(share "parse"):below "33.3 %"]], path)
    assert.equal(4, got.status)
    assert.matches("^cannot tell +share of parse is below 33.3 %%: 3%d", got.out)
    got = check([[expect(p99 "syscall read"):below "2 ms"]], path)
    assert.equal(1, got.status)
    assert.matches("has neither raw_syscalls:sys_enter nor syscalls:sys_enter_read", got.err)
  end)

  it("cannot tell that a function is below a limit if no recording has it", function()
    local got = check([[
      expect(share "prase"):below "5 %"
      expect(children "zzz"):below "5 %"
      expect(share "zzz"):below_or_absent "5 %"]], path)
    assert.equal(4, got.status)
    assert.matches("^cannot tell +share of prase is below 5 %%: 0 %% %(0 to [%d.]+%), no "
      .. "recording has a function of this name; the closest is 'parse'\n", got.out)
    assert.matches("\ncannot tell +share of zzz and its callees is below 5 %%: [^\n]*, no "
      .. "recording has a function of this name\nok +share of zzz is absent", got.out)
    got = check([[expect(share "zzz"):above "5 %"]], path)
    assert.equal(1, got.status)
    got = check([[expect(lost()):below_or_absent "5 %"]], path)
    assert.equal(2, got.status)
    assert.matches("below_or_absent%(%) is expected of share%(…%) or children%(…%), not of "
      .. "share of lost samples", got.err)
  end)

  it("cannot tell a share from few samples, also if all of them are of the function", function()
    -- bounds of Wilson's score interval: n / (n + 1.96²), and 1.96² / (n + 1.96²)
    local few = recording(4, { { "main", 0 }, { "parse", 1 } }, 0.004)
    local got = check([[
      expect(share "parse"):above "60 %"
      expect(share "parse"):above "50 %"
      expect(share "main"):below "40 %"
      expect(share "main"):below "49 %"]], few)
    assert.equal("cannot tell  share of parse is above 60 %: 100 % (51 to 100)\n"
      .. "ok           share of parse is above 50 %: 100 % (51 to 100)\n"
      .. "cannot tell  share of main is below 40 %: 0 % (0 to 49), none of its samples\n"
      .. "ok           share of main is below 49 %: 0 % (0 to 49), none of its samples\n",
      (got.out:gsub("#[^\n]*\n", "")))
  end)

  it("takes a function for known that is a caller only, or is in the baseline", function()
    local caller = recording(3, { { "main", 0 }, { "parse", 1 } })
    local got = check([[expect(share "main"):below "5 %"]], caller)
    assert.equal(0, got.status, got.out .. got.err)
    assert.matches("none of its samples\n", got.out)
    local spec = [[expect(share "solve"):below "5 %"]]
    assert.equal(4, check(spec, caller).status)
    assert.equal(0, check(spec, caller, "--baseline", path).status)
  end)

  it("compares with a baseline", function()
    local spec = [[expect(change "parse"):not_slower()]]
    local got = check(spec, path, "--baseline", path)
    assert.equal(0, got.status, got.out .. got.err)
    got = check(spec, slower, "--baseline", path)
    assert.equal(1, got.status, got.out .. got.err)
    assert.matches("FAILED +parse is not slower: [23]%d%.?%d* %% %(", got.out)
    got = check([[expect(change "parse"):faster()]], path, "--baseline", slower)
    assert.equal(0, got.status, got.out .. got.err)
    got = check([[
      expect(change "parse"):not_slower "80 %"
      expect(change "parse"):above "5 %"
      expect(change "solve"):not_slower "20 %"]], slow_runs[1], slow_runs[2], slow_runs[3],
      "--baseline", runs[1], runs[2], runs[3])
    assert.equal(0, got.status, got.out .. got.err)
    got = check([[expect(change "none"):not_slower()]], path, "--baseline", path)
    assert.equal(4, got.status)
    assert.matches("none of its samples", got.out)
    got = check(spec, path)
    assert.equal(2, got.status)
    assert.matches("^perflua: check: %S+ is about changes, and no recording to compare with is "
      .. "named: %-%-baseline REC", got.err)
  end)

  it("cannot tell of a function that is gone, unless the spec accepts that", function()
    local renamed = { { "main", 0.1 }, { "parse2", 0.3 }, { "solve", 0.5 } }
    local without, three = recording(3, renamed), {}
    for i = 1, 3 do three[i] = recording(30 + i, renamed, 2) end
    local spec = [[
      expect(change "parse"):not_slower()
      expect(change "parse"):not_slower "5 %"
      expect(change "parse"):faster()
      expect(change "parse"):above "-200 %"]]
    for _, got in ipairs { check(spec, without, "--baseline", path), check(spec, three[1],
      three[2], three[3], "--baseline", runs[1], runs[2], runs[3]) } do
      assert.equal(4, got.status, got.out .. got.err)
      assert.matches("\ncannot tell  parse is faster: %-100 %% %(%-100 to %-%d[%d.]+%), gone, "
        .. "or renamed; the closest is 'parse2' %(:or_gone%(%) accepts that%)\n", got.out)
      assert.matches("0 ok, 0 failed, 4 cannot be told", got.out)
    end
    local got = check(spec:gsub("[^\n]+", "%0:or_gone()"), without, "--baseline", path)
    assert.equal(0, got.status, got.out .. got.err)
    assert.matches("ok           parse is not slower, or is gone: %-100 %%", got.out)
  end)

  it("cannot tell of a function that few samples had, also if it may be gone", function()
    local rare = recording(5, { { "main", 0.3 }, { "parse", 0.002 } })
    local got = check([[expect(change "parse"):faster():or_gone()]],
      recording(6, { { "main", 0.3 }, { "other", 0.002 } }), "--baseline", rare)
    assert.equal(4, got.status, got.out .. got.err)
  end)

  it("cannot tell of a function that has no name on a side", function()
    local nameless = recording(7, { { "main", 0.1 }, { nil, 0.3 }, { "solve", 0.5 } })
    local spec = [[expect(change "parse"):not_slower():or_gone()]]
    for _, got in ipairs { check(spec, nameless, "--baseline", path),
      check(spec, path, "--baseline", nameless) } do
      assert.equal(4, got.status, got.out .. got.err)
      assert.matches("^cannot tell  parse is not slower, or is gone: no symbols: samples of "
        .. "one side have no function, see perflua diff\n", got.out)
    end
  end)

  it("writes TAP and JUnit XML", function()
    local spec = [[
      expect(share "parse"):below "5 %"
      expect(share "parse"):below "33.3 %"
      expect(share "a<b#c"):below_or_absent "5 %"]]
    local tap = check(spec, "--tap", path)
    assert.equal(1, tap.status)
    assert.matches("^TAP version 13\n1%.%.3\nnot ok 1 %- share of parse is below 5 %%\n",
      tap.out)
    assert.matches("\nok 2 %- share of parse is below 33%.3 %% # SKIP cannot tell\n", tap.out)
    assert.matches("\nok 3 %- share of a<b\\#c is absent or below 5 %%\n", tap.out)
    local to = files.temporary()
    local junit = check(spec, "--junit", "-o", to, path)
    assert.equal(1, junit.status)
    local xml = files.read(to)
    assert.matches('<testsuite name="[^"]+" tests="3" failures="1" errors="1">', xml)
    assert.matches('<failure message="3[^"]*" type="below"/>', xml)
    local _, cases = xml:gsub('<testcase classname="[^"]+" name="[^"]+" time="%d+%.%d+">', "")
    assert.equal(3, cases)
    assert.matches('<error type="cannot tell" message="3', xml)
    assert.matches("share of a&lt;b#c is absent or below", xml)
  end)

  it("fails if the results cannot be written", function()
    for _, form in ipairs { {}, { "--tap" }, { "--junit" } } do
      local got = check([[expect(lost()):below "1 %"]], path, "-o", "/dev/full",
        table.unpack(form))
      assert.equal(1, got.status)
      assert.equal("perflua: /dev/full: No space left on device\n", got.err)
    end
  end)

  it("keeps its own functions from a spec that changes those of Lua", function()
    local got = check([[
      string.format, string.gsub, table.concat = nil, nil, nil
      expect(lost()):below "1 %"]], path)
    assert.equal(0, got.status, got.err)
  end)

  needs.it("xmllint", "writes XML that is well formed", function()
    local got = check([[expect(share "a<\"b&'\1'"):below "5 %"]], "--junit", path)
    assert.equal(0, run.shell_with('printf %s "$1" | xmllint --noout -', got.out).status)
  end)

  it("prints how the recordings are made", function()
    local got = check([[
      workload("./bench -x", "-F 99")
      runs(2)
      expect(change "parse"):not_slower()
      expect(children "parse"):below "9 %"
      expect(p99 "syscall read"):below "2 ms"]], "--record")
    assert.equal(0, got.status)
    local line = "perf record -g -e cycles -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit "
      .. "-F 99 -o %s%d.data -- ./bench -x\n"
    for _, name in ipairs { "baseline", "run" } do
      for i = 1, 2 do
        assert.truthy(got.out:find(line:format(name, i), 1, true), got.out)
      end
    end
    assert.matches("perflua check %S+ run1.data run2.data %-%-baseline baseline1.data "
      .. "baseline2.data\n$", got.out)
  end)

  it("quotes for a shell what it prints of a spec", function()
    local function lines(text)
      return check(text .. ' runs(1) expect(share "parse"):below "9 %"', "--record").out
    end
    local function command(workload, options)
      return lines(("workload(%q, %q)"):format(workload, options)):match "^[^\n]*"
    end
    assert.equal([[perf record -F 99 -e 'a;touch made' -o run1.data -- ./bench 'a b' 'it'\''s']],
      command([[./bench 'a b' "it's"]], "-F 99 -e 'a;touch made'"))
    assert.equal("perf record '-F;' touch 'made$(x)' -o run1.data -- sh -c './a | ./b; ./c'",
      command("./a | ./b; ./c", "-F; touch made$(x)"))
    assert.equal("perf record -g -o run1.data -- sh -c 'N=3 ./bench'",
      command("N=3 ./bench", "-g"))
    local got = lines 'expect(share("parse", "x$(touch made)")):below "5 %"'
    assert.matches("-e 'x$(touch made)' ", got, 1, true)
    for _, text in ipairs { "a\nb", "a\27[2J" } do
      assert.matches("workload: one line without control characters expected",
        check(("workload(%q)"):format(text), "--record").err, 1, true)
    end
    assert.matches("workload: options of perf record expected, got",
      check("workload('a', {})", "--record").err, 1, true)
  end)

  it("refuses runs of which one did not record the event of the others", function()
    local works = require "spec.support.works"
    local got = check([[expect(share "parse"):below "40 %"]], path,
      works.write { seed = 1, parts = { parse = 0.3 }, event = "cycles" })
    assert.equal(1, got.status)
    assert.matches("share of parse: diff: .* has no event 'c%S+', which another run", got.err)
  end)

  it("measures times of system calls and of spans", function()
    local t = switches.new()
    local enter = t:event("raw_syscalls", "sys_enter", { fields = { { "long", "id" } } })
    local exit = t:event("raw_syscalls", "sys_exit", { fields = { { "long", "id" },
      { "long", "ret" } } })
    local b = builder.new()
    local parts = { "identifier", "tid", "time", "raw" }
    local events = {}
    for i, one in ipairs { enter, exit } do
      events[i] = b:event { name = one.system .. ":" .. one.name, type = 2, config = one.id,
        sample_type = parts, ids = { 10 + i } }
    end
    b:feature("tracing_data", t:bytes())
    b:feature("arch", "x86_64")
    for i = 1, 400 do
      local start = i * 10000000
      b:sample(events[1], { identifier = 11, pid = 1, tid = 1, time = start,
        raw = t:raw(enter, { id = 0 }) })
      b:sample(events[2], { identifier = 12, pid = 1, tid = 1, time = start + i * 10000,
        raw = t:raw(exit, { id = 0, ret = 1 }) })
    end
    local got = check([[
      expect(p50 "syscall read"):below "2.5 ms"
      expect(p50 "syscall read"):above "1.5 ms"
      expect(p90 { open = "raw_syscalls:sys_enter", close = "raw_syscalls:sys_exit",
        where = "syscall == 'read'" }):below "4 ms"
      expect(p99 "syscall read"):above "1 ms"
      expect(p999 "syscall read"):above "1 ms"
      expect(p999 "syscall read"):below "9 s"]], b:write())
    assert.equal(4, got.status, got.out .. got.err)
    assert.matches("p50 of syscall read is below 2.5 ms: 2%.?%d* ms %(1%.%d+ to 2%.%d+%)",
      got.out)
    assert.matches("ok +p999 of syscall read is above 1 ms: %S+ ms %(at least 3%.%d+%)",
      got.out)
    assert.matches("cannot tell +p999 of syscall read is below 9 s", got.out)
    assert.matches("# 6 expectations: 5 ok, 0 failed, 1 cannot be told", got.out)
  end)

  it("refuses a wrong spec with status 2, at its line", function()
    local function wrong(pattern, spec, ...)
      local got = check(spec, path, ...)
      assert.equal(2, got.status, got.out)
      assert.matches(pattern, got.err)
    end
    wrong(":1: .*no word 'expct'; the closest is 'expect'", "expct(1)")
    wrong(":1: a percentage such as .* expected, got '1.2.3 %%'",
      [[expect(share "parse"):below "1.2.3 %"]])
    wrong("^perflua: [^:]+: %(error object is a table value%)\n$", "error {}")
    wrong("^perflua: [^:]+: attempt to load a binary chunk", "\27Lua")
    wrong(":2: expect: a quantity such as .* expected, got a number", "\nexpect(1):below(2)")
    wrong(":1: a percentage such as \"5 %%\" expected, got '5 ms'",
      [[expect(share "x"):below "5 ms"]])
    wrong(":1: a time such as \"2 ms\" expected, got a number",
      [[expect(p99 "syscall read"):below(2)]])
    wrong(":1: expect%(…%)%.below: write a colon, expect%(…%):below",
      [[expect(share "x").below "5 %"]])
    wrong(":1: expect%(…%) has no condition 'under': there are above, below, "
      .. "below_or_absent, faster, not", [[expect(share "x"):under "5 %"]])
    wrong(":1: not_slower%(%) is expected of change", [[expect(share "x"):not_slower()]])
    wrong("nothing is expected of share of x", [[expect(share "x")]])
    wrong(":1: or_gone%(%) is expected of change%(…%), not of share of x",
      [[expect(share "x"):below "1 %":or_gone()]])
    wrong(":1: or_gone: write a colon", [[expect(change "x"):faster().or_gone()]])
    wrong("the spec expects nothing", "")
    wrong("no word 'io'", [[io.open("/etc/passwd")]])
    wrong("exclude each other", [[expect(share "x"):below "1 %"]], "--tap", "--junit")
    assert.equal(2, run.perflua { "check", "/no/such/spec.lua", path }.status)
    assert.equal(2, check([[expect(share "x"):below "1 %"]]).status)
    local got = run.perflua { "check", path, files.temporary "" }
    assert.equal(("perflua: check: %s is a recording, and the spec comes first\n"):format(path),
      got.err)
  end)

  it("names the line of a function of the spec that fails", function()
    local got = check('\nexpect(number("n", function() error "no" end)):below(3)', path)
    assert.same({ ("perflua: n: %s:2: no\n"):format(got.path), 1 }, { got.err, got.status })
  end)

  it("writes no file for a spec, on any of the ways to one", function()
    local dir = files.output "mktemp -d":match "%S+"
    files.output("ln -s nowhere " .. dir .. "/link")
    for _, method in ipairs { "csv", "json", "save" } do
      for _, name in ipairs { "made", "link" } do
        local spec = [[expect(number("n", function(file)
          local t = file:samples():group_by("symbol"):count():table()
          t:%s("%s/%s")
        end)):above(0)]]
        local got = check(spec:format(method, dir, name), path)
        assert.same({ status = 1, out = "", path = got.path,
          err = ("perflua: n: %s:3: %s/%s: a performance spec writes no files\n"):format(
            got.path, dir, name) }, got)
      end
    end
    local caught = check(([[
      expect(number("n", function(file)
        local t = file:samples():group_by("symbol"):count():table()
        assert(not pcall(t.save, t, "%s/made"))
        return 1
      end)):above(0)
      expect(number("m", function(file)
        local lacks = 0
        for _, name in ipairs { "io", "os", "require", "load", "loadfile", "dofile", "debug",
            "package", "getmetatable", "setmetatable", "_G", "perflua", "coroutine" } do
          if not pcall(function() return _ENV[name] end) then lacks = lacks + 1 end
        end
        return lacks
      end)):above(12)]]):format(dir), "-o", dir .. "/results", path)
    assert.equal(0, caught.status, caught.err)
    assert.equal("link\nresults\n", files.output("ls " .. dir .. "; rm -r " .. dir))
  end)

  it("ends loops of a spec, also those that catch errors, at their line", function()
    local words = "ended after 1000 million instructions of Lua, the most that a spec may run "
      .. "at a time; a query counts and adds up without them\n"
    local function ended(spec, status, found)
      local spec_path = files.temporary(spec)
      local got = run.shell_with('timeout 120 "$perflua" check "$@"', spec_path, path)
      assert.same({ status = status, out = "",
        err = ("perflua: %s: %s"):format(found:format(spec_path), words) }, got)
    end
    ended([[expect(number("n", function(file)
      local function spin() while true do end end
      file:samples():where(function()
        while true do pcall(spin) end
      end):count()
    end)):above(0)]], 1, "n: %s:4")
    ended("while true do end", 2, "%s:1")
  end)

  it("says which event it took, and when it knows one run only", function()
    local demo = run.demo
    local event = "# cpu-clock is taken where no event is named; others with samples: "
      .. "page-faults, context-switches\n"
    local within = "# fewer than 3 runs: intervals are of the noise within a run, and other "
      .. "runs may differ more\n"
    local spec = [[expect(share "x"):below_or_absent "90 %"]]
    assert.equal(event .. within .. "# 1 expectation: 1 ok, 0 failed, 0 cannot be told\n",
      check(spec, demo).out:match "\n(#.*)$")
    assert.equal(event .. within, check(spec, "--tap", demo).out:match "\n(#.*)$")
    assert.matches("<system%-out>cpu%-clock is taken .*may differ more</system%-out>\n</tests",
      check(spec, "--junit", demo).out)
    assert.equal("# 1 expectation: 1 ok, 0 failed, 0 cannot be told\n",
      check([[expect(share("x", "cpu-clock")):below_or_absent "90 %"]], demo, demo,
        demo).out:match "\n(#.*)$")
    assert.equal(event .. "# 1 expectation: 1 ok, 0 failed, 0 cannot be told\n",
      check("expect(samples()):above(3)", demo).out:match "\n(#.*)$")
  end)
end)
