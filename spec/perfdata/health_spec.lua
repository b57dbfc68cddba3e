-- core.health() counts what is wrong with a recording; the tool that tells it is in
-- spec/cli/doctor_spec.lua.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local helper = require "spec.support.health"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local health, one_event, samples_at = helper.of, helper.one_event, helper.samples_at
local START, MS = helper.START, 1000000

describe("lost records and samples", function()
  it("are counted, by event where that is known, and apart from what a filter "
    .. "dropped", function()
    for _, endian in ipairs { "little", "big" } do
      local b, one = one_event(nil, nil, { endian = endian })
      local two = b:event { sample_type = { "ip", "tid", "time", "id" } }
      b:sample(one, { time = START })
      b:record("lost", { id = 100, lost = 5 }, { time = START })
      b:record("lost", { id = 101, lost = 2 }, { time = START })
      b:record("lost_samples", { lost = 4 }, { event = two, time = 0 })
      b:record("lost_samples", { lost = 1 }, { event = one, time = 0 })
      b:record("lost_samples", { lost = 9, bpf = true }, { event = one, time = 0 })
      local found = health(b)
      assert.are.same({ 7, 5, 9 }, { found.lost_records, found.lost_samples, found.filtered })
      assert.are.same({ 1, 4 }, { found.events[1].lost_samples, found.events[2].lost_samples })
      assert.are.same({ 9, 0 }, { found.events[1].filtered, found.events[2].filtered })
      assert.are.equal(6, found.kernel)
    end
  end)
end)

describe("throttling", function()
  local function throttling(list)
    local b, one = one_event { "cpu" }
    local two = b:event { sample_type = { "ip", "tid", "time", "id", "cpu" } }
    for _, r in ipairs(list) do
      local event = r.event == 2 and two or one
      b:record(r[1], { time = START + r[2] * MS, id = event.ids[1], stream_id = r.stream or 1 },
        { event = event, time = START + r[2] * MS, cpu = r.cpu or 0 })
    end
    return health(b)
  end

  it("lasts from a THROTTLE to the UNTHROTTLE of the same event on the same cpu", function()
    local found = throttling {
      { "throttle", 1 }, { "throttle", 2, event = 2, stream = 2, cpu = 3 }, { "unthrottle", 5 },
      { "throttle", 6 }, { "unthrottle", 9, event = 2, stream = 2, cpu = 3 },
      { "unthrottle", 7 },
    }
    assert.are.same({ 2, 5 * MS },
      { found.events[1].throttles, found.events[1].throttled_time })
    assert.are.same({ 1, 7 * MS },
      { found.events[2].throttles, found.events[2].throttled_time })
    assert.are.same({
      { cpu = 0, throttles = 2, throttled_time = 5 * MS },
      { cpu = 3, throttles = 1, throttled_time = 7 * MS },
    }, found.cpus)
    assert.are.equal(3, found.unthrottled)
  end)

  it("has no time if its end or beginning is missing", function()
    local found = throttling { { "unthrottle", 3 }, { "throttle", 5 } }
    assert.are.same({ 1, 0 }, { found.events[1].throttles, found.events[1].throttled_time })
    found = throttling { { "throttle", 5 }, { "unthrottle", 3 } }
    assert.are.equal(0, found.events[1].throttled_time)
  end)
end)

