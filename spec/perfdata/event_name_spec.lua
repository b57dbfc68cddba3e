local builder = require "spec.support.builder"
local perflua = require "perflua"
local reading = require "spec.support.reading"

--- The name of an event that the recording gives no name, as the newest perf calls it or the
--- one of a version.
local function name_of(members, pmus, endian, version)
  local b = builder.new { endian = endian }
  b:event(members)
  if pmus then
    b:feature("pmu_mappings", pmus)
  end
  b:record("finished_round")
  return assert(perflua.open(b:write(), { as = version })).events[1].name
end

describe("an event without a name of its own", function()
  local hardware = {
    [0] = "cycles", "instructions", "cache-references", "cache-misses", "branches",
    "branch-misses",
    "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
  }
  for config, name in pairs(hardware) do
    it("is " .. name .. " by its hardware number", function()
      assert.are.equal(name, name_of { type = 0, config = config })
    end)
  end

  local software = {
    [0] = "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
    "minor-faults",
    "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output",
    "cgroup-switches",
  }
  for config, name in pairs(software) do
    it("is " .. name .. " by its software number", function()
      assert.are.equal(name, name_of { type = 1, config = config })
    end)
  end

  local caches = {
    ["L1-dcache-loads"] = 0, ["L1-dcache-load-misses"] = 0 | 1 << 16,
    ["L1-dcache-stores"] = 0 | 1 << 8, ["L1-dcache-prefetch-misses"] = 0 | 2 << 8 | 1 << 16,
    ["L1-icache-loads"] = 1, ["L1-icache-load-misses"] = 1 | 1 << 16,
    ["LLC-loads"] = 2, ["LLC-store-misses"] = 2 | 1 << 8 | 1 << 16,
    ["LLC-prefetches"] = 2 | 2 << 8,
    ["dTLB-load-misses"] = 3 | 1 << 16, ["iTLB-load-misses"] = 4 | 1 << 16,
    ["branch-loads"] = 5, ["branch-load-misses"] = 5 | 1 << 16, ["node-stores"] = 6 | 1 << 8,
  }
  for name, config in pairs(caches) do
    it("is " .. name .. " by its cache, operation and result", function()
      assert.are.equal(name, name_of { type = 3, config = config })
    end)
  end

  it("is its number when raw", function()
    assert.are.equal("raw 0x1c2", name_of { type = 4, config = 0x1c2 })
  end)

  it("is address and access when a breakpoint", function()
    assert.are.equal("mem:0x601040:rw",
      name_of { type = 5, bp_type = 3, bp_addr = 0x601040, bp_len = 4 })
    assert.are.equal("mem:0x400500:x",
      name_of { type = 5, bp_type = 4, bp_addr = 0x400500, bp_len = 8 })
  end)

  it("is the number of its tracepoint, which older perfs do not say", function()
    local event = { type = 2, config = 0x141 }
    assert.are.equal("unknown tracepoint id=0x141", name_of(event))
    assert.are.equal("unknown tracepoint", name_of(event, nil, nil, "6.12"))
  end)

  it("is its type and config where nothing names the PMU, or its type alone", function()
    local event = { type = 77, config = 0x141 }
    assert.are.equal("unknown event PMU=77 config=0x141", name_of(event))
    assert.are.equal("unknown attr type: 77", name_of(event, nil, nil, "6.12"))
  end)

  it("names the PMU the header maps its type to", function()
    local name = name_of({ type = 10, config = 0x3f }, { msr = 10, software = 1 })
    assert.matches("msr", name)
    assert.matches("3f", name)
  end)

  it("names the PMU of its kind of core", function()
    local cycles = { type = 0, config = 4 << 32 }
    assert.are.equal("cpu_atom/cycles/", name_of(cycles, { cpu_atom = 4 }))
    assert.are.equal("cpu_atom/LLC-load-misses/u",
      name_of({ type = 3, config = 4 << 32 | 0x10002, exclude_kernel = true,
        exclude_hv = true },
        { cpu_core = 8, cpu_atom = 4 }))
  end)

  it("stays generic if the header does not name its kind of core", function()
    assert.are.equal("cycles", name_of { type = 0, config = 4 << 32 })
  end)

  -- The names that perf evlist shows: of the newest, and of those before 7.2.
  local modifiers = {
    { "cycles", "cycles:HG", {} },
    { "cycles:H", "cycles", { exclude_guest = true } },
    { "cycles:G", "cycles:G", { exclude_host = true } },
    { "cycles:u", "cycles:u", { exclude_kernel = true, exclude_hv = true } },
    { "cycles:k", "cycles:k", { exclude_user = true, exclude_hv = true } },
    { "cycles:ku", "cycles:ku", { exclude_hv = true } },
    { "cycles:uh", "cycles:uh", { exclude_kernel = true } },
    { "cycles:p", "cycles:p", { precise_ip = 1 } },
    { "cycles:ppp", "cycles:ppp", { precise_ip = 3 } },
    { "cycles:upp", "cycles:upp", { exclude_kernel = true, exclude_hv = true,
      precise_ip = 2 } },
    { "cycles:uH", "cycles:uH", { exclude_kernel = true, exclude_hv = true,
      exclude_guest = true } },
    { "cycles:ppH", "cycles:ppH", { precise_ip = 2, exclude_guest = true } },
  }
  for _, m in ipairs(modifiers) do
    it("is " .. m[1] .. " with its modifiers, of old " .. m[2], function()
      m[3].type, m[3].config = 0, 0
      for _, endian in ipairs { "little", "big" } do
        assert.are.equal(m[1], name_of(m[3], nil, endian))
        assert.are.equal(m[1], name_of(m[3], nil, endian, "7.2"))
        assert.are.equal(m[2], name_of(m[3], nil, endian, "6.12"))
        assert.are.equal(m[2], name_of(m[3], nil, endian, "6.1"))
      end
    end)
  end
end)

