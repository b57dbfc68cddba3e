-- perflua -p LIST -f EXPR: a line for each sample.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

local calls = files.fixture "calls.perf.data"

-- Returns the lines of a loop over the records of a recording: the values that a function
-- returns, by tabs.
local function looped(path, values)
  local perflua, lines = require "perflua", {}
  local file <close> = assert(perflua.open(path))
  for record in file:samples():each() do
    local row = table.pack(values(record))
    for i = 1, row.n do row[i] = row[i] == nil and "-" or tostring(row[i]) end
    if row.n > 0 then lines[#lines + 1] = table.concat(row, "\t") .. "\n" end
  end
  return table.concat(lines), #lines
end

local function fails(status, message, words)
  local got = run.perflua(words)
  assert.are.same({ status, "" }, { got.status, got.out })
  assert.matches(message, got.err, 1, true)
end

describe("-p", function()
  it("prints the values of each sample, in the order of time", function()
    local expected, n = looped(run.demo, function(s) return s.elapsed, s.comm, s.symbol end)
    assert.are.equal(672, n)
    assert.matches("\t-\n", expected, 1, true)
    assert.are.same({ status = 0, out = expected, err = "" },
      run.perflua { "-p", "elapsed, comm, symbol", run.demo })
  end)

  it("prints those that pass all filters of -f", function()
    local expected, n = looped(run.demo, function(s)
      if s.comm == "sh" and s.event.name == "page-faults" then return s.period, s.comm end
    end)
    assert.are.equal(28, n)
    assert.are.same({ status = 0, out = expected, err = "" },
      run.perflua { "-f", "comm == 'sh'", "-fevent == 'page-faults'", "-p", "period, comm",
        run.demo })
  end)

  it("takes expressions with commas inside, and lists in several words", function()
    local expected = looped(calls, function(s)
      return s.comm == "sh" or s.comm == "a,b", s.args.id // 10, "(,"
    end)
    assert.are.equal(expected, run.perflua { "-p", "comm in { 'sh', 'a,b' }, args.id // 10",
      "-p", "'(,'", calls }.out)
  end)

  it("reads standard input and several recordings", function()
    local _, n = looped(run.demo, function(s) return s.pid end)
    local got = run.shell_with([["$perflua" -p pid - <"$1" | wc -l
      "$perflua" -p source,pid "$1" "$2" | cut -f 1 | sort | uniq -c]], run.demo, calls)
    local _, m = looped(calls, function(s) return s.pid end)
    assert.are.equal(("%d\n%d 1\n%d 2\n"):format(n, n, m), (got.out:gsub("%f[^\n\0] +", "")))
  end)

  it("reads perf.data without arguments", function()
    local got = run.shell_with([[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      demo=$(realpath "$1") && cd "$(mktemp -d)" && cp "$demo" perf.data
      "$perflua" -p comm | wc -l]], run.demo)
    assert.are.equal("672\n", got.out)
  end)

  it("escapes what could be taken for a tab, a line's end or a terminal's command", function()
    local b = builder.new()
    local event = b:event { name = "one", sample_type = { "tid", "time" } }
    b:record("comm", { pid = 1, tid = 1, comm = "a\tb\n\27[31m\xff" }, { time = 1 })
    b:sample(event, { pid = 1, tid = 1, time = 2 })
    assert.are.equal("a\\x09b\\x0a\\x1b[31m\\xff\t2\n",
      run.perflua { "-p", "comm,time", b:write() }.out)
  end)

  it("tells false from what is absent", function()
    assert.are.equal("false\n", run.perflua { "-f", "elapsed == 0", "-p", "exact_ip",
      run.demo }.out)
    local b = builder.new() -- nothing is mapped
    b:sample(b:event { sample_type = { "ip", "tid", "time" } },
      { ip = 16, pid = 1, tid = 1, time = 2 })
    assert.are.equal("-\n", run.perflua { "-p", "symbol", b:write() }.out)
  end)

  it("comes after statements, which may use the name file for something else", function()
    local got = run.perflua { "-f", "comm == 'wc'", "-p", "comm", "-e",
      "file = 1 print(arg[1])", run.demo }
    assert.are.same({ status = 0, out = run.demo .. "\nwc\nwc\nwc\nwc\n", err = "" }, got)
  end)

  it("says what is wrong with its list, its filter or its recording", function()
    fails(2, 'perflua: -p "pid,, comm", column 5: a field or an expression is missing\n',
      { "-p", "pid,, comm", run.demo })
    fails(2, 'perflua: -p "pid, \'x", column 6: unfinished string\n',
      { "-p", "pid, 'x", run.demo })
    fails(2, "unknown field 'cmm'; the closest is 'comm'\n", { "-p", "pid, cmm", run.demo })
    fails(2, "perflua: -f: filter \"com == 1\", column 1: unknown field 'com'; the closest is",
      { "-f", "com == 1", "-p", "pid", run.demo })
    fails(1, "perflua: missing.data: cannot open: No such file or directory\n",
      { "-p", "pid", "missing.data" })
    fails(2, "perflua: '-p' needs an argument\nusage: ", { "-p" })
  end)
end)

describe("-f", function()
  it("chooses the samples that statements see, and no other records", function()
    local count = "print(file:records('comm'):count())"
    local comms = run.perflua { "-e", count, run.demo }.out
    local words =
      { "-f", "comm == 'wc'", "-e", "print(file:samples():count())", "-e", count, run.demo }
    assert.are.same({ status = 0, out = "4\n" .. comms, err = "" }, run.perflua(words))
  end)

  it("raises where the file is read, if it is wrong", function()
    local got = run.perflua { "-f", "com == 1", "-e", "print 'before'", "-e",
      "print(file.path)", run.demo }
    assert.are.same({ 1, "before\n" }, { got.status, got.out })
    assert.matches("perflua: (command line):1: -f: filter \"com == 1\", column 1: unknown",
      got.err, 1, true)
  end)

  it("is refused for scripts and tools", function()
    fails(2, "perflua: '-f' is for -e, -p and the prompt; tools have --where\n",
      { "-f", "comm == 'sh'", "stat", run.demo })
  end)
end)
