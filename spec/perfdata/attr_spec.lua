local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

local function event_of(endian, members, options)
  local b = builder.new { endian = endian, attr_size = options and options.attr_size }
  b:event(members)
  return reading.open(b).events[1]
end

reading.either_order(describe, function(endian)
  it("reads every member of an attr by its kernel name", function()
    local members = {
      type = 4, config = 0xfedcba9876543210, sample_period = 4000, wakeup_events = 3,
      config1 = 0x1111111111111111, config2 = 0x2222222222222222,
      branch_sample_type = { "any", "user" },
      sample_regs_user = 0xff0fff, sample_stack_user = 8192, clockid = 1,
      sample_regs_intr = 0xff,
      aux_watermark = 4096, sample_max_stack = 127, aux_sample_size = 256, sig_data = 77,
      config3 = 0x3333333333333333, config4 = 0x4444444444444444,
      read_format = { "id", "lost" }, sample_type = { "ip", "period" },
    }
    local event = event_of(endian, members, { attr_size = 144 })
    local expected = setmetatable({
      branch_sample_type = 9, read_format = 1 << 2 | 1 << 4, sample_type = 1 | 1 << 8,
      size = 144,
    }, { __index = members })
    for name in pairs(members) do
      assert.are.equal(expected[name], event[name], name)
    end
    assert.are.equal(144, event.size)
  end)

  it("reads every flag of an attr, one at a time", function()
    local attr = require "spec.support.builder_attr"
    for name, place in pairs(attr.flags) do
      if name ~= "precise_ip" and name ~= "sample_id_all" then
        local event = event_of(endian, { [name] = true, sample_id_all = false })
        for other in pairs(attr.flags) do
          if other ~= "precise_ip" then
            assert.are.equal(other == name, event[other], other .. " when bit " .. place[1]
              .. " is set")
          end
        end
        assert.are.equal(0, event.precise_ip, "precise_ip when " .. name .. " is set")
      end
    end
    assert.is_true(event_of(endian, { sample_id_all = true }).sample_id_all)
  end)

  it("reads precise_ip as the recorder meant it, where perf swaps 1 and 2 of a big-endian "
    .. "file", function()
    for level = 0, 3 do
      assert.are.equal(level, event_of(endian, { precise_ip = level }).precise_ip)
    end
  end)

  it("reads what an event does to the AUX area", function()
    local names = { "aux_start_paused", "aux_pause", "aux_resume" }
    for _, set in ipairs(names) do
      local event = event_of(endian, { [set] = true })
      for _, name in ipairs(names) do
        assert.are.equal(name == set, event[name], name .. " when " .. set .. " is set")
      end
    end
  end)

  it("reads a negative clockid", function()
    assert.are.equal(-6, event_of(endian, { clockid = -6, use_clockid = true }).clockid)
  end)

  it("shows a frequency or a period, as the event asks for one or the other", function()
    local by_freq = event_of(endian, { freq = true, sample_freq = 4000 })
    assert.are.equal(4000, by_freq.sample_freq)
    assert.is_nil(by_freq.sample_period)
    local by_period = event_of(endian, { sample_period = 100000 })
    assert.are.equal(100000, by_period.sample_period)
    assert.is_nil(by_period.sample_freq)
  end)

  it("shows a breakpoint's address and length under their names", function()
    local event = event_of(endian, { type = 5, bp_type = 3, bp_addr = 0x601040, bp_len = 4 })
    assert.are.equal(3, event.bp_type)
    assert.are.equal(0x601040, event.bp_addr)
    assert.are.equal(4, event.bp_len)
  end)

  it("shows a watermark in bytes instead of a number of events", function()
    local event = event_of(endian, { watermark = true, wakeup_watermark = 65536 })
    assert.are.equal(65536, event.wakeup_watermark)
    assert.is_nil(event.wakeup_events)
  end)

  for size = 64, 200, 8 do
    it("reads an attr of " .. size .. " bytes, zero where it ends early", function()
      local members = {
        type = 1, config = 2, config2 = 12, branch_sample_type = 8, sample_regs_user = 7,
        sample_stack_user = 16, sample_regs_intr = 9, aux_watermark = 5, aux_sample_size = 6,
        sig_data = 8, config3 = 3, config4 = 4, tail = ("\xff"):rep(64),
      }
      local ends = {
        config2 = 72, branch_sample_type = 80, sample_regs_user = 88, sample_stack_user = 92,
        sample_regs_intr = 104, aux_watermark = 108, aux_sample_size = 116, sig_data = 128,
        config3 = 136, config4 = 144,
      }
      local event = event_of(endian, members, { attr_size = size })
      assert.are.equal(size, event.size)
      for name, at in pairs(ends) do
        assert.are.equal(at <= size and members[name] or 0, event[name], name)
      end
      assert.are.same({ 100 }, { table.unpack(event.ids) })
    end)
  end

  it("takes an attr of size 0 as one of the first size, 64", function()
    local b = builder.new { endian = endian, attr_size = 64 }
    b:event { type = 1, config = 9, size = 0 }
    local event = reading.open(b).events[1]
    assert.are.equal(9, event.config)
    assert.are.equal(0, event.config2)
  end)

  it("finds the ids at the end of an entry that is wider than its attr", function()
    local b = builder.new { endian = endian, attr_size = 128 }
    b:event { config = 1, attr_size = 96, ids = { 5, 6, 7 } }
    b:event { config = 2, attr_size = 128, ids = { 8 } }
    local events = reading.open(b).events
    assert.are.same({ 5, 6, 7 }, { table.unpack(events[1].ids) })
    assert.are.same({ 8 }, { table.unpack(events[2].ids) })
    assert.are.same({ 96, 128 }, { events[1].size, events[1].attr_size })
  end)

  it("says how many bytes the recording has for it, in a pipe, too", function()
    for _, size in ipairs { 64, 96, 144 } do
      for _, container in ipairs { "file", "pipe" } do
        local b = builder.new { endian = endian, attr_size = size, container = container }
        b:event { config = 1, ids = { 5, 6, 7 } }
        assert.are.equal(size, reading.open(b).events[1].attr_size)
      end
    end
  end)

  it("names the fields its samples have", function()
    local event = event_of(endian, { sample_type = { "ip", "tid", "callchain" } })
    local has = {}
    for _, name in ipairs(event.sample_fields) do
      has[name] = true
    end
    assert.is_true(has.ip and has.pid and has.tid and has.callchain)
    assert.is_nil(has.time)
    assert.is_nil(has.regs_user)
  end)
end)
