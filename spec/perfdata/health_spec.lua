-- What file:health() counts; the tool that tells it is in spec/cli/doctor_spec.lua.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local MS = 1000000
local START = 1000 * MS

local function health(b)
  local file <close> = reading.open(b)
  return file:health()
end

--- A builder with one event of these parts beside ip, tid, time, id.
local function one_event(parts, members, options)
  local b = builder.new(options)
  local event = { sample_type = { "ip", "tid", "time", "id", table.unpack(parts or {}) } }
  for name, value in pairs(members or {}) do
    event[name] = value
  end
  return b, b:event(event)
end

--- Adds samples at these times, in ms; "round" is the end of a round.
local function samples_at(b, event, times)
  for _, time in ipairs(times) do
    if time == "round" then
      b:record "finished_round"
    else
      b:sample(event, { time = START + time * MS })
    end
  end
end

local function late(times)
  local b, event = one_event()
  samples_at(b, event, times)
  return health(b).order
end

describe("records that come too late for perf", function()
  it("are none within a round, nor in the one after it", function()
    assert.are.equal(0, late({ 5, 3, 4, 1 }).late)
    assert.are.equal(0, late({ 5, "round", 3, "round", 6 }).late)
    assert.are.equal(0, late({ 5, "round", 1, 2, 7 }).late)
  end)

  it("are those before what the rounds have delivered", function()
    -- the second round delivers up to 5, and the last of those is 5
    local order = late { 5, "round", 8, "round", 4, 6, 1 }
    assert.are.equal(2, order.late)
    assert.are.equal(4 * MS, order.worst)
    assert.are.equal(START + 4 * MS, order.first)
    assert.are.equal(0, late({ 5, "round", 8, "round", 5, 6 }).late)
  end)

  it("are judged by what was delivered, which can be earlier than the limit", function()
    -- round 3 delivers the 8; the late 2 alone is what round 4 delivers, and 7 is not late any more
    assert.are.equal(2, late({ 5, "round", 8, "round", "round", 2, 7, "round", "round", 7 }).late)
    assert.are.equal(1, late({ 5, "round", 8, "round", "round", 2, "round", 7 }).late)
  end)

  it("do not count rounds in which nothing came", function()
    assert.are.equal(0, late({ 5, "round", "round", "round", 6, "round", 5 }).late)
  end)

  it("are records of all types of the kernel that have a time", function()
    local b, event = one_event()
    samples_at(b, event, { 5, "round", 8, "round" })
    b:record("comm", { pid = 1, tid = 1, comm = "late" }, { time = START })
    b:record("comm", { pid = 1, tid = 1, comm = "made by perf" })
    assert.are.equal(1, health(b).order.late)
  end)

  it("are sorted by the time in the trailer, as perf sorts them", function()
    local b, event = one_event()
    samples_at(b, event, { 5, "round", 8, "round" })
    b:record("throttle", { time = START, id = 100 }, { time = START + 6 * MS })
    b:record("throttle", { time = START + 6 * MS, id = 100 }, { time = START })
    assert.are.equal(1, health(b).order.late)
  end)

  it("are what perf counts", function()
    if not oracle.perf then
      return pending "perf is not installed"
    end
    local seed = 7
    local function random(n)
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed // 65536 % n
    end
    local total = 0
    for _ = 1, 6 do
      local b, event = one_event()
      local base = 1
      for _ = 1, 60 do
        base = base + random(4)
        samples_at(b, event, random(5) == 0 and { "round" } or { base + random(12) })
      end
      local path = b:write()
      local text = files.output("perf script -f -F time --symfs=/nonexistent --kallsyms=/dev/null -i " .. path
        .. " 2>&1 >/dev/null")
      local theirs = tonumber(text:match "(%d+) out of order events" or 0)
      local file <close> = assert(perflua.open(path))
      assert.are.equal(theirs, file:health().order.late)
      total = total + theirs
    end
    assert.is_true(total > 0)
  end)
end)

