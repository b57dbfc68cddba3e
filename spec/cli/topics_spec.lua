-- perflua help TOPIC: the pages of the manual, as text for a terminal.
local files = require "spec.support.files"
local topics = require "perflua.toolkit.topics"
local run = require "spec.cli.run"

local function help(topic)
  local got = run.perflua { "help", topic }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out
end

describe("perflua help TOPIC", function()
  it("lists every page of docs for users, with its title", function()
    local listed = help "topics"
    for path in files.lines("ls docs/*.md docs/topics/*.md 2>/dev/null") do
      local name = path:match "([%w-]+)%.md$"
      if name ~= "contributing" and name ~= "README" then
        local title = files.read(path):match "^# ([^\n]*)"
        assert.matches(("\n%s  +%s\n"):format(name:gsub("%-", "%%-"), title:gsub("%p", "%%%0")),
          "\n" .. listed)
      end
    end
  end)

  it("shows a page without links and fences", function()
    local text = help "cookbook"
    assert.matches("^Cookbook\n========\n", text)
    assert.matches("\n    %$ perflua sched sched.data\n", text)
    assert.is_nil(text:find("```", 1, true))
    assert.is_nil(text:find("](", 1, true))
  end)

  it("shows what methods of a name do", function()
    local text = help "having"
    assert.matches("^`query:having%(condition%)`\n", text)
    assert.matches("\n`table:having%(condition", text)
    assert.matches("\n%- `condition`: string%. Expression of columns", text)
    assert.matches("^`perflua%.open%(", help "open")
    assert.matches("^`query:top%(", help "query:top")
    assert.not_matches("table:top", help "query:top", 1, true)
    local api = require "perflua.api"
    for _, class in ipairs(api.classes()) do
      for _, method in ipairs(class.kind ~= "options" and class.methods or {}) do
        local name = class.prefix .. method[1]
        assert.truthy(help(name):find("`" .. name .. "(", 1, true), name)
      end
    end
  end)

  it("names the closest tool or topic", function()
    local got = run.perflua { "help", "cookbok" }
    assert.are.same({ 2, "" }, { got.status, got.out })
    assert.matches("no tool, topic or method 'cookbok'; the closest is 'cookbook'\n", got.err,
      1, true)
    assert.matches("no tool, topic or method 'xyzzyx'\n", run.perflua { "help", "xyzzyx" }.err,
      1, true)
  end)
end)

describe("a page as text", function()
  it("has wrapped paragraphs and lists", function()
    local words = ("word "):rep(30)
    assert.are.equal(("word "):rep(19) .. "\n" .. ("word "):rep(11) .. "\n\n- "
      .. ("word "):rep(19) .. "\n  " .. ("word "):rep(11) .. "\n",
      (topics.render(words .. "\n\n- " .. words .. "\n"):gsub("word\n", "word \n")))
  end)

  it("has a line for each row of a table", function()
    assert.are.equal([[
  where                     a filter
  a long name of a step that has more
                            than one · line|s
]], topics.render("| | | |\n|---|---|---|\n| where | a [filter](#x) |\n"
      .. "| a long name of a step that has more | than one | line\\|s |\n"))
  end)

  it("has code as it is, indented", function()
    assert.are.equal("Run:\n\n    f(  x)\n\n    [a](b)\n\nEnd\n",
      topics.render "Run:\n```lua\nf(  x)\n\n[a](b)\n```\n\nEnd\n")
  end)
end)
