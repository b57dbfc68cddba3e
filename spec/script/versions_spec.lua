-- perflua prints as the version of perf that it is asked for, by one table of differences.
local builder = require "spec.support.builder"
local core = require "perflua.core"
local files = require "spec.support.files"
local perflua = require "perflua"
local messages = require "spec.support.messages"
local run = require "spec.cli.run"

local USER, KERNEL = -512, -128

--- A recording of samples of one event of user code of pid 5, "prog".
local function recording(event, samples, more, options)
  local b = builder.new(options)
  event.ids, event.sample_type = { 1 }, event.sample_type or { "ip", "tid", "time" }
  event.type, event.config = event.type or 1, event.config or 0
  if not event.unnamed then event.name = event.name or "it" end
  local it = b:event(event)
  b:record("comm", { pid = 5, tid = 5, comm = "prog" })
  b:record("mmap2", { pid = 5, tid = 5, addr = 0x400000, len = 0x1000, pgoff = 0x1000,
    filename = "/bin/prog" })
  for i, sample in ipairs(samples) do
    if more then more(b, i) end
    sample.ip, sample.pid, sample.tid = sample.ip or 0x400010, 5, sample.tid or 5
    sample.time = sample.time or 10 * i
    b:sample(it, sample)
  end
  return b:write()
end

local function branches(flags)
  flags.from, flags.to = 0x400010, 0x400020
  return recording({ sample_type = { "ip", "tid", "time", "branch_stack" } },
    { { branch_stack = { flags } } })
end

local function weighed()
  return recording({ type = 4, sample_type = { "ip", "tid", "time", "weight_struct" } },
    { { weight = 3, ins_lat = 4, retire_lat = 5 } })
end

local function accessed()
  return recording({ sample_type = { "ip", "tid", "time", "period", "weight", "data_src" } },
    { { weight = 3, data_src = 2 }, { weight = 1, data_src = 4 } })
end

local counted = { { value = 100, tid = 5 }, { value = 30, tid = 6 }, { value = 130, tid = 5 } }

local function counters()
  local samples = {}
  for i, c in ipairs(counted) do
    samples[i] = { identifier = 1, tid = c.tid, read = { { value = c.value, id = 1 } } }
  end
  return recording({ inherit = true, read_format = { "group", "id" },
    sample_type = { "identifier", "ip", "tid", "time", "read" } }, samples)
end

local symfs = files.fixture "inlined"

local function inlined()
  return recording({ sample_type = { "ip", "tid", "time", "callchain" } },
    { { callchain = { USER, 0x40014e, 0x40018a } } }, function(b)
      b:record("mmap2", { pid = 5, tid = 5, addr = 0x400000, len = 0x1000,
        filename = "/inlined" })
    end)
end

-- A copied stack whose only caller is in memory without code.
local function leads_to_data()
  local regs = { abi = 2 }
  for i = 1, 20 do regs[i] = 0 end
  regs[8], regs[9] = 0x7ffe0000, 0x40014e
  return recording({ sample_type = { "ip", "tid", "time", "callchain", "regs_user",
      "stack_user" }, sample_regs_user = 0xff0fff, sample_stack_user = 64 },
    { { ip = 0x40014e, callchain = {}, regs_user = regs,
      stack_user = ("<I8"):rep(1):pack(0x900010) } }, function(b)
      b:feature("arch", "x86_64")
      b:record("mmap2", { pid = 5, tid = 5, addr = 0x400000, len = 0x1000, prot = 5,
        filename = "/inlined" })
      b:record("mmap2", { pid = 5, tid = 5, addr = 0x900000, len = 0x1000, prot = 3,
        filename = "//anon" })
    end)
end

local weight = "         0 it:                3               4"

-- Two weights, a process without samples, and a group of events, of which one has no samples.
local function various()
  local event = { sample_type = { "identifier", "ip", "tid", "time", "period",
    "weight_struct" } }
  return recording(event, { { identifier = 1, weight = 3, period = 1 },
    { identifier = 1, weight = 6, period = 1 } }, function(b, i)
    if i == 2 then return end
    b:event { type = 1, name = "none", ids = { 2 }, sample_type = event.sample_type }
    b:feature("group_desc", { { name = "", leader = 0, members = 2 } })
    b:record("comm", { pid = 256, tid = 256, comm = "other" })
  end)
end

