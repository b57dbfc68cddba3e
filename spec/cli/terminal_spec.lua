-- The terminal of specs itself: what it shows is what programs drew.
local needs = require "spec.support.needs"
local Screen = require "spec.support.screen"

describe("the screen of a terminal in specs", function()
  it("has the cells that were written, and their colours", function()
    local screen = Screen.new(10, 3)
    screen:write "ab\27[1;31mcd\27[0me\r\n中x"
    assert.same({ "abcde", "中x", "" }, screen:lines())
    assert.equal("", screen:style(1, 2))
    assert.equal("1;31", screen:style(1, 3))
    assert.equal("", screen:style(1, 5))
    assert.same({ 2, 3 }, { screen:find "x" })
  end)

  it("wraps and scrolls, and keeps what has gone", function()
    local screen = Screen.new(4, 2)
    screen:write "abcdef\r\ngh\r\ni"
    assert.same({ "gh", "i" }, screen:lines())
    assert.equal("abcd\nef\ngh\ni", screen:text())
  end)

  it("moves, erases, inserts and deletes", function()
    local screen = Screen.new(6, 3)
    screen:write "\27[2;3Hxyz\27[1Aw\27[H\27[K!\27[3;1Habcdef\27[3G\27[2P\27[2@\27[2X"
    assert.same({ "!", "  xyz", "ab  ef" }, screen:lines())
    screen:write "\27[2;1H\27[L"
    assert.same({ "!", "", "  xyz" }, screen:lines())
    screen:write "\27[M"
    assert.same({ "!", "  xyz", "" }, screen:lines())
  end)

  it("has another screen, after which the first one is there again", function()
    local screen = Screen.new(6, 2)
    screen:write "one\27[?1049h\27[Htwo"
    assert.equal("two", screen:line(1))
    screen:write "\27[?1049l!"
    assert.equal("one!", screen:line(1))
  end)

  it("waits for the rest of a sequence that is cut anywhere", function()
    local text = "a\27[31m中\27[2;4Hb\27[0mc"
    local whole = Screen.new(8, 2)
    whole:write(text)
    for at = 1, #text do
      local screen = Screen.new(8, 2)
      screen:write(text:sub(1, at))
      screen:write(text:sub(at + 1))
      assert.same(whole:lines(), screen:lines())
      assert.equal(whole:style(1, 2), screen:style(1, 2))
    end
  end)
end)

needs.describe("terminal", "a program on a terminal of specs", function()
  local terminal = require "spec.support.terminal"

  it("has its size, gets keys and ends with a status", function()
    local t = terminal.shell("stty size; read line; echo got $line; exit 3",
      { columns = 50, rows = 7 })
    t:expect "7 50"
    t:send "x\n"
    t:expect "got x"
    assert.equal(3, t:finish())
  end)

  it("is told of a new size, and of ^C", function()
    local t = terminal.shell([[trap 'stty size' WINCH; trap 'echo caught; exit 0' INT
      echo ready; while :; do sleep 0.05; done]])
    t:expect "ready"
    t:resize(33, 11)
    t:expect "11 33"
    t:send "\3"
    t:expect "caught"
    assert.equal(0, t:finish())
  end)
end)
