local perflua = require "perflua"
local files = require "spec.support.files"

describe("require \"perflua\"", function()
  it("makes no globals", function()
    local script = ("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath) .. [[
      local known = {}
      for name in pairs(_G) do known[name] = true end
      require "perflua"
      for name in pairs(_G) do
        if not known[name] then print(name) end
      end
      print "done"]]
    local lua = os.getenv "PERFLUA_LUA" or "lua5.4"
    local printed = {}
    for line in files.lines(lua .. " -e " .. files.quote(script)) do printed[#printed + 1] = line end
    assert.same({ "done" }, printed)
  end)

  it("has the version of the build", function()
    assert.equal(files.read("Makefile"):match("VERSION := (%S+)"), perflua.version)
  end)

  it("spells addresses and times", function()
    assert.equal("0xffffffff81000000", perflua.hex(0xffffffff81000000))
    assert.equal("8590.143543", perflua.seconds(8590143543210))
  end)
end)

describe("perflua.open", function()
  it("returns nil, a message and a code when the world failed", function()
    local file, message, code = perflua.open("/nonexistent/perf.data")
    assert.is_nil(file)
    assert.matches("/nonexistent/perf.data", message)
    assert.equal("ENOENT", code)
  end)

  it("raises when the caller erred", function()
    assert.error_matches(function() perflua.open({ "a", "b" }) end, "several files come with a later version")
    assert.error_matches(function() perflua.open(5) end, "a path expected")
    assert.error_matches(function() perflua.open("x", { strct = true }) end, "'strct'; the closest is 'strict'")
    assert.error_matches(function() perflua.open("x", 5) end, "a table of options")
  end)
end)
