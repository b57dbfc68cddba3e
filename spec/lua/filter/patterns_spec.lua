-- glob(), match() and lower(): texts by their form.
local core = require "perflua.core"
local expressions = require "spec.support.expressions"
local holds, refused, value = expressions.holds, expressions.refused, expressions.value

local SEED <const> = 20261122

describe("glob", function()
  it("describes the whole text", function()
    for _, case in ipairs {
      { "*", "", true }, { "", "", true }, { "", "a", false }, { "?", "", false },
      { "wrk*", "wrk", true }, { "wrk*", "wrk:1", true }, { "wrk*", "awrk", false },
      { "*rk", "wrk", true }, { "w?k", "wrk", true }, { "w?k", "wk", false },
      { "[ab]c", "bc", true }, { "[a-c]c", "dc", false }, { "[!a-c]c", "dc", true },
      { "[^a]c", "ac", false }, { "[]]", "]", true }, { "[]-a]", "^", true }, { "[a-]", "-",
        true },
      { "a[", "a[", true }, { "[!]", "[!]", true }, { "a.c", "abc", false }, { "%d", "%d",
        true },
      { "*a*b*c*", "xxaxxbxxcxx", true }, { "*a*b*c*", "xxcxxbxxaxx", false },
      { "a\\*", "a\\b", true },
    } do
      local text = ("glob(c, '%s')"):format(case[1]:gsub("\\", "\\\\"))
      assert.are.equal(case[3], holds(text, { c = case[2] }), text .. " of " .. case[2])
    end
    assert.is_false(holds("glob(c, '*')", {}))
    assert.is_false(holds("glob(what, '*')", { what = 1 }))
  end)

  it("takes a constant", function()
    refused("glob(c, d)", "column 9: 'glob' expects a glob in quotes")
    refused("glob(s, '*')", "column 6: 'glob' expects strings, found s")
    refused("glob(c)", "'glob' takes two arguments, as in glob%(comm, 'text%*'%)")
  end)
end)

describe("match", function()
  it("finds what string.find finds", function()
    math.randomseed(SEED)
    local bytes = { "a", "b", "A", "1", " ", "(", ")", ".", "%", "[", "]", "-", "^", "$", "\0" }
    local items = { "a", "b", ".", "%a", "%d", "%w", "%s", "%p", "%l", "%u", "%x", "%c", "%g",
      "%S",
      "[ab]", "[^ab]", "[a-c]", "[%a_]", "[^%d]", "[]a]", "[^]a]", "[a-]", "[-a]", "%%", "%.",
        "%(",
      "%b()", "%bab", "%baa", "%f[%a]", "%f[^a]", "(a)", "()", "(.-)", "[%]]", "[a%-z]", "$",
        "^" }
    local repeats = { "", "", "*", "+", "-", "?" }
    local function one_of(list) return list[math.random(#list)] end
    local matched, compared = 0, 0
    for _ = 1, 4000 do
      local parts = { math.random(5) == 1 and "^" or "" }
      for i = 2, math.random(1, 6) do parts[i] = one_of(items) .. one_of(repeats) end
      if math.random(5) == 1 then parts[#parts + 1] = "$" end
      local pattern = table.concat(parts)
      local matches, message = core.pattern(pattern, false)
      assert(matches, message)
      for _ = 1, 5 do
        local text = {}
        for i = 1, math.random(0, 9) do text[i] = one_of(bytes) end
        text = table.concat(text)
        local found = text:find(pattern) ~= nil
        assert.are.equal(found, matches(text), ("%q of %q"):format(pattern, text))
        compared, matched = compared + 1, matched + (found and 1 or 0)
      end
    end
    assert.is_true(matched > compared // 10 and matched < compared)
  end)

  it("is bounded in steps", function()
    local began = os.clock()
    assert.is_false(core.pattern(("a*"):rep(30) .. "b", false)(("a"):rep(50000)))
    assert.is_false(core.pattern(("%b()"):rep(20) .. "$", false)(("("):rep(50000)))
    assert.is_true(os.clock() - began < 5)
  end)

  it("refuses malformed patterns, and back-references", function()
    for pattern, message in pairs {
      ["(a"] = "a '%(' is not closed", ["a)"] = "a '%)' closes no '%('",
        ["[a"] = "a set lacks its '%]'",
      ["[%"] = "a set lacks its '%]'", ["a%"] = "it ends with a '%%'",
        ["%bx"] = "'%%b' lacks its two",
      ["%fa"] = "'%%f' lacks its set", ["(a)%1"] = "back%-references %(%%1%) are not known "
        .. "here",
    } do
      refused(("match(c, '%s')"):format(pattern), "column 10: malformed pattern '.*': "
        .. message)
    end
    refused("match(c, d)", "'match' expects a pattern in quotes")
  end)
end)

describe("lower", function()
  it("is the text with ASCII letters in lower case", function()
    assert.are.equal("abc é\xc9 z", (value("lower(c)", { c = "aBC é\xc9 Z" })))
    assert.are.equal("string", select(2, value("lower(c)", { c = "A" })))
    assert.is_nil((value("lower(c)", {})))
    assert.is_nil((value("lower(what)", { what = 7 })))
    assert.is_true(holds("lower(c) == lower('WRK')", { c = "Wrk" }))
    assert.is_true(holds("find(lower(c), 'b')", { c = "ABC" }))
    assert.is_true(holds("glob(lower(c), 'a?c')", { c = "ABC" }))
  end)

  it("expects a text", function()
    refused("lower(s) == 'x'", "'lower' expects strings, found s")
  end)
end)
