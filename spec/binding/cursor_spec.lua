local builder = require "spec.support.builder"
local core = require "perflua.core"
local everything = require "spec.support.everything"
local finalizers = require "spec.support.finalizers"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local two_events = require "spec.support.two_events"

local function times(step)
  local list = {}
  for r in step do
    list[#list + 1] = type(r) == "number" and r or r.time
  end
  return list
end

describe("a loop", function()
  local file, all

  before_each(function()
    file = assert(perflua.open(two_events.write()))
    all = {}
    for i, s in ipairs(two_events.samples()) do
      all[i] = s.time
    end
  end)
  after_each(function() file:close() end)

  it("nests with each(), and not over one Query itself", function()
    local q, n = file:samples(), 0
    for _ in q:each() do
      for _ in q:each() do n = n + 1 end
    end
    assert.are.equal(49, n)
    assert.error_matches(function()
      for _ in q do
        for _ in q do n = n + 1 end
      end
    end, "another loop over the same Query")
    assert.are.same(all, times(q))
  end)

  it("may be left and begun again, as often as one likes", function()
    local q = file:samples()
    for _ = 1, 500 do
      for s in q do
        if s.pid == 9 then break end
      end
    end
    assert.are.same(all, times(q))
  end)

  it("stays at its end", function()
    local step = file:samples():each()
    times(step)
    for _ = 1, 3 do
      assert.is_nil(step())
    end
  end)

  it("lets an error through and starts anew after it", function()
    local q = file:samples()
    assert.error_matches(function()
      for _ in q do error("mine") end
    end, "mine")
    assert.error_matches(function() q:each(function() error("mine") end) end, "mine")
    assert.error_matches(function() q:where(function() error("mine") end):count() end, "mine")
    assert.are.same(all, times(q))
  end)

  it("goes on in coroutines, each at its own pace", function()
    local q, loops = file:samples(), {}
    for i = 1, 5 do
      loops[i] = coroutine.wrap(function()
        for s in q:each() do coroutine.yield(s.time) end
      end)
    end
    for k = 1, 7 do
      for i = 1, 5 do assert.are.equal(all[k], loops[i]()) end
    end
  end)

  it("outlives the coroutine it was begun in", function()
    local step
    coroutine.wrap(function()
      step = file:samples():each()
      step()
    end)()
    collectgarbage()
    assert.are.same(table.move(all, 2, 7, 1, {}), times(step))
  end)

  it("may be forgotten half way, in coroutines and elsewhere", function()
    for i = 1, 100 do
      local loop = coroutine.create(function()
        for s in file:samples():each() do coroutine.yield(s) end
      end)
      assert.is_true(coroutine.resume(loop))
      if i % 2 == 0 then coroutine.close(loop) end
      file:samples():each()()
    end
    collectgarbage()
    assert.are.same(all, times(file:samples()))
  end)

  it("does not yield across handlers and predicates", function()
    local function inside(body) return (select(2, coroutine.resume(coroutine.create(body)))) end
    local function yield() coroutine.yield() end
    assert.matches("yield", inside(function() file:run { sample = yield } end))
    assert.matches("yield", inside(function()
      for _ in file:samples():where(yield) do break end -- luacheck: ignore 512
    end))
    assert.are.same(all, times(file:samples()))
  end)

  it("runs inside another's handlers", function()
    local n = 0
    file:run { sample = function()
      file:run { sample = function() n = n + 1 end }
    end }
    assert.are.equal(49, n)
  end)

  it("yields as many fields as a Query can select", function()
    local names, n = {}, 0
    for i = 1, 240 do
      names[i] = ({ "ip", "callchain", "event", "period", "cpu" })[i % 5 + 1]
    end
    file:samples():select(table.unpack(names)):each(function(...) n = n + select("#", ...) end)
    assert.are.equal(7 * 240, n)
  end)

  it("yields views that stay when the loop is gone on", function()
    local chains = {}
    for chain in file:samples("cycles:P"):select "callchain" do
      chains[#chains + 1] = chain
    end
    assert.are.equal(4, #chains)
    for _, chain in ipairs(chains) do
      assert.are.equal(0x1234, chain[2].ip)
    end
  end)

  it("goes over nothing when no record can pass", function()
    assert.are.same({}, times(file:samples():between(0, 1)))
    assert.are.same({}, times(file:samples():between(math.mininteger, math.mininteger)))
    assert.are.same({}, times(file:samples():between(5, 3)))
    assert.are.same({}, times(file:records { type = 4000000000 }))
  end)

  it("goes over the records of all types that have no name", function()
    local b = builder.new()
    b:event { sample_type = { "ip", "tid", "time" } }
    for _, id in ipairs { 63, 100, 3000000000, 100 } do b:raw(id, 0, ("x"):rep(8)) end
    b:record("comm", { pid = 1, tid = 1, comm = "x" }, { pid = 1, tid = 1, time = 1 })
    local opened <close> = reading.open(b)
    local ids = {}
    for r in opened:records("unknown"):each() do ids[#ids + 1] = r.type_id end
    table.sort(ids)
    assert.are.same({ 63, 100, 100, 3000000000 }, ids)
    assert.are.equal(5, opened:records({ type = { "unknown", "comm" } }):count())
    assert.are.equal(2, opened:records("unknown"):where("type_id == 100"):count())
    assert.are.same({ 100, 2 }, (function(row) return { row.type_id, row.count } end)(
      opened:records("unknown"):group_by("type_id"):count():sort()[1]))
  end)
end)

describe("what makes loops", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  it("refuses options that cannot be", function()
    for _, options in ipairs {
      { types = { [-1] = true } }, { types = { [1 << 32] = true } }, { types = { x = true } },
      { types = { [1.5] = true } }, { events = { [0] = true } }, { events = { [3] = true } },
      { events = { x = true } }, { from = "x" }, { to = 1.5 }, { from = 0 / 0 },
      { fields = { "nope" } },
      { fields = { "bytes" } },
    } do
      assert.has_error(function() core.cursor(file, options) end)
    end
    for _, options in ipairs { 5, "x", true } do
      assert.error_matches(function() core.cursor(file, options) end, "table expected")
    end
  end)

  it("has at most 255 fields", function()
    local fields = {}
    for i = 1, 255 do
      fields[i] = "callchain"
    end
    assert.are.equal(255, select("#",
      core.cursor(file, { types = { [9] = true }, fields = fields })()))
    fields[256] = "ip"
    assert.error_matches(function()
      core.cursor(file, { fields = fields })
    end, "more than 255 fields")
  end)

  it("refuses to step anything but a Query", function()
    local call = getmetatable(file:samples()).__call
    for _, other in ipairs { 5, "x", true, io.stdout, file, print } do
      assert.error_matches(function() call(other) end, "perflua.Query expected")
    end
    assert.has_error(function() call {} end)
  end)

  it("has a locked metatable", function()
    assert.are.equal("perflua.cursor", getmetatable(core.cursor(file, {})))
    assert.are.equal("perflua.file", getmetatable(file))
  end)
end)

describe("a loop that a finalizer meddles with", function()
  local function recording()
    local b, one = everything.empty "little"
    for i = 1, 200 do
      local sample = {}
      for name, value in pairs(everything.sample) do
        sample[name] = value
      end
      sample.read = { { value = i, id = 7 } } -- each is delivered once
      sample.time, sample.raw = i, ("r"):rep(i % 5 == 0 and 2000 or 8)
      b:sample(one, sample)
    end
    return assert(perflua.open(b:write()))
  end

  local queries = {
    ["of records"] = function(file) return file:samples() end,
    ["of one record used again"] = function(file) return file:samples { reuse = true } end,
    ["of values"] = function(file)
      return file:samples():select("time", "raw", "comm", "event")
    end,
    ["of composite values"] = function(file)
      return file:samples():select("time", "raw", "callchain", "event")
    end,
  }
  for what, query in pairs(queries) do
    it("is not moved from under the step it makes, " .. what, function()
      local file = recording()
      local step = query(file):each()
      local seen, inside, outside = {}, 0, 0
      local stepping = false
      finalizers.during(function()
        while true do
          stepping = true
          local value = step()
          stepping = false
          if value == nil then break end
          seen[#seen + 1] = type(value) == "number" and value or value.time
        end
      end, function()
        if not stepping then return end
        local ok, value = pcall(step)
        if not ok then
          inside = inside + 1
          assert(value:find("finalizer", 1, true), value)
        elseif value ~= nil then
          outside = outside + 1
        end
      end)
      assert.is_true(inside > 0)
      assert.are.equal(200, #seen + outside)
      for i = 2, #seen do
        assert.is_true(seen[i] > seen[i - 1])
      end
    end)

    it("may be closed and collected meanwhile, " .. what, function()
      local file = recording()
      for _, n in ipairs { 1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 30 } do
        local step, _, _, closing = query(file):each()
        local calls = 0
        finalizers.during(function()
          while step() do end -- luacheck: ignore 542
        end, function()
          calls = calls + 1
          if calls == n then getmetatable(closing).__close(closing) end
        end)
      end
      assert.are.equal(200, file:samples():count())
    end)

    it("ends with an error when its file is closed, " .. what, function()
      local file = recording()
      local step = query(file):each()
      local ok, message
      finalizers.during(function()
        ok, message = pcall(function()
          while step() do end -- luacheck: ignore 542
        end)
      end, function() file:close() end)
      assert.is_false(ok)
      assert.matches("closed file", message)
    end)
  end
end)
