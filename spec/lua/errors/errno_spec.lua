local errno = require("perflua.errors").errno

describe("what an io function returned", function()
  it("has a code for a number", function()
    assert.same({ nil, "/none: No such file or directory", "ENOENT" }, { errno(io.open("/none")) })
    assert.same({ nil, "m", "EIO" }, { errno(nil, "m", 9999) })
  end)

  it("stays as it is when nothing failed", function()
    assert.same({ "text" }, { errno("text") })
    assert.same({ true, "exit", 0 }, { errno(true, "exit", 0) })
  end)
end)
