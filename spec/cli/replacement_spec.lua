-- Named files are replaced as a whole: an old one stays as it was until the new one is whole.
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Runs a script of the shell in an empty directory. It has $perflua, $demo, and write PATH
-- [FORMAT], which exports; see PATH prints a file's name, mode, number of links and content.
local HELPERS <const> = [[
  demo=$(realpath "$1")
  perflua=$(realpath "$perflua")
  dir=$(mktemp -d) && cd "$dir" && chmod 755 . || exit 99
  write() { "$perflua" export --to "${2:-folded}" --event cpu-clock -o "$1" "$demo"; }
  see() { stat -c "%n %a %h" "$@"; head -c 3 "$1"; echo; }
  (]]

local function in_directory(script)
  return run.shell_with(HELPERS .. script .. "\n) ; status=$?; rm -r \"$dir\"; exit $status",
    run.demo)
end

-- A loop over samples that writes `path`, and does something at the 100th.
local function at_sample_100(path, format, statement)
  return ([[timeout 60 "$perflua" -e 'local n = 0
    perflua.export(file:samples():where(function()
      n = n + 1
      if n == 100 then %s end
      return true
    end), "%s", "%s")' "$demo"]]):format(statement, format, path)
end

-- Formats that write rows, groups and a database.
local FORMATS <const> = { "csv", "chrome", "pprof", "sqlite" }

describe("a file that is written by name", function()
  needs.it("small file systems", "stays as it was on a device that gets full", function()
    local got = in_directory [[
      unshare --mount sh -c '
        mount -t tmpfs -o size=64k none . && cd "$PWD" || exit 99
        for format in chrome jsonl sqlite; do
          echo old >x
          "$0" export --to $format -o x "$1"; echo $?
          ls -A; cat x
          "$0" export --to $format -o new "$1"; echo $?
          ls -A
        done' "$perflua" "$demo"
      ]]
    assert.equal(("1\nx\nold\n1\nx\n"):rep(3), got.out)
    assert.equal(4, select(2, got.err:gsub(": No space left on device\n", "")))
    assert.equal(2, select(2, got.err:gsub(": database or disk is full\n", "")))
  end)

  it("stays as it was after ^C, and a new one is not left behind", function()
    for _, format in ipairs(FORMATS) do
      for before, left in pairs { ["echo old >x"] = "x\nold\n", ["true"] = "" } do
        local got = in_directory(before .. "\n"
          .. at_sample_100("x", format, 'io.popen("kill -INT $PPID"):close()')
          .. " >/dev/null; status=$?; ls -A; test -e x && cat x; exit $status")
        assert.same({ 130, left }, { got.status, got.out }, format)
      end
    end
  end)

  it("says that it is incomplete after ^C where it is written in place", function()
    for _, format in ipairs { "csv", "sqlite" } do
      local got = in_directory("echo old >x; ln x y\n"
        .. at_sample_100("x", format, 'io.popen("kill -INT $PPID"):close()'))
      assert.equal(130, got.status)
      assert.matches("x: interrupted: the file is incomplete\n", got.err, 1, true)
    end
  end)

  it("is written after ^C where its rows were all there before", function()
    local got = in_directory [[
      timeout 60 "$perflua" -e '
        local whole = file:samples():group_by("comm"):count():table()
        local n = 0
        local cut = file:samples():where(function()
          n = n + 1
          if n == 100 then io.popen("kill -INT $PPID"):close() end
          return true
        end):group_by("comm"):count():table()
        print(whole:csv("whole"), whole:json("json"), (whole:save("saved")))
        print((select(3, cut:csv("cut"))), (select(3, cut:json("cut"))))' "$demo"
      ls -A
      "$perflua" -e 'file:samples():group_by("comm"):count():table():csv()' "$demo" | cmp - whole]]
    assert.same({ 0, "true\ttrue\ttrue\nEINTR\tEINTR\njson\nsaved\nwhole\n" },
      { got.status, got.out })
  end)

  it("is left as it was by SIGTERM, SIGHUP and a third ^C, which end perflua", function()
    for signal, status in pairs { TERM = 143, HUP = 129, INT = 130 } do
      for _, format in ipairs(FORMATS) do
        local kill = ("while true do pcall(function() "
          .. "io.popen(\"kill -%s $PPID\"):close() end) end"):format(signal)
        local got = in_directory("echo old >x\n" .. at_sample_100("x", format, kill)
          .. "\nstatus=$?; ls -A; cat x; exit $status")
        assert.same({ status, "x\nold\n" }, { got.status, got.out }, signal .. format)
      end
    end
  end)

  it("leaves nothing behind where a script ends by os.exit()", function()
    local got = in_directory("echo old >x\n" .. at_sample_100("x", "csv", "os.exit(3)")
      .. "\nstatus=$?; ls -A; cat x; exit $status")
    assert.same({ 3, "x\nold\n" }, { got.status, got.out })
  end)

  it("is the one that symbolic links lead to, also if it is new", function()
    local got = in_directory [[
      mkdir a b; echo old >b/x; ln -s ../b/x a/link; ln -s a/link first; ln -s b/new new
      write first; write new sqlite
      readlink first a/link new; ls -A . a b; see b/x; see b/new
      ln -s circle circle; write circle]]
    assert.equal("a/link\n../b/x\nb/new\n.:\na\nb\nfirst\nnew\n\na:\nlink\n\nb:\nnew\nx\n"
      .. "b/x 644 1\nawk\nb/new 644 1\nSQL\n", got.out)
    assert.equal("perflua: circle: Too many levels of symbolic links\n", got.err)
  end)

  it("is written in place if it has several hard links, with a warning", function()
    local got = in_directory "echo old >x; ln x y; write x; see x; see y; ls -A"
    assert.equal("x 644 2\nawk\ny 644 2\nawk\nx\ny\n", got.out)
    assert.equal("perflua: x: written in place, because it has several hard links: a "
      .. "failure leaves it incomplete\n", got.err)
  end)

  it("keeps its permissions but for set-user-id bits, and a new one has the umask's", function()
    local got = in_directory [[
      umask 027
      touch x y; chmod 6604 x; chmod 600 y
      write x; write y csv; write z; see x; see y; see z]]
    assert.equal("x 604 1\nawk\ny 600 1\ntim\nz 640 1\nawk\n", got.out)
    assert.equal("", got.err)
  end)

  needs.it("root", "keeps its owner and group where perflua may set them", function()
    local got = in_directory "touch x; chown 1234:4321 x; write x; stat -c '%u %g' x"
    assert.equal("1234 4321\n", got.out)
  end)

  needs.it("an ordinary user", "is written in place where no file can be made beside it, or "
    .. "not at all if it is new", function()
    local got = in_directory [[
      echo old >x; echo old >y; chmod 666 x; chmod 444 y; chmod 555 .
      as_user() { "$@"; }
      if [ $(id -u) = 0 ]; then
        as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
      fi
      for path in x y new; do
        as_user "$perflua" export --to folded --event cpu-clock -o $path "$demo"
      done
      see x; see y; ls -A; chmod 755 .]]
    assert.equal("x 666 1\nawk\ny 444 1\nold\nx\ny\n", got.out)
    assert.equal("perflua: x: written in place, because no file can be made in its "
      .. "directory: a failure leaves it incomplete\nperflua: y: Permission denied\n"
      .. "perflua: new: Permission denied\n", got.err)
  end)

  it("is whole when two processes write it", function()
    local got = in_directory [[
      write first csv; write second jsonl
      for i in 1 2 3 4 5; do
        write x csv & a=$!; write x jsonl & b=$!
        wait $a && wait $b || echo failed
        cmp -s x first || cmp -s x second || echo mixed
      done
      ls -A]]
    assert.same({ "first\nsecond\nx\n", "" }, { got.out, got.err })
  end)

  it("is not a file that is open already", function()
    local got = in_directory [[
      for path in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        { echo before; write $path; } >x; head -n 1 x | head -c 4; echo; ls -A
      done
      "$perflua" export --to folded --event cpu-clock "$demo" -o /dev/null]]
    assert.equal("", got.err)
    assert.equal(("awk;\nx\n"):rep(3), got.out)
    assert.equal(0, got.status)
  end)

  it("may have a name of any length that a file can have", function()
    local got = in_directory [[
      name=$(printf "%0255d" 0); write $name; see $name | tail -n 1; ls -A | wc -l
      write $(printf "%0256d" 0) 2>&1 | grep -o "File name too long"]]
    assert.equal("awk\n1\nFile name too long\n", got.out)
  end)

  it("is written whole or not at all by Tables and other tools as well", function()
    local got = in_directory [[
      for x in a b c d e; do echo old >$x; ln -s $x $x.link; done
      "$perflua" -e 't = file:samples():group_by("comm"):count():table():sort("comm") t:csv("a.link")
        t:json("b.link") t:save("c.link")' "$demo"
      "$perflua" flame --event cpu-clock -o d.link "$demo"
      "$perflua" gen -o f "$demo"
      for x in a b c d f; do head -n 1 $x | head -c 4; echo; done; ls -A
      "$perflua" gen -o f "$demo"]]
    assert.equal("even\n[\n\nperf\n<svg\n-- C\na\na.link\nb\nb.link\nc\nc.link\nd\nd.link\ne\n"
      .. "e.link\nf\n", got.out)
    assert.equal("perflua: gen: f exists, and is not overwritten\n", got.err)
  end)
end)
