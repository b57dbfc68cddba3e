-- Tables merged: the same as one query over all, in any order and grouping.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local function all(t)
  local list = {}
  for row in t:rows() do list[#list + 1] = row end
  return list
end

-- The tables merged two neighbours at a time, in any order of the pairs; shuffled before unless
-- `in_order`.
local function merged(tables, in_order)
  local list = table.move(tables, 1, #tables, 1, {})
  for i = #list, 2, -1 do
    local k = in_order and i or math.random(i)
    list[i], list[k] = list[k], list[i]
  end
  while #list > 1 do
    local i = math.random(#list - 1)
    list[i] = list[i]:merge(table.remove(list, i + 1))
  end
  return list[1]
end

-- A recording of n samples (60) of the events of these names.
local function recording(names, seed, n)
  local b = builder.new()
  local parts, events = { "identifier", "ip", "tid", "time", "cpu", "period" }, {}
  for i, name in ipairs(names) do
    events[i] = b:event { name = name, type = 1, config = i, sample_type = parts, ids = { i } }
  end
  for i = 1, n or 60 do
    local k = (i * 7 + seed * 13) % #names + 1
    b:sample(events[k], { identifier = k, ip = 0x400000 + i % 5 * 16, pid = i % 3,
      tid = (i + seed) % 4 - 1,
      time = 1000 * i + seed, cpu = (i * seed) % 4,
      period = (i * 7919 * seed) % 1000003 << (i % 30) })
  end
  return b:write()
end

-- Every measure that does not take the order of the records.
local function ask(file)
  return file:samples():group_by("pid", "tid"):sum("period"):avg("period"):min("time"):max("ip")
    :quantile("period", 0.5):quantile("tid", 0.9):as("q"):hist("period"):hist("tid")
      :distinct("cpu"):share("period")
    :count():as("weighted"):weight("cpu"):count():avg("ip"):as("w"):weight("tid + 1")
      :sort("count")
end

describe("merging tables", function()
  local paths = {}

  setup(function()
    for i = 1, 7 do paths[i] = recording({ "cycles", "faults" }, i) end
    paths[8] = recording({ "cycles", "faults" }, 0)
  end)

  local function tables(make)
    local list = {}
    for i, path in ipairs(paths) do
      local file <close> = assert(perflua.open(path))
      list[i] = make(file)
    end
    return list
  end

  it("equals one query over all recordings, in any order and grouping", function()
    local whole <close> = assert(perflua.open(paths))
    local expected, parts = ask(whole), tables(ask)
    assert.is_true(#expected > 10)
    for _ = 1, 20 do
      local got = merged(parts)
      assert.same(all(expected), all(got))
      assert.equal(tostring(expected), tostring(got))
    end
  end)

  it("takes first and last values from the tables in the order given, in any "
    .. "grouping", function()
    local function first(file)
      return file:samples():group_by("pid"):first("time"):last("time"):sort("pid")
    end
    local parts = tables(first)
    local a, b = first(assert(perflua.open(paths[1]))), first(assert(perflua.open(paths[8])))
    for _ = 1, 10 do
      for i, row in ipairs(all(merged(parts, true))) do
        assert.same({ a[i].first_time, b[i].last_time }, { row.first_time, row.last_time })
      end
    end
  end)

  it("adds up the ratios of two events", function()
    local function ratio(file)
      return file:samples():group_by("pid"):ratio("cycles", "faults"):sort("pid")
    end
    local whole <close> = assert(perflua.open(paths))
    local expected = all(ratio(whole))
    assert.is_true(expected[1]["cycles/faults"] > 0)
    assert.same(expected, all(merged(tables(ratio))))
  end)

  it("merges loaded tables, too", function()
    local parts = tables(ask)
    local expected = all(merged(parts))
    for i, one in ipairs(parts) do
      local path = files.temporary()
      assert(one:save(path))
      parts[i] = assert(perflua.load(path))
    end
    assert.same(expected, all(merged(parts)))
  end)

  it("leaves the tables as they are", function()
    local parts = tables(ask)
    local before = {}
    for i, one in ipairs(parts) do before[i] = tostring(one) end
    for _ = 1, 3 do merged(parts) end
    for i, one in ipairs(parts) do assert.equal(before[i], tostring(one)) end
  end)

  it("is right where recordings have different events, or none", function()
    local lists = { { "b", "a" }, { "a", "c" }, { "d" }, { "c" }, { "b", "b" } }
    local parts = {}
    for i, names in ipairs(lists) do
      local file <close> = assert(perflua.open(recording(names, i, i == 3 and 0 or nil)))
      parts[i] = file:samples():group_by("pid"):count():share("period"):sort("pid")
    end
    local expected = tostring(merged(parts))
    local order = {}
    for name in expected:gmatch "# ([^\n]+)\n" do order[#order + 1] = name end
    -- by their places in the recordings, then by name
    assert.same({ "a", "b", "c", "b (event 2)" }, order)
    for _ = 1, 20 do assert.equal(expected, tostring(merged(parts))) end
    assert.equal("pid  count  share_period", tostring(parts[3]))
  end)

  it("adds up groups by event and those of all events", function()
    local function by_event(file)
      return file:samples():group_by("event", "pid"):count():sort("event", "asc")
    end
    local function together(file)
      return file:samples():group_by("pid"):count():all_events():sort("pid")
    end
    local whole <close> = assert(perflua.open(paths))
    for _, make in ipairs { by_event, together } do
      assert.same(all(make(whole)), all(merged(tables(make))))
    end
  end)

  it("tells integers, floats, texts and nothing apart as keys as one query does", function()
    local values = { 1, 1.0, "1", 0 / 0, true, 2.5 }
    local function table_of(first, last)
      local file <close> = assert(perflua.open(paths[1]))
      local n = first - 1
      return file:samples({ order = "file" }):all_events():group_by({ x = function()
        n = n < last and n + 1 or first
        return values[n]
      end }):count():sort()
    end
    local one, two = table_of(1, 4), table_of(2, 6)
    local counts = {}
    for row in one:merge(two):rows() do
      counts[tostring(row.x)] = (counts[tostring(row.x)] or 0) + 1
    end
    counts["1.0"], counts["1"] = nil, (counts["1"] or 0) + (counts["1.0"] or 0)
    assert.same({ ["1"] = 2, ["nil"] = 1, ["true"] = 1, ["2.5"] = 1 }, counts)
  end)

  it("raises where a sum does not fit", function()
    local path = two_events.write(function(b, events)
      b:sample(events.faults, { identifier = 12, ip = 1, pid = 5, tid = 5, time = 2100000000,
        cpu = 0,
        period = math.maxinteger })
    end)
    local file <close> = assert(perflua.open(path))
    local t = file:samples("faults"):group_by("pid"):sum("period"):sort()
    assert.matches("merge_spec.lua:%d+: a sum exceeds 2^63%-1", select(2, pcall(function()
      t:merge(t)
    end)))
    local share = file:samples("faults"):group_by("pid"):avg("period"):sort()
    assert.equal(share[1].avg_period, share:merge(share)[1].avg_period)
  end)
end)

describe("tables that do not belong together", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  local function q() return file:samples() end

  it("are not merged, and the first difference is told", function()
    local function count(query) return query:group_by("pid"):count():sort() end
    local differ = {
      { 'key 1: "pid %(signed%)" here, "tid %(signed%)" there', q():group_by("pid"):count(),
        q():group_by("tid"):count() },
      { '1 keys and 1 measures here, 2 and 1 there', q():group_by("pid"):count(),
        q():group_by("pid", "tid"):count() },
      { 'name of key 1: "pid" here, "p"', q():group_by("pid"):count(), q():group_by("pid")
        :as("p"):count() },
      { 'measure 1: "sum of period', q():group_by("pid"):sum("period"), q():group_by("pid")
        :max("period") },
      { 'measure 1: .*for 0.5 .*for 0.9', q():group_by("pid"):quantile("ip", 0.5),
        q():group_by("pid"):quantile("ip", 0.9) },
      { 'measure 1: "count" here, "count weighted by cpu" there', q():group_by("pid"):count(),
        q():group_by("pid"):count():weight("cpu") },
      { 'groups: "each event by itself" here, "all events together"', q():group_by("pid")
        :count(),
        q():group_by("pid"):count():all_events() },
    }
    for _, case in ipairs(differ) do
      local pattern, a, b = case[1], case[2]:sort(), case[3]:sort()
      assert.error_matches(function()
        a:merge(b)
      end, "merge: the tables are results of different queries: " .. pattern)
      assert.has_error(function() b:merge(a) end)
    end
    assert.has_no.errors(function() count(q()):merge(count(q())) end)
    assert.error_matches(function() count(q()):merge({}) end, "a Table expected")
  end)

  it("do not follow one another in a file, also if only the records that they looked at "
    .. "differ", function()
    local differ = {
      { 'where: "nothing said" here, "cpu == 1" there', q():group_by("pid"):count(),
        q():where("cpu == 1"):group_by("pid"):count() },
      { 'where: "%(cpu == 1%) and %(pid > 0%)" here, "{ cpu = { 1, 2 }, pid = 7 }" there',
        q():where("cpu == 1"):where("pid > 0"):group_by("pid"):count(),
        q():where({ pid = 7, cpu = { 1, 2 } }):group_by("pid"):count() },
      { 'between: "10%% to the end" here, "the beginning to 1200000000" there',
        q():between("10%"):group_by("pid"):count(), q():between(nil, 1200000000):group_by("pid")
          :count() },
      { 'events: "faults" here, "nothing said"', file:samples("faults"):group_by("pid"):count(),
        q():group_by("pid"):count() },
      { 'events: "cycles:P, faults" here, "f%*"', file:samples({ "faults", file.events[1] })
        :group_by("pid"):count(),
        file:samples("f*"):group_by("pid"):count() },
      { 'reads: "records of type comm, mmap2" here, "records" there',
        file:records({ type = { "mmap2", "comm" } }):group_by("pid"):count(), file:records()
          :group_by("pid"):count() },
    }
    for _, case in ipairs(differ) do
      local path = files.temporary()
      local out <close> = assert(io.open(path, "wb"))
      for i = 2, 3 do assert(case[i]:sort():save(out)) end
      out:flush()
      assert.matches("tables of different queries: " .. case[1],
        select(2, perflua.load(path)))
    end
  end)

  it("are merged as parts of one whole where only the records they looked at differ", function()
    local function make(query)
      return query:group_by("pid"):count():sum("period"):share("period"):sort("pid")
    end
    local parts = { make(q():where("cpu < 1")), make(q():where("cpu == 1")),
      make(q():where("cpu > 1")) }
    local both = parts[1]:merge(parts[2]):merge(parts[3])
    assert.equal(tostring(make(q())), tostring(both))
    assert.equal(tostring(both), tostring(parts[3]:merge(parts[2]:merge(parts[1]))))
    assert.error_matches(function()
      parts[1]:merge(q():group_by("tid"):count():sort())
    end, "1 keys and 3")
    local faults, all_events = make(file:samples("faults")), make(q())
    local events = {}
    for row in faults:merge(all_events):rows() do
      events[row.event] = (events[row.event] or 0) + row.count
    end
    assert.same({ faults = 6, ["cycles:P"] = 4 }, events)
  end)
end)
