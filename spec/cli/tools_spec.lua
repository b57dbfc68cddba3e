local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local bpf_info = require("spec.support.builder_features").bpf_info
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- perf's counts in the demo's recording, see spec/fixtures/README.md.
local records = {
  mmap = 1, mmap2 = 52, comm = 13, fork = 11, exit = 12, sample = 672, id_index = 1,
  thread_map = 1,
  cpu_map = 1, event_update = 2, finished_init = 1, finished_round = 1,
}
local samples = { ["cpu-clock"] = 457, ["page-faults"] = 39, ["context-switches"] = 176 }

describe("perflua help", function()
  it("lists the tools with one line each", function()
    local got = run.perflua { "help" }
    assert.are.equal(0, got.status)
    for _, tool in ipairs { "dump", "fields", "header", "help", "stat" } do
      assert.matches("\n  " .. tool .. " +%a[^\n]+\n", got.out)
    end
  end)

  it("explains a tool as the tool's --help does", function()
    for _, tool in ipairs { "dump", "fields", "header", "help", "stat" } do
      local got = run.perflua { "help", tool }
      assert.matches("^perflua " .. tool .. ": .-\nusage: perflua " .. tool .. " ", got.out)
      assert.are.same(got, run.perflua { tool, "--help" })
    end
  end)

  it("prints the comment at the top of a script, and does not run it", function()
    local path = files.temporary "-- Counts things.\n-- Usage: perflua counts\n\nprint 'ran'\n"
    assert.are.same({ status = 0, out = "Counts things.\nUsage: perflua counts\n", err = "" },
      run.perflua { "help", path })
  end)

  it("refuses what it does not know", function()
    local got = run.perflua { "help", "nosuch" }
    assert.are.equal(2, got.status)
    assert.matches("no tool, topic or method 'nosuch'", got.err, 1, true)
    assert.are.equal(1, run.perflua { "help", "./nosuch.lua" }.status)
  end)
end)

describe("every tool", function()
  for _, tool in ipairs { "stat", "dump", "fields", "header" } do
    it("refuses a wrong command line with its usage and status 2: " .. tool, function()
      for _, words in ipairs { { tool }, { tool, "--bogus", run.demo }, { tool, "-x" },
          { tool, "-i", "a", "b" } } do
        local got = run.perflua(words)
        assert.are.equal(2, got.status)
        assert.are.equal("", got.out)
        assert.matches("^perflua: " .. tool .. ": [^\n]*\nusage: perflua " .. tool, got.err)
      end
    end)

    it("says what is wrong with a file in one line, status 1: " .. tool, function()
      for _, path in ipairs { "/no/such.data", "/",
          files.temporary "not a recording at all" } do
        local got = run.perflua { tool, path }
        assert.are.equal(1, got.status)
        assert.matches("^perflua[^\n]*: [^\n]*" .. path .. "[^\n]*\n$", got.err)
      end
    end)
  end
end)

describe("a tool that raises an error", function()
  -- A tool of that name whose run is this.
  local function raising(body)
    return run.shell_with([[
      dir=$(mktemp -d) && cp "$1" $dir/raises.lua
      LUA_INIT="package.preload['perflua.tools.raises'] = loadfile '$dir/raises.lua'" "$perflua" raises x
      status=$?; rm -r $dir; exit $status]], files.temporary(
        "return { description = '', usage = 'raises', reads = 'nothing', operands = { 1, 1 }, "
          .. "run = function() " .. body
          .. " end }"))
  end

  it("says what is wrong in one line, without a traceback, status 1", function()
    assert.are.same({ status = 1, out = "", err = "perflua: raises: no such thing\n" },
      raising "error 'no such thing'")
    assert.are.same({ status = 1, out = "", err = "perflua: raises: a\\x1b[1m\n" },
      raising "error('a\\27[1m', 0)")
    assert.are.same({ status = 1, out = "", err = "perflua: raises: nil\n" }, raising "error()")
  end)

  it("tells errors of Lua from others", function()
    local got = raising "return nil + 1"
    assert.are.same({ 1, "" }, { got.status, got.out })
    assert.matches(
      "^perflua: raises: this is a bug in perflua, please report it: [^\n"
        .. "]*raises.lua:1: attempt to "
      .. "perform arithmetic on a nil value\n$", got.err)
  end)

  it("says so when there is no memory", function()
    -- sanitizers need more of it than there is
    if run.binary:find("/san/", 1, true) then return end
    local function limited(kilobytes, words)
      return run.shell(("ulimit -v %d; exec \"$perflua\" %s"):format(kilobytes, words))
    end
    local least, said = 2000, 0
    while limited(least, "--version").status ~= 0 do least = least + 500 end
    for more = 0, 3000, 150 do
      for _, tool in ipairs { "report", "doctor", "fields" } do
        local got = limited(least + more, tool .. " spec/fixtures/calls.perf.data")
        if got.status ~= 0 then
          assert.are.equal(1, got.status)
          assert.matches("^perflua: [^\n]*memory[^\n]*\n$", got.err)
          said = said + 1
        end
      end
    end
    assert.is_true(said > 0)
  end)
end)

