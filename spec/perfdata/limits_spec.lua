-- Limits on the cost of a small input, whatever it claims: 1 KB never takes more than 16 MB of
-- memory or 100 ms.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local patience = require "spec.support.patience"
local run = require "spec.cli.run"
local tracing = require "spec.support.builder_tracing"

local KB, MB, MS = 1024, 16, 100

-- The sanitizers' own memory and time are not what is limited here.
local sanitized = run.binary:find("/san/", 1, true) ~= nil

-- Reads all there is of each file, or of the stream "-", in both orders; says what it took: kB
-- of memory, ms of the processor, records.
local script = run.script [[
local perflua = require "perflua"
warn "@off"

local peak = require "spec.support.peak"

local memory = peak()
for _, path in ipairs(arg) do
  local started, records = os.clock(), 0
  local file = perflua.open(path)
  if file then
    for _, order in ipairs(path == "-" and { "time" } or { "time", "file" }) do
      for r in file:records { order = order, container = true, reuse = true } do
        records = records + 1
        for _ in pairs(r.type == "sample" and r.args or {}) do end
      end
    end
    for _ in pairs(file.features) do end
    for _, event in ipairs(file.events) do assert(#event.ids >= 0 and event.fields ~= 0) end
    file:close()
  end
  print(peak() - memory, (os.clock() - started) * 1000 // 1 | 0, records)
end
]]

local command = [[
"$perflua" "$@"
script=$1
shift
for path; do "$perflua" "$script" - <"$path"; done
for path; do cat "$path" | "$perflua" "$script" -; done
]]

-- Reads these files, and returns how many records each gave, by the way in which it was read.
local function count_cheaply(paths)
  local got, counts = run.shell_with(command, script, table.unpack(paths)), {}
  assert.are.equal("", got.err)
  for kb, ms, records in got.out:gmatch "(%-?%d+)\t(%d+)\t(%d+)\n" do
    if not sanitized then
      assert.is_true(tonumber(kb) <= MB * 1024, kb .. " kB")
      assert.is_true(tonumber(ms) <= MS, ms .. " ms")
    end
    counts[#counts + 1] = tonumber(records)
  end
  assert.are.equal(3 * #paths, #counts, got.out)
  return counts
end

--- Asserts that each of these inputs, at most 1 KB of bytes, is cheap: as a file, on standard
--- input, through a pipe. Returns how many records the last one gave, as a file and through a
--- pipe.
local function are_cheap(inputs)
  local paths, counts = {}, nil
  for i, bytes in ipairs(inputs) do
    assert.is_true(#bytes <= KB, #bytes .. " bytes")
    paths[i] = files.temporary(bytes)
  end
  -- the least cost of several runs: other programs take time from a processor's caches
  patience(function() counts = count_cheaply(paths) end)
  return counts[#inputs], counts[#counts]
end

local function is_cheap(bytes)
  return are_cheap { bytes }
end

--- A builder with one event of the smallest attr; no feature of its own.
local function small(container, parts)
  local b = builder.new { attr_size = 64, container = container, event_desc = false }
  return b, b:event { sample_type = parts or { "ip", "tid", "time" }, sample_id_all = false,
    ids = {} }
end

describe("a compressed record of 1 KB costs little", function()
  local MAGIC, RAW, RLE = "\x28\xb5\x2f\xfd", 0, 1
  local WINDOWS = { ["128 KB"] = 7, ["128 MB"] = 17, ["2 GB"] = 21 } -- 2^(10 + n) bytes

  local function block(kind, n, bytes)
    return string.pack("<I3", kind << 1 | n << 3) .. bytes
  end

  local function frame(window, ...)
    return MAGIC .. "\0" .. string.char(window << 3) .. table.concat { ... }
  end

  for name, window in pairs(WINDOWS) do
    it("even if it wants a window of " .. name .. " for few bytes", function()
      local b = small()
      local comm = b:apart(function(own)
        own:record("comm", { pid = 1, tid = 1, comm = "a" })
      end)
      b:record("compressed", { data = frame(window, block(RAW, #comm, comm)) })
      local records = is_cheap(b:bytes())
      assert.are.equal(window > 17 and 2 or 4, records)
    end)

    it("even if it stands for 16 MB of zeros in a window of " .. name, function()
      local b = small()
      b:record("compressed", { data = frame(window, block(RLE, 128 * 1024, "\0"):rep(128)) })
      is_cheap(b:bytes())
    end)

    it("even if it stands for fifty of the largest records in a window of " .. name, function()
      local b = small()
      local header = string.pack("<I4I2I2", 100, 0, 65528)
      local one = block(RAW, 8, header) .. block(RLE, 65520, "\0")
      b:record("compressed", { data = frame(window, one:rep(50)) })
      local records = is_cheap(b:bytes())
      assert.are.equal(window > 17 and 2 or 102, records)
    end)
  end
end)

describe("a count or size that is a lie costs nothing:", function()
  local HUGE = { 0xffff, 0xffffffff, 1 << 40, 1 << 61, math.maxinteger, -1 }

  --- One spec over each huge number; body(b, n, event) adds what claims it.
  local function lie(what, parts, body)
    it(what, function()
      local bytes = {}
      for _, n in ipairs(HUGE) do
        for _, container in ipairs { "file", "pipe" } do
          local b, event = small(container, parts)
          body(b, n, event)
          bytes[#bytes + 1] = b:bytes()
        end
      end
      are_cheap(bytes)
    end)
  end

  lie("the frames of a call chain", { "callchain" }, function(b, n, event)
    b:sample(event, { callchain = { nr = n, 1, 2 } })
  end)
  lie("the branches of a stack", { "branch_stack" }, function(b, n, event)
    b:sample(event, { branch_stack = { nr = n, { from = 1, to = 2 } } })
  end)
  lie("a user stack", { "stack_user" }, function(b, n, event)
    b:sample(event, { stack_user = "12345678", stack_size = n, dyn_size = n })
  end)
  lie("the data of a snapshot", { "aux" }, function(b, n, event)
    b:sample(event, { aux = "12345678", aux_size = n })
  end)
  lie("the entries of an id index", nil, function(b, n)
    b:raw(69, 0, b.w:u64(n) .. b.w:u64(1):rep(4))
  end)
  lie("the threads of a map", nil, function(b, n)
    b:record("thread_map", { nr = n, threads = { { pid = 1, comm = "sh" } } })
  end)
  lie("the trace after a record", nil, function(b, n)
    b:raw(71, 0, b.w:u64(n) .. b.w:u64(0):rep(4))
    b:record("finished_round")
  end)
  lie("tracing data", nil, function(b, n)
    b:raw(66, 0, b.w:u32(n & 0xffffffff) .. b.w:u32(0))
    b:record("finished_round")
  end)
  lie("the systems, events and texts of tracing data", nil, function(b, n)
    local t = tracing.new { header_page = "", header_event = "" }
    t:event("s", "e", { format = "name: e\nID: 1\nformat:\n" })
    local wrong = ({ "systems", "events", "ftrace" })[n & 3]
    b:feature("tracing_data", t:bytes { counts = { [wrong or "ftrace"] = n & 0xffffffff },
      sizes = { format = n } })
  end)
  lie("the places of a tracepoint's fields", { "raw" }, function(b, n, event)
    local t = tracing.new { header_page = "", header_event = "" }
    t:event("s", "e",
      { id = 1, format = ("name: e\nID: 1\nformat:\n\tfield:u8 a[%u];\toffset:%u;\tsize:%u;\n")
      :format(n & 0xffffffff, n & 0xffffffff, n & 0xffffffff) })
    event.type, event.config = 2, 1
    b:feature("tracing_data", t:bytes())
    b:sample(event, { raw = "raw data" })
  end)
  lie("one of simpleperf's records", nil, function(b, n)
    b:raw(0x8001, n & 0xffff, ("\1"):rep(40), 0xfff8)
    b:record("finished_round")
  end)
  it("a feature", function()
    local bytes = {}
    for bit = 1, 34 do
      local b = small()
      local n = b.w:u32(HUGE[bit % 2 + 1])
      b:feature(7, n .. n)
      b:feature(bit, n:rep(12) .. b.w:u64(HUGE[bit % #HUGE + 1]))
      bytes[bit] = b:bytes()
    end
    are_cheap(bytes)
  end)

  it("the sections of the header", function()
    for _, n in ipairs(HUGE) do
      local b, bytes = small(), {}
      b:feature("hostname", "x")
      b:record("comm", { comm = "sh" })
      for _, wrong in ipairs {
        { attrs = { size = n } }, { attrs = { offset = n } }, { data = { size = n } },
        { data = { offset = n } },
        { event_types = { size = n } }, { event_types = { offset = n } },
        { sections = { [3] = { size = n } } },
        { sections = { [3] = { offset = n } } }, { attr_size = n }, { header_size = n },
      } do
        bytes[#bytes + 1] = b:bytes(wrong)
      end
      are_cheap(bytes)
    end
  end)

  it("the ids of an event", function()
    local bytes = {}
    for i, n in ipairs(HUGE) do
      local b = builder.new { attr_size = 64 }
      b:event { ids = { 1 }, ids_size = n }
      bytes[i] = b:bytes()
    end
    are_cheap(bytes)
  end)
end)

describe("many small things cost little:", function()
  it("events of all shapes", function()
    local bits = { "ip", "tid", "time", "id", "cpu", "stream_id", "identifier" }
    for _, container in ipairs { "file", "pipe" } do
      local b = builder.new { attr_size = 64, container = container, event_desc = false }
      for i = 1, 11 do
        local parts = {}
        for k, bit in ipairs(bits) do
          if (i * 11 >> k - 1) & 1 == 1 then parts[#parts + 1] = bit end
        end
        b:event { sample_type = parts, ids = {} }
      end
      is_cheap(b:bytes())
    end
  end)

  it("ranges of all processors", function()
    local b = small()
    for _ = 1, 34 do
      b:record("cpu_map", { cpus = { type = "range", 0, 32767 } })
    end
    assert.are.equal(68, (is_cheap(b:bytes())))
  end)

  it("records that go back in time", function()
    local b, event = small(nil, { "time" })
    for time = 50, 1, -1 do
      b:sample(event, { time = time << 32 })
    end
    assert.are.equal(100, (is_cheap(b:bytes())))
  end)

  it("rounds without records between them, in a pipe", function()
    local b = small "pipe"
    for _ = 1, 110 do
      b:record("finished_round")
    end
    local file, stream = is_cheap(b:bytes())
    assert.are.equal(222, file) -- the attr, too, twice
    assert.are.equal(111, stream)
  end)
end)

it("a record full of headers that lead nowhere is looked through once", function()
  local n, body = 65520, {}
  for i = 1, (n - 16) // 8 - 1 do body[i] = string.pack("<I4I2I2", 68, 0, 8) end
  -- a feature with what no other ends at: the last header's size passes the record's end
  local record = string.pack("<I4I2I2I8", 80, 0, n, 13) .. table.concat(body)
    .. string.pack("<I4I2I2", 68, 0, 16)
  local path = files.temporary("PERFILE2" .. string.pack("<I8", 16) .. record:rep(30))
  local ms = tonumber(run.shell_with(command, script, path).out:match "%d+\t(%d+)\t")
  assert.is_true(ms < 1000, ms .. " ms") -- a search for each header took 2800
end)
