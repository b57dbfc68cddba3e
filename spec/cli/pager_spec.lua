-- Output on a terminal: through a pager, in colour, in the columns that there are.
local core = require "perflua.core"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

local demo = run.demo
local ESC <const> = "\27"

-- Returns a command of the shell that runs the interpreter, without a progress line.
local function command(words) return run.binary .. " --quiet " .. words end

needs.describe("terminal", "text longer than the screen", function()
  local terminal = require "spec.support.terminal"

  -- Runs a command that needs no key; returns what is on the screen, and what has scrolled off.
  local function shown(words, env, size)
    local options = size or { columns = 100, rows = 20 }
    options.env = env
    local t = terminal.shell(command(words), options)
    local status = t:finish()
    return t.screen:text(), status, t
  end

  needs.it("less", "goes through less, which the user leaves with status 0", function()
    local t = terminal.shell(command("report " .. demo .. "; echo status $?"),
      { columns = 100, rows = 20 })
    t:expect "Command"
    t:expect(function(screen) return screen:line(20) == ":" end)
    assert.is_nil(t:status())
    t:send "q"
    t:expect "status 0"
    t:finish()
  end)

  it("is printed where it has room on the screen", function()
    local size = { columns = 100, rows = 40 }
    local text, status = shown("report --count 3 " .. demo, {}, size)
    assert.equal(0, status)
    assert.matches("\n    11.16%%", text)
  end)

  it("goes through $PERFLUA_PAGER, or $PAGER, with arguments", function()
    local env = { PERFLUA_PAGER = "sed s/^/1:/", PAGER = "sed s/^/2:/" }
    assert.matches("^1:# ", (shown("report --count 3 " .. demo, env)))
    env.PERFLUA_PAGER = nil
    assert.matches("^2:# ", (shown("report --count 3 " .. demo, env)))
    env.PAGER = "sed 's/^/a b:/' | cat"
    assert.matches("^a b:# ", (shown("report --count 3 " .. demo, env)))
  end)

  it("goes through none with --no-pager, on a dumb terminal, for cat, for nothing", function()
    local plain = "^# 457 samples"
    local env = { PERFLUA_PAGER = "sed s/^/1:/" }
    assert.matches(plain, (shown("report --no-pager --count 3 " .. demo, env)))
    assert.matches(plain, (shown("--no-pager report --count 3 " .. demo, env)))
    env.TERM = "dumb"
    assert.matches(plain, (shown("report --count 3 " .. demo, env)))
    for _, none in ipairs { "", " ", "cat" } do
      assert.matches(plain, (shown("report --count 3 " .. demo,
        { PERFLUA_PAGER = none, PAGER = "sed s/^/1:/" })))
    end
  end)

  it("goes through none for programs, and where the tool shows what comes", function()
    local env = { PERFLUA_PAGER = "sed s/^/1:/" }
    for _, words in ipairs { "report --csv ", "report --json ", "fold ", "overview ",
      "export --to folded " } do
      assert.is_nil((shown(words .. demo, env)):find("^1:"), words)
    end
    assert.is_nil((shown(("report %s | head -3"):format(demo), env)):find "^1:")
  end)

  it("goes through it where statements have values, and for lines of -p", function()
    local env = { PERFLUA_PAGER = "sed s/^/1:/" }
    local grouped = [[-e 'file:samples("cpu-clock"):group_by("comm"):count()' ]]
    assert.matches("^1:comm ", (shown(grouped .. demo, env)))
    assert.matches("^1:sort", (shown("-p comm -f 'comm == \"sort\"' " .. demo, env)))
    assert.matches("^plain\n$", (shown([[-e 'print "plain"' ]] .. demo, env)))
  end)

  it("may be left early: that is not an error", function()
    local text, status = shown("script " .. demo, { PERFLUA_PAGER = "true" })
    assert.same({ "", 0 }, { text:gsub("%s", ""), status })
    text, status = shown("script " .. demo, { PERFLUA_PAGER = "head -1" })
    assert.matches("^%S[^\n]*\n*$", text)
    assert.equal(0, status)
  end)

  it("is printed by perflua where the pager cannot be started", function()
    local text, status = shown("report --count 3 " .. demo, { PERFLUA_PAGER = "/none -x" })
    assert.matches("^perflua: cannot start the pager /none: No such file or directory\n# 457",
      text)
    assert.matches("11.16%%", text)
    assert.equal(0, status)
    local t = terminal.shell("PATH=/none " .. command("report " .. demo)) -- there is no less
    assert.equal(0, t:finish())
    assert.matches("^# 457", t.screen:text())
  end)

  needs.it("less", "leaves ^C to the pager", function()
    local t = terminal.start({ run.binary, "report", demo }, { columns = 100, rows = 20 })
    t:expect(function(screen) return screen:line(20) == ":" end)
    t:send "\3\3\3"
    t:pause(0.2)
    assert.is_nil(t:status())
    repeat -- less forgets what was typed before it takes note of ^C
      t:send "q"
      t:pause(0.2)
    until t:status()
    assert.equal(0, t:finish())
  end)

  it("shows errors as well", function()
    local text, status = shown("doctor " .. demo .. " /none", { PERFLUA_PAGER = "sed s/^/1:/" })
    assert.matches("perflua: /none: cannot open: No such file or directory\n", text)
    assert.equal(1, status)
  end)

  it("keeps the error of a closed standard output", function()
    local text, status = shown("report " .. demo .. " >&-")
    assert.matches("perflua:[^\n]* cannot write to standard output: Bad file", text)
    assert.equal(1, status)
  end)
end)

