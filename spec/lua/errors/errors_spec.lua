local errors = require "perflua.errors"
local usage_error, errno, guard = errors.usage_error, errors.errno, errors.guard

describe("an error of the caller", function()
  local function message_of(fn) return select(2, pcall(fn)) end

  it("names the line of the first function that is not the library's", function()
    local function deep() usage_error("no %s", "luck") end
    assert.matches("^spec/lua/errors/errors_spec.lua:8: no luck$", message_of(deep))
  end)

  it("is escaped, and is not a format without arguments", function()
    assert.matches(": a\\x1b%[2J%%s$", message_of(function() usage_error("a\27[2J%s") end))
  end)

  it("is what the core raises in a guarded call, once with a line", function()
    local function ask() print(guard(tonumber, {}, 10)) end
    assert.matches("^spec/lua/errors/errors_spec.lua:17: bad argument #1", message_of(ask))
    assert.same({ 255, 1 }, { guard(tonumber, "ff", 16), 1 })
  end)
end)

describe("what an io function returned", function()
  it("has a code for a number", function()
    assert.same({ nil, "/none: No such file or directory", "ENOENT" },
      { errno(io.open("/none")) })
    assert.same({ nil, "m", "EIO" }, { errno(nil, "m", 9999) })
  end)

  it("stays as it is when nothing failed", function()
    assert.same({ "text" }, { errno("text") })
    assert.same({ true, "exit", 0 }, { errno(true, "exit", 0) })
  end)
end)
