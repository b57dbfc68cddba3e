-- The order of time over several files: those of a directory, and recordings that are opened
-- together.
local builder = require "spec.support.builder"
local in_order = require "spec.support.in_order"
local perflua = require "perflua"
local run = require "spec.cli.run"
local timed = require "spec.support.timed"

local NONE, PERFS = timed.NONE, timed.PERFS

describe("the time order of a directory", function()
  --- streams[0] are the times of `data`, the others by the number of their file.
  local function directory(streams, options)
    options = options or {}
    options.container = "directory"
    local b, list, count = timed.builder(options), {}, 0
    for _, n in ipairs { "", 0, 1, 2, 10 } do
      local times = streams[n]
      local function fill()
        list[#list + 1] = timed.add(b, times, count)
        count = count + #times
      end
      if times and n == "" then
        fill()
      elseif times then
        b:beside(n, fill)
      end
    end
    return timed.read(assert(perflua.open(b:write()))), timed.pids_of(in_order.exactly(list))
  end

  it("takes the records of each cpu from its own file", function()
    local streams = { [""] = { NONE, PERFS, NONE } }
    for n, seed in pairs { [0] = 1, [1] = 2, [2] = 3, [10] = 4 } do
      local random, time = timed.random(seed), 1000
      streams[n] = {}
      for i = 1, 3000 do
        time = time + random(9)
        streams[n][i] = time - (random(50) == 0 and random(20) or 0)
      end
    end
    local found, expected = directory(streams)
    timed.same(expected, found)
    timed.same(expected, (directory(streams, { endian = "big" })))
  end)

  it("merges all its files, whatever their shape", function()
    local found, expected = directory {
      [""] = timed.rounds(2000, true), [0] = timed.range(3000, 1, -1),
      [2] = timed.jumbled(3000),
      [10] = timed.almost(3000, 30),
    }
    timed.same(expected, found)
  end)

  it("delivers equal times in the order of its files' numbers", function()
    assert.are.same({ 1, 2, 4, 5, 6, 3 },
      (directory { [""] = { NONE, 5, 6 }, [0] = { 5 }, [2] = { 5 }, [10] = { 5 } }))
  end)

  it("keeps records without a time in their file", function()
    assert.are.same({ 1, 3, 5, 6, 4, 2 },
      (directory { [""] = { NONE, 9 }, [0] = { NONE, 7 }, [1] = { 5, NONE } }))
  end)

  it("accepts empty files", function()
    assert.are.same({ 3, 2, 1 },
      (directory { [""] = { 9 }, [0] = {}, [1] = { 7, 5 }, [2] = {} }))
  end)
end)

describe("several recordings", function()
  --- Paths of recordings with these times; the streams.
  local function recordings(lists, change)
    local paths, streams, count = {}, {}, 0
    for i, times in ipairs(lists) do
      local b = timed.builder()
      b:feature("hostname", "here")
      if change then
        change(b, i)
      end
      streams[i] = timed.add(b, times, count)
      count = count + #times
      paths[i] = b:write()
    end
    return paths, streams
  end

  it("are one in the order of time", function()
    local paths, streams = recordings {
      timed.jumbled(3000), timed.rounds(3000, true), timed.range(4000, 1, -1), {}, { NONE, 5 },
    }
    local file <close> = assert(perflua.open(paths))
    timed.same(timed.pids_of(in_order.exactly(streams)), timed.read(file))
    assert.are.equal(0, file.out_of_order)
  end)

  it("come in the given order if their records have the same times", function()
    local paths = recordings { { 5, 6 }, { 5, 6 } }
    assert.are.same({ 1, 3, 2, 4 }, timed.read(assert(perflua.open(paths))))
    assert.are.same({ 3, 1, 4, 2 }, timed.read(assert(perflua.open { paths[2], paths[1] })))
  end)

  it("may be the same one twice", function()
    local paths = recordings { { 5, 7, 6 } }
    assert.are.same({ 1, 1, 3, 3, 2, 2 },
      timed.read(assert(perflua.open { paths[1], paths[1] })))
  end)

  it("tell by `source` which of them a record is of, from 1 on", function()
    local paths = recordings { { 5, 9, NONE }, { NONE, 7 } }
    local file <close> = assert(perflua.open(paths))
    assert.are.same({ { 1, 2 }, { 5, 1 }, { 7, 2 }, { 9, 1 }, { false, 1 } },
      (function()
        local list = {}
        for r in file:records():each() do
          list[#list + 1] = { r.time or r.pid == 4 and 1, r.source }
        end
        return list
      end)())
    local only <close> = assert(perflua.open { paths[2] })
    assert.are.equal(1, only:records():first().source)
    local one <close> = assert(perflua.open(paths[2]))
    assert.is_nil(one:records():first().source)
  end)

  it("follow one another in the order of files if this is asked for", function()
    local paths = recordings { timed.jumbled(100), timed.jumbled(50) }
    timed.same(timed.range(1, 150), timed.read(assert(perflua.open(paths)), { order = "file" }))
  end)

  local clocks = {
    { "clocks of different kinds", function(b, i)
      b.events[1].use_clockid, b.events[1].clockid = i == 2, i == 2 and 1 or 0
    end, "clockid" },
    { "hosts of different names", function(b, i)
      b:feature("hostname", "host " .. i)
    end, "hostname" },
    { "different kernels", function(b, i) b:feature("osrelease", "6." .. i) end, "osrelease" },
  }
  for _, clock in ipairs(clocks) do
    it("warn if they have " .. clock[1]
      .. " follow one another, each in the order of time, and a warning says why", function()
      local paths = recordings({ { 9, 3, 5 }, { 4, 2, 8 } }, clock[2])
      warn "@off"
      assert.are.same({ 2, 3, 1, 5, 4, 6 }, timed.read(assert(perflua.open(paths))))
      assert.are.same({ 5, 4, 6, 2, 3, 1 },
        timed.read(assert(perflua.open { paths[2], paths[1] })))
      local got = run.shell_with('"$perflua" "$1" "$2" "$3"', run.script [[
        for r in perflua.open { arg[1], arg[2] }:records() do io.write(r.pid, " ") end]], paths[1], paths[2])
      assert.are.equal("2 3 1 5 4 6 ", got.out)
      assert.matches("^perflua: [^\n]*follow one another[^\n]*" .. clock[3] .. "[^\n]*\n$",
        got.err)
    end)
  end

  it("are merged by the time of day if they know it", function()
    local paths = recordings({ { 9, 3, 5 }, { 4, 2, 8 } }, function(b, i)
      b.events[1].use_clockid, b.events[1].clockid = true, 1
      b:feature("clock_data", { clockid = 1, wall_clock = i * 100000000000, clock_time = 1000 })
    end)
    assert.are.same({ 2, 3, 1, 5, 4, 6 },
      timed.read(assert(perflua.open { paths[2], paths[1] })))
    local got = run.shell_with('"$perflua" "$1" "$2" "$3"', run.script [[
      for r in perflua.open { arg[1], arg[2] }:records() do io.write(r.pid, " ") end]], paths[2], paths[1])
    assert.are.same({ status = 0, out = "2 3 1 5 4 6 ", err = "" }, got)
  end)

  it("are merged by the time of day where a thread loads ahead", function()
    local paths, expected = {}, {}
    -- so long that few records fill a chunk
    local LONG <const> = ("x"):rep(60000)
    for i, first in ipairs { 10000000000, 10 } do
      local b = builder.new()
      local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time", "raw" },
        use_clockid = true, clockid = 1 }
      b:feature("clock_data", { clockid = 1, wall_clock = 100000000000,
        clock_time = first })
      for k = 1, 40 do
        expected[2 * k + i - 2] = 100 * i + k
        b:sample(event, { ip = 1, pid = 100 * i + k, tid = 1, time = first + 2 * k + i,
          raw = LONG })
      end
      paths[i] = b:write()
    end
    timed.same(expected, timed.read(assert(perflua.open(paths))))
  end)

  it("are merged by the time of day if a clock is ahead of it", function()
    local paths = recordings({ { 9, 3, 5 }, { 7, 2, 8 } }, function(b, i)
      b.events[1].use_clockid, b.events[1].clockid = true, 1
      b:feature("clock_data", { clockid = 1, wall_clock = 4 + (i - 1) * 100000000000,
        clock_time = 10 })
    end)
    assert.are.same({ 2, 3, 1, 5, 4, 6 }, timed.read(assert(perflua.open(paths))))
  end)

  it("have their last times after all others, even if no time of day is so late", function()
    local paths = recordings({ { 3, -2, 5 }, { 4, -3, -2, 8, -1000 } }, function(b, i)
      b.events[1].use_clockid, b.events[1].clockid = true, 1
      b:feature("clock_data", { clockid = 1, wall_clock = i * 100000000000, clock_time = 10 })
    end)
    -- -2 is 2^64 - 2; those that are out of reach come in the order of files
    assert.are.same({ 1, 3, 4, 7, 2, 5, 6, 8 }, timed.read(assert(perflua.open(paths))))
  end)

  it("do not warn if their clocks agree", function()
    local paths = recordings({ { 9, 3, 5 }, { 4, 2, 8 } }, function(b, i)
      b.events[1].use_clockid, b.events[1].clockid = true, 1
      b:feature("clock_data", { clockid = 1, wall_clock = 5000000000 + i, clock_time = 1000 })
    end)
    local got = run.shell_with('"$perflua" "$1" "$2" "$3"', run.script [[
      for r in perflua.open { arg[1], arg[2] }:records() do io.write(r.pid, " ") end]], paths[1], paths[2])
    assert.are.same({ status = 0, out = "5 2 4 3 6 1 ", err = "" }, got)
  end)
end)