needs.describe("terminal", "colors", function()
  local terminal = require "spec.support.terminal"

  local function output(words, env)
    local t = terminal.shell(command(words), { columns = 100, rows = 60, env = env })
    t:finish()
    return t
  end

  it("are those of perf for shares: red from 5 %, green above 0.5 %", function()
    local t = output("report --no-pager " .. demo)
    for row = 1, 60 do
      local line = t.screen:line(row)
      local share = tonumber(line:match "^ +([%d.]+)%%")
      if share then
        local column = line:find "%d"
        local color = share >= 5 and "31" or share > 0.5 and "32" or ""
        assert.equal(color, t.screen:style(row, column), line)
        local mode = line:find("[k]", 1, true)
        if mode then assert.equal("33", t.screen:style(row, mode), line) end
      elseif line:find "Command" then
        assert.equal("1", t.screen:style(row, 3))
      end
    end
  end)

  it("mark shares in trees of calls and in hierarchies, and nothing else there", function()
    for _, words in ipairs { { "-g", "caller" }, { "-g", "fractal" }, { "--hierarchy" },
      { "--hierarchy", "-g", "caller" } } do
      local function report(color)
        return run.perflua { "report", "--color", color, "--symfs", "spec/fixtures/words",
          "spec/fixtures/words/perf.data", table.unpack(words) }.out
      end
      local plain, n = report "never", 0
      local colored = report "always":gsub(ESC .. "%[1m(#[^\n]-)" .. ESC .. "%[0m", "%1")
      local bare = colored:gsub(ESC .. "%[(%d+)m([%d.]+)%%" .. ESC .. "%[0m",
        function(color, share)
          n = n + 1
          assert.equal(tonumber(share) >= 5 and "31" or "32", color, share)
          return share .. "%"
        end):gsub(ESC .. "%[33m(%[k%])" .. ESC .. "%[0m", "%1")
      assert.equal(plain, bare)
      assert.is_true(n > 10, table.concat(words, " "))
    end
  end)

  it("mark shares in tables at the prompt", function()
    local t = terminal.shell(files.quote(run.binary) .. " -i spec/fixtures/words/perf.data")
    t:expect "cpu-clock:u at 997 Hz"
    t:send 'file:samples():group_by("comm"):count():share("period")\r'
    local row, column = t:expect "62.55"
    assert.equal("31", t.screen:style(row, column))
    -- the prompt drops keys that come before it reads them one by one
    t:expect(function() return not t:modes():find "icanon" end)
    t:send "\4"
    t:finish()
  end)

  it("mark verdicts of doctor, and errors", function()
    local t = output("doctor --no-pager " .. demo)
    local row, column = t.screen:find "healthy"
    assert.equal("32", t.screen:style(row, column))
    row, column = t.screen:find "note  "
    assert.equal("36", t.screen:style(row, column))
    t = output "stat /none"
    assert.equal("31", t.screen:style(t.screen:find "perflua:"))
  end)

  it("mark the verdicts of diff", function()
    local function recording(function_hits)
      local b = small()
      for i = 1, 4000 do
        b:sample(b.events[1], { identifier = 11, ip = i <= function_hits and 0x10 or 0x20,
          pid = 5, time = 3 + i })
      end
      return b:write()
    end
    local t = output(("diff --no-pager --sort ip %s %s"):format(files.quote(recording(500)),
      files.quote(recording(3500))))
    local row, column = t.screen:find "slower"
    assert.equal("31", t.screen:style(row, column))
    row, column = t.screen:find "faster"
    assert.equal("32", t.screen:style(row, column))
  end)

  it("are off with NO_COLOR and --color never, in pipes and on a dumb terminal", function()
    for _, one in ipairs { { "report --no-pager ", { NO_COLOR = "1" } },
      { "report --no-pager --color never " }, { "--color=never report --no-pager " },
      { "report --no-pager ", { TERM = "dumb" } } } do
      assert.is_nil(output(one[1] .. demo, one[2]).output:find(ESC, 1, true), one[1])
    end
    assert.is_nil(run.perflua({ "report", demo }).out:find(ESC, 1, true))
  end)

  it("are on with --color always", function()
    assert.matches(ESC .. "%[31m11.16%%" .. ESC .. "%[0m",
      run.perflua({ "report", "--color", "always", demo }).out)
    assert.matches(ESC .. "%[1mevent" .. ESC .. "%[0m",
      run.perflua({ "--color=always", "-e", "file.events", demo }).out)
    assert.is_nil(run.perflua({ "report", "--color=always", "--csv", demo }).out
      :find(ESC, 1, true))
  end)

  it("are one of three words", function()
    for _, words in ipairs { { "report", "--color", "blue", demo },
      { "--color=blue", "report", demo } } do
      local got = run.perflua(words)
      assert.equal(2, got.status)
      assert.matches("--color: auto, always or never expected, got 'blue'", got.err, 1, true)
    end
  end)
end)

