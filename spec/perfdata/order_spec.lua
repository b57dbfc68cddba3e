-- The order of time, in which records() and samples() come unless another is asked for.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local in_order = require "spec.support.in_order"
local perflua = require "perflua"
local timed = require "spec.support.timed"
local zstd = require "spec.support.builder_zstd"

local NONE, NEVER, PERFS = timed.NONE, timed.NEVER, timed.PERFS

--- How a file with these times is read, and should be.
local function of_file(times, options)
  local b = timed.builder(options)
  local stream = timed.add(b, times)
  return timed.written(b), timed.pids_of(in_order.exactly { stream })
end

describe("a file's records in time order", function()
  for i, shape in ipairs(timed.shapes) do
    it("are sorted with " .. shape[1], function()
      for _, options in ipairs { {},
          { endian = "big", container = i % 2 == 0 and "pipe" or nil } } do
        local found, expected = of_file(shape[2], options)
        timed.same(expected, found)
      end
    end)
  end

  it("are sorted with rounds of several buffers", function()
    local found, expected = of_file(timed.rounds(3000, true))
    timed.same(expected, found)
  end)

  it("stay after the record before them if they have no time", function()
    assert.are.same({ 1, 2, 6, 7, 8, 3, 4, 5 },
      (of_file { NONE, PERFS, 30, NEVER, NONE, 10, NONE, PERFS }))
  end)

  it("keep file order if their times are equal", function()
    assert.are.same({ 2, 4, 1, 3, 5 }, (of_file { 9, 8, 9, 8, 9 }))
  end)

  it("are sorted when they are as large as possible", function()
    local b = builder.new()
    local event = b:event { name = "x", sample_type = { "tid", "time", "raw" } }
    for i = 200, 1, -1 do
      b:sample(event, { pid = i, time = 1000 + i // 2,
        raw = ("x"):rep(i % 3 == 0 and 65484 or 4) })
    end
    local expected = { 1 }
    for i = 2, 200, 2 do
      table.move(i < 200 and { i + 1, i } or { i }, 1, 2, #expected + 1, expected)
    end
    timed.same(expected, timed.written(b))
  end)

  it("are an error or damage if the file became shorter", function()
    warn "@off"
    local b = builder.new()
    local event = b:event { name = "x", sample_type = { "tid", "time", "raw" } }
    for i = 1, 400 do
      b:sample(event, { pid = i, time = i, raw = ("x"):rep(40004) })
    end
    local path = b:write()
    local whole = files.read(path)
    local file <close> = assert(perflua.open(path))
    local n = 0
    local ok = pcall(function()
      for r in file:records():each() do
        n = n + 1
        assert.are.equal(n, r.pid)
        if n == 10 then
          files.write(path, whole:sub(1, #whole // 2))
        end
      end
    end)
    assert.is_true(n >= 10 and n < 400)
    assert.is_true(not ok or not file.complete and #file.damage > 0)
  end)

  -- more chunks overlap than the window holds: their records are read one by one
  local function scattered(n)
    local b, random = timed.builder(), timed.random(7)
    local stream = timed.add(b, timed.each(n, function() return 1 + random(1000000) end))
    return b, timed.pids_of(in_order.exactly { stream })
  end

  it("are sorted in a window of any size", function()
    local b, expected = scattered(9000)
    local file <close> = assert(perflua.open(b:write(), { window = 1 << 16 }))
    timed.same(expected, timed.read(file))
    timed.same(expected, timed.read(file))
    local comms = file:records("comm"):select("comm"):collect()
    assert.are.same({ 9000, "c", "c" }, { #comms, comms[1], comms[9000] })
  end)

  it("are damage in such a window if their bytes have changed", function()
    warn "@off"
    local b = scattered(9000)
    local path = b:write()
    local whole = files.read(path)
    for _, now in ipairs { whole:sub(1, #whole // 2), whole:sub(1, #whole // 2) .. ("\255")
        :rep(#whole // 2) } do
      files.write(path, whole)
      local file <close> = assert(perflua.open(path, { window = 1 << 16 }))
      local n = 0
      for _ in file:records():each() do
        n = n + 1
        if n == 10 then files.write(path, now) end
      end
      assert.is_true(n > 10 and n < 9000)
      assert.is_false(file.complete)
      assert.matches("expected the bytes that the file had when it was opened",
        file.damage[1].reason)
    end
  end)

  it("are sorted if payloads lie between them", function()
    local b = timed.builder()
    for i = 9, 1, -1 do
      timed.add(b, { i * 10 }, i)
      b:record("auxtrace", { data = ("trace"):rep(i * 4000), tid = i })
    end
    local file <close> = assert(perflua.open(b:write()))
    local i = 0
    for r in file:records():each() do
      i = i + 1
      if i % 2 == 1 then
        assert.are.equal((i + 1) // 2 + 1, r.pid)
      else
        assert.are.equal(("trace"):rep(i // 2 * 4000), r:data())
      end
    end
    assert.are.equal(18, i)
  end)

  it("are sorted if events have their times in different places, or none", function()
    local b = builder.new()
    local kinds = {
      b:event { name = "a", sample_type = { "identifier", "ip", "tid", "time" }, ids = { 11 } },
      b:event { name = "b", sample_type = { "identifier", "time", "cpu", "stream_id" },
        ids = { 12 } },
      b:event { name = "c", sample_type = { "identifier", "ip", "tid", "cpu" }, ids = { 13 } },
    }
    local random, stream = timed.random(8), {}
    for i = 1, 3000 do
      local event = 1 + random(3)
      local time = 1 + random(1000)
      local id = { event = kinds[event], identifier = 10 + event, time = time, pid = 7, cpu = i,
        ip = i }
      if random(2) == 0 then
        b:sample(kinds[event], id)
      else
        b:record("switch", {}, id)
      end
      stream[i] = { pid = i, time = event ~= 3 and time or nil }
    end
    local file <close> = assert(perflua.open(b:write()))
    local offsets = {}
    for i, at in ipairs(b:offsets()) do
      offsets[at] = i
    end
    local found = {}
    for r in file:records():each() do
      found[#found + 1] = offsets[r.offset]
    end
    timed.same(timed.pids_of(in_order.exactly { stream }), found)
  end)

  it("keep file order if no event has a time", function()
    local b = builder.new()
    b:event { name = "cycles", sample_type = { "ip", "tid" }, ids = { 7 } }
    timed.add(b, { 5, 4, 3 })
    assert.are.same({ 1, 2, 3 }, timed.written(b))
  end)

  it("keep file order on request", function()
    local b = timed.builder()
    timed.add(b, timed.jumbled(2000))
    local path = b:write()
    local file <close> = assert(perflua.open(path))
    timed.same(timed.range(1, 2000), timed.read(file, { order = "file" }))
    assert.are_not.same(timed.range(1, 2000), timed.read(file, { order = "time" }))
    assert.are.same(timed.read(file), timed.read(file, { order = "time" }))
  end)

  it("are sorted if they are compressed", function()
    for _, shape in ipairs(timed.shapes) do
      local b, stream = timed.builder(), nil
      local bytes, payload = b:apart(function()
        stream = timed.add(b, shape[2])
      end), zstd.frame()
      for at = 1, #bytes, 30011 do
        b:record("compressed2", { data = payload(bytes:sub(at, at + 30010)) })
      end
      timed.same(timed.pids_of(in_order.exactly { stream }), timed.written(b))
    end
  end)

  it("are none too many or few", function()
    local b = timed.builder()
    timed.add(b, timed.jumbled(3000))
    local file <close> = assert(perflua.open(b:write()))
    assert.are.equal(0, file.out_of_order)
    assert.are.equal(3000, file:records():where(function() return true end):count())
    assert.are.equal(0, file.out_of_order)
    assert.are.same({}, file.damage)
  end)
end)
