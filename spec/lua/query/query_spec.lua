local perflua = require "perflua"
local two_events = require "spec.support.two_events"

describe("a query", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  local function pids(query)
    local list = {}
    for _, record in ipairs(query:collect()) do list[#list + 1] = record.pid end
    return list
  end

  local function raises(pattern, fn)
    local ok, message = pcall(fn)
    assert.is_false(ok)
    assert.matches(pattern, message)
  end

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

  describe("where", function()
    it("takes a string, a function or a table, and any number of them", function()
      assert.same({ 7, 7 }, pids(file:samples():where "pid == 7 and cpu == 0"))
      assert.same({ 9, 9 }, pids(file:samples():where(function(s) return s.cpu == 3 end)))
      assert.same({ 7, 9, 9, 9 }, pids(file:samples():where { pid = { 7, 9 }, cpu = { 1, 3 } }))
      assert.same({ -1 }, pids(file:samples():where { pid = -1 }))
      assert.same({ 9 }, pids(file:samples():where("pid == 9"):where(function(s) return s.cpu == 1 end)))
    end)

    it("compares addresses without a sign", function()
      assert.equal(2, file:samples():where("ip >= 0xffffffff80000000"):count())
      assert.equal(5, file:samples():where("ip < 0xffffffff80000000"):count())
    end)

    it("knows events by name", function()
      assert.equal(4, file:samples():where("event == 'cycles'"):count())
      assert.equal(3, file:samples():where { event = "faults" }:count())
      assert.equal(3, file:samples():where("event.name == 'faults'"):count())
      assert.equal(3, file:samples():where("event.type == 1"):count())
    end)

    it("reaches into views", function()
      assert.equal(2, file:samples():where("callchain[1].ip == 0x401000"):count())
      assert.equal(3, file:samples():where("callchain == nil"):count())
    end)

    it("raises for names nothing here can have, at the line that wrote them", function()
      raises("query_spec.lua:%d+: .*unknown field 'perid'; the closest is 'period'", function()
        file:samples():where "perid == 1"
      end)
      raises("no record of this query has a field 'filename'", function() file:samples():where "filename == 'x'" end)
      raises("later version", function() file:samples():where "symbol == 'x'" end)
      raises("column 5", function() file:samples():where "pid ! 1" end)
      raises("unknown field 'callchain%[1%]%.ipp'; the closest is 'ip'", function()
        file:samples():where "callchain[1].ipp == 1"
      end)
      raises("string, a function or a table", function() file:samples():where(5) end)
      raises("pid is a number", function() file:samples():where { pid = "7" } end)
    end)

    it("filters records of all types by what some of them have", function()
      assert.equal(1, file:records():where("filename == '/bin/sh'"):count())
      assert.equal(1, file:records():where("exec"):count())
    end)

    it("raises when it is built for what only some of its types have until a later version", function()
      raises("^spec/lua/query/query_spec.lua:%d+: .*'comm' of other records comes with a later version.*"
        .. "records { type = \"comm\" }", function() file:records():where("comm == 'sh'") end)
      raises("'comm' of other records", function() file:records():select("comm") end)
      raises("'comm' of other records", function() file:records { type = { "comm", "exit" } }:group_by("comm") end)
      assert.equal(1, file:records("comm"):where("comm == 'sh'"):count())
    end)

    it("suggests only names that can be read", function()
      raises("no record of this query has a field 'addr'$", function() file:samples():where "addr == 1" end)
      raises("unknown field 'symbl'; the closest is '%l+'", function() file:samples():where "symbl == 'x'" end)
      local _, message = pcall(function() file:samples():where "symbl == 'x'" end)
      assert.is_nil(message:find("'symbol'", 1, true))
      _, message = pcall(function() file:samples():where "callchain[1].symbl == 'x'" end)
      assert.is_nil(message:find("'symbol'", 1, true))
    end)

    it("reads a part of fields of one name but different views where it is", function()
      local path = two_events.write(function(b)
        b:record("id_index", { entries = { { id = 7, idx = 0, cpu = 1, tid = -1 } } })
        b:record("bpf_metadata", { prog_name = "p", entries = { { key = "k", value = "v" } } })
      end)
      local mixed <close> = assert(perflua.open(path))
      assert.equal(1, mixed:records():where("entries[1].id == 7"):count())
      assert.equal(1, mixed:records():where("entries[1].key == 'k'"):count())
      assert.equal(2, mixed:records():where("entries ~= nil"):count())
      raises("unknown field 'entries%[1%]%.kee'; the closest is 'key'", function()
        mixed:records("bpf_metadata"):where("entries[1].kee == 'k'")
      end)
    end)

    it("tells a boolean that is false from one that is absent", function()
      local path = two_events.write(function(b, events)
        local function sample(misc)
          b:sample(events.faults, { misc = misc, identifier = 12, ip = 1, pid = 5, tid = 5 })
        end
        sample(2)
        sample(0x4002)
        b:record("comm", { pid = 5, tid = 5, comm = "x" }, { pid = 5, tid = 5, time = 1000000000 })
      end)
      local flags <close> = assert(perflua.open(path))
      local function both(q, fn) -- the core filters, then Lua does
        local described, by_function = fn(q), fn(q:where(function() return true end))
        assert.same(by_function, described)
        return described
      end
      local function count(filter)
        return function(q) return q:where(filter):count() end
      end
      assert.equal(8, both(flags:samples(), count "exact_ip == false"))
      assert.equal(8, both(flags:samples(), count { exact_ip = false }))
      assert.equal(1, both(flags:samples(), count "exact_ip"))
      assert.equal(1, both(flags:records(), count "exec == true"))
      assert.equal(1, both(flags:records("comm"), count "exec == false"))
      assert.equal(flags:records():count() - 2, both(flags:records(), count "exec == nil"))
      assert.same({ true, false }, both(flags:records("comm"), function(q) return q:select("exec"):collect() end))
      local groups = both(flags:records(), function(q)
        local seen = {}
        for row in q:group_by("exec"):count():sort():rows() do seen[tostring(row.exec)] = row.count end
        return seen
      end)
      assert.equal(1, groups["true"])
      assert.equal(1, groups["false"])
      assert.equal(flags:records():count() - 2, groups["nil"])
      local row = both(flags:records("comm"), function(q)
        return q:group_by("type"):first("exec"):last("exec"):distinct("exec"):first()
      end)
      assert.same({ type = "comm", first_exec = true, last_exec = false, distinct_exec = 2 }, row)
      assert.same({ type = "exit", distinct_exec = 0 }, both(flags:records { type = { "comm", "exit" } }, function(q)
        return q:where("type == 'exit'"):group_by("type"):first("exec"):last("exec"):distinct("exec"):first()
      end))
      raises("exec is not something it can measure", function() flags:records("comm"):min("exec") end)
    end)
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
      assert.equal(2, file:samples():between(1000000500, 1000002000):between(0, 9999999999):count())
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
      assert.same({ { 0x401004, 7, false }, { 0x402000, 9, false }, { 0x402000, -1, false } }, got)
    end)

    it("yields the same whether the core reads the fields or Lua does", function()
      for _, filter in ipairs { "cpu == 3 or period < 200", "event == 'faults'", "time > 1000002000" } do
        local described = file:samples():where(filter):select("ip", "cpu", "period", "cpu"):collect()
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
      raises("which fields", function() file:samples():select() end)
      raises("selects fields", function() file:samples():select("ip"):count() end)
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
      raises("of which field", function() file:samples():sum() end)
      raises("from 0 to 1", function() file:samples():quantile("period", 95) end)
    end)
  end)

  it("says which file it reads", function() assert.matches(file.path, tostring(file:samples()), 1, true) end)
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

  it("of the container come only when they are named", function()
    assert.equal(10, file:records():count())
    assert.equal(1, file:records("finished_round"):count())
    assert.equal(11, file:records { container = true }:count())
  end)

  it("are refused for what they cannot be", function()
    local function raises(pattern, options)
      assert.error_matches(function() file:records(options) end, pattern)
    end
    raises("unknown record type 'map2'; the closest is 'mmap2'", "map2")
    raises("unknown option 'typ'; the closest is 'type'", { typ = "comm" })
    raises("order is", { order = "cpu" })
    raises("no event 'cyles'; the closest is 'cycles:P'", { event = "cyles" })
    raises("empty list", { type = {} })
    raises("a table of options", 5)
  end)

  it("know events by name in file.events", function()
    assert.equal("cycles:P", file.events["cycles"].name)
    assert.equal("faults", file.events["faults"].name)
    assert.is_nil(file.events["nothing"])
    assert.is_nil(file.events[9])
  end)
end)
