-- Measures in which a record counts as often as a field of it says.
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local raises = two_events.raises

describe("weight", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  local function by_event() return file:samples():group_by("event") end

  it("counts each record as often as its field says", function()
    local t = by_event():count():weight("period"):sort()
    assert.equal(1000, t[1].count)
    assert.equal(10, t[2].count)
  end)

  it("weights averages, quantiles and histograms", function()
    local t = by_event():avg("cpu"):weight("period"):quantile("cpu", 0.5):weight("period")
      :hist("cpu"):weight("period")
      :sort("avg_cpu")
    assert.equal((300 * 1 + 600 * 3) / 1000, t[1].avg_cpu)
    assert.equal(3, t[1].quantile_cpu)
    local hist = {}
    for i, one in ipairs(t[1].hist_cpu) do hist[i] = one.count end
    assert.same({ 100, 300, 600 }, hist)
    assert.equal((2 * 1 + 7 * 2) / 10, t[2].avg_cpu)
    assert.equal(2, t[2].quantile_cpu)
  end)

  it("is of the last measure alone, and leaves its name", function()
    local t = by_event():count():avg("cpu"):weight("period"):as("mean"):sort("count")
    assert.same({ event = "cycles:P", count = 4, mean = 2.1 }, t[1])
    assert.same({ event = "cycles:P", mean = 2.1 }, by_event():avg("cpu"):as("mean")
      :weight("period"):sort()[1])
  end)

  it("takes expressions", function()
    assert.equal(500, by_event():count():weight("period // 2"):sort()[1].count)
  end)

  it("leaves out records without a weight, and those of weight 0", function()
    assert.equal(1000, file:samples():group_by("event"):count()
      :weight("#callchain * period // 2"):sort()[1].count)
    local t = by_event():hist("cpu"):weight("#callchain"):avg("cpu"):weight("period - period")
      :quantile("cpu", 1):weight("period // 0"):count():weight("0"):sort("event", "desc")
    assert.same({ event = "faults", hist_cpu = {}, count = 0 }, t[1])
  end)

  it("leaves out records without a value", function()
    local t = by_event():avg("#callchain"):weight("period"):sort("event", "asc")
    assert.equal(2.0, t[1]["avg_#callchain"])
    assert.is_nil(t[2]["avg_#callchain"])
  end)

  it("merges as without", function()
    local function of(filter)
      return file:samples():where(filter):group_by("event"):count():weight("period"):avg("cpu")
        :weight("period")
        :quantile("cpu", 0.5):weight("period"):hist("cpu"):weight("period"):sort()
    end
    assert.equal(tostring(of "true"), tostring(of("cpu == 3"):merge(of("cpu ~= 3"))))
    assert.equal(tostring(of "true"),
      tostring(of("cpu == 3"):merge(of("cpu == 1")):merge(of("cpu in {0, 2}"))))
  end)

  it("is refused for measures without weights, and before any measure", function()
    raises("^spec/lua/group/weight_spec.lua:%d+: weight comes after group_by", function()
      file:samples():weight("period")
    end)
    raises("weight: no measure to weight; count%(%)", function()
      by_event():weight("period")
    end)
    raises("weight: sum cannot be weighted; count, avg, quantile and hist can", function()
      by_event():sum("cpu"):weight("period")
    end)
    raises("weight: 'count' is already weighted by period", function()
      by_event():count():weight("period"):weight("cpu")
    end)
    raises("weight: an integer expected, but period / 2 is not one %(float%)", function()
      by_event():count():weight("period / 2")
    end)
    raises("unknown field 'perod'", function() by_event():count():weight("perod") end)
    raises("a field's name expected", function() by_event():count():weight() end)
  end)

  it("raises below 0, wherever a record is looked at", function()
    for _, q in ipairs { by_event():count(), by_event():avg("cpu"), by_event():hist("cpu"),
      by_event():quantile("cpu", 0.5) } do
      raises("^spec/lua/group/weight_spec.lua:%d+: a weight is an integer from 0 to "
        .. "2^63%-1", function()
        q:weight("pid"):sort()
      end)
    end
    local t = file:samples():where("pid == 7"):all_events():group_by("pid"):count()
      :weight("pid"):sort()
    assert.equal(21, t[1].count)
  end)
end)

