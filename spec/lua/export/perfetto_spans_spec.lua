local builder = require "spec.support.builder"
local exported = require "spec.support.exported"
local perfetto = require "spec.support.perfetto"
local perflua = require "perflua"

describe("perflua.export of spans for perfetto", function()
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
      local file <close> = assert(perflua.open(exported.spans {
        { 1, 7, 100, 1 }, { 1, 7, 110, 2 }, { 2, 7, 120, 2 }, { 2, 7, 130, 1 },
        { 1, 7, 130, 3 }, { 1, 7, 140, 4 }, { 2, 7, 150, 3 }, { 2, 7, 160, 4 },
        { 1, 7, 170, 5 }, { 2, 7, 170, 5 }, { 1, 7, 170, 6 }, { 1, 7, 170, 7 },
        { 2, 7, 180, 6 }, { 1, 7, 185, 8 }, { 2, 7, 190, 8 }, { 2, 7, 190, 7 },
        { 1, 8, 105, 1 }, { 2, 8, 106, 1 },
      }))
      local got, texts = slices_of(file:samples():pair(exported.PAIR))
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
    local file <close> = assert(perflua.open(exported.spans(list)))
    local query, expected, found = file:samples():pair(exported.PAIR), {}, {}
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
    local got, texts = slices_of(file:samples():pair(exported.PAIR))
    assert.same({ [7] = "Web Content" }, got.processes)
    assert.same({ [7] = "Web Content" }, got.threads)
    assert.same({ [7] = { "101-102 0", "301-302 0" }, spans = { "401-402 0" } }, texts)
    assert.same({ nil, "/dev/full: No space left on device", "ENOSPC" },
      { perflua.export(file:samples():pair(exported.PAIR), "perfetto", "/dev/full") })
  end)
end)
