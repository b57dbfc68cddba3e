-- Descriptions of a pipe-mode recording that come after its first records.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

local kinds = { "identifier", "ip", "tid", "time" }

--- Adds an event whose attr comes where the recording now stands.
local function late_event(b, members)
  members.sample_type = members.sample_type or kinds
  local event = b:event(members)
  table.remove(b.events)
  b:record("header_attr", { event = event })
  return event
end

--- Two events and three records; then a third event, four samples of all.
local function build(endian)
  local b = small { endian = endian }
  b:feature("event_desc", { { name = "one", ids = { 11, 12 } }, { name = "two", ids = { 21 } },
    { name = "late:event", ids = { 31, 32 } } })
  local late = late_event(b, { type = 2, config = 7, ids = { 31, 32 } })
  b:sample(late, { identifier = 31, ip = 0x3000, pid = 5, time = 4 })
  b:sample(b.events[1], { identifier = 11, ip = 0x4000, pid = 5, time = 5 })
  b:sample(late, { identifier = 32, ip = 0x5000, pid = 5, time = 6 })
  return b
end

local function names(file, options)
  local list = {}
  for s in file:records(options):each() do
    list[#list + 1] = s.type == "sample" and s.event.name or s.type
  end
  return list
end

local ALL = { "comm", "two", "one", "late:event", "one", "late:event" }

reading.either_order(describe, function(endian)
  describe("an event that comes late in pipe mode", function()
    it("is added to the file's events where its attr is met", function()
      local file = reading.open(build(endian))
      local list, n = file.events, {}
      assert.are.equal(2, #list)
      for _, order in ipairs { "file", "time" } do
        for _ = 1, 2 do
          assert.are.same(ALL, names(file, { order = order }))
        end
      end
      for r in file:samples():each() do
        n[#n + 1] = #r.event.ids
      end
      assert.are.same({ 1, 2, 2, 2, 2 }, n)
      assert.are.equal(3, #file.events)
      assert.are.equal(list, file.events)
      assert.are.equal("late:event", list[3].name)
      assert.are.equal("late:event", file.events["late:event"].name)
      assert.are.same({ 31, 32 }, list[3].ids)
      assert.are.equal(3, list[3].index)
      assert.is_true(file.complete)
      assert.are.equal(0, #file.damage)
    end)

    it("may be the first with counter values, whose periods are differences from the first "
      .. "sample on", function()
      local function recording()
        local b = small { endian = endian }
        local late = late_event(b, {
          name = "counted", type = 1, config = 7, ids = { 31 }, read_format = { "id" },
          sample_type = { "identifier", "ip", "tid", "time", "read" },
        })
        for time, value in ipairs { 10, 30, 31 } do
          b:sample(late, { identifier = 31, pid = 5, time = 3 + time,
            read = { value = value, id = 31 } })
        end
        return b
      end
      local questions = {
        function(file)
          return file:samples():all_events():group_by("type"):sum("period"):sort()[1].period
        end,
        function(file)
          local sum = 0
          for s in file:samples():each() do sum = sum + s.period end
          return sum
        end,
      }
      for _, question in ipairs(questions) do
        assert.are.equal(2 + 31, question(reading.open(recording())))
      end
      assert.are.equal(21, reading.open(recording()):samples():between(5, nil):sum("period"))
      local file = reading.open(recording())
      local periods = {}
      for s in file:samples():between(5, nil):each() do periods[#periods + 1] = s.period end
      assert.are.same({ 20, 1 }, periods)
      assert.are.equal(3, core.count(reading.open(recording())).events[3].count)
    end)

    it("is the first one's peer: both were alone before", function()
      local b = builder.new { endian = endian, container = "pipe" }
      local one = b:event { name = "one", sample_type = kinds, ids = { 11 } }
      b:sample(one, { identifier = 11, time = 1 })
      local late = late_event(b, { type = 1, config = 0, ids = { 31 } })
      b:sample(late, { identifier = 31, time = 2 })
      b:sample(one, { identifier = 11, time = 3 })
      for _, order in ipairs { "file", "time" } do
        local file = reading.open(b)
        for _ = 1, 2 do
          assert.are.same({ "one", "cpu-clock", "one" }, names(file, { order = order }))
        end
      end
    end)

    it("may be the first of all", function()
      local b = builder.new { endian = endian, container = "pipe" }
      b:record("finished_round")
      for i = 1, 2 do
        local late = late_event(b, { type = 1, config = i + 1, ids = { 30 + i } })
        b:sample(late, { identifier = 30 + i, ip = 0x1000 * i, time = i })
      end
      local file = reading.open(b)
      assert.are.equal(0, #file.events)
      for _ = 1, 2 do
        assert.are.same({ "page-faults", "context-switches" }, names(file))
      end
      assert.are.same({ 0x1000, 0x2000 }, { file.events[1] and file:samples():collect()[1].ip,
        file:samples():collect()[2].ip })
      local counts = core.count(reading.open(b))
      assert.are.same({ 1, 1 }, { counts.events[1].count, counts.events[2].count })
    end)

    it("is counted, grouped and filtered like the others", function()
      local b = build(endian)
      local alone = builder.new { endian = endian, container = "pipe" }
      local one = alone:event { name = "one", sample_type = kinds, ids = { 11 } }
      alone:sample(one, { identifier = 11, time = 1 })
      alone:sample(late_event(alone, { type = 1, config = 0, ids = { 31 } }),
        { identifier = 31, time = 2 })
      assert.are.equal(2, #reading.open(alone):samples():group_by("pid"):count():top(10))
      local counts = core.count(reading.open(b))
      assert.are.equal(0, counts.unknown_event.count)
      assert.are.same({ 2, 1, 2 }, { counts.events[1].count, counts.events[2].count,
        counts.events[3].count })
      local groups = {}
      for row in reading.open(b):samples():group_by("pid"):count():top(10):rows() do
        groups[row.event] = row.count
      end
      assert.are.same({ one = 2, two = 1, ["late:event"] = 2 }, groups)
      assert.are.equal(2, reading.open(b):samples("one"):count())
      local ips = {}
      for ip, event in reading.open(b):samples():where("ip >= 0x3000"):select("ip", "event") do
        ips[#ips + 1] = ("%x %s"):format(ip, event.name)
      end
      assert.are.same({ "3000 late:event", "4000 one", "5000 late:event" }, ips)
    end)

    it("goes to the handler that names it, else to sample's", function()
      local seen = {}
      local function to(name)
        return function(s) seen[#seen + 1] = name .. " " .. s.event.name end
      end
      reading.open(build(endian)):run { ["late:event"] = to "exact", ["l*"] = to "glob",
        one = to "one" }
      assert.are.same({ "one one", "exact late:event", "one one", "exact late:event" }, seen)
      seen = {}
      reading.open(build(endian)):run { ["late:*"] = { "ip", function(ip)
        seen[#seen + 1] = ip
      end } }
      assert.are.same({ 0x3000, 0x5000 }, seen)
      seen = {}
      reading.open(build(endian)):run { sample = to "sample", two = to "two" }
      assert.are.same({ "two two", "sample one", "sample late:event", "sample one",
        "sample late:event" }, seen)
    end)

    it("is refused where its records could not be told from the others", function()
      warn "@off"
      for _, members in ipairs {
        { sample_type = { "ip", "tid", "time" }, ids = { 31 } },
        { sample_type = { "identifier", "ip", "time" }, ids = { 31 } },
        { ids = {} }, { sample_id_all = false, ids = { 31 } },
      } do
        local b = small { endian = endian }
        late_event(b, members)
        b:record("comm", { comm = "after" }, { time = 9, identifier = 11 })
        local file = reading.open(b)
        assert.are.same({ "comm", "two", "one", "comm" }, names(file))
        assert.are.equal(2, #file.events)
        assert.are.equal(1, #file.damage)
        assert.matches("found a late event whose records have id and time at other offsets",
          file.damage[1].reason)
      end
    end)

    it("is one of so many that none is lost quietly", function()
      warn "@off"
      local b = small { endian = endian }
      for i = 1, 300 do
        late_event(b, { type = 1, config = 0, ids = { 1000 + i } })
      end
      local file = reading.open(b)
      assert.are.same({ "comm", "two", "one" }, names(file))
      assert.are.equal(258, #file.events)
      assert.are.equal(44, #file.damage)
    end)
  end)

  describe("what else comes late in pipe mode", function()
    it("is a feature", function()
      local b = small { endian = endian }
      local w = b.w
      b:record("header_feature", { feature = 7, data = w:u32(4) .. w:u32(8) }) -- nrcpus
      b:record("header_feature", { feature = 21, data = w:u64(2) .. w:u64(3) }) -- sample_time
      -- the first hostname stays
      b:record("header_feature", { feature = 3, data = w:u32(4) .. "new\0" })
      local file = reading.open(b)
      assert.is_nil(file.features.nrcpus)
      assert.are.equal(3, file:records():count())
      assert.are.equal(12, file.features.nrcpus.available + file.features.nrcpus.online)
      assert.are.same({ first = 2, last = 3 }, file.features.sample_time)
      assert.are.equal("here", file.features.hostname)
      assert.are.same({ 2, 3 }, { file.first_time, file.last_time })
    end)

    it("is the build-ids, one by one", function()
      local b = small { endian = endian }
      local ids = { ("12"):rep(20), ("ab"):rep(20) }
      b:record("build_id", { pid = -1, build_id = ids[1], filename = "/bin/sh", misc = 2 })
      b:record("build_id", { pid = -1, build_id = ids[2], filename = "[kernel.kallsyms]",
        misc = 1 })
      local file, seen = reading.open(b), {}
      assert.is_nil(file.features.build_id)
      for _ = 1, 2 do
        for r in file:records({ type = "build_id", order = "file" }):each() do
          seen[#seen + 1] = #file.features.build_id
          assert.are.equal("build_id", r.type)
        end
      end
      assert.is_true(seen[1] >= 1)
      local list = file.features.build_id
      assert.are.equal(2, #list)
      assert.are.same({ build_id = ids[2], filename = "[kernel.kallsyms]", pid = -1,
        cpumode = "kernel" }, list[2])
      assert.are.same({ ids[1], "/bin/sh" }, { list[1].build_id, list[1].filename })
    end)
  end)

  for _, container in ipairs { "file", "pipe" } do
    it("an event's unit and scale are known when their updates were read, in a "
      .. container, function()
      local b = builder.new { endian = endian, container = container }
      b:event { name = "power/energy-pkg/", sample_type = kinds, ids = { 11 } }
      b:event { name = "two", sample_type = kinds, ids = { 21 } }
      b:record("finished_init")
      b:record("event_update", { id = 11, unit = "Joules" })
      b:record("event_update", { id = 11, scale = 2.5 })
      b:record("event_update", { id = 11, name = "renamed" })
      local file = reading.open(b)
      local event = file.events[1]
      assert.is_nil(event.unit)
      assert.is_nil(event.scale)
      for _ = 1, 2 do
        file:records():count()
        assert.are.same({ "Joules", 2.5 }, { event.unit, event.scale })
        assert.is_nil(file.events[2].unit)
        assert.are.equal("power/energy-pkg/", event.name) -- as the recording named it already
      end
    end)
  end

  it("an event that nothing named is named by its update, when that comes late", function()
    local b = builder.new { endian = endian, container = "pipe" }
    b:event { type = 1, config = 9, sample_type = kinds, ids = { 11 } }
    b:record("finished_init")
    b:record("event_update", { id = 11, name = "mine" })
    local file = reading.open(b)
    assert.are.equal("dummy", file.events[1].name)
    file:records():count()
    assert.are.equal("mine", file.events[1].name)
  end)
end)

it("meets late records in the one pass over a stream", function()
  local script = run.script [[
    local seen = {}
    local file = perflua.open("-")
    for r in file:records { container = true } do
      seen[#seen + 1] = r.type == "sample" and r.event.name or nil
    end
    print(table.concat(seen, " "), #file.events)]]
  local got = run.shell_with('cat "$1" | "$perflua" "$2" -', build("little"):write(), script)
  assert.are.same({ status = 0, out = "two one late:event one late:event\t3\n", err = "" }, got)
  got = run.shell_with('cat "$1" | "$perflua" stat -', build("little"):write())
  assert.matches("late:event +2 ", got.out)
  for _, tool in ipairs { "dump", "dump --json", "doctor" } do
    got = run.shell_with(('cat "$1" | "$perflua" %s -'):format(tool), build("little"):write())
    assert.are.equal("", got.err)
    assert.matches("late:event", got.out)
  end
end)

it("tools count an event whose attr follows a record of the kernel", function()
  local b = builder.new { container = "pipe" }
  b:record("finished_round")
  local late = late_event(b, { type = 1, config = 0, ids = { 31 } })
  b:sample(late, { identifier = 31, ip = 0x1000, pid = 5, tid = 5, time = 1 })
  local path = b:write()
  for tool, expected in pairs { gen = "cpu%-clock", fields = "sample of cpu%-clock",
    fold = ":5;.* 1\n", flame = "^<", stat = "cpu%-clock +1 " } do
    local got = run.shell_with(('"$perflua" %s "$1"'):format(
      tool == "flame" and "flame -o -" or tool), path)
    assert.are.equal(0, got.status, tool)
    assert.matches(expected, got.out, tool)
  end
end)

it("several recordings have what comes late in one of them", function()
  local paths = { build("little"):write(), build("little"):write(), small():write() }
  local file = assert(perflua.open(paths))
  local n = {}
  for s in file:samples():each() do
    n[s.event.name] = (n[s.event.name] or 0) + 1
  end
  assert.are.same({ one = 5, two = 3, ["late:event"] = 4 }, n)
  assert.are.equal(3, #file.events)
end)