describe("perflua stat", function()
  it("counts records by type and samples by event as perf does", function()
    local got = run.perflua { "stat", run.demo }
    assert.are.equal(0, got.status)
    local found = {}
    for name, count in got.out:gmatch("\n([%w_%-]+) +(%d+) +%d+[^\n]*") do
      found[name] = math.tointeger(tonumber(count))
    end
    local expected = { total = 768 }
    for _, counts in ipairs { records, samples } do
      for name, count in pairs(counts) do
        expected[name] = count
      end
    end
    assert.are.same(expected, found)
    assert.matches(
      "\nlost records +0\nlost samples +0\ntime +%d+%.%d+ to %d+%.%d+, %d+%.%d+ s\n$", got.out)
  end)

  it("says the same as JSON", function()
    local got = dkjson.decode(run.perflua { "stat", "--json", run.demo }.out)
    local types, events = {}, {}
    for _, row in ipairs(got.types) do
      types[row.type] = row.records
    end
    for _, row in ipairs(got.events) do
      events[row.event] = row.samples
    end
    assert.are.same(records, types)
    assert.are.same(samples, events)
    assert.are.equal(83040, got.size)
    assert.are.equal(0, got.lost_records)
    assert.is_true(got.first_time < got.last_time)
  end)
end)

describe("perflua dump", function()
  local function lines(text)
    return select(2, text:gsub("\n", ""))
  end

  it("prints one line for each record", function()
    local got = run.perflua { "dump", run.demo }
    assert.are.equal("", got.err)
    assert.are.equal(768, lines(got.out))
  end)

  it("prints one JSON object for each record", function()
    local got = run.perflua { "dump", "--json", run.demo }
    local found = {}
    for line in got.out:gmatch("[^\n]+") do
      local record = assert(dkjson.decode(line))
      found[record.type] = (found[record.type] or 0) + 1
    end
    assert.are.same(records, found)
  end)
end)

describe("perflua header", function()
  it("begins with the time of the file and the sections that it has", function()
    local path = files.temporary(files.read(run.demo))
    os.execute("touch -d @1000000000 " .. path)
    local file <close> = assert(perflua.open(path))
    assert.are.equal(1000000000, file.captured_on)
    local got = run.shell_with('TZ=UTC "$perflua" header "$1"', path).out
    assert.matches("^# ========\n# captured on    : Sun Sep  9 01:46:40 2001\n", got)
    local piped = run.shell_with('cat "$1" | "$perflua" header -', path).out
    assert.is_nil(piped:find("captured", 1, true))
  end)

  needs.it("perf", "begins as perf's", function()
    local function lines_of(text) return text:match "^.-\n# feat offset[^\n]*\n" end
    local expected = files.output("perf report --header-only -f -i "
      .. files.quote(run.demo) .. " 2>/dev/null")
    assert.are.equal(assert(lines_of(expected)),
      lines_of(run.perflua({ "header", run.demo }).out))
  end)

  it("prints programs of which only the begin of bpf_prog_info was recorded", function()
    local b = builder.new()
    b:sample(b:event { name = "cycles" }, { time = 1 })
    local list = {}
    for i, n in ipairs { 0, 4, 8, 70, 132, 232 } do
      local info = bpf_info(b.w, { id = 10 - i, type = 1, name = "prog", btf_id = 3,
        func_info_rec_size = 8,
        nr_jited_ksyms = 1, nr_jited_func_lens = 1, nr_prog_tags = 1, nr_func_info = 1 })
      list[i] = { info = info:sub(1, n), arrays = 0xffff, data = ("\1"):rep(64) }
    end
    b:feature("bpf_prog_info", list)
    b:feature("bpf_btf", { { id = 3, data = "btf" } })
    local got = run.perflua { "header", b:write() }
    assert.are.same({ 0, "" }, { got.status, got.err })
    local lines = {}
    for line in got.out:gmatch "# (bpf_prog_info [^\n]*)" do lines[#lines + 1] = line end
    assert.are.equal(6, #lines)
    assert.are.equal(0, run.perflua({ "header", "--json", b:write() }).status)
  end)

  it("lets nothing of a recording move the cursor", function()
    local b = builder.new()
    local evil = "\27[2J\n\u{9b}31m"
    local event = b:event { name = "ev" .. evil, sample_type = { "ip", "tid", "time" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1 })
    for _, name in ipairs { "hostname", "osrelease", "version", "arch", "cpudesc", "cpuid" } do
      b:feature(name, name .. evil)
    end
    b:feature("cmdline", { "perf", evil })
    b:feature("pmu_mappings", { [evil] = 1 })
    b:feature("cpu_pmu_caps", { [evil] = evil })
    b:feature("build_id", { { build_id = ("00"):rep(20), filename = "/bin/" .. evil } })
    local path = b:write()
    for _, words in ipairs { { "header", path }, { "fields", path }, { "stat", path },
      { "-e", ("perflua.open(%q):samples 'evv'"):format(path) },
      { "-e", ("perflua.open(%q):run { evv = print }"):format(path) } } do
      local got = run.perflua(words)
      local text = got.out .. got.err
      assert.is_nil(text:find("[\0-\8\11-\31]"), words[1])
      assert.is_nil(text:find("\u{9b}", 1, true), words[1])
    end
    assert.matches("\n# hostname : hostname\\x1b[2J\\x0a\\u{9b}31m\n",
      run.perflua({ "header", path }).out, 1, true)
  end)
end)

describe("perflua fields", function()
  it("describes the events and record types in a recording with examples", function()
    local got = run.perflua { "fields", run.demo }
    assert.are.equal("", got.err)
    for name, count in pairs(samples) do
      assert.matches(("sample of %s: %d record"):format(name, count), got.out, 1, true)
    end
    for name, count in pairs(records) do
      if name ~= "sample" then
        local noun = count == 1 and "record" or "records"
        assert.matches(("\n%s: %d %s\n"):format(name, count, noun), got.out, 1, true)
      end
    end
    assert.matches("\n  filename +string +/%S+ +%a", got.out)
    assert.is_nil(got.out:find("\ntext_poke", 1, true))
  end)
end)
