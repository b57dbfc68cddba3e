-- perflua scrub: what it writes and says, and what it refuses.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"

local function recording()
  local b = builder.new {}
  b:event { name = "cycles", type = 0 }
  b:record("comm", { pid = 1, tid = 1, comm = "pos\27tgres" }, { time = 1, pid = 1, tid = 1 })
  b:sample(b.events[1], { ip = 1, pid = 1, tid = 1, time = 2 })
  b:sample(b.events[1], { ip = 1, pid = 1, tid = 1, time = 3 })
  b:feature("hostname", "db7")
  return b
end

local function scrub(...) return run.perflua { "scrub", ... } end

describe("perflua scrub", function()
  it("says what remains, by kind, with examples, and what was dropped", function()
    local path = rewritten.path()
    local result = scrub("--keep", "comm", recording():write(), "-o", path)
    assert.are.equal("", result.err)
    assert.are.equal(0, result.status)
    assert.matches(": 2 samples in 3 records, ", result.out, 1, true)
    assert.matches("\n  comm       kept  1 name, 1 time   pos\\x1btgres\n", result.out, 1, true)
    assert.matches("\n  event      kept  1 name, %d times  cycles\n", result.out)
    assert.matches("\n  dropped: host\n", result.out, 1, true)
    local copy <close> = assert(perflua.open(path))
    assert.are.equal(2, copy:samples():count())
  end)

  it("makes equal hashes by one key, and tells the owner the names", function()
    local key, path = files.temporary("our key"), recording():write()
    local one, other, map = rewritten.path(), rewritten.path(), rewritten.path()
    assert.are.equal(0, scrub("--key", key, "--map", map, path, "-o", one).status)
    assert.are.equal(0, scrub("--key", key, path, "-o", other).status)
    assert.is_true(files.read(one) == files.read(other))
    local shown = files.read(map):match "^(x%x+)\tcomm\tpos\\x1btgres\n$"
    local copy <close> = assert(perflua.open(one))
    assert.are.equal(shown, copy:records("comm"):first().comm)
  end)

  it("writes the names for their owner alone, unless the file is there", function()
    local path = recording():write()
    local function modes(before)
      local result = run.shell_with(before .. [[ umask 022
        "$perflua" scrub --force --map "$2" "$1" -o "$3" >"$4" && stat -c %a "$2" "$3"]],
        path, rewritten.path(), rewritten.path(), files.temporary())
      assert.are.equal("", result.err)
      return result.out
    end
    assert.are.equal("600\n644\n", modes "")
    assert.are.equal("640\n644\n", modes [[touch "$2"; chmod 640 "$2";]])
  end)

  it("writes the names over no recording", function()
    local path, target = recording():write(), rewritten.path()
    local bytes = files.read(path)
    local result = scrub("--force", "--map", path, path, "-o", target)
    assert.are.equal(2, result.status)
    assert.matches("a recording is not overwritten", result.err, 1, true)
    assert.is_true(bytes == files.read(path))
    assert.is_false(files.exists(target))
    result = scrub("--force", "--map", target, path, "-o", target)
    assert.are.equal(1, result.status)
    assert.matches("a recording is not overwritten", result.err, 1, true)
    local copy <close> = assert(perflua.open(target))
    assert.are.equal(2, copy:samples():count())
  end)

  it("says that the names cannot be written", function()
    local result = scrub("--force", "--map", "/dev/full", recording():write(), "-o",
      rewritten.path())
    assert.are.equal(1, result.status)
    assert.matches("/dev/full: No space left on device", result.err, 1, true)
  end)

  it("writes pipe mode to standard output, and reads a stream", function()
    local result = run.shell_with('"$perflua" scrub - -o - <"$1" | "$perflua" stat -',
      recording():write())
    assert.are.equal(0, result.status)
    assert.matches("2", result.out, 1, true)
    assert.matches("dropped: host", result.err, 1, true)
  end)

  it("scrubs what can be read of a damaged recording, and says what was lost", function()
    local path = rewritten.path()
    local b = recording()
    local cut = b:offsets()[3] + 10
    local result = scrub(files.temporary(b:bytes():sub(1, cut)), "-o", path)
    assert.are.equal(0, result.status)
    assert.matches("lost at offset %d+, ", result.out)
    local copy <close> = assert(perflua.open(path))
    assert.are.same({}, copy.damage)
    assert.are.equal(1, copy:samples():count())
  end)

  it("leaves out records that it cannot read, and says so", function()
    local b = recording()
    b:raw(9, 2, "1234") -- a sample that is too short
    local result = scrub(b:write(), "-o", rewritten.path())
    assert.are.equal(0, result.status)
    assert.matches("1 record left out: it cannot be read", result.out, 1, true)
  end)

  needs.it("perf", "writes what perf reads without complaint, with its counts", function()
    -- the counts of rows, whatever their names
    local rows = "perf report --stdio -f --symfs=spec/fixtures/empty --kallsyms=/dev/null "
      .. "-g none --sort %s -n -F sample,period -i %s 2>%s "
      .. "| grep -v '^#' | sed 's/:.*//' | grep ."
    for _, name in ipairs { "demo.perf.data", "calls.perf.data" } do
      local path, said = rewritten.path(), files.temporary()
      for _, words in ipairs { {}, { "--addresses" }, { "--preset", "share" } } do
        local result = scrub("--force", files.fixture(name), "-o", path, table.unpack(words))
        assert.are.equal(0, result.status)
        local found = files.output(rows:format("pid", path, said))
        assert.are.equal(files.output(rows:format("pid", files.fixture(name), "/dev/null")),
          found)
        assert.is_true(#found > 50)
        assert.are.equal("", files.read(said))
      end
    end
  end)

  it("refuses a target that exists, and the recording that it reads", function()
    local path, target = recording():write(), files.temporary("there")
    local result = scrub(path, "-o", target)
    assert.are.equal(1, result.status)
    assert.matches("the file exists; --force replaces it", result.err, 1, true)
    assert.are.equal("there", files.read(target))
    result = scrub("--force", path, "-o", path)
    assert.are.equal(1, result.status)
    assert.matches("this is the recording that is read", result.err, 1, true)
    assert.are.equal(0, scrub("--force", path, "-o", target).status)
  end)

  it("leaves nothing where it cannot write", function()
    local result = scrub(recording():write(), "-o", "/nowhere/x.data")
    assert.are.equal(1, result.status)
    assert.matches("/nowhere/x.data: No such file or directory", result.err, 1, true)
    result = run.shell_with('"$perflua" scrub "$1" -o - >/dev/full', recording():write())
    assert.are.equal(1, result.status)
    assert.matches("No space left on device", result.err, 1, true)
    local path = rewritten.path()
    result = scrub("--map", "/nowhere/map", recording():write(), "-o", path)
    assert.are.equal(1, result.status)
    assert.matches("/nowhere/map", result.err, 1, true)
  end)

  it("refuses wrong options before it reads", function()
    local path, target = recording():write(), rewritten.path()
    local function fails(message, ...)
      local result = scrub(path, "-o", target, ...)
      assert.are.equal(2, result.status)
      assert.matches(message, result.err, 1, true)
      assert.is_false(files.exists(target))
    end
    fails("--keep: unknown kind 'com'; the closest is 'comm'", "--keep", "com")
    fails("--hash: stacks cannot be hashed", "--hash", "stacks")
    fails("found no bytes", "--key", files.temporary "")
    fails("/nowhere: No such file or directory", "--key", "/nowhere")
    fails("the file exists", "--map", files.temporary "x")
    fails("x", "--preset", "x")
  end)
end)
