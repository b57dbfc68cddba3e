local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Returns what a terminal shows when these lines are typed one after the other; the last ends
-- perflua.
local function typed(lines)
  local got = run.shell(([[
    export TERM=dumb HOME=$(mktemp -d)
    while read -r line; do sleep 0.2; printf '%%s\n' "$line"; done <<'END' |
%s
os.exit(true, true)
END
    { timeout 30 script -qec "$perflua" /dev/null; echo status $?; }
    cat "$HOME/.perflua_history"; ls -l "$HOME/.perflua_history" | cut -c 1-10]])
    :format(table.concat(lines, "\n")))
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

  it("comes after a script with -i, and ends with its input", function()
    local got = run.perflua({ "-i", run.script "y = 'from the script'" }, { stdin = "y" })
    assert.are.equal(0, got.status)
    assert.matches("\nfrom the script\n", got.out)
  end)
end)
