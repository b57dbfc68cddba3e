-- A write that fails is said, also where nobody looks at what the verb returns.
local files = require "spec.support.files"
local run = require "spec.cli.run"

local TABLE <const> = 'file:samples():group_by("comm"):count():table()'

local WRITES <const> = {
  TABLE .. ':csv("%s")', TABLE .. ':json("%s")', TABLE .. ':save("%s")',
  'perflua.export(file:samples(), "csv", "%s")',
  'perflua.export(file:samples(), "sqlite", "%s")',
  'perflua.export(file:samples(), "pprof", "%s")',
}

describe("a write that fails", function()
  it("is a warning, status 1, and nil and a message of the last expression of -e", function()
    for _, write in ipairs(WRITES) do
      local expression = write:format "/nonexist/x"
      local said = "perflua: /nonexist/x: No such file or directory\n"
      assert.same({ status = 1, err = said,
        out = "nil\t/nonexist/x: No such file or directory\tENOENT\n" },
        run.perflua { "-e", expression, run.demo })
      assert.same({ status = 1, err = said, out = "end\n" },
        run.perflua { "-e", expression .. " print 'end'", run.demo })
      local script = run.script("local file = perflua.open(arg[1])\n" .. expression)
      assert.same({ status = 1, err = said, out = "" }, run.perflua { script, run.demo })
    end
  end)

  it("is silent in plain Lua, which has warnings off", function()
    local script = files.temporary([[local perflua = require "perflua"
      local file = perflua.open(arg[1])
      print(]] .. WRITES[1]:format "/nonexist/x" .. ")")
    local got = run.shell_with((os.getenv "PERFLUA_LUA" or "lua5.4") .. ' "$1" "$2"', script,
      run.demo)
    assert.same({ status = 0, err = "",
      out = "nil\t/nonexist/x: No such file or directory\tENOENT\n" }, got)
  end)

  it("leaves the status of a script that ends by itself with another", function()
    local expression = WRITES[1]:format "/nonexist/x" .. " os.exit(5)"
    assert.equal(5, run.perflua({ "-e", expression, run.demo }).status)
  end)

  it("is said once by tools", function()
    for _, words in ipairs { { "export", "--to", "csv", "-o", "/nonexist/x" },
        { "export", "--to", "sqlite", "-o", "/nonexist/x" }, { "gen", "-o", "/nonexist/x" },
        { "flame", "--event", "cpu-clock", "-o", "/nonexist/x" } } do
      words[#words + 1] = run.demo
      assert.same({ status = 1, out = "",
        err = "perflua: /nonexist/x: No such file or directory\n" }, run.perflua(words))
    end
    local query = files.temporary(
      "return function(file) return file:samples():group_by('comm'):count() end")
    local got = run.perflua { "map", "-o", "/nonexist/x", query, run.demo }
    assert.same({ 1, "perflua: /nonexist/x: No such file or directory\n" },
      { got.status, got.err })
  end)
end)

describe("an expression of -e", function()
  it("shows nil and a message", function()
    local got = run.perflua { "-e", 'perflua.open("/nonexist/x")' }
    assert.equal("nil\t/nonexist/x: cannot open: No such file or directory\tENOENT\n", got.out)
    assert.equal("", run.perflua({ "-e", "io.read()" }).out)
  end)
end)

describe("standard output on a full device", function()
  it("is said with the reason, and is status 1", function()
    local long = "for i = 1, 10000 do print(i) end"
    for _, words in ipairs { 'report "$1"', 'stat "$1"', "-e '" .. long .. "'", "-e 'print(1)'",
        [[-e 'file:samples():select("ip", "time"):each(print)' "$1"]],
        [[-e 'perflua.export(file:samples(), "csv")' "$1"]], 'script "$1"',
        'fold --event cpu-clock "$1"', 'report --csv "$1"', 'report --json "$1"',
        'export --to speedscope --event cpu-clock "$1"' } do
      local got = run.shell_with(('"$perflua" %s >/dev/full'):format(words), run.demo)
      assert.equal(1, got.status, words)
      assert.equal("perflua: cannot write to standard output: No space left on device\n",
        got.err, words)
    end
  end)
end)
