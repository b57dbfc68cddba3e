-- Records that are valid, though nobody here knows them: of later kernels, of other writers, of
-- perf inject.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local doctor = require "spec.cli.doctor"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local run = require "spec.cli.run"
local zstd = require "spec.support.builder_zstd"

local IP, TID, TIME, READ, RAW, BRANCH = 1 << 0, 1 << 1, 1 << 2, 1 << 4, 1 << 10, 1 << 11

local function event(members)
  local whole = { type = 1, sample_period = 1, sample_type = { "ip", "tid", "time", "raw" },
    name = "ev", ids = { 7 } }
  for name, value in pairs(members or {}) do whole[name] = value end
  return whole
end

local function add_samples(b, n)
  for i = 1, n do
    b:sample(b.events[1], { identifier = 7, id = 7, ip = i, pid = 1, tid = 1, time = 10 + i,
      raw = ("x"):rep(12) })
  end
end

--- A recording of n samples, what `add` adds to it, and as many samples.
local function around(options, add, members, n)
  local b = builder.new(options)
  b:event(event(members))
  for _, more in ipairs(members and members.more or {}) do b:event(event(more)) end
  add_samples(b, n or 5)
  add(b)
  add_samples(b, n or 5)
  return b
end

---Returns what a file delivers in file order: the offsets of its records, and how much damage
---it reports.
local function offsets_in(path, options)
  local file <close> = assert(perflua.open(path, options))
  local list = {}
  for r in file:records({ order = "file", container = true, reuse = true }):each() do
    if not r.type:find "^header_" then list[#list + 1] = r.offset end
  end
  return list, #file.damage, file.complete
end

local stream = run.script [[
local n = 0
warn "@on"
local file = require "perflua".open "-"
for r in file:records { container = true, reuse = true } do
  n = n + (r.type:find "^header_" and 0 or 1)
end
print(n, #file.damage)
]]

--- Asserts that all records of a recording are delivered, however it is read, and nothing is
--- damaged.
local function is_whole(b, name)
  local path, expected = b:write(), b:offsets()
  local found, damages, complete = offsets_in(path)
  assert.are.equal(#expected, #found, name)
  assert.are.same(expected, found, name)
  assert.are.equal(0, damages, name)
  assert.is_true(complete, name)
  local file <close> = assert(perflua.open(path))
  local all, in_time, counted = 0, 0, 0
  for r in file:records({ container = true }):each() do
    all, in_time = all + 1, in_time + (r.type:find "^header_" and 0 or 1)
  end
  for _, row in pairs(core.count(file).types) do counted = counted + row.count end
  assert.are.equal(#expected, in_time, name)
  assert.are.equal(all, counted, name)
  local piped = run.shell_with('cat "$1" | "$perflua" "$2" -', path, stream)
  assert.are.equal(("%d\t0\n"):format(#expected), piped.out, name .. piped.err)
end

local function filled(type_id, size, byte)
  return function(b) b:raw(type_id, 0, (byte or "z"):rep(size - 8)) end
end

local function sample_of(n, misc)
  return function(b)
    b:sample(b.events[1], { misc = misc, identifier = 7, ip = 1, pid = 1, tid = 1, time = 50,
      raw = ("y"):rep(n) })
  end
end

local head = string.pack("<I8I4I4I8", 1, 1, 1, 50)
local two = { sample_type = { "identifier", "ip", "tid", "time", "raw" }, ids = { 7 },
  more = { { config = 1, sample_type = { "identifier", "ip", "tid", "time", "raw" },
    ids = { 8 }, name = "two" } } }
local NO_IDS = { ids = {}, more = { { config = 1, ids = {}, name = "two" } } }
local function mmap2(id)
  return function(b)
    b:record("mmap2", { pid = 1, tid = 1, addr = 1, len = 1, filename = "/" .. ("p")
      :rep(3000) }, id)
  end
end

local cases = {}
for _, size in ipairs { 24, 2048, 2056, 4096, 60000 } do
  for _, type_id in ipairs { 17, 23, 63, 100, 127, 128, 1000, 32768 + 3, 32768 + 100, 65535,
      65536, 70000, 0 } do
    cases[("type %d of %d bytes"):format(type_id, size)] = { filled(type_id, size) }
  end
  cases[("type 100 of %d bytes"):format(size + 3)] = { filled(100, size + 3) }
end
cases["a large sample of an unknown id"] = { function(b)
  b:sample(b.events[1], { identifier = 99, ip = 1, pid = 1, tid = 1, time = 50,
    raw = ("y"):rep(3004) })
end, two }
cases["a long path, id 0"] = { mmap2(), two }
cases["a long path, an unknown id"] = { mmap2 { identifier = 99 }, two }
cases["a large sample of events without ids"] = { sample_of(3004), NO_IDS }
for _, misc in ipairs { 0x8, 0x10, 0x800, 0x1000, 6, 7, 0x8002, 0x4002 } do
  cases[("a large sample of misc 0x%x"):format(misc)] = { sample_of(3004, misc) }
  cases[("a sample of misc 0x%x"):format(misc)] = { sample_of(12, misc) }
end
cases["padding after the raw data"] = { function(b)
  b:raw(9, 2, head .. string.pack("<I4", 3004) .. ("y"):rep(3004) .. ("\0"):rep(8))
end }
cases["type 200 after a large record"] = { function(b)
  mmap2 { id = 7 } (b) filled(200, 16) (b)
end }
cases["type 200 after an unaligned record"] = { function(b)
  filled(100, 21) (b) filled(200, 16) (b)
end }
cases["unaligned records of type 200"] = { function(b)
  for _, n in ipairs { 21, 23, 17 } do filled(200, n) (b) end
end }
cases["unaligned records of type 23"] = { function(b)
  for _ = 1, 3 do filled(23, 21) (b) end
end }
cases["type 70000 after a sample that does not add up"] = { function(b)
  filled(9, 48, "q") (b)
  filled(70000, 24) (b)
end }
cases["ten large records of type 1000"] = { function(b)
  for _ = 1, 10 do filled(1000, 4096) (b) end
end }

describe("a valid record that nobody here knows", function()
  for _, container in ipairs { "file", "pipe" } do
    it("is delivered between others, in a " .. container, function()
      for name, case in pairs(cases) do
        local b = around({ container = container }, case[1], case[2])
        local expected, found, damages = b:offsets(), offsets_in(b:write())
        assert.are.same(expected, found, name)
        assert.are.equal(0, damages, name)
      end
    end)

    it("is delivered as the first, and the last, of a " .. container, function()
      for _, type_id in ipairs { 23, 100, 1000 } do
        local b = builder.new { container = container }
        b:event(event())
        filled(type_id, 4096) (b)
        add_samples(b, 5)
        filled(type_id, 4096) (b)
        is_whole(b, "type " .. type_id)
      end
    end)

    it("is delivered however the " .. container .. " is read", function()
      for _, name in ipairs { "type 23 of 2056 bytes", "type 1000 of 60000 bytes",
          "type 70000 of 24 bytes",
        "a long path, an unknown id", "padding after the raw data",
        "unaligned records of type 200" } do
        is_whole(around({ container = container }, cases[name][1], cases[name][2]), name)
      end
    end)
  end

  it("is delivered where it was compressed", function()
    local b, payload = builder.new(), zstd.frame()
    b:event(event())
    local inside = b:apart(function()
      for i = 1, 40 do
        add_samples(b, 5)
        b:raw(({ 23, 100, 1000, 70000, 32768 + 100 })[i % 5 + 1], 0x4003, ("z"):rep(8 * i))
        b:raw(9, 2, head .. string.pack("<I4", 12) .. ("q"):rep(24))
      end
    end)
    b:record("compressed", { data = payload(inside) })
    b:record("finished_round", {})
    local file <close> = reading.open(b)
    assert.are.equal(240, file:samples():count())
    assert.are.equal(282, file:records({ container = true }):count())
    assert.are.equal(0, #file.damage)
  end)

  it("is delivered from the files of a directory", function()
    local b = builder.new { container = "directory" }
    b:event(event())
    add_samples(b, 5)
    for n = 0, 1 do
      b:beside(n, function()
        add_samples(b, 5)
        filled(1000, 4096) (b)
        filled(70000, 24) (b)
        b:raw(9, 2, head .. string.pack("<I4", 12) .. ("q"):rep(24))
        add_samples(b, 20)
      end)
    end
    local file <close> = reading.open(b)
    assert.are.equal(57, file:samples():count())
    assert.are.equal(61, file:records({ container = true }):count())
    assert.are.equal("", reading.reasons(file))
  end)

  it("is delivered where threads share the file", function()
    warn "@off"
    local b = builder.new()
    b:event(event(two))
    b:event(event(two.more[1]))
    for i = 1, 400 do
      add_samples(b, 40)
      filled(({ 23, 100, 1000, 70000 })[i % 4 + 1], ({ 24, 2056, 6000 })[i % 3 + 1]) (b)
      if i % 5 == 0 then
        b:raw(9, 2, string.pack("<I8", 7) .. head .. string.pack("<I4", 12) .. ("q"):rep(24))
      end
    end
    local path, expected = b:write(), b:offsets()
    assert.is_true(#files.read(path) > 1 << 20)
    for _, threads in ipairs { 1, 4 } do
      local file <close> = assert(perflua.open(path, { jobs = threads }))
      assert.are.equal(400 * 40 + 80, file:samples():count())
      assert.are.equal(#expected, file:records({ container = true }):count())
      local in_time = 0
      for _ in file:records { container = true, reuse = true } do in_time = in_time + 1 end
      assert.are.equal(#expected, in_time)
      assert.are.equal(0, #file.damage)
    end
  end)
end)

describe("a sample of an event that asks for more than is known here", function()
  local kinds = {
    ["sample_type"] = { { sample_type = IP | TID | TIME | RAW | 1 << 25 },
      function(raw) return raw .. ("w"):rep(8) end },
    ["read_format"] = { { sample_type = IP | TID | TIME | READ | RAW, read_format = 1 << 5 },
      function(raw) return ("r"):rep(16) .. raw end },
    ["branch_sample_type"] = { { sample_type = IP | TID | TIME | RAW | BRANCH,
      branch_sample_type = 1 << 25 },
      function(raw) return raw .. string.pack("<I8I8I8I8I8", 1, 1, 2, 3, 99) end },
  }

  local function samples(b, make, n, raw)
    for _ = 1, n do b:raw(9, 2, head .. make(string.pack("<I4", raw) .. ("y"):rep(raw))) end
  end

  for name, kind in pairs(kinds) do
    it("is delivered, however large, by an unknown bit of " .. name, function()
      local b = around({}, function(b)
        b.stream = {}
        samples(b, kind[2], 500, 12)
        samples(b, kind[2], 1, 4004)
        samples(b, kind[2], 500, 12)
      end, kind[1])
      b.stream = table.move(b.stream, 1, 1001, 1, {})
      assert.are.same(b:offsets(), (offsets_in(b:write())))
      local _, report = doctor.examine(b:write())
      assert.is_nil(doctor.find(report, "odd_samples"))
    end)

    it("is found after damage, by an unknown bit of " .. name, function()
      warn "@off"
      local b = builder.new()
      b:event(event(kind[1]))
      samples(b, kind[2], 1000, 12)
      local bytes, at = b:bytes(), b:offsets()[500]
      local found, damages = offsets_in(
        files.temporary(bytes:sub(1, at + 6) .. "\4\0" .. bytes:sub(at + 9)))
      assert.are.equal(999, #found)
      assert.are.equal(1, damages)
    end)
  end
end)

describe("a sample whose parts do not add up to its size", function()
  local function odd(b, n)
    b:raw(9, 2, head .. string.pack("<I4", n) .. ("y"):rep(n) .. ("\0"):rep(16))
  end

  it("is delivered if sixteen records follow it, and a note of the doctor", function()
    for _, n in ipairs { 12, 3004, 20004 } do
      local b = around({}, function(b) odd(b, n) end, nil, 20)
      is_whole(b, n .. " bytes")
      local got, report = doctor.examine(b:write())
      assert.are.equal(0, got.status)
      local found = doctor.find(report, "odd_samples")
      assert.are.equal("note", found.level)
      assert.matches("^1 sample whose fields do not fill the record's size", found.text)
      assert.are.equal(1, report.events[1].odd)
    end
  end)

  -- perf inject -s shortens a copy of a stack; what is after it is what the ring buffer held
  it("is delivered though an old record lies after its parts", function()
    local b = around({}, function(b)
      local old = b:apart(function()
        b:record("comm", { pid = 7, tid = 7, comm = "old" }, { time = 1 })
      end)
      b:raw(9, 2, head .. string.pack("<I4", 12) .. ("y"):rep(12) .. old .. old:sub(1, -9)
        .. ("\255"):rep(16))
    end, nil, 20)
    is_whole(b, "an old comm record")
  end)

  it("is delivered though old records lead to its end", function()
    local b = around({}, function(b)
      local old = b:apart(function()
        b:record("comm", { pid = 7, tid = 7, comm = "old" }, { time = 1 })
      end)
      b:raw(9, 2, head .. string.pack("<I4", 12) .. ("y"):rep(12) .. ("\255"):rep(4000)
        .. old:rep(3))
    end, nil, 20)
    is_whole(b, "old comm records")
  end)

  it("is delivered though an old record in its copy of a stack crosses its end", function()
    local b = around({}, function(b)
      local HEADER, INSIDE = 8, 64 -- bytes: of a header; of the old record in this one
      local size = INSIDE + #b:apart(function() add_samples(b, 1) end)
      local old = string.pack("<I4I2I2", 9, 2, size) .. head:sub(1, -9)
        .. string.pack("<I8", 49) -- its time
        .. string.pack("<I4", size - HEADER - #head - 4)
      b:raw(9, 2, head .. string.pack("<I4", 12) .. ("y"):rep(12) .. old
        .. ("\255"):rep(INSIDE - #old))
    end, nil, 20)
    is_whole(b, "an old sample across its end")
  end)

  it("has nil for the fields whose bytes are not there", function()
    local b = around({}, function(b)
      b:raw(9, 2, head .. string.pack("<I4", 4000) .. ("y"):rep(60))
    end, nil, 20)
    local file <close> = reading.open(b)
    local r = file:samples({ order = "file" }):collect()[21]
    assert.are.equal(1, r.ip)
    assert.is_nil(r.raw)
    assert.are.equal(0, #file.damage)
  end)

  it("is damage if the sizes break off after it", function()
    warn "@off"
    for breaks = 1, 12 do
      -- a size that leads into the record's own raw data, where it looks as if records went on
      -- for a while
      local b = builder.new()
      b:event(event())
      add_samples(b, 30)
      local fake = string.pack("<I4I2I2", 3, 0, 8):rep(breaks)
      b:sample(b.events[1], { ip = 1, pid = 1, tid = 1, time = 50, raw = fake .. ("\255")
        :rep(400 - #fake + 4) })
      add_samples(b, 30)
      local bytes, at = b:bytes(), b:offsets()[31]
      -- raw begins at 36 of the record; its first multiple of eight is 4 bytes in
      local damaged = bytes:sub(1, at + 6) .. string.pack("<I2", 36) .. bytes:sub(at + 9)
      local found, damages = offsets_in(files.temporary(damaged))
      assert.are.equal(60, #found, breaks .. " in a row")
      assert.are.equal(1, damages)
    end
  end)

  needs.it("tracepoints", "is what perf inject -s writes: all of them are delivered", function()
    local path, injected = files.temporary(), files.temporary()
    local got = run.shell_with([[
      perf record -q -m 16 -o "$1" --call-graph dwarf -e sched:sched_stat_runtime -e sched:sched_switch \
        -e sched:sched_process_exit -- sh -c 'for i in 1 2 3; do ls -R /usr/include >/dev/null; sleep 0.01; done' &&
      perf inject -s -i "$1" -o "$2"]], path, injected)
    assert.are.equal(0, got.status, got.err)
    local bytes, n = files.read(injected), 0
    local at, size = string.unpack("<I8I8", bytes, 41)
    local last = at + size
    while at < last do
      n, at = n + 1, at + string.unpack("<I2", bytes, at + 7)
    end
    local found, damages = offsets_in(injected)
    assert.are.equal(n, #found)
    assert.are.equal(0, damages)
    local _, report = doctor.examine(injected)
    assert.is_true(report.events[1].odd + report.events[2].odd + report.events[3].odd > 0)
  end)
end)
