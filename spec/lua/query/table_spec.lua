-- The Table of a grouped query, and its text.
local files = require "spec.support.files"
local perflua = require "perflua"
local small_pipe = require "spec.support.small_pipe"
local two_events = require "spec.support.two_events"
local raises = two_events.raises

describe("a grouped query", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  it("has a table by its first measure", function()
    local q = file:samples():group_by("pid"):sum("period"):count()
    assert.equal(tostring(q:sort()), tostring(q:table()))
    assert.equal(600, q:table()[1].period)
    assert.equal(tostring(q:having("count > 1"):sort()),
      tostring(q:having("count > 1"):table()))
    raises("table comes after group_by", function() file:samples():table() end)
  end)

  it("is that table as text, made once", function()
    local calls = 0
    local q = file:samples("faults"):group_by { pid = function(s)
      calls = calls + 1
      return s.pid
    end }:count()
    assert.equal("pid  count\n -1      1\n  7      1\n  9      1", tostring(q))
    assert.equal(tostring(q:table()), tostring(q))
    assert.equal(6, calls)
    tostring(q)
    assert.equal(6, calls)
    tostring(q:having("count > 0"))
    assert.equal(9, calls)
  end)

  it("is a description without groups, and of a closed file", function()
    local path = two_events.write()
    local other = assert(perflua.open(path))
    local plain, grouped, shown = other:samples(), other:samples():group_by("pid"),
      other:samples():group_by("tid")
    assert.equal("perflua.Query over " .. path, tostring(plain))
    assert.matches("^# cycles:P\ntid  count\n", tostring(shown))
    local both = assert(perflua.open { path, path })
    assert.equal(("perflua.Query over %s, %s"):format(path, path), tostring(both:samples()))
    both:close()
    other:close()
    assert.equal("perflua.Query over " .. path, tostring(grouped))
    assert.equal("perflua.Query over " .. path, tostring(shown))
  end)

  it("is a description of a stream, which it does not read", function()
    local path = small_pipe():write()
    local pipe = ("cat %s | %s -e %s 2>&1"):format(files.quote(path), os.getenv "PERFLUA", files.quote [[
      local file = perflua.open("-")
      local q = file:samples():group_by("pid"):count()
      print(q)
      print(q:table()[1].count, tostring(q))
    ]])
    local lines = {}
    for line in files.lines(pipe) do lines[#lines + 1] = line end
    assert.same({ "perflua.Query over -", "1\tperflua.Query over -" }, lines)
  end)

  it("has rows as they are shown in loops, too", function()
    local q = file:samples("cycles"):group_by("pid", "cpu"):count()
      :column("double", "count * 2"):having("count == 1")
    local n = 0
    for row in q do
      assert.equal(2, row.double)
      n = n + 1
    end
    assert.equal(2, n)
    assert.equal(2, #q:collect())
    assert.equal(2, q:first().double)
  end)
end)

describe("last", function()
  local file, samples

  setup(function()
    file, samples = assert(perflua.open(two_events.write())), two_events.samples()
  end)
  teardown(function() file:close() end)

  it("is the last record, selected values or row", function()
    assert.equal(samples[#samples].time, file:samples():last().time)
    assert.equal("finished_round", file:records { order = "file",
      container = true }:last().type)
    assert.equal(9, file:samples():where("cpu == 1"):last().pid)
    assert.same({ 9, 3, 400 }, { file:samples("cycles"):select("pid", "cpu", "period"):last() })
    assert.same({ event = "cycles:P", pid = 9, count = 2 }, file:samples("cycles")
      :group_by("pid"):count():last())
  end)

  it("is the one before a time", function()
    assert.equal(7, file:samples():between(nil, 1000001001):last().tid)
    assert.equal(8, file:samples():between(nil, 1000001000):last().tid)
  end)

  it("is a record that may be kept, of one object again and again, too", function()
    local last = file:samples { reuse = true }:last()
    file:samples { reuse = true }:first()
    assert.equal(samples[#samples].time, last.time)
  end)

  it("is nil of nothing", function()
    assert.is_nil(file:samples():where("pid == 99"):last())
    assert.is_nil((file:samples():where("pid == 99"):select("pid", "cpu"):last()))
    assert.is_nil(file:samples():where("pid == 99"):group_by("pid"):last())
  end)

  it("is a measure with a field, after group_by", function()
    assert.equal(3, file:samples("cycles"):group_by("pid"):last("cpu"):sort("pid")[1].last_cpu)
    raises("last comes after group_by", function() file:samples():last("cpu") end)
  end)
end)
