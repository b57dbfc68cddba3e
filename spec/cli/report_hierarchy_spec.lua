-- perflua report --hierarchy: rows below rows, as perf report --stdio has them.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local report_lines = require "spec.support.report_lines"
local run = require "spec.cli.run"

local words = files.fixture "words/perf.data"

local function report(...)
  return run.perflua { "report", "--symfs", files.fixture "words", "--hierarchy", words, ... }
end

describe("perflua report --hierarchy", function()
  it("shows the rows of a field below that of the field before it", function()
    local got = report("-q", "-s", "comm,dso,sym", "--percent-limit", "26")
    assert.are.equal([[
    62.55%        tree
       62.55%        words
          30.18%        [.] compare
          26.06%        [.] find_in_tree
]], got.out)
    assert.are.equal(got.out, report("-q", "--percent-limit", "26").out)
  end)

  it("says where no row weighs enough", function()
    assert.matches("\n    20.85%     list\n                  no entry >= 16.00%\n",
      report("-s", "comm,sym", "--percent-limit", "16").out, 1, true)
    assert.are.equal("", report("-q", "--percent-limit", "99").out)
  end)

  it("says what it excludes", function()
    for _, case in ipairs {
      { "--csv", "--hierarchy and --csv exclude each other" },
      { "--fields=comm", "--hierarchy and --fields exclude each other" },
      { "--field-separator=,", "--hierarchy and --field-separator exclude each other" },
      { "--sort=comm,period", "--hierarchy: -n, --show-total-period and "
        .. "--show-cpu-utilization name its columns" },
    } do
      local got = report(case[1])
      assert.are.same({ 2, "" }, { got.status, got.out })
      assert.matches(case[2], got.err, 1, true)
    end
  end)
end)

-- Puts functions in place of the addresses that perf shows of callers.
local function name_callers(lines)
  if not oracle.does.hierarchy_addresses then return lines end
  local names = {}
  local file <close> = assert(perflua.open(words, { symfs = files.fixture "words" }))
  local frames = file:samples():unnest "callchain"
  for row in frames:group_by("frame.ip", "frame.symbol"):count():table():rows() do
    names[("0x%x"):format(row["frame.ip"])] = row["frame.symbol"]
  end
  for i, line in ipairs(lines) do lines[i] = line:gsub("0x%x+", names) end
  return lines
end

needs.describe("perf", "the rows of perflua report --hierarchy, and those of perf", function()
  for _, options in ipairs {
    "-g none", "-g none -s comm,sym --percent-limit 18", "-g none -s sym,comm -n",
    "-g none -s comm,dso,sym --percent-limit 16", "-g none -s dso", "-s sym,comm -g caller",
    "-g none -s comm,sym --show-cpu-utilization --show-total-period", "-s comm,sym -g folded",
    "-s dso,sym -g flat", "-g none -s comm,sym --comm list,tree", "-s comm,sym -g callee",
    "--no-children -s dso,sym -g flat", "--no-children -s sym,comm -g graph",
  } do
    it("are the same with " .. options, function()
      options = "--hierarchy --symfs spec/fixtures/words " .. options
      local theirs = name_callers(report_lines.of_perf(words, options))
      assert.are.same(theirs, report_lines.of_ours(words, options))
      assert.is_not_nil(theirs[1])
    end)
  end
end)
