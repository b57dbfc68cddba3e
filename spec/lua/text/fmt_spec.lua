local fmt = require "perflua.text.fmt"

describe("names in a message", function()
  it("are ten at most, and each has eighty bytes at most", function()
    local names = {}
    for i = 1, 13 do names[i] = "e" .. i end
    assert.equal("e1, e2, e3, e4, e5, e6, e7, e8, e9, e10 and 3 more", fmt.names(names))
    assert.equal("", fmt.names {})
    assert.equal(("ü"):rep(38) .. "…", fmt.names { ("ü"):rep(100) })
    assert.equal(("a"):rep(80), fmt.names { ("a"):rep(80) })
    for _, byte in ipairs { "\xff", "\x80" } do
      local name = fmt.names { byte:rep(100) }
      assert.is_true(#name <= 80 and #name > 70, #name)
    end
    assert.equal("a, b and 1 more", fmt.names({ "a", "b", "c" }, 2))
  end)
end)

describe("text for a terminal", function()
  it("has no control characters, of one byte or two", function()
    assert.equal("a\\x1b[31mb", fmt.escape "a\27[31mb")
    assert.equal("\\x00\\x0a\\x7f", fmt.escape "\0\n\127")
    assert.equal("x\\u{9b}31m", fmt.escape "x\u{9b}31m")
    for _, hidden in ipairs { 0x61c, 0x200b, 0x200f, 0x202e, 0x2066, 0x2069, 0xfeff,
        0xad, 0x34f, 0x3164, 0xfff9, 0xe0001, 0xe007f } do
      local c = utf8.char(hidden)
      assert.equal(("a\\u{%x}b"):format(hidden), fmt.escape("a" .. c .. "b"))
    end
    assert.equal("\u{2010}\u{e9}\u{1f600}", fmt.escape "\u{2010}\u{e9}\u{1f600}")
  end)

  it("keeps UTF-8 and escapes other bytes", function()
    assert.equal("größe €", fmt.escape "größe €")
    assert.equal("a\\xff\\xc3z", fmt.escape "a\xff\xc3z")
    assert.equal("\\xc2\\x1b", fmt.escape "\xc2\27")
    assert.equal("\\xe2\\x82", fmt.escape "\xe2\x82")
    assert.equal("", fmt.escape "")
  end)
end)

describe("values as text", function()
  it("are unsigned, hex or decimal by their kind", function()
    assert.equal("18446744073709551615", fmt.unsigned(-1))
    assert.equal("9223372036854775808", fmt.unsigned(math.mininteger))
    assert.equal("0xffffffff81000000", fmt.cell(0xffffffff81000000, "address"))
    assert.equal("-1", fmt.cell(-1, "signed"))
    assert.equal("18446744073709551615", fmt.cell(-1, "unsigned"))
    assert.equal("12.35%", fmt.cell(12.3456, "percent"))
    assert.equal("-", fmt.cell(nil, "string"))
  end)

  it("are exact in CSV", function()
    assert.equal("0.1", fmt.exact(0.1, "float"))
    assert.equal("0.30000000000000004", fmt.exact(0.1 + 0.2, "float"))
    assert.equal("", fmt.exact(nil, "string"))
  end)

  it("stand in columns, numbers to the right", function()
    local text = fmt.table({ { name = "comm", kind = "string" },
      { name = "n", kind = "unsigned" },
      { name = "x", kind = "function" } },
        { { "sh", 5, 1 }, { "größe", 1234, 22 }, { nil, nil, nil } })
    assert.equal("comm      n   x\nsh        5   1\ngröße  1234  22\n-         -   -\n", text)
  end)

  -- For a name of 200 000 characters the square takes minutes.
  it("cost time in proportion to their columns, not to its square", function()
    local name, start = ("x"):rep(200000), os.clock()
    local text = fmt.table({ { name = "symbol", kind = "string" },
      { name = "n", kind = "unsigned" } }, { { name, 1 }, { "main", 2 }, { "", nil } })
    assert.equal(("symbol%s  n\n%s  1\nmain%s  2\n%s  -\n"):format((" "):rep(199994), name,
      (" "):rep(199996), (" "):rep(200000)), text)
    assert.equal("", fmt.trim_end((" "):rep(200000)))
    assert.equal("x", fmt.trim_end "x \t ")
    assert.is_true(os.clock() - start < 5)
  end)

  it("are the last part of a path, or the whole of it", function()
    for path, name in pairs { ["/usr/lib/libc.so.6"] = "libc.so.6", [""] = "", sh = "sh",
      ["/usr/lib/"] = "/usr/lib/", ["//"] = "//", ["[vdso]"] = "[vdso]" } do
      assert.equal(name, fmt.base_name(path))
    end
    local path, start = ("x"):rep(200000) .. "/", os.clock()
    assert.equal(path, fmt.base_name(path))
    assert.is_true(os.clock() - start < 5)
  end)

  it("have histograms as bars, a line for each bucket", function()
    local list = { { from = 1, to = 2, count = 80 }, { from = 2, to = 4, count = 0 },
      { from = 4, to = 8, count = 1 } }
    local columns = { { name = "comm", kind = "string" }, { name = "h", kind = "histogram" },
      { name = "n", kind = "unsigned" } }
    assert.equal(table.concat({
      "comm  h" .. (" "):rep(53) .. "n",
      "sh    [1, 2)  80  " .. ("#"):rep(40) .. "  7",
      "      [2, 4)   0",
      "      [4, 8)   1  #",
      "none  -" .. (" "):rep(53) .. "8",
      "no" .. (" "):rep(58) .. "9\n",
    }, "\n"), fmt.table(columns, { { "sh", list, 7 }, { "none", nil, 8 }, { "no", {}, 9 } }))
  end)
end)
