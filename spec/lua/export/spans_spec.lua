-- perflua.export() of spans.
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

describe("perflua.export of spans", function()
  it("writes speedscope spans one in another, those that overlap otherwise apart", function()
    local got, written = export(exported.spans {
      { 1, 7, 100, 1 }, { 1, 7, 110, 2 }, { 2, 7, 120, 2 }, { 2, 7, 130, 1 },
      { 1, 7, 130, 3 }, { 1, 7, 140, 4 }, { 2, 7, 150, 3 }, { 2, 7, 160, 4 },
      { 1, 8, 105, 1 }, { 2, 8, 106, 1 },
    }, exported.PAIR)
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
    local file <close> = assert(perflua.open(exported.spans {
      { 1, 7, 100, 1 }, { 2, 7, 130, 1 }, { 1, 8, 140, 2 }, { 2, 8, 150, 2 },
    }))
    local query = file:samples():pair(exported.PAIR)
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
    local file <close> = assert(perflua.open(exported.spans(list)))
    local query = file:samples():pair(exported.PAIR)
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
    local path = exported.spans {
      { 1, 7, 1000000, 1 }, { 1, 7, 1500000, 2 }, { 2, 7, 2000000, 1 }, { 2, 7, 2000001, 2 },
      { 1, 8, 3000000, 1 }, { 2, 8, 3000000, 1 },
    }
    local file <close> = assert(perflua.open(path))
    local out, written = exported.query(file:samples():pair(exported.PAIR), "firefox",
      { title = "a" })
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
    local file <close> = assert(perflua.open(exported.spans {}))
    local query = file:samples():pair(exported.PAIR)
    local out, written = exported.query(query, "firefox")
    assert.same({ samples = 0, set_aside = 0, notes = {} }, written)
    assert.same({}, profiles.firefox(out).threads)
    assert.same({ nil, "/dev/full: No space left on device", "ENOSPC" },
      { perflua.export(query, "firefox", "/dev/full") })
  end)

  it("refuses spans where the format has no room for them", function()
    local file <close> = assert(perflua.open(exported.spans {}))
    assert.has_error(function()
      perflua.export(file:samples():pair(exported.PAIR), "pprof", files.temporary())
    end, "export: a query of samples expected, not of spans")
    local out = files.directory {} .. "/out"
    for _, format in ipairs { "perfetto", "firefox", "chrome" } do
      assert.has_error(function()
        local spans = file:samples():pair(exported.PAIR)
        perflua.export(file:samples():within(spans), format, out)
      end, "export: a query of samples or spans expected, not of records inside of spans")
      assert.is_false(files.exists(out))
    end
  end)
end)
