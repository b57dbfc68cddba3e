-- docs/perflua.1: its examples, as a reader sees and pastes them.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local user = require "spec.examples.user"

local PAGE = "docs/perflua.1"

-- Replacements of characters that roff would change: "\-" is a minus sign, "-" may become a
-- hyphen.
local escapes = { ["\\-"] = "-", ["\\(aq"] = "'", ["\\e"] = "\\" }

-- The examples in the page's source: what is between .Bd -literal and .Ed.
local examples = {}
for block in files.read(PAGE):gmatch "\n%.Bd %-literal[^\n]*\n(.-)\n%.Ed" do
  local text = block:gsub("\\%-", escapes):gsub("\\%(aq", escapes):gsub("\\e", escapes)
  examples[#examples + 1] = text .. "\n"
end

-- The text of a page without its indentation, by a program that reads it from standard input.
-- Characters that some systems' roff changes are changed here, too.
local function rendered(program)
  local text = files.output(([[
    printf '.char - \\[hy]\n.char \047 \\[cq]\n' | cat - %s | %s | sed 's/.\x08//g' | expand]]):format(PAGE, program))
  return ("\n" .. text):gsub("\n +", "\n")
end

local function unindented(text) return (("\n" .. text):gsub("\n +", "\n")) end

describe("the man page", function()
  it("has examples", function()
    assert.is_true(#examples >= 6)
    assert.is_nil(files.read(PAGE):find "\n%.Dl")
  end)

  for name, program in pairs {
    groff = "groff -Tutf8 -mandoc -P-c -P-b -P-u 2>&1", mandoc = "mandoc -Tutf8 2>&1",
  } do
    needs.it(name, "shows each example as it is typed, with " .. name, function()
      local page = rendered(program)
      for _, example in ipairs(examples) do
        assert.is_truthy(page:find(unindented(example), 1, true), example .. " is not in\n"
          .. page)
      end
    end)
  end

  -- perf, in examples, is what writes the recording.
  local perf = "perf() { case $* in *'-o -'*) cat perf.data ;; esac; }\n"

  for i, example in ipairs(examples) do
    it(("has an example %d that works: %s"):format(i, example:match "[^\n]*"), function()
      local run, scripts = perf .. "set -e\n" .. example, nil
      if example:find "^return" then
        run, scripts = "set -e\nperflua script.lua perf.data\n",
          { ["script.lua"] = files.temporary(example) }
      end
      local shown = user.run_beside_recording(run .. "echo status $?", scripts)
      assert.matches("^[^\n]+\n.*status 0\n$", shown)
      assert.is_nil(shown:find "^perflua: " or shown:find "\nperflua: ", shown)
    end)
  end

  it("names every tool", function()
    local page = files.read(PAGE)
    for name in user.run("perflua help"):gmatch "\n  (%l+) " do
      assert.is_truthy(page:find("\n%.It Cm [^\n]*%f[%w]" .. name .. "%f[%W]"), name)
    end
  end)
end)
