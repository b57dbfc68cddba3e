-- Recordings that cannot be written: a clear error, and nothing is left behind or lost.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"

describe("a recording that cannot be written", function()
  it("says that there is no room, or no way to the directory", function()
    for _, case in ipairs {
      { "/dev/full", "No space left on device" },
      { "/proc/perflua.data", "/proc/perflua.data: No such file or directory" },
      { run.demo .. "/x", "Not a directory" },
    } do
      for _, words in ipairs { "convert", "cut --comm sort", "convert --compress" } do
        local got = run.shell_with(('"$perflua" %s "$1" -o "$2"'):format(words), run.demo,
          case[1])
        assert.are.same({ 1, "" }, { got.status, got.out })
        assert.matches(case[2], got.err, 1, true)
      end
    end
  end)

  -- Root may write anywhere: it runs this as nobody.
  it("leaves a directory that is not to be written to as it is", function()
    local got = run.shell_with([[
      dir=$(mktemp -d /tmp/perflua.XXXXXX); chmod 755 "$dir"
      cp "$perflua" "$dir/perflua"; cp "$1" "$dir/in"; chmod 644 "$dir/in"
      cd "$dir"; mkdir closed; echo old >closed/out; chmod 444 closed/out; chmod 555 closed
      as=; test "$(id -u)" != 0 || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
      $as ./perflua convert --force in -o closed/out; echo $?
      $as ./perflua cut --comm sort in -o closed/new; echo $?
      $as ./perflua convert --directory in -o closed/directory; echo $?
      ls -A closed; cat closed/out; chmod 755 closed; rm -r "$dir"]], run.demo)
    assert.are.same({ 0, "1\n1\n1\nout\nold\n" }, { got.status, got.out })
    for _, name in ipairs { "out", "new", "directory" } do
      assert.matches(("perflua: closed/%s: Permission denied"):format(name), got.err, 1, true)
    end
  end)

  needs.it("small file systems", "leaves nothing where there is no room for it", function()
    local got = run.shell_with([[
      unshare --mount sh -c '
        mount -t tmpfs -o size=40k none /mnt || exit 9
        echo old >/mnt/out
        "$0" convert --force "$1" -o /mnt/out
        echo $?
        "$0" merge "$1" "$1" -o /mnt/new
        echo $?
        cat /mnt/out; ls -A /mnt' "$(realpath "$perflua")" "$(realpath "$1")"]], run.demo)
    assert.are.same({ 0, "1\n1\nold\nout\n" }, { got.status, got.out })
    assert.matches("/mnt/out: No space left on device", got.err, 1, true)
    assert.matches("/mnt/new: No space left on device", got.err, 1, true)
  end)

  it("says that a name is too long for a pipe", function()
    local b = builder.new {}
    b:event { name = ("x"):rep(66000), sample_type = { "identifier", "time" }, ids = { 1 } }
    b:sample(b.events[1], { identifier = 1, time = 1 })
    local file <close> = assert(perflua.open(b:write()))
    warn "@off"
    local path = rewritten.path()
    local ok, message, code = file:records():write(path, { pipe = true })
    assert.are.same({ nil, "FORMAT" }, { ok, code })
    assert.matches("event 1: found a name of 66000 bytes, expected 65504 at most, which a pipe "
      .. "has room for; write a file", message)
    assert.is_false(files.exists(path))
    local copy <close> = rewritten.open(file)
    assert.are.equal(66000, #copy.events[1].name)
  end)

  it("is without a feature of 2^32 bytes, which is said", function()
    local b = builder.new {}
    b:event {}
    b:record("comm", { comm = "x" })
    b:feature("hostname", "here"):feature("cpuid", "y")
    local bytes = b:bytes()
    local at = string.unpack("<I8", bytes, 41) + string.unpack("<I8", bytes, 49)
    local path = files.temporary(bytes:sub(1, at + 24) .. string.pack("<I8", 1 << 32)
      .. bytes:sub(at + 33))
    assert(os.execute("truncate -s 5G " .. files.quote(path)))
    local got = run.perflua { "convert", path, "-o", rewritten.path() }
    assert.are.equal(0, got.status)
    assert.matches("features that cannot be read: cpuid", got.out, 1, true)
    warn "@off"
    local file <close> = assert(perflua.open(path))
    local copy <close> = rewritten.open(file)
    assert.are.same({ "here", nil, 1 }, { copy.features.hostname, copy.features.cpuid,
      copy:records("comm"):count() })
  end)
end)
