-- Functions, `in` and `#` in expressions, over tables that stand in for records.
local expr = require "perflua.filter.expr"
local expressions = require "spec.support.expressions"

local holds, refused, value = expressions.holds, expressions.refused, expressions.value

describe("find and starts", function()
  it("look for a text, plainly", function()
    assert.is_true(holds("find(c, 'lib')", { c = "/usr/lib/x" }))
    assert.is_false(holds("find(c, 'l.b')", { c = "/usr/lib/x" }))
    assert.is_true(holds("find(c, '%d')", { c = "a%d" }))
    assert.is_true(holds("starts(c, '/usr')", { c = "/usr/lib" }))
    assert.is_false(holds("starts(c, 'usr')", { c = "/usr/lib" }))
    assert.is_false(holds("starts(c, '/usr/lib/x')", { c = "/usr/lib" }))
    assert.is_true(holds("find(raw, '\\0b')", { raw = "a\0bc" }))
  end)

  it("find the empty text in every string", function()
    assert.is_true(holds("find(c, '') and starts(c, '')", { c = "" }))
    assert.is_false(holds("find(c, '') or starts(c, '')"))
  end)

  it("are false for absent values and values that are not strings", function()
    assert.is_false(holds("find(c, 'x')"))
    assert.is_true(holds("not starts(c, 'x')"))
    assert.is_false(holds("find(what, '1')", { what = 1 }))
    assert.is_true(holds("find(what, '1')", { what = "1" }))
  end)

  it("take a field as the text, too", function()
    assert.is_true(holds("find(c, d)", { c = "abc", d = "bc" }))
    assert.is_false(holds("find(c, d)", { c = "abc" }))
    assert.is_true(holds("starts('abc', d)", { d = "ab" }))
  end)

  it("are conditions", function()
    assert.is_true(holds("find(c, 'a') == flag", { c = "b", flag = false }))
    refused("find(c, 'a') + 1 == 2", "'%+' expects numbers, found a condition")
  end)

  it("are refused for anything but strings", function()
    refused("find(s, 'x')", "column 6: 'find' expects strings, found s %(an integer%)")
    refused("starts(c, 5)", "column 11: 'starts' expects strings, found an integer")
    refused("find(nil, 'x')", "expects strings, found nil")
    refused("find(c)", "column 1: 'find' takes two arguments, as in find%(comm, 'text'%)")
    refused("find(c, 'a', 'b')", "takes two arguments")
  end)
end)

