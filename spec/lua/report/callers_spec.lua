-- Reports, mostly with callers: the core makes and sorts their rows as Lua does.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local model = require "spec.support.model.report"
local report = require "perflua.report"

local KERNEL, USER = -128, -512

-- Two functions of one name, some whose names look like addresses.
local kallsyms = files.temporary [[
ffffffff81000000 T _text
ffffffff81000100 T read
ffffffff81000200 T twice
ffffffff81000300 t twice
ffffffff81000400 T 0x0000000000001040
ffffffff81000500 T 0x
ffffffff81000600 T zero
ffffffff81001000 T _end
]]
local options = { symfs = "spec/fixtures/empty", kallsyms = kallsyms }

local function random_from(seed)
  return function(n)
    seed = seed * 6364136223846793005 + 1442695040888963407
    return (seed >> 33) % n
  end
end

local function recording()
  local b, random, events = builder.new(), random_from(7), {}
  for i, name in ipairs { "cycles", "faults" } do
    events[i] = b:event {
      name = name, ids = { i }, sample_type = { "ip", "tid", "time", "id", "cpu", "period",
        "addr", "callchain" },
    }
  end
  mapped.add(b, {
    "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 [kernel.kallsyms]_text",
    "- map 7 1000-2000 /bin/a", "- map 8 1000-2000 /usr/bin/a", "- map 8 2000-3000 /lib/b.so",
  })
  for _, pid in ipairs { 7, 8 } do
    local id = { pid = pid, tid = pid, time = 1, cpu = 0, id = 1 }
    b:record("comm", { pid = pid, tid = pid, comm = "name" .. pid }, id)
  end
  for i = 1, 600 do
    local chain, pid = {}, 7 + random(3)
    if random(2) == 0 then
      chain[1] = KERNEL
      for _ = 1, random(4) do
        chain[#chain + 1] = 0xffffffff81000100 + 256 * random(6) + random(2)
      end
    end
    chain[#chain + 1] = USER
    for _ = 1, random(5) do chain[#chain + 1] = 0x1000 + 32 * random(160) end
    local event = events[1 + random(2)]
    b:sample(event, {
      ip = chain[2] ~= USER and chain[2] or 0, pid = pid, tid = pid, time = 10 + i,
      cpu = random(12), id = event.ids[1],
      addr = random(3) == 0 and -random(5) or random(20), period = 1 + random(3),
      callchain = chain,
      misc = chain[1] == KERNEL and 1 or 2,
    })
  end
  return b:write()
end

-- Asserts that the core reads what Lua makes of the records.
local function same(file, asked)
  asked.order = "file"
  local prepared = report.prepare(file, asked)
  assert.are.equal(asked.children ~= false, prepared.children)
  local got = model.read(prepared)
  prepared = report.prepare(file, asked)
  interpret(prepared.query, true)
  assert.same(model.read(prepared), got)
  return got
end

local sorts = {
  { "comm", "dso", "symbol" }, { "symbol" }, { "dso" }, { "symbol", "pid", "dso" },
  { "dso", "addr" },
  { "tid", "symbol" }, { "cpu", "event", "symbol" }, { "time", "dso" }, { "stack", "symbol" },
  { "time + 1", "time + 2", "time + 3", "time + 4", "time + 5", "time + 6", "addr", "symbol" },
  { "addr % 2 / 3", "dso" }, { "addr > 5", "comm", "dso" }, { "machine_pid", "symbol" },
}

describe("a report with callers", function()
  local path = recording()

  for _, sort in ipairs(sorts) do
    it("has the rows that Lua makes of the records, in the same order: "
      .. table.concat(sort, ", "), function()
      local file <close> = assert(perflua.open(path, options))
      local got = same(file, { sort = sort, children = true })
      assert.are.equal(600, got.events[1].samples + got.events[2].samples)
    end)
  end

  for _, sort in ipairs(sorts) do
    it("has them without callers, too: " .. table.concat(sort, ", "), function()
      local file <close> = assert(perflua.open(path, options))
      local got = same(file, { sort = sort, children = false })
      assert.are.equal(600, got.events[1].samples + got.events[2].samples)
    end)
  end

  it("tells functions apart whose names differ only in what folded stacks replace", function()
    local b, sample = chains.recording { chains.kernel }
    for time, leaf in ipairs { 0xffffffff81000400, 0xffffffff81000500 } do
      sample(time, 7, { KERNEL, leaf, chains.READ })
    end
    local file <close> = assert(perflua.open(b:write(), chains.options()))
    for _, children in ipairs { true, false } do
      local got = model.read(report.prepare(file, { sort = { "symbol" }, children = children }))
      local periods, values = {}, got.events[1].values
      for i, name in ipairs(values[1]) do periods[name] = values[4][i] end
      assert.same({ ["part:ing"] = 2, ["part;ing"] = 1, read = children and 0 or nil }, periods)
    end
  end)

  it("shows the first rows, or those above a share, with the sums of all", function()
    local file <close> = assert(perflua.open(path, options))
    local all = same(file, { children = true }).events[1]
    local function first(shown)
      return model.read(report.prepare(file, { children = true }), shown).events[1]
    end
    local cut, limited = first { count = 7, limit = 0 }, first { limit = 2.5 }
    assert.are.equal(7, cut.n)
    assert.is_true(all.n > limited.n and limited.n > 0)
    for _, one in ipairs { cut, limited } do
      assert.are.same({ all.samples, all.period, all.unresolved },
        { one.samples, one.period, one.unresolved })
      assert.are.same({ table.unpack(all.values[3], 1, one.n) }, one.values[3])
    end
    local children = all.values[#all.values]
    assert.is_true(100 * children[limited.n] / all.period >= 2.5
      and 100 * children[limited.n + 1] / all.period < 2.5)
  end)

  it("has the conditions and events that are asked for", function()
    local file <close> = assert(perflua.open(path, options))
    local got = same(file, { event = "faults", where = { "pid == 8", "under('read')" },
      children = true })
    assert.are.same({ 1, "faults" }, { #got.events, got.events[1].event })
  end)

  it("raises periods that add up to more than an integer holds", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "period", "callchain" } }
    for pid = 1, 129 do
      b:sample(event, { ip = 1, pid = pid, tid = pid, time = 1, period = (1 << 56) - 1,
        callchain = { USER, 1 } })
    end
    local file <close> = assert(perflua.open(b:write()))
    for _, interpreted in ipairs { false, true } do
      local prepared = report.prepare(file, { sort = { "pid", "dso" } })
      interpret(prepared.query, interpreted)
      assert.error_matches(function() model.read(prepared) end, "2%^63")
    end
  end)

  it("sets samples aside whose period is damage", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "period", "callchain" } }
    for i, period in ipairs { 3, -1, 4, 1 << 56 } do
      b:sample(event, { ip = 1, pid = 1, tid = 1, time = i, period = period,
        callchain = { USER, i, 1 } })
    end
    local file <close> = assert(perflua.open(b:write()))
    local got = same(file, { sort = { "dso" } })
    assert.are.same({ 2, 2, 7 }, { got.aside, got.events[1].samples, got.events[1].period })
  end)

  it("raises periods of one row that add up to more than twice that", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "period", "callchain" } }
    for ip = 1, 288 do -- 2^61 is left of nearly 9 * 2^61 in 64 bits
      b:sample(event, { ip = ip, pid = 1, tid = 1, time = ip, period = (1 << 56) - 1,
        callchain = { USER, ip } })
    end
    local file <close> = assert(perflua.open(b:write()))
    for _, interpreted in ipairs { false, true } do
      local prepared = report.prepare(file, { sort = { "dso" } })
      interpret(prepared.query, interpreted)
      assert.is_true(prepared.children)
      assert.error_matches(function() model.read(prepared) end, "2%^63")
    end
  end)

  local recordings = {
    "recorded/amd64-7.2/defer.data", "recorded/arm64/fp-g.data", "recorded/s390x/all.data",
    "collected/dkuo123__lockfree/test/perf.data", "collected/NanXiao__images/perf/perf.data",
  }
  for _, name in ipairs(recordings) do
    needs.it("corpus", "has the rows that Lua makes of a real recording: " .. name, function()
      local path_of_it = corpus.root .. "/" .. name
      local file <close> = assert(perflua.open(path_of_it,
        { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
      same(file, {})
      for _, sort in ipairs { { "comm", "dso", "symbol" }, { "dso" },
          { "pid", "symbol", "ip" } } do
        same(file, { sort = sort, children = false })
      end
    end)
  end

  needs.it("corpus",
    "names modules and the kernel as perf report does, as one without callers", function()
    for name, binary in pairs { [recordings[4]] = "[sunrpc]",
        [recordings[5]] = "[kernel.vmlinux]" } do
      local file <close> = assert(perflua.open(corpus.root .. "/" .. name))
      for _, children in ipairs { true, false } do
        local result = model.read(report.prepare(file,
          { sort = { "dso" }, children = children }))
        local names = {}
        for _, dso in ipairs(result.events[1].values[1]) do names[dso] = true end
        assert.is_true(names[binary], binary)
      end
    end
  end)
end)
