local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

local function features_of(endian, sections)
  local b = builder.new { endian = endian }
  b:event { name = "cycles", ids = { 7, 8 }, sample_period = 1000 }
  for name, value in pairs(sections) do
    b:feature(name, value)
  end
  b:record("finished_round") -- a recording without any was never finished and has no features
  return reading.open(b).features
end

-- Features that read as the same value the builder writes.
local same = {
  hostname = "server-17", osrelease = "6.18.1-amd64", version = "7.2.13", arch = "x86_64",
  cpudesc = "Some CPU @ 3.00GHz", cpuid = "GenuineIntel,6,85,7",
  nrcpus = { available = 8, online = 6 },
  total_mem = 32877612,
  cmdline = { "/usr/bin/perf", "record", "-e", "cycles:u", "", ("x"):rep(200) },
  numa_topology = {
    { node = 0, mem_total = 16438806, mem_free = 12000, cpus = "0-3" },
    { node = 1, mem_total = 16438806, mem_free = 0xffffffffff, cpus = "4-7" },
  },
  pmu_mappings = { software = 1, cpu = 4, tracepoint = 2, tool = 4294967294 },
  cache = {
    { level = 1, line_size = 64, sets = 64, ways = 8, type = "Data", size = "32K",
      map = "0,4" },
    { level = 3, line_size = 64, sets = 8192, ways = 16, type = "Unified", size = "8192K",
      map = "0-7" },
  },
  sample_time = { first = 8590143543210, last = 8599999999999 },
  clockid = 1, dir_format = 1, cln_size = 64,
  bpf_btf = { { id = 3, size = 7, data = "\x9f\xeb\1\0raw" }, { id = 9, size = 0, data = "" } },
  compressed = { version = 0, type = 1, level = 3, ratio = 5, mmap_len = 528384 },
  cpu_pmu_caps = { branches = "32", max_precise = "3", pmu_name = "skylake" },
  clock_data = { clockid = 4, wall_clock = 1700000000123456789, clock_time = 8590143543210 },
  hybrid_topology = { { pmu = "cpu_core", cpus = "0-15" },
    { pmu = "cpu_atom", cpus = "16-23" } },
  pmu_caps = {
    { pmu = "cpu_core", caps = { branches = "32", max_precise = "3" } },
    { pmu = "cpu_atom", caps = {} },
  },
  e_machine = { e_machine = 62, e_flags = 0 },
  auxtrace = { { offset = 4096, size = 48 }, { offset = 8192, size = 16 } },
}

reading.either_order(describe, function(endian)
  for name, value in pairs(same) do
    it("has the feature " .. name .. " as it was written", function()
      assert.are.same(value, features_of(endian, { [name] = value })[name])
    end)
  end

  for _, name in ipairs { "branch_stack", "stat" } do
    it("says that it has " .. name, function()
      assert.is_true(features_of(endian, { [name] = true })[name])
      assert.is_nil(features_of(endian, {})[name])
    end)
  end

  it("tells a group's leader by the place of its event, from 1", function()
    local groups = { { name = "mine", leader = 0, members = 3 },
      { name = "{anon_group}", leader = 4, members = 2 } }
    local read = features_of(endian, { group_desc = groups }).group_desc
    assert.are.same({ { name = "mine", leader = 1, members = 3 },
      { name = "{anon_group}", leader = 5, members = 2 } }, read)
  end)

  it("describes each event with its name, ids and attribute", function()
    local desc = features_of(endian, {}).event_desc
    assert.are.equal(1, #desc)
    assert.are.equal("cycles", desc[1].name)
    assert.are.same({ 7, 8 }, desc[1].ids)
    assert.are.equal(1000, desc[1].attr.sample_period)
  end)

  it("reads unaligned, differently long strings in their places", function()
    local read = features_of(endian,
      { cmdline = { "a", ("b"):rep(63), ("c"):rep(64) }, hostname = ("h"):rep(63) })
    assert.are.same({ "a", ("b"):rep(63), ("c"):rep(64) }, read.cmdline)
    assert.are.equal(("h"):rep(63), read.hostname)
  end)

  describe("cpu_topology", function()
    local cpus = { { core_id = 0, socket_id = 0 }, { core_id = 0xffffffff, socket_id = 1 } }
    local function read(topology)
      return features_of(endian, { nrcpus = { available = 2, online = 2 },
        cpu_topology = topology })
        .cpu_topology
    end

    it("has the lists in old recordings", function()
      local t = read { cores = { "0-1" }, threads = { "0", "1" } }
      assert.are.same({ "0-1" }, t.cores)
      assert.are.same({ "0", "1" }, t.threads)
      assert.is_nil(t.dies)
    end)

    it("has core and socket of each cpu in later ones", function()
      local t = read { cores = { "0-1" }, threads = { "0", "1" }, cpus = cpus }
      assert.are.equal(2, #t.cpus)
      assert.are.equal(0, t.cpus[1].core_id)
      assert.are.equal(-1, t.cpus[2].core_id)
      assert.are.equal(1, t.cpus[2].socket_id)
      assert.is_nil(t.cpus[2].die_id)
    end)

    it("has dies, too, in new ones", function()
      local with_dies = {}
      for i, cpu in ipairs(cpus) do
        with_dies[i] = { core_id = cpu.core_id, socket_id = cpu.socket_id, die_id = 10 + i }
      end
      local t = read { cores = { "0-1" }, threads = { "0", "1" }, cpus = with_dies,
        dies = { "0-1" } }
      assert.are.same({ "0-1" }, t.dies)
      assert.are.equal(11, t.cpus[1].die_id)
      assert.are.equal(12, t.cpus[2].die_id)
    end)
  end)

  it("lists the memory blocks of each node", function()
    local t = features_of(endian, { mem_topology = {
      block_size = 0x8000000, nodes = {
        { node = 0, bits = 200, blocks = { 0, 1, 63, 64, 199 } },
        { node = 1, bits = 64, blocks = {} },
      },
    } }).mem_topology
    assert.are.equal(0x8000000, t.block_size)
    assert.are.equal(2, #t.nodes)
    assert.are.same({ 0, 1, 63, 64, 199 }, t.nodes[1].blocks)
    assert.are.equal(1, t.nodes[2].node)
    assert.are.same({}, t.nodes[2].blocks)
  end)

  for _, version in ipairs { 15, 17 } do
    it("has the scheduling domains of a kernel with schedstat " .. version, function()
      local function domain(n, name, list)
        return { domain = n, name = version >= 17 and name or nil, cpumask = "0003",
          cpulist = list }
      end
      local info = {
        schedstat_version = version, max_domains = 2,
        cpus = {
          { cpu = 0, domains = { domain(0, "SMT", "0"), domain(1, "MC", "0-1") } },
          { cpu = 1, domains = {} },
        },
      }
      local read = features_of(endian,
        { nrcpus = { available = 4, online = 2 }, cpu_domain_info = info })
      assert.are.same(info, read.cpu_domain_info)
    end)
  end

  it("lists all its features when asked for pairs", function()
    local seen = {}
    for name, value in pairs(features_of(endian, same)) do
      seen[name] = value
    end
    for name in pairs(same) do
      assert.is_not_nil(seen[name], name)
    end
    assert.is_not_nil(seen.event_desc)
  end)

  it("keeps features it does not know as they are, by number", function()
    local features = features_of(endian, { [200] = "\1\2\3raw", [255] = "last" })
    assert.are.equal("\1\2\3raw", features[200])
    assert.are.equal("last", features[255])
    assert.is_nil(features[199])
  end)
end)
