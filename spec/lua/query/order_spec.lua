-- Scripts and time order.
local perflua = require "perflua"
local timed = require "spec.support.timed"

describe("in the order of time", function()
  local file
  local times = timed.jumbled(4500)

  setup(function()
    local b = timed.builder()
    for i, time in ipairs(times) do
      if i % 3 == 0 then
        b:sample(b.events[1], { pid = i, time = time, cpu = i % 4 })
      elseif i % 100 == 1 then
        b:record("thread_map", { threads = { { pid = i, comm = "x" } } })
      else
        b:record(i % 3 == 1 and "comm" or "switch_cpu_wide", { pid = i },
          { pid = i, time = time, cpu = i % 4 })
      end
    end
    file = assert(perflua.open(b:write()))
  end)

  local function offsets(query)
    return query:select("offset"):collect()
  end

  it("some types come as they come among all", function()
    for _, wanted in ipairs { { "sample" }, { "comm", "thread_map" }, { "thread_map" },
        { "switch_cpu_wide" } } do
      local set = {}
      for _, name in ipairs(wanted) do
        set[name] = true
      end
      local expected = {}
      for r in file:records():each() do
        expected[#expected + 1] = set[r.type] and r.offset or nil
      end
      assert.is_true(#expected > 10)
      timed.same(expected, offsets(file:records { type = wanted }))
    end
  end)

  it("those between two times are what a filter finds", function()
    local from, to = 3000, 5000
    local expected = offsets(file:records():where(function(r)
      return r.time and r.time >= from and r.time < to
    end))
    assert.is_true(#expected > 100)
    timed.same(expected, offsets(file:records():between(from, to)))
    assert.are.equal(#expected, file:records():between(from, to):count())
  end)

  it("a kept record does not change", function()
    local list = file:records():collect()
    for i, r in ipairs(list) do
      local place = times[r.pid]
      assert.is_true(r.type == "thread_map" or r.time == place, i)
    end
  end)

  it("loops nest, end early and begin anew", function()
    local all = offsets(file:records())
    local outer, n = {}, 0
    for r in file:records():each() do
      outer[#outer + 1] = r.offset
      if #outer % 1000 == 0 then
        local inner = {}
        for s in file:records():each() do
          inner[#inner + 1] = s.offset
          if #inner == 700 then
            break
          end
        end
        timed.same({ table.unpack(all, 1, 700) }, inner)
        n = n + 1
      end
    end
    assert.are.equal(4, n)
    timed.same(all, outer)
  end)

  it("handlers are called", function()
    local last, calls = 0, 0
    file:run {
      sample = function(s)
        assert.is_true(s.time >= last)
        last, calls = s.time, calls + 1
      end,
      switch_cpu_wide = { "time", function(time)
        assert.is_true(time >= last)
        last, calls = time, calls + 1
      end },
    }
    assert.is_true(calls > 2500)
  end)

  it("a file that is closed in a loop raises", function()
    local b = timed.builder()
    timed.add(b, timed.jumbled(3000))
    local own = assert(perflua.open(b:write()))
    assert.error_matches(function()
      for _ in own:records():each() do
        own:close()
      end
    end, "closed")
  end)
end)
