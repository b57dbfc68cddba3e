local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

local trailer = { pid = 31, tid = 32, time = 8590143543210, id = 77, stream_id = 78, cpu = 3 }

--- A file with one event and one record; the record.
local function record_of(endian, name, fields, id, members)
  local b = builder.new { endian = endian }
  members = members or {}
  members.sample_type = members.sample_type
    or { "ip", "tid", "time", "id", "stream_id", "cpu", "identifier" }
  members.ids = { 77 }
  b:event(members)
  b:record(name, fields, id)
  return reading.first(b)
end

local task = { pid = 7, ppid = 6, tid = 9, ptid = 8, time = 123456789012345 }
local throttled = { time = 99999999999, id = 77, stream_id = 5 }
local build_id = "00112233445566778899aabbccddeeff00112233"

-- Values that are written, and values that are read where these differ.
local cases = {
  { "mmap", 1, { pid = 7, tid = 8, addr = 0xffffffff81000000, len = 0x2000, pgoff = 0x1000,
    filename = "/usr/lib/libc.so.6" }, { data = false } },
  { "mmap", 1, { pid = -1, tid = 0, addr = 0x1000, len = 1, data = true,
    filename = "//anon" } },
  { "lost", 2, { id = 77, lost = 12345 } },
  { "comm", 3, { pid = 7, tid = 8, comm = "a comm of 15 by", exec = true } },
  { "comm", 3, { pid = 7, tid = 8, comm = "" }, { exec = false } },
  { "exit", 4, task },
  { "throttle", 5, throttled },
  { "unthrottle", 6, throttled },
  { "fork", 7, task, { exec = false } },
  { "fork", 7, { pid = 7, tid = 7, time = 5, exec = true } },
  { "mmap2", 10, { pid = 7, tid = 8, addr = 0x7f0000000000, len = 0x2000, pgoff = 0x1000,
    maj = 8, min = 1,
    ino = 1 << 40, ino_generation = 3, prot = 5, flags = 2, filename = "/bin/sh" },
    { data = false, build_id = "nil" } },
  { "mmap2", 10, { pid = 7, tid = 8, addr = 0x7f0000000000, len = 0x2000, pgoff = 0x1000,
    data = true,
    build_id = build_id, prot = 1, flags = 1, filename = ("/deep"):rep(100) },
    { maj = "nil", min = "nil", ino = "nil", ino_generation = "nil" } },
  -- perf inject --jit writes the mode of the file as its protection
  { "mmap2", 10, { pid = 7, tid = 8, addr = 0x7f0000000000, len = 0x200, pgoff = 0x80, maj = 8,
    min = 1, ino = 7, ino_generation = 1, prot = 0x81a4, flags = 1, filename = "/jitted-7.so" },
    { build_id = "nil" } },
  { "mmap2", 10, { pid = 7, tid = 8, build_id = "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    filename = "x" } },
  { "aux", 11, { aux_offset = 1 << 33, aux_size = 4096, flags = 5 } },
  { "itrace_start", 12, { pid = 7, tid = 8 } },
  { "lost_samples", 13, { lost = 9, bpf = true } },
  { "lost_samples", 13, { lost = 9 }, { bpf = false } },
  { "switch", 14, { out = true, preempt = true } },
  { "switch", 14, {}, { out = false, preempt = false } },
  { "switch_cpu_wide", 15, { next_prev_pid = 11, next_prev_tid = 12, out = true },
    { preempt = false } },
  { "switch_cpu_wide", 15, { next_prev_pid = -1, next_prev_tid = -1 } },
  { "ksymbol", 17, { addr = 0xffffffffc0000000, len = 256, ksym_type = 1,
    name = "bpf_prog_0123456789abcdef_f" },
    { unregister = false } },
  { "ksymbol", 17, { addr = 0xffffffffc0000000, len = 0, ksym_type = 2, unregister = true,
    name = "x" } },
  { "bpf_event", 18, { bpf_type = 1, flags = 2, prog_id = 42, tag = "0123456789abcdef" } },
  { "cgroup", 19, { cgroup_id = 0x100000003, path = "/system.slice/cron.service" } },
  { "text_poke", 20, { addr = 0xffffffff81000010, old = "\x0f\x1f\0\0\0",
    new = "\xe9\1\2\3\4" },
    { old_len = 5, new_len = 5 } },
  { "text_poke", 20, { addr = 0xffffffff81000010, old = "", new = "\x90" },
    { old_len = 0, new_len = 1 } },
  { "aux_output_hw_id", 21, { hw_id = 0x0300000000000001 } },
}

reading.either_order(describe, function(endian)
  for i, case in ipairs(cases) do
    local name, type_id, written, read = case[1], case[2], case[3], case[4] or {}
    it("has every field of " .. name .. ", case " .. i, function()
      local r = record_of(endian, name, written, trailer)
      assert.are.equal(name, r.type)
      assert.are.equal(type_id, r.type_id)
      for field, value in pairs(read) do
        if value == "nil" then
          value = nil
        end
        assert.are.equal(value, r[field], field)
      end
      for field, value in pairs(written) do
        if read[field] == nil then
          assert.are.equal(value, r[field], field)
        end
      end
    end)

    it("has the sample_id after " .. name .. ", case " .. i, function()
      local r = record_of(endian, name, written, trailer)
      local id = r.sample_id
      for field, value in pairs(trailer) do
        assert.are.equal(value, id[field], field)
      end
      assert.are.equal(77, id.identifier)
      assert.are.equal(written.time or trailer.time, r.time)
      assert.are.equal(written.pid or trailer.pid, r.pid)
      assert.are.equal(written.tid or trailer.tid, r.tid)
      assert.are.equal(trailer.cpu, r.cpu)
      assert.are.equal(77, r.id)
    end)

    it("reads nil from the empty sample_id of a " .. name .. " that perf made itself, case "
      .. i, function()
      local r = record_of(endian, name, written)
      assert.are.equal(written.time, r.time)
      assert.are.equal(written.id, r.id)
      assert.is_nil(r.cpu)
      assert.are.equal(0, r.sample_id.time)
    end)
  end

  it("has the namespaces of a task by their names", function()
    local list = {}
    local names = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" }
    for i = 1, 7 do
      list[i] = { dev = 3, ino = 0xeffffff8 + i }
    end
    local r = record_of(endian, "namespaces", { pid = 7, tid = 8, namespaces = list }, trailer)
    assert.are.equal(7, r.pid)
    for i, name in ipairs(names) do
      assert.are.equal(3, r.namespaces[name].dev)
      assert.are.equal(0xeffffff8 + i, r.namespaces[name].ino)
    end
    assert.are.equal(trailer.time, r.time)
  end)

  it("has the namespaces an older kernel knew", function()
    local r = record_of(endian, "namespaces",
      { pid = 7, tid = 8, namespaces = { { dev = 1, ino = 2 } } }, trailer)
    assert.are.equal(2, r.namespaces.net.ino)
    assert.is_nil(r.namespaces.cgroup)
  end)

  it("has the user part of a call chain that came later", function()
    local ips = { 0x401000, 0x402000, 0x7f0000000001 }
    local r = record_of(endian, "callchain_deferred", { cookie = 0x123456789a, ips = ips },
      trailer)
    assert.are.equal(0x123456789a, r.cookie)
    assert.are.equal(3, #r.ips)
    assert.are.same(ips, { r.ips[1], r.ips[2], r.ips[3] })
    assert.is_nil(r.ips[4])
    assert.is_nil(r.ips[0])
  end)

  it("has the counter values of a READ record, alone or as a group", function()
    local formats = { "time_enabled", "time_running", "id", "lost" }
    local one = record_of(endian, "read", { pid = 7, tid = 8,
      read = { value = 1 << 40, time_enabled = 20, time_running = 10, id = 77, lost = 2 } },
        trailer,
      { read_format = formats })
    assert.are.equal(7, one.pid)
    assert.are.equal(1 << 40, one.read.value)
    assert.are.equal(20, one.read.time_enabled)
    assert.are.equal(10, one.read.time_running)
    assert.are.equal(2, one.read.lost)
    assert.are.equal(trailer.time, one.time)
    local group = record_of(endian, "read", { pid = 7, tid = 8,
      read = { { value = 5, id = 77 }, { value = 6, id = 78 } } }, trailer,
        { read_format = { "id", "group" } })
    assert.are.equal(2, #group.read)
    assert.are.equal(5, group.read[1].value)
    assert.are.equal(78, group.read[2].id)
    assert.is_nil(group.read[2].lost)
  end)

  it("has no sample_id where the event has none", function()
    local r = record_of(endian, "comm", { pid = 7, tid = 8, comm = "sh" }, nil,
      { sample_id_all = false })
    assert.are.equal("sh", r.comm)
    assert.is_nil(r.time)
    assert.is_nil(r.cpu)
    assert.are.equal(24, r.size)
  end)

  it("delivers a record of a type nobody knows, with its number and bytes", function()
    local b = builder.new { endian = endian }
    b:event { sample_id_all = false }
    b:raw(63, 2, "12345678")
    b:raw(40000, 0, "abcdefgh")
    local records = reading.all(reading.open(b))
    assert.are.equal(2, #records)
    assert.are.equal("unknown", records[1].type)
    assert.are.equal(63, records[1].type_id)
    assert.are.equal(40000, records[2].type_id)
    assert.are.equal("12345678", records[1]:bytes():sub(-8))
    assert.is_nil(records[1].ip)
  end)

  it("tells where code ran from the header", function()
    local b = builder.new { endian = endian }
    b:event { sample_id_all = false }
    for mode = 0, 5 do
      b:record("itrace_start", { misc = mode })
    end
    local modes = {}
    for _, r in ipairs(reading.all(reading.open(b))) do
      modes[#modes + 1] = r.cpumode
    end
    assert.are.same({ "unknown", "kernel", "user", "hypervisor", "guest_kernel", "guest_user" },
      modes)
  end)
end)

describe("a field", function()
  it("is nil if only other records have it", function()
    assert.is_nil(record_of("little", "comm", { comm = "x" }).filename)
  end)

  it("is the inode in an MMAP2 record with only the flag of a build-id", function()
    local function mapped(attr, fields)
      local b = builder.new()
      b:event(attr)
      fields.misc = 2 | 1 << 14
      b:record("mmap2", fields)
      return reading.open(b):records("mmap2"):first()
    end
    local r = mapped({}, { maj = 8, min = 1, ino = 77, ino_generation = 0,
      filename = "/bin/sh" })
    assert.same({ 0x4002, 8, 1, 77, 0 }, { r.misc, r.maj, r.min, r.ino, r.ino_generation })
    assert.is_nil(r.build_id)
    r = mapped({ build_id = true }, { build_id = "0102030405060708", filename = "/bin/sh" })
    assert.equal("0102030405060708", r.build_id)
    assert.is_nil(r.maj)
  end)

  it("is an error naming the closest if no record has it", function()
    local r = record_of("little", "mmap", { filename = "x" })
    assert.has_error(function() return r.filenam end)
    local _, message = pcall(function() return r.filenam end)
    assert.matches("filename", message)
  end)
end)