describe("a stack", function()
  local function chain(frames, markers)
    local list = { table.unpack(markers or {}) }
    for i = 1, frames do
      table.insert(list, 0x1000 + i)
    end
    return list
  end

  local function with_chains(list, members)
    local b, event = one_event({ "callchain" }, members)
    for i, callchain in ipairs(list) do
      b:sample(event, { time = START + i, callchain = callchain })
    end
    return health(b).events[1]
  end

  it("is cut when its chain has as many frames as there may be, not counting "
    .. "markers", function()
    local found = with_chains { chain(127, { -128 }), chain(126, { -128, -512 }), chain(127),
      chain(3), {} }
    assert.are.same({ 4, 2, 127, 2 },
      { found.chains, found.chains_cut, found.chain_longest, found.chains_longest })
    found = with_chains({ chain(16, { -128 }), chain(15, { -512 }) }, { sample_max_stack = 16 })
    assert.are.same({ 16, 1 }, { found.chain_limit, found.chains_cut })
  end)

  it("may be longer than usual: then its length says so", function()
    local found = with_chains { chain(127), chain(300), chain(200), chain(300, { -512 }) }
    assert.are.same({ 300, 2 }, { found.chain_longest, found.chains_longest })
  end)

  it("waits for its user part when it ends with a marker and a cookie", function()
    local found = with_chains({ chain(2, { -128 }), { -128, 5, -640, 77 }, { -640, 78 } },
      { defer_callchain = true })
    assert.are.same({ 3, 2, 2 }, { found.chains, found.deferred, found.chain_longest })
  end)

  it("is cut when the copy of it was full", function()
    local b, event = one_event({ "stack_user" }, { sample_stack_user = 64 })
    for i, dyn_size in ipairs { 64, 40, 64 } do
      b:sample(event, { time = START + i, stack_user = ("s"):rep(64), dyn_size = dyn_size })
    end
    b:sample(event, { time = START + 9, stack_user = "" })
    local found = health(b).events[1]
    assert.are.same({ 3, 2, 64 }, { found.stacks, found.stacks_full, found.stack_size })
  end)

  it("has a length for branches, too", function()
    local b, event = one_event({ "branch_stack" },
      { branch_sample_type = { "user", "call_stack" } })
    for i, n in ipairs { 3, 32, 0, 32 } do
      local branches = {}
      for k = 1, n do
        branches[k] = { from = k, to = k }
      end
      b:sample(event, { time = START + i, branch_stack = branches })
    end
    local found = health(b).events[1]
    assert.are.same({ 3, 32, 2 }, { found.branches, found.branch_longest,
      found.branches_longest })
  end)
end)

describe("a clock", function()
  local function backsteps(times, parts)
    local b = builder.new()
    local event = b:event { sample_type = parts or { "ip", "tid", "time", "id" } }
    samples_at(b, event, times)
    return health(b).backsteps
  end

  it("goes back where many samples are earlier than one before them", function()
    local found = backsteps { 1, 2, 500, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39 }
    assert.are.same({ count = 1, worst = 470 * MS, first = START + 30 * MS }, found)
  end)

  it("does not where a few were held up", function()
    assert.are.equal(0, backsteps({ 1, 2, 500, 30, 501, 31, 32, 33, 502, 503, 504, 505,
      506 }).count)
  end)

  it("is not blamed for buffers that follow one another", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "id" }, ids = { 1, 2 } }
    for id = 1, 2 do
      for time = 1, 20 do
        b:sample(event, { time = START + 20 * time * MS, id = id })
      end
    end
    assert.are.equal(0, health(b).backsteps.count)
    local times = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 10, 20, 30, 40, 50, 60, 70, 80, 90,
      100 }
    assert.are.equal(0, backsteps(times, { "ip", "tid", "time", "cpu" }).count)
  end)
end)

