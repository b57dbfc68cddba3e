local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local perflua = require "perflua"
local reading = require "spec.support.reading"

describe("the header features of a file", function()
  local file

  before_each(function() file = assert(perflua.open(everything.builder("little"):write())) end)
  after_each(function() file:close() end)

  it("are read by name, unknown ones by number", function()
    assert.are.equal("h", file.features.hostname)
    assert.are.equal(2, file.features.nrcpus.online)
    assert.is_true(file.features.stat)
    assert.are.equal("unknown", file.features[200])
  end)

  it("are nil when the file lacks them, and raise when nobody has them", function()
    local b = builder.new()
    b:event {}
    b:record("comm", { comm = "sh" })
    local bare = reading.open(b)
    assert.is_nil(bare.features.hostname)
    assert.is_nil(bare.features[200])
    assert.error_matches(function()
      return bare.features.hostnam
    end, "no header feature 'hostnam'")
    assert.is_nil(next(bare.features))
  end)

  it("refuse keys that cannot be a feature", function()
    for _, key in ipairs { -1, 0, 3, 256, math.maxinteger, math.mininteger } do
      assert.is_nil(file.features[key], tostring(key))
    end
    for _, key in ipairs { 1.5, 0 / 0, math.huge, true, {}, print, "", ("x"):rep(100000) } do
      assert.has_error(function() return file.features[key] end)
    end
  end)

  it("are decoded once and keep changes of the script", function()
    assert.are.equal(file.features.nrcpus, file.features.nrcpus)
    assert.are.equal(file.features, file.features)
    file.features.nrcpus.online = 77
    assert.are.equal(77, file.features.nrcpus.online)
  end)

  it("are all in pairs, in the order of their numbers", function()
    local seen, order = {}, {}
    for name, value in pairs(file.features) do
      seen[name] = value
      order[#order + 1] = name
    end
    for name in pairs(everything.features) do
      assert.are.equal(file.features[name], seen[name], name)
    end
    assert.is_true(#order > 30)
    assert.are.equal("build_id", order[1])
    assert.are.equal(200, order[#order])
  end)

  it("raise after close(), also in the middle of pairs", function()
    local features = file.features
    local step = pairs(features)
    step()
    file:close()
    assert.error_matches(step, "closed file")
    assert.error_matches(function() return features.hostname end, "closed file")
    assert.error_matches(function() pairs(features) end, "closed file")
  end)

  it("keep their file", function()
    local features = file.features
    file = assert(perflua.open(everything.builder("big"):write()))
    collectgarbage()
    collectgarbage()
    assert.are.equal("6.1", features.osrelease)
  end)
end)

describe("a feature that cannot be decoded", function()
  local function damaged(sections, bytes)
    warn "@off"
    local b = everything.builder "little"
    for bit, value in pairs(bytes or {}) do
      b:feature(bit, value)
    end
    return reading.open(b, { sections = sections })
  end

  it("is nil, noted as damage, and keeps none of the others from being read", function()
    local file = damaged({}, { [7] = "abc" })
    assert.is_nil(file.features.nrcpus)
    assert.is_nil(file.features.nrcpus)
    assert.are.equal(1, #file.damage)
    assert.matches("feature nrcpus", file.damage[1].reason)
    assert.are.equal("h", file.features.hostname)
  end)

  it("is nil when its section lies outside of the file", function()
    local file = damaged {
      [3] = { offset = 1 << 40 }, [4] = { size = 1 << 40 }, [5] = { offset = -8, size = 16 },
      [200] = { size = -1 },
    }
    for _, name in ipairs { "hostname", "osrelease", "version", 200 } do
      assert.is_nil(file.features[name])
    end
    assert.are.equal(4, #file.damage)
    assert.is_false(file.complete)
    assert.are.equal("x86_64", file.features.arch)
  end)

  it("is left out of pairs", function()
    local file = damaged({ [3] = { offset = 1 << 40 } }, { [7] = "abc" })
    for name in pairs(file.features) do
      assert.is_true(name ~= "hostname" and name ~= "nrcpus")
    end
  end)
end)
