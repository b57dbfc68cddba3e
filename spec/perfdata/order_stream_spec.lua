-- The order of time in what comes but once: as perf has it, by rounds.
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local in_order = require "spec.support.in_order"
local perflua = require "perflua"
local run = require "spec.cli.run"
local timed = require "spec.support.timed"
local zstd = require "spec.support.builder_zstd"

local NONE = timed.NONE

describe("a stream's records", function()
  --- Reads these times from a FIFO: the pids, how many were out of order; the path.
  local function streamed(times, options)
    local b = timed.builder { container = "pipe" }
    local stream = timed.add(b, times)
    local path = b:write()
    local file <close> = assert(perflua.open(containers.stream(path), options))
    return timed.read(file), file.out_of_order, stream, path
  end

  it("are in the order of time when rounds hold", function()
    local found, late, stream = streamed(timed.rounds(9000, true))
    timed.same(timed.pids_of(in_order.exactly { stream }), found)
    assert.are.equal(0, late)
  end)

  for _, shape in ipairs(timed.shapes) do
    it("are in the order of time when all of them can wait for the end: "
      .. shape[1], function()
      local found, late, stream = streamed(shape[2])
      timed.same(timed.pids_of(in_order.exactly { stream }), found)
      assert.are.equal(0, late)
    end)
  end

  it("come in the order of perf when some come too late for their round, and are "
    .. "counted", function()
    warn "@off"
    local cases = {
      { 10, 20, "round", 30, 40, "round", 50, "round", 15, 60, "round", 70 },
      { 10, "round", 20, "round", 30, "round", 5, 6, 7, "round", 40, "round", 8, 50 },
      { 10, "round", "round", "round", 5, "round", 20, "round", 30, "round", 25, 1 },
      { NONE, 10, "round", 20, NONE, "round", 30, "round", 5, NONE, 40, "round", 50 },
    }
    for i, times in ipairs(cases) do
      local expected, late = in_order.by_rounds(select(3, streamed(times)))
      local found, counted = streamed(times)
      assert.are.same({ i, timed.pids_of(expected), late }, { i, found, counted })
      assert.is_true(late > 0)
    end
  end)

  it("are reported once if they came too late", function()
    local path = select(4, streamed { 10, "round", 20, "round", 30, "round", 5, 6, 7, "round",
      40 })
    local got = run.shell_with('cat "$1" | "$perflua" "$2" -', path, run.script [[
      local file = perflua.open(arg[1])
      for r in file:records() do io.write(r.time, " ") end
      print(file.out_of_order)]])
    assert.are.equal(3, tonumber(got.out:match "(%d+)\n$"))
    assert.matches("^perflua: %-: 3 records came too late[^\n]*\n$", got.err)
  end)

  it("count as nothing in the order they come", function()
    local b = timed.builder { container = "pipe" }
    timed.add(b, timed.range(9, 1, -1))
    local file <close> = assert(perflua.open(containers.stream(b:write())))
    timed.same(timed.range(1, 9), timed.read(file, { order = "file" }))
    assert.are.equal(0, file.out_of_order)
  end)

  it("wait for no others if none of them has a time", function()
    local got = run.shell_with([[
      wait_for() { for i in $(seq 6000); do [ -s "$1" ] && return; sleep 0.05; done; echo late; }
      { cat "$1"; wait_for "$2" >&2; } | "$perflua" "$3" - "$2"]], (function()
      local b = builder.new { container = "pipe" }
      b:event { name = "cycles", sample_type = { "ip", "tid" }, ids = { 7 } }
      timed.add(b, { 5, 4, 3 })
      return b:write()
    end)(), files.temporary(), run.script [[
      for r in perflua.open(arg[1]):records() do
        io.write(r.pid, " ")
        local f <close> = io.open(arg[2], "w")
        f:write "seen"
      end]])
    assert.are.same({ status = 0, out = "1 2 3 ", err = "" }, got)
  end)

  it("wait for two rounds, and no longer", function()
    local b = timed.builder { container = "pipe" }
    timed.add(b, { NONE, 10, 12, "round", 11, 20, "round", 21, 30, "round", 25, 40 })
    local last = b:offsets()[11]
    local path = b:write()
    local got = run.shell_with(([[
      wait_for() { for i in $(seq 6000); do [ -s "$1" ] && return; sleep 0.05; done; echo late; }
      { head -c %d "$1"; wait_for "$2" >&2; tail -c +%d "$1"; } | "$perflua" "$3" - "$2"]]):format(last, last + 1),
      path, files.temporary(), run.script [[
        for r in perflua.open(arg[1]):records() do
          io.write(r.pid, " ")
          if r.time == 20 then
            local f <close> = io.open(arg[2], "w")
            f:write "seen"
          end
        end]])
    assert.are.same({ status = 0, out = "1 2 5 3 6 8 11 9 12 ", err = "" }, got)
  end)

  describe("in a window", function()
    local times = timed.almost(9000, 300) -- of 56 bytes each

    it("are sorted if it is large enough for their disorder", function()
      local found, late, stream = streamed(times, { window = 1 << 18 })
      timed.same(timed.pids_of(in_order.exactly { stream }), found)
      assert.are.equal(0, late)
    end)

    it("are counted if it is too small for it", function()
      warn "@off"
      local found, late = streamed(timed.range(8000, 1, -1), { window = 1 << 16 })
      assert.are.equal(8000, #found)
      assert.is_true(late > 0)
      table.sort(found)
      timed.same(timed.range(1, 8000), found)
    end)

    it("have the script's choice of it, at least a record's size", function()
      for _, window in ipairs { 0, -1, 65535, 1.5, "1M" } do
        assert.error_matches(function() perflua.open("x", { window = window }) end, "window")
      end
    end)

    it("may be larger than it", function()
      -- what is compressed waits, too, and only simpleperf has records as large
      local b = builder.new()
      local event = b:event { sample_type = { "tid", "time" } }
      b:feature(129, "")
      local function pack(time)
        return b:apart(function() b:sample(event, { pid = time, time = time }) end)
      end
      b:record("compressed", { data = zstd.frame()(pack(1) .. pack(2)) })
      for _ = 1, 3 do b:raw(0x8005, 3, ("x"):rep(200000), 200008 & 0xffff) end
      b:sample(event, { pid = 3, time = 3 })
      local path, found = b:write(), {}
      local file <close> = assert(perflua.open(path, { window = 1 << 16 }))
      for r in file:records() do found[#found + 1] = r.type_id .. " " .. r.size end
      assert.are.same({ "9 24", "9 24", "32773 200008", "32773 200008", "32773 200008",
        "9 24" }, found)
      assert.are.equal(0, #file.damage)
    end)

    it("keep memory small", function()
      local b = builder.new { container = "pipe" }
      local event = b:event { name = "x", sample_type = { "tid", "time", "raw" } }
      local head = b:bytes()
      local body = b:apart(function()
        for i = 1, 500 do
          b:sample(event, { pid = i, time = i, raw = ("x"):rep(4004) })
        end
      end)
      -- a sanitizer must not keep what was freed
      local got = run.shell_with([[{ cat "$1"; for i in $(seq 50); do cat "$2"; done; } |
        ASAN_OPTIONS="$ASAN_OPTIONS:quarantine_size_mb=1" "$perflua" "$3"]],
        files.temporary(head), files.temporary(body), run.script [[
          warn "@off"
          local file = perflua.open("-", { window = 1 << 20 })
          local n = 0
          for _ in file:records():select("pid") do n = n + 1 end
          print(n, file.out_of_order > 0)
          for line in io.lines "/proc/self/status" do
            local peak = line:match "^VmHWM:%s*(%d+)"
            if peak then print(peak) end
          end]])
      local n, counted, peak = got.out:match "^(%d+)\t(%a+)\n(%d+)\n$"
      assert.are.same({ 50 * 500, "true" }, { tonumber(n), counted }, got.err)
      assert.is_true(tonumber(peak) < 64 * 1024, peak) -- of 100 MB
    end)
  end)
end)