describe("records", function()
  it("are counted by type if it is unknown", function()
    local b, event = one_event()
    b:sample(event, { time = START })
    for type = 200, 240 do
      b:raw(type, 0, "")
    end
    b:raw(200, 0, "")
    b:raw(40, 0, "")
    local found = health(b)
    assert.are.same({ type_id = 200, records = 2 }, found.unknown_types[1])
    local sum = 0
    for _, row in ipairs(found.unknown_types) do
      sum = sum + row.records
    end
    assert.are.equal(43, sum)
    assert.are.equal(16, #found.unknown_types)
  end)

  it("are counted if they have no time or no event", function()
    local b, event = one_event(nil, { sample_id_all = false })
    b:event { sample_type = { "ip", "tid", "time", "id" }, sample_id_all = false }
    b:record("comm", { pid = 1, tid = 1, comm = "x" })
    b:sample(event, { time = START })
    b:sample(event, { time = 0 })
    b:sample(event, { time = START, id = 4711 })
    local found = health(b)
    assert.are.equal(1, found.untimed)
    assert.are.equal(1, found.events[1].untimed)
    assert.are.equal(1, found.unknown_event.samples)
    assert.is_false(found.ordered)
  end)

  it("say what is missing in AUX data and maps", function()
    local b = one_event()
    for _, flags in ipairs { 0, 1, 4, 8, 13, 2 } do
      b:record("aux", { aux_offset = 0, aux_size = 8, flags = flags }, { time = START })
    end
    b:record("mmap2", { pid = 1, tid = 1, filename = "/a", misc = 1 << 12 | 2 })
    b:record("mmap2", { pid = 1, tid = 1, filename = "/b", build_id = ("ab"):rep(20) })
    local found = health(b)
    assert.are.same({ 2, 2, 2 }, { found.aux_truncated, found.aux_partial, found.aux_collided })
    assert.are.same({ 1, 1 }, { found.maps_cut, found.maps_with_ids })
  end)
end)

describe("health counted by several workers", function()
  local KINDS = { "round", "late", "back", "lost", "throttle", "unthrottle" }

  -- More than 1 MB with faults all over it, so that workers share it in parts.
  local function ill(parts, seed)
    local function below(n)
      seed = (seed * 1103515245 + 12345) % (1 << 31)
      return seed // 65536 % n
    end
    local b = builder.new()
    local event = b:event { sample_type = parts, ids = { 1, 2, 3 } }
    local time = START
    for _ = 1, 24000 do
      time = time + below(40) * 10000
      local kind = KINDS[below(200) + 1]
      local id = below(3) + 1
      if kind == "round" then
        b:record "finished_round"
      elseif kind == "lost" then
        b:record("lost", { id = id, lost = below(9) }, { time = time })
      elseif kind == "throttle" or kind == "unthrottle" then
        b:record(kind, { time = time, id = id, stream_id = 1 }, { time = time, cpu = id })
      end
      for i = 1, kind == "back" and 9 or 1 do
        local earlier = (kind == "back" or kind == "late") and (20 - i) * MS or 0
        b:sample(event, { time = time - earlier, id = id, cpu = id,
          callchain = { -512, table.unpack({ 1, 2, 3, 4, 5 }, 1, below(6)) } })
      end
      if below(3000) == 0 then time = time + 700 * MS end
    end
    return b:write()
  end

  for name, parts in pairs {
    ids = { "ip", "tid", "time", "id", "cpu", "callchain" },
    cpus = { "ip", "tid", "time", "cpu", "callchain" },
  } do
    it("is what one counts, with " .. name, function()
      local path, one = ill(parts, #name)
      for _, workers in ipairs { 1, 2, 5 } do
        local file <close> = assert(perflua.open(path, { jobs = workers }))
        local found = core.health(file)
        one = one or found
        assert.are.same(one, found)
      end
      assert.is_true(one.order.late > 10 and one.gaps.count > 1 and one.unthrottled > 10
        and one.lost_records > 10 and (name == "cpus" or one.backsteps.count > 2))
    end)
  end
end)

describe("the health of a real recording", function()
  corpus.each_file(it, "counts what walking it counts", function(recording)
    local file = reading.quietly(perflua.open, recording.path)
    if not file then
      return
    end
    local counts, found = core.count(file), core.health(file)
    for id, count in pairs(counts.types) do
      if found.types[id] then
        assert.are.equal(count.count, found.types[id])
      end
    end
    for i, event in ipairs(counts.events) do
      assert.are.equal(event.count, found.events[i].samples)
    end
    assert.are.equal(counts.unknown_event.count, found.unknown_event.samples)
    assert.are.equal(counts.lost_records, found.lost_records)
    assert.are.equal(counts.lost_samples, found.lost_samples + found.filtered)
    assert.are.equal(0, found.backsteps.count)
    file:close()
  end)
end)
