-- Groups as the core makes them: what they measure, and that it is what Lua gets record by
-- record.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local builder = require "spec.support.builder"
local engine = require "perflua.plan.engine"
local exact = require "spec.support.exact"
local two_events = require "spec.support.two_events"
local spec_of = require("perflua.core").query_spec

local TOP = math.mininteger -- 2^63, read without a sign
local NAN = 0.0 / 0.0

-- The rows of a table as sorted texts.
local function lines(t)
  local list = {}
  for row in t:rows() do list[#list + 1] = exact(row) end
  table.sort(list)
  return list
end

-- Returns the answer of a query, asserted to be the same from the core and from Lua.
local function rows(query)
  local _, fault = engine.grouping(spec_of(query), {}, spec_of(query).columns)
  assert.is_nil(fault) -- or the core is not asked
  local list, fast = {}, query:sort()
  for row in fast:rows() do list[#list + 1] = row end
  interpret(query, true)
  assert.same(lines(query:sort()), lines(fast))
  return list
end

local function write(fill)
  local b = builder.new()
  local parts = { "identifier", "ip", "tid", "time", "addr", "stream_id" }
  local one = b:event { name = "one", sample_type = parts, ids = { 1 } }
  local two = b:event { name = "two", sample_type = { "identifier", "ip", "tid", "time" },
    ids = { 2 } }
  fill(b, one, two)
  return b:write()
end

local function opened(fill, options) return assert(perflua.open(write(fill), options)) end

-- Samples of pid 1, one after the other, with these values as their stream_id and addr; false:
-- of the event without.
local function of_values(values)
  return opened(function(b, one, two)
    for i, value in ipairs(values) do
      b:sample(value and one or two,
        { identifier = value and 1 or 2, pid = 1, time = i, addr = value or 0,
        stream_id = value or nil })
    end
  end)
end

local function measured(values, add)
  local file <close> = of_values(values)
  local row = rows(add(file:samples():group_by("pid"):all_events()))[1]
  row.pid = nil
  return row
end

-- Values of a kind that only the record tells: `scale` is an integer of some records, and a
-- float of others.
local function of_scales(scales)
  return opened(function(b)
    for _, scale in ipairs(scales) do
      if math.type(scale) == "integer" then
        b:record("stat_config", { scale = scale })
      else
        b:record("event_update", { id = 1, scale = scale })
      end
    end
  end)
end

local function scaled(scales, add)
  local file <close> = of_scales(scales)
  return rows(add(file:records { type = { "stat_config", "event_update" } }
    :group_by("type < 'z'"):as("all")))[1]
end

describe("measures in the core", function()
  it("count and add up unsigned values, without those that are absent", function()
    local row = measured({ 5, false, 1, math.maxinteger - 6 }, function(q)
      return q:count():sum("stream_id"):avg("stream_id"):share("stream_id")
    end)
    assert.same({ count = 4, stream_id = math.maxinteger, avg_stream_id = math.maxinteger / 3,
      share_stream_id = 100.0 }, row)
  end)

  it("raise when a sum exceeds 2^63-1, and average it all the same", function()
    for _, values in ipairs { { math.maxinteger, 1 }, { TOP }, { -1, -1 } } do
      local file <close> = of_values(values)
      for _, measure in ipairs { "sum", "share" } do
        local query = file:samples():group_by("pid")
        two_events.raises("a sum exceeds 2%^63%-1", function()
          query[measure](query, "stream_id"):sort()
        end)
      end
    end
    assert.equal(0x1p63, measured({ TOP, TOP }, function(q)
      return q:avg("stream_id")
    end).avg_stream_id)
  end)

  it("read 64 bits with or without a sign as their field has it", function()
    local row = measured({ 3, TOP, -1 }, function(q)
      return q:min("stream_id"):max("stream_id"):min("stream_id - addr - 1"):as("least")
        :max("0 - (stream_id - addr) - pid"):as("most")
    end)
    assert.same({ min_stream_id = 3, max_stream_id = -1, least = -1, most = -1 }, row)
  end)

  it("have no answer without a value, but sums and counts do", function()
    local row = measured({ false }, function(q)
      return q:count():sum("stream_id"):avg("stream_id"):min("stream_id"):max("stream_id")
        :quantile("stream_id", 0.5)
        :hist("stream_id"):distinct("stream_id"):first("stream_id"):last("stream_id")
    end)
    assert.same({ count = 1, stream_id = 0, hist_stream_id = {}, distinct_stream_id = 0 }, row)
  end)

  it("are of floats what they are of integers", function()
    local row = measured({ 1, 2, false, 4 }, function(q)
      return q:sum("stream_id / 2"):as("sum"):avg("stream_id / 2"):as("avg")
        :min("stream_id / 2"):as("min"):max("stream_id / 2"):as("max")
        :distinct("stream_id / 2"):as("distinct"):first("stream_id / 2"):as("first")
          :last("stream_id / 2"):as("last")
    end)
    assert.same({ sum = 3.5, avg = 3.5 / 3, min = 0.5, max = 2.0, distinct = 3, first = 0.5,
      last = 2.0 }, row)
  end)

  it("take integers and floats as they come where only the record tells", function()
    local row = scaled({ 1, 2.5, 1, -0.5, 1.0, 7e300 }, function(q)
      return q:sum("scale"):as("sum"):avg("scale"):as("avg"):min("scale"):as("min"):max("scale")
        :as("max")
        :distinct("scale"):as("distinct"):first("scale"):as("first"):last("scale"):as("last")
        :hist("scale"):as("hist"):quantile("scale", 0.5):as("median")
    end)
    assert.same({ 7e300, 7e300 / 6, -0.5, 7e300, 4, 1, 7e300, 1 },
      { row.sum, row.avg, row.min, row.max, row.distinct, row.first, row.last, row.median })
  end)

  it("leave NaN out where it is not an answer", function()
    local row = scaled({ NAN, 1, NAN, 2.5, NAN }, function(q)
      return q:min("scale"):as("min"):max("scale"):as("max"):first("scale"):as("first")
        :last("scale"):as("last")
        :distinct("scale"):as("distinct"):quantile("scale", 1):as("most"):sum("scale"):as("sum")
    end)
    assert.same({ 1, 2.5, 1, 2.5, 2, 2 },
      { row.min, row.max, row.first, row.last, row.distinct, row.most })
    assert.not_equal(row.sum, row.sum)
  end)

  it("compare texts byte by byte, and keep the first and the last", function()
    local names = { "b", "a rather long name", "", "bb", "a" }
    local file <close> = opened(function(b, one)
      for i, name in ipairs(names) do
        b:record("comm", { pid = i, tid = i, comm = name },
          { pid = i, tid = i, time = i, identifier = 1 })
      end
      b:sample(one, { identifier = 1, pid = 1, time = 9 })
    end)
    local row = rows(file:records { type = { "comm" } }:group_by("type"):min("comm"):max("comm")
      :first("comm"):last("comm"):distinct("comm"))[1]
    assert.same({ type = "comm", min_comm = "", max_comm = "bb", first_comm = "b",
      last_comm = "a",
      distinct_comm = 5 }, row)
  end)

  it("tell false from absent", function()
    local file <close> = opened(function(b, one)
      b:sample(one, { identifier = 1, pid = 1, time = 1 })
      for i, out in ipairs { false, true, false } do
        b:record("switch", { out = out }, { pid = 1, tid = 1, time = 1 + i, identifier = 1 })
      end
      b:sample(one, { identifier = 1, pid = 1, time = 9 })
    end)
    local query = file:records { type = { "switch", "sample" } }
    local row = rows(query:group_by("cpumode"):first("out"):last("out"):distinct("out"))[1]
    row.cpumode = nil
    assert.same({ first_out = false, last_out = false, distinct_out = 2 }, row)
    assert.same({ { out = false, count = 2 }, { count = 2 }, { out = true, count = 1 } },
      rows(query:group_by("out"):count()))
  end)

  it("count powers of two, and what lies between", function()
    local row = measured({ 0, 1, 2, 3, 4, 1000, TOP, -1 }, function(q)
      return q:hist("stream_id"):quantile("stream_id", 0.5):as("median")
        :quantile("stream_id", 1):as("most")
        :hist("stream_id - addr - stream_id"):as("negative")
    end)
    local function part(histogram, from)
      for _, bucket in ipairs(histogram) do
        if bucket.from == from then return bucket.count end
      end
    end
    local hist = row.hist_stream_id
    assert.same({ 1, 1, 2, 1, 1, 2 },
      { part(hist, 0), part(hist, 1), part(hist, 2), part(hist, 4), part(hist, 512),
      part(hist, 0x1p63) })
    assert.same({ 3, -1 << 56 }, { row.median, row.most }) -- the middle of a bucket
    assert.equal(1, part(row.negative, -1023))
  end)

  it("are weighted by an integer; records without one, or of none, are not there", function()
    local row = measured({ 3, false, 0, 2 }, function(q)
      return q:count():weight("stream_id"):avg("addr"):weight("stream_id"):hist("addr")
        :weight("stream_id")
        :quantile("addr", 0.5):weight("stream_id"):as("median")
    end)
    assert.same({ 5, 13 / 5, 3 }, { row.count, row.avg_addr, row.median })
    assert.same({ { from = 2, to = 4, count = 5 } }, row.hist_addr)
  end)

  it("refuse weights that are none, or too many", function()
    local wrong = {
      ["a weight is an integer"] = { { TOP }, { -1, 1 } },
      ["weights add up to more"] = { { math.maxinteger, 1 } },
    }
    for message, list in pairs(wrong) do
      for _, values in ipairs(list) do
        local file <close> = of_values(values)
        for _, interpreted in ipairs { false, true } do
          local query = file:samples():group_by("pid"):count():weight("stream_id")
          interpret(query, interpreted)
          two_events.raises(message, function() query:sort() end)
        end
      end
    end
    local file <close> = of_values { math.maxinteger, math.maxinteger }
    local query = file:samples():group_by("pid"):avg("addr"):weight("stream_id")
    two_events.raises("averaged values add up", function() query:sort() end)
  end)

  it("relate the sums of two events", function()
    local file <close> = assert(perflua.open(two_events.write()))
    assert.same({ { pid = 7, ["cycles:P/faults"] = 400.0 },
      { pid = 9, ["cycles:P/faults"] = 300.0 },
      { pid = -1, ["cycles:P/faults"] = 0.0 } },
        rows(file:samples():group_by("pid"):ratio("cycles:P", "faults")))
  end)
end)

describe("keys in the core", function()
  it("are absent, or of any type, and an integer is the float that it equals", function()
    local file <close> = of_scales { 1, 1.0, 2.5, NAN, 0, -0.0 }
    assert.same({ { scale = 0, count = 2 }, { scale = 1, count = 2 },
      { scale = 2.5, count = 1 }, { count = 1 } },
      rows(file:records { type = { "stat_config", "event_update" } }:group_by("scale"):count()))
  end)

  it("are several, each of which may be absent", function()
    local file <close> = of_values { 1, false, 1, 2, false }
    assert.same({ { pid = 1, stream_id = 1, bit = 1, count = 2 }, { pid = 1, count = 2 },
      { pid = 1, stream_id = 2, bit = 0, count = 1 } },
      rows(file:samples():group_by("pid", "stream_id", "stream_id & 1"):as("bit"):all_events()
        :count()))
  end)

  it("are one group without any, also without records", function()
    local file <close> = of_values { 1 }
    assert.same({ 1, 1 }, { file:samples():count(), file:samples():sum("stream_id") })
    local none = file:samples("one"):where("pid == 9")
    assert.same({ 0, 0 }, { none:count(), none:sum("stream_id") })
    assert.is_nil(none:max("stream_id"))
    assert.same({}, rows(none:group_by("pid"):count()))
  end)

  it("have keys of the head of a record, which need no position in it or one", function()
    local file <close> = assert(perflua.open "spec/fixtures/calls.perf.data")
    for _, key in ipairs { "cpumode", "socket", "type", "size", "misc", "event" } do
      rows(file:samples():group_by(key):count())
    end
  end)

  it("are the same where they are so many that they are looked up together", function()
    local N <const> = 10000
    local path = write(function(b, one)
      for i = 1, 2 * N + N // 2 do
        for _ = 1, i % 7 == 0 and 3 or 1 do
          b:sample(one, { identifier = 1, ip = i * 7919 % N, pid = 7, tid = i % 2, time = i,
            stream_id = i % 100 })
        end
      end
    end)
    for jobs = 1, 2 do
      local file <close> = assert(perflua.open(path, { jobs = jobs }))
      local got = rows(file:samples("one"):group_by("ip"):count():sum("stream_id"))
      assert.equal(N, #got)
      -- a measure that is not a sum
      assert.equal(N, #rows(file:samples("one"):group_by("ip"):count():max("stream_id")))
    end
  end)

  it("are the same in all blocks of a table", function()
    local N <const>, SUMS <const> = 26000, 60 -- half a kilobyte each: three blocks and more
    local path = write(function(b, one)
      for i = 1, N do
        b:sample(one, { identifier = 1, ip = i, pid = 7, tid = 7, time = i, stream_id = i })
      end
    end)
    for jobs = 1, 2 do
      local file <close> = assert(perflua.open(path, { jobs = jobs }))
      local query = file:samples("one"):group_by("ip"):count()
      for m = 1, SUMS do query = query:sum("stream_id * " .. m) end
      local made = query:table()
      assert.equal(N, #made)
      for row in made:rows() do
        assert.equal(1, row.count)
        assert.equal(row.ip * SUMS, row["stream_id * " .. SUMS])
      end
      assert.equal(N, made:top(1, "ip")[1].ip)
    end
  end)

  it("are texts by what they say, wherever that lies", function()
    local file <close> = opened(function(b, one)
      local names = { "same", "a name of 15 ch", "same", "", "sam\u{e9}" }
      for i, name in ipairs(names) do
        b:record("comm", { pid = i, tid = i, comm = name },
          { pid = i, tid = i, time = i, identifier = 1 })
        b:sample(one, { identifier = 1, pid = i, time = 10 + i, stream_id = i })
      end
    end)
    local want = { { comm = "", count = 1, stream_id = 4 },
      { comm = "a name of 15 ch", count = 1, stream_id = 2 },
      { comm = "same", count = 2, stream_id = 4 },
      { comm = "sam\u{e9}", count = 1, stream_id = 5 } }
    local got = rows(file:samples("one"):group_by("comm"):count():sum("stream_id"))
    for _, row in ipairs(got) do row.event = nil end
    table.sort(got, function(a, b) return a.comm < b.comm end)
    assert.same(want, got)
    assert.equal(4, #rows(file:records { type = { "comm" } }:group_by("comm"):count()))
  end)
end)
