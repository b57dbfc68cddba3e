-- An interrupt (^C) of the core's work leaves a part of a result, which says so. The interrupt
-- comes from the run itself, at a known moment: in the middle of a loop, before names are read,
-- before a table is sorted.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local for_all_tools = require "spec.support.for_all_tools"
local INTERRUPT = require "spec.support.interrupting"
local run = require "spec.cli.run"
local traced = require "spec.support.traced"

local function interrupted(text, path, options)
  local got = run.perflua({ run.script(INTERRUPT .. text), path }, options)
  assert.equal(130, got.status, got.err)
  return got
end

-- Groups the demo's samples, and is interrupted at the 480th of 672; %s is what is done with
-- the Table.
local COUNTING = [[
  local n = 0
  local function count() n = n + 1 if n == 480 then interrupt() end return true end
  local t = perflua.open(arg[1]):samples():where(count):group_by("pid"):count():sort()
  %s]]

-- Interrupts a report when so many parts of its rows were handed on.
local WRITING = [[
  local core = require "perflua.core"
  local n, write = 0, core.view_write
  function core.view_write(format, out, ...)
    return write(format, function(text)
      n = n + 1
      if n == %d then interrupt() end
      out:write(text)
    end, ...)
  end]]

-- Values of addr from 1 to n, each of one sample, whose period is the same.
local function many_groups(n)
  local b = builder.new()
  local e = b:event { name = "cycles", sample_type = { "ip", "tid", "time", "addr", "period" } }
  for i = 1, n do b:sample(e, { ip = 1, pid = 7, time = i, addr = i, period = i }) end
  return b
end

-- A recording of two events, each with n groups by address.
local function two_events(n)
  local b = builder.new()
  for i, name in ipairs { "cycles", "instructions" } do
    local e = b:event { name = name, sample_type = { "identifier", "ip", "tid", "time", "addr",
      "period" }, ids = { i } }
    for k = 1, n do
      b:sample(e, { identifier = i, ip = 1, pid = 7, time = k, addr = k, period = k })
    end
  end
  return b:write()
end

