local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local formats = require("perflua.export").formats
local mapped = require "spec.support.mapped"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"

local function export(path, format, options)
  local out, written = exported.samples(path, format, options)
  return out, assert(written)
end

describe("perflua.export", function()
  it("writes pprof a value for each event, threads as labels", function()
    local got = profiles.pprof((export(exported.recording(), "pprof")))
    assert.same({ { "cpu-clock", "nanoseconds" }, { "page-faults", "count" } }, got.types)
    local texts = {}
    for i, sample in ipairs(got.samples) do
      texts[i] = ("%s %d %d %d"):format(sample.stack, sample.labels.tid, sample.values[1],
        sample.values[2])
    end
    table.sort(texts)
    assert.same({ "read 7 30 0", "read;twice 7 150 0", "read;twice 8 0 3",
      "twice;twice;read 8 7 0" }, texts)
    assert.equal("[kernel.kallsyms]", got.mappings[1].name)
    assert.equal("sh (pid 7)", got.samples[1].labels.thread)
  end)

  it("adds up pprof's samples by function where lines are left out", function()
    local b, sample = chains.recording { chains.kernel }
    for i = 0, 1 do sample(10 + i, 7, { chains.KERNEL, chains.READ + i, chains.TWICE + i }) end
    local path = b:write()
    local function samples_of(options)
      return #profiles.pprof((export(path, "pprof", options))).samples
    end
    assert.same({ 2, 1 }, { samples_of(), samples_of { lines = false } })
  end)

  it("has pprof show the event that samples time, with its period if that is fixed", function()
    local b = builder.new()
    local sample_type = { "ip", "tid", "time", "period", "id" }
    local faults = b:event { name = "faults", type = 1, config = 2, ids = { 1 },
      sample_type = sample_type, sample_period = 1 }
    local clock = b:event { name = "clock", type = 1, config = 1, ids = { 2 },
      sample_type = sample_type, sample_period = 250 }
    local cycles = b:event { name = "cycles", type = 0, config = 0, ids = { 3 },
      sample_type = sample_type, sample_period = 4000, freq = true }
    for i, event in ipairs { faults, clock, faults, faults, cycles, cycles } do
      b:sample(event, { ip = 1, pid = 7, tid = 7, time = i, period = 5,
        id = event == faults and 1 or event == clock and 2 or 3 })
    end
    local path = b:write()
    local file <close> = assert(perflua.open(path))
    local got = profiles.pprof((exported.query(file:samples(), "pprof")))
    assert.same({ "cycles", { "cycles", "count" }, nil },
      { got.default, got.period_type, got.period })
    local query = file:samples { event = { "faults", "clock" } }
    got = profiles.pprof((exported.query(query, "pprof", { count = true })))
    assert.same({ "clock", { "clock", "nanoseconds" }, 250 },
      { got.default, got.period_type, got.period })
    assert.same({ { "faults", "count" }, { "clock", "count" } }, got.types)
    assert.same({ nil, nil }, { got.time, got.duration })
  end)

  it("tells pprof when the samples were taken, where the recording says that", function()
    local MS <const>, NOON <const> = 1000000, 1795176000 * 1000000000
    local b, sample = chains.recording { chains.kernel }
    b:feature("clock_data", { clockid = 1, wall_clock = NOON, clock_time = 5 * MS })
    for i = 1, 4 do sample(i * MS, 7, { chains.KERNEL, chains.READ }) end
    local file <close> = assert(perflua.open(b:write(), chains.options()))
    local got = profiles.pprof((exported.query(file:samples(), "pprof")))
    assert.same({ NOON - 4 * MS, 3 * MS }, { got.time, got.duration })
    got = profiles.pprof((exported.query(file:samples():between(2 * MS, 3 * MS), "pprof")))
    assert.same({ NOON - 3 * MS, MS }, { got.time, got.duration })
  end)

  it("gives pprof for the first mapping the program, not what it loads", function()
    local function first_of(comm, maps)
      local b, sample = chains.recording { "- map 7 1000-2000 /usr/lib/libc.so.6",
        "- map 7 2000-3000 /usr/lib/libz.so", table.unpack(maps) }
      b:record("comm", { pid = 7, tid = 7, comm = comm }, { time = 1 })
      b:record("comm", { pid = 8, tid = 8, comm = "other" }, { time = 1 })
      for i, address in ipairs { 0x2100, 0x1100, 0x2100, 0x2100, 0x3100, 0x4100, 0x4100 } do
        sample(10 * i, 7, { chains.USER, address })
      end
      sample(90, 8, { chains.USER, 0x3100 })
      return profiles.pprof((export(b:write(), "pprof"))).mappings[1].name
    end
    local one = "- map 7 3000-4000 /opt/a-long-name-that-is-cut"
    local two = "- map 7 4000-5000 /opt/it"
    assert.equal("/opt/a-long-name-that-is-cut", first_of("a-long-name-tha", { one, two }))
    assert.equal("/opt/it", first_of("renamed", { one, two }))
    assert.equal("/usr/lib/libz.so", first_of("renamed", {}))
  end)

  it("writes callgrind what each function weighs, and each call once a stack", function()
    local out = export(exported.recording(), "callgrind")
    local got = profiles.callgrind(files.read(out))
    assert.same({ "cpu-clock", "page-faults" }, got.events)
    assert.same({ 187, 3 }, got.summary)
    assert.same({ read = { 180, 3 }, twice = { 7, 0 } }, got.self)
    assert.same({
      ["twice > read"] = { n = 3, cost = { 150, 3 } },
      ["twice > twice"] = { n = 1, cost = { 7, 0 } },
      ["read > twice"] = { n = 1, cost = { 7, 0 } },
    }, got.calls)
  end)

  it("writes folded stacks as fold does, of one event", function()
    local path = exported.recording()
    local file <close> = assert(perflua.open(path, chains.options()))
    local out = files.temporary()
    perflua.export(file:samples "cpu-clock", "folded", out)
    local options = chains.options()
    local fold = run.perflua { "fold", "--symfs", options.symfs, "--kallsyms",
      options.kallsyms, "--event", "cpu-clock", path }
    assert.equal(fold.out, files.read(out))
    assert.has_error(function() perflua.export(file:samples(), "folded", out) end,
      "export: folded takes one event, and there are cpu-clock, page-faults: choose one")
  end)

  it("counts samples, and takes filters", function()
    local file <close> = assert(perflua.open(exported.recording(), chains.options()))
    local out = files.temporary()
    perflua.export(file:samples("cpu-clock"):where "tid == 7", "callgrind", out,
      { count = true })
    assert.same({ 3 }, profiles.callgrind(files.read(out)).summary)
  end)

  it("makes stacks of one frame where no sample has a call chain", function()
    local got = profiles.callgrind(files.read((export(run.demo, "callgrind"))))
    assert.is_true(got.summary[1] > 0)
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid",
      "period" } }
    mapped.add(b, { chains.kernel })
    for _, ip in ipairs { chains.READ, chains.READ, chains.TWICE } do
      b:sample(event, { ip = ip, pid = 7, tid = 7, period = 5, misc = 1 })
    end
    got = profiles.callgrind(files.read((export(b:write(), "callgrind"))))
    assert.same({ read = { 10 }, twice = { 5 } }, got.self)
  end)

  it("makes one frame of all addresses where nothing was mapped", function()
    local b, sample = chains.recording { chains.kernel }
    for i = 1, 9 do
      sample(10 * i, 7, { chains.KERNEL, chains.READ, chains.USER, 0x10000 * i, 0x20000 * i })
    end
    local got = profiles.json(files.read((export(b:write(), "speedscope"))))
    assert.equal(2, #got.shared.frames)
    assert.same({ 450 }, got.profiles[1].weights)
    local names = {}
    for i, frame in ipairs(got.profiles[1].samples[1]) do
      names[i] = got.shared.frames[frame + 1].name
    end
    assert.same({ "[unknown]", "[unknown]", "read" }, names)
  end)

  it("keeps names of 60 KB, and frames of one name once", function()
    local long = ("n"):rep(60000)
    local b, sample = chains.recording { "- map 7 1000-9000 /" .. long }
    sample(10, 7, chains.of(3))
    sample(20, 7, chains.of(4))
    local path, out = b:write(), files.temporary()
    local file <close> = assert(perflua.open(path, chains.options()))
    for _, format in ipairs { "speedscope", "pprof", "callgrind", "folded" } do
      assert(perflua.export(file:samples(), format, out))
      local text = format == "pprof" and profiles.pprof(out).samples[1].stack
        or files.read(out)
      assert.is_truthy(text:find("[" .. long .. "]", 1, true), format)
      if format == "speedscope" then assert.equal(2, #profiles.json(text).shared.frames) end
    end
  end)

  it("writes whole profiles of no samples", function()
    local file <close> = assert(perflua.open(exported.recording(), chains.options()))
    local out = files.temporary()
    for _, format in ipairs { "speedscope", "firefox", "perfetto", "pprof", "callgrind",
      "folded" } do
      local written = assert(perflua.export(file:samples():where "tid == 9", format, out))
      assert.equal(0, written.samples, format)
      if format == "speedscope" then
        assert.same({}, profiles.json(files.read(out)).profiles)
      elseif format == "firefox" then
        assert.same({}, profiles.firefox(out).threads)
      elseif format == "perfetto" then
        assert.same({}, perfetto.read(out).sequences)
      elseif format == "callgrind" then
        assert.matches("\nevents:\nsummary:\n$", files.read(out))
      end
    end
  end)

  it("says what is wrong with a format, a query and a path", function()
    local file <close> = assert(perflua.open(exported.recording(), chains.options()))
    local query = file:samples()
    assert.has_error(function() perflua.export(query, "pproff", "x") end,
      ("export: no format 'pproff': there are %s; the closest is 'pprof'"):format(
        table.concat(formats, ", ")))
    assert.has_error(function() perflua.export({}, "pprof", "x") end,
      "export: a query of samples expected")
    assert.has_error(function() perflua.export(query:group_by "comm", "pprof", "x") end,
      "export: a query of samples expected, this one is grouped")
    assert.has_error(function() perflua.export(query, "pprof", "x", { lins = true }) end,
      "export: unknown option 'lins'; the closest is 'lines'")
    assert.has_error(function() perflua.export(query, "pprof", "x", 5) end,
      "export: a table of options expected, got a number")
    assert.has_error(function() perflua.export(query, "csv", "x", { timeline = true }) end,
      "export: csv does not take the option 'timeline'")
    assert.has_error(function() perflua.export(query, "pprof", "x", { before = query }) end,
      "export: pprof does not take the option 'before'")
    for _, format in ipairs { "pprof", "csv", "chrome" } do
      assert.has_error(function() perflua.export(query, format, 5) end,
        "a path or an open file expected, got a number")
    end
    local done, message = perflua.export(query, "pprof", "spec/fixtures")
    assert.is_nil(done)
    assert.equal("spec/fixtures: Is a directory", message)
  end)
end)

describe("perflua.export of events of one name", function()
  local path

  setup(function()
    local b = builder.new()
    for i = 1, 3 do
      b:event { name = i < 3 and "clock" or "clock (x)", type = 1, config = 0, ids = { i },
        sample_type = { "ip", "tid", "time", "period", "id" }, sample_period = 100 * i }
    end
    for i, id in ipairs { 2, 1, 2, 3 } do
      b:sample(b.events[id], { ip = 0x1000, pid = 7, tid = 7, time = i, period = 100 * id,
        id = id })
    end
    path = b:write()
  end)

  it("tells them apart by number, in whatever order their samples are", function()
    assert.same({ { "clock", "nanoseconds" }, { "clock (2)", "nanoseconds" },
      { "clock (x)", "nanoseconds" } }, profiles.pprof((export(path, "pprof"))).types)
    local out = files.read((export(path, "callgrind")))
    assert.matches("\nevents: clock clock_%(2%) clock_%(x%)\nsummary: 100 400 300\n", out)
    local names = {}
    for i, one in ipairs(profiles.json(files.read((export(path, "speedscope")))).profiles) do
      names[i] = ("%s %d"):format(one.name:match ", (.*) %(not", one.endValue)
    end
    assert.same({ "clock (2) 400", "clock 100", "clock (x) 300" }, names)
  end)

  it("folds the first, and says how another is selected", function()
    for _, tool in ipairs { "fold", "export" } do
      local function fold(...)
        local option = tool == "export" and "--to=folded" or "--by=comm"
        return run.perflua { tool, path, option, ... }
      end
      local said = "perflua: " .. tool .. ": using samples of clock"
      local same = "; --where 'event.index == 2' selects another of this name\n"
      local other = "; --event selects another: clock (x)"
      assert.same({ ":7;[unknown] 100\n", said .. other .. same },
        { fold().out, fold().err })
      assert.same({ ":7;[unknown] 100\n", said .. same },
        { fold("--event", "clock").out, fold("--event", "clock").err })
      assert.same({ ":7;[unknown] 400\n", "" }, { fold("--where", "event.index == 2").out,
        fold("--where", "event.index == 2").err })
    end
  end)
end)

describe("perflua.export of records", function()
  it("is refused where samples are counted, and gives rows of all of them", function()
    local file <close> = assert(perflua.open(exported.recording(), chains.options()))
    for _, format in ipairs { "pprof", "chrome", "sqlite" } do
      for _, query in ipairs { file:records(), file:records "comm" } do
        assert.has_error(function() perflua.export(query, format, "x") end,
          ("export: %s is made of samples, and this query has other records: "
          .. "file:samples() has samples only"):format(format))
      end
    end
    local out = files.temporary()
    assert.equal(2, assert(perflua.export(file:records("comm"):select("tid", "comm"), "csv",
      out)).samples)
    assert.equal("tid,comm\n7,sh\n", files.read(out):match "^.-\n.-\n")
    assert.equal(5, assert(perflua.export(file:records "sample", "callgrind", out,
      { count = true })).samples)
  end)
end)
