local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local export_formats = require("perflua.export").formats
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"

local MS <const> = 1000000

local export = exported.samples

describe("an export with times", function()
  it("tells perfetto and firefox which frames are the kernel's: a hypervisor's, too", function()
    local HYPERVISOR <const>, GUEST_KERNEL <const> = -32, -2176
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "callchain", "period" } }
    b:sample(event, { ip = 0x10, pid = 7, tid = 7, time = MS, misc = 3, period = 1,
      callchain = { HYPERVISOR, 0x10, GUEST_KERNEL, 0x20, chains.USER, 0x30 } })
    local path, kinds = b:write(), {}
    for i, frame in ipairs(perfetto.read((export(path, "perfetto"))).sequences[1].frames) do
      kinds[i] = frame.kind -- 1: native, 2: of the kernel; the caller first
    end
    assert.same({ 1, 2, 2 }, kinds)
    local thread = profiles.firefox((export(path, "firefox"))).threads[1]
    assert.equal("Kernel", thread.samples[1].kind)
  end)

  it("says that switches were recorded in part only, if it draws them", function()
    local path = switches.recording({ { 1000, 0, "switch", 0, 0, 7 },
      { 2000, 0, "waking", 8, 7 } }, nil, function(b) b.events[1].sample_period = 3 end)
    local file <close> = assert(perflua.open(path))
    for _, format in ipairs { "perfetto", "chrome" } do
      local _, all = exported.query(file:samples(), format)
      assert.matches("^'sched:sched_switch' was sampled: one sample stands for up to 3 events",
        all.notes[1])
      local _, others = exported.query(file:samples "sched:sched_waking", format)
      assert.same({}, others.notes)
    end
  end)

  it("writes speedscope the samples in the order of time", function()
    local path = exported.timed(3)
    local got = profiles.json(files.read((export(path, "speedscope"))))
    assert.same({ 1.5 * MS }, got.profiles[2].weights)
    got = profiles.json(files.read((export(path, "speedscope", { timeline = true }))))
    assert.same({ MS / 2, MS / 2, MS / 2 }, got.profiles[2].weights)
    assert.equal(1.5 * MS, got.profiles[2].endValue)
  end)

  it("makes times coarser until they fit, and says so", function()
    local path = exported.timed(4000)
    local out, written = export(path, "speedscope", { timeline = true, max_size = 20000 })
    local text = files.read(out)
    assert.is_true(#text <= 20000 and #text > 2000)
    assert.matches("^times are exact to [%d.]+ms only, so that", written.notes[1])
    assert.equal(4002, written.samples)
    local got = profiles.json(text)
    assert.equal(2000 * MS, got.profiles[2].endValue)
    assert.is_true(#got.profiles[2].weights > 100)
    local _, done, message = export(path, "speedscope", { timeline = true, max_size = 100 })
    assert.is_nil(done)
    assert.matches(": the profile has [%d.]+%a+ even without times, more than "
      .. "%-%-max%-size: choose fewer samples$", message)
  end)

  it("counts samples with one time, thread and call chain as one, with any workers", function()
    local path = exported.timed(30000, function(sample)
      for _ = 1, 3 do sample(8, 30001) end
      sample(8, 30000)
    end)
    local function threads_of(workers)
      local file <close> = assert(perflua.open(path, { jobs = workers }))
      local out = files.temporary()
      assert(perflua.export(file:samples(), "firefox", out))
      return profiles.firefox(out).threads
    end
    local one = threads_of(1)
    assert.equal(30000, #one[1].samples)
    local worker = one[2].samples
    assert.same({ 3, 1, 29999, 1, 30000, 3 }, {
      #worker, worker[1].weight, worker[2].time, worker[2].weight, worker[3].time,
      worker[3].weight })
    assert.same(one, threads_of(4))
  end)

  it("writes the same bytes in every format with any number of workers", function()
    local order = 0
    local b, sample = chains.recording { "0 map 7 1000-9000@0 /bin/x" }
    for i = 1, 30000 do
      order = order * 1103515245 + 12345 & 0x7fffffff -- chains come back, in no order
      local caller, leaf = order >> 8 & 255, order >> 16 & 63
      sample(i, 7 + i % 3, { chains.USER, 0x1000 + leaf, 0x2000 + caller, 0x3000 + i % 7 })
      if i % 1000 == 0 then
        b:record("comm", { pid = 7, tid = 7, comm = "name " .. i }, { time = i })
      end
    end
    local path, options = b:write(), chains.options()
    local function bytes(format, workers)
      options.jobs = workers
      local file <close> = assert(perflua.open(path, options))
      local query = file:samples()
      local more = format == "folded-diff" and { before = query } or nil
      local out, written = exported.query(query, format, more)
      assert.is_true(assert(written).samples >= 30000)
      return files.read(out)
    end
    for _, format in ipairs(export_formats) do
      local one = bytes(format, 1)
      assert.is_true(one == bytes(format, 2) and one == bytes(format, 4), format)
    end
  end)

  it("compresses the same file with any number of workers, whatever its size", function()
    local b, written = builder.new(), {}
    local clock = b:event { type = 1, sample_type = { "ip", "tid", "time" } }
    for i = 100, 330 do -- each name is three times in the text
      b:record("mmap", { pid = 7, tid = 7, addr = i << 20, len = 1 << 20,
        filename = ("/%d"):format(i):rep(1000) }, { time = 0 })
      b:sample(clock, { ip = (i << 20) + 8, pid = 7, tid = 7, time = i })
    end
    local path, out = b:write(), nil
    for _, workers in ipairs { 1, 2, 4 } do
      local file <close> = assert(perflua.open(path, { jobs = workers }))
      out = exported.query(file:samples(), "firefox")
      written[#written + 1] = files.read(out)
    end
    assert.is_true(written[1] == written[2] and written[1] == written[3])
    assert.is_true(#files.output("gzip -dc " .. files.quote(out)) > 5 * 2 ^ 19)
    local left = {}
    for _, lib in ipairs(profiles.firefox(out).libs) do
      left[lib.path] = (left[lib.path] or 0) + 1
    end
    for i = 100, 330 do assert.equal(1, left[("/%d"):format(i):rep(1000)]) end
  end)

  it("leaves no new file where the profile does not fit, and an old one as it was", function()
    local file <close> = assert(perflua.open(exported.timed(1), chains.options()))
    local out = files.directory {} .. "/out.json"
    finally(function() os.remove(out) end)
    local function write(max_size)
      return perflua.export(file:samples(), "speedscope", out,
        { timeline = true, max_size = max_size })
    end
    assert.is_nil((write(100)))
    assert.is_false(files.exists(out))
    assert(write(100000))
    local old = files.read(out)
    assert.is_nil((write(100)))
    assert.equal(old, files.read(out))
  end)

  it("refuses formats and samples without times, and sizes that are none", function()
    local path = exported.timed(1)
    assert.has_error(function() export(path, "pprof", { timeline = true }) end,
      "export: pprof cannot hold times")
    assert.has_error(function() export(path, "firefox", { max_size = 0 }) end,
      "export: max_size: a number of bytes expected")
    assert.has_error(function() export(path, "pprof", { max_size = 9 }) end,
      "export: max_size makes times coarser, and pprof cannot hold times")
    assert.has_error(function() export(path, "speedscope", { max_size = 9 }) end,
      "export: max_size makes times coarser, and there are none without timeline")
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid" } }
    b:sample(event, { ip = chains.READ, pid = 7, tid = 7, misc = 1 })
    path = b:write()
    assert.has_error(function() export(path, "firefox") end,
      "export: firefox needs times, and samples have none: record with -T")
    local got = run.perflua { "export", "--to", "speedscope", "--max-size", "5 MB", path }
    assert.equal("perflua: export: --max-size: '5 MB' is not a number of bytes, as 5000000 or "
      .. "50M\n", got.err)
  end)
end)
