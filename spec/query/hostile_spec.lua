-- Queries while what they read, or who asks them, changes.
local core = require "perflua.core"
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local finalizers = require "spec.support.finalizers"
local perflua = require "perflua"
local run = require "spec.cli.run"
local shared = require "spec.support.shared"

local recording = shared.recording(6000)
local bytes

setup(function() bytes = files.read(containers.list[1].write(recording)) end)

local questions = {
  count = function(f) return f:records { order = "file" }:count() end,
  filter = function(f) return f:records():where("pid >= 0 and comm ~= 'nobody'"):count() end,
  types = function(f) return core.count(f).first_time end,
  groups = function(f)
    return tostring(f:records():group_by("pid", "comm"):count():min("time"):sort())
  end,
  last = function(f) return tostring(f:records():group_by("pid"):last("time"):sort()) end,
  rows = function(f)
    local n = 0
    for _ in f:records():select("time", "comm"):each() do n = n + 1 end
    return n
  end,
}

--- All questions of a recording that change(path) changes when it is open: what each answers,
--- and its damage.
local function changed(change, check)
  local path = os.tmpname()
  for _, threads in ipairs { 1, 3 } do
    for name, question in pairs(questions) do
      files.write(path, bytes)
      local file <close> = assert(perflua.open(path, { jobs = threads }))
      change(path)
      check(name, file, pcall(question, file))
    end
  end
  os.remove(path)
end

describe("a recording that changes while it is open", function()
  setup(function() warn "@off" end)

  it("is damaged, or has no answer, if it has shrunk", function()
    for _, part in ipairs { 0.1, 0.5, 0.999 } do
      changed(function(path)
        files.write(path, bytes:sub(1, math.floor(#bytes * part)))
      end, function(name, file, ok)
        assert.is_true(not ok or #file.damage > 0, name)
      end)
    end
  end)

  it("answers as before if it has grown, or another has its name", function()
    local expected = {}
    changed(function() end, function(name, _, ok, got)
      assert.is_true(ok)
      expected[name] = got
    end)
    local function same(name, file, ok, got)
      assert.is_true(ok)
      assert.same({}, file.damage)
      assert.equal(expected[name], got)
    end
    changed(function(path) files.write(path, bytes .. bytes) end, same)
    changed(function(path)
      os.remove(path)
      files.write(path, "other bytes")
    end, same)
  end)
end)

describe("a grouped query", function()
  it("answers, or says so, if its file is closed meanwhile", function()
    local path = containers.list[1].write(recording)
    local answered, refused = 0, 0
    for i = 1, 6 do
      local file = assert(perflua.open(path, { jobs = i % 3 + 1 }))
      local query = file:records():group_by("comm", "event", "stack"):count():distinct("pid")
        :quantile("time", 0.5)
      local left = i * i * i
      finalizers.during(function()
        local ok, got = pcall(function() return #query:sort() end)
        if ok then
          answered = answered + 1
          assert.is_true(got > 0)
        else
          refused = refused + 1
          assert.matches("closed", got)
        end
      end, function()
        left = left - 1
        if left == 0 then file:close() end
      end)
      file:close()
    end
    assert.equal(6, answered + refused)
  end)

  it("raises if its description closes the file", function()
    local path = containers.list[1].write(recording)
    for _, name in ipairs { "threads", "types", "events", "from", "filter", "keys", "measures",
        "report" } do
      local file = assert(perflua.open(path))
      local description = setmetatable({ keys = name ~= "keys" and {} or nil,
        measures = name ~= "measures" and { { measure = "count" } } or nil },
          { __index = function(_, key)
        if key ~= name then return nil end
        file:close()
        collectgarbage()
        return (name == "keys" or name == "measures") and {} or nil
      end })
      local ok, message = pcall(core.group, file, description)
      assert.is_false(ok, name)
      assert.matches("closed", message)
    end
  end)

  it("is refused soon if its filters are long", function()
    local file <close> = assert(perflua.open(run.demo))
    local ok, message = pcall(file.samples(file).where, file:samples(), ("pid == 1 or ")
      :rep(100000) .. "pid == 2")
    assert.is_false(ok)
    assert.matches("more than 50000 operands and operators", message)
    assert.is_true(#message < 1000)
  end)
end)