needs.describe("terminal", "lines on a terminal", function()
  local terminal = require "spec.support.terminal"

  local function screen_of(words, columns, rows, env)
    local t = terminal.shell(command(words), { columns = columns, rows = rows, env = env })
    t:finish()
    return t.screen, t
  end

  it("leave out rows below 0.5 %, and say how many and what shows them", function()
    local all = run.perflua({ "report", demo }).out
    local text = screen_of("report --no-pager " .. demo, 200, 10):text()
    local _, n_all = all:gsub("\n +[%d.]+%%", "")
    local _, n_shown = text:gsub("\n +[%d.]+%%", "")
    local n = n_all - n_shown
    for share in text:gmatch "\n +([%d.]+)%%" do assert.is_true(tonumber(share) >= 0.5) end
    local last = ("\n# %d rows below 0.5 %% are not shown: --percent-limit 0 shows them\n")
      :format(n)
    assert.equal(last, text:sub(-#last))
    for _, words in ipairs { "--percent-limit 0 ", "--quiet ", "--count 100000 " } do
      text = screen_of("report --no-pager " .. words .. demo, 200, 10):text()
      assert.is_nil(text:find("not shown", 1, true))
      assert.matches("0.20%%", text)
    end
    assert.is_nil(all:find("not shown", 1, true))
    assert.is_true(n > 100)
  end)

  -- A recording whose names are long, of letters of double width, and of escapes.
  local function hostile()
    local b = small()
    local names = { ("long_name/"):rep(12), ("中文"):rep(20), ESC .. "[31mred\nnext",
      "e\u{301}a\u{200b}\u{202e}", "\xff\xfe" }
    for i, name in ipairs(names) do
      b:record("comm", { pid = 100 + i, tid = 100 + i, comm = name },
        { time = 3, identifier = 11 })
      b:sample(b.events[1], { identifier = 11, ip = 0x10 * i, pid = 100 + i, tid = 100 + i,
        time = 4 })
    end
    return b:write()
  end

  it("fit its width: names are shortened in the middle, unless --wide is there", function()
    local path = hostile()
    for _, words in ipairs { "report --sort comm ", "report --sort comm,dso,symbol ",
      [[-e 'file:samples("one"):group_by("comm"):count()' ]] } do
      for _, columns in ipairs(words:find ",dso" and { 70 } or { 60, 45, 33 }) do
        local screen, t = screen_of("--no-pager --color never " .. words .. path, columns, 40)
        local text = table.concat(screen:lines(), "\n")
        assert.matches("long_[%w_/]*…[%w_/]*name/", text)
        assert.matches("中[^\n]*…[^\n]*[中文]", text)
        assert.is_nil(t.output:find("[\27\xff]"))
        for line in t.output:gmatch "[^\r\n]+" do
          if not line:find "^#" then assert.is_true(core.columns(line) <= columns, line) end
        end
      end
      local _, t = screen_of("--wide --no-pager " .. words .. path, 40, 40)
      assert.matches(("long_name/"):rep(12), t.output, 1, true)
    end
  end)

  it("are broken between words where they are sentences", function()
    for _, words in ipairs { "doctor ", "overview " } do
      local _, t = screen_of("--no-pager " .. words .. demo, 60, 60)
      local plain = run.perflua({ words:match "%a+", demo }).out
      local _, n = t.output:gsub("[^\r\n]+", function(line)
        line = line:gsub(ESC .. "%[[%d;]*m", "")
        local is_command = line:find "^  perflua" or line:find "^    %a"
        if not is_command and line:find "%S +%S+ " then
          assert.is_true(core.columns(line) <= 60, line)
        end
      end)
      assert.is_true(n > select(2, plain:gsub("[^\n]+", "")))
      -- the words are those without a terminal; comments of commands stand above them here
      local function words_of(text)
        text = text:gsub("\r", "")
        for _ = 1, 3 do text = text:gsub("(\n  # [^\n]*)\n  # ", "%1 ") end
        text = text:gsub("\n  (# [^\n]*)\n  ([^\n]*)", "\n  %2 %1")
        return (text:gsub("%s+", " "):gsub("recorded %a.- %d%d%d%d,", ""))
      end
      assert.equal(words_of(plain), words_of((t.output:gsub(ESC .. "%[[%d;]*m", ""))))
    end
  end)

  it("align letters of double width", function()
    local text = run.perflua({ "report", "--sort", "comm,pid", hostile() }).out
    text = text:match "^(.-)event 'two'"
    local ends, n = {}, 0
    for line in text:gmatch "[^\n]+" do
      local before = line:match "^( +[%d.]+%%.- +%d+):%S"
      if before then ends[core.columns(before)], n = true, n + 1 end
    end
    assert.is_nil(next(ends, next(ends)))
    assert.equal(6, n)
  end)

  it("come on any terminal, however small, from any tool", function()
    local path = hostile()
    for _, words in ipairs { "report ", "stat ", "doctor ", "overview ", "script ", "fields ",
      "header ", "dump ", "list ", "help report " } do
      local from = words:find "^list" and "" or words:find "^help" and "" or path
      for _, env in ipairs { {}, { TERM = "dumb" } } do
        local t = terminal.shell(command("--no-pager " .. words .. from),
          { columns = 20, rows = 5, env = env })
        assert.equal(0, t:finish(), words)
        for sequence in t.output:gmatch "\27[^m]*m?" do
          assert.matches("^\27%[[%d;]*m$", sequence)
        end
      end
    end
  end)
end)
