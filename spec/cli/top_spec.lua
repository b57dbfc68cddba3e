-- perflua top: tables are those of report of the same samples; keys, on a terminal.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local function quote(path) return files.quote(path) end

-- Returns the last table of an output, without the lines above its head.
local function last_table(text)
  local at, from = 1, 1
  while at do
    at = text:find("\n# [^\n]*\n# [. ]+\n", from)
    if at then from = at + 1 end
  end
  return text:sub(from)
end

-- Writes a pipe's recording: what is sampled is fn(b, cycles).
local function stream(fn)
  local b = builder.new { container = "pipe" }
  local cycles = b:event { name = "cycles",
    sample_type = { "ip", "tid", "time", "period" } }
  b:record("comm", { pid = 7, tid = 7, comm = "first" }, { time = 1 })
  b:record("comm", { pid = 8, tid = 8, comm = "中文\27[2J" }, { time = 1 })
  fn(b, cycles)
  return b:write()
end

local function sample_twice(b, cycles)
  for i = 1, 30 do
    b:sample(cycles, { ip = 0x1000 + i % 2, pid = 7, tid = 7, time = 10 + i, period = 3 })
  end
  for i = 1, 10 do
    b:sample(cycles, { ip = 0x2000, pid = 8, tid = 8, time = 100 + i, period = 1 })
  end
  for i = 1, 3 do -- two rounds later they are due
    b:record("finished_round", {})
    b:record("comm", { pid = 9, tid = 9, comm = "later" }, { time = 200 + i })
  end
end

