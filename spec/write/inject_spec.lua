-- perflua inject: what files of this machine tell of a recording, written into it.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"
local traced = require "spec.support.traced"
local tracing = require "spec.support.builder_tracing"

local PID <const> = binaries.PID

local function perflua_ok(...)
  local result = run.perflua { ... }
  assert.equal(0, result.status, result.err)
  return result
end

--- Runs inject; returns the path of what it wrote, and what it said.
local function injected(path, ...)
  local out = files.temporary()
  return out, perflua_ok("inject", "--force", path, "-o", out, ...).out
end

--- The build-ids in the table of a recording, by the base names of files; in pipe mode those of
--- its records.
local function table_of(path)
  local file <close> = assert(perflua.open(path))
  local found = {}
  local function add(row) found[row.filename:match "[^/]*$"] = row.build_id end
  for _, row in ipairs(file.features.build_id or {}) do add(row) end
  if file.mode == "pipe" then
    for record in file:records { type = "build_id", container = true } do add(record) end
  end
  return found
end

--- The records of a recording, as text; without what tells where they lie.
local function lines_of(path, wanted)
  local file <close> = assert(perflua.open(path))
  local lines = {}
  for record in file:records { type = wanted } do
    lines[#lines + 1] = tostring(record):gsub("^0x%x+ ", "")
  end
  return lines
end

local function mapped(path, addr, more)
  local record = { pid = PID, tid = PID, addr = addr, len = 0x10000, prot = 5, flags = 2,
    misc = 2, filename = path }
  for k, v in pairs(more or {}) do record[k] = v end
  return record
end

--- A tree of three programs, and their build-ids.
local function programs()
  local tree, ids = binaries.tree(), {}
  for _, name in ipairs { "hit", "calling", "idle" } do
    local code = ("int own_%s(void) { return 1; }"):format(name)
    ids[name] = tree:program(name, nil, code).build_id
  end
  return tree, ids
end

local tree, ids = programs()

--- A recording with samples in one of the programs, which another one called. options: those
--- of the builder; `elsewhere`: of another machine.
local function recorded(options)
  local b = builder.new(options)
  if not (options or {}).elsewhere then binaries.of_here(b) end
  local event = b:event { sample_type = { "ip", "tid", "time", "callchain" } }
  b:record("mmap2", mapped(tree.path .. "/hit", 0x400000), { time = 1 })
  b:record("mmap", mapped(tree.path .. "/calling", 0x500000), { time = 2 })
  b:record("mmap2", mapped(tree.path .. "/idle", 0x600000), { time = 3 })
  b:record("mmap2", mapped("//anon", 0x700000), { time = 4 })
  for time = 10, 12 do
    b:sample(event, { ip = 0x401000, callchain = { (1 << 64) - 512, 0x401000, 0x501000 },
      pid = PID, tid = PID, time = time, misc = 2 })
  end
  return b
end

local hits = { hit = ids.hit, calling = ids.calling }

describe("perflua inject -b", function()
  for _, endian in ipairs { "little", "big" } do
    it("adds the build-ids of binaries with frames, " .. endian, function()
      local path = recorded({ endian = endian }):write()
      local copy, said = injected(path, "-b")
      assert.same(hits, table_of(copy))
      assert.same(lines_of(path), lines_of(copy))
      assert.match("2 build%-ids added\n$", said)
      assert.match("0 build%-ids added", select(2, injected(copy, "-b")))
      assert.same(ids, table_of(injected(copy, "--buildid-all")))
    end)
  end

  it("leaves the rows that are there, also where a file has another build-id", function()
    local b = recorded()
    local other = ("ab"):rep(20)
    b:feature("build_id", {
      { misc = 2, build_id = other, filename = tree.path .. "/hit" },
      { misc = 2, build_id = other, filename = "/elsewhere" },
    })
    assert.same({ hit = other, elsewhere = other, calling = ids.calling },
      table_of(injected(b:write(), "-b")))
  end)

  it("takes a stream, and writes one", function()
    local path = recorded({ container = "pipe" }):write()
    local result = run.shell_with([[cat "$1" | "$perflua" inject -b - -o - >"$2" &&
      cat "$2" | "$perflua" inject -b - -o "$3" --force]], path, files.temporary(),
      files.temporary())
    assert.equal(0, result.status, result.err)
    assert.match("2 build%-ids added", result.err)
    assert.match("0 build%-ids added", result.out)
    for _, form in ipairs { {}, { "--pipe" }, { "--compress" }, { "--sort" },
      { "--pipe", "--compress" } } do
      for _, from in ipairs { path, recorded():write() } do
        assert.same(hits, table_of(injected(from, "-b", table.unpack(form))))
      end
    end
  end)

  it("adds none of a file that nothing proves, unless it is told to", function()
    local path = recorded({ elsewhere = true }):write()
    local copy, said = injected(path, "-b")
    assert.same({}, table_of(copy))
    assert.match("no build%-id of 2 binaries: .*/hit, .*/calling: its build%-id was not "
      .. "recorded", said)
    assert.same(hits, table_of(injected(path, "-b", "--any-binary")))
  end)

  it("takes the build-ids that the user knows", function()
    local b, known = recorded(), ("cd"):rep(16)
    b:feature("build_id", {
      { misc = 2, build_id = ids.hit, filename = tree.path .. "/hit" },
    })
    local path = b:write()
    local pair = known .. " " .. tree.path .. "/"
    local list = files.temporary(pair .. "hit\n" .. pair .. "calling\n\n")
    for _, value in ipairs { pair .. "hit," .. pair .. "calling", "file://" .. list } do
      for _, form in ipairs { "-f", "--pipe" } do
        assert.same({ hit = known, calling = known },
          table_of(injected(path, "-b", form, "--known-build-ids", value)))
      end
    end
    for value, message in pairs {
      ["xyz /bin/sh"] = "'xyz /bin/sh' is not a build%-id and a path",
      [known] = "'" .. known .. "' is not a build%-id and a path",
      ["file:///nonexistent"] = "/nonexistent: No such file",
    } do
      local result = run.perflua { "inject", "-b", "--known-build-ids", value, path, "-o",
        files.temporary() }
      assert.equal(2, result.status)
      assert.match(message, result.err)
    end
  end)

  needs.it("perf record", "adds those that perf inject adds", function()
    local path = oracle.record("-B -N -e cpu-clock", "ls -lR /usr/share/doc /usr/lib")
    local theirs, ours = files.temporary(), injected(path, "-b")
    assert(os.execute(("perf inject -b -i %s -o %s"):format(path, theirs)))
    local function list(of)
      local rows = {}
      for line in files.lines("perf buildid-list -i " .. of) do
        if not line:find "%[" then rows[#rows + 1] = line end -- perf knows no kernel's
      end
      table.sort(rows)
      return rows
    end
    assert.is_true(#list(theirs) > 0)
    assert.same(list(theirs), list(ours))
  end)
end)

describe("perflua inject -B", function()
  --- The build-ids of mappings by the base names of files; false: none.
  local function mappings_of(path)
    local file <close> = assert(perflua.open(path))
    local found = {}
    for map in file:records { type = { "mmap", "mmap2" } } do
      assert.equal(5, map.type == "mmap2" and map.prot or 5)
      found[map.filename:match "[^/]*$"] = map.build_id or false
    end
    return found
  end

  for _, endian in ipairs { "little", "big" } do
    it("puts build-ids into mappings, and drops those without use, " .. endian, function()
      local path = recorded({ endian = endian }):write()
      local copy, said = injected(path, "-B")
      assert.same(hits, mappings_of(copy))
      assert.same(lines_of(path, "sample"), lines_of(copy, "sample"))
      assert.match("2 mappings with a build%-id, 2 left out that no sample needs", said)
      copy = injected(path, "--mmap2-buildid-all")
      assert.same({ hit = ids.hit, calling = ids.calling, idle = ids.idle, anon = false },
        mappings_of(copy))
      local function whole(of)
        local list = {}
        local file <close> = assert(perflua.open(of))
        for map in file:records { type = { "mmap", "mmap2" } } do
          list[#list + 1] = { map.pid, map.tid, map.addr, map.len, map.pgoff, map.filename,
            map.time }
        end
        return list
      end
      assert.same(whole(path), whole(copy))
      assert.same({}, table_of(copy))
    end)
  end

  it("keeps all mappings of a stream", function()
    local result = run.shell_with([[cat "$1" | "$perflua" inject -B - -o - >"$2"]],
      recorded({ container = "pipe" }):write(), files.temporary())
    assert.equal(0, result.status, result.err)
    assert.match("3 mappings with a build%-id\n", result.err)
  end)
end)

describe("perflua inject", function()
  it("asks what to inject", function()
    local result = run.perflua { "inject", run.demo, "-o", files.temporary() }
    assert.equal(2, result.status)
    assert.match("an option that says what to inject is missing", result.err)
  end)

  it("says what to use for what it does not do", function()
    for option, use in pairs {
      ["--itrace"] = "perf inject %-%-itrace", ["--strip"] = "%-%-itrace of perf inject",
      ["--convert-callchain"] = "perflua convert %-%-unwind",
      ["--vm-time-correlation"] = "perf inject", ["--guestmount"] = "perf inject",
      ["--guest-data"] = "perflua report HOST GUEST", ["-v"] = "perflua doctor",
    } do
      local result = run.perflua { "inject", "-b", option, run.demo, "-o", "x" }
      assert.equal(2, result.status)
      assert.match("no option '" .. option:gsub("%-", "%%-") .. "': .*" .. use, result.err)
    end
  end)

  local function build_ids_of(path)
    local file <close> = assert(perflua.open(path))
    assert.equal("big", file.byte_order)
    local list = {}
    for map in file:records "mmap2" do list[#list + 1] = map.build_id or false end
    return list
  end

  it("is an option of write()", function()
    local file <close> = assert(perflua.open(recorded():write()))
    local out = files.temporary()
    local summary = assert(file:records { container = true }:write(out, { force = true,
      inject = { build_ids = "hit", mappings = "all",
        known = { [tree.path .. "/hit"] = "abcd" } },
    }))
    assert.same({ build_ids = 2, mappings = 3, dropped = 0, unidentified = {}, jitdumps = 0,
      functions = 0, merged = 0, unread = {} }, summary.injected)
    assert.same({ hit = "abcd", calling = ids.calling }, table_of(out))
    for _, pipe in ipairs { false, true } do
      assert(file:records { container = true }:write(out, { force = true, pipe = pipe,
        byte_order = "big", inject = { build_ids = "hit", mappings = "all" } }))
      assert.same(hits, table_of(out))
      assert.same({ ids.hit, ids.calling, ids.idle, false }, build_ids_of(out))
    end
    for _, options in ipairs { { build_ids = "some" }, { mappings = true }, { other = 1 },
      { known = { a = "xyz" } } } do
      assert.error_matches(function()
        file:records { container = true }:write(out, { inject = options })
      end, "inject: ")
    end
    assert.error_matches(function()
      file:records { container = true }:write(out, { inject = {}, unwind = true })
    end, "inject takes records as they are")
  end)
end)

describe("perflua inject -j", function()
  local CODE <const> = 0x7f0000000000

  --- A directory with a jitdump of records, the recording of the process that made it, with
  --- samples at { time, address }, and the path of the jitdump. options: those of the builder;
  --- `untimed`: with another clock; `ino`: the recorded inode.
  local function jitted(records, samples, options)
    options = options or {}
    local dir = binaries.tree()
    local dump = dir:write(("jit-%d.dump"):format(PID),
      type(records) == "string" and records or jitdump(records, options))
    local b = binaries.of_here(builder.new(options))
    local event = b:event { sample_type = { "ip", "tid", "time" }, clockid = 1,
      use_clockid = not options.untimed }
    b:record("mmap2", mapped(dump, CODE, { len = 4096, ino = options.ino }), { time = 2 })
    for _, time in ipairs { 1, 30 } do
      b:record("mmap2", mapped("//anon", 0x1000, { len = 4096 }), { time = time })
    end
    for _, at in ipairs(samples) do
      b:sample(event, { time = at[1], ip = at[2], pid = PID, tid = PID, misc = 2 })
    end
    return dir, b:write(), dump
  end

  local two = {
    { "load", 10, "first", 0x1000, 16, 1 }, { "load", 20, "second", 0x1000, 16, 2 },
  }
  local both = { { 15, 0x1004 }, { 25, 0x1004 }, { 35, 0x1004 } }

  --- The functions of the samples of a recording, and the base names of their binaries.
  local function names(path)
    local file <close> = assert(perflua.open(path))
    local list = {}
    for sample in file:samples() do
      list[#list + 1] = ("%s %s"):format(sample.symbol or "?",
        (sample.dso or "?"):match "[^/]*$")
    end
    return list
  end

  --- The names of files in a directory, without the jitdump.
  local function list(dir) return dir:sh "ls | grep -v dump || true" end

  local function file_of(number) return ("jitted-%d-%d.so"):format(PID, number) end

  local found = { "first " .. file_of(1), "second " .. file_of(2), "second " .. file_of(2) }

  for _, endian in ipairs { "little", "big" } do
    it("makes functions mappings of files, " .. endian, function()
      local dir, path = jitted(two, both, { endian = endian })
      local copy, said = injected(path, "-j")
      assert.match("2 functions of 1 jitdump\n", said)
      assert.same(found, names(copy))
      assert.equal(file_of(1) .. "\n" .. file_of(2) .. "\n", list(dir))
      local file <close> = assert(perflua.open(copy))
      local times = {}
      for map in file:records "mmap2" do times[#times + 1] = map.time end
      assert.same({ 1, 10, 20 }, times)
      assert.equal(3, file:samples():count())
      -- nothing is left for a second time
      local result = run.perflua { "inject", "-j", copy, "-o", files.temporary(), "--force" }
      assert.equal(1, result.status)
      assert.match("no process of the recording mapped a jitdump", result.err)
    end)
  end

  it("takes a stream, and writes one", function()
    local _, path = jitted(two, both, { container = "pipe" })
    local out = files.temporary()
    local result = run.shell_with([[cat "$1" | "$perflua" inject -j - -o - >"$2"]], path, out)
    assert.equal(0, result.status, result.err)
    assert.same(found, names(out))
  end)

  it("is an option of write() for recordings that can be read again", function()
    local _, path = jitted(two, both)
    local out = files.temporary()
    local file <close> = assert(perflua.open(path))
    local options = { force = true, inject = { jit = true } }
    local summary = assert(file:records { container = true }:write(out, options))
    assert.equal(2, summary.injected.functions)
    assert.same(found, names(out))
    _, path = jitted(two, both, { container = "pipe" })
    local stream <close> = assert(perflua.open(containers.stream(path)))
    local ok, message, code = stream:records { container = true }:write(out, options)
    assert.same({ nil, "ESPIPE" }, { ok, code })
    assert.match("inject: jit: .*save the stream to a file", message)
  end)

  needs.it("perf", "has the functions that perf report finds", function()
    local _, path = jitted(two, both)
    local copy = injected(path, "-j")
    local shown = files.output("perf report --stdio -i " .. copy .. " --sort sym 2>/dev/null")
    assert.match("%[%.%] first%s.*%[%.%] second", shown)
    assert.is_nil(shown:find("0x", 1, true))
  end)

  it("follows code that moves, and tells apart code with one number", function()
    local dir, path = jitted({
      { "load", 10, "first", 0x1000, 16, 1 }, { "move", 20, 1, 0x1000, 0x1100, 16 },
      { "load", 22, "other", 0x1200, 32, 1 },
    }, { { 15, 0x1004 }, { 25, 0x1104 }, { 26, 0x1204 } })
    assert.same({ "first " .. file_of(1), "first " .. file_of(1), "other " .. file_of(2) },
      names(injected(path, "-j")))
    assert.equal(file_of(1) .. "\n" .. file_of(2) .. "\n", list(dir))
  end)

  for _, endian in ipairs { "little", "big" } do
    it("has the build-ids of the files with -b and -B, " .. endian, function()
      local dir, path = jitted({
        { "load", 10, "first", 0x1000, 16, 1 }, { "move", 20, 1, 0x1000, 0x1100, 16 },
        { "load", 22, "second", 0x1200, 32, 2 },
      }, both, { endian = endian })
      local copy, said = injected(path, "-j", "-b")
      local expected = {}
      for number = 1, 2 do
        local notes = dir:sh(("readelf -n %s 2>&1"):format(file_of(number)))
        expected[file_of(number)] = notes:match "Build ID: (%x+)"
        assert.is_nil(notes:find("Warning", 1, true), notes)
      end
      assert.is_not_nil(expected[file_of(2)])
      assert.same(expected, table_of(copy))
      assert.match("2 build%-ids added", said)
      assert.same(expected, table_of(injected(path, "-j", "--buildid-all", "--pipe")))
      assert.same({}, table_of(injected(path, "-j")))
      copy, said = injected(path, "-j", "-B")
      assert.match("3 mappings with a build%-id", said)
      local file <close> = assert(perflua.open(copy))
      local maps = {}
      for map in file:records "mmap2" do
        maps[#maps + 1] = ("%d %s %s"):format(map.time, map.filename:match "[^/]*$",
          map.build_id)
      end
      assert.same({
        "1 anon nil",
        ("10 %s %s"):format(file_of(1), expected[file_of(1)]),
        ("20 %s %s"):format(file_of(1), expected[file_of(1)]),
        ("22 %s %s"):format(file_of(2), expected[file_of(2)]),
      }, maps)
    end)
  end

  it("replaces files with other bytes when it is told to", function()
    local dir, path = jitted(two, both)
    local copy = injected(path, "-j")
    assert.same(found, names(injected(path, "-j")))
    dir:write(file_of(2), "of somebody else")
    local result = run.perflua { "inject", "-j", path, "-o", files.temporary() .. ".data" }
    assert.equal(1, result.status)
    assert.match(file_of(2):gsub("%p", "%%%0") .. ": the file exists; %-%-force replaces it",
      result.err)
    assert.equal("of somebody else", files.read(dir.path .. "/" .. file_of(2)))
    assert.same(found, names(injected(path, "-j")))
    dir:sh("rm " .. file_of(1) .. "; mkdir " .. file_of(1))
    result = run.perflua { "inject", "-j", "--force", path, "-o", copy }
    assert.equal(1, result.status)
    assert.match("cannot write the code of a function: .*irectory", result.err)
  end)

  it("says what is wrong with a jitdump", function()
    local function said(...)
      local _, path = jitted(...)
      local out = files.temporary()
      os.remove(out)
      local result = run.perflua { "inject", "-j", path, "-o", out }
      assert.equal(1, result.status)
      assert.is_false(files.exists(out))
      return result.err
    end
    assert.match("the jitdump cannot be used: no jitdump", said(("x"):rep(64), both))
    assert.match("the jitdump cannot be used: shorter than its header", said("x", both))
    assert.match("the jitdump cannot be used: no functions in it", said({}, both))
    assert.match("its times are not those of the recording: perf record %-k mono",
      said(two, both, { untimed = true }))
    assert.match("the file here is not the one that was mapped", said(two, both, { ino = 7 }))
    local dir, path, dump = jitted(two, both)
    os.remove(dump)
    local result = run.perflua { "inject", "-j", path, "-o", files.temporary(), "--force" }
    assert.equal(1, result.status)
    assert.match("the jitdump cannot be used: No such file", result.err)
    assert.equal("", list(dir))
  end)

  it("leaves the mapping of a jitdump that it cannot use beside others", function()
    local b, dir = binaries.of_here(builder.new()), binaries.tree()
    local event = b:event { sample_type = { "ip", "tid", "time" }, clockid = 1,
      use_clockid = true }
    local dumps = {}
    for i = 1, 3 do
      local pid = PID + i
      dumps[i] = ("%s/jit-%d.dump"):format(dir.path, pid)
      b:record("mmap2", mapped(dumps[i], CODE, { pid = pid, tid = pid, len = 4096 }),
        { time = i, pid = pid, tid = pid })
      b:sample(event, { time = 30 + i, ip = 0x1004, pid = pid, tid = pid, misc = 2 })
    end
    files.write(dumps[1], jitdump { { "load", 20, "one", 0x1000, 16, 1 } })
    files.write(dumps[3], jitdump { { "load", 10, "three", 0x1000, 16, 1 } })
    local copy, said = injected(b:write(), "-j")
    assert.match("2 functions of 2 jitdumps\n", said)
    assert.match(dumps[2]:gsub("%p", "%%%0") .. ": No such file", said)
    local file <close> = assert(perflua.open(copy))
    local maps = {}
    for map in file:records "mmap2" do
      maps[#maps + 1] = ("%d %d %s"):format(map.time, map.pid - PID,
        map.filename:match "[^/-]*$")
    end
    assert.same({ "2 2 " .. PID + 2 .. ".dump", "10 3 1.so", "20 1 1.so" }, maps)
    assert.same({ "one", "?", "three" }, { names(copy)[1]:match "%S+",
      names(copy)[2]:match "%S+", names(copy)[3]:match "%S+" })
  end)

  it("takes what a jitdump has that is cut", function()
    local bytes = jitdump(two)
    local _, path = jitted(bytes:sub(1, -60), both)
    local copy, said = injected(path, "-j")
    assert.match("1 function of 1 jitdump\n", said)
    assert.match("jit%-%d+%.dump: it is cut or damaged, and was read up to there", said)
    assert.same({ found[1], found[1], found[1] }, names(copy))
    _, path = jitted(bytes:sub(1, -4), both) -- a function without all of its code
    assert.same(found, names(injected(path, "-j")))
    _, path = jitted({ two[1], { "move", 20, 1, 0x1000, 0x1000, 32 } }, both)
    copy, said = injected(path, "-j")
    assert.match("functions without their code are left out", said)
    assert.same({ found[1], found[1], found[1] }, names(copy))
  end)
end)

describe("perflua inject -s", function()
  local function samples_of(path)
    local file <close> = assert(perflua.open(path))
    local rows = {}
    for s in file:samples() do
      rows[#rows + 1] = { s.event.name, s.time, s.period, s.tid, s.args.next_pid or s.args.pid }
    end
    return rows
  end

  local SWITCH <const>, STAT <const> = "sched:sched_switch", "sched:sched_stat_sleep"
  local EXIT <const>, WAKING <const> = "sched:sched_process_exit", "sched:sched_waking"
  local path = traced.write({ SWITCH, STAT, EXIT, WAKING }, {
    { STAT, 5, 1, 0, { pid = 7 }, period = 1000 }, -- of no switch
    { SWITCH, 10, 7, 0, { prev_pid = 7, next_pid = 8 } },
    { WAKING, 11, 8, 0, { pid = 7 } },
    { STAT, 20, 8, 0, { pid = 7 }, period = 2000 },
    { STAT, 21, 8, 0, { pid = 7 }, period = 3000 },
    { SWITCH, 30, 7, 0, { prev_pid = 7, next_pid = 9 } },
    { STAT, 40, 9, 0, { pid = 7 }, period = 4000 },
    { EXIT, 50, 7, 0, { pid = 7 } },
    { STAT, 60, 9, 0, { pid = 7 }, period = 5000 },
  }, { [7] = "sleeper" })
  local merged = {
    { WAKING, 11, 1, 8, 7 }, { SWITCH, 20, 2000, 7, 8 }, { SWITCH, 21, 3000, 7, 8 },
    { SWITCH, 40, 4000, 7, 9 },
  }

  it("gives switches the time and the period of the statistics", function()
    local copy, said = injected(path, "-s")
    assert.same(merged, samples_of(copy))
    assert.match("3 samples merged with their switch", said)
    assert.same(merged, samples_of(injected(path, "-s", "--pipe")))
    local result = run.shell_with([[cat "$1" | "$perflua" inject -s - -o - >"$2"]], path, copy)
    assert.equal(0, result.status, result.err)
    assert.same(merged, samples_of(copy))
  end)

  it("needs times and periods", function()
    local t = tracing.new()
    local switch = t:event("sched", "sched_switch", { fields = { { "pid_t", "next_pid" } } })
    local stat = t:event("sched", "sched_stat_wait", { fields = { { "pid_t", "pid" } } })
    local b, events = t:recording { sample_type = { "identifier", "ip", "tid", "time", "raw" } }
    b:sample(events[1], { tid = 7, time = 1, raw = t:raw(switch, {}) })
    b:sample(events[2], { tid = 7, time = 2, raw = t:raw(stat, { pid = 7 }) })
    local result = run.perflua { "inject", "-s", b:write(), "-o", files.temporary(),
      "--force" }
    assert.equal(1, result.status)
    assert.match("tracepoints have no times or no periods: perf record %-e", result.err)
  end)

  needs.it("tracepoints", "writes the samples that perf inject writes", function()
    local recorded_path = oracle.record("-a -g -e " .. SWITCH .. " -e " .. EXIT
      .. " -e sched:sched_stat_runtime", "sh -c 'for i in 1 2 3; do sleep 0.02; ls; done'")
    local theirs, ours = files.temporary(), injected(recorded_path, "-s")
    assert(os.execute(("perf inject -s -i %s -o %s"):format(recorded_path, theirs)))
    -- perf damages the raw data, so not what is printed of it
    local fields = " -F comm,pid,tid,cpu,time,event,period,ip,sym -i "
    local expected = files.output("perf script" .. fields .. theirs .. " 2>/dev/null")
    assert.match("sched_switch", expected)
    assert.equal(expected, (files.output("perf script" .. fields .. ours .. " 2>/dev/null")))
  end)
end)
