-- Functions of Lua in queries: leaves whose value the engine asks for, while all else stays in
-- C.
local perflua = require "perflua"
local finalizers = require "spec.support.finalizers"
local two_events = require "spec.support.two_events"

local path = two_events.write()

local function spans_of(file)
  return file:samples():pair { open = "cycles:P", close = "faults", key = "pid" }
end

describe("a function in a query", function()
  local file
  before_each(function() file = assert(perflua.open(path)) end)
  after_each(function() file:close() end)

  -- Returns the error of a query, and the traceback where it is raised.
  local function raised(fn)
    local traceback
    local ok, value = xpcall(fn, function(err)
      traceback = debug.traceback()
      return err
    end)
    assert.is_false(ok)
    return value, traceback
  end

  it("is applied to records that the described filters let through, filters in their order",
    function()
    local seen = {}
    local function asks(name, answer)
      return function(s)
        seen[#seen + 1] = name .. s.pid
        return answer
      end
    end
    local n = file:samples():where(asks("a", true)):where(asks("b", false)):where "pid == 9"
      :where(asks("c", true)):count()
    local expected = {}
    for s in file:samples() do
      if s.pid == 9 then table.move({ "a9", "b9" }, 1, 2, #expected + 1, expected) end
    end
    assert.equal(0, n)
    assert.same(expected, seen)
    assert.is_true(#expected > 0)
  end)

  it("gives keys of every kind, told apart as keys of a table are", function()
    local answers = { 1, 1.0, "1", true, false, 0 / 0, nil, "", "a\0", "a", 2.5, -0.0 }
    local records, i = file:records { order = "file" }, 0
    local total, expected = records:count(), {}
    for k = 1, total do
      local value = answers[(k - 1) % 12 + 1]
      if value == nil or value ~= value then value = "none" end
      expected[value] = (expected[value] or 0) + 1
    end
    local t = records:group_by { key = function()
      i = i + 1
      return answers[(i - 1) % 12 + 1]
    end }:count():sort()
    local got = {}
    for row in t:rows() do
      local key = row.key
      if key == nil then key = "none" end
      got[key] = row.count
      assert.not_equal("float", key == 1 and math.type(key) or nil)
    end
    assert.same(expected, got)
  end)

  it("gives no tables as keys, and events by their names", function()
    local _, message = pcall(function()
      file:records():group_by { key = function() return {} end }:count():sort()
    end)
    assert.matches("^%S*calls_spec.lua:%d+: group_by: a function gave a table; keys are "
      .. "strings, numbers, booleans, events or nil$", message)
    local names = {}
    for row in file:samples():all_events():group_by { key = function(s) return s.event end }
      :count():sort():rows() do
      names[#names + 1] = row.key
    end
    assert.same({ "string" }, { math.type(names[1]) or type(names[1]) })
    assert.is_not_nil(file.events[names[1]])
  end)

  it("is given one record object for all functions of a query, and the loop", function()
    local first, second = {}, {}
    local query = file:samples():where(function(s) first[#first + 1] = s return true end)
      :where(function(s) second[#second + 1] = s return s.pid > 7 end)
    local looped = query:collect()
    assert.is_true(#looped > 0 and #looped < #first)
    local kept = {}
    for i, s in ipairs(first) do
      assert.equal(s, second[i])
      if s.pid > 7 then kept[#kept + 1] = s end
    end
    for i, s in ipairs(kept) do assert.equal(s, looped[i]) end
    first = {}
    file:samples():where(function(s) first[#first + 1] = s return true end)
      :group_by { key = function(s) second[#first] = s return 1 end }:count():sort()
    for i, s in ipairs(first) do assert.equal(s, second[i]) end
    assert.not_equal(first[1], first[2])
    assert.not_equal(first[1].time, first[2].time)
  end)

  it("is given one record again and again with reuse", function()
    local seen, n, times = {}, 0, {}
    local function look(s)
      if not seen[s] then n = n + 1 end
      seen[s], times[#times + 1] = true, s.time
      return true
    end
    file:samples({ reuse = true }):where(look):count()
    assert.equal(1, n)
    assert.same(file:samples():select("time"):collect(), times)
    seen, n = {}, 0
    for s in file:samples({ reuse = true }):where(look) do assert.is_true(seen[s]) end
    assert.equal(1, n)
  end)

  for name, ask in pairs {
    ["groups"] = function(f, fn) return f:samples():group_by { key = fn }:count():sort() end,
    ["filtered groups"] = function(f, fn)
      return f:samples():where(fn):group_by("pid"):count():sort()
    end,
    ["a measure"] = function(f, fn) return f:samples():where(fn):sum("period") end,
    ["a loop over records"] = function(f, fn) for _ in f:samples():where(fn) do end end,
    ["a loop over values"] = function(f, fn) for _ in f:samples():where(fn):select("pid",
      "comm") do end end,
    ["each()"] = function(f, fn) f:samples():where(fn):each(function() end) end,
    ["filtered spans"] = function(f, fn)
      local opened = spans_of(f):where(function(span) return fn(span.open) end)
      return opened:group_by("pid"):count():sort()
    end,
    ["groups of spans"] = function(f, fn)
      local key = function(span) return fn(span.close) end
      return spans_of(f):group_by { key = key }:count():sort()
    end,
    ["a loop over spans"] = function(f, fn)
      for _ in spans_of(f):where(function(span) return fn(span.close) end) do end
    end,
    ["what opens spans"] = function(f, fn) for _ in f:samples():pair { open = fn, close = fn,
      key = "pid" } do end end,
    ["records inside of spans"] = function(f, fn)
      for _ in f:samples():within(spans_of(f),
        { key = "pid" }):where(function(record) return fn(record) end) do end
    end,
    ["records that wait"] = function(f, fn)
      return f:samples():where(fn):within(spans_of(f),
        { key = "pid", closed = true }):group_by("pid"):count():sort()
    end,
  } do
    it("raises its own error out of " .. name .. ", where it was raised", function()
      local value = { "mine" }
      local got, traceback = raised(function()
        ask(file, function(s) if s.pid > 0 then error(value) end end)
      end)
      assert.equal(value, got)
      assert.matches("calls_spec%.lua:%d+: in .*\n.*calls_spec", traceback)
      local message = raised(function() ask(file, function(s) return s.pid + nil end) end)
      assert.matches("^[^\n]*calls_spec%.lua:%d+: attempt to perform arithmetic", message)
      assert.equal(7, file:samples():count()) -- and the file is as it was
    end)

    it("cannot go on over a file that it closes: " .. name, function()
      local own = assert(perflua.open(path))
      assert.matches("closed file",
        (raised(function() ask(own, function() own:close() return true end) end)))
    end)

    it("may ask another query of the file, and finalizers may run: " .. name, function()
      local own <close> = assert(perflua.open(path))
      finalizers.during(function()
        ask(own, function(s)
          assert.equal(7,
            own:samples():where(function(other) return other.comm ~= 0 end):count())
          return s.pid == 7
        end)
      end, function() own:samples():where(function(s) return s.pid == 7 end):count() end)
    end)
  end

  it("reads composites for loops over values, which stay as they are", function()
    local b = require("spec.support.builder").new()
    local event = b:event { name = "e", sample_type = { "ip", "tid", "time", "callchain" } }
    for i = 1, 3 do
      b:sample(event, { ip = i, time = i, pid = 1, tid = 1, callchain = { i, i + 1 } })
    end
    local own <close> = assert(perflua.open(b:write()))
    local kept = {}
    for ip, chain in own:samples():select("ip", "callchain") do kept[ip] = chain end
    for i = 1, 3 do assert.same({ 2, i, i + 1 }, { #kept[i], kept[i][1].ip, kept[i][2].ip }) end
    assert.same({ 1, 2, 3 },
      own:samples():where(function(s) return #s.callchain == 2 end):select("ip"):collect())
  end)

  it("sees what a stream says of names by then", function()
    local piped = two_events.write(function(b) b.container = "pipe" end)
    local stream <close> =
      assert(perflua.open(require("spec.support.containers").stream(piped)))
    local expected, got = {}, {}
    for s in file:samples() do expected[s.comm] = (expected[s.comm] or 0) + 1 end
    local named = stream:samples():group_by { name = function(s) return s.comm end }
    for row in named:all_events():count():sort():rows() do
      got[row.name] = row.count
    end
    assert.same(expected, got)
    os.remove(piped)
  end)

  it("keeps nothing of records that it does not keep itself", function()
    local many = require("spec.support.many_records").write()
    local own <close> = assert(perflua.open(many))
    local alive, n, most = setmetatable({}, { __mode = "k" }), 0, 0
    local function answers_objects(s)
      local object = {}
      alive[object], alive[s], n = true, true, n + 1
      if n % 3000 == 0 then
        collectgarbage()
        local count = 0
        for _ in pairs(alive) do count = count + 1 end
        most = math.max(most, count)
      end
      return object
    end
    own:samples():where(answers_objects):count()
    local spans = own:samples():pair { open = "cycles", close = "faults" }
    for _ in spans:where(function(span) return answers_objects(span.open) end) do end
    for _ in own:samples():where(answers_objects):within(spans) do end
    for _ in own:samples():where(answers_objects):select("ip") do end
    for _ in own:samples():where(answers_objects) do end
    assert.is_true(n > 30000 and most > 0 and most < 30, most)
    os.remove(many)
  end)
end)