describe("gaps", function()
  local function gaps(times)
    local b, event = one_event()
    samples_at(b, event, times)
    return health(b).gaps
  end

  local function every(interval, from, to, list)
    list = list or {}
    for time = from, to, interval do
      table.insert(list, time)
    end
    return list
  end

  it("are spans without samples that are long, and long for this recording", function()
    local found = gaps(every(1, 451, 600, every(1, 0, 250)))
    assert.are.equal(1, found.count)
    assert.are.equal(MS, found.interval)
    assert.are.same({ { from = START + 250 * MS, to = START + 451 * MS, lost = 0 } }, found.longest)
    assert.are.equal(0, gaps(every(1, 349, 600, every(1, 0, 250))).count) -- shorter than 100 ms
    assert.are.equal(0, gaps(every(50, 1000, 2000, every(50, 0, 500))).count) -- as long as ten intervals
  end)

  it("are found in whatever order the samples lie", function()
    local times = every(1, 451, 600, every(1, 0, 250))
    for i = 1, #times do
      local j = i * 7919 % #times + 1
      times[i], times[j] = times[j], times[i]
    end
    assert.are.same({ { from = START + 250 * MS, to = START + 451 * MS, lost = 0 } }, gaps(times).longest)
  end)

  it("are the five longest, and all are counted", function()
    local times, at, total = {}, 0, 0
    for i = 1, 9 do
      times = every(1, at, at + 300, times)
      at = at + 300 + 100 + i
      total = total + 100 + i
    end
    table.insert(times, at)
    local found, lengths = gaps(times), {}
    for i, gap in ipairs(found.longest) do
      lengths[i] = (gap.to - gap.from) // MS
    end
    assert.are.same({ 109, 108, 107, 106, 105 }, lengths)
    assert.are.equal(9, found.count)
    assert.are.equal(total * MS, found.total)
  end)

  it("know what was lost in them", function()
    local b, event = one_event()
    samples_at(b, event, every(1, 0, 250))
    b:record("lost", { id = 100, lost = 3 }, { time = START + 100 * MS })
    b:record("lost", { id = 100, lost = 12 }, { time = START + 450 * MS })
    b:record("lost", { id = 100, lost = 30 }, { time = START + 460 * MS })
    samples_at(b, event, every(1, 451, 600))
    assert.are.equal(12, health(b).gaps.longest[1].lost)
  end)

  it("are exact over hours, too", function()
    local times = every(100, 0, 3600 * 1000)
    every(100, 3605 * 1000, 7200 * 1000, times)
    local found = gaps(times)
    assert.are.same({ { from = START + 3600000 * MS, to = START + 3605000 * MS, lost = 0 } }, found.longest)
  end)

  it("end wherever a time is, up to the largest there is", function()
    local b, event = one_event()
    for _, time in ipairs { 1, 2, -2, 1 << 62, 1 << 20, -2 } do
      b:sample(event, { time = time })
    end
    local found = health(b).gaps
    assert.is_true(found.count <= 5)
    b, event = one_event()
    b:sample(event, { time = 5 })
    assert.are.same({ interval = 0, least = 100 * MS, count = 0, total = 0, longest = {} }, health(b).gaps)
  end)
end)

describe("lost records and samples", function()
  it("are counted, by event where that is known, and apart from what a filter dropped", function()
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
      { "throttle", 6 }, { "unthrottle", 9, event = 2, stream = 2, cpu = 3 }, { "unthrottle", 7 },
    }
    assert.are.same({ 2, 5 * MS }, { found.events[1].throttles, found.events[1].throttled_time })
    assert.are.same({ 1, 7 * MS }, { found.events[2].throttles, found.events[2].throttled_time })
    assert.are.same({
      { cpu = 0, throttles = 2, throttled_time = 5 * MS }, { cpu = 3, throttles = 1, throttled_time = 7 * MS },
    }, found.cpus)
    assert.are.equal(3, found.unthrottled)
  end)

  it("of which the end or the beginning is missing has no time", function()
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

  it("is cut when its chain has as many frames as there may be, not counting markers", function()
    local found = with_chains { chain(127, { -128 }), chain(126, { -128, -512 }), chain(127), chain(3), {} }
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
    local found = with_chains({ chain(2, { -128 }), { -128, 5, -640, 77 }, { -640, 78 } }, { defer_callchain = true })
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

  it("of branches has a length, too", function()
    local b, event = one_event({ "branch_stack" }, { branch_sample_type = { "user", "call_stack" } })
    for i, n in ipairs { 3, 32, 0, 32 } do
      local branches = {}
      for k = 1, n do
        branches[k] = { from = k, to = k }
      end
      b:sample(event, { time = START + i, branch_stack = branches })
    end
    local found = health(b).events[1]
    assert.are.same({ 3, 32, 2 }, { found.branches, found.branch_longest, found.branches_longest })
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
    assert.are.equal(0, backsteps({ 1, 2, 500, 30, 501, 31, 32, 33, 502, 503, 504, 505, 506 }).count)
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
    local times = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100 }
    assert.are.equal(0, backsteps(times, { "ip", "tid", "time", "cpu" }).count)
  end)
end)

describe("records", function()
  it("that nobody knows are counted by type", function()
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

  it("without a time, or of no event, are counted", function()
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

  it("of AUX data and of maps say what is missing", function()
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

describe("the health of a real recording", function()
  corpus.each_file(it, pending, "counts what walking it counts", function(recording)
    local file = reading.quietly(perflua.open, recording.path)
    if not file then
      return
    end
    local counts, found = file:count(), file:health()
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
