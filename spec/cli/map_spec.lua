local binaries = require "spec.support.binaries"
local core = require "perflua.core"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local map_run = require "perflua.map.run"
local many = require "spec.cli.many"
local needs = require "spec.support.needs"
local patience = require "spec.support.patience"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- Messages come as processes end. The script has another name in each run.
local function lines_in_order(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do list[#list + 1] = line:gsub("/[^ ]+:%d: ", "") end
  table.sort(list)
  return list
end

describe("a script that returns a table", function()
  local path, expected

  setup(function()
    path = many.recording(3)
    local file <close> = assert(perflua.open(path))
    expected = tostring(file:samples():group_by("comm"):sum("period"):sort()) .. "\n"
  end)

  local function printed(script, ...) return run.perflua { files.temporary(script), ... } end

  it("has it printed, be it a table, a query with groups, or a function of the file", function()
    for _, script in ipairs {
      "return perflua.open(arg[1]):samples():group_by('comm'):sum('period'):sort()",
      "return perflua.open(...):samples():group_by('comm'):sum('period')",
      "return function(file) return file:samples():group_by('comm'):sum('period') end",
    } do
      local got = printed(script, path)
      assert.are.same({ 0, expected, "" }, { got.status, got.out, got.err })
    end
  end)

  it("has its function called with all recordings as one", function()
    local got =
      printed("return function(file) return file:samples():group_by('comm'):count() end", path,
        path)
    assert.are.equal("comm  count\nc8       10\nc7        8\n", got.out)
  end)

  it("is told what it returned instead", function()
    for script, message in pairs {
      ["return perflua.open(arg[1]):samples()"] = "the script returned a query without groups",
      ["return function(file) return 5 end"] = "the script's function returned the number 5",
      ["return function(file) return function() end end"] = "returned a function",
    } do
      local got = printed(script, path)
      assert.are.same({ 1, "" }, { got.status, got.out })
      assert.matches(message, got.err, 1, true)
    end
    assert.are.same({ 1, "perflua: /none: cannot open: No such file or directory\n" },
      { printed(many.FUNCTION, "/none").status, printed(many.FUNCTION, "/none").err })
  end)
end)

describe("perflua map", function()
  it("says of many recordings what one query over all of them says", function()
    local paths = many.recordings(7)
    local whole = many.run(files.temporary(many.FUNCTION), {}, nil, paths)
    assert.matches("^comm  period  count", whole.out)
    for _, options in ipairs { {}, { "-j", "1" }, { "-j3" }, { "-j", "20" } } do
      local got = many.map(many.FUNCTION, options, paths)
      assert.are.same({ 0, whole.out, "" }, { got.status, got.out, got.err })
    end
  end)

  it("applies what a script says of its rows to those of all recordings", function()
    local paths = many.recordings(5)
    for _, steps in ipairs {
      ":having('period > 200'):column('mean', 'period / count'):unit('si', 'mean')",
      ":pivot('pid')", ":running('period'):top(1, 'period', { per = 'pid' })",
      ":quantile('period', { .5, .9 })",
    } do
      local script = [[return function(file)
        return file:samples():group_by("comm", "pid"):count():sum("period")]] .. steps .. " end"
      local whole = many.run(files.temporary(script), {}, nil, paths)
      assert.are.equal("", whole.err)
      local got = many.map(script, {}, paths)
      assert.are.same({ 0, whole.out, "" }, { got.status, got.out, got.err })
      got = many.run("reduce", {}, nil, many.partials(script, paths))
      assert.are.same({ 0, whole.out, "" }, { got.status, got.out, got.err })
    end
  end)

  it("says of one recording what the script says of it", function()
    local path = many.recording(5)
    for _, script in ipairs { many.QUERY, many.FUNCTION } do
      local expected = run.perflua { files.temporary(script), path }
      local got = many.map(script, {}, { path })
      assert.are.same({ 0, expected.out, "" }, { got.status, got.out, got.err })
    end
  end)

  it("has first and last values in the order of the recordings, whichever ends "
    .. "first", function()
    local script = [[
      local file = assert(perflua.open(arg[1]))
      local slow = io.open(arg[1] .. ".slow")
      if slow then os.execute "sleep 0.3" end
      return file:samples():group_by("comm"):first("period"):last("period"):sort("comm", "asc")]]
    local paths = many.recordings(4)
    files.write(paths[1] .. ".slow", "")
    files.write(paths[3] .. ".slow", "")
    local got = many.map(script, { "-j", "4" }, paths)
    os.remove(paths[1] .. ".slow")
    os.remove(paths[3] .. ".slow")
    assert.are.equal("comm  first_period  last_period\n"
      .. "c7               2           32\nc8               1           36\n", got.out)
  end)

  it("tells which recordings failed and why, and merges the rest", function()
    local good = many.recordings(3)
    local no_such_event, empty = many.recording(1, 9, "faults"), many.recording(1, 0)
    local script =
      [[return function(file) return file:samples("cycles"):group_by("comm"):count() end]]
    local paths = { "/none", good[1], run.script "no recording", good[2], no_such_event, empty,
      good[3] }
    local got = many.map(script, {}, paths)
    assert.are.equal(1, got.status)
    assert.are.equal(many.map(script, {}, good).out, got.out)
    assert.matches("perflua: map: /none: cannot open: No such file or directory\n", got.err, 1,
      true)
    assert.matches("perflua: map: " .. paths[3] .. ": offset 0: found text", got.err, 1, true)
    assert.matches("perflua: map: " .. no_such_event
      .. ": [^\n]*this recording has no event 'cycles'", got.err)
    assert.matches("perflua: map: 3 of 7 recordings are not in the result\n$", got.err)
    local none = many.map(script, {}, { "/none", "/nothing" })
    assert.are.same({ 1, "" }, { none.status, none.out })
    assert.are.same({ 0, "comm  count\n" }, { many.map(script, {}, { empty, empty }).status,
      many.map(script, {}, { empty, empty }).out })
  end)

  describe("whose script has a handler", function()
    local FAULTS = [[
      local file = assert(perflua.open(arg[1]))
      file:run { ["fault:s"] = print, ["nothing:like_it"] = print, sample = function() end }
    ]]

    it("says once how many recordings do not have its event", function()
      local paths = many.recordings(2)
      paths[3], paths[4] = many.recording(3, 9, "faults"), many.recording(4, 9, "a:b")
      local got = many.map(FAULTS .. many.QUERY, {}, paths)
      assert.are.equal(0, got.status)
      assert.are.equal([[
perflua: map: 4 of 4 recordings have no event for handler 'fault:s'; the closest is 'faults'
perflua: map: 4 of 4 recordings have no event for handler 'nothing:like_it'
]], got.err)
      got = many.map(FAULTS:gsub("fault:s", "a:b") .. many.QUERY, {}, paths)
      assert.matches("map: 3 of 4 recordings have no event for handler 'a:b'\n", got.err, 1,
        true)
    end)

    it("says so of a recording that fails", function()
      local got = many.map(FAULTS .. " error 'later'", {}, { many.recording(1), "/none" })
      assert.matches(
        "perflua: handler 'fault:s': this recording has no event 'fault:s'; it has cycles\n",
        got.err,
        1, true)
      assert.are.equal(1, select(2, got.err:gsub("'fault:s':", "")))
    end)

    it("says nothing if the script turns warnings off", function()
      local got = many.map("warn '@off'\n" .. FAULTS .. many.QUERY, {},
        { many.recording(1), many.recording(2) })
      assert.are.same({ 0, "" }, { got.status, got.err })
    end)
  end)

  it("tells of a process that did not end by itself", function()
    local paths = many.recordings(3)
    local script = ([[if arg[1] == %q then os.execute "kill -9 $PPID" end
      ]]):format(paths[2]) .. many.QUERY
    local got = many.map(script, {}, paths)
    assert.are.equal(1, got.status)
    assert.are.equal(many.map(many.QUERY, {}, { paths[1], paths[3] }).out, got.out)
    assert.matches(paths[2] .. ": its process was killed by signal 9\n", got.err, 1, true)
  end)

  it("starts no others when it is interrupted, and gives the result of those that are "
    .. "whole", function()
    patience(function(slower)
      local script = files.temporary(('os.execute "sleep %g"\n'):format(0.4 * slower)
        .. many.FUNCTION)
      local got = run.shell_with(
        ([["$perflua" map -j 1 "$@" & pid=$!; sleep %g; kill -INT $pid; wait $pid]])
          :format(0.6 * slower), script, table.unpack(many.recordings(9)))
      assert.are.equal(130, got.status)
      assert.matches("^comm  period  count[^\n]*\nc8", got.out)
      assert.matches("^perflua: map: %d of 9 recordings are not in the result\n$", got.err)
    end)
  end)

  describe("over many small recordings", function()
    local function lengths(script, paths, are_apart)
      local list = {}
      for i, job in ipairs(map_run.jobs(files.temporary(script), paths, are_apart)) do
        list[i] = #job
      end
      return list
    end

    it("reads several in a process, unless the script could notice, or -j is given", function()
      local n = 8 * core.processors()
      local paths = many.recordings(3 * n)
      local by_threes, by_ones = {}, {}
      for i = 1, n do by_threes[i] = 3 end
      for i = 1, 3 * n do by_ones[i] = 1 end
      assert.are.same(by_threes, lengths(many.QUERY, paths, false))
      assert.are.same(by_ones, lengths(many.QUERY, paths, true))
      assert.are.same(by_ones, lengths("print 'x'\n" .. many.QUERY, paths, false))
      paths[2] = files.temporary(("x"):rep((1 << 20) + 1))
      by_threes[1] = 1
      table.insert(by_threes, 2, 1)
      by_threes[n + 2] = 1
      assert.are.same(by_threes, lengths(many.QUERY, paths, false))
    end)

    it("says what a process for each says", function()
      local paths = many.recordings(24 * core.processors())
      paths[7], paths[8], paths[9] = "/none", run.script "no recording", many.recording(1, 0)
      for _, script in ipairs { many.QUERY, many.FUNCTION,
        "n = (n or 0) + 1; perflua.n = (perflua.n or 0) + 1\n"
          .. many.FUNCTION:gsub("top%(1%)", "top(n):top(perflua.n)"),
        "if arg[1]:find 'none' then error 'x' end\n" .. many.QUERY,
      } do
        local alone = many.map(script, { "-j", "2" }, paths)
        local got = many.map(script, {}, paths)
        assert.are.same({ alone.status, alone.out }, { got.status, got.out })
        assert.are.same(lines_in_order(alone.err), lines_in_order(got.err))
      end
    end)
  end)

  it("refuses results of different queries", function()
    local script = [[return function(file)
      return file:samples():where(("time > %d"):format(#file.path)):group_by("comm"):count()
    end]]
    local directory = files.directory { a = files.read(many.recording(1)),
      bb = files.read(many.recording(2)) }
    local got = many.map(script, {}, { directory .. "/a", directory .. "/bb" })
    assert.are.same({ 1, "" }, { got.status, got.out })
    assert.matches(
      'these results cannot be merged: [^\n]*where: "time > %d+" here, "time > %d+" there',
      got.err)
  end)

  it("raises a sum that grows too large", function()
    local paths = { many.recording(math.maxinteger, 1), many.recording(math.maxinteger, 1) }
    local script =
      [[return function(file) return file:samples():group_by("comm"):sum("period") end]]
    assert.are.equal(0, many.map(script, {}, { paths[1] }).status)
    local got = many.map(script, {}, paths)
    assert.are.same({ 1, "" }, { got.status, got.out })
    assert.matches(
      "^perflua: map: these results cannot be merged: [^\n]*a sum exceeds 2^63%-1[^\n]*\n$",
      got.err)
  end)

  it("keeps what the script prints out of the result", function()
    local path = many.recording(1)
    local script = 'print("a", 1) io.write("b\\n") io.stdout:write("c\\n")\n' .. many.QUERY
    local got = many.map(script, { "--partial" }, { path })
    assert.are.same({ 0, "a\t1\nb\nc\n" }, { got.status, got.err })
    assert.matches("^perflua table %d\t[^\n]*\n$", got.out)
    assert.are.equal("a\t1\nb\nc\n", many.map(script, {}, { path }).err)
    assert.are.equal(2, select(2, many.map(script, {}, { path, path }).err:gsub("a\t1\n", "")))
  end)

  it("passes on the interpreter's options, and any names of files", function()
    local directory = files.directory {
      ["-j it's\n$HOME;.data"] = files.read(many.recording(2)) }
    local path = directory .. "/-j it's\n$HOME;.data"
    local script =
      files.temporary "return function(f) return f:samples():group_by('pid'):count():top(N) end"
    local got = run.perflua { "-e", "N = 1", "map", script, path, path }
    assert.are.same({ 0, "pid  count\n  8     10\n", "" }, { got.status, got.out, got.err })
  end)

  it("has a worker for each recording with -j, else its processes share the processors; -j "
    .. "before map wins", function()
    local paths = many.recordings(3)
    local script = files.temporary([[
      local n = ("%d"):format(debug.getregistry()["perflua.threads"])
      return function(file) return file:samples():group_by(n):count():top(1) end]])
    local function workers_of(...)
      local words = { ... }
      local got = run.perflua(table.move({ script, table.unpack(paths) }, 1, 4, #words + 1,
        words))
      assert.are.same({ 0, "" }, { got.status, got.err })
      return math.tointeger(tonumber(got.out:match "^%s*(%d+)"))
    end
    local n = core.processors()
    assert.are.equal(1, workers_of("map", "-j", "1"))
    assert.are.equal(1, workers_of("--", "map", "-j", "2"))
    assert.are.equal(math.min(16, n // math.min(n, 3)), workers_of("map"))
    assert.are.equal(9, workers_of("-j", "9", "map", "-j", "2"))
    assert.are.equal(9, workers_of("-j9", "map"))
  end)

  it("writes text, CSV, JSON or a partial result, to a file with -o", function()
    local paths, out = many.recordings(2), files.temporary()
    local script = [[return function(file) return file:samples():group_by("comm"):count() end]]
    for option, text in pairs {
      ["--csv"] = "comm,count\nc8,10\nc7,8\n",
      ["--json"] = '[\n{"comm":"c8","count":10},\n{"comm":"c7","count":8}\n]\n',
    } do
      assert.are.equal(text, many.map(script, { option }, paths).out)
      assert.are.same({ 0, "" }, { many.map(script, { option, "-o", out }, paths).status, "" })
      assert.are.equal(text, files.read(out))
    end
    assert.are.equal("", many.map(script, { "--partial", "-o", out }, paths).out)
    assert.are.equal(10, assert(perflua.load(out))[1].count)
    local full = many.map(script, { "-o", "/no/such/place" }, paths)
    assert.are.equal(1, full.status)
    assert.matches("/no/such/place", full.err, 1, true)
  end)

  it("refuses wrong words, and scripts that are none, before anything is read", function()
    local path = many.recording(1)
    local wrong = {
      { 2, "an argument is missing", {}, {} },
      { 2, "-j: a number of processes, not '0'", { "-j", "0" }, { path } },
      { 2, "-j: a number of processes, not 'x'", { "-jx" }, { path } },
      { 2, "--partial, --csv and --json exclude each other", { "--csv", "--json" }, { path } },
      { 2, "standard input is one recording", {}, { path, "-" } },
    }
    for _, case in ipairs(wrong) do
      local got = many.map(many.QUERY, case[3], case[4])
      assert.are.same({ case[1], "" }, { got.status, got.out })
      assert.matches(case[2], got.err, 1, true)
    end
    local got = many.map("return return", {}, { path, path, path })
    assert.are.equal(1, got.status)
    assert.are.equal(1, select(2, got.err:gsub("\n", "")))
    got = many.map("print 'x'", {}, { path })
    assert.matches(path .. ": the script returned no table: end it with return", got.err, 1,
      true)
    got = many.map("return function(f) return f:samples():group_by({ x = print }):count() end",
      {}, { path, path })
    assert.matches("column 'x' is made by a Lua function", got.err, 1, true)
  end)

  it("reads one recording from standard input", function()
    local path = many.recording(4)
    local got = run.shell_with([["$perflua" map --partial "$1" - <"$2" | "$perflua" reduce]],
      files.temporary "return function(f) return f:samples():group_by('comm'):count() end",
        path)
    assert.are.same({ 0, "comm  count\nc8        5\nc7        4\n" }, { got.status, got.out })
  end)

  it("adds up the same binary of different machines by its build-id, whatever its "
    .. "path", function()
    local one, two = binaries.tree(), binaries.tree()
    one:sh "mkdir -p usr/bin"
    local app = one:program "usr/bin/app"
    two:sh(("mkdir -p opt usr/bin && cp %s/usr/bin/app opt/app"):format(files.quote(one.path)))
    local other = two:program("usr/bin/app", "-DOTHER", "int other;\n")
    assert.are_not.equal(app.build_id, other.build_id)
    local function map(filename, of, addr)
      return { filename = filename, build_id = of.build_id, addr = addr }
    end
    local paths = {
      binaries.recorded({ map("/usr/bin/app", app) },
        { 0x400000 + app.first, 0x400000 + app.second }),
      binaries.recorded({ map("/opt/app", app), map("/usr/bin/app", other, 0x800000) },
        { 0x400000 + app.first, 0x800000 + other.first, 0x800000 + other.first }),
    }
    local script = ([==[
      local symfs = { [%q] = %q, [%q] = %q }
      local file = assert(perflua.open(arg[1], { symfs = symfs[arg[1]] }))
      return file:samples():group_by("map.build_id", "symbol"):count():min("dso"):as("dso"):top(9)]==])
      :format(paths[1], one.path, paths[2], two.path)
    for _, order in ipairs { paths, { paths[2], paths[1] } } do
      local rows = {}
      for line in many.map(script, {}, order).out:gmatch "[^\n]+" do
        rows[line:gsub(" +", " ")] = true
      end
      assert.are.same({
        ["map.build_id symbol count dso"] = true,
        [app.build_id .. " first 2 /opt/app"] = true,
        [app.build_id .. " second 1 /usr/bin/app"] = true,
        [other.build_id .. " first 2 /usr/bin/app"] = true,
      }, rows)
    end
  end)
end)

describe("map and reduce over real recordings", function()
  local SCRIPT = [[
    local file = assert(perflua.open(arg[1], { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
    return file:samples():group_by("comm", "dso"):count():sum("period"):avg("period"):share("period")
      :quantile("period", 0.5):hist("ip"):max("time"):distinct("tid"):top(7)]]

  needs.it("corpus", "say the same in any grouping of fifty", function()
    local paths = {}
    for _, recording in ipairs(corpus.recordings()) do
      local file <close> = perflua.open(recording.path)
      if file and #file.events > 0 and (file.size or 0) < 200000
        and pcall(function()
          return file:samples():group_by("comm"):distinct("tid"):sum("period"):max("time")
        end) then
        paths[#paths + 1] = recording.path
      end
      if #paths == 50 then break end
    end
    assert.are.equal(50, #paths)
    local whole = many.map(SCRIPT, {}, paths)
    assert.are.equal(0, whole.status, whole.err)
    local partials = many.partials(SCRIPT, paths)
    for _ = 1, 3 do
      local list = table.move(partials, 1, #partials, 1, {})
      while #list > 1 do -- some of them, anywhere, become one
        local some = {}
        for i = 1, math.random(2, 20) do
          some[i] = table.remove(list, math.random(math.max(1, #list)))
        end
        local got = many.run("reduce", { "--partial" }, nil, some)
        assert.are.same({ 0, "" }, { got.status, got.err })
        list[#list + 1] = files.temporary(got.out)
      end
      assert.are.equal(whole.out, run.perflua({ "reduce", list[1] }).out)
    end
  end)
end)
