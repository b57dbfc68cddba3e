local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local pids, raises = two_events.pids, two_events.raises

describe("a query", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  describe("where", function()
    it("takes a string, a function or a table, and any number of them", function()
      assert.same({ 7, 7 }, pids(file:samples():where "pid == 7 and cpu == 0"))
      assert.same({ 9, 9 }, pids(file:samples():where(function(s) return s.cpu == 3 end)))
      assert.same({ 7, 9, 9, 9 }, pids(file:samples():where { pid = { 7, 9 }, cpu = { 1, 3 } }))
      assert.same({ -1 }, pids(file:samples():where { pid = -1 }))
      assert.same({ 9 }, pids(file:samples():where("pid == 9"):where(function(s)
        return s.cpu == 1
      end)))
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
      raises("where_spec.lua:%d+: .*unknown field 'perid'; the closest is 'period'", function()
        file:samples():where "perid == 1"
      end)
      raises("no record of this query has a field 'filename'", function()
        file:samples():where "filename == 'x'"
      end)
      raises("no record of this query has a field 'message'", function()
        file:samples():where "message == 'x'"
      end)
      raises("column 5", function() file:samples():where "pid ! 1" end)
      raises("unknown field 'callchain%[1%]%.ipp'; the closest is 'ip'", function()
        file:samples():where "callchain[1].ipp == 1"
      end)
      raises("string, a function or a table", function() file:samples():where(5) end)
      raises("pid: a number expected, got a string", function()
        file:samples():where { pid = "7" }
      end)
    end)

    it("filters records of all types by what some of them have", function()
      assert.equal(1, file:records():where("filename == '/bin/sh'"):count())
      assert.equal(1, file:records():where("exec"):count())
    end)

    it("suggests only names that can be read", function()
      raises("has a field 'addr'; perf record %-d records it$", function()
        file:samples():where "addr == 1"
      end)
      raises("unknown field 'symbl'; the closest is 'symbol'", function()
        file:samples():where "symbl == 'x'"
      end)
      raises("the closest is 'symbol'", function()
        file:samples():where "callchain[1].symbl == 'x'"
      end)
      local _, message = pcall(function() file:samples():where "messag == 'x'" end)
      assert.is_nil(message:find("'message'", 1, true))
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
        b:record("comm", { pid = 5, tid = 5, comm = "x" },
          { pid = 5, tid = 5, time = 1000000000 })
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
      assert.same({ true, false }, both(flags:records("comm"), function(q)
        return q:select("exec"):collect()
      end))
      local groups = both(flags:records(), function(q)
        local seen = {}
        for row in q:group_by("exec"):count():sort():rows() do
          seen[tostring(row.exec)] = row.count
        end
        return seen
      end)
      assert.equal(1, groups["true"])
      assert.equal(1, groups["false"])
      assert.equal(flags:records():count() - 2, groups["nil"])
      local row = both(flags:records("comm"), function(q)
        return q:group_by("type"):first("exec"):last("exec"):distinct("exec"):first()
      end)
      assert.same({ type = "comm", first_exec = true, last_exec = false, distinct_exec = 2 },
        row)
      assert.same({ type = "exit", distinct_exec = 0 },
        both(flags:records { type = { "comm", "exit" } }, function(q)
        return q:where("type == 'exit'"):group_by("type"):first("exec"):last("exec")
          :distinct("exec"):first()
      end))
      raises("cannot measure exec", function()
        flags:records("comm"):min("exec")
      end)
    end)
  end)
end)
