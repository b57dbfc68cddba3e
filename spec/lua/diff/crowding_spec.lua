-- The line of a comparison that says that other programs kept one side off the processors.
local builder = require "spec.support.builder"
local perflua = require "perflua"

local OUT <const>, PREEMPTED <const> = 0x2000, 0x4000 -- PERF_RECORD_MISC_SWITCH_OUT…

local open = {}

-- Opens a recording of a thread that runs for 10 of `every` milliseconds, for a second in all.
-- Processors that do not run it are idle, if `idle` samples of them are taken.
local function recording(every, options)
  local b = builder.new()
  if options.command then b:feature("cmdline", { "perf", "record", options.command }) end
  local event = b:event { name = "cpu-clock", type = 1, config = 0, sample_id_all = true,
    context_switch = options.switches, sample_type = { "ip", "tid", "time", "period" } }
  for ms = 1, 100 * every do
    local at, time = (ms - 1) % every, ms * 1000000
    local id = { pid = 1, tid = 1, time = time - 500000 }
    if options.switches and every > 10 and at == 0 then b:record("switch", {}, id) end
    if options.switches and every > 10 and at == 10 then
      b:record("switch", { misc = OUT | (options.preempted and PREEMPTED or 0) }, id)
    end
    if at < 10 or options.idle then
      local pid = at < 10 and 1 or 0
      b:sample(event, { ip = 1, pid = pid, tid = pid, time = time, period = 1000000 })
    end
  end
  open[#open + 1] = assert(perflua.open(b:write()))
  return open[#open]:samples():group_by("pid"):sum "period"
end

local function compare(options, before, after)
  return tostring(perflua.diff(recording(before or 10, options),
    recording(after or 20, options)))
end

describe("a comparison with a side that others kept off the processors", function()
  after_each(function()
    for _, file in ipairs(open) do file:close() end
    open = {}
  end)

  it("says by how much less a clock ran", function()
    assert.matches("# threads ran on processors for 100 %% of the time before, 50%.?%d? %% "
      .. "after: they waited, or other programs ran instead\n", compare {})
    assert.not_matches("ran on processors", compare({}, 20, 20))
  end)

  it("says nothing of samples without the ids of threads", function()
    local b = builder.new()
    local event = b:event { name = "cpu-clock", type = 1, config = 0,
      sample_type = { "ip", "time" } }
    for time = 1, 9 do b:sample(event, { ip = time, time = time }) end
    open[1] = assert(perflua.open(b:write()))
    local by_ip = open[1]:samples():group_by("ip"):count()
    assert.matches("\n0x1 +1 +1 ", tostring(perflua.diff(by_ip, by_ip)))
  end)

  it("says how long threads were preempted, if switches were recorded", function()
    assert.matches("# threads were preempted for 0 %% of the time before, %d%d%.?%d* %% after: "
      .. "other programs ran instead\n", compare { switches = true, preempted = true })
    assert.not_matches("preempted", compare { switches = true })
    assert.not_matches("programs", compare({ switches = true, preempted = true }, 20, 20))
  end)

  it("says that processors were less idle, if all were recorded", function()
    assert.matches("# processors were idle for 50%.?%d? %% of the time before, 0 %% after: "
      .. "other programs may have run instead\n",
      compare({ idle = true, command = "-a" }, 20, 10))
    assert.not_matches("were idle", compare({ idle = true }, 20, 10)) -- may be of one thread
  end)
end)
