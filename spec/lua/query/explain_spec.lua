-- The text of explain().
local perflua = require "perflua"
local containers = require "spec.support.containers"
local shared = require "spec.support.shared"
local two_events = require "spec.support.two_events"

local path = two_events.write()
local file <const> = perflua.open(path)

-- The lines of an explanation, without the path.
local function lines(query)
  local list = {}
  local text = query:explain():gsub(path:gsub("%p", "%%%0"), "PATH")
  for line in text:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

local function line(query, name)
  return query:explain():match("\n" .. name .. " +([^\n]+)") or query:explain()
    :match("^" .. name .. " +([^\n]+)")
end

describe("explain()", function()
  it("says what is read, in which order, and that the core does it", function()
    local q = file:samples():where "cpu == 1 and\n period > 0":group_by("comm", "stack"):count()
      :sum("period")
    assert.same({
      ("reads    samples in PATH, %d bytes"):format(file.size),
      "order    file: the answer is the same in any order",
      lines(q)[3],
      "passes   2: recorded system, groups",
      "  1  C    where cpu == 1 and period > 0",
      "  2  C    group by event, comm, stack",
      "  3  C    count(), sum(period)",
    }, lines(q))
    assert.matches("^workers  %d+", lines(q)[3])
  end)

  it("says what Lua does and why, and that described filters come first", function()
    local q = file:samples("faults"):where(function(s)
      return s.pid > 0
    end):where { cpu = { 0, 1 }, comm = "sh" }
      :group_by("pid", { name = function() return 1 end }):avg("ip"):weight("period")
    assert.same({
      ("reads    samples of faults in PATH, %d bytes"):format(file.size),
      "order    time: a Lua function may depend on it",
      "workers  1: Lua sees one record after another",
      "passes   3: recorded system, index of times, groups",
      "  1  C    where comm in { 'sh' } and cpu in { 0, 1 }",
      "  2  Lua  where a function (spec/lua/query/explain_spec.lua:40)",
      "  3  C    group by pid, name (name is a function of Lua)",
      "  4  C    avg(ip) weighted by period",
    }, lines(q))
  end)

  it("says what a loop receives", function()
    local records = file:records({ type = { "mmap2", "comm" } }):between(1, 2)
    assert.same({
      ("reads    records of type comm, mmap2 in PATH, %d bytes"):format(file.size),
      "times    from @0.000000, before @0.000000",
      "order    time: loops read in time order",
      "workers  1: Lua sees one record after another",
      "passes   2: index of times, loop",
      "  1  C    records, made for the loop",
    }, lines(records))
    assert.equal("  1  C    values of ip, period * 2",
      lines(file:samples():select("ip", "period * 2"))[5])
    assert.equal("  1  C    values of ip, callchain (callchain is a view)",
      lines(file:samples():select("ip", "callchain"))[5])
    local after = file:samples():where(function() return true end):select("ip")
    assert.equal("  2  C    values of ip", lines(after)[6])
  end)

  it("says why an order is not another", function()
    assert.equal("time: first_ip depends on time order",
      line(file:samples():group_by("pid"):first("ip"), "order"))
    assert.equal("file: as requested",
      line(file:samples({ order = "file" }):group_by("pid"):first("ip"), "order"))
    assert.equal("file: as requested",
      line(file:records({ order = "file" }), "order"))
  end)

  it("marks streams and what they delay", function()
    local piped = two_events.write(function(b) b.container = "pipe" end)
    local stream <close> = perflua.open(containers.stream(piped))
    local q = stream:samples():where "event.config == 0":group_by("pid"):count()
    assert.matches("a stream that can be read once$", line(q, "reads"))
    assert.equal("time: a stream tells names among its records",
      line(q, "order"))
    assert.equal("1: Lua sees one record after another", line(q, "workers"))
    assert.equal(
      "  1  C    where event.config == 0 (event.config: a stream may add events later)",
      lines(q)[5])
    assert.equal("1: groups, and with them the recorded system if that is safe",
      line(stream:samples():group_by("comm"):count(), "passes"))
    assert.equal(
      "file, or time if names are needed: the answer is the same in both",
      line(stream:samples():group_by("pid"):count(), "order"))
    -- nothing was read before
    assert.equal(5, stream:samples():where "event.config ~= 2 or cpu == 0":count())
  end)

  it("reads nothing", function()
    local damaged <close> = perflua.open(
      shared.with(path, file:samples():first().offset, ("\255"):rep(16)))
    damaged:samples():group_by("comm", "symbol"):count():explain()
    damaged:samples():select("comm"):explain()
    assert.equal(0, #damaged.damage)
    damaged:samples():count()
    assert.is_true(#damaged.damage > 0)
  end)

  it("lets no name move the cursor", function()
    assert.matches("where comm == '\\x1b[2J'", file:samples():where "comm == '\27[2J'"
      :explain(), 1, true)
  end)
end)
