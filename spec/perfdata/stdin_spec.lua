-- Recordings that come as a stream, on standard input or through a FIFO.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

local shell = run.shell_with

--- Runs a script over what comes from a command: `cat "$1" | perflua script -`.
local function piped(text, path, command)
  return shell((command or 'cat "$1"') .. ' | "$perflua" "$2" -', path, run.script(text))
end

local function many(n)
  local b = small()
  for i = 4, n do
    b:sample(b.events[1], { identifier = 11, ip = i, pid = 5, time = i })
  end
  return b
end

describe("a pipe-mode recording on standard input", function()
  it("is the recording that it is in a file", function()
    local path = many(30000):write()
    local got = shell('"$perflua" dump "$1" | cksum; cat "$1" | "$perflua" dump - | cksum',
      path)
    assert.are.equal("", got.err)
    local one, other = got.out:match "^([^\n]+)\n([^\n]+)\n$"
    assert.are.equal(one, other)
    assert.are_not.equal("4294967295 0", one)
  end)

  it("may come byte by byte", function()
    local path = small():write()
    local got = shell('"$perflua" dump "$1"; dd bs=1 status=none if="$1" | "$perflua" dump -',
      path)
    assert.are.equal("", got.err)
    assert.are.equal(16, select(2, got.out:gsub("\n", "")))
    assert.are.equal(got.out:sub(1, #got.out // 2), got.out:sub(#got.out // 2 + 1))
  end)

  it("says what it is, but has no size", function()
    local got = piped([[
      local file = assert(perflua.open(arg[1]))
      print(file.mode, file.path, file.version, file.byte_order, file.size)
      print(file.first_time, file.last_time, file.features.hostname)
      for i, event in ipairs(file.events) do io.write(event.name, " ") end]], small():write())
    assert.are.equal("pipe\t-\t2\tlittle\tnil\nnil\tnil\there\none two ", got.out .. got.err)
  end)

  it("is run through by handlers", function()
    local got = piped([[return {
      begin = function(file) print(file.mode) end,
      comm = function(r) print(r.comm) end,
      two = function(s) print(s.time) end,
      finish = function(file) print(file.complete) end,
    }]], small():write())
    assert.are.same({ status = 0, out = "pipe\nsh\n2\ntrue\n", err = "" }, got)
  end)

  it("is counted and grouped", function()
    local got = piped([[
      perflua.open("-"):samples():group_by("tid"):count():top(9):csv(io.stdout)]], many(1000):write())
    assert.are.equal("", got.err)
    assert.are.equal("event,tid,count\none,5,998\ntwo,5,1\n", (got.out:gsub("\r", "")))
  end)

  it("can be read only once: a second pass raises and says why", function()
    local got = piped([[
      local file = perflua.open("-")
      print(file:records():count())
      print(select(2, pcall(function() for _ in file:records() do end end)))
      print(select(2, pcall(file.run, file, { comm = print })))
      file:close()]], small():write())
    assert.matches(
      "^3\n[^\n]*%-: a stream can be read only once, and it was read: save it to a file first\n"
        .. "[^\n]*a stream can be read only once",
      got.out .. got.err)
  end)

  it("can be read only once also when the first pass ended early", function()
    local got = piped([[
      local file = perflua.open("-")
      for r in file:records() do print(r.comm) break end
      print(pcall(function() for _ in file:records() do end end))]], small():write())
    assert.matches("^sh\nfalse\t[^\n]*a stream can be read only once", got.out .. got.err)
  end)

  it("is read no further than a script goes, however much there is", function()
    local b = small()
    local path, body = b:write(), files.temporary(b:bytes():sub(b:offsets()[1] + 1))
    local got = shell([[
      { cat "$1"; while cat "$2" 2>/dev/null; do :; done; } | timeout 300 "$perflua" "$3" -]], path, body, run.script [[
        local n = 0
        for _ in perflua.open("-"):records { order = "file" } do
          n = n + 1
          if n == 5000 then break end
        end
        print(n)]])
    assert.are.same({ status = 0, out = "5000\n", err = "" }, got)
  end)

  it("keeps memory small if it is larger than memory for blocks", function()
    local body = files.temporary(many(20000):bytes():sub(many(20000):offsets()[1] + 1))
    local got = shell([[{ cat "$1"; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat "$2"; done; } |
      "$perflua" -e 'print(perflua.open("-"):records():count())
        for line in io.lines("/proc/self/status") do print(line:match "^VmHWM:%s*(%d+)") end' | grep -v nil]],
      small():write(), body)
    local n, peak = got.out:match "^(%d+)\n(%d+)\n$"
    assert.are.equal(3 + 16 * 20000, tonumber(n), got.err)
    assert.is_true(tonumber(peak) < 64 * 1024, peak)
  end)

  it("cut in the payload of a record or in a record says so", function()
    local b = small()
    b:record("auxtrace", { data = ("x"):rep(4096) })
    local path, at = b:write(), b:offsets()[4]
    for _, n in ipairs { at - 1, at + 7, at + 47, at + 48, at + 1000 } do
      local got = shell(('head -c %d "$1" | "$perflua" "$2" -'):format(n), path, run.script [[
        warn "@off"
        local file = perflua.open("-")
        print(file:records():count(), file.complete, #file.damage, file.damage[1] and file.damage[1].offset)]])
      -- of a record whose own bytes are whole a stream can only tell later that the payload is
      -- not
      local whole = n < at and 2 or n < at + 48 and 3 or 4
      assert.matches(("^%d\tfalse\t1\t%%d+\n$"):format(whole), got.out, nil,
        got.err .. " at " .. n - at)
    end
  end)

  it("has no payload of AUX area data any more when a script asks for it", function()
    local b = small()
    b:record("auxtrace", { data = ("trace!!!"):rep(70000), idx = 1 })
    b:record("comm", { comm = "after" }, { time = 9 })
    local got = piped([[
      for r in perflua.open("-"):records() do
        if r.type == "auxtrace" then print(r.data_size, select(2, pcall(r.data, r))) end
        if r.type == "comm" then print(r.comm) end
      end]], b:write())
    assert.matches("^sh\n560000\t[^\n]*stream[^\n]*\nafter\n$", got.out .. got.err)
  end)

  it("has the fields of its payload's record also when that is said to be huge", function()
    local b = small()
    b:record("auxtrace", { data = "trace!!!", data_size = 1 << 45 })
    local got = piped([[
      warn "@off"
      local r = perflua.open("-"):records("auxtrace"):first()
      print(r.data_size == 1 << 45, pcall(r.data, r))]], b:write())
    assert.matches("^true\tfalse\t[^\n]*stream[^\n]*\n$", got.out, nil, got.err)
  end)

  it("is refused if it is empty or too short", function()
    for _, bytes in ipairs { "", "PERFILE2", "PERFILE2\16\0\0\0\0\0\0" } do
      local got = piped("print(select(2, perflua.open('-')))", files.temporary(bytes))
      local found = bytes == "" and "found an empty file" or ".*found %d+ bytes, expected"
      assert.matches("^%-: offset 0: " .. found, got.out)
    end
    assert.matches("found an empty file", run.perflua({ "stat", "-" }).err)
  end)

  it("is refused if it is something else", function()
    local got = piped("print(perflua.open('-'))", files.temporary(("hello "):rep(1000)))
    assert.matches("^nil\t%-: offset 0: [^\n]*\tFORMAT\n$", got.out)
  end)
end)

describe("a FIFO", function()
  it("is read like standard input", function()
    local got = shell([[
      dir=$(mktemp -d) && mkfifo "$dir/fifo" || exit
      cat "$1" >"$dir/fifo" &
      "$perflua" "$2" "$dir/fifo"
      rm -r "$dir"]], small():write(),
      run.script "local f = perflua.open(arg[1]) print(f.mode, f.size, f:records():count())")
    assert.are.same({ status = 0, out = "pipe\tnil\t3\n", err = "" }, got)
  end)
end)

describe("a seekable recording on standard input", function()
  for what, how in pairs { ["through a pipe"] = 'cat "$1" | ', ["as a file"] = '<"$1" ' } do
    it("is the file, " .. what, function()
      local got = shell('"$perflua" dump "$1" | cksum; ' .. how .. '"$perflua" dump - | cksum',
        run.demo)
      local one, other = got.out:match "^([^\n]+)\n([^\n]+)\n$"
      assert.are.equal(one, other, got.err)
      assert.are_not.equal("4294967295 0", one)
    end)

    it("can be read again, and has a size, " .. what, function()
      local got = shell(how .. '"$perflua" "$2"', run.demo, run.script [[
        local file = perflua.open("-")
        print(file.mode, file.size, file:records():count() == file:records():count())
        print(file.first_time ~= nil, file.features.hostname ~= nil)]])
      assert.are.equal(("file\t%d\ttrue\ntrue\ttrue\n"):format(#files.read(run.demo)),
        got.out .. got.err)
    end)
  end

  it("leaves nothing behind where it was kept", function()
    local got = shell([[
      export TMPDIR=$(mktemp -d)
      cat "$1" | "$perflua" -e 'print(perflua.open("-"):samples():count())'
      ls -A "$TMPDIR"; rmdir "$TMPDIR"]], run.demo)
    assert.are.same({ status = 0, out = "672\n", err = "" }, got)
  end)

  it("is an error where it cannot be kept", function()
    local got = shell([[cat "$1" | TMPDIR=/no/such "$perflua" -e 'print(perflua.open("-"))']],
      run.demo)
    assert.matches("^nil\t/no/such/[^\n]*: [^\n]*\tENOENT\n$", got.out)
  end)

  it("is one that was cut where it was cut", function()
    local b = builder.new()
    b:event { name = "cycles" }
    for _ = 1, 100 do
      b:record("comm", { comm = "sh" })
    end
    local got = shell(('head -c %d "$1" | "$perflua" "$2"'):format(b:offsets()[50] + 9), b:write(), run.script [[
      warn "@off"
      local file = perflua.open("-")
      print(file:records():count(), file.complete)]])
    assert.are.equal("49\tfalse\n", got.out, got.err)
  end)
end)