local function counts_of(width)
  local text = "\nAggregated stats:\nTOTAL events:          5\n"
    .. "COMM events:          2  (40.0%)\nSAMPLE events:          2  (40.0%)\n"
    .. "MMAP2 events:          1  (20.0%)\n"
    .. "it stats:\nSAMPLE events:          2\n"
  local form = "%" .. width + 1 .. "s"
  return (text:gsub("%u[%u%d]+ ", function(name) return form:format(name) end))
end

local function tasks_of(indent, ...)
  local comms, text = { [0] = "swapper", [5] = "prog", [256] = "other" },
    "#      pid      tid     ppid  comm\n"
  for _, id in ipairs { ... } do
    text = text .. ("  %8d %8d       -1 |%s%s\n"):format(id, id, id > 0 and indent or "",
      comms[id])
  end
  return text
end

-- Two threads that run beside one another when the second sample is taken.
local function parallel()
  local event = { sample_type = { "identifier", "ip", "tid", "time", "period" },
    context_switch = true }
  return recording(event, { { identifier = 1, period = 1, time = 10 },
    { identifier = 1, period = 1, time = 30 } }, function(b, i)
    if i == 2 then
      b:record("switch", {}, { pid = 5, tid = 6, time = 20, identifier = 1 })
    end
  end)
end

-- By the name of a difference: -F of script, or the words of report, what the first version
-- with it prints, what the last one without it does, and of which recording.
local cases = {
  wide_ids = { "pid,tid", "      5/5       \n", "    5/5     \n", function()
    return recording({}, { {} })
  end },
  recorded_addresses = { "ip,dso",
    "\n\t          400010 (/bin/prog)\n\tffffffff81000000 ([unknown])\n\n",
    "\n\t            1010 (/bin/prog)\n\tffffffff81000000 ([unknown])\n\n",
    function()
      return recording({ sample_type = { "ip", "tid", "time", "callchain" } },
        { { callchain = { USER, 0x400010, KERNEL, -0x7f000000 } } })
    end },
  forgets_exited = { "comm,time",
    "            prog     0.000000: \n              :5     0.000000: \n",
    "            prog     0.000000: \n            prog     0.000000: \n",
    function()
      return recording({}, { {}, {} }, function(b, i)
        if i == 2 then
          b:record("exit", { pid = 5, tid = 5, ppid = 5, ptid = 5, time = 15 }, { time = 15 })
        end
      end)
    end },
  one_level =
    { "data_src", "       200000142 |OP LOAD|LVL L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A\n",
    "       200000142 |OP LOAD|LVL L1 or L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A\n",
    function()
      return recording({ sample_type = { "ip", "tid", "time", "data_src" } },
        { { data_src = 0x200000142 } })
    end },
  retire_lat = { "-comm,-tid,-time",
    weight .. "               5           400010 [unknown] (/bin/prog)\n",
    weight .. "           400010 [unknown] (/bin/prog)\n", weighed },
  branch_speculation = { "brstack", " 0x400010/0x400020/P/-/-/0/COND/SPEC_CORRECT_PATH \n",
    " 0x400010/0x400020/P/-/-/0/COND \n", function()
      return branches { predicted = 1, type = 1, spec = 3 }
    end },
  branch_dso_apart = { "brstack,dso",
    " 0x400010 (/bin/prog)/0x400020 (/bin/prog)/-/-/-/0//- \n",
    " 0x400010(/bin/prog)/0x400020(/bin/prog)/-/-/-/0/ \n", function() return branches {} end },
  branch_not_taken = { "brstack", " 0x400010/0x400020/MN/-/-/0/COND/- \n",
    " 0x400010/0x400020/-/-/-/0/COND/- \n",
    function() return branches { not_taken = 1, type = 1 } end },
  plain_modifiers = { "event", "cpu-clock: \n", "cpu-clock:HG: \n",
    function() return recording({ unnamed = true }, { {} }) end },
  unknown_events = { "event", "unknown event PMU=77 config=0x5: \n",
    "unknown attr type: 77: \n",
    function() return recording({ unnamed = true, type = 77, config = 5 }, { {} }) end },
  read_by_thread = { "tid,period",
    "      5        100 \n      6         30 \n      5         30 \n",
    "      5        100 \n      5        100 \n", counters },
  outermost_line = { "ip,srcline", "           40014e\n  inlined.c:17\n",
    "           40014e\n  inlined.c:6\n",
    function()
      return recording({}, { { ip = 0x40014e } }, function(b)
        b:record("mmap2", { pid = 5, tid = 5, addr = 0x400000, len = 0x1000,
          filename = "/inlined" })
      end)
    end },
  inlined_always = { "ip,sym",
    "\n\t          40014e leaf (inlined)\n\t          40014e middle (inlined)\n"
      .. "\t          40014e outer\n"
      .. "\t          40018a _start\n\n",
    "\n\t          40014e outer\n\t          40018a _start\n\n", inlined },
  lbr_leaf = { "ip", "\n\t          400014\n\t          400005\n\n",
    "\n\t          400010\n\t          400005\n\n", function()
      return recording({ sample_type = { "ip", "tid", "time", "callchain", "branch_stack" },
          branch_sample_type = { "user", "call_stack" } },
        { { ip = 0x400014, callchain = { USER, 0x400014 },
          branch_stack = { { from = 0x400005, to = 0x400010 } } } })
    end },
  code_frames = { "ip", "\n\t          40014e\n\n",
    "\n\t          40014e\n\t          90000f\n\n", leads_to_data },
  array_as_kernel = { "trace", "{0x1,0x2,0x3}\n", "1 2 3\n",
    function() return messages.recording { { [["%s", __print_array(REC->mac, 3, 1)]] } } end },
  conversions = { "trace", "A 4886718345 4886718345\n", ">c< 0 591751049\n",
    function()
      return messages.recording { { [["%c %zu %zd", 'A', REC->v, REC->v]],
        values = { v = 0x123456789 } } }
    end },
  shows_latency = { { "-q", "-s", "comm,parallelism" },
    "    50.00%    66.67%  prog               1\n    50.00%    33.33%  prog               2\n",
    "    50.00%  prog               1\n    50.00%  prog               2\n", parallel },
  exact_shares = { { "-q", "--children", "-s", "overhead,sym", "--symfs",
      "spec/fixtures/empty" },
    "   100.00%  [.] 0x0000000000000010\n     0.00%  [.] 0x000000000000014e\n"
      .. "     0.00%  [.] 0x000000000000018a\n",
    "   100.00%   100.00%  [.] 0x0000000000000010\n   100.00%     0.00%  [.] "
      .. "0x000000000000014e\n   100.00%     0.00%  [.] 0x000000000000018a\n", inlined },
  skips_empty = { { "-q", "-s", "comm" }, "   100.00%  prog\n", "   100.00%   0.00%  prog\n",
    various },
  wide_counts = { { "--stats" }, counts_of(20), counts_of(16), various },
  task_order = { { "--tasks" }, tasks_of(" ", 0, 5, 256), tasks_of("", 0, 256, 5), various },
  split_shares = { { "-q", "--mem-mode", "-F", "overhead,op" },
    "   100.00%    75.0%  25.0%\n", "    75.00%  LOAD\n    25.00%  STORE\n", accessed },
  average_weights = { { "-q", "--no-group", "-F", "comm,weight" }, "  prog              4.5\n",
    "  prog     6\n  prog     3\n", various },
}

