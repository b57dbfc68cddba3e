-- perflua.export(query, "speedscope") of spans.
local builder = require "spec.support.builder"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"

local function export(path, options)
  local file <close> = assert(perflua.open(path))
  local query = file:samples():pair(options)
  local out, written = exported.query(query, "speedscope")
  return profiles.json(files.read(out)), assert(written), query:sum "duration"
end

-- Reads a profile: "O name at", "C name at" in order. Raises if events do not lie one in
-- another, or in time. Returns the texts, and what the spans last together.
local function read(got, profile)
  local open, texts, time, total = {}, {}, 0, 0
  for i, event in ipairs(profile.events) do
    assert(event.at >= time and event.at <= profile.endValue, "out of time")
    time = event.at
    texts[i] = ("%s %s %d"):format(event.type, got.shared.frames[event.frame + 1].name,
      event.at)
    if event.type == "O" then
      open[#open + 1] = event
    else
      local last = assert(table.remove(open), "closed before it is open")
      assert(last.frame == event.frame, "closed within another")
      total = total + event.at - last.at
    end
  end
  assert(not open[1], "left open")
  return texts, total
end

-- Records samples { event, tid, time, ip }, of the events 1 and 2.
local function recording(list)
  local b, events = builder.new(), {}
  for i, name in ipairs { "begin", "end" } do
    events[i] = b:event { name = name, ids = { i },
      sample_type = { "ip", "tid", "time", "id" } }
  end
  b:record("comm", { pid = 7, tid = 7, comm = "sh\"\xff" }, { time = 1 })
  for _, s in ipairs(list) do
    b:sample(events[s[1]], { pid = 7, tid = s[2], time = s[3], ip = s[4], id = s[1] })
  end
  return b:write()
end

describe("perflua.export of spans", function()
  local PAIR <const> = { open = "begin", close = "end", key = { "tid", "ip" } }

  it("writes speedscope spans one in another, those that overlap otherwise apart", function()
    local got, written = export(recording {
      { 1, 7, 100, 1 }, { 1, 7, 110, 2 }, { 2, 7, 120, 2 }, { 2, 7, 130, 1 },
      { 1, 7, 130, 3 }, { 1, 7, 140, 4 }, { 2, 7, 150, 3 }, { 2, 7, 160, 4 },
      { 1, 8, 105, 1 }, { 2, 8, 106, 1 },
    }, PAIR)
    assert.equal(5, written.samples)
    assert.equal(3, #got.profiles)
    local first, second, third = got.profiles[1], got.profiles[2], got.profiles[3]
    assert.same({ "evented", "nanoseconds", 0, 60, 'sh"\u{fffd} (pid 7)' },
      { first.type, first.unit, first.startValue, first.endValue, first.name })
    assert.same({ "O begin 0", "O begin 10", "C begin 20", "C begin 30", "O begin 30",
      "C begin 50" }, (read(got, first)))
    assert.equal('sh"\u{fffd} (pid 7), beside 1', second.name)
    assert.same({ "O begin 40", "C begin 60" }, (read(got, second)))
    assert.same({ "O begin 5", "C begin 6" }, (read(got, third)))
  end)

  it("writes what system calls last", function()
    local got, _, duration = export("spec/fixtures/calls.perf.data",
      { open = "raw_syscalls:sys_enter", close = "raw_syscalls:sys_exit" })
    local total, names = 0, {}
    for _, profile in ipairs(got.profiles) do
      local _, sum = read(got, profile)
      total = total + sum
    end
    for i, frame in ipairs(got.shared.frames) do names[i] = frame.name end
    assert.equal(duration, total)
    assert.is_truthy(table.concat(names, " "):find "read")
  end)

  it("writes chrome names of threads as UTF-8, and no more bytes than --max-size", function()
    local file <close> = assert(perflua.open(recording {
      { 1, 7, 100, 1 }, { 2, 7, 130, 1 }, { 1, 8, 140, 2 }, { 2, 8, 150, 2 },
    }))
    local query = file:samples():pair(PAIR)
    local names = {}
    for _, event in ipairs(profiles.json(files.read((exported.query(query, "chrome"))))
        .traceEvents) do
      if event.name == "thread_name" then names[event.tid] = event.args.name end
    end
    assert.same({ [7] = 'sh"\u{fffd}', [8] = "[unknown]" }, names)
    local out = files.temporary()
    local done, message = perflua.export(query, "chrome", out, { max_size = 100 })
    assert.is_nil(done)
    assert.matches("the spans take more than the 100B of --max-size", message, 1, true)
  end)

  it("leaves out the shortest spans where --max-size has no room for all", function()
    local list, n, ns = {}, 4000, 0
    for i = 1, n do -- span i lasts i µs
      list[#list + 1] = { 1, 7, i * 10000000, i }
      list[#list + 1] = { 2, 7, i * 10000000 + i * 1000, i }
    end
    local file <close> = assert(perflua.open(recording(list)))
    local query = file:samples():pair(PAIR)
    local lengths = {
      chrome = function(out)
        local found, begun = {}, {}
        for _, event in ipairs(profiles.json(files.read(out)).traceEvents) do
          if event.ph == "b" then begun[event.id] = event.ts end
          if event.ph == "e" then found[#found + 1] = event.ts - begun[event.id] end
        end
        return found
      end,
      firefox = function(out)
        local found = {}
        for _, marker in ipairs(profiles.firefox(out).threads[1].markers) do
          found[#found + 1] = (marker.stop - marker.time) * 1000
        end
        return found
      end,
      speedscope = function(out)
        local found, open = {}, nil
        for _, event in ipairs(profiles.json(files.read(out)).profiles[1].events) do
          if event.type == "C" then found[#found + 1] = (event.at - open) / 1000 end
          open = event.at
        end
        return found
      end,
      perfetto = function(out)
        local found = {}
        for _, track in pairs(perfetto.read(out).tracks) do
          for _, slice in ipairs(track.slices or {}) do
            found[#found + 1] = (slice.stop - slice.start) / 1000
          end
        end
        return found
      end,
    }
    for i = 1, n do ns = ns + i end
    for format, lengths_in in pairs(lengths) do
      local out, written = exported.query(query, format, { max_size = 120000 })
      local found = lengths_in(out)
      local text = format == "firefox" and files.output("gzip -dc " .. files.quote(out))
        or files.read(out)
      assert.is_true(#text <= 120000 and #text > 60000, format .. " has " .. #text)
      assert.is_true(#found > 300 and #found < n)
      local kept, least = 0, n
      for _, us in ipairs(found) do
        least = math.min(least, math.floor(us + 0.5))
        kept = kept + math.floor(us + 0.5)
      end
      assert.equal(#found, n - least + 1) -- the longest of all
      assert.equal(n, written.samples)
      local short = written.notes[1]:match "^spans shorter than .*: (%d+) of 4000,"
      assert.equal(n - #found, tonumber(short))
      assert.matches(("%.2fs in all"):format((ns - kept) / 1e6), written.notes[1], 1, true)
      assert.same({}, select(2, exported.query(query, format)).notes)
    end
  end)

  it("writes firefox a marker for each span, in the thread that opened it", function()
    local path = recording {
      { 1, 7, 1000000, 1 }, { 1, 7, 1500000, 2 }, { 2, 7, 2000000, 1 }, { 2, 7, 2000001, 2 },
      { 1, 8, 3000000, 1 }, { 2, 8, 3000000, 1 },
    }
    local file <close> = assert(perflua.open(path))
    local out, written = exported.query(file:samples():pair(PAIR), "firefox", { title = "a" })
    assert.same({ samples = 3, set_aside = 0, notes = {} }, written)
    local got = profiles.firefox(out)
    assert.same({ 60, "a", 1 }, { got.meta.preprocessedProfileVersion, got.meta.product,
      got.meta.startTime })
    local sh, worker = got.threads[1], got.threads[2]
    assert.same({ 'sh"\u{fffd}', 'sh"\u{fffd}', "7", 7, {} },
      { sh.name, sh.process, sh.pid, sh.tid, sh.samples })
    assert.same({ { name = "begin", time = 0, stop = 1 },
      { name = "begin", time = 0.5, stop = 1.000001 } }, sh.markers)
    assert.same({ 'sh"\u{fffd}', "7", 8 }, { worker.process, worker.pid, worker.tid })
    assert.same({ { name = "begin", time = 2, stop = 2 } }, worker.markers)
  end)

  it("writes firefox a profile without spans, and says where there is no room", function()
    local file <close> = assert(perflua.open(recording {}))
    local query = file:samples():pair(PAIR)
    local out, written = exported.query(query, "firefox")
    assert.same({ samples = 0, set_aside = 0, notes = {} }, written)
    assert.same({}, profiles.firefox(out).threads)
    assert.same({ nil, "/dev/full: No space left on device", "ENOSPC" },
      { perflua.export(query, "firefox", "/dev/full") })
  end)

  -- Exports to perfetto. Returns what is read back, and for each thread its slices as texts
  -- "start-stop depth", with the number of the track if that is a further one.
  local function slices_of(query)
    local out, written = exported.query(query, "perfetto")
    local got, texts, n = perfetto.read(out), {}, 0
    for uuid, track in pairs(got.tracks) do
      local thread = track.parent and got.tracks[track.parent] or track
      assert(not track.parent or track.name == "overlapping" and thread.tid)
      local key = thread.tid or track.name
      for _, slice in ipairs(track.slices) do
        local list = texts[key] or {}
        texts[key], n = list, n + 1
        list[#list + 1] = ("%d-%d %d%s"):format(slice.start, slice.stop, slice.depth,
          track.parent and " " .. uuid or "")
      end
    end
    for _, list in pairs(texts) do table.sort(list) end
    assert.equal(written.samples, n)
    return got, texts
  end

  it("writes perfetto spans as slices of their threads, with tracks for those that overlap",
    function()
      local file <close> = assert(perflua.open(recording {
        { 1, 7, 100, 1 }, { 1, 7, 110, 2 }, { 2, 7, 120, 2 }, { 2, 7, 130, 1 },
        { 1, 7, 130, 3 }, { 1, 7, 140, 4 }, { 2, 7, 150, 3 }, { 2, 7, 160, 4 },
        { 1, 7, 170, 5 }, { 2, 7, 170, 5 }, { 1, 7, 170, 6 }, { 1, 7, 170, 7 },
        { 2, 7, 180, 6 }, { 1, 7, 185, 8 }, { 2, 7, 190, 8 }, { 2, 7, 190, 7 },
        { 1, 8, 105, 1 }, { 2, 8, 106, 1 },
      }))
      local got, texts = slices_of(file:samples():pair(PAIR))
      assert.same({ [7] = 'sh"\xff' }, got.processes)
      assert.same({ [7] = 'sh"\xff', [8] = ":8" }, got.threads)
      assert.same({ "105-106 0" }, texts[8])
      assert.same({ "100-130 0", "110-120 1", "130-150 0", "140-160 0 4", "170-170 0",
        "170-180 0", "170-190 0 4", "185-190 0" }, texts[7])
      for _, track in pairs(got.tracks) do
        assert.equal(7, track.parent and 7 or track.pid)
        for _, slice in ipairs(track.slices) do assert.equal("begin", slice.name) end
      end
    end)

  -- Returns what a query says of its spans, and what the slices of a trace are, both in order.
  local function compare(list)
    local file <close> = assert(perflua.open(recording(list)))
    local query, expected, found = file:samples():pair(PAIR), {}, {}
    query:select("open.tid", "start", "stop"):each(function(...)
      expected[#expected + 1] = ("%d %d %d"):format(...)
    end)
    local got = slices_of(query)
    for _, track in pairs(got.tracks) do
      for _, slice in ipairs(track.slices) do
        found[#found + 1] = ("%d %d %d"):format((got.tracks[track.parent] or track).tid,
          slice.start, slice.stop)
        assert.is_true(slice.depth < 512, "deeper than Perfetto reads")
      end
    end
    table.sort(expected)
    table.sort(found)
    assert.is_true(#expected > 500)
    assert.same(expected, found)
    return got
  end

  local function sort(list)
    for i, one in ipairs(list) do one.number = i end
    table.sort(list, function(a, b)
      if a[3] ~= b[3] then return a[3] < b[3] end
      return a.number < b.number
    end)
    return list
  end

  it("keeps each span's times in perfetto, however many overlap", function()
    math.randomseed(1)
    for _, longest in ipairs { 4, 60, 2000 } do
      local list = {}
      for i = 1, 1000 do
        local tid, start = math.random(7, 8), math.random(100, 2000)
        list[#list + 1] = { 1, tid, start, i }
        list[#list + 1] = { 2, tid, start + math.random(0, longest), i }
      end
      compare(sort(list))
    end
  end)

  it("nests spans in perfetto as deep as it reads, also one around many", function()
    local list = {}
    for i = 1, 600 do
      list[#list + 1] = { 1, 7, 1000 + i, i }
      list[#list + 1] = { 2, 7, 9000 - i, i }
      list[#list + 1] = { 1, 8, 1000 + 2 * i, i }
      list[#list + 1] = { 2, 8, 1001 + 2 * i, i }
    end
    list[#list + 1], list[#list + 2] = { 1, 8, 1000, 0 }, { 2, 8, 9000, 0 }
    local depths = {}
    for _, track in pairs(compare(sort(list)).tracks) do
      for _, slice in ipairs(track.slices) do
        local name = track.tid or "overlapping"
        depths[name] = math.max(depths[name] or 0, slice.depth)
      end
    end
    assert.same({ [7] = 499, [8] = 1, overlapping = 99 }, depths)
  end)

  it("writes perfetto the last name of a thread, and spans of no thread", function()
    local b, events = builder.new(), {}
    for i, name in ipairs { "begin", "end" } do
      events[i] = b:event { name = name, ids = { i },
        sample_type = { "ip", "tid", "time", "id" } }
    end
    local function add(pid, tid, time)
      for i = 1, 2 do
        b:sample(events[i], { pid = pid, tid = tid, time = time + i, ip = 1, id = i })
      end
    end
    b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
    add(7, 7, 100)
    b:record("comm", { pid = 7, tid = 7, comm = "Web Content" }, { time = 200 })
    add(7, 7, 300)
    add(-1, -1, 400)
    local file <close> = assert(perflua.open(b:write()))
    local got, texts = slices_of(file:samples():pair(PAIR))
    assert.same({ [7] = "Web Content" }, got.processes)
    assert.same({ [7] = "Web Content" }, got.threads)
    assert.same({ [7] = { "101-102 0", "301-302 0" }, spans = { "401-402 0" } }, texts)
    assert.same({ nil, "/dev/full: No space left on device", "ENOSPC" },
      { perflua.export(file:samples():pair(PAIR), "perfetto", "/dev/full") })
  end)

  it("refuses spans where the format has no room for them", function()
    local file <close> = assert(perflua.open(recording {}))
    assert.has_error(function()
      perflua.export(file:samples():pair(PAIR), "pprof", files.temporary())
    end, "export: a query of samples expected, not of spans")
    local out = files.directory {} .. "/out"
    for _, format in ipairs { "perfetto", "firefox", "chrome" } do
      assert.has_error(function()
        local spans = file:samples():pair(PAIR)
        perflua.export(file:samples():within(spans), format, out)
      end, "export: a query of samples or spans expected, not of records inside of spans")
      assert.is_false(files.exists(out))
    end
  end)
end)
