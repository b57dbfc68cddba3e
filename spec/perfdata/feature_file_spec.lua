local builder = require "spec.support.builder"
local builder_features = require "spec.support.builder_features"
local pack = require "spec.support.builder_pack"
local reading = require "spec.support.reading"

local function feature_of(endian, name, value)
  local b = builder.new { endian = endian }
  b:event {}
  b:feature(name, value)
  b:record("finished_round")
  return reading.open(b).features[name]
end

local sha = "00112233445566778899aabbccddeeff00112233"
local md5 = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

reading.either_order(describe, function(endian)
  it("has the build-ids of binaries with what they belong to", function()
    local list = {
      { build_id = sha, filename = "/usr/lib/libc.so.6", pid = -1, cpumode = "user" },
      { build_id = md5, filename = "[kernel.kallsyms]", pid = -1, cpumode = "kernel" },
      { build_id = sha, filename = "[guest.kernel.kallsyms]", pid = 0,
        cpumode = "guest_kernel" },
    }
    assert.are.same(list, feature_of(endian, "build_id", list))
  end)

  it("reads build-ids whether names are padded to 64 bytes or to 8", function()
    local list = {
      { build_id = sha, filename = "/bin/true", pid = -1, cpumode = "user", pad = 8 },
      { build_id = sha, filename = ("/long"):rep(30), pid = -1, cpumode = "user", pad = 64 },
    }
    local read = feature_of(endian, "build_id", list)
    assert.are.equal(2, #read)
    assert.are.equal("/bin/true", read[1].filename)
    assert.are.equal(("/long"):rep(30), read[2].filename)
  end)

  it("takes a build-id without a size to be of 20 bytes", function()
    local read = feature_of(endian, "build_id",
      { { build_id = sha, filename = "/bin/true", sized = false } })
    assert.are.equal(sha, read[1].build_id)
  end)

  it("reads the build-ids of perf before 2.6.36, which had no pid", function()
    local read = feature_of(endian, "build_id", {
      { build_id = sha, filename = "[kernel.kallsyms]", cpumode = "kernel", old_abi = true,
        sized = false },
      { build_id = sha, filename = "/bin/true", cpumode = "user", old_abi = true,
        sized = false },
    })
    assert.are.equal(2, #read)
    assert.are.equal("[kernel.kallsyms]", read[1].filename)
    assert.are.equal(sha, read[1].build_id)
    assert.are.equal("/bin/true", read[2].filename)
    assert.are.equal(-1, read[2].pid)
  end)

  it("has the BPF programs that were loaded", function()
    local w = pack.writer(endian)
    local function program(members, len)
      local info = builder_features.bpf_info(w, members)
      -- map_ids (bit 2), jited_ksyms (3), jited_func_lens (4), prog_tags (8), each rounded up
      -- to 8
      local data = w:array("u32", { 5, 6 })
        .. w:array("u64", { 0xffffffffc0001000, 0xffffffffc0002000 })
        .. w:array("u32", { 64, 128 }) .. pack.unhex "0123456789abcdeffedcba9876543210"
      return { info = info, info_len = len, arrays = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 8,
        data = data }
    end
    local members = {
      type = 5, id = 42, tag = "0123456789abcdef", name = "handler", load_time = 99, uid = 1000,
      jited_prog_len = 192, xlated_prog_len = 400, btf_id = 3, run_time_ns = 1 << 40,
      run_cnt = 17,
      nr_map_ids = 2, map_ids = 0, nr_jited_ksyms = 2, jited_ksyms = 8, nr_jited_func_lens = 2,
      jited_func_lens = 24, nr_prog_tags = 2, prog_tags = 32, verified_insns = 321,
      attach_btf_id = 8,
    }
    local list = feature_of(endian, "bpf_prog_info",
      { program(members), program(members, 192), program(members, 300) })
    assert.are.equal(3, #list)
    for i, read in ipairs(list) do
      for _, name in ipairs { "type", "id", "tag", "name", "load_time", "uid", "jited_prog_len",
          "btf_id" } do
        assert.are.equal(members[name], read[name], name)
      end
      assert.are.same({ 5, 6 }, read.map_ids)
      assert.are.same({ 0xffffffffc0001000, 0xffffffffc0002000 }, read.jited_ksyms)
      assert.are.same({ 64, 128 }, read.jited_func_lens)
      assert.are.same({ "0123456789abcdef", "fedcba9876543210" }, read.prog_tags)
      assert.are.equal(i ~= 2 and 17 or nil, read.run_cnt ~= 0 and read.run_cnt or nil)
    end
  end)

  it("sums up the tracepoint formats", function()
    local w = pack.writer(endian)
    local function text(s)
      return w:u64(#s) .. s
    end
    local format = "name: sched_switch\nID: 314\nformat:\n\nprint fmt: \"\"\n"
    local blob = "\x17\x08\x44tracing0.6\0" .. (endian == "big" and "\1" or "\0") .. "\8"
      .. w:u32(4096)
      .. "header_page\0" .. text("page") .. "header_event\0" .. text("event")
      .. w:u32(0) .. w:u32(1) .. "sched\0" .. w:u32(1) .. text(format)
      .. w:u32(0) .. w:u32(0) .. text("7 sh\n")
    local read = feature_of(endian, "tracing_data", blob)
    assert.are.equal("0.6", read.version)
    assert.are.equal(endian, read.byte_order)
    assert.are.equal(8, read.long_size)
    assert.are.equal(4096, read.page_size)
    assert.is_not_nil(read.systems.sched)
  end)
end)

describe("a recording with a feature that is wrong", function()
  local function wrong(sections, lie)
    local b = builder.new {}
    local event = b:event { name = "cycles" }
    for name, value in pairs(sections) do
      b:feature(name, value)
    end
    b:sample(event, { ip = 1, time = 5 })
    return reading.open(b, lie)
  end

  it("has no such feature, a note of its damage, and all the rest", function()
    warn "@off"
    local file = wrong { nrcpus = "\1", hostname = "here", [9] = "\255\255\255\255" }
    assert.is_nil(file.features.nrcpus)
    assert.is_nil(file.features.cpuid)
    assert.are.equal("here", file.features.hostname)
    assert.are.equal(1, file:samples():count())
    assert.is_true(#file.damage >= 1)
    assert.is_string(file.damage[1].reason)
    assert.is_true(file.damage[1].offset > 0)
  end)

  it("does not believe counts and lengths beyond the section", function()
    warn "@off"
    local huge = "\255\255\255\255"
    for _, name in ipairs { "cmdline", "numa_topology", "pmu_mappings", "group_desc",
        "cpu_pmu_caps", "pmu_caps",
      "hybrid_topology", "bpf_btf", "bpf_prog_info", "cpu_topology", "event_desc", "auxtrace",
      "cache",
      "mem_topology", "cpu_domain_info", "build_id", "tracing_data" } do
      local file = wrong { [name] = huge:rep(5) }
      assert.is_nil(file.features[name], name)
      assert.are.equal(1, file:samples():count())
    end
  end)

  it("loses a feature whose section lies beyond the end of the file", function()
    warn "@off"
    local file = wrong({ hostname = "here", arch = "x86_64" },
      { sections = { [3] = { offset = 1 << 40 } } })
    assert.is_nil(file.features.hostname)
    assert.are.equal("x86_64", file.features.arch)
    assert.is_true(#file.damage >= 1)
  end)

  it("survives a section whose end wraps around", function()
    warn "@off"
    local file = wrong({ hostname = "here", arch = "x86_64" },
      { sections = { [3] = { offset = 200, size = -100 } } })
    assert.is_nil(file.features.hostname)
    assert.are.equal("x86_64", file.features.arch)
  end)
end)
