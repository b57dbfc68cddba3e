-- Looks for the strings of recordings in their scrubbed copies, which have none of the kinds
-- that are dropped or hashed, whatever they lie in, and none in the gaps between parts.
local builder = require "spec.support.builder"
local busy = require "spec.support.busy"
local containers = require "spec.support.containers"
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local scrubbed = require "spec.support.scrubbed"
local tracing = require "spec.support.builder_tracing"

local SECRET <const> = "sesame" -- in all strings that must not stay

local function find_secrets(path)
  local n = select(2, files.read(path):gsub(SECRET, ""))
  return n
end

local function words(n) return ("%s-%d"):format(SECRET, n) end

-- A recording whose names all have the secret in them, of each kind of record and feature.
local function secretive(endian)
  local b = builder.new { endian = endian }
  local event = b:event { name = words(1), type = 77, config = 5, sample_regs_user = 3,
    sample_stack_user = 8,
    sample_type = { "ip", "tid", "time", "raw", "regs_user", "stack_user", "aux" } }
  local id = ("%02x"):rep(20):format((SECRET .. ("x"):rep(14)):byte(1, 20))
  local at = { time = 10, pid = 7, tid = 7 }
  b:record("comm", { pid = 7, tid = 7, comm = words(2) }, at)
  b:record("mmap", { pid = 7, tid = 7, addr = 4096, len = 4096, filename = "/a/" .. words(3) },
    at)
  b:record("mmap2", { pid = 7, tid = 7, addr = 8192, len = 4096, build_id = id,
    filename = "/" .. words(4) .. "/b" }, at)
  b:record("mmap2", { pid = 7, tid = 7, addr = 8192, len = 4096, ino = 7,
    filename = ("[%s]"):format(words(5)) }, at)
  b:record("ksymbol", { addr = 1, len = 2, name = words(6) }, at)
  b:record("cgroup", { cgroup_id = 5, path = "/" .. words(7) .. ".slice" }, at)
  b:record("text_poke", { addr = 1, old = SECRET, new = SECRET }, at)
  b:record("bpf_event", { bpf_type = 1, prog_id = 2, tag = id:sub(1, 16) }, at)
  b:record("build_id", { build_id = id, filename = "/" .. words(8) })
  b:record("auxtrace_error", { msg = words(9) })
  b:record("thread_map", { threads = { { pid = 7, comm = words(10) } } })
  b:record("event_update", { id = event.ids[1], name = words(11) })
  b:record("event_update", { id = event.ids[1], unit = words(12) })
  b:record("bpf_metadata",
    { prog_name = words(13), entries = { { key = SECRET, value = "v" } } })
  b:raw(86 + 30, 0, words(14) .. ("\0"):rep(7))
  b:sample(event, { ip = 1, pid = 7, tid = 7, time = 20, raw = words(15) .. "....",
    regs_user = { abi = 2, 1, 2 }, stack_user = SECRET .. "..", aux = SECRET .. ".." })
  for _, name in ipairs { "hostname", "osrelease", "cpudesc", "cpuid" } do
    b:feature(name, words(16))
  end
  b:feature("version", "6.1-" .. SECRET)
  b:feature("cmdline", { "perf", SECRET })
  b:feature("build_id", { { build_id = id, filename = "/" .. words(17) } })
  b:feature("group_desc", { { name = words(18), leader = 0, members = 1 } })
  b:feature("pmu_mappings", { [words(19)] = 77 })
  b:feature("bpf_btf", { { id = 1, data = SECRET } })
  b:feature("bpf_prog_info", { { info = (SECRET .. ".."):rep(8), arrays = 0 } })
  b:feature(200, SECRET)
  return b
end