describe("what is too much", function()
  local function of(periods, fn)
    local path = two_events.write(function(b, events)
      for i, period in ipairs(periods) do
        b:sample(events.faults, { identifier = 12, ip = -1, pid = 5, tid = i,
          time = 2100000000 + i, cpu = 1,
          period = period })
      end
    end)
    local file <close> = assert(perflua.open(path))
    return fn(file:samples("faults"):where("pid == 5"):group_by("pid"))
  end

  local most = math.maxinteger

  it("is counted nowhere", function()
    local function refused(pattern, fn)
      raises("^spec/lua/group/weight_spec.lua:%d+: " .. pattern, fn)
    end
    of({ most, 1 }, function(q)
      refused("weights add up to more than 2^63%-1", function()
        q:count():weight("period"):sort()
      end)
      refused("weights add up to more than 2^63%-1", function()
        q:avg("cpu"):weight("period"):sort()
      end)
      refused("weights add up to more than 2^63%-1", function()
        q:hist("cpu"):weight("period"):sort()
      end)
      refused("weights add up to more than 2^63%-1", function()
        return q:quantile("tid", 0.5):weight("period"):sort()[1]
      end)
      refused("the averaged values add up to more than 2^94", function()
        q:avg("ip"):weight("period"):sort()
      end)
    end)
    of({ -1 }, function(q)
      refused("a weight is an integer from 0 to 2^63%-1", function()
        q:count():weight("period"):sort()
      end)
    end)
    of({ 1 }, function(q)
      local t = q:count():weight("0x7fffffffffffffff"):sort()
      assert.equal(most, t[1].count)
      refused("weights add up to more than 2^63%-1", function() t:merge(t) end)
    end)
  end)

  it("may add up to 2^63-1", function()
    of({ most - 5, 5 }, function(q)
      local t = q:count():weight("period"):avg("cpu"):weight("period"):avg("cpu * 0x7fffffff")
        :weight("period"):sort()
      assert.equal(most, t[1].count)
      assert.equal(1.0, t[1].avg_cpu)
      assert.equal(0x7fffffff + 0.0, t[1]["avg_cpu * 0x7fffffff"])
    end)
  end)
end)

-- Exactly, with products of more than 64 bits.
describe("a weighted average", function()
  local model = require "spec.support.model.measures"
  local states = require "spec.support.states"
  local random = math.random

  local function add(kind, list)
    local g = { model.start "avg" }
    local step = model.weighted.avg(kind, 1)
    for _, one in ipairs(list) do step(g, one[1], one[2]) end
    return g[1]
  end

  it("holds the sum of all products, in any order and grouping", function()
    for _, kind in ipairs { "signed", "unsigned" } do
      for _ = 1, 300 do
        local list, mixed = {}, {}
        for i = 1, 8 do
          list[i] = { random(0) >> random(0, 63), random(0) >> random(34, 63) }
        end
        if kind == "signed" then
          for _, one in ipairs(list) do if random(2) == 1 then one[1] = ~one[1] end end
        end
        for i, one in ipairs(list) do table.insert(mixed, random(i), one) end
        local whole, at = add(kind, list), random(0, 8)
        local a, b = add(kind, table.move(mixed, 1, at, 1, {})),
          add(kind, table.move(mixed, at + 1, 8, 1, {}))
        assert.same(whole, states.merged("avg", kind, a, b))
        assert.is_true(whole[3] >= 0 and whole[3] < 1 << 32)
      end
    end
  end)

  it("is that of each value as often as its weight says", function()
    for _, kind in ipairs { "signed", "unsigned" } do
      for _ = 1, 100 do
        local x, n = random(0) >> random(0, 63), random(0, 40)
        if kind == "signed" and random(2) == 1 then x = ~x end
        local each = {}
        for i = 1, n do each[i] = { x, 1 } end
        assert.same(add(kind, each), add(kind, { { x, n } }))
      end
    end
    assert.same({ 1 << 40, -(1 << 39), 0 }, add("signed", { { -(1 << 31), 1 << 40 } }))
    assert.same({ 3, 0, 4.5 }, add("float", { { 1.5, 3 } }))
  end)
end)
