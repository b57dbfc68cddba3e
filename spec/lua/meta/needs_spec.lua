local needs = require "perflua.meta.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local two_events = require "spec.support.two_events"
local on_machine = require "spec.support.needs"

describe("what a script needs", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  local function lacks(what, wanted)
    local message = needs.check(file, { needs = what, record = "perf record X" })
    assert.equal(("%s: this recording has %s; record it with: perf record X"):format(file.path,
      wanted), message)
  end

  local function has(what) assert.is_nil(needs.check(file, { needs = what })) end

  it("may be nothing, or a text for people", function()
    has(nil)
    has "any samples at all"
    assert.equal("any samples at all", needs.text { needs = "any samples at all" })
    assert.is_nil(needs.text {})
    assert.is_nil(needs.record {})
  end)

  it("is events by name, without modifiers, or by glob", function()
    has { events = { "cycles:P", "faults" } }
    has { events = "cycles" }
    has { "fau*", "cyc*:P" }
    has "faults"
    lacks({ events = { "cycles", "sched:sched_switch" } }, "no event 'sched:sched_switch'")
    lacks("sched:*", "no event 'sched:*'")
    lacks("faults, irq:*,x", "no event 'irq:*' and no event 'x'")
    lacks({ "a", "b", "c" }, "no event 'a', no event 'b' and no event 'c'")
  end)

  it("is fields that samples of these events have", function()
    has { fields = { "callchain", "pid", "symbol", "stack", "callchain[1].ip" } }
    has { "cycles", "callchain" }
    has { events = "faults", fields = "pid" }
    has { events = { "faults", "cycles" }, fields = "callchain" }
    lacks({ events = { "faults" }, fields = { "callchain" } }, "no field 'callchain'")
    lacks({ "faults", "stack", "time" }, "no field 'stack'")
    lacks({ "phys_addr", "args.prev_state" },
      "no field 'phys_addr' and no field 'args.prev_state'")
  end)

  it("is told without its fields where its events are lacking", function()
    lacks({ events = "sched:sched_switch", fields = "args.prev_state" },
      "no event 'sched:sched_switch'")
  end)

  it("is one of several where that is enough", function()
    has { events = { "faults", { any = { "a:b", "cycles" } } } }
    has { any = { "a:b", "callchain" } }
    lacks({ { any = { "a:b", "c:d" } } }, "no event 'a:b' or 'c:d'")
    lacks({ fields = { { any = { "phys_addr", "addr" } } } }, "no field 'phys_addr' or 'addr'")
  end)

  it("tells how to record it", function()
    local function recipe(what) return needs.record { needs = what } end
    assert.equal("perf record -g -e sched:sched_switch,cycles -- COMMAND",
      recipe { "sched:sched_switch", "callchain", "cycles", "stack" })
    assert.equal("perf record -e 'sched:*,b'\\''c' -- COMMAND",
      recipe { events = { "sched:*", "b'c" } })
    assert.equal("perf record -b -d --all-cgroups -- COMMAND",
      recipe { "branch_stack", "addr", "cgroup_path" })
    assert.equal("perf record -e a:b -- COMMAND", recipe { { any = { "a:b", "c:d" } } })
    assert.same({ "needs: events a:b or c:d, e:*; field callchain", "record: perf record -a" },
      needs.lines { needs = { { any = { "a:b", "c:d" } }, "e:*", "callchain" },
        record = "perf record -a" })
  end)

  it("names several recordings by the first", function()
    file:close()
    file = assert(perflua.open { two_events.write(), two_events.write() })
    assert.matches("^%S+ and 1 more: this recording has no event 'a'",
      needs.check(file, { needs = "a" }))
  end)

  it("raises for needs of a wrong form", function()
    local function raises(pattern, what)
      assert.error_matches(function() needs.check(file, { needs = what }) end, pattern)
    end
    raises("meta.needs: a table or a string expected, got a number", 5)
    raises("meta.needs: unknown field 'callchian'; the closest is 'callchain'",
      { fields = { "callchian" } })
    raises("meta.needs: a name expected, got a number", { 5 })
    raises("meta.needs: a list of names expected, got a number", { events = 5 })
    raises("{ any = { names } }", { {} })
    raises("unknown key 'event'", { event = "a" })
    assert.error_matches(function() needs.check(file, { needs = "a", record = {} }) end,
      "meta.record: a string expected, got a table")
  end)

  it("opens a recording that has it", function()
    local path = two_events.write()
    local opened <close> = assert(needs.open(path, { needs = "cycles" }))
    assert.equal(path, opened.path)
    local none, message = needs.open(path, { needs = "x:y" })
    assert.is_nil(none)
    assert.equal(
      path .. ": this recording has no event 'x:y'; record it with: perf record -e x:y -- "
        .. "COMMAND", message)
    local _, _, code = needs.open("/no/such/file", { needs = "x:y" })
    assert.equal("ENOENT", code)
  end)

  on_machine.it("kernel", "is recorded by the command that is told", function()
    local names = { "stack", "addr", "phys_addr", "regs_user", "stack_user", "cgroup_path",
      "cpu", "read", "id" }
    for _, field in ipairs(names) do
      local meta = { needs = { "page-faults", "minor-faults", field } }
      local options = needs.record(meta):match "^perf record (.*) %-%- COMMAND$"
      local recorded <close> = assert(perflua.open(assert(oracle.record(options, "true"))))
      assert.is_nil(needs.check(recorded, meta), field)
    end
  end)
end)
