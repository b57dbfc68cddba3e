-- core.health() finds times without samples.
local helper = require "spec.support.health"

local health, one_event, samples_at = helper.of, helper.one_event, helper.samples_at
local START, MS = helper.START, 1000000

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
    assert.are.same({ { from = START + 250 * MS, to = START + 451 * MS, lost = 0 } },
      found.longest)
    assert.are.equal(0, gaps(every(1, 349, 600, every(1, 0, 250))).count) -- shorter than 100 ms
    -- as long as ten intervals
    assert.are.equal(0, gaps(every(50, 1000, 2000, every(50, 0, 500))).count)
  end)

  it("are found in whatever order the samples lie", function()
    local times = every(1, 451, 600, every(1, 0, 250))
    for i = 1, #times do
      local j = i * 7919 % #times + 1
      times[i], times[j] = times[j], times[i]
    end
    assert.are.same({ { from = START + 250 * MS, to = START + 451 * MS, lost = 0 } },
      gaps(times).longest)
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
    assert.are.same({ { from = START + 3600000 * MS, to = START + 3605000 * MS, lost = 0 } },
      found.longest)
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
    assert.are.same({ interval = 0, least = 100 * MS, count = 0, total = 0, longest = {} },
      health(b).gaps)
  end)
end)
