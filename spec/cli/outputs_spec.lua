-- Where tools write: to no recording, but to what is not a file; and no bytes to a terminal.
local files = require "spec.support.files"
local for_all_tools = require "spec.support.for_all_tools"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Tools that write a file, with the options after which its path stands.
local WRITERS <const> = {
  { "export", "--to", "csv", "-o" }, { "export", "--to", "sqlite", "-o" },
  { "export", "--to", "pprof", "-o" }, { "flame", "-o" },
  { "diff", "--per", "share", run.demo, "--flame" },
}

-- Runs a tool over a recording, with the path of what it writes.
local function write_to(path, writer, recording)
  local words = table.move(writer, 1, #writer, 1, {})
  words[#words + 1], words[#words + 2] = path, recording
  return run.perflua(words)
end

describe("a file that a tool writes", function()
  local bytes

  setup(function() bytes = files.read(for_all_tools.builder(50):write()) end)

  for _, writer in ipairs(WRITERS) do
    it("is never the recording that is read: " .. table.concat(writer, " "), function()
      local path = files.temporary(bytes)
      local got = write_to(path, writer, path)
      assert.equal(bytes, files.read(path))
      assert.equal(1, got.status)
    end)
  end

  it("is not another recording, in scripts as well", function()
    local path = files.temporary(bytes)
    local message = path .. ": a recording is not overwritten: choose another name"
    assert.equal(("perflua: %s\n"):format(message),
      write_to(path, { "flame", "--event", "cpu-clock", "-o" }, run.demo).err)
    local script = ("print(file:samples():group_by('comm'):count():table():csv(%q))")
      :format(path)
    assert.equal(("nil\t%s\tEEXIST\n"):format(message),
      run.perflua({ "-e", script, run.demo }).out)
    assert.equal(bytes, files.read(path))
  end)

  it("may be a FIFO", function()
    local got = run.shell_with([[
      dir=$(mktemp -d)
      mkfifo "$dir/fifo"
      timeout 300 cat "$dir/fifo" >"$dir/read" &
      timeout 300 "$perflua" flame "$1" -o "$dir/fifo"
      wait
      head -c 4 "$dir/read"
      rm -r "$dir"]], run.demo)
    assert.equal("<svg", got.out)
  end)
end)

describe("a profile", function()
  needs.it("terminal", "is not written to a terminal unless it is text", function()
    for format, shown in pairs {
      pprof = "^perflua: export: pprof is binary, which a terminal cannot show: %-o FILE says "
        .. "where to",
      callgrind = "^# callgrind format",
    } do
      local got = run.shell_with(
        [[script -qec "$perflua --quiet export --color never --to $2 --event cpu-clock $1" /dev/null </dev/null]],
        run.demo, format)
      assert.matches(shown, got.out)
    end
  end)

  it("has no size to fit to without times", function()
    local got = run.perflua { "export", "--to", "speedscope", "--max-size", "9k", run.demo }
    assert.same({ 2, "perflua: export: --max-size makes times coarser: --timeline keeps the "
      .. "times\n" }, { got.status, got.err })
  end)
end)
