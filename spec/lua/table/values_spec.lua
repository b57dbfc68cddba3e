local values = require "perflua.table.values"

describe("stored values", function()
  local all = {
    true, false, 0, -1, math.mininteger, math.maxinteger, 0.1, -0.0, 1e300, 1 / 0, "",
    "a:b;{}\0\n", {},
    { 1, 2, { x = "y" } }, { [1.5] = true, [-3] = "z", t = { t = {} } },
  }

  it("come back as they were", function()
    for _, value in ipairs(all) do
      local back = values.decode(values.encode(value))
      assert.same(value, back)
      assert.equal(math.type(value), math.type(back))
    end
    assert.is_nil(values.decode(values.encode(nil)))
    local nan = values.decode(values.encode(0 / 0))
    assert.is_true(nan ~= nan)
  end)

  it("raise when they are cut anywhere, and never read past the end", function()
    local text = values.encode(all)
    for length = 0, #text - 1 do
      assert.is_false((pcall(values.decode, text:sub(1, length))), length)
    end
    assert.is_false((pcall(values.decode, text .. "N")))
  end)

  it("raise for lies", function()
    for _, text in ipairs { "S99999999999999999999:x", "S-1:", "I1", "I9223372036854775808;",
        "I01;", "Dx;", "{NT}",
      "Z", "", ("{I1;"):rep(1000), "S5:abc" } do
      assert.is_false((pcall(values.decode, text)), text)
    end
  end)

  it("cannot hold functions", function()
    assert.error_matches(function() values.encode { print } end, "a function cannot be saved")
  end)
end)
