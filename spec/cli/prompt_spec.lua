local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Returns what a terminal shows when these lines are typed one after the other, behind these
-- words on the command line; the last line ends perflua.
local function typed(lines, words)
  local got = run.shell(([[
    export TERM=dumb HOME=$(mktemp -d)
    while read -r line; do sleep 0.2; printf '%%s\n' "$line"; done <<'END' |
%s
os.exit(true, true)
END
    { timeout 30 script -qec "$perflua "%s /dev/null; echo status $?; }
    cat "$HOME/.perflua_history"; ls -l "$HOME/.perflua_history" | cut -c 1-10]])
    :format(table.concat(lines, "\n"), files.quote(words or "")))
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

  needs.it("terminal", "comes with a recording, which is the global file", function()
    local lines = { "#arg, arg[1] == file.path", "file:samples():count()" }
    local shown = typed(lines, run.demo)
    assert.matches("\n1\ttrue\n", shown)
    assert.matches("\n672\n", shown)
    assert.matches("status 0\n", shown)
    assert.matches("\n4\n", typed(lines, "-f \"comm == 'wc'\" " .. run.demo))
  end)

  needs.it("terminal", "does not come where standard input or output is no terminal", function()
    for _, redirected in ipairs { "</dev/null", "| cat" } do
      local script = run.script(('"$perflua" "$demo" %s\n'):format(redirected))
      local got = run.shell_with([[
        demo=$1 script=$2; export demo perflua
        timeout 30 script -qec "sh $script" /dev/null </dev/null]], run.demo, script)
      assert.matches("is a recording, not a script; try: perflua stat", got.out, 1, true)
    end
  end)

  it("comes after a script with -i, and ends with its input", function()
    local got = run.perflua({ "-i", run.script "y = 'from the script'" }, { stdin = "y" })
    assert.are.equal(0, got.status)
    assert.matches("\nfrom the script\n", got.out)
  end)
end)
