-- One flipped bit costs the record that has it. A size that became larger would hide records
-- without a word: what a record's own parts say about its end is believed before its size.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local flips = require "spec.support.flips"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local run = require "spec.cli.run"
local tracing = require "spec.support.builder_tracing"
local zstd = require "spec.support.builder_zstd"

-- `make sweep` flips more bits.
local TIMES = os.getenv "SWEEP" and 200 or 4
local LARGE <const> = 100000 -- bytes; of larger recordings no bits are flipped

--- Reads a recording of which a record's size is replaced: offsets of its records, and damage.
local function read_sized(b, n, size)
  local offsets = b:offsets()
  local bytes, at = b:bytes(), offsets[n] + 6
  local file = assert(perflua.open(files.temporary(bytes:sub(1, at)
    .. string.pack(b.w.order .. "I2", size) .. bytes:sub(at + 3))))
  local got = {}
  for r in file:records({ order = "file", container = true }):each() do
    got[#got + 1] = r.offset
  end
  table.remove(offsets, n)
  return got, offsets, file.damage
end

--- A recording of thread 104: a map, then samples, which are of 40 bytes.
local function recording(endian, container)
  local b = builder.new { endian = endian, container = container }
  local event = b:event { sample_type = { "ip", "tid", "time", "period" } }
  for i = 1, 3 do
    b:record("mmap2", { pid = 104, tid = 104, addr = i << 20, len = 4096, prot = 5,
      filename = "/usr/bin/program" }, { pid = 104, tid = 104, time = i })
  end
  for i = 1, 40 do
    b:sample(event, { ip = i, pid = 104, tid = 104, time = 10 + i, period = 1 })
  end
  return b
end

describe("a record whose size became larger", function()
  for _, endian in ipairs { "little", "big" } do
    local function costs_one(n, size)
      warn "@off"
      local got, expected, damage = read_sized(recording(endian), n, size)
      assert.are.same(expected, got)
      assert.are.equal(1, #damage)
      assert.matches("size of a record: found " .. size .. " ", damage[1].reason)
    end

    it("hides no records up to which it leads, " .. endian .. "-endian", function()
      local b = recording(endian)
      local at = b:offsets()
      costs_one(2, at[3] - at[2] + at[4] - at[3])
      costs_one(2, at[30] - at[2])
      costs_one(10, 80)
    end)

    -- there the thread's number is a type, and a size, that lead to the next sample but one
    it("hides no records where it leads into one, " .. endian .. "-endian", function()
      local b = recording(endian)
      local at = b:offsets()
      costs_one(3, at[8] - at[3] + 16)
      costs_one(10, 40 + 16)
    end)
  end

  it("hides no compressed record", function()
    warn "@off"
    local b = recording "little"
    local at = #b:offsets()
    b:record("compressed2", { data = zstd.frame()(b:apart(function()
      for i = 1, 9 do b:record("comm", { pid = i, tid = i, comm = "sh" }, { time = i }) end
    end)) })
    b:record "finished_round"
    table.insert(b.stream, at, table.remove(b.stream, 3)) -- a map before it
    local offsets = b:offsets()
    local got, _, damage = read_sized(b, at, offsets[#offsets] - offsets[at])
    assert.are.equal(1, #damage)
    assert.are.equal(#offsets - 1 + 9, #got)
  end)

  it("is believed if nothing lies after its parts", function()
    local b = recording "little"
    local event = b.events[1]
    b:raw(9, 2, b.stream[10].bytes:sub(9) .. ("\0"):rep(24))
    b:raw(1, 2, string.pack("<I4I4I8I8I8z", 104, 104, 1 << 30, 4096, 0, "/a")
      .. ("\x7f"):rep(69))
    b:sample(event, { ip = 1, pid = 104, tid = 104, time = 100, period = 1 })
    local file = reading.open(b)
    assert.are.equal(#b:offsets(), #reading.all(file))
    assert.are.same({}, file.damage)
  end)
end)

-- bytes in a record that cannot be read look like tracing data, whose payload would end in a
-- record
describe("tracing data after damage", function()
  -- nobody can look after the payload while the stream is read
  it("are none on a stream that has some", function()
    local b = recording("little", "pipe")
    local w = b.w
    b:feature("tracing_data", tracing.new({ endian = "little" }):bytes())
    table.insert(b.stream, 20, { extra = "", bytes = w:u32(9999) .. w:u16(0) .. w:u16(4)
      .. ("\0"):rep(5) .. w:u32(66) .. w:u16(0) .. w:u16(12) .. w:u32(1 << 20)
      .. ("\0"):rep(3) })
    for i = 1, 40 do
      b:raw(9999, 0, ("x"):rep(40000))
      b:sample(b.events[1], { ip = i, pid = 104, tid = 104, time = 100 + i, period = 1 })
    end
    local got = run.shell_with('cat "$1" | "$perflua" -e "$2" -', b:write(),
      "print(file:samples():count(), #file.damage)")
    assert.are.equal("80\t1\n", got.out)
  end)

  for _, endian in ipairs { "little", "big" } do
    it("are none unless a record follows them, " .. endian .. "-endian", function()
      local b = recording(endian, "pipe")
      local w = b.w
      table.insert(b.stream, 20, { extra = "", bytes = w:u32(9999) .. w:u16(0) .. w:u16(4)
        .. ("\0"):rep(5) .. w:u32(66) .. w:u16(0) .. w:u16(16) .. w:u32(300) .. w:u32(0)
        .. ("\0"):rep(3) })
      warn "@off"
      local offsets = b:offsets()
      local file = reading.open(b)
      local got = {}
      for r in file:records({ order = "file", container = true }):each() do
        got[r.offset] = true
      end
      for i, at in ipairs(offsets) do
        assert.are.equal(i ~= 20 or nil, got[at], "record " .. i)
      end
      assert.are.equal(1, #file.damage)
    end)
  end
end)

--- The types of records that a session of perf record begins and ends with. As in real ones,
--- parts of records look like headers: process 104, and ids.
local function session(endian, container)
  local b = builder.new { endian = endian, container = container }
  local event = b:event { sample_type = { "ip", "tid", "time" }, ids = { 7 } }
  b:event { sample_type = { "ip", "tid", "time" }, ids = { 8, 9, 10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22 } }
  if container == "pipe" then
    b:feature("hostname", "here"):feature("total_mem", 1 << 20)
    b:feature("cpuid", "GenuineIntel,6,85,7")
  end
  b:record("time_conv", { time_shift = 31, time_mult = 1 << 30, time_zero = 1 << 50 })
  b:record("id_index", { entries = { { id = 7, idx = 0, cpu = 0, tid = -1 },
    { id = 8, idx = 0, cpu = 1, tid = -1 } } })
  b:record("event_update", { name = "cpu-clock:u", event = event })
  b:raw(78, 0, b.w:u64(2) .. b.w:u64(8) .. "task-clock" .. ("\0"):rep(22))
  b:record("thread_map", { threads = { { pid = 104, comm = "program" } } })
  b:record("cpu_map", { cpus = { 0, 1, 2, 3 } })
  b:record "finished_init"
  b:record("comm", { pid = 104, tid = 104, comm = "program" }, { time = 1 })
  b:record("mmap2", { pid = 104, tid = 104, addr = 1 << 20, len = 4096, prot = 5,
    filename = "/usr/bin/program" }, { pid = 104, tid = 104, time = 2 })
  for i = 1, 2 do
    b:sample(event, { ip = i, pid = 104, tid = 104, time = 10 + i })
  end
  b:record("exit", { pid = 104, ppid = 1, tid = 104, ptid = 1, time = 20 },
    { pid = 104, tid = 104, time = 20 })
  b:record("compressed", { data = zstd.frame()(b:apart(function()
    for i = 1, 9 do b:record("comm", { pid = i, tid = i, comm = "sh" }, { time = i }) end
  end)) })
  b:record "finished_round"
  if container == "pipe" then -- it may be cut anywhere, so that its last record may be longer
    b:record("comm", { pid = 104, tid = 104, comm = "last" }, { time = 30 })
  end
  return b
end

describe("any bit in a header", function()
  for _, container in ipairs { "file", "pipe" } do
    for _, endian in ipairs { "little", "big" } do
      it(("of a %s costs only its record, %s-endian"):format(container, endian), function()
        warn "@off"
        local b = session(endian, container)
        local subject = assert(flips.subject(b:bytes(), container))
        for _, start in ipairs(subject.starts) do
          for at = start, start + 7 do
            for bit = 0, 7 do
              local others, _, damage = subject:flip(at, 1 << bit)
              assert.are.equal(0, others, ("%s at %d, byte %d, bit %d; damage %d"):format(
                subject.types[start], start, at - start, bit, damage))
            end
          end
        end
        subject:close()
      end)
    end
  end
end)

describe("one bit", function()
  needs.it("corpus", "costs other records rarely, and hardly any without a word", function()
    warn "@off"
    local n, lost, hidden = { header = 0, any = 0 }, { header = 0, any = 0 }, 0
    for _, recording_of in ipairs(corpus.recordings()) do
      local bytes = files.read(recording_of.path)
      local subject = #bytes <= LARGE and flips.subject(bytes, recording_of.name)
      if subject then
        math.randomseed(20261124, #bytes)
        for _ = 1, TIMES do
          for kind in pairs(n) do
            local at = kind == "header" and subject.starts[math.random(#subject.starts)]
              + math.random(0, 7) or math.random(subject.starts[1], subject.ends - 1)
            local others, _, damage = subject:flip(at, 1 << math.random(0, 7))
            n[kind] = n[kind] + 1
            lost[kind] = lost[kind] + (others > 0 and 1 or 0)
            hidden = hidden + (others > 0 and damage == 0 and 1 or 0)
          end
        end
        subject:close()
      end
    end
    -- of many: 0.014 %, 0.01 %, none
    assert.is_true(lost.header <= 1 + 0.001 * n.header, lost.header .. " of headers")
    assert.is_true(lost.any <= 1 + 0.0003 * n.any, lost.any .. " of any")
    assert.are.equal(0, hidden, "without damage")
  end)

  for _, case in ipairs { { "cpu-clock", 862, 1 }, { "cpu-clock", 1519, 0x10 },
      { "inject-b", 1766, 1 } } do
    needs.it("corpus", ("of %s, at %d, costs its record"):format(case[1], case[2]), function()
      warn "@off"
      local subject = flips.subject(files.read(("%s/recorded/s390x/%s.data"):format(
        os.getenv "PERFLUA_CORPUS", case[1])), case[1])
      local others, wrong, damage = subject:flip(case[2], case[3])
      assert.are.same({ 0, 0, 1 }, { others, wrong, damage })
      subject:close()
    end)
  end
end)
