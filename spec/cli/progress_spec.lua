-- The progress line on a terminal.
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local patience = require "spec.support.patience"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"
local system = require "spec.support.system"

local HALF = 100000 -- bytes of the recording, more or less

-- Seconds that make a pass last longer than two, whenever it begins; programs under sanitizers
-- begin late.
local LONG = run.binary:find("/san/", 1, true) and 4 or 2.5

-- Splits what a terminal shows: the lines that were shown one over the other, four in a second,
-- the spaces that removed the last one, and what follows.
local function split_shown(text)
  local lines, at = {}, 1
  for line, next_at in text:gmatch "\rperflua: ([^\r]*)()" do
    lines[#lines + 1], at = line:gsub(" +$", ""), next_at
  end
  local spaces, after = text:match("^\r( +)\r(.*)$", at)
  return lines, spaces, after
end

-- Samples enough to ask, in between, how far it is.
local function recording()
  local b = small()
  for i = 1, 10000 do
    b:sample(b.events[1], { identifier = 11, ip = 1, pid = 5, time = 3 + i })
  end
  return b:write()
end

-- Returns what a terminal shows while a query waits for the second half of a recording, and
-- what it prints then.
local function shown(options, seconds, script)
  local got = run.shell_with(([[
    export TERM=dumb
    dir=$(mktemp -d); mkfifo "$dir/fifo"
    timeout 300 sh -c '{ head -c %d "$1"; sleep %s; tail -c +%d "$1"; } >"$2"' sh "$1" "$dir/fifo" &
    timeout 300 script -qec "$perflua %s $2 $dir/fifo" /dev/null </dev/null
    rm -r "$dir"]]):format(HALF, seconds, HALF + 1, options),
    recording(),
    run.script(script or "local query = perflua.open(arg[1]):samples('one'):group_by('pid') "
        .. "print(query:count():top(1)[1].count)"))
  return got.out
end

needs.describe("terminal", "progress", function()
  it("is shown where a pass takes more than two seconds, and is gone after it", function()
    patience(function(slower)
      local text = shown("", LONG * slower)
      local lines, spaces, after = split_shown(text)
      assert.matches("^\rperflua: reading, %d", text)
      for _, line in ipairs(lines) do assert.matches("^reading, %d+ MB, %d+ MB/s$", line) end
      assert.equal(#("perflua: " .. lines[#lines]), #spaces)
      assert.equal("10001\r\n", after)
    end)
  end)

  it("is not shown where it takes less, or with --quiet", function()
    patience(function() assert.equal("10001\r\n", shown("", 0.1)) end)
    assert.equal("10001\r\n", shown("--quiet", LONG))
  end)

  it("is not shown where there is no terminal, or by a script of plain Lua", function()
    local script = run.script "print(require 'perflua'.open(arg[1]):samples():count())"
    local got = run.shell_with(([[
      dir=$(mktemp -d); mkfifo "$dir/fifo" "$dir/other"
      for to in fifo other; do
        timeout 300 sh -c '{ head -c %d "$1"; sleep %s; tail -c +%d "$1"; } >"$2"' sh "$1" "$dir/$to" &
      done
      "$perflua" "$2" "$dir/fifo" &
      TERM=dumb timeout 300 script -qec "%s $2 $dir/other" /dev/null </dev/null
      wait
      rm -r "$dir"]]):format(HALF, LONG, HALF + 1, os.getenv "PERFLUA_LUA" or "lua5.4"), recording(), script)
    assert.same({ "10002\n10002\r\n", "" },
      { got.out:gsub("^10002\r\n10002\n$", "10002\n10002\r\n"), got.err })
  end)

  -- Runs commands at the same time, whose output is not a terminal, while they wait for the
  -- second half of a recording at $fifo. Returns by name what the terminal shows, and the
  -- number of lines that they write.
  local function shown_beside(commands, slower)
    local parts, names = {}, {}
    for name, command in pairs(commands) do
      names[#names + 1] = name
      parts[#parts + 1] = ([[
        ( export fifo="$dir/fifo%d"; mkfifo "$fifo"
          timeout 300 sh -c '{ head -c %d "$1"; sleep %s; tail -c +%d "$1"; } >"$2"' sh "$1" "$fifo" &
          timeout 300 script -qec '%s >'"$dir/out%d" /dev/null </dev/null >"$dir/shown%d"
          wc -l <"$dir/out%d" >>"$dir/shown%d" ) &]]):format(#names, HALF, LONG * slower, HALF + 1,
        command, #names, #names, #names, #names)
    end
    local got = run.shell_with("export TERM=dumb perflua; dir=$(mktemp -d); export script=$2\n"
      .. table.concat(parts, "\n") .. "\nwait; cd $dir; for i in $(seq " .. #names
      .. "); do cat shown$i; echo END; done; rm -r $dir", recording(),
      run.script("for s in perflua.open(arg[1]):samples() do print(s.time) end"))
    local shown_by, i = {}, 0
    for text, lines in got.out:gmatch "(.-)(%d+)\nEND\n" do
      i = i + 1
      shown_by[names[i]] = { text = text, lines = tonumber(lines) }
    end
    return shown_by
  end

  it("is shown beside the output of loops, handlers and tools", function()
    local commands = {
      ["a loop"] = '"$perflua" "$script" "$fifo"',
      script = '"$perflua" script -F pid "$fifo"', dump = '"$perflua" dump "$fifo"',
      handlers = '"$perflua" -e "file:run { sample = print }" "$fifo"',
    }
    patience(function(slower)
      local shown_by = shown_beside(commands, slower)
      for name in pairs(commands) do
        local got = shown_by[name]
        local lines, spaces, after = split_shown(got.text)
        assert.matches("^\rperflua: reading, %d", got.text, nil, nil, name)
        for _, line in ipairs(lines) do
          assert.matches("^reading, %d+ MB, %d+ MB/s$", line, nil, nil, name)
        end
        assert.are.same({ true, "" }, { spaces ~= nil, after }, name)
        assert.is_true(got.lines >= 10000, name)
      end
    end)
  end)

  it("is not shown by a loop that may print to the same terminal", function()
    assert.equal("10002\r\n", shown("", LONG,
      "n = 0 for s in perflua.open(arg[1]):samples() do n = n + 1 end print(n)"))
  end)

  it("goes on while symbols are loaded", function()
    local b, symbols = system.builder({}, { "ip", "tid", "time" }), {}
    mapped.add(b,
      { "- kernel ffffffff81000000-ffffffff81900000@ffffffff81000000 [kernel.kallsyms]_text" })
    b:sample(b.events[1], { ip = 0xffffffff81000011, pid = 7, tid = 7, time = 1, misc = 1 })
    symbols[1] = "ffffffff81000000 T _text\n"
    for i = 1, 5000 do
      symbols[i + 1] = ("%x T f%d\n"):format(0xffffffff81000000 + 16 * i, i)
    end
    local got = run.shell_with([[TERM=dumb timeout 300 script -qec \
      "$perflua $1 $2 $3 >/dev/null" /dev/null </dev/null]], run.script [[
      for s in perflua.open(arg[1], { kallsyms = arg[2] }):samples():each() do
        os.execute "sleep 2.2"
        assert(s.symbol == "f1")
      end]], b:write(),
      files.temporary(table.concat(symbols)))
    local lines, spaces, after = split_shown(got.out)
    assert.is_true(#lines >= 1)
    assert.are.same({ true, "" }, { spaces ~= nil, after })
  end)

  it("tells the share and how long it will still take where the size is known", function()
    local steps = { "each()", "select('time'):each()",
      "where(function() wait() return true end):group_by('pid'):count():table():rows()",
      -- a record is looked at as one that may open a span, and as one that may close one
      "where(function() wait(0.5) return true end):pair { open = { 'one' }, close = { 'one' } }"
        .. ":group_by('open.pid'):count():table():rows()" }
    local parts, paths = {}, { recording() }
    for i, step in ipairs(steps) do
      paths[i + 1] = run.script(([[
        local n = 0
        function wait(step)
          n = n + (step or 1)
          if n == 5000 then os.execute "sleep 2.2" end
        end
        for s in perflua.open(arg[1]):samples():%s do wait() end
        print(n)]]):format(step))
      parts[i] = ([[
        script=$%d timeout 300 script -qec '"$perflua" "$script" "$recording" >/dev/null' \
          /dev/null </dev/null >$dir/%d &]]):format(i + 1, i)
    end
    local got = run.shell_with("export TERM=dumb perflua recording=$1; dir=$(mktemp -d)\n"
      .. table.concat(parts, "\n") .. "\nwait; cat $dir/*; rm -r $dir", table.unpack(paths))
    local n = 0
    for text in got.out:gmatch "(.-\r +\r)" do
      -- shown when the pass goes on, half of it still to come
      local lines = split_shown(text)
      local share, left = lines[1]:match "^ *(%d+) %%, reading, %d+ MB/s, (%d+) s left$"
      n = n + 1
      assert.is_true(tonumber(share) >= 30 and tonumber(share) < 70, share)
      assert.is_true(tonumber(left) >= 1 and tonumber(left) < 70, left)
    end
    assert.equal(#steps, n, got.out)
  end)

  it("is one estimate for the passes that are expected, and names others", function()
    local script = run.script [[
      local core = require "perflua.core"
      local file = perflua.open(arg[1])
      local n = 0
      local function wait()
        n = n + 1
        if n % 2500 == 0 then os.execute "sleep 0.6" end
        return true
      end
      local function read() file:samples():where(wait):group_by("comm"):count():table():rows() end
      core.expect_work(2 * file.size)
      for i = 1, 3 do read() end]]
    local got = run.shell_with([[TERM=dumb timeout 300 script -qec \
      "$perflua $1 $2 >/dev/null" /dev/null </dev/null]], script, recording())
    local shares, others, last = 0, 0, -1
    for line in got.out:gmatch "\rperflua: ([^\r]*)" do
      local pass = line:match "^pass %d+," or ""
      local share = line:sub(#pass + 1):match "^ *(%d+) %%, reading, "
      assert.is_truthy(share, line)
      if pass == "pass 2," and others == 0 then last = -1 end
      assert.is_true(tonumber(share) >= last, line)
      last = tonumber(share)
      if pass == "" then shares = shares + 1 else others = others + 1 end
      assert.is_true(pass == "" or pass == "pass 2,", line)
    end
    -- two passes of four stops each, the first lines after two seconds; then one of them
    assert.is_true(shares >= 4 and others >= 2, got.out)
  end)

  it("expects as many passes as tools make", function()
    local demo, calls = files.fixture "demo.perf.data", files.fixture "calls.perf.data"
    local lines = {
      "report " .. demo, "fold " .. demo, "flame -o /dev/null " .. demo, "doctor " .. demo,
      "fields " .. calls, "gen " .. calls, "stat " .. calls, "syscalls --by thread " .. calls,
      "faults " .. demo, "script " .. calls, "diff " .. demo .. " " .. demo,
      "export --to folded " .. demo, "export --to chrome -o /dev/null " .. demo,
      "export --to pprof -o /dev/null " .. demo, "export --to csv " .. demo,
    }
    local script = run.script [[
      local core, tools = require "perflua.core", require "perflua.tools"
      local no_host = { list = function() return {} end, is_terminal = function() end }
      for line in io.lines(arg[1]) do
        local words = {}
        for word in line:gmatch "%S+" do words[#words + 1] = word end
        local tool = tools.find(table.remove(words, 1))
        collectgarbage()
        core.expect_work(nil)
        core.expect_work(1e12) -- so that all is added up
        local null <close> = assert(io.open("/dev/null", "w"))
        tools.run(line:match "%S+", tool, tools.parse(tool, words), null, no_host)
        local expected, done = core.expect_work(0)
        print(("%.0f %.0f %s"):format(expected - 1e12, done, line))
      end]]
    -- one worker: several look for the borders of their parts, and read small files twice
    local got = run.shell_with([[TERM=dumb script -qec "$perflua -j 1 $1 $2 >$2.out" /dev/null \
      </dev/null >/dev/null; cat "$2.out"; rm "$2.out"]], script,
      files.temporary(table.concat(lines, "\n") .. "\n"))
    local n = 0
    for expected, done, line in got.out:gmatch "(%d+) (%d+) ([^\n]*)\n" do
      n = n + 1
      -- names and times are read beside
      assert.is_true(tonumber(done) <= 1.35 * tonumber(expected), line .. ": " .. done)
    end
    assert.equal(#lines, n, got.out .. got.err)
  end)
end)
