local perflua = require "perflua"
local two_events = require "spec.support.two_events"

describe("file:run", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  local function log_of(handlers)
    local log = {}
    local function note(name)
      return function(record)
        local is_record = type(record) == "userdata" and record ~= file
        log[#log + 1] = name .. (is_record and ":" .. record.type or "")
      end
    end
    local named = {}
    for _, key in ipairs(handlers) do named[key] = note(tostring(key)) end
    file:run(named)
    return log
  end

  local function count(log)
    local counts = {}
    for _, name in ipairs(log) do counts[name] = (counts[name] or 0) + 1 end
    return counts
  end

  it("calls a handler for each record of its type, in order", function()
    assert.same({ "comm:comm", "mmap2:mmap2", "exit:exit" }, log_of { "exit", "mmap2", "comm" })
  end)

  it("gives a sample to one handler: Event, exact name, name without modifiers, longest glob, "
    .. "sample", function()
    assert.same({ ["cycles:P:sample"] = 4, ["sample:sample"] = 3 },
      count(log_of { "cycles:P", "cycles", "sample" }))
    assert.same({ ["cycles:sample"] = 4, ["f*:sample"] = 3 },
      count(log_of { "cycles", "*", "f*" }))
    assert.same({ ["*:sample"] = 7 }, count(log_of { "*", "sample" }))
    local calls = 0
    file:run { [file.events[1]] = function() calls = calls + 1 end, ["cycles:P"] = error }
    assert.equal(4, calls)
  end)

  it("gives records without a handler to other", function()
    assert.same({ ["comm:comm"] = 1, ["faults:sample"] = 3, ["other:sample"] = 4,
      ["other:mmap2"] = 1,
      ["other:exit"] = 1 }, count(log_of { "comm", "faults", "other" }))
  end)

  it("delivers the container's own records only to handlers of their name", function()
    assert.same({ ["finished_round:finished_round"] = 1 }, count(log_of { "finished_round" }))
    local log = count(log_of { "finished_round", "other" })
    assert.equal(1, log["finished_round:finished_round"])
    assert.is_nil(log["other:finished_round"])
    assert.equal(7, log["other:sample"])
  end)

  it("calls begin and finish with the file", function()
    local log = {}
    file:run {
      begin = function(f) log[#log + 1] = f == file end,
      finish = function(f) log[#log + 1] = f == file end,
      comm = function(r) log[#log + 1] = r.comm end,
    }
    assert.same({ true, "sh", true }, log)
  end)

  it("hands field values to handlers that list them", function()
    local rows = {}
    file:run {
      cycles = { "pid", "callchain[1].ip", function(...) rows[#rows + 1] = { ... } end },
      sample = { "period", function(period) rows[#rows + 1] = period end },
      mmap2 = { "filename", "time", function(...) rows[#rows + 1] = { ... } end },
    }
    assert.same({ "/bin/sh", false }, rows[1])
    assert.same({ 7, 0xffffffff81000010 }, rows[2])
    assert.equal(1, rows[4])
    assert.equal(8, #rows)
  end)

  it("hands more values than the core reads at once", function()
    local names, got = {}, nil
    for i = 1, 40 do names[i] = i % 2 == 0 and "pid" or "cpu" end
    names[41] = function(...)
      got = table.pack(...)
      return perflua.stop
    end
    file:run { sample = names }
    assert.equal(40, got.n)
    assert.same({ 0, 7 }, { got[39], got[40] })
  end)

  it("ends when a handler returns perflua.stop", function()
    local n, finished = 0, false
    file:run {
      sample = { "pid", function()
        n = n + 1
        if n == 3 then return perflua.stop end
      end },
      finish = function() finished = true end,
    }
    assert.equal(3, n)
    assert.is_true(finished)
  end)

  it("calls interval as time passes", function()
    local times = {}
    file:run { interval = function(time)
      times[#times + 1] = time
    end, interval_ms = 250, sample = function() end }
    assert.is_true(#times >= 3)
    for i = 2, #times do assert.equal(250000000, times[i] - times[i - 1]) end
  end)

  it("ends when interval or begin returns perflua.stop, too", function()
    local log = {}
    local function note(name, value)
      return function()
        log[#log + 1] = name
        return value
      end
    end
    file:run { interval = note("interval", perflua.stop), interval_ms = 250,
      faults = note "faults",
      finish = note "finish" }
    assert.same({ "faults", "interval", "finish" }, log)
    log = {}
    file:run { begin = note("begin", perflua.stop), other = note "other",
      finish = note "finish" }
    assert.same({ "begin", "finish" }, log)
  end)

  it("calls interval before the record whose time has come", function()
    local log = {}
    file:run {
      interval = function(time) log[#log + 1] = time end, interval_ms = 500,
      sample = { "time", function(time) log[#log + 1] = -time end },
    }
    assert.same({ -1000000000, -1000000500, -1000001000, -1000002000, 1499999999, -1500000000,
      -1900000000,
      1999999999, -2000000000 }, log)
  end)

  it("passes over steps without end of a time that cannot be", function()
    file:close()
    file = assert(perflua.open(two_events.write(function(b, events)
      b:sample(events.faults, { identifier = 12, ip = 1, pid = 1, tid = 1, time = 1 << 60,
        cpu = 0, period = 1 })
    end)))
    local n, last = 0, nil
    file:run { interval = function(time)
      n, last = n + 1, time
    end, interval_ms = 1, sample = function() end }
    assert.equal(1001, n)
    assert.equal(1 << 60, last)
  end)

  it("reads listed fields of all events that a key stands for", function()
    local rows = {}
    file:run { ["*"] = { "pid", "callchain[1].ip", function(...)
      rows[#rows + 1] = { ... }
    end } }
    assert.equal(7, #rows)
    assert.same({ 7, 0xffffffff81000010 }, rows[1])
    assert.same({ 7, false }, rows[3])
    assert.error_matches(function() file:run { faults = { "callchain", function() end } } end,
      "no record of this query has a field 'callchain'")
  end)

  it("gives composite fields to handlers", function()
    local rows = {}
    file:run { ["cycles:P"] = { "callchain", "pid", function(chain, pid)
      rows[#rows + 1] = { #chain, chain[1].ip, pid }
    end } }
    assert.equal(4, #rows)
    assert.same({ 2, 0xffffffff81000010, 7 }, rows[1])
  end)

  it("prefers its own keys and record types to events of the same name", function()
    file:close()
    file = assert(perflua.open(two_events.write(function(b)
      for i, name in ipairs { "comm", "finish" } do
        local event = b:event { name = name, type = 1, config = i, ids = { 20 + i },
          sample_type = { "identifier", "ip", "tid", "time", "cpu", "period" } }
        b:sample(event, { identifier = 20 + i, ip = 1, pid = 1, tid = 1, time = 2000000000 + i,
          cpu = 0, period = 1 })
      end
    end)))
    assert.same({ "comm:comm", "sample:sample", "sample:sample" },
      { table.unpack(log_of { "comm", "sample" }, 1, 3) })
    local log = log_of { "comm", "finish", "com*", "*" }
    assert.same({ ["comm:comm"] = 1, ["com*:sample"] = 1, ["*:sample"] = 8, finish = 1 },
      count(log))
    assert.equal("finish", log[#log])
  end)

  it("refuses to wait in a handler", function()
    local co = coroutine.wrap(function() file:run { sample = coroutine.yield } end)
    assert.error_matches(co, "attempt to yield across a C%-call boundary")
  end)

  it("lets a handler's error through", function()
    local ok, message = pcall(function() file:run { sample = function() error("mine") end } end)
    assert.is_false(ok)
    assert.matches("run_spec.lua:%d+: mine", message)
  end)

  it("allows events this recording lacks, and ignores meta", function()
    file:run { ["sched:sched_switch"] = function() end, ["x*"] = function() end,
      meta = { description = "d" } }
  end)

  it("raises before the first record for unknown keys", function()
    local function raises(pattern, handlers)
      assert.error_matches(function() file:run(handlers) end, pattern)
    end
    local function fn() end
    raises("handler 'smaple' matches no record type and no event; the closest is 'sample'",
      { smaple = fn })
    raises("handler 'begn'.*'begin'", { begn = fn })
    raises("matches two handlers", { ["cyc*"] = fn, ["*les"] = fn, ["c*:P"] = fn })
    raises("interval_ms", { interval = fn })
    raises("expected, got a number", { sample = 5 })
    raises("must end with a function", { sample = { "pid" } })
    raises("handler 'a:b': a list of fields must end with a function", { ["a:b"] = { "pid" } })
    raises("handler 'begin': a function expected, got a table", { begin = { "pid", fn } })
    raises("unknown field 'pidd'; the closest is 'pid'", { sample = { "pidd", fn } })
    raises("no record of this query has a field 'filename'", { sample = { "filename", fn } })
    raises("a table of handlers", nil)
    raises("a name or an Event", { [5] = fn })
  end)
end)
