-- perflua script as a user has it: which fields, which samples, what is refused.
local builder = require "spec.support.builder"
local core = require "perflua.core"
local fields = require "perflua.script.fields"
local files = require "spec.support.files"
local run = require "spec.cli.run"
local two_events = require "spec.support.two_events"

local quiet = { "--symfs", "spec/fixtures/empty", "--kallsyms", "/dev/null" }

---Returns what `perflua script` prints of a recording with these words, and the result of the
---run.
local function script(path, ...)
  local words = { "script", table.unpack(quiet) }
  for _, word in ipairs { ... } do words[#words + 1] = word end
  words[#words + 1] = path
  local got = run.perflua(words)
  return got.out, got
end

local function one_sample(parts, values, change)
  local b = builder.new()
  local event = b:event { name = values.name or "cycles", type = values.type or 0,
    config = values.config or 0,
    sample_type = parts, ids = { 1 } }
  if change then change(b, event) end
  b:sample(event, values)
  return b:write()
end

-- Writes a recording with a sample at ip, default: in /bin/prog.
local function mapped(ip)
  local sample = { ip = ip or 0x400010, pid = 7, tid = 7, time = 9 }
  return one_sample({ "ip", "tid", "time" }, sample, function(b)
    b:record("mmap", { pid = 7, tid = 7, addr = 0x400000, len = 0x1000, pgoff = 0,
      filename = "/bin/prog" }, { pid = 7, tid = 7, time = 1 })
  end)
end

describe("perflua script", function()
  local path = two_events.write()

  it("says of each sample what holds for it, whatever the lines before said", function()
    local function recording(names)
      local b = builder.new()
      b:feature("hostname", "of " .. names[1])
      local event = b:event { name = "cycles", ids = { 1 },
        sample_type = { "tid", "time", "cpu", "period" } }
      for i, name in ipairs(names) do
        local time = i * 2000000000
        b:record("comm", { pid = 7, tid = 7, comm = name }, { pid = 7, tid = 7, time = time })
        for k, pid in ipairs { 7, 7, 8 } do
          b:sample(event, { pid = pid, tid = 7, time = time + k * 499999999, cpu = i - 1,
            period = 9 + k // 2 })
        end
      end
      return b:write()
    end
    local function line(name, pid, cpu, time, period)
      return ("%16s %7d/7       [%03d] %12s: %10d cycles: \n"):format(name, pid, cpu, time,
        period)
    end
    local shown = "comm,pid,tid,cpu,time,period,event"
    assert.are.equal(table.concat {
      line("one", 7, 0, "2.499999", 9), line("one", 7, 0, "2.999999", 10),
      line("one", 8, 0, "3.499999", 10), line("two", 7, 1, "4.499999", 9),
      line("two", 7, 1, "4.999999", 10), line("two", 8, 1, "5.499999", 10),
    }, (script(recording { "one", "two" }, "-F", shown)))
    -- the same thread of another machine, at the same times
    assert.are.equal(table.concat {
      line("other", 7, 0, "2.499999", 9), line("other", 7, 0, "2.999999", 10),
      line("other", 8, 0, "3.499999", 10), line("one", 7, 0, "2.499999", 9),
      line("one", 7, 0, "2.999999", 10), line("one", 8, 0, "3.499999", 10),
    }, (script(recording { "one" }, "-F", shown, recording { "other" })))
  end)

  it("prints a line for each sample, and its call chain", function()
    local out, got = script(path)
    assert.are.equal("", got.err)
    assert.are.equal(table.concat({
      "sh       7 [000]     1.000000:        100 cycles:P: ",
      "\tffffffff81000010 [unknown] ([unknown])",
      "\t            1234 [unknown] ([unknown])",
      "",
      ":8       8 [001]     1.000000:        300 cycles:P: ",
      "\t          401000 [unknown] (/bin/sh)",
      "\t            1234 [unknown] ([unknown])",
      "",
      "              sh       7 [000]     1.000001:          1   faults:            401004 "
        .. "[unknown] (/bin/sh)",
      "",
    }, "\n"), out:match "^.-%(/bin/sh%)\n.-%(/bin/sh%)\n")
  end)

  it("hides call chains with -G", function()
    assert.are.equal(
      "              sh       7 [000]     1.000000:        100 cycles:P:  ffffffff81000010 "
        .. "[unknown] ([unknown])\n",
      (script(path, "-G"):match "^[^\n]*\n"))
  end)

  it("shows the fields that -F names, adds and takes away", function()
    assert.are.equal("sh       7/7       [000] \n",
      (script(path, "-G", "-F", "cpu,tid,pid,comm"):match "[^ ].-\n"))
    assert.are.equal(script(path, "-F", "comm,tid,cpu,time,period,event"),
      script(path, "-F", "-ip,-sym,-dso,-symoff"))
    assert.are.equal("U         1.000000500:", script(path, "-F", "+misc", "--ns")
      :match "%[001%] (.-:)")
    assert.matches("\n      9   faults: \n", (script(path, "-F", "sw:tid,event")))
    assert.are.equal(3, select(2, script(path, "-F", "hw:"):gsub("\n", "")))
    assert.are.equal("sh cycles:P: \n:8 cycles:P: \n      7 \n",
      script(path, "-G", "-F", "sw:tid", "-F", "hw:comm,event"):gsub("\n +(%S+ cycles)", "\n%1")
        :match "(%S.-7 \n)")
  end)

  it("takes perflua's own names of fields, too", function()
    assert.are.equal(script(path, "-F", "ip,sym"), (script(path, "-F", "ip,symbol")))
  end)

  it("knows each field of perf 6.1 to 7.3, or says why it does not answer it", function()
    for name in ([[comm tid pid time cpu event trace ip sym dso dsoff addr symoff srcline period
      iregs uregs brstack brstacksym flags data_src weight bpf-output brstackinsn brstackinsnlen
      brstackdisasm brstackoff callindent insn disasm insnlen synth phys_addr metric misc srccode
      ipc tod data_page_size code_page_size ins_lat machine_pid vcpu cgroup retire_lat
      brcntr]]):gmatch "%S+" do
      local _, got = script(path, "-F", name)
      assert.is_nil(got.err:find "unknown field", name)
      assert.are.equal(got.status == 0, got.err == "", name)
    end
  end)

  it("prints binaries with the address in them", function()
    assert.are.equal("           400010 (/bin/prog+0x10)\n", (script(mapped(), "-F",
      "ip,dsoff")))
    assert.are.equal(script(mapped(), "-F", "ip,dsoff"), (script(mapped(), "-F",
      "ip,dso,dsoff")))
    assert.are.equal("           700000 ([unknown])\n", (script(mapped(0x700000), "-F",
      "ip,dsoff")))
  end)

  it("refuses fields that it does not know, naming the closest", function()
    for _, wrong in ipairs {
      { "perido", "unknown field 'perido'; the closest is 'period'" },
      { "ipc", "field 'ipc' of perf script is not answered: it comes from instruction traces" },
      { "comm,+ip", "fields with + or - cannot be mixed with fields without" },
      { "tace:comm", "unknown type of events 'tace'; the closest is 'trace'" },
      { "hw:trace", "field 'trace' does not apply to hw events" },
      { "", "no fields are left" },
      { "comm,uregs", "samples of 'cycles:P' do not have the data that field 'uregs' shows" },
    } do
      local out, got = script(path, "-F", wrong[1])
      assert.are.same({ "", 2 }, { out, got.status })
      assert.matches(wrong[2], got.err, 1, true)
    end
  end)

  describe("with fields that some events do not have", function()
    local NOT_RECORDED =
      "perflua: script: samples of '%s' do not have the data that field '%s' shows\n"
    local base = { "identifier", "ip", "tid", "time" }
    local with = { "identifier", "ip", "tid", "time", "addr" }

    -- Makes a recording of these events: { name, type, config, parts, true if it has samples }.
    local function recording(events, options)
      local b = builder.new(options)
      local list = {}
      for i, one in ipairs(events) do
        list[i] = b:event { name = one[1], type = one[2], config = one[3], sample_type = one[4],
          ids = { i } }
        if options and options.late then
          table.remove(b.events)
          b:record("header_attr", { event = list[i] })
        end
        if one[5] then
          b:sample(list[i], { identifier = i, ip = 1, pid = 7, tid = 7, time = i, addr = 16 })
        end
      end
      b:record("finished_round")
      return b:write()
    end

    local dummy, clock = { "dummy:u", 1, 9, base }, { "clock", 1, 0, with, true }

    it("does not refuse those that only events without samples lack", function()
      for _, case in ipairs {
        { dummy, clock }, { clock, dummy }, -- perf skips dummies, too
        { { "faults", 1, 2, base }, clock }, { { "cycles", 0, 0, base }, clock },
        { { "a:b", 2, 1, base }, clock },
      } do
        local out, got = script(recording(case), "-F", "event,addr")
        assert.are.same({ 0, "" }, { got.status, got.err })
        assert.matches("^ *clock: +10\n$", out)
      end
      local empty = recording { dummy }
      local out, got = script(empty, "-F", "uregs,addr")
      assert.are.same({ "", 0, ("perflua: script: %s: no samples\n"):format(empty) },
        { out, got.status, got.err })
    end)

    it("shows them of the events that have them", function()
      local out, got = script(recording { { "faults", 1, 2, base, true }, clock }, "-F",
        "event,addr")
      assert.are.same({ 0, "" }, { got.status, got.err })
      assert.matches("^faults: \n *clock: +10\n$", (out:gsub("^ +", "")))
    end)

    it("refuses those that no samples of a class have", function()
      for _, case in ipairs {
        { { { "faults", 1, 2, base, true }, dummy }, "faults" },
        { { { "cycles", 0, 0, base, true }, clock }, "cycles" },
      } do
        local out, got = script(recording(case[1]), "-F", "event,addr")
        assert.are.same({ "", 2, NOT_RECORDED:format(case[2], "addr") },
          { out, got.status, got.err })
      end
    end)

    it("does so where events come late in a pipe", function()
      local late = { container = "pipe", late = true }
      local good = recording({ dummy, clock }, late)
      local bad = recording({ dummy, clock, { "cycles", 0, 0, base, true } }, late)
      for _, how in ipairs { '"$perflua" script -F event,addr "$1"',
          'cat "$1" | "$perflua" script -F event,addr -' } do
        local got = run.shell_with(how, good)
        assert.are.same({ 0, "" }, { got.status, got.err })
        assert.matches(": +10\n$", got.out)
        got = run.shell_with(how, bad)
        assert.are.same({ "", 2, NOT_RECORDED:format("cycles", "addr") },
          { got.out, got.status, got.err })
      end
    end)
  end)

  it("prints only what is asked for", function()
    local function times(...)
      local list = {}
      local out = script(path, "-G", "-F", "time,event", "--ns", ...)
      for time in out:gmatch "([%d.]+): [^\n]*\n" do list[#list + 1] = time end
      return table.concat(list, " ")
    end
    assert.are.equal("1.000001000 1.900000000 2.000000000", times("--event", "faults"))
    assert.are.equal("1.000000000 1.000001000", times("--comms", "sh"))
    assert.are.equal("1.000002000 1.500000000", times("--cpu", "2-4", "--pid", "9"))
    assert.are.equal("1.000000500", times("--tid", "8,10"))
    assert.are.equal("1.000002000 1.500000000", times("--where", "period >= 200 and cpu == 3"))
    assert.are.equal("1.500000000 1.900000000", times("--time", "1.1,1.9"))
    assert.are.equal("1.900000000 2.000000000", times("--time", "1.9,"))
  end)

  it("says what is wrong with an option", function()
    for _, wrong in ipairs {
      { "--event", "fault", "this recording has no event 'fault'; the closest is 'faults'" },
      { "--where", "perod > 3",
        "--where: filter \"perod > 3\", column 1: unknown field 'perod'; the closest is "
          .. "'period'" },
      { "--time", "abc", "--time: 'abc' is not a time such as 1718.35," },
      { "--cpu", "0,x", "--cpu: 'x' is not a number" },
      { "--max-stack", "x", "--max-stack: 'x' is not a number of frames" },
    } do
      local out, got = script(path, wrong[1], wrong[2])
      assert.are.same({ "", 2 }, { out, got.status })
      assert.matches("perflua: script: " .. wrong[3], got.err, 1, true)
      assert.is_nil(got.err:find "traceback")
    end
  end)

  it("prints a stream as the file", function()
    local got = run.shell_with("\"$perflua\" script -G - <$1", path)
    assert.are.equal(0, got.status)
    assert.are.equal(run.perflua({ "script", "-G", path }).out, got.out)
  end)

  it("writes what could drive a terminal as \\x1b, and other names as they are", function()
    local out = script(one_sample({ "ip", "tid", "time" },
      { name = "a\27[2Jb", pid = 5, tid = 5, time = 1, ip = 0x400010 }, function(b)
        b:record("comm", { pid = 5, tid = 5, comm = "x\7y \\é" })
        b:record("mmap2", { pid = 5, tid = 5, addr = 0x400000, len = 4096,
          filename = "/bin/\27]0;a b" })
      end), "-F", "comm,event,ip,dso")
    assert.are.equal("         x\\x07y \\é a\\x1b[2Jb:            400010 (/bin/\\x1b]0;a b)\n",
      out)
  end)

  it("shows each event of a group, with what it counted since its last sample", function()
    local b = builder.new()
    local format = { "group", "id" }
    local first = b:event { name = "one", type = 0,
      sample_type = { "identifier", "ip", "tid", "time", "read" },
      read_format = format, ids = { 11 } }
    b:event { name = "two", type = 0, config = 1,
      sample_type = { "identifier", "ip", "tid", "time", "read" },
      read_format = format, ids = { 12 } }
    for i, values in ipairs { { 100, 7 }, { 150, 7 }, { 151, 9 } } do
      b:sample(first, { identifier = 11, ip = 1, pid = 1, tid = 1, time = i,
        read = { { value = values[1], id = 11 }, { value = values[2], id = 12 } } })
    end
    local grouped = b:write()
    local out = script(grouped, "-F", "period,event")
    assert.are.equal("100 one:\n7 two:\n50 one:\n1 one:\n2 two:\n",
      (out:gsub(" +(%d+) (%w+): ", "%1 %2:")))
    out = script(grouped, "-F", "period,event", "--event", "two")
    assert.are.equal("7 two:\n2 two:\n", (out:gsub(" +(%d+) (%w+): ", "%1 %2:")))
  end)

  it("has a value for what was not recorded where perf has one", function()
    local b = builder.new()
    local full = b:event { name = "a", type = 1, config = 0, ids = { 1 },
      sample_type = { "identifier", "ip", "tid", "time", "cpu", "weight", "addr", "period" } }
    local bare = b:event { name = "b", type = 1, config = 1,
      sample_type = { "identifier", "ip" }, ids = { 2 } }
    b:sample(full, { identifier = 1, ip = 1, pid = 2, tid = 3, time = 4, cpu = 5, weight = 6,
      addr = 7, period = 8 })
    b:sample(bare, { identifier = 2, ip = 1 })
    local out = script(b:write(), "-F", "comm,pid,tid,cpu,addr,weight,event")
    assert.are.equal(
      "             :-1      -1/-1      [-01] b:                0               0\n",
      out:match "[^\n]*b:[^\n]*\n")
  end)

  it("does not believe a call chain with a context that there is not", function()
    local function chain(list)
      return (script(one_sample({ "ip", "tid", "time", "callchain" },
        { pid = 5, tid = 5, time = 1, ip = 1, callchain = list }), "-F", "ip"))
    end
    assert.are.equal("\n\t               1\n\n", chain { -512, 1 })
    assert.are.equal("\n\n", chain { -512, 1, -1, 2 })
  end)

  it("cuts call chains at --max-stack frames", function()
    local list = { -512 }
    for i = 1, 200 do list[i + 1] = i end
    local long = one_sample({ "ip", "tid", "time", "callchain" },
      { pid = 5, tid = 5, time = 1, ip = 1, callchain = list })
    for _, case in ipairs { { 127 }, { 3, "--max-stack", "3" },
        { 200, "--max-stack", "1000" } } do
      assert.are.equal(case[1], select(2,
        script(long, "-F", "ip", table.unpack(case, 2)):gsub("\t", "")))
    end
  end)

  it("shows what a BPF program wrote", function()
    local out = script(one_sample({ "ip", "tid", "time", "raw" },
      { name = "bpf", type = 1, config = 10, pid = 5, tid = 5, time = 1, ip = 1,
        raw = "Hello!\0\0\0\0\0\0" }),
      "-F", "event,bpf-output")
    assert.are.equal("bpf: \n"
      .. "      BPF output: 0000: 48 65 6c 6c 6f 21 00 00  Hello!..\n"
      .. "                  0008: 00 00 00 00              ....    \n"
      .. "      BPF string: \"Hello!\"\n\n", out)
  end)

  it("says so when it cannot write", function()
    local got = run.shell_with("\"$perflua\" script $1 >/dev/full", path)
    assert.are.equal(1, got.status)
    assert.matches("No space left on device", got.err, 1, true)
  end)

  it("tells its fields, all with a word of what they show", function()
    local help = run.perflua({ "script", "--help" }).out
    for _, field in ipairs(core.script_fields()) do
      assert.matches("\n  " .. field.name:gsub("%-", "%%-") .. " +%S", help)
      assert.is_true(#field.doc > 0)
    end
    assert.is_true(#fields.all() > 20)
    assert.is_true(files.exists(path))
  end)
end)
