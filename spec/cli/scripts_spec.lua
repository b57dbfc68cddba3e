local files = require "spec.support.files"
local run = require "spec.cli.run"

describe("a script", function()
  it("finds its name in arg[0], what follows above it and what is before it below", function()
    local script =
      run.script "print(arg[0], arg[1], arg[2], arg[3], arg[-1], arg[-2] ~= nil, #arg, ...)"
    local got = run.perflua { "-W", script, "x", "y" }
    assert.are.equal(script .. "\tx\ty\tnil\t-W\ttrue\t2\tx\ty\n", got.out)
  end)

  it("has the library in the global perflua", function()
    local got = run.perflua {
      run.script "print(perflua == require 'perflua', type(perflua.open))" }
    assert.are.equal("true\tfunction\n", got.out)
  end)

  it("is read from standard input as -, and when there are no arguments", function()
    assert.are.equal("in\ta\n", run.perflua({ "-", "a" }, { stdin = "print('in', ...)" }).out)
    assert.are.equal("in\n", run.perflua({}, { stdin = "print('in', ...)" }).out)
  end)

  it("may start with #! as an executable", function()
    local got = run.perflua { run.script "#!/usr/bin/env perflua\nprint 'ran'" }
    assert.are.equal("ran\n", got.out)
    local script = run.script("#!/usr/bin/env perflua\n"
      .. "return function(f) return f:samples():group_by('event'):count() end")
    got = run.shell_with([[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      dir=$(mktemp -d) && ln -s "$perflua" "$dir/perflua" && cp "$2" "$dir/events" &&
        chmod +x "$dir/events" && PATH=$dir:$PATH "$dir/events" "$1"]], run.demo, script)
    assert.matches("^event +count\ncpu%-clock +457\n", got.out)
  end)

  it("is found by a bare name, after the tools", function()
    local got = run.shell [[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      cd "$(mktemp -d)" && echo 'print "mine"' | tee mine >stat
      "$perflua" mine && "$perflua" ./stat && "$perflua" stat]]
    assert.are.equal("mine\nmine\n", got.out)
    assert.are.equal(2, got.status)
    assert.matches("^perflua: stat: no recording is named, and [^\n]*\nusage: perflua stat",
      got.err)
  end)

  it("fails with status 1 and a traceback of its own lines on stderr", function()
    local script = run.script "local function inner()\n  error 'bad'\nend\ninner()"
    local got = run.perflua { script }
    assert.are.equal(1, got.status)
    assert.are.equal("", got.out)
    assert.are.equal(("perflua: %s:2: bad\nstack traceback:\n\t[C]: in function 'error'\n"
      .. "\t%s:2: in local 'inner'\n\t%s:4: in main chunk\n\t[C]: in ?\n"):format(script,
      script, script), got.err)
  end)

  it("may raise any value", function()
    local tostring_error =
      "error(setmetatable({}, { __tostring = function() return 'an object' end }))"
    assert.matches("^perflua: an object\n$", run.perflua { "-e", tostring_error }.err)
    assert.matches("^perflua: %(error object is a table value%)",
      run.perflua { "-e", "error {}" }.err)
    assert.matches("^perflua: %(error object is a nil value%)",
      run.perflua { "-e", "error(nil)" }.err)
  end)

  it("is an error, status 1, if it is missing or does not compile", function()
    local got = run.perflua { run.script "x = = 1" }
    assert.are.equal(1, got.status)
    assert.matches(":1: unexpected symbol near '='", got.err)
    got = run.perflua { "./no/such.lua" }
    assert.are.equal(1, got.status)
    assert.matches("^perflua: cannot open ./no/such.lua", got.err)
  end)

  it("sees its own line when it calls perflua wrongly, and its own frames with --traceback",
    function()
      local path = run.script(([[
local function ask(file) file:samples():where("perid == 1") end
ask(perflua.open(%q))]]):format(run.demo))
      local message = ("perflua: %s:1: filter \"perid == 1\", column 1: unknown field 'perid'; "
        .. "the closest is 'period'\n"):format(path)
      assert.same({ status = 1, out = "", err = message }, run.perflua { path })
      assert.same({ status = 1, out = "", err = message .. ([[
stack traceback:
	%s:1: in local 'ask'
	%s:2: in main chunk
	[C]: in ?
]]):format(path, path) }, run.perflua { "--traceback", path })
    end)

  it("says in one line what is wrong with a call, a recording or its own arguments", function()
    for text, message in pairs {
      ["file:thread('x')"] = ":1: ",
      ["print(file.samplez)"] = ":1: a file has no field 'samplez'; did you mean 'samples'?",
      ["assert(perflua.open '/no/such')"] = ":1: /no/such: cannot open: No such file",
      ["error('usage: perflua this.lua', 0)"] = " usage: perflua this.lua",
      ["return function(file) local q = file:samples 'nope' return q end"] =
        ":1: this recording has no event 'nope'",
    } do
      local got = run.perflua { run.script("file = perflua.open(arg[1]) " .. text), run.demo }
      assert.equal(1, got.status)
      assert.matches("^perflua:[^\n]*\n$", got.err)
      assert.matches(message, got.err, 1, true)
    end
  end)

  it("ends with status 1 if its function returns nothing and writes nothing", function()
    local got = run.perflua { run.script "return function(file) file:samples() end", run.demo }
    assert.same({ status = 1, out = "", err = "perflua: the script's function returned nothing "
      .. "and wrote nothing; expected a grouped query or a Table, or true if there is nothing "
      .. "to show\n" }, got)
    got = run.perflua { run.script "return function() return nil, 'no luck' end", run.demo }
    assert.same({ status = 1, out = "", err = "perflua: no luck\n" }, got)
    for text, out in pairs { ["print 'x'"] = "x\n", ["io.stderr:write 'x'"] = "",
        ["os.execute 'echo x'"] = "x\n", ["io.stdout:write 'x' io.stdout:flush()"] = "x",
        ["return true"] = "" } do
      got = run.perflua { run.script("return function() " .. text .. " end"), run.demo }
      assert.same({ 0, out }, { got.status, got.out }, text)
    end
  end)

  it("ends with status 1 if the recording has none of the events of its handlers", function()
    local text = "return { ['sched:sched_switch'] = print, ['nope:*'] = print, "
      .. "finish = function() print 'finished' end%s }"
    local got = run.perflua { run.script(text:format ""), run.demo }
    assert.same({ 1, "finished\n" }, { got.status, got.out })
    assert.matches("\nperflua: no handler was called: the recording has none of their "
      .. "events\n$", got.err)
    for _, more in ipairs { ", mmap2 = function() end", ", other = function() end",
        ", ['cpu-clock'] = function() end", ", ['page*'] = function() end" } do
      got = run.perflua { run.script(text:format(more)), run.demo }
      assert.same({ 0, "finished\n" }, { got.status, got.out }, more)
    end
  end)

  it("sees only its own frames where it is at fault", function()
    local path = run.script "return function(file)\n  local n = #nothing\nend"
    assert.equal(([[
perflua: %s:2: attempt to get length of a nil value (global 'nothing')
stack traceback:
	%s:2: in local 'fn'
	[C]: in ?
]]):format(path, path), run.perflua({ path, run.demo }).err)
    for _, text in ipairs { "('x'):rep(-1, {})", "assert(false, 'no')", "error 'no'",
        "perflua.open(arg[1]):samples():where(function(s) return #s.pid end):count()" } do
      assert.matches("\nstack traceback:\n", run.perflua({ run.script(text), run.demo }).err)
    end
  end)

  it("is a wrong command line, status 2, if it is neither a tool nor a file", function()
    local got = run.perflua { "stta" }
    assert.are.equal(2, got.status)
    assert.matches("^perflua: 'stta' is neither a tool nor a script file", got.err)
  end)

  it("ends with the status it exits with", function()
    assert.are.equal(7, run.perflua { "-e", "os.exit(7)" }.status)
    assert.are.equal(0, run.perflua { "-e", "os.exit(true, true)" }.status)
  end)

  it("ends with status 1 and says why if its output cannot be written", function()
    local got = run.shell [["$perflua" -e 'io.write "lost"' >/dev/full]]
    assert.are.equal(1, got.status)
    assert.matches("^perflua: cannot write to standard output", got.err)
  end)
end)

