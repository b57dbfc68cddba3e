local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local finalizers = require "spec.support.finalizers"
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

describe("a record", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  it("reads its fields by name", function()
    local comm = file:records("comm"):first()
    assert.are.equal("comm", comm.type)
    assert.are.equal(3, comm.type_id)
    assert.are.equal("sh", comm.comm)
    assert.is_true(comm.exec)
    assert.are.equal(7, comm.pid)
  end)

  it("reads nil for fields of other record types", function()
    local comm = file:records("comm"):first()
    assert.is_nil(comm.filename)
    assert.is_nil(comm.callchain)
    assert.is_nil(comm.data)
  end)

  it("raises for a name no record has, and names the closest", function()
    local comm = file:records("comm"):first()
    assert.error_matches(function()
      return comm.pidd
    end, "no record type has a field 'pidd'; did you mean 'pid'")
    assert.error_matches(function() return comm[""] end, "no record type has a field")
    assert.error_matches(function() return comm["pid\0"] end, "no record type has a field")
    assert.error_matches(function()
      return comm[("x"):rep(100000)]
    end, "no record type has a field")
    for _, key in ipairs { 1, -1, 0 / 0, math.huge, math.mininteger, true, {}, print } do
      assert.error_matches(function() return comm[key] end, "field")
    end
  end)

  it("prints no character that drives a terminal or hides what is there", function()
    local b = everything.empty "little"
    b:record("comm", { pid = 7, tid = 7, comm = "a\27[2J\u{9b}1m\u{202e}z" }, { time = 10 })
    local evil <close> = assert(perflua.open(b:write()))
    local line = tostring(evil:records("comm"):first())
    assert.matches([[comm=a\x1b[2J\xc2\x9b1m\xe2\x80\xaez]], line, 1, true)
    assert.is_nil(line:find "[%c]")
    assert.is_nil(line:find("\u{9b}", 1, true))
    local t = evil:records("comm"):group_by("comm"):count()
    assert.matches([[a\x1b[2J\u{9b}1m\u{202e}z]], tostring(t), 1, true)
    assert.is_nil(tostring(t):find "\u{202e}")
  end)

  it("cannot be written to", function()
    local comm = file:records("comm"):first()
    assert.error_matches(function() comm.pid = 5 end,
      "records are read%-only: field 'pid' cannot be set")
    assert.are.equal("perflua.record", getmetatable(comm))
  end)

  it("has its fields in pairs, absent ones left out", function()
    local seen = {}
    for name, value in pairs(file:records("comm"):first()) do
      seen[name] = value
    end
    assert.are.equal("sh", seen.comm)
    assert.are.equal("comm", seen.type)
    assert.is_nil(seen.filename)
    assert.are.equal(file.events[1], seen.event)
  end)

  it("goes on in pairs wherever it is asked to", function()
    local step, comm = pairs(file:records("comm"):first())
    assert.is_nil(step(comm, "no such field"))
    assert.is_nil(step(comm, "callchain"))
    assert.is_nil(step(comm, "copy"))
    assert.error_matches(function() step(comm, {}) end, "string expected")
    for _, other in ipairs { io.stdout, file, "x", 5, file.events[1] } do
      assert.error_matches(function() step(other) end, "perflua.record expected")
    end
  end)

  it("has methods that refuse other objects", function()
    local comm = file:records("comm"):first()
    for _, name in ipairs { "bytes", "copy" } do
      assert.error_matches(function() comm[name](file) end, "perflua.record expected")
      assert.error_matches(function() comm[name](io.stdout) end, "perflua.record expected")
      assert.error_matches(function() comm[name]() end, "perflua.record expected")
    end
  end)

  it("is its bytes and one line of text", function()
    local comm = file:records("comm"):first()
    assert.are.equal(comm.size, #comm:bytes())
    assert.are.equal(3, (string.unpack("<I4", comm:bytes())))
    assert.matches("^0x%x+ comm .*comm=sh", tostring(comm))
    assert.is_nil(tostring(comm):find("\n"))
  end)

  it("may be kept while the loop goes on", function()
    local ips = {}
    for i, sample in ipairs(file:samples():collect()) do
      ips[i] = sample.ip
    end
    for i, sample in ipairs(two_events.samples()) do
      assert.are.equal(sample.ip, ips[i])
    end
  end)

  it("raises when its file is closed", function()
    local comm = file:records("comm"):first()
    local bytes, copy, step = comm.bytes, comm.copy, pairs(comm)
    file:close()
    for _, read in ipairs { function() return comm.pid end, function() return comm.filename end,
        pairs, tostring, bytes,
      copy, step } do
      assert.error_matches(function() return read(comm) end, "closed file")
    end
  end)

  it("has no message when it is of no tracepoint", function()
    assert.is_nil(file:samples():first().message)
    assert.are.equal(7, file:samples():count())
  end)
end)

describe("a copy of a record", function()
  local function closed_copy(path, event)
    local file = assert(perflua.open(path))
    local copy = file:samples(event):first():copy()
    file:close()
    collectgarbage()
    return copy
  end

  it("outlives close() with all it had", function()
    local copy = closed_copy(two_events.write())
    assert.are.equal(7, copy.pid)
    assert.are.equal("cycles:P", copy.event.name)
    assert.are.equal(2, #copy.callchain)
    assert.are.equal(0x1234, copy.callchain[2].ip)
    assert.matches("^0x%x+ sample", tostring(copy))
    assert.are.equal(copy.size, #copy:bytes())
  end)

  it("can be copied again", function()
    local copy = closed_copy(two_events.write()):copy()
    assert.are.equal(7, copy.pid)
  end)

  it("outlives its file", function()
    local views = {}
    for i = 1, 20 do
      views[i] = closed_copy(everything.builder("big"):write()).branch_stack
    end
    collectgarbage()
    for _, view in ipairs(views) do
      assert.are.equal(2, view[1].to)
    end
  end)

  it("has no payload to read when the file is closed", function()
    local b = builder.new()
    b:event {}
    b:record("auxtrace", { data = "12345678" })
    local file = assert(perflua.open(b:write()))
    local auxtrace = file:records("auxtrace"):first()
    local copy = auxtrace:copy()
    assert.are.equal("12345678", auxtrace:data())
    assert.are.equal("12345678", copy:data())
    file:close()
    assert.error_matches(function() copy:data() end, "closed file")
  end)
end)

describe("a record that is used again", function()
  -- records that do and do not fit the room such a record has
  local function recording()
    local b, one, two = everything.empty "little"
    for i = 1, 60 do
      local sample = {}
      for name, value in pairs(everything.sample) do
        sample[name] = value
      end
      sample.read = { { value = i, id = 7 } } -- each is delivered once
      sample.time, sample.raw = i, ("r"):rep(i % 7 == 0 and 3004 or 12)
      b:sample(i % 2 == 0 and one or two, sample)
      b:record("comm", { pid = i, comm = ("c"):rep(1 + i % 15) }, { time = i })
      b:record("cpu_map", { cpus = { 0, 1, 2 } })
    end
    return assert(perflua.open(b:write()))
  end

  it("is one object with the values of each", function()
    local file, n, only = recording(), 0, nil
    for r in file:records { reuse = true } do
      n = n + 1
      assert.is_true(only == nil or rawequal(only, r))
      only = r
      if r.type == "comm" then assert.are.equal(("c"):rep(1 + r.pid % 15), r.comm) end
      if r.type == "sample" then assert.are.equal(r.time % 7 == 0 and 3004 or 12, #r.raw) end
    end
    assert.are.equal(180, n)
  end)

  it("invalidates its old views", function()
    local file, old = recording(), {}
    for r in file:samples { reuse = true } do
      for _, read in ipairs(old) do
        assert.error_matches(read, "reused")
      end
      local chain, branches, regs = r.callchain, r.branch_stack, r.regs_user
      local item, step = branches[1], pairs(regs)
      old = {
        function()
          return chain[1]
        end, function() return #chain end, function() return chain.ips end,
        function()
          return item.to
        end, function() pairs(item) end, function() return regs.abi end, step,
        function() return tostring(branches) end,
      }
      for _, read in ipairs(old) do read() end
    end
  end)

  it("is copied for collect() and kept by copy()", function()
    local list = recording():samples({ reuse = true }):collect()
    assert.are.equal(60, #list)
    for i, r in ipairs(list) do
      assert.are.equal(i, r.time)
    end
  end)

  it("may move on under whoever looks at it, at any moment", function()
    local file = recording()
    local ways = {
      tostring, function(r) return r:copy().time end, function(r) everything.read(r) end,
      function(r) for name, value in pairs(r) do assert(#name > 0 and value ~= nil) end end,
      function(r) return #r:bytes() end, function(r) everything.read(r:copy()) end,
    }
    for i, look in ipairs(ways) do
      local step = file:records({ reuse = true }):each()
      local r, left = step(), true
      finalizers.during(function()
        while left do
          pcall(look, r)
          local _ = { {}, {}, ("x"):rep(i) }
        end
      end, function()
        left = left and step() ~= nil
      end)
    end
    assert.are.equal(60, file:samples():count())
  end)
end)
