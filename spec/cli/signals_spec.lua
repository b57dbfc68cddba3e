local files = require "spec.support.files"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

-- Starts the interpreter, waits until it has printed something, sends SIGINT so many times.
local function interrupted(times, words)
  local out = files.temporary()
  local got = run.shell(([[
    "$perflua" %s >%s & pid=$!
    while ! [ -s %s ] && kill -0 $pid; do sleep 0.02; done
    for i in $(seq %d); do
      kill -INT $pid # and wait until it came: two that wait are one
      while grep -qs "^ShdPnd:.*[1-9a-f]" /proc/$pid/status; do sleep 0.02; done
    done
    wait $pid]]):format(words, out, out, times))
  got.out = files.read(out)
  return got
end

-- A script that calls this for each sample is ready to be interrupted at the second one.
local slow = [[
  local samples = 0
  local function slowly()
    samples = samples + 1
    if samples == 2 then
      io.write("ready\n")
      io.flush()
    end
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
    assert.are.same({ status = 130, out = "ready\ntrue\n", err = "" },
      interrupted(1, script .. " " .. run.demo))
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

  local SPIN = "local function spin() while true do end end "

  it("raises immediately where it meets no pass", function()
    local script = run.script(SPIN .. "io.write('ready\\n') io.flush() spin()")
    local got = interrupted(1, script)
    assert.are.same({ 130, "ready\n" }, { got.status, got.out })
    assert.matches("^perflua: [^\n]*:1: interrupted\nstack traceback:\n[^\n]*in local 'spin'",
      got.err)
    -- an iterator, a write and a function of Lua's libraries are not passes
    for _, loop in ipairs { "for _ in ipairs { 1, 2 } do end", "print(1)", "io.stdout:write(1)",
        "os.time()" } do
      got = interrupted(1, ([[-e "print(0) io.flush() while true do %s end"]]):format(loop))
      assert.are.same({ 130, "perflua: (command line):1: interrupted\n" },
        { got.status, got.err }, loop)
    end
  end)

  it("raises a second after the last call of the core where it met a pass", function()
    for _, spin in ipairs { "spin()", "for _ in ipairs { 1 } do spin() end" } do
      local script = run.script(SPIN .. slow .. ([[
        for _ in perflua.open(arg[1]):samples() do slowly() end
        local till = os.clock() + 1.5
        local file = perflua.open(arg[1])
        while os.clock() < till do local _ = file.size end
        print "called"
        %s]]):format(spin))
      local got = interrupted(1, script .. " " .. run.demo)
      assert.are.same({ 130, "ready\ncalled\n" }, { got.status, got.out })
      assert.matches("^perflua: [^\n]*:1: interrupted\nstack traceback:\n[^\n]*'spin'", got.err)
    end
  end)

  it("lets a script that met it in a pass write for longer than a second", function()
    local script = run.script(slow .. [[
      for _ in perflua.open(arg[1]):samples() do slowly() end
      local till = os.clock() + 1.5
      while os.clock() < till do io.write "" end
      print "written"]])
    assert.are.same({ status = 130, out = "ready\nwritten\n", err = "" },
      interrupted(1, script .. " " .. run.demo))
  end)

  it("raises an error when it comes twice", function()
    local script = run.script(SPIN .. [[
      local records = perflua.open(arg[1]):samples():each()
      records()
      io.write "ready\n" io.flush() spin()]])
    local got = interrupted(2, script .. " " .. run.demo)
    assert.are.equal(130, got.status)
    assert.matches("^perflua: [^\n]*:1: interrupted\nstack traceback:\n[^\n]*in local 'spin'",
      got.err)
  end)

  it("ends the process when it comes three times and the script does not yield to the "
    .. "error", function()
    local script = run.script [[
      io.write('ready\n') io.flush()
      while true do pcall(function() while true do end end) end]]
    assert.are.equal(130, interrupted(3, script).status) -- as the shell says it: 128 + SIGINT
  end)
end)

-- Starts the interpreter on what a pipe gives, which then falls silent but stays open; sends
-- SIGINT once there is a line of output and it waits for more, and a silent writer's end is
-- never what ends it. mark: where standard input comes from.
local function silenced(bytes, words, how)
  local out, fifo, late = files.temporary(), files.temporary(), files.temporary()
  local command = how and how:format(words) or words .. ' - <"$2"'
  local got = run.shell_with(([[
    rm "$2" && mkfifo "$2"
    { cat "$1"; sleep 300; echo late >%s; } >"$2" & writer=$!
    "$perflua" %s >%s & pid=$!
    for i in $(seq 6000); do [ -s %s ] && break; sleep 0.05; done
    sleep 0.1
    until grep -q "^State:.*[SZ]" /proc/$pid/status; do sleep 0.02; done
    kill -INT $pid
    wait $pid
    status=$?
    kill $writer
    exit $status]]):format(late, command, out, out), files.temporary(bytes), fifo)
  got.out = files.read(out)
  got.late = files.read(late) ~= ""
  return got
end

describe("SIGINT while a stream is silent", function()
  local bytes = small():bytes()

  it("ends a described query at once, which says what it found", function()
    for ask, found in pairs {
      ["q:group_by('pid', 'event'):count():top(1)[1].count"] = "1", ["q:count()"] = "2",
      ["#q:group_by('comm'):last('ip'):top(1)"] = "%d", -- may wait for those before it in time
    } do
      local text = "print 'ready' io.flush() local q = perflua.open(arg[1]):samples() print(%s)"
      local got = silenced(bytes, run.script(text:format(ask)))
      assert.are.same({ 130, "", false }, { got.status, got.err, got.late })
      assert.matches("^ready\n" .. found .. "\n$", got.out)
    end
  end)

  it("ends a script's loop at once, as if the recording had ended", function()
    -- waiting for a record, or for the rest of one
    for _, n in ipairs { #bytes, #bytes - 20 } do
      for _, of in ipairs { "", ":select 'type_id'" } do
        local script = run.script(([[
          local n = 0
          for _ in perflua.open(arg[1]):records { order = "file" }%s do
            n = n + 1
            print(n)
            io.flush()
          end
          print "end"]]):format(of))
        local got = silenced(bytes:sub(1, n), script)
        assert.are.same({ 130, "", false }, { got.status, got.err, got.late })
        assert.are.equal(n == #bytes and "1\n2\n3\nend\n" or "1\n2\nend\n", got.out)
      end
    end
  end)

  it("ends run() and calls finish", function()
    local script = run.script [[
      return {
        begin = function() print "begin" io.flush() end,
        sample = function() print "sample" end, -- may wait for those before it in time
        finish = function() print "finish" end,
      }]]
    local got = silenced(bytes, script)
    assert.are.same({ 130, "", false }, { got.status, got.err, got.late })
    assert.matches("^begin\n.*finish\n$", got.out)
  end)

  it("ends a tool, which says what it found", function()
    local got = silenced(bytes, "stat", '-e "print(1) io.flush()" %s - <"$2"')
    assert.are.same({ 130, "", false }, { got.status, got.err, got.late })
    assert.matches("sample +2 ", got.out)
  end)

  it("ends the opening of one, also of a FIFO that nobody writes to", function()
    local script = run.script [[
      print "ready"
      io.flush()
      print(select(2, perflua.open(arg[1])))]]
    local got = silenced(bytes:sub(1, 40), script)
    assert.are.same({ 130, "", false }, { got.status, got.err, got.late })
    assert.matches("^ready\n%-: cannot read: [^\n]*\n$", got.out)
    local fifo = files.temporary()
    os.remove(fifo)
    assert(os.execute("mkfifo " .. fifo))
    got = silenced(bytes, script, ('%%s "%s"'):format(fifo))
    assert.are.same({ 130, "", false }, { got.status, got.err, got.late })
    assert.matches("^ready\n/[^\n]*: cannot read: [^\n]*\n$", got.out)
  end)
end)

describe("a FIFO", function()
  it("is waited for until there is a writer", function()
    local path = small():write()
    local got = run.shell_with([[
      dir=$(mktemp -d); mkfifo "$dir/fifo"
      { sleep 0.3; cat "$1" >"$dir/fifo"; } &
      "$perflua" stat "$dir/fifo"; status=$?
      rm -r "$dir"; exit $status]], path)
    assert.are.same({ 0, "" }, { got.status, got.err })
    assert.matches("sample +2 ", got.out)
  end)
end)

describe("the end of a script", function()
  it("calls finalizers, last made first, and closes files", function()
    local path = files.temporary()
    local got = run.shell(('"$perflua" %s %s'):format(run.script [[
      kept = {}
      for i = 1, 3 do
        kept[i] = setmetatable({}, { __gc = function() io.write("finalized ", i, "\n") end })
      end
      kept.file = io.open(arg[1], "w")
      kept.file:write "written"
      kept.child = io.popen("sleep 0.2; echo child", "w")
    ]], path))
    assert.same({ 0, "" }, { got.status, got.err })
    assert.same("child\nfinalized 3\nfinalized 2\nfinalized 1\n", got.out)
    assert.same("written", files.read(path))
  end)
end)

describe("SIGPIPE", function()
  it("ends perflua quietly", function()
    local got =
      run.shell [[{ "$perflua" -e 'for i = 1, 1e6 do print(i) end'; echo $? >&2; } | head -n 1]]
    assert.are.equal("1\n", got.out)
    -- nothing but the status: 128 + SIGPIPE
    assert.are.equal("141\n", got.err:match("^%s*[^\n]*\n$"))
  end)
end)
