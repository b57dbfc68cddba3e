-- perflua.export(query, "chrome"): trace events.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local switches = require "spec.support.switches"
local trace_events = require "spec.support.trace_events"

local export = trace_events.export

describe("perflua.export of trace events", function()
  local US <const> = 1000

  it("shows other samples as instants with their call chains", function()
    local b, sample = chains.recording { chains.kernel }
    b:record("comm", { pid = 7, tid = 7, comm = "before" }, { time = 1 })
    sample(10, 7, { chains.KERNEL, chains.READ, chains.TWICE })
    b:record("comm", { pid = 7, tid = 7, comm = "\27\xff\"" }, { time = 2009 })
    sample(2010, 7, { chains.KERNEL, chains.READ, chains.OTHER })
    local trace = export(b:write())
    table.sort(trace.instants, function(one, other) return one.ts < other.ts end)
    local first, second = table.unpack(trace.instants)
    assert.same({ "cpu-clock", 0, 2, "read", "[kernel.kallsyms]", 10 }, { first.name, first.ts,
      second.ts, first.args.symbol, first.args.dso, first.args.period })
    assert.same({ "read", "twice" }, { trace.frames[first.sf].name,
      trace.frames[trace.frames[first.sf].parent].name })
    assert.equal("\27\u{fffd}\"", trace.names["thread_name 7/7"])
  end)

  it("adds up instants of close times until they fit, and keeps all weights", function()
    local b, sample = chains.recording { chains.kernel }
    for i = 1, 3000 do
      sample(1000 * i, 7 + i % 2, { chains.KERNEL, chains.READ, chains.TWICE })
    end
    sample(4000000, 0, { chains.KERNEL, chains.READ })
    local path = b:write()
    local function add_up(options)
      local trace, written, size = export(path, nil, options)
      local samples, period = 0, 0
      for _, instant in ipairs(trace.instants) do
        samples = samples + (instant.args.samples or 1)
        period = period + instant.args.period
        assert.equal("read", trace.frames[instant.sf].name)
        assert.equal("[kernel.kallsyms]", trace.frames[instant.sf].category)
      end
      assert.same({ 3001, 3001 }, { written.samples, samples })
      return #trace.instants, period, size, written.notes
    end
    local n, period, size, notes = add_up {}
    assert.same({ 3001, {} }, { n, notes })
    assert.is_true(size > 300000)
    local fewer, same, smaller, said = add_up { max_size = 50000 }
    assert.equal(period, same)
    assert.is_true(fewer > 50 and fewer < 500 and smaller <= 50200)
    assert.matches("^times are exact to [%d.]+us only, so that", said[1])
    local file <close> = assert(perflua.open(path))
    local _, message = perflua.export(file:samples(), "chrome", files.temporary(),
      { max_size = 800 })
    assert.matches(" even without times, more than %-%-max%-size", message)
    assert.has_error(function()
      perflua.export(file:samples(), "chrome", files.temporary(), { max_size = 0 })
    end, "export: max_size: a number of bytes expected")
  end)

  it("names threads by their last names, whoever writes their samples", function()
    local b, sample = chains.recording { chains.kernel }
    for i, name in ipairs { "zsh", "make", "cc" } do
      b:record("comm", { pid = 7, tid = 7, comm = name }, { time = 1000 * i })
      sample(1000 * i + 1, 7, { chains.KERNEL, chains.READ })
    end
    assert.equal("cc", export(b:write()).names["thread_name 7/7"])
  end)

  it("draws what each process counted, from values that samples carry", function()
    local b = builder.new()
    local sample_type = { "identifier", "ip", "tid", "time", "period", "read" }
    local events = {}
    for i, name in ipairs { "cycles", "misses" } do
      events[i] = b:event { name = name, ids = { i }, sample_type = sample_type,
        read_format = { "id", "group" }, sample_period = i == 1 and 100 or 0 }
    end
    for i, values in ipairs { { 7, 100, 4 }, { 7, 200, 4 }, { 0, 310, 9 }, { 7, 450, 10 } } do
      b:sample(events[1], { identifier = 1, ip = 1, pid = values[1], tid = values[1],
        time = i * US, period = 100,
        read = { { value = values[2], id = 1 }, { value = values[3], id = 2 } } })
    end
    local trace = export(b:write())
    table.sort(trace.counters)
    assert.same({ "cycles 0 100", "cycles 1 200", "cycles 2 110", "cycles 3 340",
      "misses 0 4", "misses 2 5", "misses 3 5" }, trace.counters)
    assert.equal(7, #trace.instants)
  end)

  it("draws what threads counted until they ended, of whole recordings", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1, 2 }, inherit_stat = true,
      sample_id_all = true, sample_type = { "ip", "tid", "time", "id" } }
    b:sample(event, { ip = 1, pid = 7, tid = 7, time = US, id = 1 })
    for i, one in ipairs { { 7, 8, 1, 10 }, { 9, 9, 2, 5 }, { 7, 7, 2, 30 } } do
      b:record("read", { pid = one[1], tid = one[2], read = { value = one[4] } },
        { time = (i + 1) * US, id = one[3], pid = one[1], tid = one[2] })
    end
    local path = b:write()
    local name = "cycles, of threads that ended"
    assert.same({ name .. " 1 10", name .. " 2 5", name .. " 3 40" }, export(path).counters)
    assert.same({}, export(path, function(file)
      return file:samples():where "pid == 7"
    end).counters)
  end)

  it("gives each span a track", function()
    local trace = export(switches.recording {
      { 10 * US, 0, "switch", 0, 0, 7 }, { 20 * US, 0, "switch", 7, 0, 0 },
      { 30 * US, 0, "switch", 0, 0, 9 },
    }, function(file)
      return file:samples():pair { open = "sched:sched_switch", close = "sched:sched_switch",
        key = "cpu" }
    end)
    local one, two = trace.spans["span 1"], trace.spans["span 2"]
    assert.same({ 0, 10, 10, 20, 7 }, { one.b.ts, one.e.ts, two.b.ts, two.e.ts, two.b.tid })
    assert.equal("sched:sched_switch", one.b.name)
  end)

  it("counts times of spans from the first sample, in streams from 0", function()
    local b = builder.new { container = "pipe" }
    local event = b:event { name = "cycles", ids = { 1 },
      sample_type = { "identifier", "tid", "time", "cpu" } }
    for i, cpu in ipairs { 0, 1, 1, 0 } do
      b:sample(event, { identifier = 1, pid = i, tid = i, time = 10 * i * US, cpu = cpu })
    end
    local path, dir = b:write(), files.directory {}
    local function times(from)
      local spans = export(from, function(file)
        return file:samples():pair { open = { where = "tid <= 2" },
          close = { where = "tid > 2" }, key = "cpu" }
      end).spans
      local inner, outer = spans["span 1"], spans["span 2"]
      return { inner.b.ts, inner.e.ts, outer.b.ts, outer.e.ts }
    end
    assert.same({ 10, 20, 0, 30 }, times(path))
    finally(function() os.execute("rm -r " .. files.quote(dir)) end)
    os.execute(("mkfifo %s/fifo; cat %s > %s/fifo &"):format(dir, path, dir))
    assert.same({ 20, 30, 10, 40 }, times(dir .. "/fifo"))
  end)

  it("names spans of system calls by them", function()
    local trace = export("spec/fixtures/calls.perf.data", function(file)
      return file:samples():pair { open = "raw_syscalls:sys_enter",
        close = "raw_syscalls:sys_exit" }
    end)
    local names = {}
    for _, span in pairs(trace.spans) do names[span.b.name] = true end
    assert.is_true(names.read and names.write and not names["raw_syscalls:sys_enter"])
  end)

  it("says what it cannot show", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid" } }
    mapped.add(b, { chains.kernel })
    b:sample(event, { ip = 1, pid = 7, tid = 7 })
    local path = b:write()
    assert.has_error(function() export(path) end,
      "export: these samples have no times, which chrome needs")
    b = chains.recording { chains.kernel }
    assert.has_error(function()
      export(b:write(), function(file) return file:samples():unnest "callchain" end)
    end, "export: chrome takes samples and spans, not items")
  end)
end)