describe("a scrubbed recording", function()
  reading.either_order(describe, function(endian)
    it("has none of the names of records and features", function()
      local path = secretive(endian):write()
      assert.is_true(find_secrets(path) >= 30)
      local file <close> = assert(perflua.open(path))
      local copied, summary = scrubbed.write(file)
      assert.are.equal(0, find_secrets(copied))
      assert.are.equal(0, summary.scrubbed.unreadable)
      local copy <close> = assert(perflua.open(copied))
      assert.are.equal(1, copy:samples():count())
      assert.are.same({}, copy.damage)
      assert.are.equal("", scrubbed.leaks(scrubbed.strings(file), copied))
    end)

    it("has none in pipe mode, which it is read from and written to", function()
      local b = secretive(endian)
      b.container = "pipe"
      b:record("header_feature",
        { feature = 11, data = "\1\0\0\0\8\0\0\0" .. SECRET .. "\0\0" })
      b:record("header_feature", { feature = 34, data = SECRET })
      local path = b:write()
      for _, form in ipairs { {}, { pipe = true } } do
        local file <close> = assert(perflua.open(path))
        local copied = scrubbed.write(file, {}, form)
        assert.are.equal(0, find_secrets(copied))
        local copy <close> = assert(perflua.open(copied))
        assert.are.equal(1, copy:samples():count())
      end
    end)

    it("has no bytes that lie after names, parts and known features", function()
      local b = builder.new { endian = endian, attr_size = 160 }
      local w = b.w
      local event = b:event { name = "cycles", type = 0, sample_id_all = false,
        sample_type = { "ip", "tid" } }
      b:raw(3, 0, w:u32(7) .. w:u32(7) .. "sh\0" .. SECRET .. ("\0"):rep(7)) -- comm
      b:raw(1, 0, w:u32(7) .. w:u32(7) .. ("\1"):rep(24) .. "/bin/sh\0" .. SECRET .. "..")
      b:raw(4, 0, ("\1"):rep(24) .. SECRET .. "..") -- exit
      b:raw(73, 0, w:u64(1) .. w:u64(7) .. "sh\0" .. SECRET .. ("\0"):rep(7)) -- thread_map
      b:sample(event, { ip = 1, pid = 7, tid = 7 })
      b:raw(9, 2, w:u64(1) .. w:u32(7) .. w:u32(7) .. SECRET .. "..") -- a sample, and more
      b:raw(85, 0, ("\1"):rep(64) .. SECRET .. "..") -- schedstat_cpu
      b:raw(67, 1 << 15, w:u32(7) .. ("\1"):rep(8) .. SECRET .. ("\0"):rep(6) -- build_id
        .. "\8" .. SECRET:sub(1, 3) .. "/bin/sh" .. ("\0"):rep(57))
      b:feature("hostname", "h")
      b:feature(6, w:u32(16) .. "x86_64\0" .. SECRET .. "...") -- arch
      b:feature(7, w:u32(2) .. w:u32(2) .. SECRET) -- nrcpus
      local bytes = b:bytes()
      local at = bytes:find("\160\0\0\0", 1, true) or bytes:find("\0\0\0\160", 1, true)
      assert(at) -- the attr's size
      local attr = at - 4
      bytes = bytes:sub(1, attr + 149) .. SECRET .. bytes:sub(attr + 150 + #SECRET)
      local path = files.temporary(bytes)
      assert.is_true(find_secrets(path) >= 9)
      local file <close> = assert(perflua.open(path))
      local copied = scrubbed.write(file)
      assert.are.equal(0, find_secrets(copied))
      local copy <close> = assert(perflua.open(copied))
      assert.are.equal(2, copy:samples():count())
      assert.are.equal("x86_64", copy.features.arch)
      local entry = copy:records { type = "build_id", container = true }:first()
      assert.are.equal(16, #entry.build_id)
    end)

    it("has no build-id that mapped files only seem to have", function()
      local b = builder.new { endian = endian }
      local w = b.w
      b:raw(10, 1 << 14 | 2, w:u32(7) .. w:u32(7) .. ("\1"):rep(24) .. "\20\0\0\1" .. SECRET
        .. ("\1"):rep(14) .. w:u32(5) .. w:u32(2) .. "/bin/sh\0")
      local file <close> = assert(perflua.open(b:write()))
      local copied = scrubbed.write(file, { keep = "binary", drop = "buildid" })
      assert.are.equal(0, find_secrets(copied))
      local copy <close> = assert(perflua.open(copied))
      assert.are.equal("/bin/sh", copy:records("mmap2"):first().filename)
    end)

    it("has none of the names of probes that look like the kernel's", function()
      local t = tracing.new { endian = endian }
      local probe = t:event("probe", "one", { fields = { { "u64", "__probe_ip" },
        { "u64", "common_" .. SECRET } } })
      t:event(SECRET, SECRET .. "0", { print_fmt = '""' }) -- an event probe without arguments
      local b, events = t:recording()
      b:sample(events[1], { ip = 1, pid = 7, tid = 7, time = 1, identifier = events[1].ids[1],
        raw = t:raw(probe, { ["common_" .. SECRET] = 7 }) })
      local file <close> = assert(perflua.open(b:write()))
      assert.are.equal(0, find_secrets(scrubbed.write(file)))
    end)

    it("has no raw data whose format it drops", function()
      local t = tracing.new { endian = endian }
      local probe = t:event("probe", "one", { fields = { { "u64", "__probe_ip" },
        { "__data_loc char[]", "text" } } })
      local b, events = t:recording()
      b:sample(events[1], { ip = 1, pid = 7, tid = 7, time = 1, identifier = events[1].ids[1],
        raw = t:raw(probe, { text = SECRET }) })
      local path = b:write()
      assert.is_true(find_secrets(path) > 0)
      local file <close> = assert(perflua.open(path))
      local copied = scrubbed.write(file, { keep = "raw", drop = "probe" })
      assert.are.equal(0, find_secrets(copied))
      local copy <close> = assert(perflua.open(copied))
      assert.are.equal(1, copy:samples():count())
    end)

    it("has none of the texts among the arguments of tracepoints", function()
      local t = tracing.new { endian = endian, kallsyms = "0 t " .. SECRET,
        printk_formats = SECRET, cmdlines = "7 " .. SECRET .. "\n" }
      local fields = { { "int", "number" }, { "char", "prev_comm", count = 16 },
        { "__data_loc char[]", "filename" }, { "__rel_loc char[]", "other" },
        { "unsigned char", "bytes", count = 8 }, { "u64", "last" } }
      local made = t:event("sched", "one", { fields = fields })
      local probe = t:event("probe", SECRET, { fields = { { "u64", "__probe_ip" },
        { "u64", SECRET .. "_arg" }, { "__data_loc char[]", "text" } },
        print_fmt = ('"%s=%%llx", REC->%s_arg'):format(SECRET, SECRET) })
      local b, events = t:recording()
      for i = 1, 3 do
        local raw = t:raw(made, { number = i, prev_comm = words(i), filename = "/" .. words(i),
          other = words(i), bytes = { SECRET:byte(1, -1) }, last = 5 + i })
        b:sample(events[1], { ip = 1, pid = 7, tid = 7, time = i, identifier = events[1].ids[1],
          raw = raw })
        b:sample(events[2], { ip = 1, pid = 7, tid = 7, time = i, identifier = events[2].ids[1],
          raw = t:raw(probe, { [SECRET .. "_arg"] = i, text = words(i) }) })
      end
      local path = b:write()
      assert.is_true(find_secrets(path) >= 20)
      local file <close> = assert(perflua.open(path))
      local copied = scrubbed.write(file)
      assert.are.equal(0, find_secrets(copied))
      local copy <close> = assert(perflua.open(copied))
      assert.are.same({}, copy.damage)
      local i = 0
      for sample in copy:samples("sched:one") do
        i = i + 1
        assert.are.equal(i, sample.args.number)
        assert.are.equal(5 + i, sample.args.last)
        assert.matches("^x%x+$", sample.args.prev_comm)
        assert.matches("^/x%x+$", sample.args.filename)
        assert.are.equal("", sample.args.other)
      end
      assert.are.equal(3, i)
      assert.matches("^probe:x%x+$", copy.events[2].name)
      for sample in copy:samples(copy.events[2]) do
        local found
        for name, value in pairs(sample.args) do
          if name:find "^x%x+$" and math.type(value) then found = value end
        end
        assert.are.equal(sample.time, found)
      end
    end)
  end)

  for _, container in ipairs(containers.list) do
    if not container.name:find "pieces" then
      it("has none of the strings of a " .. container.name, function()
        local path = container.write(busy.recording(container.old or false))
        local first <close> = assert(perflua.open(path))
        local strings = scrubbed.strings(first)
        assert.is_truthy(next(strings))
        local file <close> = assert(perflua.open(path))
        local copied = scrubbed.write(file)
        assert.are.equal("", scrubbed.leaks(strings, copied))
        local copy <close> = assert(perflua.open(copied))
        assert.are.same({}, copy.damage)
        assert.are.equal(first:samples { expand = false }:count(),
          copy:samples { expand = false }:count())
      end)
    end
  end

  it("has one of everything that is known, and nothing that is not", function()
    local file <close> = assert(perflua.open(everything.builder():write()))
    local kinds = {}
    for _, kind in ipairs(require("perflua.write.rules").kinds()) do
      if kind.can.keep then kinds[#kinds + 1] = kind.name end
    end
    local copied, summary = scrubbed.write(file, { keep = kinds })
    local copy <close> = assert(perflua.open(copied))
    local container = { header_attr = 1, event_type = 1, tracing_data = 1, header_feature = 1 }
    local expected, found = {}, {}
    for record in file:records { container = true } do
      if not container[record.type] then expected[#expected + 1] = record.type end
    end
    for record in copy:records { container = true } do found[#found + 1] = record.type end
    assert.are.same(expected, found)
    assert.are.equal(0, summary.scrubbed.unreadable)
    for name in pairs(everything.features) do
      if type(name) == "string" and name ~= "dir_format" and name ~= "compressed"
        and name ~= "auxtrace" then
        assert.are.equal(file.features[name] == nil, copy.features[name] == nil, name)
      end
    end
  end)
end)