-- Numbers of the rows of a text table, and its last line.
local function rows_of(text)
  local rows, last = {}, text:match "([^\n]*)\n$"
  for line in text:gmatch "[^\n]+" do
    local row = {}
    for word in line:gmatch "%S+" do
      row[#row + 1] = math.tointeger(tonumber(word)) or tonumber((word:gsub("%%$", "")))
    end
    if #row > 1 and not line:find "^interrupted" then rows[#rows + 1] = row end
  end
  return rows, last
end

describe("a table that was interrupted", function()
  it("has what was read until then, and says in its last line how far that was", function()
    local got = interrupted(COUNTING:format "print(t)", run.demo)
    local rows, last = rows_of(got.out)
    local percent = tonumber(last:match "^interrupted at (%d+) %% of the recording$")
    assert.equal("", got.err)
    assert.is_true(percent > 60 and percent < 80, last) -- records are of about one size
    local sum = 0
    for _, row in ipairs(rows) do sum = sum + row[2] end
    assert.equal(480, sum)
  end)

  it("has all rows if it was whole before it becomes text", function()
    local got = interrupted([[
      local t = perflua.open(arg[1]):samples():group_by("addr"):sum("period"):sort()
      interrupt()
      print(t)]], many_groups(5000):write())
    local rows, last = rows_of(got.out)
    assert.same({ 5000, 1, 1 }, { #rows, table.unpack(rows[5000]) })
    assert.not_matches("interrupted", last)
  end)

  it("says so beside CSV on standard error, and in the last element of JSON", function()
    local text = interrupted(COUNTING:format "print(t)", run.demo).out:match "([^\n]*)\n$"
    local got = interrupted(COUNTING:format "t:csv()", run.demo)
    assert.equal("# " .. text .. "\n", got.err)
    assert.not_matches("interrupted", got.out)
    got = interrupted(COUNTING:format "t:json()", run.demo)
    local list = dkjson.decode(got.out)
    assert.same({ interrupted = tonumber(text:match "%d+") / 100 }, list[#list])
    assert.equal("", got.err)
  end)

  it("is not saved, and marks what it is merged into", function()
    local path = files.temporary()
    os.remove(path)
    local got = interrupted(COUNTING:format(("print(t:save %q)"):format(path)), run.demo)
    assert.matches("^nil\tinterrupted at %d+ %% of the recording: not saved", got.out)
    assert.is_false(files.exists(path))
    got = interrupted(
      ("local whole = perflua.open(arg[1]):samples():where(function() return true end)"
      .. ":group_by('pid'):count():sort()\n" .. COUNTING):format "print(whole:merge(t))",
        run.demo)
    assert.matches("\ninterrupted at %d+ %% of the recording\n$", got.out)
  end)

  it("says nothing if it was whole before", function()
    local got = interrupted([[
      local t = perflua.open(arg[1]):samples():group_by("pid"):count():sort()
      interrupt()
      print(t)]], run.demo)
    assert.not_matches("interrupted", got.out .. got.err)
  end)

  it("is not made by a pass that begins later, which raises", function()
    for _, pass in ipairs { "q:count()", "q:group_by('pid'):count():sort()", "q:first()",
        "q:collect()", "q:where(function() return true end):count()",
        "file:run { sample = print }", "q:select('pid'):first()" } do
      local got = run.perflua { run.script(INTERRUPT .. ([[
        local file = perflua.open(arg[1])
        local q = file:samples()
        interrupt()
        print "goes on"
        %s]]):format(pass)), run.demo }
      assert.same({ 130, "goes on\n" }, { got.status, got.out }, pass)
      assert.matches("^perflua: interrupted\n$", got.err, pass)
    end
  end)

  it("is sorted and shown whole, with shares of all that was read", function()
    local n = 25000
    local path, all = many_groups(n):write(), n * (n + 1) // 2 -- periods are 1 … n
    local query = "local q = perflua.open(arg[1]):samples():group_by('addr'):sum('period')"
      .. "local t = q:as('sum'):share('period'):%s interrupt() print(t) print(#t)"
    for how, first in pairs { ["sort()"] = n, ["sort('sum', 'asc')"] = 1 } do
      local got = interrupted(query:format(how), path)
      local rows = rows_of(got.out)
      local step = first == 1 and 1 or -1
      assert.equal(n, #rows)
      for i, row in ipairs(rows) do
        local sum = first + step * (i - 1)
        if row[2] ~= sum then assert.equal(sum, row[2]) end
      end
      assert.near(100 * first / all, rows[1][3], 0.006)
      assert.matches("\n25000\n$", got.out)
    end
  end)

  it("ends to write rows when the interrupt comes meanwhile, after whole ones", function()
    local script = [[
      local t = perflua.open(arg[1]):samples():group_by("addr"):count():sort()
      local n = 0
      local out = { write = function(_, text)
        n = n + 1
        if n == 2 then interrupt() end
        io.write(text)
        return true
      end }
      t:%s(out)]]
    local path = many_groups(25000):write()
    local got = interrupted(script:format "csv", path)
    local n = tonumber(got.err:match "^# interrupted while writing: (%d+) of 25000 rows\n$")
    assert.is_true(n and n > 0 and n < 25000, got.err)
    assert.equal(n + 1, select(2, got.out:gsub("\n", "\n")))
    got = interrupted(script:format "json", path)
    n = tonumber(got.err:match "^# interrupted while writing: (%d+) of 25000 rows\n$")
    assert.equal(n, #dkjson.decode(got.out))
  end)

  it("has all groups of a stream that was read until then", function()
    local script = run.script [[
      io.stderr:write "ready\n"
      print(perflua.open(arg[1]):samples():group_by("addr"):sum("period"):share("period"):sort())]]
    local fifo, written, err = files.temporary(), files.temporary(), files.temporary()
    local b = many_groups(70000)
    b.container = "pipe"
    local got = run.shell_with(([[
      rm "$2" && mkfifo "$2"
      { cat "$1"; echo done >%s; exec sleep 300; } >"$2" & writer=$!
      "$perflua" "$3" "$2" 2>%s & pid=$!
      for i in $(seq 6000); do [ -s %s ] && break; sleep 0.05; done
      kill -INT $pid
      wait $pid; status=$?
      kill $writer
      exit $status]]):format(written, err, written), b:write(), fifo, script)
    assert.same({ 130, "ready\n" }, { got.status, files.read(err) })
    local rows, last = rows_of(got.out)
    local n = #rows -- periods are 1 … n
    assert.equal("interrupted before the end of the recording", last)
    assert.is_true(n > 50000, n)
    assert.same({ n, n - 999, 1 }, { rows[1][2], rows[1000][2], rows[n][2] })
    assert.near(100 * n / (n * (n + 1) / 2), rows[1][3], 0.006)
  end)
end)

describe("a tool that was interrupted", function()
  local LOCKS = { "lock:contention_begin", "lock:contention_end" }

  -- Waits for a lock, of which the 100th of 400 interrupts when it ends.
  local function locks(...)
    local rows = {}
    for i = 1, 400 do
      rows[#rows + 1] = { LOCKS[1], 10 * i, 7, 0, { lock_addr = 0x100, flags = 1 } }
      rows[#rows + 1] = { LOCKS[2], 10 * i + 5, 7, 0, { lock_addr = 0x100 } }
    end
    local hook = INTERRUPT .. [[
      local described, n = require "perflua.toolkit.described", 0
      local samples = described.samples
      function has_begun() n = n + 1 if n == 100 then interrupt() end return true end
      function described.samples(file)
        local made = samples(file)
        return made:where(made:lua "function(s) return not s.args.flags or has_begun() end")
      end]]
    local got = run.perflua { "-e", hook, "locks", "--by", "lock", ...,
      traced.write(LOCKS, rows) }
    assert.equal(130, got.status)
    return got
  end

  it("says so in its last line, in JSON, beside CSV on standard error", function()
    local got = locks "--sort=count"
    local percent = got.out:match "\n +100 [^\n]*\ninterrupted at (%d+) %% of the recording\n$"
    assert.is_truthy(percent, got.out)
    assert.equal("", got.err)
    percent = tonumber(percent)
    assert.is_true(percent >= 20 and percent < 90, percent) -- values are read ahead of the loop
    assert.equal(percent / 100, dkjson.decode(locks("--json").out).interrupted)
    got = locks "--csv"
    assert.not_matches("interrupted", got.out)
    assert.matches(("# interrupted at %d %% of the recording\n"):format(percent):gsub("%%",
      "%%%%"), got.err)
  end)

  local path = for_all_tools.builder(100):write()

  -- A tool on a recording that it must not read any more.
  local function at_once(words)
    return run.shell_with('"$perflua" -e "$2" ' .. words, path, INTERRUPT .. "interrupt()")
  end

  -- A tool that is interrupted while it waits for the rest of a stream, whose samples it has
  -- read.
  local function silenced(words)
    local fifo, written = files.temporary(), files.temporary()
    local b = many_groups(3000)
    b.container = "pipe"
    local got = run.shell_with(([[
      rm "$2" && mkfifo "$2"
      { cat "$1"; echo done >%s; exec sleep 300; } >"$2" & writer=$!
      "$perflua" %s <"$2" & pid=$!
      for i in $(seq 6000); do [ -s %s ] && break; sleep 0.05; done
      sleep 0.2
      kill -INT $pid
      wait $pid; status=$?
      kill $writer
      exit $status]]):format(written, words, written), b:write(), fifo)
    assert.equal(130, got.status, words)
    return got
  end

  it("says so in report, stat and doctor, as text, CSV and JSON", function()
    local place = "interrupted before the end of the recording"
    assert.matches("\n# " .. place .. "\n$", silenced("report --sort addr -").out)
    assert.equal("# " .. place .. "\n", silenced("report --sort addr --csv -").err)
    assert.is_true(dkjson.decode(silenced("report --sort addr --json -").out).interrupted)
    local stat = silenced("stat -").out
    assert.matches("\n" .. place .. "\n$", stat)
    assert.matches("\nsample +3000 ", stat)
    assert.is_true(dkjson.decode(silenced("stat --json -").out).interrupted)
    assert.matches("\n  " .. place .. "\n$", silenced("doctor -").out)
    assert.is_true(dkjson.decode(silenced("doctor --json -").out).interrupted)
  end)

  -- The addresses of the rows of `perflua report --sort addr`, and its last line.
  local function shown(text)
    local rows, last = {}, text:match "\n# ([^\n]*)\n$"
    for addr in text:gmatch "\n +[%d.]+%% +0x(%x+)" do rows[#rows + 1] = tonumber(addr, 16) end
    return rows, last
  end

  it("shows all rows of a report on the part that was read", function()
    local fifo, written = files.temporary(), files.temporary()
    local b = many_groups(70000)
    b.container = "pipe"
    local got = run.shell_with(([[
      rm "$2" && mkfifo "$2"
      { cat "$1"; echo done >%s; exec sleep 300; } >"$2" & writer=$!
      "$perflua" report --sort addr "$2" & pid=$!
      for i in $(seq 6000); do [ -s %s ] && break; sleep 0.05; done
      kill -INT $pid
      wait $pid; status=$?
      kill $writer
      exit $status]]):format(written, written), b:write(), fifo)
    assert.same({ 130, "" }, { got.status, got.err })
    local rows, last = shown(got.out)
    -- the interrupt may also come while the core puts the rows together
    assert.matches("^interrupted ", last)
    local n = #rows
    assert.is_true(n > 10000, n)
    assert.same({ n, n - 999, 1 }, { rows[1], rows[1000], rows[n] })
  end)

  it("writes a report whole if the interrupt came before", function()
    local hook = INTERRUPT .. [[
      local engine = require "perflua.plan.engine"
      local groups = engine.groups
      function engine.groups(...)
        local list, rows = groups(...)
        interrupt()
        return list, rows
      end]]
    local many = many_groups(25000):write()
    local function report(...)
      local got = run.perflua { "-e", hook, "report", "--sort", "addr", many, ... }
      assert.same({ 130, "" }, { got.status, got.err })
      return got.out
    end
    local rows = shown(report())
    assert.same({ 25000, 25000, 1 }, { #rows, rows[1], rows[25000] })
    assert.equal(25000, #dkjson.decode(report "--json").events[1].rows)
    assert.equal(25001, select(2, report "--csv":gsub("\n", "\n")))
  end)

  it("ends to write a report when the interrupt comes meanwhile, after whole rows", function()
    local hook = INTERRUPT .. WRITING:format(2)
    local many = many_groups(25000):write()
    for _, how in ipairs { "--csv", "--json" } do
      local got = run.perflua { "-e", hook, "report", "--sort", "addr", many, how }
      assert.equal(130, got.status)
      local n = tonumber(got.err:match "^# interrupted while writing: (%d+) of 25000 rows\n$")
      assert.is_true(n and n > 500 and n < 4000, got.err)
      if how == "--json" then
        assert.equal(n, #dkjson.decode(got.out).events[1].rows)
      else
        assert.equal(n + 1, select(2, got.out:gsub("\n", "\n")))
      end
    end
  end)

  it("writes the rows of a report that were measured when the interrupt comes", function()
    local hook = INTERRUPT .. [[
      local core = require "perflua.core"
      local n, lines = 0, core.report_lines
      function core.report_lines(view, from, to, columns, out)
        if %s then n = n + 1 end
        if n == 2 then n = 3 interrupt() end
        return lines(view, from, to, columns, out)
      end]]
    local many = two_events(3000)
    for _, when in ipairs { "not out", "out" } do
      local got = run.perflua { "-e", hook:format(when), "report", "--sort", "addr", many }
      assert.same({ 130, "" }, { got.status, got.err })
      local n = tonumber(got.out:match "# interrupted while writing: (%d+) of 6000 rows\n$")
      assert.is_true(n and n > 0 and n < 3000, got.out:sub(-200))
      assert.equal(n, #shown(got.out))
      assert.equal(2, select(2, got.out:gsub("# Event count: ", "")))
    end
    local got = run.perflua { "-e", (hook:gsub("%%s", "false")), "report", "--sort", "addr",
      many }
    assert.same({ 0, 6000 }, { got.status, #shown(got.out) })
  end)

  it("counts the rows of all events of a report that the interrupt left out", function()
    local hook = INTERRUPT .. WRITING:format(2)
    local many = two_events(3000)
    for _, how in ipairs { "--csv", "--json" } do
      local got = run.perflua { "-e", hook, "report", "--sort", "addr", many, how }
      assert.equal(130, got.status)
      local n = tonumber(got.err:match "^# interrupted while writing: (%d+) of 6000 rows\n$")
      assert.is_true(n and n > 0 and n < 3000, got.err)
      if how == "--json" then
        local events = dkjson.decode(got.out).events
        assert.same({ n, 0 }, { #events[1].rows, #events[2].rows })
      else
        assert.equal(n + 1, select(2, got.out:gsub("\n", "\n")))
      end
    end
  end)

  it("has no result if no pass has begun", function()
    for _, words in ipairs { 'stat "$1"', 'doctor "$1"', 'report --sort addr "$1"',
        'report --sort addr --csv "$1"', 'dump "$1"', 'dump --json "$1"' } do
      local err = ("perflua: %s: interrupted\n"):format(words:match "%l+")
      assert.same({ status = 130, out = "", err = err }, at_once(words), words)
    end
  end)

  it("has no result where names were not read", function()
    for _, words in ipairs { 'report "$1"', 'script "$1"', 'fold "$1"', 'dump --names "$1"',
        'sched "$1"' } do
      local got = at_once(words)
      assert.same({ 130, "" }, { got.status, got.out }, words)
      assert.matches(("^perflua: %s: [^\n]*interrupted[^\n]*\n$"):format(words:match "%l+"),
        got.err)
    end
  end)
end)

describe("an interrupt of the doctor before names are read", function()
  it("leaves what the records say", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x1000, len = 0x1000, prot = 5, flags = 2,
      filename = "/nowhere/a", misc = 2 }, { pid = 7, tid = 7, time = 1 })
    b:sample(event, { ip = 0x1010, pid = 7, tid = 7, time = 2, misc = 2 })
    local path = b:write()
    local text = [[
      local core = require "perflua.core"
      local health = core.health
      function core.health(file)
        local found = health(file)
        interrupt()
        return found
      end
      local tools = require "perflua.tools"
      tools.run("doctor", tools.find "doctor", { arg[1], json = %s }, io.stdout)]]
    local got = interrupted(text:format "false", path)
    assert.equal("", got.err)
    assert.matches("\n  events     cycles 1\n", got.out, 1, true)
    assert.not_matches("/nowhere", got.out)
    assert.matches("\n  interrupted before the end of the recording\n$", got.out)
    local report = dkjson.decode(interrupted(text:format "true", path).out)
    assert.same({ true, {}, 1 }, { report.interrupted, report.sources, report.samples })
  end)
end)

describe("an interrupt while names are read", function()
  -- A system whose process 7 has functions made at run time, described by this text.
  local function jitted(text)
    local dir = files.directory {}
    local map = dir .. "/tmp/perf-7.map"
    os.execute("mkdir " .. dir .. "/tmp")
    files.write(map, text)
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    for pid = 7, 8 do
      b:record("comm", { pid = pid, tid = pid, comm = "task" .. pid }, { time = 1 })
      b:record("mmap2", { pid = pid, tid = pid, addr = 0x10000, len = 0x10000000, prot = 5,
        filename = "//anon" },
        { time = 2 })
    end
    for i = 1, 3 do
      b:sample(event, { ip = 0x10000 + 16 * i, pid = 7, tid = 7, time = 2 + i })
    end
    return b:write(), dir, function() os.execute("rm -r " .. dir) end
  end

  it("is an error without a result, as if nobody had asked", function()
    local path, dir, remove = jitted "10000 100 one\n"
    local got = run.shell_with(([[printf '%s\n' "$2" "$3" "$4" "$5" "$5" | "$perflua" -i -E]]),
      "",
      ("file = perflua.open(%q, { symfs = %q })"):format(path, dir),
      (INTERRUPT:gsub("local function", "function"):gsub("\n", " ")),
      "interrupt() print(file:thread(7))",
      "print(file:thread(7).comm, file:resolve(7, 0x10010).symbol)")
    remove()
    assert.equal(("perflua: %s: interrupted while reading names\n"):format(path), got.err)
    local _, times = got.out:gsub("task7\tone\n", "")
    assert.equal(2, times)
  end)

  it("ends the loading of symbols that takes long, which another line of the prompt can "
    .. "have", function()
    local lines = {}
    for i = 1, 3000 do lines[i] = ("%x 10 function%d\n"):format(0x10000 + 16 * i, i) end
    local text = table.concat(lines)
    local path, dir, remove = jitted(text:rep(100)) -- 300 000 symbols
    local got = run.shell_with([[printf '%s\n' "$2" "$3" "$4" "$5" "$6" | "$perflua" -i -E]],
      "",
      ("file = perflua.open(%q, { symfs = %q }) file:thread(7)"):format(path, dir),
      (INTERRUPT:gsub("local function", "function"):gsub("\n", " ")),
      -- the second begins with the first binary that is read
      "interrupt() file:resolve(8, 0x10010) local till = os.clock() + 1.1 "
        .. "while os.clock() < till do local _ = file.size end "
        .. "print(file:resolve(7, 0x10010).symbol)",
      "interrupt() print(file:resolve(8, 0x10010).symbol)", -- has none: nothing takes long
      "print(file:resolve(7, 0x10010).symbol)")
    remove()
    assert.equal(("perflua: %s: interrupted while reading names\n"):format(path), got.err)
    assert.matches("nil\n.*function1\n", got.out)
  end)

  it("goes on for a second, then leaves names out of a result, which says so", function()
    local path, dir, remove = jitted "10010 10 one\n"
    -- The second begins with the first binary that is read, which is that of process 8.
    local text = INTERRUPT .. [[
      local path, dir, seconds, form = table.unpack(arg)
      local file, n = require("perflua").open(path, { symfs = dir }), 0
      file:thread(7)
      local samples = file:samples():where(function()
        n = n + 1
        if n == 1 then
          interrupt()
          file:resolve(8, 0x10010)
          local till = os.clock() + seconds
          while os.clock() < till do local _ = file.size end
        end
        return true
      end)
      if form == "loop" then
        for _, symbol in samples:select("ip", "symbol") do print(symbol or "none") end
        return
      end
      local t = samples:group_by("symbol"):count():table()
      if form == "json" then t:json() else print(t) end]]
    for form, expected in pairs {
      text = { "^symbol  count\none +1\ninterrupted at %d+ %% of the recording\n$",
        "^symbol  count\n%- +1\ninterrupted at %d+ %% of the recording, before all names "
          .. "were read\n$" },
      json = { '"one","count":1}.*{"interrupted":[%d.]+}',
        'null,"count":1}.*{"interrupted":[%d.]+,"unnamed":true}' },
      loop = { "^one\n$", "^none\n$" },
    } do
      for i, seconds in ipairs { "0", "1.1" } do
        local got = run.perflua { run.script(text), path, dir, seconds, form }
        assert.same({ 130, "" }, { got.status, got.err })
        assert.matches(expected[i], got.out)
      end
    end
    remove()
  end)
end)
