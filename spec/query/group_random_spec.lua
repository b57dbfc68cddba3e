-- Any keys and measures: the core, by one thread or several, has the answer that Lua has record
-- by record.
local core = require "perflua.core"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local builder = require "spec.support.builder"
local engine = require "perflua.plan.engine"
local exact = require "spec.support.exact"
local spec_of = core.query_spec

local values = {
  0, 1, 2, 3, 5, 63, 64, 127, 128, 129, 1000, 0xffffffff, 0x100000000, 1 << 53, (1 << 53) + 1,
  1 << 62, math.maxinteger,
  math.mininteger, -1, -2, 0xdeadbeefcafe,
}
local names = { "a", "b", "", "swapper", "kworker/u8:2-ev", "sam\u{e9}", "15 bytes and no" }

local function pick(list) return list[math.random(#list)] end

-- Samples of two events, of which one has more fields; names of threads; switches, which have
-- booleans.
local function write()
  local b = builder.new()
  local parts = { "identifier", "ip", "tid", "time", "cpu" }
  local more = table.move({ "addr", "stream_id", "callchain" }, 1, 3, #parts + 1,
    { table.unpack(parts) })
  local events = { b:event { name = "more", sample_type = more, ids = { 1 } },
    b:event { name = "less", sample_type = parts, ids = { 2 } } }
  for i = 1, 300 do
    local which, tid = math.random(2), math.random(9)
    local id = { identifier = which, pid = 1, tid = tid, time = i * 10,
      cpu = math.random(0, 2) }
    id.event = events[which]
    local kind = math.random(8)
    if kind == 1 then
      b:record("comm", { pid = 1, tid = tid, comm = pick(names) }, id)
    elseif kind == 2 then
      b:record("switch", { out = math.random(2) == 1 }, id)
    elseif kind == 3 then
      b:record("event_update", { id = 1,
        scale = pick { 0.5, 1.0, -2.25, -0.0, 0.0 / 0.0, 1 / 0, 1e300 } })
    elseif kind == 4 then
      b:record("stat_config", { scale = pick(values) })
    else
      id.ip, id.addr, id.stream_id = pick(values), pick(values), pick(values)
      id.callchain = { -512, pick { 1, 2 }, 3 }
      b:sample(events[which], id)
    end
  end
  return b:write()
end

local keys = {
  "comm", "tid", "pid", "cpu", "addr", "stream_id", "event", "type", "out", "scale", "stack",
  "frames",
  "stream_id & 1", "addr - stream_id", "stream_id / 4", "bucket(stream_id, 64)",
  "bucket(tid, 2)", "#callchain",
  "cpumode",
}
local numbers = {
  "addr", "stream_id", "tid", "cpu", "scale", "addr - stream_id", "tid - 5", "stream_id / 4",
  "scale / 3",
  "(tid - 5) / 2", "#callchain", "scale + tid",
}
local texts = { "comm", "type", "cpumode", "stack" }
local others = { "event", "out" }
local weights = { "tid", "cpu", "stream_id", "tid - 3", "#callchain" }

local takes = {
  sum = { numbers }, avg = { numbers }, hist = { numbers }, share = { numbers },
  min = { numbers, texts },
  max = { numbers, texts }, distinct = { numbers, texts, others },
  first = { numbers, texts, others },
  last = { numbers, texts, others }, quantile = { numbers },
}
local kinds = { "sum", "avg", "hist", "share", "min", "max", "distinct", "first", "last",
  "quantile" }
local weighted = { avg = true, hist = true, quantile = true }

-- A random query as a function of a file, and as a text for who has to find out why it fails.
local function random_query()
  local steps, text = {}, {}
  local function add(name, ...)
    local arguments = { ... }
    steps[#steps + 1] = function(q) return q[name](q, table.unpack(arguments)) end
    for i, argument in ipairs(arguments) do arguments[i] = argument end
    text[#text + 1] = ("%s(%s)"):format(name, table.concat(arguments, ", "))
  end
  local chosen = {}
  for i = 1, math.random(3) do
    local key = pick(keys)
    if not chosen[key] then chosen[key], chosen[i] = i, key end
  end
  local list = {}
  for i = 1, 3 do list[#list + 1] = chosen[i] end
  add("group_by", table.unpack(list))
  add "all_events"
  for i = 1, math.random(4) do
    local name = pick(kinds)
    local field
    repeat field = pick(pick(takes[name])) until not chosen[field] -- a column of its own name
    add(name, field, name == "quantile" and math.random() or nil)
    add("as", "column " .. i)
    if weighted[name] and math.random(3) == 1 then add("weight", pick(weights)) end
  end
  return function(file)
    local q = file:records { type = { "sample", "comm", "switch", "event_update",
      "stat_config" } }
    for _, step in ipairs(steps) do q = step(q) end
    return q
  end, table.concat(text, ":")
end

-- The rows of a query as sorted texts, or what it raises.
local function answer(query)
  local ok, t = pcall(query.sort, query)
  if not ok then return { (t:gsub("^[^:]+:%d+: ", "")) } end
  local list = {}
  for row in t:rows() do list[#list + 1] = exact(row) end
  table.sort(list)
  return list
end

describe("a random grouped query", function()
  it("has one answer, whoever runs it", function()
    local path, answered, raised = nil, 0, {}
    for round = 1, 250 do
      if round % 50 == 1 then path = write() end
      local make, text = random_query()
      local file <close> = assert(perflua.open(path))
      local query = make(file)
      assert.is_nil(select(2, engine.grouping(spec_of(query), {}, spec_of(query).columns)),
        text)
      local fast = answer(query)
      query = make(file)
      interpret(query, true)
      local slow = answer(query)
      -- Lua stops where a sum on its way is too large; the core only where the answer is
      if #slow == 1 and slow[1]:find "2^" then
        raised[#raised + 1] = text
      else
        assert.same(slow, fast, text)
        answered = answered + 1
      end
    end
    assert.is_true(answered > 100 and #raised > 0)
  end)

  it("has it of many groups, too, by one thread or several", function()
    local b = builder.new()
    local parts = { "identifier", "ip", "tid", "time", "cpu", "period" }
    local event = b:event { name = "one", sample_type = parts, ids = { 1 } }
    for i = 1, 30000 do
      if i % 100 < 7 then
        b:record("comm", { pid = 1, tid = i % 7, comm = "name" .. i % 3 },
          { pid = 1, tid = i % 7, time = i })
      end
      b:sample(event, { identifier = 1, ip = i % 997, pid = 1, tid = i % 7, time = i,
        cpu = i % 3, period = i })
    end
    local path, want = b:write(), nil
    for _, threads in ipairs { 1, 2, 4 } do
      local file <close> = assert(perflua.open(path, { jobs = threads }))
      local query = file:samples():group_by("ip", "comm"):count():sum("period"):avg("period")
        :min("comm"):max("period")
        :quantile("period", 0.9):hist("period"):distinct("comm"):distinct("cpu")
      if threads == 4 then
        assert.is_true(core.group_workers(file,
          engine.grouping(spec_of(query), {}, spec_of(query).columns)) > 1)
      end
      local got = answer(query)
      assert.is_true(#got > 2000)
      got = table.concat(got, "\n")
      want = want or got
      assert.is_true(want == got)
    end
  end)
end)
