-- Messages that a newcomer meets in the first hour: where, what was found, what was expected,
-- what to do.
local files = require "spec.support.files"
local run = require "spec.cli.run"

local DEMO <const> = run.demo
local COUNTS <const> = "print(file:samples():%s)"

--- Makes a file of that name from this command of the shell; its path.
local function made(name, command)
  local path = files.temporary() .. name
  files.output(("{ %s; } >%s 2>/dev/null <%s"):format(command, files.quote(path), DEMO))
  return path
end

-- Words, and what the message begins with or, after "…", has in it.
local rows = {
  { "says why a file cannot be opened", { "stat", "no.data" }, 1,
    "no.data: cannot open: No such file or directory" },
  { "says what a directory lacks", { "stat", "src" }, 1,
    "src: found a directory without the file \"data\", expected one that perf record" },
  { "recognizes text", { "stat", made(".txt", "echo hello") }, 1, "… found text, expected a "
    .. "perf.data file" },
  { "recognizes compressed files", { "stat", made(".gz", "gzip -c") }, 1,
    "… found a gzip file, expected a perf.data file; try: zcat " },
  { "names the closest field", { "report", "--where", "com == 1", DEMO }, 2,
    "filter \"com == 1\", column 1: unknown field 'com'; the closest is 'comm'" },
  { "says that text needs quotes", { "report", "--where", "comm == wrk", DEMO }, 2,
    "… column 9: unknown field 'wrk'; a text needs quotes: 'wrk'" },
  { "names the spelling for =", { "report", "--where", "pid = 1", DEMO }, 2, "… use ==" },
  { "names the spelling for &&", { "report", "--where", "pid == 1 && pid == 2", DEMO }, 2,
    "… use 'and'" },
  { "names the spelling for !=", { "report", "--where", "pid != 1", DEMO }, 2, "… use ~=" },
  { "names the spelling of lists", { "report", "--where", "pid in (1,2)", DEMO }, 2,
    "… a list expected after 'in': { 1, 2 } or { 'a', 'b' }" },
  { "names the spelling for =~", { "report", "--where", "comm =~ 'x'", DEMO }, 2,
    "… '=~' is not part of the filter language; use match(f, 'pattern')" },
  { "names the spelling for like", { "report", "--where", "comm like 'x'", DEMO }, 2,
    "… 'like' is not expected here; write glob(f, 'text*')" },
  { "names the field for times since the start", { "report", "--where", "time > 1s", DEMO }, 2,
    "… use elapsed, which counts from the first sample" },
  { "lists the events", { "report", "--event", "cycles", DEMO }, 2,
    "this recording has no event 'cycles'; it has cpu-clock, page-faults, context-switches\n" },
  { "suggests a tool for a misspelt one", { "repot", DEMO }, 2,
    "'repot' is neither a tool nor a script file; did you mean 'report'?" },
  { "suggests a tool for a longer name", { "flamegraph", DEMO }, 2,
    "'flamegraph' is neither a tool nor a script file; did you mean 'flame'?" },
  { "says that no recording is named", { "report" }, 2,
    "report: no recording is named, and perf.data: No such file or directory\nusage: " },
  { "suggests a method of queries", { "-e", COUNTS:format "groupby('comm')", DEMO }, 1,
    "(command line):1: a Query has no method 'groupby'; the closest is 'group_by'" },
  { "knows what others call top", { "-e", COUNTS:format "limit(3)", DEMO }, 1,
    "(command line):1: a Query has no method 'limit'; 'top' does that" },
  { "knows what others call quantile", { "-e", COUNTS:format "p99('period')", DEMO }, 1,
    "… a Query has no method 'p99'; 'quantile' does that" },
  { "knows what others call methods of tables",
    { "-e", COUNTS:format "group_by('comm'):count():top(3):limit(1)", DEMO }, 1,
    "… a Table has no method 'limit'; 'top' does that" },
  { "says how to record a field", { "-e", COUNTS:format "group_by('cpu')", DEMO }, 1,
    "… no record of this query has a field 'cpu'; perf record --sample-cpu records it" },
  { "says why the recording that is indexed is nil",
    { "-e", "local f = perflua.open 'no.data' for s in f:samples() do end" }, 1,
    "(command line):1: attempt to index a nil value (local 'f'); perflua.open returned nil: "
      .. "no.data: cannot open: No such file or directory\n" },
  { "says how to record a field of a record that is nil",
    { "-e", "for s in file:samples() do print(s.cpu + 1) end", DEMO }, 1,
    "(command line):1: attempt to perform arithmetic on a nil value (field 'cpu'); this record "
      .. "has no cpu; perf record --sample-cpu records it\n" },
  { "says how to record the arguments of a handler's record that are nil",
    { "-e", "file:run { sample = function(s) print(s.args.x) end }", DEMO }, 1,
    "(command line):1: attempt to index a nil value (field 'args'); this record has no args; "
      .. "perf record -e SYSTEM:EVENT records it\n" },
  { "says why the recording is nil of which a method is called at once",
    { "-e", "perflua.open('no.data'):samples()" }, 1,
    "(command line):1: attempt to index a nil value; perflua.open returned nil: no.data: "
      .. "cannot open: No such file or directory\n" },
  { "says how to record a field that is nil, of a record that is in no variable",
    { "-e", "file:samples():first().cpu.x", DEMO }, 1,
    "(command line):1: attempt to index a nil value (field 'cpu'); a record has no cpu unless "
      .. "perf record --sample-cpu records it\n" },
  { "suggests a function of perflua", { "-e", "perflua.opne 'x'" }, 1,
    "(command line):1: attempt to call a nil value (field 'opne'); the closest function of "
      .. "perflua is 'open'\n" },
  { "suggests nothing for a function of another table",
    { "-e", "local t = {} t.summarize()" }, 1,
    "(command line):1: attempt to call a nil value (field 'summarize')\n" },
  { "suggests a field of files", { "-e", "file.evnts", DEMO }, 1,
    "(command line):1: a file has no field 'evnts'; did you mean 'events'?\n" },
  { "suggests a method of files that begins so", { "-e", "file:samp()", DEMO }, 1,
    "(command line):1: a file has no field 'samp'; did you mean 'samples'?\n" },
  { "says that there is no such recording", { "-e", "file:samples()", "nope" }, 2,
    "'nope' is neither a recording, a tool nor a script file; perflua help lists the tools\n" },
  { "says nothing of records where a field of another table is nil",
    { "-e", "local s, t = file:samples():first(), {} print(t.cpux + 1)", DEMO }, 1,
    "(command line):1: attempt to perform arithmetic on a nil value (field 'cpux')\n" },
  { "says nothing of a failed open after one that opened",
    { "-e", "perflua.open 'no' perflua.open(arg[1]) print(f.x)", DEMO }, 1,
    "(command line):1: attempt to index a nil value (global 'f')\n" },
  { "shows no traceback of one expression", { "-e", "file:samples():count('comm')", DEMO }, 1,
    "count takes no argument, got 1; group_by(\"field\"):count() counts by field, "
      .. "distinct(\"field\") counts its values\n" },
  { "shows no traceback of one line", { "-e", "error 'no'" }, 1, "(command line):1: no\n" },
  { "shows the traceback of several lines", { "-e", "local x\nprint(x.y)" }, 1,
    "(command line):2: attempt to index a nil value (local 'x')\nstack traceback:\n" },
  { "expects names where it gets functions", { "-e", COUNTS:format "select(print)", DEMO }, 1,
    "… a field's name expected, got a function" },
  { "says that a record does not outlive its file",
    { "-e", "local s = file:samples():first() file:close() print(s.pid)", DEMO }, 1,
    "(command line):1: record of a closed file (copy() what must outlive close())" },
  { "makes no far-fetched suggestion, and says what lists fields",
    { "report", "--where", "nope == 1", DEMO }, 2,
    "filter \"nope == 1\", column 1: unknown field 'nope'; perflua fields FILE lists them\n" },
  { "says what lists keys", { "report", "--sort", "comm,nonsense", DEMO }, 2,
    "unknown field 'nonsense'; perflua fields FILE lists them\n" },
  { "says what lists fields of lines", { "script", "-F", "comm,bogus", DEMO }, 2,
    "script: unknown field 'bogus'; perflua help script lists them\n" },
  { "says which fields of lines show call chains", { "script", "-F", "comm,stack", DEMO }, 2,
    "script: unknown field 'stack'; ip, sym show call chains\n" },
  { "names the field with a call chain as text",
    { "export", "--to", "csv", "--fields", "comm,callchain", DEMO }, 2,
    "export: callchain is a view; a column takes one of its fields; stack is the whole "
      .. "chain as text\n" },
  { "says that the name of a function needs quotes",
    { "report", "--where", "under(mein)", DEMO }, 2,
    "filter \"under(mein)\", column 7: unknown field 'mein'; a text needs quotes: 'mein'\n" },
  { "says that a text in a function needs quotes",
    { "report", "--where", "starts(comm, wrk)", DEMO }, 2,
    "… column 14: unknown field 'wrk'; a text needs quotes: 'wrk'\n" },
  { "says which options exclude each other", { "report", "--children", "--no-children",
    DEMO }, 2, "report: --children and --no-children exclude each other\n" },
  { "spells lengths of time", { "report", "--where", "(elapsed > 1.5 ms)", DEMO }, 2,
    "… column 16: 'ms' is not expected here; write 1.5ms\n" },
  { "lists the types of options",
    { run.script "return print, { options = { { 'n', 'bool' } } }", DEMO }, 1,
    "option 'n': unknown type 'bool'; there are choice, event, flag, integer, number, string, "
      .. "time\n" },
  { "names the file that cannot be written", { "flame", "-o", "/dev/full", DEMO }, 1,
    "…\nperflua: /dev/full: No space left on device\n" },
  { "escapes names", { "stat", "a\27[31mb" }, 1, "a\\x1b[31mb: cannot open" },
}

describe("the interpreter", function()
  for _, row in ipairs(rows) do
    it(row[1], function()
      local got = run.perflua(row[2])
      assert.are.same({ row[3], "" }, { got.status, got.out })
      local anywhere = row[4]:match "^… ?(.*)$"
      local at = got.err:find(anywhere or "perflua: " .. row[4], 1, true)
      assert.is_truthy(at, got.err)
      assert.is_true(anywhere ~= nil or at == 1, got.err)
    end)
  end

  it("says how much it found of a recording that was cut", function()
    local got = run.perflua { "stat", made(".cut", "head -c 40000") }
    assert.are.equal(0, got.status)
    assert.matches("found the end of the file at 40000, expected 76520 bytes from 584 on",
      got.err, 1, true)
    assert.matches("it was cut off", got.err, 1, true)
  end)

  it("says that output cannot be written", function()
    local got = run.shell_with('"$perflua" stat "$1" >/dev/full', DEMO)
    assert.are.equal(1, got.status)
    assert.are.equal("perflua: cannot write to standard output: No space left on device\n",
      got.err)
  end)
end)
