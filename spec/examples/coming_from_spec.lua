local files = require "spec.support.files"
local needs = require "spec.support.needs"

local page = files.read "docs/coming-from.md"

-- Returns the words in backquotes of the first cells of a section's table.
local function words_of(title)
  local section = assert(page:match("\n## " .. title .. "\n(.-)\n## "))
  local words = {}
  for cell in section:gmatch "\n| (`[^|]+) |" do
    for word in cell:gmatch "`([^`]+)`" do words[word:match "^%S+"] = true end
  end
  return words
end

-- Words that perf lists about itself.
local ABOUT <const> = { help = true, List = true }
local HELPER <const> = "libxed" -- a module of one of its scripts

describe("the page for those who come from perf", function()
  needs.it("perf", "has a row for each command of perf", function()
    local rows, n = words_of "perf's commands", 0
    for name in files.output("perf --list-cmds 2>/dev/null"):gmatch "%S+" do
      if not ABOUT[name] then
        assert.is_true(rows[name], name)
        n = n + 1
      end
    end
    assert.is_true(n > 20)
  end)

  needs.it("perf", "has a row for each script of perf", function()
    local rows = words_of "perf's scripts"
    for line in files.output("perf script -l 2>/dev/null"):gmatch "[^\n]+" do
      local name = line:match "^%s+([%w_-]+)"
      if name then assert.is_true(rows[name], name) end
    end
    local names = files.output "ls $(perf --exec-path)/scripts/*/*.p[yl] 2>/dev/null"
    for name in names:gmatch "([%w_-]+)%.p[yl]\n" do
      if name ~= HELPER then assert.is_true(rows[name], name) end
    end
  end)
end)
