local builder = require "spec.support.builder"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"

describe("perflua.export for speedscope", function()
  -- Returns the profiles of a file of speedscope as { name, unit, "caller;callee weight" … }.
  local function speedscope(path, options)
    local out, written = exported.samples(path, "speedscope", options)
    local got, list = profiles.json(files.read(out)), {}
    for i, profile in ipairs(got.profiles) do
      local total = 0
      list[i] = { profile.name, profile.unit }
      for k, stack in ipairs(profile.samples) do
        local names = {}
        for n, frame in ipairs(stack) do names[n] = got.shared.frames[frame + 1].name end
        table.insert(list[i], table.concat(names, ";") .. " " .. profile.weights[k])
        total = total + profile.weights[k]
      end
      assert.same({ "sampled", 0, total },
        { profile.type, profile.startValue, profile.endValue })
    end
    return list, got, assert(written)
  end

  it("writes speedscope profiles for each event: of all threads, and of each", function()
    local list, got, written = speedscope(exported.recording())
    assert.equal("https://www.speedscope.app/file-format-schema.json", got["$schema"])
    local order = " (not in order of time)"
    local hostile = "<b>\"\\;\27[2J\u{fffd}\n (pid 7, tid 8), "
    assert.same({
      { "all 2 threads, counted again, cpu-clock" .. order,
        "nanoseconds", "twice;read 150", "read;twice;twice 7", "read 30" },
      { "sh (pid 7), cpu-clock" .. order, "nanoseconds", "twice;read 150", "read 30" },
      { hostile .. "cpu-clock" .. order, "nanoseconds", "read;twice;twice 7" },
      { hostile .. "page-faults" .. order, "none", "twice;read 3" },
    }, list)
    assert.equal(0, got.activeProfileIndex)
    assert.same({ samples = 5, set_aside = 0, notes = {} }, written)
  end)

  it("keeps in all profiles for speedscope the order of time, if times are kept", function()
    assert.same({
      { "all 2 threads, counted again, cpu-clock", "nanoseconds",
        "twice;read 100", "twice;read 50", "read 30", "read;twice;twice 7" },
      { "sh (pid 7), cpu-clock", "nanoseconds", "twice;read 100", "twice;read 50", "read 30" },
    }, { table.unpack(speedscope(exported.recording(), { timeline = true }), 1, 2) })
  end)

  it("orders profiles for speedscope: of events that sample time first, by weight", function()
    local b = builder.new()
    local events = {
      { name = "sched:x", type = 2, config = 3 }, { name = "misses", type = 0, config = 3 },
      { name = "cycles", type = 0, config = 5 << 32 },
      { name = "faults", type = 1, config = 2 },
    }
    for i, event in ipairs(events) do
      event.ids, event.sample_type = { i }, { "ip", "tid", "time", "period", "id" }
      events[i] = b:event(event)
    end
    for i, sample in ipairs { { 1, 7 }, { 1, 7 }, { 1, 7 }, { 2, 7 }, { 3, 8 }, { 3, 9 },
      { 3, 9 }, { 4, 7 }, { 4, 7 } } do
      b:sample(events[sample[1]], { ip = 1, pid = 7, tid = sample[2], time = i, period = 5,
        id = sample[1] })
    end
    local names = {}
    for i, one in ipairs((speedscope(b:write()))) do
      names[i] = one[1]:gsub(" %(not in order of time%)$", "") .. " " .. one[3]:match "%d+$"
    end
    assert.same({ "all 2 threads, counted again, cycles 15",
      ":9 (pid 7, tid 9), cycles 10", ":8 (pid 7, tid 8), cycles 5", ":7 (pid 7), faults 10",
      ":7 (pid 7), misses 5", ":7 (pid 7), sched:x 15" }, names)
  end)

  it("joins the lightest threads for speedscope, and says how many", function()
    local b, weights, total = builder.new(), {}, 0
    for i, n in ipairs { 3, 250 } do
      local event = b:event { name = "e" .. i, type = 1, config = 0, ids = { i },
        sample_type = { "ip", "tid", "time", "period", "id" } }
      for tid = 1, n do
        b:sample(event, { ip = 1, pid = tid, tid = tid, time = tid, period = tid, id = i })
      end
    end
    local list, got, written = speedscope(b:write(), { timeline = true })
    for i, profile in ipairs(got.profiles) do weights[i] = profile.endValue end
    assert.same({ 250 * 251 // 2, 6, 250, 249 }, { table.unpack(weights, 1, 4) })
    for i = 3, #weights do total = total + weights[i] end
    assert.equal(250 * 251 // 2 + 6, total)
    -- all of either event, 197 and 3 threads, and the other threads of e2
    assert.equal(2 + 200 + 1, #list)
    assert.equal("53 other threads, e2", list[200][1])
    assert.equal(53 * 54 // 2, weights[200])
    assert.same({ "53 threads have no profile of their own, since speedscope takes long for "
      .. "many: they are 'other threads'" }, written.notes)
  end)

  it("has stacks for speedscope where its left-heavy view puts them", function()
    local file <close> = assert(perflua.open("spec/fixtures/words/perf.data",
      { symfs = "spec/fixtures/words" }))
    local out = exported.query(file:samples(), "speedscope", { lines = true })
    for _, profile in ipairs(profiles.json(files.read(out)).profiles) do
      local totals, seen, last = {}, {}, {}
      for i, stack in ipairs(profile.samples) do
        for n = 1, #stack do
          local key = table.concat(stack, ",", 1, n)
          totals[key] = (totals[key] or 0) + profile.weights[i]
        end
      end
      for _, stack in ipairs(profile.samples) do
        local n = 1
        while stack[n] and stack[n] == last[n] do n = n + 1 end
        for depth = n, #stack do
          local key = table.concat(stack, ",", 1, depth)
          assert.is_nil(seen[key], "frames that are one in the view lie apart")
          seen[key] = true
        end
        if stack[n] and last[1] then
          assert.is_not_nil(last[n], "what a function spent itself is not after its callees")
          assert.is_true(totals[table.concat(last, ",", 1, n)]
            >= totals[table.concat(stack, ",", 1, n)])
        end
        last = stack
      end
    end
  end)
end)
