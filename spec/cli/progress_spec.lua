-- The progress line on a terminal.
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

local HALF = 100000 -- bytes of the recording, more or less

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
local function shown(options, seconds)
  local got = run.shell_with(([[
    export TERM=dumb
    dir=$(mktemp -d); mkfifo "$dir/fifo"
    timeout 30 sh -c '{ head -c %d "$1"; sleep %s; tail -c +%d "$1"; } >"$2"' sh "$1" "$dir/fifo" &
    timeout 30 script -qec "$perflua %s $2 $dir/fifo" /dev/null </dev/null
    rm -r "$dir"]]):format(HALF, seconds, HALF + 1, options),
    recording(),
    run.script("local query = perflua.open(arg[1]):samples('one'):group_by('pid'):count() "
        .. "print(query:top(1)[1].count)"))
  return got.out
end

needs.describe("terminal", "progress", function()
  it("is shown where a pass takes more than two seconds, and is gone after it", function()
    local before, spaces, after = shown("", 2.3):match "^\rperflua: ([^\r]*)\r( +)\r(.*)$"
    assert.matches("^%d+ MB, %d+ MB/s$", before)
    assert.equal(#("perflua: " .. before), #spaces)
    assert.equal("10001\r\n", after)
  end)

  it("is not shown where it takes less, or with --quiet", function()
    assert.equal("10001\r\n", shown("", 0.1))
    assert.equal("10001\r\n", shown("--quiet", 2.3))
  end)

  it("is not shown where there is no terminal, or by a script of plain Lua", function()
    local script = run.script "print(require 'perflua'.open(arg[1]):samples():count())"
    local got = run.shell_with(([[
      dir=$(mktemp -d); mkfifo "$dir/fifo" "$dir/other"
      for to in fifo other; do
        timeout 30 sh -c '{ head -c %d "$1"; sleep 2.3; tail -c +%d "$1"; } >"$2"' sh "$1" "$dir/$to" &
      done
      "$perflua" "$2" "$dir/fifo" &
      TERM=dumb timeout 30 script -qec "%s $2 $dir/other" /dev/null </dev/null
      wait
      rm -r "$dir"]]):format(HALF, HALF + 1, os.getenv "PERFLUA_LUA" or "lua5.4"), recording(), script)
    assert.same({ "10002\n10002\r\n", "" },
      { got.out:gsub("^10002\r\n10002\n$", "10002\n10002\r\n"), got.err })
  end)
end)
