-- Files nobody's recorder writes: what is in them is believed as far as it can be, and costs no
-- more than a file of its size may.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local run = require "spec.cli.run"

--- Opens what a builder holds, without its warnings, and walks it all: the file and its
--- records.
local function walk(b, wrong)
  warn "@off"
  local file = reading.open(b, wrong)
  return file, reading.all(file)
end

--- A builder with n events of these members, each with an id of its own unless ids are given.
local function with_events(n, members, options)
  local b = builder.new(options)
  for i = 1, n do
    local event = { ids = { i } }
    for name, value in pairs(members) do
      event[name] = value
    end
    b:event(event)
  end
  return b
end

describe("a record too short for the id that names its event", function()
  for _, endian in ipairs { "little", "big" } do
    it("belongs to the first event, " .. endian .. "-endian", function()
      for _, parts in ipairs { { "id" }, { "id", "cpu" }, { "id", "stream_id" },
          { "id", "cpu", "stream_id" } } do
        local b = with_events(2, { sample_type = parts }, { endian = endian })
        local trailer = 8 * #parts
        for n = 0, trailer do
          b:raw(3, 0, ("\1"):rep(n))
        end
        local _, records = walk(b)
        assert.are.equal(trailer + 1, #records)
        for n = 0, trailer - 1 do
          assert.are.equal(1, records[n + 1].event.index, n .. " bytes of " .. trailer)
        end
        assert.is_nil(records[trailer + 1].event) -- whose id nobody has
      end
    end)
  end

  it("is a sample of no known event", function()
    local b = with_events(2, { sample_type = { "ip", "tid", "time", "id" } })
    for n = 0, 31 do
      b:raw(9, 2, ("\1"):rep(n))
    end
    local _, records = walk(b)
    assert.are.equal(32, #records)
    for i, r in ipairs(records) do
      assert.is_nil(r.event, "sample of " .. i - 1 .. " bytes")
      assert.is_nil(r.id)
    end
  end)
end)

describe("ids of events", function()
  it("are read for as many events as fit if all claim the same bytes of the file", function()
    local b = with_events(40, { ids = {}, ids_offset = 0, ids_size = 2048 }, { attr_size = 64 })
    b:record("comm", { comm = "sh" })
    local file, records = walk(b)
    assert.are.equal("sh", records[1].comm)
    local bytes = 0
    for _, event in ipairs(file.events) do
      bytes = bytes + 8 * #event.ids
    end
    assert.is_true(bytes > 0 and bytes <= file.size, bytes .. " bytes of ids in " .. file.size)
    assert.matches("ids of event %d+", reading.reasons(file))
  end)

  it("find their events however they were chosen", function()
    -- multiples of the inverse of a factor that hashes multiply with: all in one place of their
    -- table
    local factor, inverse = 0x9e3779b97f4a7c15, 1
    for _ = 1, 6 do
      inverse = inverse * (2 - factor * inverse)
    end
    local chosen = {
      function(i)
        return (i << 32 | i) * inverse
      end, function(i) return i << 40 end, function(i) return ~i end,
      function(i) return i * inverse end,
    }
    for _, choose in ipairs(chosen) do
      local ids = {}
      for i = 1, 20000 do
        ids[i] = choose(i)
      end
      local b = builder.new()
      local parts = { sample_type = { "identifier" }, name = "one", ids = ids }
      local one = b:event(parts)
      parts.name, parts.ids = "two", { 77 }
      local two = b:event(parts)
      b:sample(one, { identifier = ids[1] })
      b:sample(one, { identifier = ids[20000] })
      b:sample(two, { identifier = 77 })
      b:sample(two, { identifier = 78 })
      local _, records = walk(b)
      assert.are.equal("one", records[1].event.name)
      assert.are.equal("one", records[2].event.name)
      assert.are.equal("two", records[3].event.name)
      assert.is_nil(records[4].event)
    end
  end)

  it("belong to the first event if several claim them", function()
    local b = with_events(3, { ids = { 5 }, sample_type = { "identifier" } })
    b:sample(b.events[3], { identifier = 5 })
    local _, records = walk(b)
    assert.are.equal(1, records[1].event.index)
  end)
end)

describe("groups of events", function()
  local function leaders(groups, n)
    local b = with_events(n or 6, { type = 1 })
    b:feature("group_desc", groups)
    b:record("comm", { comm = "sh" })
    local file = walk(b)
    local list = {}
    for i, event in ipairs(file.events) do
      list[i] = event.leader.index
    end
    return list, file
  end

  it("keep an event in the first one that names it", function()
    local list, file = leaders {
      { name = "a", leader = 1, members = 3 }, { name = "b", leader = 2, members = 4 },
      { name = "c", leader = 4, members = 2 }, { name = "d", leader = 0, members = 6 },
    }
    assert.are.same({ 1, 2, 2, 2, 5, 5 }, list)
    assert.are.equal(3, #file.events[3].members)
    assert.are.equal(1, #file.events[1].members)
  end)

  it("are left out that reach beyond the events or have none", function()
    local list = leaders {
      { name = "a", leader = 0, members = 0 }, { name = "b", leader = 5, members = 2 },
      { name = "c", leader = 6, members = 1 },
      { name = "d", leader = 0xffffffff, members = 0xffffffff },
    }
    assert.are.same({ 1, 2, 3, 4, 5, 6 }, list)
  end)

  it("may be one of very many events", function()
    local list, file = leaders({ { name = "all", leader = 0, members = 20000 } }, 20000)
    assert.are.equal(1, list[20000])
    assert.are.equal(20000, #file.events[20000].members)
  end)

  it("give all their samples branch counters when the last event asks for them", function()
    local b = with_events(3, { sample_type = { "identifier", "branch_stack" },
      branch_sample_type = { "any" } })
    b.events[3].branch_sample_type = b.events[3].branch_sample_type | 1 << 19
    b:feature("group_desc", { { name = "", leader = 0, members = 3 } })
    for i = 1, 3 do
      b:raw(9, 2, b.w:u64(i) .. b.w:u64(1) .. b.w:u64(0x10) .. b.w:u64(0x20) .. b.w:u64(0)
        .. b.w:u64(5))
    end
    local _, records = walk(b)
    for i = 1, 3 do
      assert.are.equal(5, records[i].branch_stack[1].counters, "event " .. i)
    end
  end)
end)

describe("names of events", function()
  it("are those of their PMUs among very many", function()
    local b, list, n = builder.new(), {}, 5000
    for i = 1, n do
      b:event { type = 1000 + i, config = i, ids = { i } }
      list[n + 1 - i] = b.w:u32(1000 + i) .. b.w:str("pmu" .. i)
    end
    b:feature(16, b.w:u32(n) .. table.concat(list))
    b:record("comm", { comm = "sh" })
    local file = walk(b)
    for _, i in ipairs { 1, 2, 77, 4999, 5000 } do
      assert.matches("^pmu" .. i .. "/", file.events[i].name)
    end
  end)

  it("are the first that an old recording has for a tracepoint, among very many", function()
    local b = with_events(5000, { type = 2 }, { version = 1 })
    for i, event in ipairs(b.events) do
      event.config = i % 100
    end
    for i = 1, 5000 do
      b.event_types[i] = { id = (5000 - i) % 100, name = i > 100 and "a:late"
        or "a:" .. (5000 - i) % 100 }
    end
    b:record("comm", { comm = "sh" })
    local file = walk(b)
    assert.are.equal("a:1", file.events[1].name)
    assert.are.equal("a:99", file.events[4999].name)
    assert.are.equal("a:0", file.events[5000].name)
  end)
end)

describe("a set of processors", function()
  it("has no more of them than perf can number", function()
    local b = with_events(1, {})
    b:record("cpu_map", { cpus = { type = "range", 32760, 32767 } })
    b:record("cpu_map", { cpus = { type = "range", 0, 32768 } })
    b:record("cpu_map", { cpus = { type = "range", 0, 65535 } })
    b:record("cpu_map", { cpus = { type = "range", 9, 3 } })
    local _, records = walk(b)
    assert.are.equal(8, #records[1].cpus)
    assert.are.equal(32767, records[1].cpus[8])
    assert.is_nil(records[2].cpus)
    assert.is_nil(records[3].cpus)
    assert.are.equal(0, #records[4].cpus)
  end)
end)

describe("a feature", function()
  it("is read like any if it claims the bytes of others", function()
    local b = with_events(1, {})
    b:record("comm", { comm = "sh" })
    local lies = { sections = {} }
    for bit = 1, 34 do
      b:feature(bit, "")
      lies.sections[bit] = { offset = 0, size = 200 }
    end
    local file = walk(b, lies)
    for name in pairs(file.features) do
      assert.truthy(name)
    end
    assert.is_nil(file.features.cpu_topology)
    assert.matches("feature [%w_]+: malformed bytes", reading.reasons(file))
  end)
end)

describe("clocks of two recordings", function()
  local function recording(zero)
    local b = with_events(1, { name = "a" })
    if zero then b:feature("clock_data", { clockid = 4, wall_clock = zero }) end
    b:record("comm", { comm = "sh" })
    return b:write()
  end

  ---Returns the warnings when recordings are read whose clocks began at these ns.
  local function warned(...)
    local paths = {}
    for i, zero in ipairs { ... } do
      paths[i] = files.quote(recording(zero))
    end
    local script = run.script [[
      for _ in assert(require "perflua".open(arg)):records() do end]]
    return run.shell('"$perflua" ' .. script .. " " .. table.concat(paths, " ")).err
  end

  local cases = {
    [9223372036] = { 0, math.maxinteger }, [18446744073] = { math.maxinteger, math.mininteger },
    [18446744072] = { math.mininteger + 1000000000, math.maxinteger },
  }

  it("are as far apart as they say, however far, if a third has no wall time", function()
    assert.are.equal("", warned(5, 5))
    for seconds, zeros in pairs(cases) do
      assert.matches(("began %d s apart"):format(seconds), warned(zeros[1], zeros[2], false), 1,
        true)
    end
  end)

  it("are merged in the order of their wall times, however far they are apart", function()
    for _, zeros in pairs(cases) do assert.are.equal("", warned(zeros[1], zeros[2])) end
  end)
end)

describe("the path of a file", function()
  it("is said in an error however long it is", function()
    local file, message, code = perflua.open(("x"):rep(100000))
    assert.is_nil(file)
    assert.is_string(message)
    assert.are.equal("ENAMETOOLONG", code)
  end)
end)
