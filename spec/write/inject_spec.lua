-- perflua inject: what files of this machine tell of a recording, written into it.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"

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

  it("is an option of write()", function()
    local file <close> = assert(perflua.open(recorded():write()))
    local out = files.temporary()
    local summary = assert(file:records { container = true }:write(out, { force = true,
      inject = { build_ids = "hit", mappings = "all",
        known = { [tree.path .. "/hit"] = "abcd" } },
    }))
    assert.same({ build_ids = 2, mappings = 3, dropped = 0, unidentified = {} },
      summary.injected)
    assert.same({ hit = "abcd", calling = ids.calling }, table_of(out))
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