local function printed(path, words, version)
  local is_report = type(words) == "table"
  local got = run.perflua { is_report and "report" or "script", "--as", version, "--symfs",
    symfs, "--kallsyms", "/dev/null", path,
    table.unpack(is_report and words or { "-F", words }) }
  local err =
    got.err:gsub("[^\n]*counter values of 'it' go back: found 30, expected at least 100\n", "")
  assert.are.same({ 0, "" }, { got.status, err })
  return got.out
end

describe("the text of a version of perf", function()
  local versions = { "6.1", "6.12", "7.2", "7.3" }

  for _, difference in ipairs(core.perf_differences()) do
    it("has or has not: " .. difference.doc, function()
      local case = cases[difference.name]
      assert.are.equal(difference.followed, case ~= nil,
        "a case for each difference that perflua follows")
      if not case then return end
      for i, version in ipairs(versions) do
        if version == difference.since then
          local path = case[4]()
          assert.are.equal(case[2], printed(path, case[1], version))
          assert.are.equal(case[3], printed(path, case[1], versions[i - 1]))
        end
      end
    end)
  end

  it("forgets a thread when the record of its end was written, whatever time that "
    .. "tells", function()
    for _, exit in ipairs { { 30, 15, ":5" }, { 12, 25, "prog" } } do
      local path = recording({}, { {}, {} }, function(b, i)
        local values = { pid = 5, tid = 5, ppid = 5, ptid = 5, time = exit[1] }
        if i == 2 then b:record("exit", values, { time = exit[2] }) end
      end)
      assert.are.equal(("%16s \n%16s \n"):format("prog", exit[3]), printed(path, "comm", "7.3"))
    end
  end)

  it("forgets the descendants of a thread that has ended, however many forks they are "
    .. "away", function()
    local last = 200
    local path = recording({}, { {} }, function(b)
      b:record("comm", { pid = 100, tid = 100, comm = "first" }, { time = 1 })
      b:record("exit", { pid = 100, tid = 100, ppid = 1, ptid = 1, time = 2 }, { time = 2 })
      for pid = 101, last do
        b:record("fork", { pid = pid, tid = pid, ppid = pid - 1, ptid = pid - 1,
          time = pid - 98 }, { time = pid - 98 })
      end
      b:sample(b.events[1], { pid = last, tid = last, ip = 0, time = 1000 })
    end)
    assert.matches((" :%d \n"):format(last), printed(path, "comm", "7.3"), 1, true)
  end)

  it("names a thread that no record speaks of by its number", function()
    local path = recording({}, { { tid = 9 } })
    assert.matches(" :9 \n", printed(path, "comm", "7.3"), 1, true)
  end)

  it("is that of the version before, between those that are known", function()
    local path = recording({}, { {} })
    assert.are.equal(printed(path, "pid", "6.1"), printed(path, "pid", "6.11"))
    assert.are.equal(printed(path, "pid", "6.12"), printed(path, "pid", "6.12.107"))
    assert.are.equal(printed(path, "pid", "6.12"), printed(path, "pid", "6.19"))
  end)

  it("is the newest by default, and a file says which it is", function()
    local path = recording({ unnamed = true }, { {} })
    local file <close> = assert(perflua.open(path))
    assert.are.same({ "7.3", "cpu-clock" }, { file.as, file.events[1].name })
    local old <close> = assert(perflua.open(path, { as = "6.12.3" }))
    assert.are.same({ "6.12", "cpu-clock:HG" }, { old.as, old.events[1].name })
    assert.matches("of event 'cpu%-clock:HG'",
      run.perflua({ "report", "--as", "6.1", path }).out)
  end)

  it("is by default of report and script that of the perf that made the recording", function()
    for made, version in pairs { ["6.1.187"] = "6.1", ["5.15.68.1.gb5fe1633534"] = "6.1",
      ["4.18.rc3.g9fb4c5250f10"] = "6.1", ["6.18-1"] = "6.18", ["6.12"] = "6.12",
      ["7.4.rc1"] = "7.3", ["10.1"] = "7.3", unknown = "7.3", [""] = "7.3" } do
      for _, container in ipairs { "file", "pipe" } do
        local path = recording({ unnamed = true }, { {} }, function(b)
          b:feature("version", made)
        end, { container = container })
        for _, tool in ipairs { "report", "script" } do
          local default = run.perflua { tool, "-v", path }
          assert.are.equal(("perflua: %s: %s: printed as perf %s\n"):format(tool, path,
            version), default.err)
          assert.are.equal(run.perflua({ tool, "--as", version, path }).out, default.out)
        end
        local file <close> = assert(perflua.open(path, { as = "recorded" }))
        assert.are.equal(version, file.as)
        assert.are.equal("7.3", assert(perflua.open(path)).as)
      end
    end
  end)

  it("is that of the first of several recordings", function()
    local function made_by(version)
      return recording({ unnamed = true }, { {} },
        function(b) b:feature("version", version) end)
    end
    local old, new = made_by "6.1", made_by "7.2"
    assert.are.equal(run.perflua({ "script", "--as", "6.1", old, new }).out,
      run.perflua({ "script", old, new }).out)
    assert.are.equal(run.perflua({ "script", "--as", "7.2", new, old }).out,
      run.perflua({ "script", new, old }).out)
  end)

  it("is refused where it is not known", function()
    local path = recording({}, { {} })
    for version, message in pairs {
      ["6.0"] = "perf 6.0 is not supported: known versions are 6.1 to 7.3",
      ["7.4"] = "perf 7.4 is not supported: known versions are 6.1 to 7.3",
      ["new"] = "'new' is not a version of perf: known versions are 6.1 to 7.3",
      ["7"] = "'7' is not a version of perf: known versions are 6.1 to 7.3",
    } do
      for _, tool in ipairs { "script", "report" } do
        local got = run.perflua { tool, "--as", version, path }
        assert.are.same({ "", 2 }, { got.out, got.status })
        assert.matches(("perflua: %s: --as: %s"):format(tool, message), got.err, 1, true)
      end
      assert.error_matches(function()
        perflua.open(path, { as = version })
      end, message, 1, true)
    end
    assert.error_matches(function()
      perflua.open(path, { as = 7.3 })
    end, "as: a version of perf")
  end)
end)
