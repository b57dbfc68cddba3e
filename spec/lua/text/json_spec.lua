local json = require "perflua.text.json"

describe("JSON", function()
  local encode = json.encode

  it("has exact integers", function()
    assert.equal("9223372036854775807", encode(math.maxinteger))
    assert.equal("-9223372036854775808", encode(math.mininteger))
    assert.equal("9007199254740993", encode(9007199254740993))
    assert.equal("18446744073709551615", encode(json.unsigned(-1)))
    assert.equal('"0xffffffff81000000"', encode(json.address(0xffffffff81000000)))
  end)

  it("writes floats that read back unchanged, and null for NaN", function()
    for _, x in ipairs { 0.1, 1e300, -2.5, 1 / 3, 5e-324, 3.0 } do
      assert.equal(x, tonumber(encode(x)))
    end
    assert.equal("3.0", encode(3.0))
    assert.equal("null", encode(0 / 0))
    assert.equal("null", encode(1 / 0))
  end)

  it("quotes strings, and makes valid UTF-8 of any bytes", function()
    assert.equal([["a\"b\\c\n\u0001\u001b"]], encode 'a"b\\c\n\1\27')
    assert.equal([["\u007f\u009b31m"]], encode "\127\u{9b}31m")
    assert.equal('"größe"', encode "größe")
    assert.equal('"a\u{fffd}b"', encode "a\xffb")
    assert.equal('"\u{fffd}\u{fffd}"', encode "\xe2\x82")
    assert.equal('"\u{fffd}\u{fffd}\u{fffd}"', encode "\xed\xa0\x80") -- a surrogate
    assert.equal('"[]"', encode "[]")
  end)

  it("has arrays and objects, keys sorted", function()
    assert.equal("[1,2,[]]", encode { 1, 2, {} })
    assert.equal('{"a":1,"b":[true,null]}', encode { b = { true, json.null }, a = 1 })
    assert.equal("{}", encode(json.object {}))
    assert.equal("[]", encode(json.array {}))
    assert.equal('{"1":"a","3":"b"}', encode { [1] = "a", [3] = "b" })
    assert.equal('{"1":"x","y":2}', encode { "x", y = 2 })
    assert.equal("null", encode(nil))
  end)

  it("raises for values that JSON cannot hold", function()
    assert.error_matches(function() encode(print) end, "cannot encode a function")
    local loop = {}
    loop[1] = loop
    assert.error_matches(function() encode(loop) end, "nested deeper")
  end)
end)
