local builder = require "spec.support.builder"
local folded = require "perflua.flame.folded"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
require "spec.support.model"
local stacks = require "perflua.flame.stacks"
local spec_of = require("perflua.core").query_spec

local user, kernel = "user", "kernel"
local KERNEL, USER = -128, -512

local maps = {
  "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 [kernel.kallsyms]_text",
  "- map 7 1000-2000 /bin/sh", "- map 7 2000-3000 /lib/a\xff.so",
  "- map 7 3000-4000 /lib/a\xfe.so",
  "- map 7 4000-5000 /tmp/perf-77.map", "- map 7 5000-6000 [JIT] tid 7",
  "- map 7 6000-7000 /x/jitted-7-12.so",
  "- map 7 7000-8000 /x/jitted-7-.so", "- map 7 8000-9000 /x/perf-.map",
}

-- Samples { event = 1 or 2, pid, tid, comm, chain = {…}, period }.
local function query(samples)
  local b, events, named = builder.new(), {}, {}
  for i, name in ipairs { "cycles", "faults" } do
    events[i] = b:event {
      name = name, ids = { i }, sample_type = { "ip", "tid", "time", "id", "period",
        "callchain" },
    }
  end
  mapped.add(b, maps)
  for i, s in ipairs(samples) do
    local pid, tid = s.pid or 7, s.tid or 7
    if s.comm and not named[tid] then
      b:record("comm", { pid = pid, tid = tid, comm = s.comm },
        { pid = pid, tid = tid, time = 1, id = 1 })
      named[tid] = true
    end
    local event = events[s.event or 1]
    local in_kernel = s.chain and s.chain[1] == KERNEL
    b:sample(event, {
      ip = s.ip or s.chain and s.chain[2] or 0, pid = pid, tid = tid, time = 10 + i,
      id = event.ids[1],
      callchain = s.chain or {}, period = s.period or 1, misc = in_kernel and 1 or 2,
    })
  end
  local file = perflua.open(b:write(),
    { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" })
  return file:samples { order = "file" }
end

-- A loop over tables with the fields of samples, as over a query.
local function records(list)
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

local function collect(samples, options)
  options = options or {}
  options.by = options.by or "comm"
  local asked = options.inline and records(samples) or query(samples)
  local sets, message, n_aside = stacks.collect(asked, options)
  if options.inline then return sets, message, n_aside end
  local again = query(samples)
  spec_of(again).interpreted = true
  assert.same({ sets and sets[1].list, message or n_aside }, (function()
    local others, other, n_other = stacks.collect(again, options)
    return { others and others[1].list, other or n_other }
  end)())
  return sets, message, n_aside
end

local function text(set, annotate)
  local parts = {}
  folded.write(function(line) parts[#parts + 1] = line end, set.list, annotate)
  return table.concat(parts)
end

local sample = { comm = "sh", pid = 7, tid = 8, chain = { USER, 0x1000, 0x1100 }, period = 10 }

describe("stacks of samples", function()
  it("tell the binary of each function, unless several have one of that name", function()
    local sets = stacks.collect(query {
      { comm = "sh", chain = { USER, 0x1010, 0x2010, 0x6010 } },
      { comm = "sh", chain = { USER, 0x3010, 0x9010 } },
      { comm = "sh", chain = { KERNEL, 0xffffffff81000010, USER, 0x1020 } },
    }, { by = "comm", kinds = true })
    assert.same({ ["[sh]"] = "/bin/sh", ["[a?.so]"] = false, ["[unknown]"] = false,
      ["[jitted-7-12.so]"] = "/x/jitted-7-12.so", ["[kernel.kallsyms]"] = "[kernel.kallsyms]" },
      sets[1].binaries)
  end)

  it("are added up by command and call chain", function()
    local sets = collect { sample, { comm = "cc", chain = { USER, 0x1000 }, period = 3 },
      sample }
    assert.are.equal("cc;[sh] 3\nsh;[sh];[sh] 20\n", text(sets[1]))
    assert.are.equal(23, sets[1].total)
    assert.are.equal(3, sets[1].samples)
  end)

  it("are counted when that is asked for", function()
    assert.are.equal("sh;[sh];[sh] 2\n", text(collect({ sample, sample }, { count = true })[1]))
  end)

  it("begin with process or thread when that is asked for, or with neither", function()
    assert.are.equal("sh-7;[sh];[sh] 10\n", text(collect({ sample }, { by = "pid" })[1]))
    assert.are.equal("sh-7/8;[sh];[sh] 10\n", text(collect({ sample }, { by = "tid" })[1]))
    assert.are.equal("[sh];[sh] 10\n", text(collect({ sample }, { by = "none" })[1]))
  end)

  it("are never added up over several events", function()
    local sets = collect({
      { event = 2, comm = "sh", period = 1 }, { event = 1, comm = "sh", period = 500 },
      { event = 2, period = 1 },
    }, { split = true })
    assert.are.same({ "cycles", "faults" }, { sets[1].event.name, sets[2].event.name })
    assert.are.equal("sh;[unknown] 500\n", text(sets[1]))
    assert.are.same({ 1, 2 }, { sets[1].samples, sets[2].samples })
  end)

  it("become one if their cleaned names are the same", function()
    local sets = collect {
      { comm = "a;b", tid = 8, chain = { USER, 0x2000 }, period = 1 },
      { comm = "a:b", tid = 9, chain = { USER, 0x3000 }, period = 2 },
    }
    assert.are.equal("a:b;[a?.so] 3\n", text(sets[1]))
  end)

  it("are the command alone where no record has a call chain or an address", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "time" }, sample_period = 4 }
    b:sample(event, { time = 1 })
    local file = perflua.open(b:write())
    assert.are.equal("[unknown] 4\n",
      text(stacks.collect(file:samples { order = "file" }, { by = "tid" })[1]):gsub(
      "%-%?/%?", ""))
  end)

  it("know kernel frames and those made at run time", function()
    local chain = { KERNEL, 0xffffffff81000100, USER, 0x1000, 0x4000, 0x5000, 0x6000, 0x7000,
      0x8000, 0x9000 }
    local sets = collect({ { comm = "node", chain = chain },
      { comm = "sh", tid = 8, chain = { KERNEL } } },
      { kinds = true })
    assert.are.equal(
      "node;[unknown];[perf-.map];[jitted-7-.so];[jitted-7-12.so]_[j];[JIT] tid "
        .. "7_[j];[perf-77.map]_[j];"
      .. "[sh];[kernel.kallsyms]_[k] 1\nsh;[unknown]_[k] 1\n", text(sets[1], true))
  end)

  it("have inlined functions below the one whose code they are", function()
    local inside = { { symbol = "inner;1" }, { symbol = "outer" } }
    local record = {
      comm = "sh", period = 1, stack = "main;work", callchain = {
        { cpumode = user, dso = "/bin/sh", symbol = "work", inlined = inside },
        { cpumode = user, dso = "/lib/lib\n.so" }, { cpumode = user, dso = "[vdso]" },
      },
    }
    local alone = { comm = "sh", period = 1, stack = "idle", cpumode = kernel }
    local sets = collect({ record, alone }, { kinds = true, inline = true })
    assert.are.equal("sh;[vdso];[lib?.so];work;outer_[i];inner:1_[i] 1\nsh;idle_[k] 1\n",
      text(sets[1], true))
  end)

  it("are refused if their weights exceed an integer", function()
    local samples = {}
    for i = 1, 129 do samples[i] = { comm = "sh", period = (1 << 56) - 1 } end
    for _, options in ipairs { {}, { inline = true } } do
      local sets, message = collect(samples, options)
      assert.is_nil(sets)
      assert.matches("2^63", message, 1, true)
    end
    assert.are.equal(#samples, collect(samples, { count = true })[1].total)
  end)

  it("are without samples whose period is damage, unless samples are counted", function()
    for _, huge in ipairs { 1 << 56, math.maxinteger, math.mininteger, -1 } do
      local samples = { { comm = "sh", period = 7 }, { comm = "sh", period = huge },
        { comm = "sh", period = huge } }
      for _, options in ipairs { {}, { inline = true } } do
        local sets, _, n_aside = collect(samples, options)
        assert.are.same({ 7, 1, 2 }, { sets[1].total, sets[1].samples, n_aside })
      end
      local sets, _, n_aside = collect(samples, { count = true })
      assert.are.same({ 3, 0 }, { sets[1].total, n_aside })
    end
  end)
end)