describe("an event with a name", function()
  reading.either_order(describe, function(endian)
    local function two()
      local b = builder.new { endian = endian }
      b:event { name = "cpu_core/cycles/P", type = 0, config = 0, ids = { 1 } }
      b:event { name = "branch-misses:u", type = 0, config = 5, ids = { 2 } }
      b:record("finished_round")
      return reading.open(b).events
    end

    it("keeps the one the recording gives it", function()
      local events = two()
      assert.are.equal(2, #events)
      assert.are.equal("cpu_core/cycles/P", events[1].name)
      assert.are.equal("branch-misses:u", events[2].name)
      assert.are.equal(1, events[1].index)
      assert.are.equal(2, events[2].index)
    end)

    it("is found by it, with or without PMU and modifiers", function()
      local events = two()
      assert.are.equal(1, events["cpu_core/cycles/P"].index)
      assert.are.equal(1, events.cycles.index)
      assert.are.equal(2, events["branch-misses:u"].index)
      assert.are.equal(2, events["branch-misses"].index)
      assert.is_nil(events.instructions)
      assert.is_nil(events[3])
    end)

    it("leads the group the header says it leads", function()
      local b = builder.new { endian = endian }
      for i, name in ipairs { "alone", "leader", "member" } do
        b:event { name = name, ids = { i } }
      end
      b:feature("group_desc", { { name = "{anon_group}", leader = 1, members = 2 } })
      b:record("finished_round")
      local events = reading.open(b).events
      assert.are.equal("leader", events.member.leader.name)
      local members = {}
      for _, e in ipairs(events.leader.members) do
        members[#members + 1] = e.name
      end
      assert.is_true(#members >= 1)
      assert.are.equal("member", members[#members])
    end)
  end)

  it("takes names from the event types of an old recording", function()
    local b = builder.new { attr_size = 64, event_desc = false }
    b:event { type = 2, config = 77 }
    b.event_types = { { id = 77, name = "sched:sched_switch" } }
    assert.are.equal("sched:sched_switch", reading.open(b).events[1].name)
  end)
end)
