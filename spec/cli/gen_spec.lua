local core = require "perflua.core"
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"
local small_pipe = require "spec.support.small_pipe"
local starter = require "perflua.meta.starter"

-- The script that gen writes of a recording, and what it prints of it.
local function generated(path)
  local gen = run.perflua { "gen", path }
  assert.equal(0, gen.status, gen.err)
  local script = run.script(gen.out)
  return gen.out, run.perflua { script, path }, script
end

local function counts_in(out)
  local counts = {}
  assert.matches("^   samples  event\n", out)
  for n, name in out:gmatch "\n *(%d+)  ([^\n]*)" do
    counts[name] = math.tointeger(tonumber(n))
  end
  return counts
end

local kinds = { "identifier", "ip", "tid", "time" }

-- A recording with samples of events of these names, as many of each as its place tells.
local function named(names)
  local b = builder.new()
  for i, name in ipairs(names) do
    local event = b:event { name = name, type = 1, config = i, ids = { 10 + i },
      sample_type = kinds }
    for k = 1, i do
      b:sample(event, { identifier = 10 + i, ip = 0x1000, pid = 1, tid = 1,
        time = 100 * k + i })
    end
  end
  return b:write()
end

describe("perflua gen", function()
  it("writes a script that counts the samples of each event", function()
    local text, got = generated(run.demo)
    assert.same({ status = 0, err = "", out = "   samples  event\n       457  cpu-clock\n"
      .. "       176  context-switches\n        39  page-faults\n" }, got)
    assert.matches('\n  %["page%-faults"%] = function%(s%)\n', text)
    assert.matches("\n%-%- s%.pid +signed +%d+\n", text)
    assert.matches(
      "\n  %-%- fork = function%(r%) end, %-%- 11 records\n  %-%-   r%.pid, r%.ppid", text)
  end)

  it("fills in what the script needs and how it was recorded", function()
    local _, _, script = generated(run.demo)
    local help = run.perflua({ "help", script }).out
    assert.matches(
      "\nneeds: events cpu%-clock, page%-faults, context%-switches\nrecord: %S*perf record ",
      help)
    local got = run.perflua { script, named { "other" } }
    assert.equal(1, got.status)
    assert.matches(
      "no event 'cpu-clock', no event 'page-faults' and no event 'context-switches'; record "
        .. "it with: ",
      got.err, 1, true)
  end)

  it("writes to a file that is not there yet", function()
    local path = files.temporary()
    os.remove(path)
    assert.same({ status = 0, out = "", err = "" }, run.perflua { "gen", "-o", path, run.demo })
    assert.equal(run.perflua({ "gen", run.demo }).out, files.read(path))
    local got = run.perflua { "gen", "-o", path, named { "other" } }
    assert.same({ status = 1, out = "", err = "perflua: gen: " .. path
      .. " exists, and is not overwritten\n" },
      got)
    assert.equal(run.perflua({ "gen", run.demo }).out, files.read(path))
    assert.equal(1, run.perflua({ "gen", "-o", "/", run.demo }).status)
    assert.matches("/no/such/dir/x: No such file",
      run.perflua({ "gen", "-o", "/no/such/dir/x", run.demo }).err)
  end)

  it("says why it cannot", function()
    assert.matches("^perflua: /no/such: ", run.perflua({ "gen", "/no/such" }).err)
    local got = run.shell_with('cat "$1" | "$perflua" gen -', small_pipe():write())
    assert.equal("", got.out)
    assert.matches("^perflua: %-: a stream can be read only once", got.err)
  end)

  it("writes a script for a recording without samples, too", function()
    local b = builder.new()
    b:event { name = "cycles", sample_type = kinds, ids = { 1 } }
    b:record("comm", { pid = 1, tid = 1, comm = "sh" }, { identifier = 1 })
    local text, got = generated(b:write())
    assert.same({ status = 0, out = "   samples  event\n", err = "" }, got)
    assert.matches("\n  %-%- comm = function%(r%) end, %-%- 1 record\n", text)
  end)

  it("writes names of any characters so that they are not code", function()
    local names = {
      "comm", "begin", "sample", "[c]omm", "meta", "other", "finish", 'a"]=os.exit(7)--',
      "]]os.exit(7)--[[",
      "two\nlines\r\nos.exit(7)", "back\\", "tab\t\27[2J\127", "h\195\169\255", "%s%d%", "a:b*",
      "*", "?", "end",
    }
    local _, got = generated(named(names))
    local text = table.concat(names, "|"):gsub("\\", "\\")
    assert.equal(0, got.status, got.err)
    local counts = counts_in(got.out)
    local n = 0
    for _ in pairs(counts) do n = n + 1 end
    assert.equal(#names, n, text .. got.out)
    for i, name in ipairs(names) do
      if not name:find "[%c\255]" then assert.equal(i, counts[name], name) end
    end
    assert.equal(10, counts["two\\x0alines\\x0d\\x0aos.exit(7)"])
    assert.is_nil(got.out:find("\27", 1, true))
  end)

  it("writes fields of tracepoints with any names, types and values so that they are no "
    .. "code", function()
    local hostile = { "plain", "end", "a b", 'q"]]', "nl\nos.exit(7)", "\0", "z\\", "]]",
      ("x"):rep(3000) }
    local fields, path = {}, "a\n]]os.exit(7)"
    for i, name in ipairs(hostile) do
      fields[i] = { name = "args." .. i, arg = name, kind = "unsigned", doc = "char[" .. i
        .. "]", example = "1" }
    end
    local event = { name = "s:e", index = 1 }
    local text = starter.text({ path = path,
      features = { cmdline = { "perf", "it's\n\"x\"\\" } }, events = { event } },
      { { title = "sample of s:e", type_id = 9, count = 1, event = event, fields = fields } })
    local handlers = assert(load(text, "=generated", "t",
      { print = print, pairs = pairs, ipairs = ipairs,
      table = table }))()
    assert.equal("perf 'it'\\''s\n\"x\"\\'", handlers.meta.record)
    local lines = {}
    for line in text:gmatch "    %-%- (s%.args[^\n]*)\n" do lines[#lines + 1] = line end
    assert.equal(#hostile, #lines)
    for i, line in ipairs(lines) do
      local expression = line:match "^(.-) +char%[%d+%] +1$"
      local read = assert(load("local s = ...; return " .. expression))
      assert.equal(i, read { args = { [hostile[i]] = i } })
    end
  end)

  local written =
    "writes tracepoints' fields with types and examples, and what it writes counts as perf does"

  needs.it("tracepoints,cpus", written, function()
    local events =
      "-e sched:sched_switch -e sched:sched_wakeup -e irq:softirq_entry -e page-faults"
    local path = oracle.record("-a -c 1 " .. events,
      "sh -c 'for i in 1 2 3 4; do sleep 0.01; done'")
    local text, got = generated(path)
    assert.same({ 0, "" }, { got.status, got.err })
    local wanted = {}
    for line in files.lines("perf script -F event -i " .. path .. " 2>/dev/null") do
      local name = line:match "^%s*(%S-):?%s*$"
      wanted[name] = (wanted[name] or 0) + 1
    end
    assert.is_true(wanted["sched:sched_switch"] > 4)
    assert.same(wanted, counts_in(got.out))
    assert.matches("\n    %-%- s%.args%.prev_comm +char%[16%] +%S", text)
    assert.matches("\n    %-%- s%.args%.prev_state +long +%d+\n", text)
    assert.matches("\n    %-%- s%.args%.vec +unsigned int +%d+\n", text)
  end)

  -- Every seventh recording.
  local sampled = 0
  for _, recording in ipairs(corpus.recordings()) do
    sampled = sampled + 1
    if sampled % 7 == 0 then
      it("writes a script that runs on " .. recording.name, function()
        local file = perflua.open(recording.path)
        if not file then return end
        local counts, wanted = core.count(file), {}
        for i, event in ipairs(file.events) do
          local n = counts.events[i].count
          if n > 0 then wanted[event.name] = (wanted[event.name] or 0) + n end
        end
        local unknown = counts.unknown_event.count
        if unknown > 0 then wanted["(event unknown)"] = unknown end
        file:close()
        local _, got = generated(recording.path)
        assert.equal(0, got.status, got.err)
        assert.same(wanted, counts_in(got.out))
      end)
    end
  end
end)
