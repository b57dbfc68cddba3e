-- Lines that perf 7.3 printed of twenty recordings, on any machine: see spec/fixtures/perf-7.3.
local files = require "spec.support.files"
local lines = require "spec.script.lines"
local report_rows = require "spec.support.report_rows"

-- A kept text: an array of { command, lines }, each begins with "$ perf COMMAND".
local function sections(path)
  local list = {}
  for _, line in ipairs(lines.kept(path)) do
    local command = line:match "^%$ perf (.*)$"
    if command then
      list[#list + 1] = { command, {} }
    else
      table.insert(list[#list][2], line)
    end
  end
  return list
end

describe("the text of perf 7.3", function()
  for _, one in ipairs(dofile(files.fixture "perf-7.3/recordings.lua")) do
    local kept = sections(files.fixture("perf-7.3/" .. one.name .. ".txt.gz"))
    assert(#kept == #one.commands, one.name)
    for i, command in ipairs(one.commands) do
      local symfs, options = one.symfs or "spec/fixtures/empty", command:match "^script(.*)$"
      if not options then
        it(("has the rows of perflua: %s of %s"):format(command, one.name), function()
          local theirs = report_rows.parse(table.concat(kept[i][2], "\n"))
          local ours = report_rows.of_ours(one.path(), command:match "%-%-.*", "--symfs", symfs,
            "--kallsyms",
            "/dev/null")
          -- its callers have no level
          assert.are.same(report_rows.without_levels(theirs), report_rows.without_levels(ours))
        end)
      else
        it(("is that of perflua: %s of %s"):format(command, one.name), function()
          assert.are.equal(command, kept[i][1])
          local ours = lines.of_ours(one.path(), options .. " --kallsyms=/dev/null --symfs="
            .. files.quote(symfs), "7.3")
          assert.is_true(#ours > 0)
          lines.same(kept[i][2], ours, nil, 0, "7.3")
        end)
      end
    end
  end
end)
