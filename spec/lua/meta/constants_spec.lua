-- The meta of a script, which is read from its text.
local constants = require("perflua.meta.library").constants

local function reads(wanted, text) assert.are.same(wanted, (constants(text)), text) end

local function refuses(message, line, text)
  assert.are.same({ [2] = message, [3] = line, n = 3 }, table.pack(constants(text)), text)
end

describe("meta in a text", function()
  it("is a key of handlers, a variable, or the second value that is returned", function()
    for _, form in ipairs {
      "return { meta = %s }", "return { sample = function() end, meta = %s, comm = {} }",
      "local meta = %s\nreturn { meta = meta }", "meta=%s",
      "handlers.meta = %s return handlers",
      "local meta <const> = %s return function() end, meta",
      "return function(f) local x = { 1, { options = 1 } } end, %s", "return q(), %s;",
      "return q(),%s -- the end", "#!/usr/bin/env perflua's\nreturn {}, %s",
      "local meta = { __index = x }\nreturn q(meta), %s",
      "return { other = {}, meta -- [[\n = %s }",
    } do
      reads({ description = "d" }, form:format '{ description = "d" }')
    end
    for _, text in ipairs { "", "return {}", "return { meta = {} }",
      "return { metal = { record = 1 } }",
      "return x == { record = 1 }", "f(x, { record = 1 })", "return { x, { record = 1 } }",
      "-- meta = { record = 1 }", "x = 'meta = { record = 1 }'",
      "x = [[meta = { record = 1 }]]",
      "--[==[ ]]\nmeta = { record = 1 }]==]", "}}}", "return f, { a = 1, { record = 1 } }" } do
      assert.are.equal(0, select("#", constants(text)) - 1, text)
      assert.is_nil((constants(text)), text)
    end
  end)

  it("consists of constants as Lua has them", function()
    for code, value in pairs {
      ['"a\\"b" .. \'c\\\'d\' .. [[e]] .. [=[]]]=]'] = "a\"bc'de]]", ['"a\\z  \n  b"'] = "ab",
      ['"a\\\nb\\\r\nc\\65\\x42\\u{43}"'] = "a\nb\ncABC", ["64 * 1024 - -1 // 2"] = 65537,
      ["0x10 | 1 << 4 ~ 3"] = 0x13, ["1e3"] = 1000.0, ["1.5e-3 + .5"] = 0.5015, ["#'abc'"] = 3,
      ["not nil and 1 == 1 or false"] = true, ["{ 1, { 2; x = 3, ['y'] = 4 }, }"] =
        { 1, { 2, x = 3, y = 4 } }, ["--[[a]] 1 -- b"] = 1, ["'1' + 1"] = 2,
    } do
      reads({ options = { code = value } },
        ("meta = { options = { code = %s\n} }"):format(code))
    end
  end)

  it("is refused with the first thing that is not a constant, and its line", function()
    local function refuses_word(word, code)
      refuses(("meta is not made of constants only: '%s'"):format(word), 2,
        "\nmeta = { record = " .. code .. ",\nneeds = f() }")
    end
    for code, word in pairs { x = "x", ["x.y"] = "x", ["f()"] = "f", ["'x' .. (y)"] = "(",
      ["('x'):rep(9)"] = "(", ["function() end"] = "function", ["_ENV"] = "_ENV",
      ["{ [x] = 1 }"] = "x", ["{ { y } }"] = "y", ["x == 1"] = "x", ["0 or x--= 1\n"] = "x",
    } do
      refuses_word(word, code)
    end
    refuses("unfinished string", 2, "\nx = 'a\n'")
    refuses("unfinished string", 1, "x = [==[ ]] ]=]")
    refuses("unfinished comment", 3, "x = 1\n\n--[[ x")
    refuses("attempt to perform arithmetic on a nil value", 2, "\nmeta = { record = 1 + nil }")
    refuses("attempt to divide by zero", 1, "meta = { record = 1 // 0 }")
    refuses("more than 100 tables in one another", 1, ("{"):rep(101))
    local _, message = constants "meta = { record = 1 = 2 }"
    assert.matches("'}' expected near '='", message, 1, true)
  end)

  it("calls nothing, whatever the text is, and is what the script has", function()
    local parts = { "'", '"', "\\", "\r", "\n", "--", "[[", "]]", "[=[", "]=]", "--[[", "{", "}",
      ",", " ", "=", "==", "x", "1", "'a'", "[", "]", "record = ", "needs = {", "}", "..",
      "\\z", "(", ")", "('x'):trap()", "('x')['trap']()", "('x').trap'y'", "trap()", "or ",
      "nil", "<const>" }
    local seed = tonumber(os.getenv "SEED") or 14
    math.randomseed(seed)
    local calls, read, same = 0, 0, 0
    string.trap = function() calls = calls + 1 end -- luacheck: ignore
    for _ = 1, 30000 do
      local text = { "return { meta = { record = 'a', " }
      for i = 1, math.random(8) do text[i + 1] = parts[math.random(#parts)] end
      text[#text + 1] = math.random(2) == 1 and "} }" or "\n} }"
      text = table.concat(text)
      local meta = constants(text)
      assert.are.equal(0, calls, ("seed %d: %q"):format(seed, text))
      if meta then
        read = read + 1
        local chunk = load(text, "=x", "t", { trap = error })
        local _, value = pcall(chunk or error)
        -- other values are those of a comparison with the table
        if type(value) == "table" and type(value.meta) == "table" then
          assert.are.same(value.meta, meta, ("seed %d: %q"):format(seed, text))
          same = same + 1
        end
        calls = 0
      end
    end
    string.trap = nil -- luacheck: ignore
    assert.is_true(read > 300 and same > 300, ("%d read, %d the same"):format(read, same))
  end)
end)
