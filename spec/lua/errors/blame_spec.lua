local errors = require "perflua.errors"
local blame, guard = errors.blame, errors.guard

describe("an error of the caller", function()
  local function message_of(fn) return select(2, pcall(fn)) end

  it("names the line of the first function that is not the library's", function()
    local function deep() blame("no %s", "luck") end
    assert.matches("^spec/lua/errors/blame_spec.lua:8: no luck$", message_of(deep))
  end)

  it("is escaped, and is no format without arguments", function()
    assert.matches(": a\\x1b%[2J%%s$", message_of(function() blame("a\27[2J%s") end))
  end)

  it("is what the core raises in a guarded call, once with a line", function()
    local function ask() print(guard(tonumber, {}, 10)) end
    assert.matches("^spec/lua/errors/blame_spec.lua:17: bad argument #1", message_of(ask))
    assert.same({ 255, 1 }, { guard(tonumber, "ff", 16), 1 })
  end)
end)
