-- Names that would drive a terminal are escaped in messages, too.
local assert = require "luassert"
local files = require "spec.support.files"
local run = require "spec.cli.run"

describe("a name with control characters", function()
  local ESC, C1 = "\27[31m", "\u{9b}31m"
  local escaped = "a\\x1b[31mb\\xc2\\x9b31m\\xff"
  local name = "a" .. ESC .. "b" .. C1 .. "\xff"

  it("is escaped in what tools and the interpreter say of a path", function()
    for _, words in ipairs {
      { "stat", name .. ".data" }, { "./" .. name .. ".lua" }, { "report", name .. ".data" },
      { name },
    } do
      local got = run.perflua(words)
      assert.is_true(got.status ~= 0)
      assert.is_nil(got.err:find("[\27\x9b]"), got.err)
      assert.matches("a\\x1b[31mb", got.err, 1, true)
    end
  end)

  it("is escaped in warnings of damage, and of events in messages", function()
    local dir = files.directory { [name .. ".data"] = files.read(run.demo):sub(1, 40000) }
    local path = dir .. "/" .. name .. ".data"
    local got = run.perflua { "stat", path }
    assert.matches("perflua: " .. dir .. "/" .. escaped .. ".data: offset ", got.err, 1, true)
    assert.is_nil(got.err:find("[\27\x9b]"), got.err)
  end)
end)