describe("perflua top", function()
  it("ends with the table of report, of a file and of a stream", function()
    local report = run.perflua { "report", run.demo }
    for _, from in ipairs { "<%s", "--sort comm,dso,symbol <%s", "--delay 50ms <%s" } do
      local got = run.shell(('"$perflua" top - ' .. from):format(quote(run.demo)))
      assert.equal("", got.err)
      assert.equal(0, got.status)
      assert.equal(last_table(report.out), last_table(got.out))
    end
    local path = stream(sample_twice)
    report = run.perflua { "report", path }
    local got = run.shell(('cat %s | "$perflua" top -'):format(quote(path)))
    assert.equal(last_table(report.out), last_table(got.out))
  end)

  it("takes the options of report", function()
    for _, options in ipairs { "--no-children", "--sort pid", "--sort dso --children",
      "--comm sort", "--count 3", "--where 'pid > 0' --sort tid" } do
      local report = run.shell(('"$perflua" report --percentage relative %s %s'):format(
        options == "--sort pid" and "--sort tgid" or options, quote(run.demo)))
      local got = run.shell(('"$perflua" top %s - <%s'):format(
        options == "--sort pid" and "--sort tgid" or options, quote(run.demo)))
      assert.equal(0, got.status, got.err)
      assert.equal(last_table(report.out), last_table(got.out), options)
    end
  end)

  it("puts what is beyond 100000 groups into [others], and counts all samples", function()
    local n = 100300
    local path = stream(function(b, cycles)
      for i = 1, n do
        b:sample(cycles, { ip = i, pid = 7, tid = 7, time = 10 + i, period = 1 })
      end
    end)
    local got = run.shell(('cat %s | "$perflua" top -d 50ms --sort comm,ip --no-children -')
      :format(quote(path)))
    assert.equal("", got.err) -- keys are looked at while the table is made
    assert.truthy(got.out:find("# 100300 samples of event 'cycles'", 1, true))
    local rows = select(2, last_table(got.out):gsub("\n +[%d.]+%%", ""))
    assert.equal(100001, rows)
    assert.truthy(last_table(got.out):find "\n +0.30%%  %[others%]")
  end)

  it("prints a table each interval, until the stream ends", function()
    local path = stream(sample_twice)
    local got = run.shell(('{ cat %s; sleep 1; } | "$perflua" top --delay 200ms -')
      :format(quote(path)))
    local n = select(2, got.out:gsub("# 40 samples of event 'cycles'", ""))
    assert.is_true(n >= 3, got.out)
  end)

  it("names all rows of the last table, whatever became of the tables before it", function()
    local path = stream(function(b, cycles)
      for i = 1, 3000 do
        b:record("comm", { pid = i, tid = i, comm = ("thread-%d"):format(i) }, { time = i })
        b:sample(cycles, { ip = i, pid = i, tid = i, time = i, period = 1 })
      end
    end)
    local got = run.shell(([[for part in 0 1 2 3 4 5 6 7 8 9; do
      tail -c +$((part * 40000 + 1)) %s | head -c 40000; sleep 0.1
    done | cat - | "$perflua" top -d 50ms --sort comm -]]):format(quote(path)))
    assert.equal(0, got.status, got.err)
    local named = select(2, last_table(got.out):gsub("%%  thread%-%d+", ""))
    assert.equal(3000, named, got.err)
  end)

  it("says what is wrong with its words", function()
    for words, message in pairs {
      ["FILE"] = "'FILE' is neither - nor a command after --",
      ["--"] = "a command is missing",
      ["-a -"] = "-a, -F, -g, -p and -t are for recording",
      ["--delay=1ms -"] = "-d: '1ms' is not a time of 50ms or more",
      ["--count x -"] = "--count: a number of rows expected, got x",
      ["--children --no-children -"] = "exclude each other",
    } do
      local got = run.shell(('"$perflua" top %s </dev/null'):format(words))
      assert.equal(2, got.status, words)
      assert.truthy(got.err:find(message, 1, true), got.err)
    end
    assert.equal(2, run.shell('"$perflua" top --sort nosuch - <' .. quote(run.demo)).status)
  end)

  it("says what is wrong with a stream, and shows what came before damage", function()
    local got = run.shell '"$perflua" top - </dev/null'
    assert.equal(1, got.status)
    assert.truthy(got.err:find "^perflua: ")
    local path = stream(sample_twice)
    local text = files.read(path)
    got = run.shell(('head -c %d %s | "$perflua" top -'):format(#text // 2, quote(path)))
    assert.truthy(got.out:find("samples of event 'cycles'", 1, true), got.out .. got.err)
  end)
end)

needs.describe("record", "perflua top of a command", function()
  it("records it, and has the status of perf record", function()
    local got = run.shell('"$perflua" top -e page-faults:u --sort comm -- sh -c "exit 3"')
    assert.equal(3, got.status, got.err)
    assert.truthy(got.out:find "100.00%%  sh\n", got.out)
    got = run.shell '"$perflua" top -e nosuch -- true'
    assert.truthy(got.err:find("perflua: top: perf record ended with status", 1, true))
    assert.truthy(got.err:find("nosuch", 1, true))
    assert.is_true(got.status > 1)
  end)
end)

needs.describe("terminal,ncurses", "perflua top on a terminal", function()
  local terminal = require "spec.support.terminal"
  local quiet -- a stream that stays open, and ends with the terminal

  -- Starts top over a stream that stays open.
  local function start(words, options)
    quiet = quiet or stream(sample_twice)
    return terminal.shell(("{ cat %s; sleep 60; } | exec %s top %s -"):format(quote(quiet),
      quote(run.binary), words or ""), options)
  end

  -- Quits, and checks that the terminal is as it was.
  local function quit(t)
    t:send "q"
    t:expect(function(screen) return not screen.is_alternate end)
    assert.is_true(t.screen.is_cursor_shown)
    t:expect(function() return t:modes() == "icanon echo isig" end)
    t.pty:close()
  end

  it("shows the rows of report, and follows keys", function()
    local t = start "--sort comm,symbol"
    t:expect "45.00%"
    assert.is_true(t.screen.is_alternate)
    assert.equal("40 samples of event 'cycles', event count 100", t.screen:line(1))
    assert.equal("   Change  Overhead  Command      Symbol", t.screen:line(2))
    assert.equal("             45.00%  first        [.] 0x0000000000001000",
      t.screen:line(3))
    assert.equal(5, (t:expect "中文\\x1b[2J"))
    t:expect(function(screen) return screen:style(3, 15):find "7" end)
    t:send "j"
    t:expect(function(screen) return screen:style(4, 15):find "7" end)
    t:send "?"
    t:expect "the callers and callees of the row"
    t:send "\27"
    t:expect "Change"
    quit(t)
  end)

  it("goes to the last of many rows, and stays there while it redraws", function()
    local path = stream(function(b, cycles)
      for i = 1, 1500 do
        b:sample(cycles, { ip = i, pid = 7, tid = 7, time = i, period = 3000 - i })
      end
      for _ = 1, 3 do b:record("finished_round", {}) end
    end)
    local t = terminal.shell(("{ cat %s; sleep 60; } | exec %s top -d 50ms --sort symbol -")
      :format(quote(path), quote(run.binary)))
    t:expect "1500 samples of event"
    t:send "\27[F"
    for _ = 1, 3 do -- in pauses it is drawn again
      t:expect(function(screen) return screen:line(23):find "0x00000000000005dc" end)
      t:pause(0.1)
    end
    t:send "\27[H"
    t:expect(function(screen) return screen:line(3):find "0x0000000000000001" end)
    quit(t)
  end)

  it("asks for keys of rows and filters, and says what is wrong with them", function()
    local t = start "--sort comm"
    t:expect "90.00%"
    t:send "snosuch\r"
    t:expect "nosuch"
    t:send "/comm ==\r"
    t:expect(function(screen) return screen:line(24):find "expected" end)
    t:expect "90.00%"
    t:send "/malloc\r"
    t:expect "filter: find(symbol"
    t:expect "no samples yet"
    t:send "d0.1\r"
    t:send "p"
    t:expect "paused"
    t:send "pz"
    t:expect "zeroing"
    t:send "zD"
    t:expect "decaying"
    quit(t)
  end)

  it("shows the next event, and the calls of a row", function()
    local b = builder.new { container = "pipe" }
    local parts = { "identifier", "ip", "tid", "time", "period", "callchain" }
    local events = {}
    for i, name in ipairs { "cycles", "faults" } do
      events[i] = b:event { name = name, type = 1, config = i, sample_type = parts,
        ids = { i } }
    end
    for i = 1, 4 do
      b:sample(events[i // 4 + 1], { identifier = i // 4 + 1, ip = 0x1000, pid = 7, tid = 7,
        time = 9 + i, period = 1, callchain = { -512, 0x1000, 0x2000 + i % 2 } })
    end
    for _ = 1, 3 do b:record("finished_round", {}) end
    local t = terminal.shell(("{ cat %s; sleep 60; } | exec %s top --no-children -"):format(
      quote(b:write()), quote(run.binary)))
    t:expect "3 samples of event 'cycles'"
    t:send "\r"
    t:expect "Callers"
    t:expect "--66.67%--0x2001"
    t:expect "--33.33%--0x2000"
    t:send "\27"
    t:expect "Overhead"
    t:send "e"
    t:expect "1 sample of event 'faults', event count 1"
    quit(t)
  end)

  it("draws in 20 x 5, and after any number of new sizes", function()
    local t = start("--sort comm", { columns = 20, rows = 5 })
    t:expect "Overhead"
    for i = 1, 100 do
      t.pty:resize(20 + i % 60, 5 + i % 20)
      t.pty:read(0.01)
    end
    while t.pty:read(0.3) do end -- drawn in other sizes
    t:resize(80, 24)
    t:expect "40 samples of event"
    quit(t)
  end)

  it("prints tables where the terminal cannot place the cursor", function()
    local t = start("--delay 100ms", { env = { TERM = "dumb" } })
    t:expect "# Overhead"
    assert.is_false(t.screen.is_alternate)
    t.pty:close()
  end)

  it("leaves the terminal as it was after a signal, and at ^Z", function()
    for _, signal in ipairs { 15, 11 } do -- SIGTERM, SIGSEGV
      -- the shell lives on: at the end of a session its terminal can no longer be set
      -- sanitizers handle faults themselves, unless they are told not to
      local t = terminal.shell(("export ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0; "
        .. "trap : TERM SEGV; { cat %s; sleep 60; } | %s top -; sleep 9")
        :format(quote(quiet), quote(run.binary)))
      t:expect "Overhead"
      t:signal(signal)
      t:expect(function(screen) return not screen.is_alternate end)
      t:expect(function() return t:modes() == "icanon echo isig" end)
      t.pty:close()
    end
    local t = terminal.shell(("set -m; { cat %s; sleep 60; } | %s top -; echo stopped; fg; "
      .. "echo done"):format(quote(quiet), quote(run.binary)))
    t:expect "Overhead"
    t:send "\26"
    t:expect(function() return t.output:find "\27%[%?1049l.*stopped.*\27%[%?1049h" end)
    t:expect "Overhead"
    t:send "q"
    t:expect(function(screen) return not screen.is_alternate end)
    t.pty:close()
  end)

  it("goes on after damage, and keeps what came before it", function()
    local bytes = files.read(stream(sample_twice))
    local path = files.temporary(bytes .. ("\xff"):rep(64) .. bytes:sub(-400))
    local t = terminal.shell(("{ cat %s; sleep 1; } | exec %s top --sort comm -"):format(
      quote(path), quote(run.binary)))
    t:expect ", ended"
    t:expect "first"
    local samples = tonumber(t.screen:line(1):match "^(%d+) samples of event 'cycles'")
    assert.is_true(samples > 40, samples)
    quit(t)
  end)

  it("answers keys while records come as fast as it reads them", function()
    local function write(n)
      return files.read(stream(function(b, cycles)
        for i = 1, n do
          b:sample(cycles, { ip = i % 5000, pid = 7, tid = 7, time = 10, period = 1 })
        end
      end))
    end
    local head = write(0)
    local samples = write(20000):sub(#head + 1)
    local t = terminal.shell(("{ cat %s; while cat %s; do :; done; } | exec %s top -"):format(
      quote(files.temporary(head)), quote(files.temporary(samples)), quote(run.binary)))
    t:expect "first"
    for _ = 1, 5 do
      t:send "?"
      t:expect "the callers and callees"
      t:send "\27"
      t:expect "Change"
    end
    quit(t)
  end)

  it("keeps the last table until q when the stream has ended", function()
    local t = terminal.shell(("cat %s | exec %s top -"):format(quote(quiet),
      quote(run.binary)))
    t:expect ", ended"
    t:expect "first"
    t:send "q"
    assert.equal(0, t:finish())
    assert.is_false(t.screen.is_alternate)
  end)
end)
