local core = require "perflua.core"
local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local finalizers = require "spec.support.finalizers"
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

describe("a file", function()
  local path, file

  before_each(function()
    path = two_events.write()
    file = assert(perflua.open(path))
  end)

  it("describes itself as a string", function()
    assert.are.equal(path, file.path)
    assert.are.equal(#files.read(path), file.size)
    assert.are.equal("file", file.mode)
    assert.are.equal(2, file.version)
    assert.are.equal("little", file.byte_order)
    assert.is_true(file.complete)
    assert.are.same({}, file.damage)
    assert.are.equal(1000000000, file.first_time)
    assert.are.equal(2000000000, file.last_time)
    assert.matches(path, tostring(file), 1, true)
  end)

  it("has no other fields, and says so", function()
    assert.error_matches(function() return file.paths end, "'paths'")
    assert.error_matches(function() return file["\0"] end, "no field")
    assert.error_matches(function() return file[{}] end, "string expected")
    assert.has_error(function() file.path = "x" end)
  end)

  it("has no times when it has no samples", function()
    local b = builder.new()
    b:event { sample_type = { "ip" } }
    b:record("comm", { comm = "sh" })
    local timeless = assert(perflua.open(b:write()))
    assert.is_nil(timeless.first_time)
    assert.is_nil(timeless.last_time)
  end)

  it("gives its damage away as copies", function()
    file.damage[1] = "mine"
    assert.are.same({}, file.damage)
  end)

  it("is read by many loops side by side", function()
    local a, b = file:samples():each(), file:samples():each()
    for _ = 1, 7 do
      assert.are.equal(a().ip, b().ip)
    end
    assert.is_nil(a())
    assert.is_nil(b())
  end)

  it("is kept alive by its objects", function()
    local sample, events, features = file:samples():first(), file.events, file.features
    file = nil
    collectgarbage()
    assert.are.equal("cycles:P", sample.event.name)
    assert.are.equal("faults", events[2].name)
    assert.is_nil(features.hostname)
  end)
end)

describe("a closed file", function()
  local path, file

  before_each(function()
    path = two_events.write()
    file = assert(perflua.open(path))
  end)

  it("still has its description", function()
    file:close()
    assert.are.equal(path, file.path)
    assert.are.equal("cycles:P", file.events[1].name)
    assert.are.equal(11, file.events[1].ids[1])
    assert.are.same({}, file.damage)
  end)

  it("may be closed again", function()
    file:close()
    file:close()
    local closed <close> = file
    assert.are.equal(file, closed)
  end)

  it("is closed at the end of its scope", function()
    local kept
    do
      local scoped <close> = assert(perflua.open(path))
      kept = scoped
    end
    assert.error_matches(function() kept:records():count() end, "closed")
  end)

  it("raises where more would have to be read", function()
    local q, features = file:samples(), file.features
    file:close()
    assert.error_matches(function() q:count() end, "the file is closed")
    assert.error_matches(function() file:run { sample = print } end, "the file is closed")
    assert.error_matches(function() return features.hostname end, "closed file")
    assert.error_matches(function() pairs(features) end, "closed file")
    assert.error_matches(function() return file.first_time end, "the file is closed")
    assert.error_matches(function() core.count(file) end, "the file is closed")
    assert.error_matches(function() core.dump(file, io.stdout, {}) end, "the file is closed")
  end)

  it("knows its times when they were asked for before", function()
    assert.are.equal(1000000000, file.first_time)
    file:close()
    assert.are.equal(2000000000, file.last_time)
  end)

  it("ends the loops over it with an error", function()
    for _, q in ipairs { file:samples(), file:samples():select("ip", "callchain") } do
      local f = assert(perflua.open(path))
      local over = f:samples()
      assert.error_matches(function()
        for _ in over do f:close() end
      end, "loop over a closed file")
      assert.are.equal(7, #q:collect())
    end
    assert.error_matches(function()
      file:run { sample = function() file:close() end }
    end, "closed file")
  end)

  it("may be closed by the last handler", function()
    file:run { sample = function() end, finish = function() file:close() end }
  end)
end)

describe("a file whose finalizer ran before others'", function()
  local function gone(look)
    return finalizers.last(function(t)
      local file = assert(perflua.open(two_events.write()))
      local sample = file:samples():first()
      t.file, t.copy, t.view = file, sample:copy(), sample:copy().callchain
      t.event, t.events, t.features = file.events[1], file.events, file.features
      t.step, t.query = file:samples():each(), file:samples()
      t.item = t.view[1]
      t.step()
    end, look)
  end

  local looks = {
    ["a field of it"] = function(t) return t.file.path end,
    ["its records"] = function(t) return t.file:records():count() end,
    ["a query"] = function(t) return t.query:count() end,
    ["an event"] = function(t) return t.event.name end,
    ["an event by name"] = function(t) return t.events["faults"] end,
    ["the text of an event"] = function(t) return tostring(t.event) end,
    ["a feature"] = function(t) return t.features.hostname end,
    ["a copied record"] = function(t) return t.copy.ip end,
    ["the text of a copied record"] = function(t) return tostring(t.copy) end,
    ["the fields of a copied record"] = function(t) return pairs(t.copy) end,
    ["a view of a copied record"] = function(t) return t.view[1] end,
    ["an item of a view"] = function(t) return t.item.ip end,
  }
  for what, look in pairs(looks) do
    it("raises when they read " .. what, function()
      local ok, message = gone(look)
      assert.is_false(ok)
      assert.matches("closed", (message:gsub("that no longer exists", "that is closed")))
    end)
  end

  it("has ended its loops", function()
    local ok, value = gone(function(t) return t.step() end)
    assert.is_true(not ok or value == nil)
  end)

  it("has a text all the same", function()
    local ok, text = gone(function(t) return tostring(t.file) end)
    assert.is_true(ok)
    assert.matches("closed", text)
  end)
end)

describe("a File", function()
  it("has no methods that only the library calls", function()
    local file <close> = assert(perflua.open("spec/fixtures/demo.perf.data"))
    for _, name in ipairs { "cursor", "dispatch", "fields", "count", "group", "group_threads",
        "short_names",
      "loop_threads", "health", "dump", "script" } do
      assert.error_matches(function()
        return file[name]
      end, "a file has no field '" .. name .. "'", 1, true)
    end
  end)
end)

describe("core.dump", function()
  local function dumped(file, out)
    core.dump(file, out, {})
    out:seek("set")
    local text = out:read("a")
    out:close()
    return text
  end

  it("writes a line for each record", function()
    local file = assert(perflua.open(two_events.write()))
    local _, lines = dumped(file, io.tmpfile()):gsub("\n", "")
    assert.are.equal(#file:records():collect(), lines)
  end)

  it("refuses to write to anything but an open file", function()
    local file = assert(perflua.open(two_events.write()))
    local out = io.tmpfile()
    out:close()
    assert.error_matches(function() core.dump(file, out, {}) end, "the file is closed")
    assert.error_matches(function() core.dump(file, 5, {}) end, "FILE")
    assert.error_matches(function() core.dump(file, io.stdout) end, "table expected")
  end)

  it("says when it cannot write", function()
    local file = assert(perflua.open(two_events.write()))
    local full <close> = assert(io.open("/dev/full", "w"))
    full:setvbuf("no")
    assert.error_matches(function()
      core.dump(file, full, {})
    end, "cannot write: No space left")
    local read_only <close> = assert(io.open("/dev/null", "r"))
    assert.error_matches(function() core.dump(file, read_only, {}) end, "cannot write")
  end)

  it("reports that a finalizer closed its output", function()
    local file = assert(perflua.open(everything.builder("little"):write()))
    for _ = 1, 20 do
      local out = io.tmpfile()
      finalizers.during(function() pcall(core.dump, file, out, {}) end, function()
        if io.type(out) == "file" then out:close() end
      end)
    end
    assert.are.equal(2, file:samples():count())
  end)
end)
