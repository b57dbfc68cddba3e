-- The names in a scrubbed recording: equal ones stay equal, and the rules that choose them.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"
local scrubbed = require "spec.support.scrubbed"

--- HMAC-SHA256 (RFC 2104) of a text, in hex, by sha256sum.
local function hmac(key, text)
  local function digest(bytes)
    local hex = files.output("sha256sum " .. files.temporary(bytes)):match "^%x+"
    return (hex:gsub("%x%x", function(two) return string.char(tonumber(two, 16)) end))
  end
  local function pad(byte)
    return ((key .. ("\0"):rep(64 - #key)):gsub(".", function(c)
      return string.char(c:byte() ~ byte)
    end))
  end
  local inner = digest(pad(0x36) .. text)
  local outer = digest(pad(0x5c) .. inner)
  return (outer:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

local function hash(key, text) return "x" .. hmac(key, text):sub(1, 12) end

local build_id = "00112233445566778899aabbccddeeff00112233"

local function recording()
  local b = builder.new {}
  local event = b:event { name = "cycles", type = 0 }
  for i, comm in ipairs { "postgres", "worker", "postgres" } do
    b:record("comm", { pid = i, tid = i, comm = comm }, { time = i, pid = i, tid = i })
    b:record("mmap2", { pid = i, tid = i, addr = 4096 * i, len = 4096, ino = 10 + i % 2,
      filename = ({ "/usr/bin/postgres", "/opt/bin/postgres", "/usr/bin/postgres" })[i] },
      { time = i, pid = i, tid = i })
  end
  b:record("mmap2", { pid = 1, tid = 1, addr = 0x9000, len = 4096, build_id = build_id,
    filename = "/usr/lib/mods/net.ko.xz" }, { time = 4, pid = 1, tid = 1 })
  b:record("mmap2", { pid = 1, tid = 1, addr = 0xa000, len = 4096, filename = "[vdso]" },
    { time = 4, pid = 1, tid = 1 })
  b:feature("build_id", { { build_id = build_id, filename = "/usr/lib/mods/net.ko.xz" } })
  b:feature("hostname", "db7")
  b:feature("osrelease", "6.1.0-acme")
  b:feature("version", "6.1.147-acme")
  for i = 1, 30 do
    b:sample(event, { ip = 4096 * (1 + i % 3) + i, pid = 1 + i % 3, tid = 1 + i % 3,
      time = 10 + i })
  end
  return b:write()
end

local function copy_of(path, options)
  local file <close> = assert(perflua.open(path))
  local target, summary = scrubbed.write(file, options)
  return assert(perflua.open(target)), summary
end

local function list(file, type, field)
  local values = {}
  for record in file:records { type = type } do values[#values + 1] = record[field] end
  return values
end

describe("a name in a scrubbed recording", function()
  local path = recording()

  it("is the keyed hash of its text, whatever its kind", function()
    local copy <close> = copy_of(path, { key = "key" })
    local postgres, worker = hash("key", "postgres"), hash("key", "worker")
    assert.are.same({ postgres, worker, postgres }, list(copy, "comm", "comm"))
    local usr, opt = hash("key", "/usr/bin"), hash("key", "/opt/bin")
    assert.are.same({ ("/%s/%s"):format(usr, postgres), ("/%s/%s"):format(opt, postgres),
      ("/%s/%s"):format(usr, postgres),
      ("/%s/%s.ko.xz"):format(hash("key", "/usr/lib/mods"), hash("key", "net")), "[vdso]" },
      list(copy, "mmap2", "filename"))
  end)

  it("is another one with another key, and with none", function()
    local seen = {}
    for _, key in ipairs { "a", "b", false, false } do
      local copy <close> = copy_of(path, { key = key or nil })
      seen[list(copy, "comm", "comm")[1]] = true
    end
    local n = 0
    for _ in pairs(seen) do n = n + 1 end
    assert.are.equal(4, n)
  end)

  it("keeps equalities of inodes and build-ids", function()
    local copy <close> = copy_of(path, { key = "key" })
    local inodes = list(copy, "mmap2", "ino")
    assert.are.equal(inodes[1], inodes[3])
    assert.are_not.equal(inodes[1], inodes[2])
    assert.are_not.equal(11, inodes[1])
    assert.are.same({ 0, 0, 0 }, { table.unpack(list(copy, "mmap2", "min"), 1, 3) })
    local id = list(copy, "mmap2", "build_id")[1]
    assert.are_not.equal(build_id, id)
    assert.are.equal(id, copy.features.build_id[1].build_id)
    assert.are.equal(list(copy, "mmap2", "filename")[4], copy.features.build_id[1].filename)
  end)

  it("has the counts that it had", function()
    local file <close> = assert(perflua.open(path))
    local copy <close>, summary = copy_of(path, {})
    local names = {}
    for _, name in ipairs(summary.scrubbed.names) do names[name[3]] = name[1] end
    local expected, found = {}, {}
    for row in file:samples():group_by("comm", "dso"):count():table():rows() do
      expected[names[row.comm] .. " " .. names[row.dso]:match "[^/]*$"] = row.count
    end
    for row in copy:samples():group_by("comm", "dso"):count():table():rows() do
      found[row.comm .. " " .. row.dso:match "[^/]*$"] = row.count
    end
    assert.is_truthy(next(found))
    assert.are.same(expected, found)
  end)

  it("goes by the rules: presets, and kinds that are kept, hashed, dropped", function()
    local copy <close> = copy_of(path, { preset = "share", key = "key" })
    assert.are.same({ ("/%s/postgres"):format(hash("key", "/usr/bin")) },
      { list(copy, "mmap2", "filename")[1] })
    assert.are.equal(build_id, list(copy, "mmap2", "build_id")[1])
    assert.are.equal("6.1.0-acme", copy.features.osrelease)
    assert.are.equal("6.1.147-acme", copy.features.version)
    local other <close> = copy_of(path, { keep = { "comm" }, hash = "host",
      drop = "binary,buildid", key = "key" })
    assert.are.equal("postgres", list(other, "comm", "comm")[1])
    assert.are.equal("[dropped]", list(other, "mmap2", "filename")[1])
    assert.are.equal("[vdso]", list(other, "mmap2", "filename")[5])
    assert.are.equal(hash("key", "db7"), other.features.hostname)
    assert.are.equal("6.1", other.features.version)
    assert.is_nil(other.features.osrelease)
    assert.is_nil(other.features.build_id)
    assert.are.same({}, list(other, "mmap2", "build_id"))
  end)

  it("is told, with its hash, to whoever scrubs", function()
    local _, summary = copy_of(path, { key = "key" })
    local names = {}
    for _, name in ipairs(summary.scrubbed.names) do
      names[name[2] .. " " .. name[3]] = name[1]
    end
    assert.are.equal(hash("key", "worker"), names["comm worker"])
    assert.are.equal("/" .. hash("key", "/opt/bin") .. "/" .. hash("key", "postgres"),
      names["binary /opt/bin/postgres"])
  end)

  it("is refused by unknown rules", function()
    local file <close> = assert(perflua.open(path))
    local function fails(options, message)
      assert.error_matches(function()
        file:records { container = true }:write("/tmp/x", { scrub = options })
      end, message, 1, true)
    end
    fails({ keep = "com" }, "scrub: keep: unknown kind 'com'")
    fails({ keep = "unknown" }, "scrub: keep: unknown cannot be kept")
    fails({ drop = "event" }, "scrub: drop: event cannot be dropped")
    fails({ hash = { "stacks" } }, "scrub: hash: stacks cannot be hashed")
    fails({ preset = "none" }, "scrub: preset: \"anonymous\" or \"share\" expected, got 'none'")
    fails({ key = "" }, "scrub: key: a string that is not empty expected, got an empty one")
    fails({ keys = "a" }, "scrub: unknown option 'keys'")
  end)
end)

describe("the name of a BPF program", function()
  it("is dropped where functions are kept, but BPF programs are not", function()
    for _, case in ipairs { { {}, "^x%x+$" }, { { preset = "share" }, "^%[dropped%]$" },
      { { preset = "share", keep = "bpf" }, "^bpf_prog_7_acme$" } } do
      local b = builder.new {}
      b:event { name = "cycles", type = 0 }
      b:record("ksymbol", { addr = 4096, len = 64, ksym_type = 1, name = "bpf_prog_7_acme" })
      b:record("ksymbol", { addr = 8192, len = 64, ksym_type = 2, name = "ftrace_trampoline" })
      local copy <close> = copy_of(b:write(), case[1])
      local names = list(copy, "ksymbol", "name")
      assert.matches(case[2], names[1])
      assert.are.equal(case[1].preset == "share", names[2] == "ftrace_trampoline")
    end
  end)
end)

describe("the name of an event", function()
  local function name_of(members, options)
    local b = builder.new {}
    b:event(members)
    b:record("comm", { comm = "sh" })
    local copy <close> = copy_of(b:write(), options)
    return copy.events[1].name
  end

  it("stays if perf gave it", function()
    for _, name in ipairs { "cycles", "cycles:u", "cycles:ppp" } do
      assert.are.equal(name, name_of { name = name, type = 0, config = 0 })
    end
    assert.are.equal("dummy:HG", name_of { name = "dummy:HG", type = 1, config = 9 })
  end)

  it("is that of its attr if a user gave it, unless aliases are kept", function()
    assert.are.equal("cycles", name_of { name = "our-cycles", type = 0, config = 0 })
    for _, name in ipairs { "cycles:acme-x", "cycles:secret" } do
      assert.are.equal("cycles", name_of { name = name, type = 0, config = 0 })
    end
    assert.are.equal("our-cycles",
      name_of({ name = "our-cycles", type = 0, config = 0 }, { preset = "share" }))
    assert.matches("config=0x5", name_of { name = "acme/e/", type = 77, config = 5 }, 1, true)
  end)

  it("has no name of a PMU that a recording without names gave it", function()
    local b = builder.new { event_desc = false }
    b:event { type = 77, config = 5 }
    b:record("comm", { comm = "sh" })
    b:event { type = 2, config = 7 }
    b.event_types[1] = { id = 7, name = "probe:acme" }
    b:feature("pmu_mappings", { acme = 77 })
    local path = b:write()
    local file <close> = assert(perflua.open(path))
    assert.matches("acme", file.events[1].name, 1, true)
    assert.is_nil(files.read((scrubbed.write(file))):find("acme", 1, true))
  end)

  it("is hashed if it may be a probe's", function()
    assert.matches("^probe:x%x+$", name_of { name = "probe:acme", type = 2, config = 7 })
    assert.matches("^x%x+:x%x+$", name_of { name = "acme:acme", type = 2, config = 7 })
  end)
end)

describe("what a recording would tell", function()
  it("is counted by the kinds that scrubbing knows", function()
    local result = run.perflua { "doctor", "--sharing", recording() }
    assert.are.equal(0, result.status)
    assert.matches("comm +kept +2 names, 3 times +postgres, worker\n", result.out)
    assert.matches("binary +kept +4 names, 6 times +/usr/bin/postgres,", result.out)
    assert.matches("host +kept +1 name, 1 time +db7\n", result.out)
  end)
end)
