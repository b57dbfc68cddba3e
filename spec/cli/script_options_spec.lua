-- Scripts with options: meta.options, and perflua.parse.
local run = require "spec.cli.run"

local DECLARED = [[{
  { "min", "number", default = 0, help = "least period" },
  { "rows", "integer", default = 10, help = "how many rows" },
  { "fast", "flag", help = "skip a lot" },
  { "kind", "choice", choices = { "long", "short" }, help = "which kind" },
  { "since", "time", default = 5, help = "how long ago" },
  { "only_event", "event", help = "samples of this one" },
  { "tag", "string", many = true, value = "T", help = "any number of them" },
  { "n", "integer" },
} ]]

-- Prints the values of these options, by their names, and the recordings that are open.
local PRINT = [[
local function show(o, path)
  local names = {}
  for name in pairs(o) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local value = type(o[name]) == "table" and table.concat(o[name], "+") or tostring(o[name])
    names[i] = name .. "=" .. value
  end
  print(table.concat(names, " "), type(path) == "table" and #path or path)
end
]]

local as_function = run.script(PRINT .. "return function(f, o) show(o, f.path) "
  .. "assert(o == perflua.options) end, { description = 'what it does', needs = 'cpu-clock', "
  .. "options = " .. DECLARED .. "}")

local DEFAULTS = "fast=false min=0 rows=10 since=5 tag="

local function succeeds(out, words, options)
  assert.are.same({ status = 0, out = out, err = "" }, run.perflua(words, options))
end

local function fails(message, words)
  local got = run.perflua(words)
  assert.are.same({ 2, "" }, { got.status, got.out })
  assert.are.equal(("perflua: %s: %s\nusage: perflua %s [options] [perf.data…]\n"):format(
    words[1], message, words[1]), got.err)
end

describe("the options of a script", function()
  it("are the second argument of its function, with defaults", function()
    succeeds(DEFAULTS .. "\t" .. run.demo .. "\n", { as_function, run.demo })
    succeeds("fast=true kind=short min=1.5 n=-3 only_event=page-* rows=16 since=1500000 "
      .. "tag=a+b\t" .. run.demo .. "\n", { as_function, "--min=1.5", "--fast", "--kind",
      "short", run.demo, "--since", "1.5ms", "--only-event", "page-*", "--tag", "a", "--tag=b",
      "--rows", "0x10", "-n-3" })
  end)

  it("may be cut short, and end at --", function()
    succeeds(DEFAULTS:gsub("rows=10", "rows=3") .. "\t" .. run.demo .. "\n",
      { as_function, "--ro", "3", "--", run.demo })
    local got = run.perflua { as_function, "--", "--min" }
    assert.are.equal("perflua: --min: cannot open: No such file or directory\n", got.err)
  end)

  it("are perflua.options, for handlers", function()
    local script = run.script("local n = 0 return { meta = { options = { { 'limit', 'integer', "
      .. "default = 3 } } }, sample = function() n = n + 1 if n == perflua.options.limit then "
      .. "return perflua.stop end end, finish = function() print(n) end }")
    succeeds("3\n", { script, run.demo })
    succeeds("7\n", { script, run.demo, "--limit", "7" })
  end)

  it("leave several recordings, and perf.data where none is named", function()
    succeeds(DEFAULTS:gsub("rows=10", "rows=1") .. "\t2\n",
      { as_function, run.demo, "--rows", "1", run.demo })
    local got = run.perflua { as_function, "--fast" }
    assert.are.equal("perflua: perf.data: cannot open: No such file or directory\n", got.err)
  end)

  it("may be arguments before the recordings", function()
    local script = run.script(PRINT .. "return function(f, o) show(o, f.path) end, { options = "
      .. "{ { 'tid', 'integer', positional = true, help = 'a thread' }, { 'name', 'string', "
      .. "positional = true } } }")
    succeeds("name=sh tid=5\t" .. run.demo .. "\n", { script, "5", "sh", run.demo })
    local usage = ("usage: perflua %s TID NAME [perf.data…]\n"):format(script)
    for message, words in pairs { ["the argument NAME is missing"] = { script, "5" },
        ["tid: 'x' is not an integer"] = { script, "x", "y" } } do
      assert.are.same({ status = 2, out = "", err = ("perflua: %s: %s\n%s"):format(script,
        message, usage) }, run.perflua(words))
    end
    succeeds(usage .. "\n  TID         a thread\n  NAME        \n", { script, "--help" })
  end)

  it("are shown by --help, -h and perflua help", function()
    local help = ("%s: what it does\nusage: perflua %s [options] [perf.data…]\n"
      .. "needs: event cpu-clock\nrecord: perf record -e cpu-clock -- COMMAND\n\n"
      .. "  --min NUMBER        least period; default: 0\n"
      .. "  --rows N            how many rows; default: 10\n"
      .. "  --fast              skip a lot\n"
      .. "  --kind long|short   which kind\n"
      .. "  --since TIME        how long ago; default: 5\n"
      .. "  --only_event EVENT  samples of this one\n"
      .. "  --tag T             any number of them\n"
      .. "  -n N                \n"):format(as_function, as_function)
    succeeds(help, { as_function, "--help" })
    succeeds(help, { as_function, "-h", "missing.data" })
    succeeds(help, { "help", as_function })
  end)

  it("are named by errors, and a wrong command line is status 2", function()
    fails("--min: 'x' is not a number", { as_function, "--min", "x", run.demo })
    fails("--rows: '1.5' is not an integer", { as_function, "--rows=1.5" })
    fails("--since: '5 apples' is not a duration such as 1.5s, 20ms, 3us or 4ns",
      { as_function, "--since", "5 apples" })
    fails("--kind: 'tall' is none of long, short", { as_function, "--kind", "tall" })
    fails("option '--kind' needs long|short", { as_function, "--kind" })
    fails("unrecognized option '--fast=1'; the closest is '--fast'",
      { as_function, "--fast=1" })
    fails("unrecognized option '--mni'; the closest is '--min'", { as_function, "--mni" })
    fails("unrecognized option '-x'", { as_function, "-x" })
    local got = run.perflua { as_function, "--only_event", "page-fault", run.demo }
    assert.are.same({ status = 2, out = "", err = ("perflua: %s: --only_event: this recording "
      .. "has no event 'page-fault'; the closest is 'page-faults'\n"):format(as_function) },
      got)
  end)

  it("are none where a script declares none", function()
    local script = run.script "return function(f) print(f.path) end"
    local got = run.perflua { script, "--min", "5", run.demo }
    assert.are.same({ status = 2, out = "", err = ("perflua: %s: unrecognized option '--min'\n"
      .. "usage: perflua %s [perf.data…]\n"):format(script, script) }, got)
  end)

  it("have their defaults where perflua map runs the script", function()
    local script = run.script("return function(f, o) return f:samples(o.event)"
      .. ":group_by('event'):count() end, { options = { { 'event', 'event', default = "
      .. "'page-faults' } } }")
    local table_of_both = "event        count\npage-faults     78\n"
    succeeds(table_of_both, { "map", script, run.demo, run.demo })
    succeeds("event        count\npage-faults     39\n", { "map", script, run.demo })
  end)

  for declared, message in pairs {
    ["'x'"] = "options: a list of options expected, got a string",
    ["{ x = 1 }"] = "options: a list of options expected, found the key 'x'",
    ["{ 1 }"] = "options[1]: a table expected, got a number",
    ["{ { '-x', 'flag' } }"] =
      "options[1]: a name of letters, digits and dashes expected, got '-x'",
    ["{ { 'help', 'flag' } }"] =
      "options[1]: a name of letters, digits and dashes expected, got 'help'",
    ["{ { 'x', 'numbr' } }"] = "option 'x': unknown type 'numbr'; the closest is 'number'",
    ["{ { 'x', 'flag', defult = 1 } }"] =
      "option 'x': unknown key 'defult'; the closest is 'default'",
    ["{ { 'x', 'number', default = 'y' } }"] =
      "option 'x': the default is a string, the type is number",
    ["{ { 'x', 'choice' } }"] = "option 'x': a choice needs choices = { … }",
    ["{ { 'x', 'flag', positional = true } }"] = "option 'x': a flag cannot be positional",
    ["{ { 'x', 'string', many = true, default = 'y' } }"] =
      "option 'x': an option that is many has no default",
    ["{ { 'x_y', 'flag' }, { 'x-y', 'flag' } }"] = "option 'x-y' is declared twice",
  } do
    it("are refused when declared as " .. declared, function()
      local script = run.script("return function() end, { options = " .. declared .. " }")
      local got = run.perflua { script, run.demo }
      assert.are.same({ 1, "" }, { got.status, got.out })
      assert.are.equal("perflua: " .. message, got.err:match "[^\n]*")
    end)
  end
end)

describe("perflua.parse", function()
  local script = run.script(PRINT .. "local o, rest = perflua.parse({ { 'min', 'integer', "
    .. "help = 'least period' } }, arg) show(o, table.concat(rest, ' ')) print(#arg, arg[1])")

  it("returns values and the other words, and leaves arg as it is", function()
    succeeds("min=5\ta b\n4\t--min\n", { script, "--min", "5", "a", "b" })
  end)

  it("ends the script for --help and for mistakes", function()
    local usage = ("usage: perflua %s [options] [perf.data…]\n"):format(script)
    succeeds(usage .. "\n  --min N     least period\n", { script, "--help" })
    assert.are.same({ status = 2, out = "", err = ("perflua: %s: --min: 'x' is not an integer\n"
      .. "%s"):format(script, usage) }, run.perflua { script, "--min", "x" })
  end)

  it("raises in other hosts, what can be caught and printed", function()
    local perflua = require "perflua"
    local ok, raised = pcall(perflua.parse, { { "min", "integer" } }, { "--min", "x" })
    assert.is_false(ok)
    assert.matches("^script.lua: %-%-min: 'x' is not an integer\nusage: ", tostring(raised))
    assert.error_matches(function() perflua.parse({}) end,
      "parse: the table `arg` expected, got nil: a misspelt global?")
    assert.error_matches(function() perflua.parse({ { "x", "y" } }, {}) end,
      "option 'x': unknown type 'y'")
  end)
end)
