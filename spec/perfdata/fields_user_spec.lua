local builder = require "spec.support.builder"
local builder_records = require "spec.support.builder_records"
local reading = require "spec.support.reading"

local function record_of(endian, name, fields)
  local b = builder.new { endian = endian }
  b:event { name = "cycles", ids = { 77, 78 }, config = 9 }
  b:record(name, fields)
  return reading.first(b)
end

local cases = {
  { "event_type", 65, { event_id = 314, name = "sched:sched_switch" } },
  { "build_id", 67, { pid = -1, build_id = "00112233445566778899aabbccddeeff00112233",
    filename = "/bin/sh" } },
  { "build_id", 67, { pid = 5, build_id = "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    filename = "[kernel.kallsyms]" } },
  { "finished_round", 68, {} },
  { "stat", 76, { id = 77, cpu = 3, thread = 1, val = 1 << 40, ena = 20, run = 10 } },
  { "stat", 76, { id = 77, cpu = -1, thread = 0, val = 1, ena = 2, run = 3 } },
  { "stat_round", 77, { round_type = 1, time = 1000000000 } },
  { "event_update", 78, { id = 78, unit = "msec" }, { update_type = 0, scale = "nil" } },
  { "event_update", 78, { id = 78, scale = 0.000001 },
    { update_type = 1, unit = "nil", name = "nil" } },
  { "event_update", 78, { id = 78, name = "cycles:u" }, { update_type = 2, cpus = "nil" } },
  { "time_conv", 79, { time_shift = 31, time_mult = 1234567, time_zero = -5, time_cycles = 99,
    time_mask = -1,
    cap_user_time_zero = true, cap_user_time_short = false } },
  { "time_conv", 79, { time_shift = 31, time_mult = 1234567, time_zero = 5, short = true },
    { time_cycles = "nil", short = "unread" } },
  { "auxtrace_error", 72, { error_type = 1, code = 7, cpu = 3, pid = 5, tid = 6, ip = 0x401000,
    msg = "lost sync" },
    { fmt = 0, time = "nil", machine_pid = "nil" } },
  { "auxtrace_error", 72, { error_type = 1, code = 7, cpu = 3, pid = 5, tid = 6, fmt = 1,
    ip = 0x401000,
    time = 12345, msg = "lost sync" } },
  { "auxtrace_error", 72, { error_type = 1, code = 7, cpu = -1, pid = 5, tid = 6, fmt = 2,
    ip = 0x401000,
    time = 12345, msg = "lost sync", machine_pid = 400, vcpu = 2 } },
  { "finished_init", 82, {} },
  { "schedstat_cpu", 85, { timestamp = 4294937296, cpu = 1, version = 17, yld_count = 1,
    array_exp = 2,
    sched_count = 3, sched_goidle = 4, ttwu_count = 5, ttwu_local = 6, rq_cpu_time = 1 << 40,
    run_delay = 8,
    pcount = 9 } },
}

for _, version in ipairs { 15, 16, 17 } do
  local fields = { timestamp = 4294937296, cpu = 1, version = version, domain = 2 }
  for i, name in ipairs(builder_records.schedstat_domain_fields(version)) do
    fields[name] = 1000 * version + i
  end
  cases[#cases + 1] = { "schedstat_domain", 86, fields }
end

reading.either_order(describe, function(endian)
  for i, case in ipairs(cases) do
    local name, type_id, written, read = case[1], case[2], case[3], case[4] or {}
    it("has every field of " .. name .. ", case " .. i, function()
      local r = record_of(endian, name, written)
      assert.are.equal(name, r.type)
      assert.are.equal(type_id, r.type_id)
      for field, value in pairs(read) do
        if value == "nil" then
          value = nil
        end
        if value ~= "unread" then
          assert.are.equal(value, r[field], field)
        end
      end
      for field, value in pairs(written) do
        if read[field] == nil then
          assert.are.equal(value, r[field], field)
        end
      end
    end)
  end

  it("shows the attr and the ids of a header_attr", function()
    local r = record_of(endian, "header_attr", {})
    assert.are.equal(9, r.attr.config)
    assert.are.equal(128, r.attr.size)
    assert.are.equal(2, #r.ids)
    assert.are.equal(77, r.ids[1])
    assert.are.equal(78, r.ids[2])
  end)

  it("shows a feature a pipe would carry", function()
    local r = record_of(endian, "header_feature", { feature = 3, data = "\0" })
    assert.are.equal("hostname", r.feature)
    assert.are.equal("250", record_of(endian, "header_feature",
      { feature = 250, data = "xyz" }).feature)
  end)

  it("shows the places of an id_index, and of guests when it has them", function()
    local entries = { { id = 77, idx = 0, cpu = 0, tid = -1 },
      { id = 78, idx = 1, cpu = -1, tid = 4321 } }
    local r = record_of(endian, "id_index", { entries = entries })
    assert.are.equal(2, #r.entries)
    for i, e in ipairs(entries) do
      for k, v in pairs(e) do
        assert.are.equal(v, r.entries[i][k], k)
      end
      assert.is_nil(r.entries[i].machine_pid)
    end
    entries[1].machine_pid, entries[1].vcpu = 400, 0
    entries[2].machine_pid, entries[2].vcpu = 400, 1
    r = record_of(endian, "id_index", { entries = entries })
    assert.are.equal(400, r.entries[1].machine_pid)
    assert.are.equal(1, r.entries[2].vcpu)
    assert.are.equal(4321, r.entries[2].tid)
  end)

  it("shows the threads of a thread_map", function()
    local threads = { { pid = -1, comm = "" }, { pid = 42, comm = "sixteen_bytes_ok" } }
    local r = record_of(endian, "thread_map", { threads = threads })
    assert.are.equal(2, #r.threads)
    assert.are.equal(-1, r.threads[1].pid)
    assert.are.equal(42, r.threads[2].pid)
    assert.are.equal("sixteen_bytes_ok", r.threads[2].comm)
  end)

  local maps = {
    { "as a list", { 0, 3, 7 }, { 0, 3, 7 } },
    { "as a list with any cpu", { 0xffff }, { -1 } },
    { "as a range", { type = "range", 2, 5 }, { 2, 3, 4, 5 } },
    { "as a mask of 32-bit words", { type = "mask", 0, 31, 32, 70 }, { 0, 31, 32, 70 } },
    { "as a mask of 64-bit words", { type = "mask", long_size = 8, 1, 63, 64, 127 },
      { 1, 63, 64, 127 } },
  }
  for _, map in ipairs(maps) do
    it("shows the cpus of a cpu_map " .. map[1], function()
      local function list(cpus)
        local out = {}
        for i = 1, #cpus do
          out[i] = cpus[i]
        end
        return out
      end
      assert.are.same(map[3], list(record_of(endian, "cpu_map", { cpus = map[2] }).cpus))
      local update = record_of(endian, "event_update", { id = 78, cpus = map[2] })
      assert.are.equal(3, update.update_type)
      assert.are.same(map[3], list(update.cpus))
    end)
  end

  it("shows the settings of perf stat by name", function()
    local r = record_of(endian, "stat_config",
      { aggr_mode = 1, interval = 1000, scale = 1, aggr_level = 4 })
    assert.are.equal(1, r.aggr_mode)
    assert.are.equal(1000, r.interval)
    assert.are.equal(1, r.scale)
    assert.are.equal(4, r.aggr_level)
    assert.is_nil(record_of(endian, "stat_config", { aggr_mode = 1 }).aggr_level)
  end)

  it("shows what set up an AUX area", function()
    local r = record_of(endian, "auxtrace_info",
      { auxtrace_type = 3, priv = { 1, 1 << 40, 3 } })
    assert.are.equal(3, r.auxtrace_type)
    assert.are.equal(3, #r.priv)
    assert.are.equal(1 << 40, r.priv[2])
  end)

  it("hands out the AUX data that follows its record, and goes on after it", function()
    local b = builder.new { endian = endian }
    b:event {}
    b:record("auxtrace", { data_offset = 64, reference = 5, idx = 1, tid = 7, cpu = -1,
      data = ("trace!!!"):rep(1000) })
    b:record("tracing_data", { data = "not parsed when met here" })
    b:record("finished_round")
    local records = reading.all(reading.open(b))
    assert.are.equal(3, #records)
    local r = records[1]
    assert.are.equal(8000, r.data_size)
    assert.are.equal(64, r.data_offset)
    assert.are.equal(5, r.reference)
    assert.are.equal(7, r.tid)
    assert.are.equal(-1, r.cpu)
    assert.are.equal(("trace!!!"):rep(1000), r:data())
    assert.are.equal(24, records[2].data_size)
    assert.are.equal("finished_round", records[3].type)
  end)

  it("shows what BPF programs said of themselves", function()
    local r = record_of(endian, "bpf_metadata", { prog_name = "my_prog",
      entries = { { key = "version", value = "1.2" },
        { key = "author", value = ("x"):rep(255) } } })
    assert.are.equal("my_prog", r.prog_name)
    assert.are.equal(2, #r.entries)
    assert.are.equal("version", r.entries[1].key)
    assert.are.equal(("x"):rep(255), r.entries[2].value)
  end)
end)

describe("the container's own records", function()
  it("come only when they are asked for", function()
    local b = builder.new {}
    local event = b:event {}
    b:record("finished_init")
    b:sample(event, { ip = 1 })
    b:record("finished_round")
    local file = reading.open(b)
    assert.are.equal(1, file:records({ order = "file" }):count())
    assert.are.equal(3, file:records({ order = "file", container = true }):count())
    assert.are.equal(1, file:records({ order = "file", type = "finished_round" }):count())
  end)
end)
