local compressed = require "spec.support.compressed"
local run = require "spec.cli.run"

describe("the options of perflua", function()
  it("run statements with -e, one after the other, before the script", function()
    local script = run.script "print('script', x, ...)"
    local got = run.perflua { "-e", "x = 1", "-ex = x + 1 print 'e'", script, "a", "b" }
    assert.are.same({ status = 0, out = "e\nscript\t2\ta\tb\n", err = "" }, got)
  end)

  it("require modules with -l, into the global of that name or another", function()
    local got = run.perflua { "-l", "perflua.text.json", "-lj=perflua.text.json",
      "-e", "print(j == _G['perflua.text.json'], j.encode { 1 })" }
    assert.are.same({ status = 0, out = "true\t[1]\n", err = "" }, got)
  end)

  it("end at --, so that a script's name may start with a dash", function()
    local got = run.shell [[
      cd "$(mktemp -d)" && echo 'print(arg[0], ...)' >-dash.lua
      case $perflua in /*) ;; *) perflua="$OLDPWD/$perflua" ;; esac
      "$perflua" -- -dash.lua -e]]
    assert.are.same({ status = 0, out = "-dash.lua\t-e\n", err = "" }, got)
  end)

  it("print the version with -v and go on", function()
    local got = run.perflua { "-v", "-e", "print(1)" }
    assert.are.equal(0, got.status)
    assert.matches("^perflua %d+%.%d+%.%d+, Lua 5%.4%.%d+\n1\n$", got.out)
  end)

  it("say with --version what was built in", function()
    local got = run.perflua { "--version" }
    assert.are.equal(0, got.status)
    assert.matches(
      "^perflua %d+%.%d+%.%d+, Lua 5%.4%.%d+\nwith zstd [^\n]*\nwith elfutils %d[^\n]*\n",
      got.out)
    assert.matches("\nwith%a* libiberty[^\n]*\nwith%a* libcapstone[^\n]*\n"
      .. "with%a* libedit[^\n]*\nwith%a* ncurses",
      got.out)
  end)

  it("are explained by --help", function()
    local got = run.perflua { "--help" }
    assert.are.equal(0, got.status)
    for _, option in ipairs { "-e", "-i", "-l", "-v", "-W", "-E", "--quiet",
        "--traceback", "-j", "--", "--help", "--version" } do
      assert.truthy(got.out:find("\n  " .. option .. " ", 1, true), option)
    end
  end)

  it("ignore the environment with -E", function()
    local env = "LUA_INIT='print [[init]]' LUA_PATH='/nowhere/?.lua'"
    local words = { "-e", "print(package.path:find('/nowhere', 1, true) ~= nil)" }
    assert.are.equal("init\ntrue\n", run.perflua(words, { env = env }).out)
    table.insert(words, 1, "-E")
    assert.are.equal("false\n", run.perflua(words, { env = env }).out)
  end)

  it("honour LUA_INIT as statements and as @file, and LUA_INIT_5_4 before it", function()
    local file = run.script "print 'from a file'"
    local words = { "-e", "print 'e'" }
    assert.are.equal("from a file\ne\n", run.perflua(words, { env = "LUA_INIT=@" .. file }).out)
    local env = "LUA_INIT='print(1)' LUA_INIT_5_4='print(54)'"
    assert.are.equal("54\ne\n", run.perflua(words, { env = env }).out)
    local failed = run.perflua(words, { env = "LUA_INIT='error [[no]]'" })
    assert.are.equal(1, failed.status)
    assert.are.equal("", failed.out)
    assert.matches("^perflua: LUA_INIT:1: no\nstack traceback:", failed.err)
  end)

  it("have warnings on, with or without -W", function()
    for _, words in ipairs { { "-e", "warn 'look'" }, { "-W", "-e", "warn 'look'" } } do
      assert.are.equal("perflua: warning: look\n", run.perflua(words).err)
    end
    assert.are.equal("perflua: warning: a b\nperflua: warning: d\n",
      run.perflua(
        { "-e", "warn('a ', 'b') warn '@off' warn 'c' warn '@on' warn '@what' warn 'd'" }).err)
  end)

  it("say with -j how many workers read what is opened without a number of its own", function()
    local b = compressed.start()
    b:feature("compressed", { version = 1, type = 1, level = 1, ratio = 3, mmap_len = 4096 })
    b:sample(b.events[1], { ip = 1, pid = 7, tid = 7, time = 5 })
    local script = run.script [[
      for _, jobs in ipairs { 0, 1, 2, 3 } do
        local file <close> = assert(perflua.open(arg[1], { jobs = jobs > 0 and jobs or nil }))
        print((file:samples():group_by("pid"):count():explain():match "workers%s+([^\n]*)"))
      end]]
    local path, more = b:write(), "2: one decompresses, the other adds up\n" -- of more than two
    for words, expected in pairs {
      ["-j 1"] = "1\n", ["-j2"] = "2\n", ["-j 16"] = more, ["-j 3 -j 1"] = "1\n",
    } do
      local got = run.shell_with(('"$perflua" %s "$@"'):format(words), script, path)
      assert.are.same({ status = 0, out = expected .. "1\n2\n" .. more, err = "" }, got)
    end
    assert.matches("^[12][^\n]*\n1\n2\n" .. more .. "$", run.perflua({ script, path }).out)
  end)

  for _, n in ipairs { "0", "17", "-1", "1.5", "x", "" } do
    it(("are refused when -j is followed by '%s'"):format(n), function()
      local got = run.perflua { "-j", n, "-e", "print(1)" }
      assert.are.same({ 2, "" }, { got.status, got.out })
      assert.matches("^perflua: '%-j' needs a number from 1 to 16\nusage: ", got.err)
    end)
  end

  for name, words in pairs {
    ["are refused when unknown"] = { "--bogus" },
    ["are refused when they are two in one word"] = { "-iv" },
    ["are refused when -e has no argument"] = { "-e" },
    ["are refused when -j has no argument"] = { "-j" },
    ["are refused when -l is followed by an option"] = { "-l", "-v" },
  } do
    it(name .. ", with the usage and status 2", function()
      local got = run.perflua(words)
      assert.are.equal(2, got.status)
      assert.are.equal("", got.out)
      assert.matches("^perflua: .-\nusage: perflua perf.data", got.err)
    end)
  end
end)