describe("in", function()
  it("asks for one of several values", function()
    for s, want in pairs { [1] = true, [2] = true, [3] = false } do
      assert.equal(want, holds("s in {1, 2}", { s = s }))
      assert.equal(not want, holds("not (s in {1, 2})", { s = s }))
    end
    assert.is_true(holds("c in {'a', 'b'}", { c = "b" }))
    assert.is_false(holds("c in {'a', 'b'}", { c = "ab" }))
    assert.is_true(holds("flag in {false}", { flag = false }))
    assert.is_true(holds("s + 1 in {3,}", { s = 2 }))
    assert.is_true(holds("s in {-1, 1 + 1, ~0}", { s = -1 }))
    assert.is_true(holds("f in {-1.5, 2}", { f = -1.5 }))
    assert.is_true(holds("f in {-1.5, 2}", { f = 2.0 }))
  end)

  it("is false for an absent value", function()
    assert.is_false(holds("s in {1}"))
    assert.is_true(holds("not (s in {1})"))
    assert.is_false(holds("s // 0 in {1}", { s = 1 }))
  end)

  it("binds as a comparison does", function()
    assert.is_true(holds("s in {1} and c in {'a'} or flag", { s = 1, c = "a" }))
    assert.is_true(holds("s + t in {3}", { s = 1, t = 2 }))
    assert.is_true(holds("s in {1} == flag", { s = 1, flag = true }))
  end)

  -- A negative float of an unknown type is left out: no field is one.
  it("compares as == does, whatever the kinds", function()
    local constants = {
      "0", "1", "-1", "3.0", "2.5", "9223372036854775807", "9223372036854775808",
      "18446744073709551615",
      "0xffffffffffffffff", "0x8000000000000000", "1e19", "9223372036854775808.0", "-1.0",
      "0/0", "1/0",
      "9007199254740993", "9007199254740992.0", "-9223372036854775807 - 1",
      "18446744073709551616.0",
    }
    local values = {
      0, 1, -1, 3, 3.0, 2.5, math.maxinteger, math.mininteger, 0x1p63, -0x1p63, 1e19, -1.0,
      0 / 0, 1 / 0,
      9007199254740993, 9007199254740992.0, 0x1p64, math.tointeger(1e19 - 0x1p64),
    }
    local function check(field, x)
      for _, constant in ipairs(constants) do
        local one, record = ("%s == %s"):format(field, constant), { [field] = x }
        assert.equal(holds(one, record),
          holds(("%s in {77, %s}"):format(field, constant), record), one .. " of " .. x)
      end
    end
    for _, x in ipairs(values) do
      if math.type(x) == "float" then
        check("f", x)
      else
        for _, field in ipairs { "s", "u", "a" } do check(field, x) end
      end
      if math.type(x) == "integer" or x ~= x or x >= 0 then check("what", x) end
    end
  end)

  it("refuses constants that could be taken for others where the type of a value is not "
    .. "known", function()
    refused("args.x + 1 in {1, 0xffffffffffffffff}",
      "column 19: a list cannot contain a constant above 2%^63%-1")
    assert.is_true(holds("args.x in {1, 0xffffffffffffffff}", { args = { x = -1 } }))
  end)

  it("looks events up by their names", function()
    local cycles, faults = { event = expressions.file.events[1] },
      { event = expressions.file.events[2] }
    assert.is_true(holds("event in {'cycles'}", cycles))
    assert.is_false(holds("event in {'cycles'}", faults))
    assert.is_true(holds("event in {'cycles', 'faults'}", faults))
    assert.is_true(holds("not (event in {'cycles'})", faults))
    assert.is_false(holds("event in {'cycles'}", {}))
    assert.has_error(function() expr.compile("event in {'cycels'}", expressions.scope) end)
    refused("event in {1}", "column 11: expected the name of an event in quotes")
    refused("event in {c}", "column 11: expected the name of an event in quotes")
  end)

  it("takes constants of one family, and at least one", function()
    refused("s in {1, t}", "column 10: a list after 'in' can only contain constants")
    refused("s in {1, 'a'}", "column 10: cannot compare s %(an integer%) with a string")
    refused("c in {1}", "cannot compare c %(a string%) with an integer")
    refused("what in {1, 'a'}", "column 13: cannot compare an integer with a string")
    refused("s in {}", "column 3: the list after 'in' is empty")
    refused("s in {nil}", "a list cannot contain nil; use == nil")
    refused("nil in {1}", "a list cannot contain nil")
    refused("chain in {1}",
      "chain is a view, which no list can contain; name one of its fields")
    refused("s in 1", "column 6: a list expected after 'in': { 1, 2 }")
    refused("s in (1, 2)", "column 6: a list expected after 'in'")
    refused("s in {1, 2", "'}' expected to close the '{' at column 6")
    refused("s in {1 2}", "column 9: '}' expected")
    refused("s not in {1}", "column 3: 'not' is not expected here; write not %(f in { … }%)")
    refused("not s in {1}", "'not' expects conditions")
  end)

  it("may follow a dot as any word", function()
    assert.is_true(holds("args.in in {1}", { args = { ["in"] = 1 } }))
  end)

  it("takes long lists", function()
    local list = {}
    for i = 1, 20000 do list[i] = i end
    assert.is_true(holds("s in {" .. table.concat(list, ",") .. "}", { s = 20000 }))
  end)
end)

describe("#", function()
  it("counts the items of a composite and the bytes of a string", function()
    assert.equal(2, (value("#chain", { chain = { {}, {} } })))
    assert.equal(3, (value("#c", { c = "abc" })))
    assert.equal(3, (value("#what", { what = "a\0b" })))
    assert.is_true(holds("#chain > 1 and #c - 4 < 0", { chain = { {}, {} }, c = "abc" }))
    assert.equal("unsigned", select(2, value "#chain"))
  end)

  it("has no value for operands that are absent or have no length", function()
    assert.is_nil(value("#chain"))
    assert.is_nil(value("#what", { what = 5 }))
    assert.is_false(holds("#c == 0"))
    assert.is_true(holds("#c == nil"))
  end)

  it("is refused for other operands", function()
    refused("#s == 1", "found s %(an integer%)")
    refused("#(s + 1) == 1", "column 5: '#' expects a field")
    refused("#'abc' == 3", "'#' expects a field")
  end)
end)

describe("under", function()
  local chain = { { symbol = "leaf" }, {}, { symbol = "main" } }

  it("asks whether a function of the call chain has a name", function()
    assert.is_true(holds("under('main')", { callchain = chain, symbol = "leaf" }))
    assert.is_true(holds("under('leaf')", { callchain = chain, symbol = "leaf" }))
    assert.is_false(holds("under('mai')", { callchain = chain, symbol = "leaf" }))
    assert.is_true(holds("not under('mai')", { callchain = chain, symbol = "leaf" }))
  end)

  it("asks the ip's function where there is no call chain", function()
    assert.is_true(holds("under('leaf')", { symbol = "leaf" }))
    assert.is_true(holds("under('leaf')", { callchain = {}, symbol = "leaf" }))
    assert.is_false(holds("under('other')", { symbol = "leaf" }))
    assert.is_false(holds("under('leaf')", {}))
  end)

  it("takes one name", function()
    refused("under(c)", "column 7: 'under' expects the name of a function in quotes")
    refused("under(5)", "in quotes")
    refused("under()", "column 1: 'under' takes one argument, as in under%('symbol'%)")
  end)
end)

