-- perflua browse: what report, its calls and annotate say, on a terminal.
local builder = require "spec.support.builder"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local files = require "spec.support.files"

local WORDS <const> = "spec/fixtures/words"
local OF_WORDS <const> = ("--symfs %s %s/perf.data"):format(WORDS, WORDS)
local ROOM <const> = 21 -- rows in a window of 24 lines
local RESIZES <const> = 100

-- Returns the lines of rows that report prints, without those of its calls.
local function rows_of_report(words)
  local got = run.shell(('"$perflua" report --percent-limit 0 %s'):format(words))
  assert.equal("", got.err)
  local rows = {}
  for line in got.out:gmatch "[^\n]+" do
    if line:find "^ +[%d.]+%%" then rows[#rows + 1] = line:gsub(" +$", "") end
  end
  return rows, got.out
end

describe("perflua browse without a terminal", function()
  it("says that it needs one", function()
    local got = run.perflua { "browse", run.demo }
    assert.same({ 1, "", "perflua: browse: this is not a terminal: perflua report prints the "
      .. "same\n" }, { got.status, got.out, got.err })
  end)

  it("says which package is missing in a build without ncurses", function()
    local tool = require "perflua.tools.browse"
    local settings, message, status = tool.prepare({}, nil, {})
    assert.same({ nil, 1 }, { settings, status })
    assert.matches("libncurses-dev", message, 1, true)
  end)
end)

needs.describe("terminal,ncurses", "perflua browse", function()
  local terminal = require "spec.support.terminal"

  local function start(words, options)
    return terminal.shell(("exec %s browse %s"):format(files.quote(run.binary), words), options)
  end

  local function quit(t)
    t:send "q"
    assert.equal(0, t:finish())
    assert.is_false(t.screen.is_alternate)
    assert.is_true(t.screen.is_cursor_shown)
  end

  -- Returns the lines between the head of columns and the last line.
  local function shown_rows(t)
    local rows = {}
    for i = 3, t.screen.height - 1 do
      local line = t.screen:line(i)
      if line ~= "" then rows[#rows + 1] = line end
    end
    return rows
  end

  -- Waits until these rows are shown.
  local function expect_rows(t, rows)
    local wanted = table.concat(rows, "\n")
    t:expect(function() return table.concat(shown_rows(t), "\n") == wanted end)
  end

  local function slice(list, from, to) return table.move(list, from, to, 1, {}) end

  it("shows the rows of report, from the first to the last", function()
    local rows, text = rows_of_report(OF_WORDS)
    local t = start(OF_WORDS, { columns = 120, rows = 24 })
    expect_rows(t, slice(rows, 1, ROOM))
    assert.is_true(t.screen.is_alternate)
    assert.equal(text:match "^# ([^\n]*)", t.screen:line(1))
    assert.equal("  Children      Self  Command  Shared Object  Symbol", t.screen:line(2))
    t:send "\27[F" -- End
    expect_rows(t, slice(rows, #rows - ROOM + 1, #rows))
    assert.equal("7", t.screen:style(23, 1)) -- the last row is chosen
    t:send "\27[5~" -- PgUp: to the row above those that are shown
    expect_rows(t, slice(rows, #rows - ROOM, #rows - 1))
    t:send "\27[H"
    expect_rows(t, slice(rows, 1, ROOM))
    quit(t)
  end)

  it("takes the options of report", function()
    for _, options in ipairs { "--no-children --sort symbol", "--sort comm,dso --count 3",
      "--comm list --no-children", "-F overhead,symbol,period", "--time 10%-20%" } do
      local words = options .. " " .. OF_WORDS
      local rows = rows_of_report(words:gsub("--count 3", "--count 3 --quiet"))
      local t = start(words, { columns = 120, rows = 40 })
      t:expect "h: help"
      expect_rows(t, slice(rows, 1, math.min(#rows, 36)))
      quit(t)
    end
  end)

  it("opens the callers and callees of a row, as report -g has them", function()
    local function calls(order)
      local got = run.shell(('"$perflua" report --comm list -g graph,%s %s'):format(order,
        OF_WORDS))
      return got.out:match "%[%.%] count_with_list\n(.-)\n\n"
    end
    local callers, callees = calls "callee", calls "caller"
    local t = start("--comm list " .. OF_WORDS, { columns = 120, rows = 40 })
    t:expect "count_with_list"
    t:send "jjj\r"
    local function expect_text(text)
      text = text:gsub(" +\n", "\n"):gsub(" +$", "")
      t:expect(function(screen)
        return table.concat(screen:lines(), "\n"):find(text, 1, true)
      end)
    end
    expect_text("Callers\n" .. callers)
    expect_text("Callees\n" .. callees)
    local shares = 0
    for row, line in ipairs(t.screen:lines()) do
      local at, share = line:match "%-%-()([%d.]+)%%%-%-"
      if at then
        shares = shares + 1
        assert.equal(tonumber(share) >= 5 and "31" or "32", t.screen:style(row, at), line)
        assert.equal("", t.screen:style(row, at + #share + 1), line)
      end
    end
    assert.equal(2, shares)
    t:send "\27"
    t:expect "Shared Object"
    quit(t)
  end)

  it("colours shares as report does", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    for ip, n in ipairs { 939, 50, 6, 5 } do -- in 1000
      for i = 1, n do b:sample(event, { ip = ip, pid = 7, tid = 7, time = i }) end
    end
    local t = start("--sort symbol " .. files.quote(b:write()))
    t:expect "0.50%"
    local styles = {}
    for i = 1, 4 do styles[i] = t.screen:style(2 + i, 8) end
    assert.are.same({ "7", "31", "32", "" }, styles) -- the first row is chosen
    quit(t)
  end)

  it("says why a row has no calls", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time", "callchain",
      "branch_stack" } }
    for i = 1, 999 do
      b:sample(event, { ip = 1 + i // 999, pid = 7, tid = 7, time = i,
        callchain = { -512, 1 + i // 999, 3 }, branch_stack = { { from = 1, to = 2 } } })
    end
    local path = files.quote(b:write())
    local t = start(path)
    t:expect "branches of event"
    t:send "\r"
    t:expect "branches have no call chains: --no-branch-stack"
    quit(t)
    t = start("--no-branch-stack " .. path)
    t:expect "100.00%"
    t:send "\27OF\r"
    t:expect "0.10%     0.10%"
    t:expect "none of 0.5 % or more"
    t:send "q" -- the page
    t:expect "Command"
    quit(t)
  end)

  it("filters rows by text, samples by expressions and times, and goes back", function()
    local all = rows_of_report(OF_WORDS)
    local t = start(OF_WORDS, { columns = 120, rows = 24 })
    t:expect "h: help"
    t:send "/find_in\r"
    local with = {}
    for _, row in ipairs(all) do
      if row:find "find_in" then with[#with + 1] = row end
    end
    expect_rows(t, with)
    assert.matches("^rows with 'find_in', 729 samples", t.screen:line(1))
    t:send "/nothing such\r"
    t:expect "no row"
    t:send "/\r"
    expect_rows(t, slice(all, 1, ROOM))
    local of_list = "--where \"comm == 'list'\" " .. OF_WORDS
    t:send "/comm == 'list'\r"
    expect_rows(t, slice(rows_of_report(of_list), 1, ROOM))
    t:send "t10%-20%\r"
    expect_rows(t, slice(rows_of_report("--time 10%-20% " .. of_list), 1, ROOM))
    assert.matches("^comm == 'list', time 10%%%-20%%, ", t.screen:line(1))
    t:send "\27"
    expect_rows(t, slice(rows_of_report(of_list), 1, ROOM))
    t:send "/comm ==\r"
    t:expect "expected"
    t:send "tsoon\r"
    t:expect "'soon' is not a time"
    t:send "\27"
    expect_rows(t, slice(all, 1, ROOM))
    quit(t)
  end)

  needs.it("capstone", "shows the code of a function as annotate does", function()
    local got = run.shell(('"$perflua" annotate %s compare'):format(OF_WORDS))
    local code = got.out:match "\nPercent\n(.*)$"
    local t = start(OF_WORDS, { columns = 120, rows = 60 })
    t:expect "h: help"
    t:send "/compare\r"
    t:expect "rows with"
    t:send "a"
    t:expect "compare  /usr/local/bin/words"
    for line in code:gmatch "[^\n]+" do t:expect(line) end
    local row = t.screen:find " 23.16 "
    assert.equal("31", t.screen:style(row, 2))
    t:send "\27/main\ra"
    t:expect "no sample was taken in main itself"
    quit(t)
    t = start("--no-children --sort symbol " .. OF_WORDS)
    t:expect "h: help"
    t:send "a"
    t:expect "compare  /usr/local/bin/words"
    t:send "q" -- the page
    t:expect "Overhead"
    quit(t)
  end)

  -- Returns the path of a recording of two events, with names that are hostile to terminals.
  local function two_events()
    local b = builder.new()
    local parts = { "identifier", "ip", "tid", "time", "period" }
    local cycles = b:event { name = "cycles", sample_type = parts, ids = { 1 } }
    local faults = b:event { name = "faults", type = 1, config = 2, sample_type = parts,
      ids = { 2 } }
    b:record("comm", { pid = 7, tid = 7, comm = "中文\27[2J" }, { time = 1, identifier = 1 })
    for i = 1, 4 do
      b:sample(cycles, { identifier = 1, ip = 0x1000, pid = 7, tid = 7, time = 9 + i,
        period = 1 })
    end
    b:sample(faults, { identifier = 2, ip = 0x2000, pid = 7, tid = 7, time = 20, period = 1 })
    return b:write()
  end

  it("shows the next event, and names that are hostile to terminals", function()
    local t = start(files.quote(two_events()))
    t:expect "event 1 of 2, 4 samples of event 'cycles'"
    assert.equal(3, (t:expect "中文\\x1b[2J"))
    t:send "n"
    t:expect "event 2 of 2, 1 sample of event 'faults'"
    t:send "\t"
    t:expect "event 1 of 2"
    t:send "\r"
    t:expect "the recording has no call chains: perf record -g records them"
    t:send "a"
    t:expect "the row names no function: a needs a symbol"
    t:send "?"
    t:expect "the callers and callees of the row"
    t:send "q" -- the help
    t:expect "Overhead"
    quit(t)
  end)

  it("draws in 20 x 5, and while the window changes", function()
    local t = start(OF_WORDS, { columns = 20, rows = 5 })
    t:expect "Children"
    for i = 1, RESIZES do
      t.pty:resize(20 + i % 60, 5 + i % 20)
      t.pty:read(0.01)
      if i % 10 == 0 then t.pty:write(i % 20 == 0 and "\27" or "\r") end
    end
    while t.pty:read(0.3) do end -- drawn in other sizes
    t:resize(120, 24)
    t:send "\27"
    expect_rows(t, slice(rows_of_report(OF_WORDS), 1, ROOM))
    quit(t)
  end)

  it("is quit by ^C, with the status 0", function()
    local t = start(OF_WORDS)
    t:expect "h: help"
    t:send "\3"
    assert.equal(0, t:finish())
    assert.is_false(t.screen.is_alternate)
  end)

  it("shows what was read before ^C, or ends at q", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    for i = 1, 200000 do
      b:sample(event, { ip = i % 5000, pid = 7, tid = 7, time = 10 + i })
    end
    local path = files.quote(b:write())
    -- Types a key when it has said that it reads, which a busy machine may show later.
    local function start_and_send(key)
      local t = start(path)
      t:expect(function() return t.output:find("reading", 1, true) end)
      t:send(key)
      return t
    end
    local t = start_and_send "\3"
    -- the pass ended by ^C, or before it, and then ^C may have ended all
    t:expect(function(screen) return screen:find "h: help" or t:status() end)
    t:send "q"
    assert.equal(0, t:finish())
    assert.equal(0, start_and_send "q":finish())
  end)

  it("says what is wrong with words and recordings before it draws", function()
    for words, message in pairs {
      ["--sort nosuch " .. OF_WORDS] = "nosuch",
      ["--children --no-children " .. OF_WORDS] = "exclude each other",
      ["/nonexistent"] = "No such file",
    } do
      local t = start(words)
      t:finish()
      assert.matches(message, (t.output:gsub("\r?\n", "")), 1, true)
      assert.is_nil(t.output:find "\27%[%?1049h")
    end
    local t = terminal.shell(("cat %s | %s browse -"):format(
      files.quote(builder.new({ container = "pipe" }):write()), files.quote(run.binary)))
    assert.equal(2, t:finish())
    assert.matches("a stream can be read only once", t.output, 1, true)
    t = start(OF_WORDS, { env = { TERM = "dumb" } })
    assert.equal(1, t:finish())
    local message = "the terminal cannot place the cursor: perflua report prints the same"
    assert.matches(message, t.output, 1, true)
  end)
end)
