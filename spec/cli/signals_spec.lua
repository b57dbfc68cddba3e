local files = require "spec.support.files"
local run = require "spec.cli.run"

-- Starts the interpreter, waits until it has printed something, sends SIGINT so many times.
local function interrupted(times, words)
  local out = files.temporary()
  local got = run.shell(([[
    "$perflua" %s >%s & pid=$!
    while ! [ -s %s ] && kill -0 $pid; do sleep 0.02; done
    for i in $(seq %d); do kill -INT $pid; sleep 0.3; done
    wait $pid]]):format(words, out, out, times))
  got.out = files.read(out)
  return got
end

local slow = [[
  io.write("ready\n")
  io.flush()
  local function slowly()
    local till = os.clock() + 0.01
    while os.clock() < till do end
  end
]]

describe("SIGINT", function()
  it("ends a script's loop as if the recording had ended, with status 130", function()
    local script = run.script(slow .. [[
      local n = 0
      for _ in perflua.open(arg[1]):samples() do
        slowly()
        n = n + 1
      end
      print(n > 0 and n < 672)]])
    assert.are.same({ status = 130, out = "ready\ntrue\n", err = "" }, interrupted(1, script .. " " .. run.demo))
  end)

  it("ends run() and calls finish", function()
    local script = run.script(slow .. [[
      local n = 0
      return {
        sample = function() slowly() n = n + 1 end,
        finish = function() print("finish", n > 0 and n < 672) end,
      }]])
    assert.are.same({ status = 130, out = "ready\nfinish\ttrue\n", err = "" },
      interrupted(1, script .. " " .. run.demo))
  end)

  it("raises an error when it comes twice", function()
    local script = run.script "io.write('ready\\n') io.flush() local function spin() while true do end end spin()"
    local got = interrupted(2, script)
    assert.are.equal(130, got.status)
    assert.matches("^perflua: [^\n]*:1: interrupted\nstack traceback:\n.*in local 'spin'", got.err)
  end)

  it("ends the process when it comes three times and the script does not yield to the error", function()
    local script = run.script [[
      io.write('ready\n') io.flush()
      while true do pcall(function() while true do end end) end]]
    assert.are.equal(130, interrupted(3, script).status) -- as the shell says it: 128 + SIGINT
  end)
end)

describe("SIGPIPE", function()
  it("ends perflua quietly", function()
    local got = run.shell [[{ "$perflua" -e 'for i = 1, 1e6 do print(i) end'; echo $? >&2; } | head -n 1]]
    assert.are.equal("1\n", got.out)
    assert.are.equal("141\n", got.err:match("^%s*[^\n]*\n$")) -- nothing but the status: 128 + SIGPIPE
  end)
end)
