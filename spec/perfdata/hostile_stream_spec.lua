-- Streams nobody's recorder writes: what they claim costs nothing before it came, and nothing
-- waits for ever.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local reading = require "spec.support.reading"
local run = require "spec.cli.run"
local zstd = require "spec.support.builder_zstd"

--- Runs a script over what a builder holds, through a pipe.
local function piped(b, script)
  return run.shell_with('cat "$1" | timeout 300 "$perflua" "$2" -', files.temporary(b:bytes()),
    run.script(script))
end

local function recording()
  local b = builder.new { container = "pipe" }
  local event = b:event { sample_type = { "ip", "tid", "time" } }
  return b, function(time) b:sample(event, { time = time, pid = 1 }) end
end

describe("records that come too late", function()
  it("are counted, all of them, though one hands the next its place", function()
    local b, sample = recording()
    for _, time in ipairs { 10, 20, 30, 40, 50, 60, 5, 6, 7, 8, 9, 70, 80, 90 } do
      sample(time)
      b:record("finished_round")
    end
    local got = piped(b, [[
      warn "@off"
      local file, times = assert(require "perflua".open(arg[1])), {}
      for s in file:samples() do times[#times + 1] = s.time end
      print(table.concat(times, " "), file.out_of_order)
    ]])
    assert.are.equal("", got.err)
    assert.are.equal("10 20 30 40 50 5 60 6 7 8 9 70 80 90\t5\n", got.out)
  end)
end)

describe("a compressed frame that begins within a record of the one before", function()
  for _, endian in ipairs { "little", "big" } do
    it("is read from its own first record on, " .. endian .. "-endian", function()
      warn "@off"
      local b = builder.new { endian = endian }
      b:event { sample_type = { "ip", "tid", "time" } }
      local function comm(name)
        return b:apart(function(own)
          own:record("comm", { pid = 1, tid = 1, comm = name }, { time = 1 })
        end)
      end
      local first, cut, other = comm "first", comm "a name that was cut off", comm "new"
      b:record("compressed", { data = zstd.frame()(first .. cut:sub(1, 20)) })
      b:record("compressed", { data = zstd.frame()(other .. comm "last") })
      local names = {}
      for _, r in ipairs(reading.all(reading.open(b))) do
        names[#names + 1] = r.type == "comm" and r.comm .. " " .. r.size or nil
      end
      assert.are.same({ "first " .. #first, "new " .. #other, "last " .. #comm "last" }, names)
    end)
  end
end)

describe("a payload that is not there", function()
  it("is noted where it should be, in any order, and costs no record after it", function()
    warn "@off"
    local found = {}
    for _, order in ipairs { "file", "time" } do
      local b = builder.new()
      local event = b:event { sample_type = { "ip", "tid", "time" } }
      b:raw(71, 0, b.w:u64(1 << 40) .. b.w:u64(0):rep(4))
      for i = 1, 20 do
        b:sample(event, { time = i, pid = 1 })
      end
      local file = reading.open(b)
      local n = file:records({ order = order }):count()
      core.health(file) -- in file order
      assert.are.equal(21, n, order)
      assert.are.equal(1, #file.damage, order)
      found[#found + 1] = file.damage[1].offset
      assert.are.equal(b:offsets()[2], found[1])
    end
    assert.are.equal(found[1], found[2])
  end)
end)

describe("times that are in no order at all", function()
  it("cost not much more than the order of the file", function()
    local b = builder.new()
    b:event { sample_type = { "tid", "time" } }
    local head, n, samples = b:bytes(), 600000, {}
    for i = 1, n do
      samples[i] = string.pack("<I4I2I2I4I4I8", 9, 2, 24, 7, 7, 1 + i * 0x9e3779b1 % 0xffffffff)
    end
    local all = table.concat(samples)
    -- the size of its data comes after their offset
    local path = files.temporary(head:sub(1, 48) .. string.pack("<I8", #all) .. head:sub(57)
      .. all)
    local script = run.script [[
      local file, took = assert(require "perflua".open(arg[1])), {}
      for i, order in ipairs { "file", "time" } do
        local started, n = os.clock(), 0
        for _ in file:records { order = order, reuse = true } do n = n + 1 end
        took[i] = os.clock() - started
        assert(n == 600000, n)
      end
      print(took[2] / took[1] < 40 and "cheap" or took[2] / took[1])
    ]]
    assert.are.equal("cheap\n", run.shell_with('timeout 300 "$perflua" "$1" "$2"', script,
      path).out)
  end)
end)
