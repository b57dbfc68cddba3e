-- Columns of a terminal that texts take, and texts that are shortened to them.
local core = require "perflua.core"

describe("columns of a text", function()
  it("are one for each character, two for a letter of double width", function()
    assert.equal(0, core.columns "")
    assert.equal(4, core.columns "main")
    assert.equal(6, core.columns "grün é")
    assert.equal(4, core.columns "中文")
    assert.equal(6, core.columns "ｆ😀한")
    assert.equal(1, core.columns "…")
  end)

  it("are none for marks that combine with a letter", function()
    assert.equal(1, core.columns "e\u{301}")
    assert.equal(2, core.columns "中\u{302}\u{301}")
  end)
end)

describe("a text that is too long", function()
  it("keeps its beginning and its end", function()
    assert.equal("main", core.shorten("main", 4))
    assert.equal("ma…n", core.shorten("main()n", 4))
    assert.equal("std…set", core.shorten("std::vector::set", 7))
    assert.equal("…", core.shorten("main", 1))
    assert.equal("main", core.shorten("main", 0))
  end)

  it("is cut between letters, and takes no more columns than there are", function()
    assert.equal("中…文", core.shorten("中文中文", 5))
    assert.equal("中…", core.shorten("中文中文", 4))
    assert.equal("e\u{301}…o\u{302}", core.shorten("e\u{301}abcdo\u{302}", 3))
  end)

  it("has room in any number of columns, for any letters", function()
    local letters = { "a", "é", "中", "😀", "e\u{301}", "." }
    math.randomseed(7)
    for _ = 1, 2000 do
      local parts = {}
      for i = 1, math.random(0, 30) do parts[i] = letters[math.random(#letters)] end
      local text, columns = table.concat(parts), math.random(1, 40)
      local short = core.shorten(text, columns)
      assert.is_truthy(utf8.len(short))
      assert.is_true(core.columns(short) <= columns, short)
      if core.columns(text) <= columns then
        assert.equal(text, short)
      else -- at most two columns are lost to letters of double width
        assert.is_true(core.columns(short) >= columns - 2, text .. " → " .. short)
        local head, tail = short:match "^(.*)…(.*)$"
        assert.equal(head, text:sub(1, #head))
        assert.equal(tail, text:sub(#text - #tail + 1))
      end
    end
  end)
end)