describe("bucket", function()
  it("rounds down to a multiple", function()
    assert.equal(30, (value("bucket(u, 10)", { u = 39 })))
    assert.equal(-10, (value("bucket(s, 10)", { s = -1 })))
    assert.equal(-10, (value("bucket(s, 10)", { s = -10 })))
    assert.equal(0, (value("bucket(s, 10)", { s = 9 })))
    assert.equal(0xffffffff81000000, (value("bucket(a, 4096)", { a = 0xffffffff81000fff })))
    assert.equal(0xfffffffffffffffa, (value("bucket(u, 10)", { u = -1 })))
    assert.equal(-10, (value("bucket(what, 10)", { what = -1 })))
    assert.equal(20, (value("bucket(u + v, 1e1)", { u = 20, v = 9 })))
  end)

  it("keeps the kind of its operand", function()
    for text, kind in pairs {
      ["bucket(s, 2)"] = "signed", ["bucket(u, 2)"] = "unsigned", ["bucket(a, 2)"] = "address",
      ["bucket(what, 2)"] = "any", ["bucket(7, 2)"] = "natural", ["bucket(-7, 2)"] = "signed",
    } do
      assert.equal(kind, select(2, value(text)), text)
    end
  end)

  it("has no value for an absent operand", function()
    assert.is_nil(value("bucket(s, 10)"))
    assert.is_nil(value("bucket(s, 10)", { s = math.mininteger }))
    assert.equal(math.mininteger, (value("bucket(s, 8)", { s = math.mininteger })))
    assert.is_nil(value("bucket(what, 10)", { what = "x" }))
    assert.is_nil(value("bucket(what, 10)", { what = 1.5 }))
    assert.equal(10, (value("bucket(what, 10)", { what = 19.0 })))
  end)

  it("knows lengths of time, cache lines and pages", function()
    local widths = { ["10ms"] = 10000000, ["1s"] = 1000000000, ["5us"] = 5000, ["100ns"] = 100,
      ["1.5us"] = 1500 }
    for text, width in pairs(widths) do
      assert.equal(3 * width, (value(("bucket(u, '%s')"):format(text), { u = 3 * width + 1 })),
        text)
    end
    assert.equal(0x1040, (value("bucket(a, 'line')", { a = 0x107f })))
    assert.equal(0x1000, (value("bucket(a, 'page')", { a = 0x1fff })))
    assert.equal(0x1000, (value("bucket(args.x, 'page')", { args = { x = 0x1fff } })))
  end)

  it("agrees with Lua's own floor", function()
    for _ = 1, 2000 do
      local x, n = math.random(0) >> math.random(0, 63), math.random(0) >> math.random(1, 63)
      if math.random(2) == 1 then x = ~x end
      if n > 0 then
        local want = x // n * n
        if want > x then want = nil end
        assert.equal(want, (value(("bucket(s, %d)"):format(n), { s = x })), x .. " " .. n)
        local unsigned = value(("bucket(u, %d)"):format(n), { u = x })
        assert.is_true(math.ult(x - unsigned, n)
          and (value(("u %% %d"):format(n), { u = unsigned })) == 0)
      end
    end
  end)

  it("is refused if its width is wrong", function()
    refused("bucket(s, 0) == 1",
      "column 11: the width of a bucket must be a constant: an integer above 0")
    refused("bucket(s, -1) == 1", "width of a bucket")
    refused("bucket(s, t) == 1", "width of a bucket")
    refused("bucket(s, 1.5) == 1", "width of a bucket")
    refused("bucket(s, 18446744073709551615) == 1", "width of a bucket")
    refused("bucket(s, 'week') == 1",
      "column 11: unknown width 'week' of a bucket; expected an integer, a time")
    refused("bucket(s, '0s') == 1", "width of a bucket")
    refused("bucket(s, '0.1ns') == 1", "unknown width '0.1ns'")
    refused("bucket(a, '10ms') == 1",
      "'10ms' is a time, but the bucket is of addresses")
    refused("bucket(u, 'page') == 1", "'page' is a width for addresses")
    refused("bucket(f, 2) == 1", "column 8: 'bucket' expects an integer, found f %(a number%)")
    refused("bucket(c, 2) == 1", "'bucket' expects an integer, found c %(a string%)")
    refused("bucket(s, 2)", "a filter must be a condition")
    refused("bucket(s 2) == 1", "column 10: '%)' expected to close the '%(' at column 7")
    refused("bucket(s, 2,) == 1", "column 13: a field, a number")
  end)
end)

describe("an expression", function()
  it("is a value of any kind", function()
    assert.equal(6, (value("u * 2", { u = 3 })))
    assert.equal("natural", select(2, value "1 + 1"))
    assert.equal("float", select(2, value "1 / 2"))
    assert.equal(0.5, (value "1 / 2"))
    assert.is_true(value("s in {1}", { s = 1 }))
    assert.is_nil(value("u * 2"))
  end)

  it("names the column of a mistake", function()
    local node, message = expr.value("u * c", expressions.scope)
    assert.is_nil(node)
    assert.equal(
      "expression \"u * c\", column 5: '*' expects numbers, found c (a string)", message)
    assert.matches("nil is not a value", select(2, expr.value("nil", expressions.scope)))
    assert.matches("column 4", select(2, expr.value("u +", expressions.scope)))
  end)
end)
