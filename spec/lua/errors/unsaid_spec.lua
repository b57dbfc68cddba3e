-- Calls that are almost right are told what is wrong with them.
local assert = require "luassert"
local perflua = require "perflua"
local run = require "spec.cli.run"
local two_events = require "spec.support.two_events"

local path = two_events.write()

local function raises(message, fn)
  local ok, raised = pcall(fn)
  assert.is_false(ok)
  assert.are.equal(message, (tostring(raised):gsub("^[^:]+:%d+: ", "")))
end

-- Returns the warnings of fn.
local function warned(fn)
  local said = {}
  local got = run.perflua { run.script(('local path = ...\n%s'):format(fn)), path }
  for line in got.err:gmatch "[^\n]+" do said[#said + 1] = line end
  return said, got
end

describe("arguments", function()
  local file
  setup(function() file = assert(perflua.open(path)) end)

  it("are not left out if they are nil", function()
    raises("group_by: a field's name or { name = function } expected, got nil: a misspelt "
      .. "global?",
      function() file:samples():group_by("comm", nil) end)
    local message = "a field's name expected, got nil: a misspelt global?"
    raises(message, function() file:samples():select("pid", nil, "tid") end)
    raises(message, function() file:samples():select(nil) end)
  end)

  it("are refused if a method does not take them", function()
    local grouped = file:samples():group_by("pid"):sum("period")
    raises("top: a table { per = key } expected, got a string", function()
      grouped:top(3, "period", "asc")
    end)
    raises("top: a table { per = key } expected, got a string", function()
      grouped:sort():top(3, "period", "asc")
    end)
    raises('count takes no argument, got 1; group_by("field"):count() counts by field, '
      .. 'distinct("field") counts its '
      .. "values", function() file:samples():count("comm") end)
    raises("quantile takes at most 2 arguments, got 3; several are a list: { 0.5, 0.9 }",
      function() return file:samples():quantile("period", .5, .9) end)
    raises("samples takes one argument, got 2", function() file:samples("faults", "cycles") end)
    assert.has_no.errors(function() grouped:top(3, nil, nil) end)
  end)
end)

describe("a Query", function()
  local NO_ARRAY =
    "a Query is not an array: loop with `for record in query do`, or make an array with "
      .. "collect()"

  it("is not an array", function()
    local file <close> = assert(perflua.open(path))
    local query = file:samples()
    raises(NO_ARRAY .. "; count() counts its records", function() return #query end)
    raises(NO_ARRAY, function() for _ in ipairs(query) do error "never" end end)
    raises(NO_ARRAY, function() for _ in pairs(query) do error "never" end end)
    local loop <const> = query
    assert.is_truthy(loop(nil, nil))
    raises(NO_ARRAY, function() for _ in ipairs(query) do error "never" end end)
  end)

  it("names the closest method, as a Table does, if one is close", function()
    local file <close> = assert(perflua.open(path))
    raises("a Query has no method 'groupby'; the closest is 'group_by'", function()
      file:samples():groupby("comm")
    end)
    raises("a Query has no method 'p1x'", function() file:samples():p1x("period") end)
    raises("a Query has no method 'p99'; 'quantile' does that",
      function() file:samples():p99("period") end)
    raises("a Table has no method 'row'; the closest is 'rows'",
      function() file:samples():group_by("comm"):count():sort():row() end)
  end)
end)

describe("a handler", function()
  it("warns once in a run if the recording does not have its event", function()
    local said = warned [[perflua.open(path):run {
      ["faults:x"] = print, ["nothing:like_it"] = print, comm = function() end, ["fau*"] = function() end }]]
    assert.are.same({
      "perflua: handler 'faults:x': this recording has no event 'faults:x'; the closest is "
        .. "'faults'",
      "perflua: handler 'nothing:like_it': this recording has no event 'nothing:like_it'; it "
        .. "has cycles:P, "
        .. "faults",
    }, said)
  end)

  it("is not, if it is one of several that are enough, or one of a system of which another "
    .. "is there", function()
    assert.are.same({}, (warned [[perflua.open(path):run {
      meta = { needs = { { any = { "other:*", "faults" } } } }, ["other:*"] = print, ["cycles:P"] = function() end,
      ["cycles:Q"] = function() end }]]))
  end)
end)

describe("times", function()
  local timed = two_events.write(function(b)
    b:feature("sample_time", { first = 1000000000, last = 2000000000 })
  end)

  local function said(text)
    local got = run.perflua { run.script("local file = assert(perflua.open(...)) " .. text),
      timed }
    return (got.err:gsub("^perflua: ", ""):gsub("\n$", ""))
  end

  it("warn if they exclude the whole recording", function()
    assert.are.equal(
      "between: from 3.000000 on is outside of the recording, which lasts from 1.000000 to "
        .. "2.000000",
      said [[file:samples():between(3000000000, nil):count()]])
    assert.are.equal(
      "between: 100 ns to 200 ns is outside of the recording, which lasts from 1.000000 to "
        .. "2.000000", said [[file:samples():between(100, 200):count()]])
    assert.are.equal(
      "between: from 2.000000 is not before to 1.500000: no record lies in between",
      said [[file:samples():between(2000000000, 1500000000):count()]])
    assert.are.equal("",
      said [[file:samples():between("@2", "@3"):count() file:samples():between(nil, "50%"):count()]])
  end)

  it("are not taken for nanoseconds if they are seconds", function()
    local hint = "; between(\"@SECONDS\", …) takes seconds as perf prints them"
    assert.are.equal(
      'filter "pid == 7 and time >= 1.5": time is in nanoseconds, and the recording begins at '
      .. "1000000000: the comparison with 1.5 is always true" .. hint,
      said [[file:samples():where "pid == 7 and time >= 1.5"]])
    assert.are.equal(
      'filter "not (2 > time)": time is in nanoseconds, and the recording begins at '
        .. '1000000000: '
      .. "the comparison with 2 is always false" .. hint,
      said [[file:samples():where "not (2 > time)"]])
    assert.are.equal("",
      said [[file:samples():where "time > 0 and time < 1500000000 and period > 1"]])
  end)
end)

describe("an unquoted word", function()
  it("needs quotes next to a text", function()
    local file <close> = assert(perflua.open(path))
    raises("filter \"comm == wrk\", column 9: unknown field 'wrk'; a text needs quotes: 'wrk'",
      function() file:samples():where "comm == wrk" end)
    raises("filter \"event == faults\", column 10: unknown field 'faults'; a text needs "
      .. "quotes: 'faults'",
      function() file:samples():where "event == faults" end)
  end)
end)

describe("numbers in a table", function()
  it("have two decimals, or three digits where those say more", function()
    local file <close> = assert(perflua.open(path))
    local t = file:samples("faults"):group_by("cpu"):avg("period / 300.0"):sort("cpu", "asc")
    assert.are.equal(
      "cpu  avg_period / 300.0\n  0             0.00333\n  1             0.00667\n"
      .. "  2              0.0233", tostring(t))
    assert.matches("0.0033333333333333335", (function()
      local out = os.tmpname()
      t:csv(out)
      local text = io.open(out):read "a"
      os.remove(out)
      return text
    end)(), 1, true)
    t = file:samples("cycles"):group_by("cpu"):avg("period / 8.0"):sort("cpu", "asc")
    assert.matches("12.50", tostring(t), 1, true)
  end)
end)

describe("sources of symbols", function()
  it("are an error if they are missing or something else", function()
    local function wrong(options)
      local file, message, code = perflua.open(path, options)
      assert.is_nil(file)
      return message, code
    end
    assert.are.same({ "symfs: /nonexistent: No such file or directory", "ENOENT" },
      { wrong { symfs = "/nonexistent" } })
    assert.are.same({ "symfs: /etc/passwd: not a directory", "ENOTDIR" },
      { wrong { symfs = "/etc/passwd" } })
    assert.are.same({ "buildid_dir: /etc/passwd: not a directory", "ENOTDIR" },
      { wrong { buildid_dir = "/etc/passwd" } })
    assert.are.same({ "vmlinux: /etc/passwd: not an ELF file", "FORMAT" },
      { wrong { vmlinux = "/etc/passwd" } })
    assert.are.same({ "vmlinux: /etc: Is a directory", "EISDIR" },
      { wrong { vmlinux = "/etc" } })
    assert.are.same({ "kallsyms: /etc/passwd: not a list of symbols like /proc/kallsyms",
      "FORMAT" },
      { wrong { kallsyms = "/etc/passwd" } })
    for _, tool in ipairs { "report", "script", "fold" } do
      local got = run.perflua { tool, "--symfs", "/nonexistent", path }
      assert.are.equal(1, got.status)
      assert.are.equal("perflua: symfs: /nonexistent: No such file or directory\n", got.err)
    end
  end)
end)

describe("the interpreter", function()
  it("names the closest tool, if one is close", function()
    local got = run.perflua { "repot", path }
    assert.are.equal(2, got.status)
    assert.are.equal(
      "perflua: 'repot' is neither a tool nor a script file; did you mean 'report'? "
      .. "perflua help lists the tools\n", got.err)
    assert.are.equal(
      "perflua: 'xyzzy' is neither a tool nor a script file; perflua help lists the tools\n",
      run.perflua({ "xyzzy" }).err)
  end)

  it("names the value that a script returned in vain", function()
    local useful =
      "; expected a table of handlers, a grouped query, a Table or a function of a File\n"
    local cases = {
      ["return 5"] = "the script returned the number 5" .. useful,
      ["return perflua.open(...):samples():count()"] = "the script returned the number 7"
        .. useful,
      ["return 'text'"] = "the script returned a string" .. useful,
      ["return perflua.open(...)"] = "the script returned a perflua.file" .. useful,
      ["return function() return 5 end"] =
        "the script's function returned the number 5; expected a grouped query or a Table\n",
    }
    for text, message in pairs(cases) do
      local got = run.perflua { run.script(text), path }
      assert.are.same({ 1, "perflua: " .. message }, { got.status, got.err })
    end
    local got = run.perflua { run.script "return function(file) print(file.path) end", path }
    assert.are.same({ 0, path .. "\n", "" }, { got.status, got.out, got.err })
  end)
end)
