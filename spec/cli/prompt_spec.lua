local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Returns what a terminal shows when these lines are typed one after the other, after these
-- words on the command line; the last line ends perflua. A line of ^C waits for "begun".
local function typed(lines, words, term)
  local got = run.shell(([[
    export HOME=$(mktemp -d) TERM=%s
    interrupt=$(printf '\003') waits=0
    while IFS= read -r line; do
      sleep 0.2
      while [ "$line" = "$interrupt" ] && ! grep -q ^begun "$HOME/shown" &&
          [ $((waits += 1)) -lt 1000 ]; do sleep 0.1; done
      printf '%%s\n' "$line"
    done <<'END' |
%s
os.exit(true, true)
END
    { timeout 300 script -qec "$perflua --quiet "%s /dev/null; echo status $?; } | tee "$HOME/shown"
    cat "$HOME/.perflua_history"; ls -l "$HOME/.perflua_history" | cut -c 1-10]])
    :format(term or "dumb", table.concat(lines, "\n"), files.quote(words or "")))
  return (got.out:gsub("\r", ""))
end

describe("the prompt", function()
  needs.it("terminal",
    "comes without arguments, prints values and keeps its lines for next time", function()
    local shown = typed { "1 + 1", "x = 40", "x + 2, 'two'" }
    assert.matches("perflua %d+%.%d+%.%d+, Lua 5%.4", shown)
    assert.matches("\n2\n", shown)
    assert.matches("\n42\ttwo\n", shown)
    assert.matches("status 0\n", shown)
    if run.perflua { "--version" }.out:find "with libedit" then
      assert.matches("1\\040+\\0401\nx\\040=\\04040\n", shown, 1, true)
      assert.matches("-rw-------", shown, 1, true)
    end
  end)

  needs.it("terminal", "asks on until a statement is whole", function()
    local shown = typed { "for i = 7, 8 do", "print('i', i)", "end" }
    assert.matches(">> ", shown, 1, true)
    assert.matches("\ni\t7\ni\t8\n", shown)
  end)

  needs.it("terminal", "goes on after errors", function()
    local shown = typed { "error 'oops'", "x = = 1", "'alive'" }
    assert.matches("perflua: stdin:1: oops\nstack traceback:\n\t%[C%]: in function 'error'\n"
      .. "\tstdin:1: in main chunk\n\t%[C%]: in %?\n", shown)
    assert.matches("perflua: stdin:1: unexpected symbol near '='", shown)
    assert.matches("\nalive\n", shown)
  end)

  needs.it("terminal", "comes with -i and a recording, which is the global file", function()
    local lines = { "#arg, arg[1] == file.path", "file:samples():count()" }
    local shown = typed(lines, "-i " .. run.demo)
    assert.matches("\n1\ttrue\n", shown)
    assert.matches("\n672\n", shown)
    assert.matches("status 0\n", shown)
    assert.matches("\n4\n", typed(lines, "-i -f \"comm == 'wc'\" " .. run.demo))
  end)

  local completes = run.perflua({ "--version" }).out:find "with libedit" and "terminal"
    or "libedit"

  needs.it(completes, "completes names of methods and globals with Tab", function()
    local shown = typed({ "prin\t(#file.eve\t)", "file:samples():sele\t(\"tid\"):firs\t()",
      "strin\t.rep('ab', 3)" }, "-i " .. run.demo, "xterm")
    assert.matches("\n3\n", shown)
    assert.matches("\n10662\n", shown)
    assert.matches("\nababab\n", shown)
  end)

  needs.it(completes, "completes events, record types and fields in strings", function()
    local shown = typed({ "#file:samples('page\t):collect()",
      "file:records(\"mma\t2\t):cou\t()", "file:samples():sum('peri\t)",
      "file:samples():where 'comm_n\t == \"wc\"':count()" }, "-i " .. run.demo, "xterm")
    local perflua = require "perflua"
    local file <close> = assert(perflua.open(run.demo))
    local mmap2, sum = 0, 0
    for _ in file:records("mmap2"):each() do mmap2 = mmap2 + 1 end
    for s in file:samples():each() do sum = sum + s.period end
    for _, value in ipairs { 39, mmap2, sum, 4 } do
      assert.matches("\n" .. value .. "\n", shown, 1, true)
    end
  end)

  needs.it(completes, "completes what records, events and items of arrays have", function()
    local shown = typed({ "file:samples():first():cop\t().pid", "file.events[1].nam\t",
      "events = file.events", "#events[2].nam\t", "file:samples():collect()[3].tim\t",
      "file:samples():first().map.filena\t" }, "-i " .. run.demo, "xterm")
    local perflua = require "perflua"
    local file <close> = assert(perflua.open(run.demo))
    local third, first = file:samples():collect()[3], file:samples():first()
    for _, value in ipairs { first.pid, file.events[1].name, #file.events[2].name, third.time,
        first.map.filename } do
      assert.matches("\n" .. value .. "\n", shown, 1, true)
    end
  end)

  needs.it(completes, "completes no name that would end its string", function()
    local b = builder.new()
    for i, name in ipairs { "x') print('r'..'an')--", 'y") print("r".."an")--', "z\\" } do
      b:sample(b:event { name = name, ids = { i } }, { ip = 1, pid = 1, time = 1, id = i })
    end
    local path = b:write()
    local shown = typed({ "file:samples('x\t", 'file:samples("y\t',
      "# file.events['z\t'.name" }, "-i " .. path, "xterm")
    shown = shown:gsub(path:gsub("%p", "%%%0") .. ": [^\n]*\n", "", 1) -- which names them
    assert.is_nil(shown:find("print", 1, true))
    assert.is_nil(shown:find("ran", 1, true))
    assert.matches("file.events['z'.name", shown, 1, true)
  end)

  needs.it(completes, "closes quotes of names, but not in filters or before one", function()
    local shown = typed({ "#file:samples(\"page\t)", "#file:samples('page'\2\t\5)",
      "file:samples():group_by('cpum\t)", "#file:samples():where 'comm_n\t ~= nil'" },
      "-i " .. run.demo, "xterm"):match "_HiStOrY_V2_\n(.*)"
    local lines = { '#file:samples("page-faults")', "#file:samples('page-faults')",
      "file:samples():group_by('cpumode')", "#file:samples():where 'comm_nodigit ~= nil'" }
    for _, line in ipairs(lines) do
      assert.matches(line:gsub(" ", "\\040"), shown, 1, true)
    end
  end)

  needs.it(completes, "lists what a word may become", function()
    local shown = typed({ "file:re\t\tcords():first().type" }, "-i " .. run.demo, "xterm")
    assert.matches("\nfile:records file:resolve\n", shown, 1, true)
  end)

  needs.it("terminal", "explains itself, methods, names and tools with help", function()
    local shown = typed({ "help", "help(file.samples)", 'help "group_by"', 'help "stat"',
      "help(1)" }, "-i " .. run.demo)
    for _, text in ipairs { "\n  help(file.samples)    explains a method or function",
        "\nfile:samples(event)\n  Starts a query of samples", "\n  returns Query\n",
        "\nquery:group_by(...)\n", "\nperflua stat: records and bytes",
        "\nnothing is known of this value" } do
      assert.matches(text, shown, 1, true)
    end
  end)

  needs.it("terminal", "shows queries, records and tables as they are for people", function()
    local shown = typed({ "file:samples('page-faults'):group_by('comm'):count()",
      "file:samples()", "file:samples():first()", "{ { a = 1 }, { a = 2 } }", "nil" },
      "-i " .. run.demo)
    for _, text in ipairs { "\ncomm    count\nsh         28\n",
        "\n# first 10 of 672 records\n", "\nfield      value\ntype       sample\n",
        "\na\n1\n2\n", "\nnil\n" } do
      assert.matches(text, shown, 1, true)
    end
  end)

  needs.it("terminal", "says below results of samples what was lost, and what has no function",
    function()
      local shown = typed({ "file:samples('cpu-clock'):group_by('symbol'):top(1, 'count')",
        "file:samples():select 'pid'", "file:records():group_by('type'):top(1)" },
        "-i " .. run.demo)
      local reported = run.perflua { "report", "--no-children", "--sort", "symbol", run.demo }
        .out:match "# 457 samples of event 'cpu%-clock'(, none lost, [%d.]+ %% [^\n]+)\n"
      local line = "# event 'cpu-clock': 457 samples recorded"
      assert.matches(line .. reported .. "\n", shown, 1, true)
      assert.matches("\n# first 10 of 672 rows\n" .. line .. ", none lost\n"
        .. "# event 'page-faults': 39 samples recorded, none lost\n", shown, 1, true)
      assert.is_nil(shown:find("sample +672\n#"))
    end)

  needs.it("terminal", "says below results of samples that the recording is damaged", function()
    local whole = files.read(run.demo)
    local cut = files.temporary(whole:sub(1, #whole // 2))
    local shown = typed({ "file:samples('cpu-clock'):group_by('comm'):top(1)" }, "-i " .. cut)
    assert.matches("none lost\n# damaged in %d+ places?: see perflua doctor\n", shown)
  end)

  needs.it("terminal", "ends at quit, and survives ^C", function()
    for _, quit in ipairs { "quit", "quit()" } do
      local shown = typed({ quit, "print 'not read'" })
      assert.is_nil(shown:find("\nnot read\n", 1, true))
      assert.matches("status 0\n", shown)
    end
    local shown = typed { "print 'begun' while true do end", "\3", "'alive'" }
    assert.matches("\nperflua: stdin:1: interrupted\nstack traceback:\n\tstdin:1:", shown, 1,
      true)
    assert.matches("\nalive\n", shown)
  end)

  needs.it("terminal", "marks errors, but where NO_COLOR is set or the terminal is dumb",
    function()
    local lines, mark = { "error 'oops'" }, "\27[31mperflua: stdin:1: oops"
    assert.matches(mark, typed(lines, "", "xterm"), 1, true)
    assert.is_nil(typed(lines, "", "xterm NO_COLOR=1"):find(mark, 1, true))
    assert.is_nil(typed(lines, "", "dumb"):find(mark, 1, true))
  end)

  it("comes after a script with -i, and ends with its input", function()
    local got = run.perflua({ "-i", run.script "y = 'from the script'" }, { stdin = "y" })
    assert.are.equal(0, got.status)
    assert.matches("\nfrom the script\n", got.out)
  end)
end)
