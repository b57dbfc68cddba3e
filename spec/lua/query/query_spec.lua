local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local pids, raises = two_events.pids, two_events.raises

describe("a query", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  it("yields samples in the order of the file", function()
    local ips = {}
    for s in file:samples() do ips[#ips + 1] = s.ip end
    local want = {}
    for _, s in ipairs(two_events.samples()) do want[#want + 1] = s.ip end
    assert.same(want, ips)
  end)

  it("is not changed by its steps", function()
    local all = file:samples()
    local some = all:where "pid == 7"
    some:where "cpu == 0"
    assert.equal(7, all:count())
    assert.equal(3, some:count())
  end)

  it("starts anew with each loop", function()
    local q = file:samples()
    for s in q do
      if s.pid == 9 then break end
    end
    local n = 0
    for _ in q do n = n + 1 end
    assert.equal(7, n)
  end)

  it("raises in a loop whose cursor another loop took", function()
    local q = file:samples()
    raises("another loop over the same Query", function()
      for _ in q do
        for s in q do
          if s.pid == 9 then break end
        end
      end
    end)
  end)

  it("nests with each()", function()
    local q, n = file:samples(), 0
    for _ in q:each() do
      for _ in q:each() do n = n + 1 end
    end
    assert.equal(49, n)
  end)

  it("calls the function of each(fn), and collects", function()
    local n = 0
    file:samples():each(function(s) n = n + s.period end)
    assert.equal(1010, n)
    assert.same({ 7, 7, 7, 9, 9, 9, -1 }, pids(file:samples()))
    assert.equal(7, file:samples():first().pid)
    assert.is_nil(file:samples():where("pid == 123"):first())
  end)

  it("collects copies when the record is reused", function()
    assert.same({ 7, 7, 7, 9, 9, 9, -1 }, pids(file:records { type = "sample", reuse = true }))
  end)

  it("raises after the file was closed", function()
    local q = file:samples()
    file:close()
    raises("closed", function() q:count() end)
  end)

  describe("between", function()
    local function times(...)
      local list = {}
      for time in file:samples():between(...):select "time" do list[#list + 1] = time end
      return list
    end

    it("is half open in nanoseconds", function()
      assert.same({ 1000000500, 1000001000 }, times(1000000500, 1000002000))
      assert.equal(7, #times(nil, nil))
      assert.same({ 1900000000, 2000000000 }, times(1900000000))
      assert.same({ 1000000000 }, times(nil, 1000000500))
    end)

    it("takes perf's seconds, times after the first sample, and shares", function()
      assert.same({ 1000001000 }, times("@1.000001", "@1.000002"))
      assert.same({ 1000000000, 1000000500 }, times("0s", "1us"))
      assert.same({ 1500000000 }, times("500ms", "0.9s"))
      local n = 0
      for i = 0, 90, 10 do n = n + #times(i .. "%", i + 10 .. "%") end
      assert.equal(7, n)
    end)

    it("narrows when it is said again", function()
      assert.equal(2, file:samples():between(1000000500):between(nil, 1000002000):count())
      assert.equal(2, file:samples():between(1000000500, 1000002000):between(0, 9999999999)
        :count())
    end)

    it("leaves out records without a time", function()
      assert.is_true(file:records { type = "mmap2" }:count() == 1)
      assert.equal(0, file:records { type = "mmap2" }:between(0):count())
    end)
  end)

  describe("select", function()
    it("yields values, false for absent ones", function()
      local got = {}
      local faults = file:samples():where "event == 'faults'"
      for ip, pid, frame in faults:select("ip", "pid", "callchain[1].ip") do
        got[#got + 1] = { ip, pid, frame }
      end
      assert.same({ { 0x401004, 7, false }, { 0x402000, 9, false }, { 0x402000, -1, false } },
        got)
    end)

    it("yields the same whether the core reads the fields or Lua does", function()
      for _, filter in ipairs { "cpu == 3 or period < 200", "event == 'faults'",
          "time > 1000002000" } do
        local described = file:samples():where(filter):select("ip", "cpu", "period", "cpu")
          :collect()
        local by_function = file:samples():where(filter):where(function() return true end)
          :select("ip", "cpu", "period", "cpu"):collect()
        assert.same(by_function, described)
        assert.is_true(#described > 0)
      end
    end)

    it("yields parts of views, perf's names and events", function()
      local event, ip = file:samples():select("event.name", "callchain.ips[2]"):first()
      assert.equal("cycles:P", event)
      assert.equal(0xffffffff81000010, ip)
      assert.equal(file.events[1], (file:samples():select("event"):first()))
    end)

    it("takes more fields than the core takes at once", function()
      local names = {}
      for i = 1, 40 do names[i] = i % 2 == 0 and "pid" or "cpu" end
      local values = table.pack(file:samples():select(table.unpack(names)):first())
      assert.equal(40, values.n)
      assert.equal(7, values[40])
    end)

    it("raises for unknown names and for none", function()
      raises("closest is 'period'", function() file:samples():select("perod") end)
      raises("select: names of fields expected, got none", function()
        file:samples():select()
      end)
      raises("count comes before select", function() file:samples():select("ip"):count() end)
    end)
  end)

  describe("without group_by", function()
    it("is measured as a whole", function()
      local q = file:samples()
      assert.equal(7, q:count())
      assert.equal(1010, q:sum "period")
      assert.equal(1010 / 7, q:avg "period")
      assert.equal(1, q:min "period")
      assert.equal(400, q:max "period")
      assert.equal(-1, q:min "pid")
      assert.equal(0xffffffff81000020, q:max "ip")
      assert.equal(3, q:distinct "pid")
      assert.equal(7, q:quantile("period", 0.4))
      assert.equal(1, q:quantile("period", 0))
      assert.is_nil(q:where("pid == 55"):avg("period"))
      assert.equal(0, q:where("pid == 55"):count())
    end)

    it("has no shares and no columns", function()
      raises("after group_by", function() file:samples():share "period" end)
      raises("after group_by", function() file:samples():top(3) end)
      raises("after group_by", function() file:samples():as "x" end)
      raises("a field's name expected, got none", function() file:samples():sum() end)
      raises("from 0 to 1", function() file:samples():quantile("period", 95) end)
    end)
  end)

  it("says which file it reads", function()
    assert.matches(file.path, tostring(file:samples()), 1, true)
  end)
end)

describe("records", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  it("are chosen by type and event", function()
    assert.equal(1, file:records("comm"):count())
    assert.equal(2, file:records { type = { "comm", "mmap2" } }:count())
    assert.equal(3, file:records { type = "sample", event = "faults" }:count())
    assert.equal(4, file:samples("cycles"):count())
    assert.equal(4, file:samples("cy*"):count())
    assert.equal(7, file:samples({ "cycles:P", file.events[2] }):count())
    assert.equal(4, file:samples(file.events["cycles"]):count())
    assert.equal(4, file:samples({ event = "cycles", order = "file" }):count())
  end)

  it("include the container's own only when they are named", function()
    assert.equal(10, file:records():count())
    assert.equal(1, file:records("finished_round"):count())
    assert.equal(11, file:records { container = true }:count())
  end)

  it("are refused for wrong arguments", function()
    local function refused(pattern, options)
      assert.error_matches(function() file:records(options) end, pattern)
    end
    refused("unknown record type 'map2'; the closest is 'mmap2'", "map2")
    refused("unknown option 'typ'; the closest is 'type'", { typ = "comm" })
    refused("order: ", { order = "cpu" })
    refused("no event 'cyles'; the closest is 'cycles'", { event = "cyles" })
    refused("the list of record types is empty", { type = {} })
    refused("a table of options", 5)
  end)

  it("know events by name in file.events", function()
    assert.equal("cycles:P", file.events["cycles"].name)
    assert.equal("faults", file.events["faults"].name)
    assert.is_nil(file.events["nothing"])
    assert.is_nil(file.events[9])
  end)
end)
