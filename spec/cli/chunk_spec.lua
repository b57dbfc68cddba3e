-- perflua -e CHUNK FILE…: arguments that are recordings are the chunk's.
local files = require "spec.support.files"
local run = require "spec.cli.run"

local calls = files.fixture "calls.perf.data"

-- Runs words where ./perf.data is a recording that nobody asks for: calls. $demo is the one
-- that is asked for.
local function where_another_lies(words)
  return run.shell_with([[
    case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
    demo=$(realpath "$1") calls=$(realpath "$2")
    cd "$(mktemp -d)" && cp "$calls" perf.data && cp "$demo" demo.data || exit 99
    ]] .. words, run.demo, calls)
end

local function succeeds(out, words)
  assert.are.same({ status = 0, out = out, err = "" }, where_another_lies(words))
end

-- Fails, and the chunk prints nothing, least of all of ./perf.data.
local function fails(status, message, words)
  local got = where_another_lies(words)
  assert.are.same({ status, "" }, { got.status, got.out })
  assert.matches(message, got.err, 1, true)
end

local path_of_first = [["$perflua" -e 'local f = assert(perflua.open(arg[1])) print(f.path)' ]]
local path_of_file = [["$perflua" -e 'print(file.path)' ]]

describe("a chunk of -e", function()
  it("has recordings after it as its arguments", function()
    succeeds("demo.data\n", path_of_first .. "demo.data")
    succeeds("1\tdemo.data\ttrue\tdemo.data\n",
      [["$perflua" -e 'print(#arg, arg[1], arg[0]:find "perflua" ~= nil, ...)' demo.data]])
    succeeds("demo.data\tperf.data\t--x\n",
      [["$perflua" -e 'print(...)' demo.data perf.data --x]])
  end)

  it("has the global file, which opens them when it is first read", function()
    succeeds("nil\ndemo.data\t672\ntrue\n", [[
      "$perflua" -e 'print(rawget(_G, "file")) print(file.path, file:samples():count())' \
        -e 'print(rawget(_G, "file") == file)' demo.data]])
    succeeds("fine\n", [["$perflua" -e 'print "fine"' demo.data missing.data]])
    succeeds("nil\n", [["$perflua" -e 'print(unknown)' demo.data]])
    succeeds("mine\n", [["$perflua" -e 'file = "mine" print(file)' demo.data]])
  end)

  it("has several recordings as one file", function()
    local got = where_another_lies [[
      "$perflua" -e 'print(#file.path, file:samples():count())' demo.data perf.data]]
    assert.are.same({ 0, "2\t1974\n" }, { got.status, got.out })
  end)

  it("has a directory's recording, and one on a pipe, which is opened once", function()
    succeeds("dir\t672\n", [[
      mkdir dir && cp demo.data dir/data
      "$perflua" -e 'print(file.path, file:samples():count())' dir]])
    succeeds("-\t672\n", [["$perflua" -e 'print(arg[1], file:samples():count())' - <demo.data]])
    succeeds("-\t672\n",
      [[cat demo.data | "$perflua" -e 'print(arg[1], file:samples():count())' -]])
    succeeds("fifo\t672\n", [[
      mkfifo fifo && { cat demo.data >fifo & } && "$perflua" -e 'print(arg[1], file:samples():count())' fifo]])
  end)

  it("has perf.data as its file when there are no arguments", function()
    succeeds("nil\tperf.data\n", [["$perflua" -e 'print(arg[1], file.path)']])
    succeeds("perf.data\n", path_of_first)
    fails(1, "perflua: (command line):1: perf.data: cannot open: No such file or directory\n",
      "rm perf.data; " .. path_of_file)
  end)

  it("shares its arguments and file with other chunks, whatever ends the options", function()
    succeeds("true\n", [["$perflua" -e 'first = file' -e 'print(first == file)' -- demo.data]])
    succeeds("1\n1\t1\n", [["$perflua" -e 'n = (n or 0) + 1 print(n)' -e 'n, #arg' demo.data]])
    succeeds("-demo.data\n", "mv demo.data ./-demo.data; " .. path_of_file .. "-- -demo.data")
  end)

  it("is followed by a prompt that has them, too", function()
    local got =
      where_another_lies [[echo 'file.path, arg[1]' | "$perflua" -i -e 'print "ran"' demo.data]]
    assert.are.equal(0, got.status)
    assert.matches("^ran\n.-demo.data\tdemo.data\n", got.out)
    fails(2, "'-' cannot be a recording together with -i",
      [["$perflua" -i -e 'print(1)' - <demo.data]])
  end)

  it("is not run if the argument is neither a recording nor a script", function()
    fails(1, "cannot open missing.data: No such file or directory",
      path_of_first .. "missing.data")
    fails(2, "'missing' is neither a recording, a tool nor a script file",
      path_of_first .. "missing")
    fails(1, "demo.data.gz:1: ", "gzip demo.data; " .. path_of_first .. "demo.data.gz")
    fails(1, "cannot read ./dir", "mkdir dir; " .. path_of_first .. "./dir")
    fails(1, "empty.data: offset 0: found an empty file", ": >empty.data; " .. path_of_first
      .. "empty.data")
    fails(1, "unexpected symbol", "echo 'x = = 1' >bad.lua; " .. path_of_first .. "bad.lua")
  end)

  it("opens all its arguments or none as its file", function()
    for _, second in ipairs { "missing.data", "--min" } do
      fails(1, second
        .. ": cannot open: No such file or directory; the global 'file' opens all arguments\n",
        path_of_file .. "demo.data " .. second)
    end
  end)

  it("prints the values that it returns as those of an expression", function()
    for text, out in pairs { ["return 5"] = "5\n", ["local n = 5 return n, 'x'"] = "5\tx\n",
        ["return nil"] = "", ["return true"] = "", ["return nil, 'why'"] = "nil\twhy\n",
        ["return file:samples():count()"] = "672\n",
        ["return {}"] = "{}\n", ["return { { 1 } }"] = run.perflua { "-e", "{ { 1 } }" }.out,
        ["return file:thread(7) or 'none'"] = "none\n",
        ["return { comm = 'x' }"] = "key   value\ncomm  x\n",
        ["return { 1, 2 }"] = "key  value\n  1  1\n  2  2\n" } do
      local got = run.perflua { "-e", text, run.demo }
      assert.same({ status = 0, out = out, err = "" }, got, text)
    end
    local query = "file:samples():where 'pid == 1'"
    assert.same(run.perflua { "-e", query, run.demo },
      run.perflua { "-e", "return " .. query, run.demo })
  end)

  it("may return what scripts may", function()
    local rows =
      "event             count\ncpu-clock           457\ncontext-switches    176\n"
        .. "page-faults          39\n"
    succeeds(rows,
      [["$perflua" -e 'return file:samples():group_by("event"):count()' demo.data]])
    succeeds(rows,
      [["$perflua" -e 'return function(f) return f:samples():group_by("event"):count() end' demo.data]])
    succeeds("672\n", [["$perflua" -e 'local n = 0
      return { sample = function() n = n + 1 end, finish = function() print(n) end }' demo.data]])
    fails(1, "demo.data: this recording has no event 'sched:*'", [["$perflua" -e 'return function(f)
      return f:samples():group_by("event"):count() end, { needs = "sched:*" }' demo.data]])
  end)

  it("prints its values if it is an expression, the last one alone", function()
    succeeds("672\n", [["$perflua" -e 'file:samples():count()' demo.data]])
    succeeds("2\tdemo.data\tnil\n", [["$perflua" -e 'x = 2' -e 'x, ..., nil' demo.data]])
    succeeds("false\n", [["$perflua" -e 'false']])
  end)

  it("prints nothing if its first value is nil, true, a function or an open file", function()
    succeeds("", [["$perflua" -e 'nil, 1' && "$perflua" -e 'true' && "$perflua" -e 'print' &&
      "$perflua" -e 'io.stdout' && "$perflua" -e 'os.execute "true"']])
    succeeds("x", [["$perflua" -e 'io.write "x"']])
  end)

  it("prints a query with groups and a table as a script does", function()
    local rows =
      "event             count\ncpu-clock           457\ncontext-switches    176\n"
        .. "page-faults          39\n"
    succeeds(rows, [["$perflua" -e 'file:samples():group_by("event"):count()' demo.data]])
    succeeds(rows, [["$perflua" -e 'file:samples():group_by("event"):count()' - <demo.data]])
    succeeds("1\n" .. rows .. "2\t3\n",
      [["$perflua" -e '1, file:samples():group_by("event"):count():table(), 2, 3' demo.data]])
  end)

  it("prints the first rows of other queries and their number", function()
    local got = where_another_lies [["$perflua" -e 'file:samples()' demo.data]]
    assert.matches("^0x4e8 sample page%-faults size=136 ", got.out)
    assert.are.equal(11, select(2, got.out:gsub("\n", "")))
    assert.matches("\n# first 10 of 672 records\n$", got.out)
    succeeds("  tid  period\n10667       2\n10667       6\n# 2 rows\n",
      [=["$perflua" -e 'file:samples("context-switches"):where "comm == [[wc]]":select(
        "tid", "period")' demo.data]=])
  end)

  it("prints Lua tables as tables, and a record as a list of its fields", function()
    succeeds("key  value\n1    a\n2    {2}\nx    {…}\n",
      [["$perflua" -e '{ "a", { 1, 2 }, x = { y = 1 } }']])
    succeeds("a  b\n1  {}\n-  x\n", [["$perflua" -e '{ { a = 1, b = {} }, { b = "x" } }']])
    succeeds("index  event             period  frequency  fields\n"
      .. "    1  cpu-clock              -       1200  ip pid tid time id period callchain\n"
      .. "    2  page-faults            -       1200  ip pid tid time id period callchain\n"
      .. "    3  context-switches       -       1200  ip pid tid time id period callchain\n",
      [["$perflua" -e file.events demo.data]])
    local got = where_another_lies [["$perflua" -e 'file:samples():first()' perf.data]]
    for _, line in ipairs { "type      sample", "comm      sh", "ip        0xffffffff81417e9c",
        "event     raw_syscalls:sys_exit", "message   NR 59 = 0", "args.id   59",
        "args.ret  0" } do
      assert.matches("\n" .. line .. "\n", got.out, 1, true)
    end
  end)

  it("reports an error of an expression, and of its values, as that of statements", function()
    fails(1, "perflua: (command line):2: no", [["$perflua" -e 'file:samples():where(function()
      error "no" end):group_by("comm"):count()' demo.data]])
    fails(1, "perflua: (command line):1: attempt to index a nil value (global 'x')",
      [["$perflua" -e 'x.y']])
  end)

  it("leaves arguments and results to a script or tool that follows", function()
    succeeds("chunk\tdemo.data\tnil\nscript\tdemo.data\tnil\n", [[
      echo 'print("script", arg[1], file)' >script.lua
      "$perflua" -e 'print("chunk", arg[1], file) return { sample = 1 }' script.lua demo.data]])
    local got = where_another_lies [["$perflua" -e 'print "chunk"' stat demo.data]]
    assert.are.equal(0, got.status)
    assert.matches("^chunk\ntype .-\nsample +672 ", got.out)
  end)

  it("keeps what the globals' metatable does", function()
    succeeds("5\tnil\tdemo.data\n", [[
      LUA_INIT='setmetatable(_G, { __index = { five = 5 } })' "$perflua" -e 'print(five, six, file.path)' demo.data]])
  end)
end)