describe("a script that returns handlers", function()
  local counting = [[
    local n = 0
    return {
      meta = { description = "counts samples", needs = "any samples" },
      sample = function() n = n + 1 end,
      finish = function() print(n) end,
    }]]

  it("is run over the recording that is its argument", function()
    local got = run.perflua { run.script(counting), run.demo }
    assert.are.same({ status = 0, out = "672\n", err = "" }, got)
  end)

  it("is run over perf.data where it is started", function()
    local got = run.shell(([[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      demo=$PWD/%s && cd "$(mktemp -d)" && cp "$demo" perf.data && "$perflua" %s]])
      :format(run.demo, run.script(counting)))
    assert.are.same({ status = 0, out = "672\n", err = "" }, got)
  end)

  it("says what is wrong with a recording, without a traceback, status 1", function()
    local got = run.perflua { run.script(counting), "/no/such/perf.data" }
    assert.are.equal(1, got.status)
    assert.matches("^perflua: /no/such/perf.data: [^\n]*\n$", got.err)
  end)

  it("fails with its handler's error and a traceback", function()
    local got = run.perflua {
      run.script "return { sample = function() error 'in a handler' end }", run.demo }
    assert.are.equal(1, got.status)
    assert.matches("^perflua: [^\n]*:1: in a handler\nstack traceback:\n", got.err)
  end)

  it("explains itself to perflua help", function()
    local path = files.temporary(counting)
    local got = run.perflua { "help", path }
    assert.are.equal(0, got.status)
    assert.matches(path .. ": counts samples\n", got.out, 1, true)
    assert.matches("needs: any samples\n", got.out, 1, true)
  end)
end)
