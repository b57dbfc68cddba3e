local store = require "perflua.store"

describe("stored values", function()
  local values = {
    true, false, 0, -1, math.mininteger, math.maxinteger, 0.1, -0.0, 1e300, 1 / 0, "", "a:b;{}\0\n", {},
    { 1, 2, { x = "y" } }, { [1.5] = true, [-3] = "z", t = { t = {} } },
  }

  it("come back as they were", function()
    for _, value in ipairs(values) do
      local back = store.decode(store.encode(value))
      assert.same(value, back)
      assert.equal(math.type(value), math.type(back))
    end
    assert.is_nil(store.decode(store.encode(nil)))
    local nan = store.decode(store.encode(0 / 0))
    assert.is_true(nan ~= nan)
  end)

  it("raise when they are cut anywhere, and never read past the end", function()
    local text = store.encode(values)
    for length = 0, #text - 1 do
      assert.is_false((pcall(store.decode, text:sub(1, length))), length)
    end
    assert.is_false((pcall(store.decode, text .. "N")))
  end)

  it("raise for lies", function()
    for _, text in ipairs { "S99999999999999999999:x", "S-1:", "I1", "I9223372036854775808;", "I01;", "Dx;", "{NT}",
      "Z", "", ("{I1;"):rep(1000), "S5:abc" } do
      assert.is_false((pcall(store.decode, text)), text)
    end
  end)

  it("cannot hold functions", function()
    assert.error_matches(function() store.encode { print } end, "a function cannot be saved")
  end)
end)
