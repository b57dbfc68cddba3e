-- The recordings that tools read: FILE, -i FILE, none, several; options in perf's spelling.
local files = require "spec.support.files"
local run = require "spec.cli.run"

local words_data = files.fixture "words" .. "/perf.data"

--- Runs the interpreter in the directory of this recording, perf.data.
local function in_words(words)
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = files.quote(word) end
  return run.shell(([[
    case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
    cd spec/fixtures/words && "$perflua" %s </dev/null]]):format(table.concat(quoted, " ")))
end

--- The rows of a report without its comments: share → the rest.
local function counts_in(text)
  local counts = {}
  for count, comm in text:gmatch "\n *[%d.]+%% +(%d+) +%d+ +(%S+)" do
    counts[comm] = math.tointeger(tonumber(count))
  end
  return counts
end

describe("a tool", function()
  for _, tool in ipairs { "stat", "report", "fold", "dump", "doctor", "fields", "header",
      "script", "gen" } do
    it("reads perf.data where no recording is named, and FILE of -i: " .. tool, function()
      local named = in_words { tool, "perf.data" }
      assert.are.equal(0, named.status)
      assert.are.same(named, in_words { tool })
      assert.are.same(named, in_words { tool, "-i", "perf.data" })
      assert.are.same(named, in_words { tool, "-iperf.data" })
      assert.are.same(named, in_words { tool, "--input=perf.data" })
    end)
  end

  it("reads perf.data before the operand that is not a recording", function()
    local named = in_words { "symbol", "perf.data", "401000" }
    assert.are.equal(0, named.status)
    assert.are.same(named, in_words { "symbol", "401000" })
    assert.are.same(named, in_words { "symbol", "-i", "perf.data", "401000" })
    assert.are.equal(2, in_words({ "symbol" }).status)
    assert.are.equal(2, in_words({ "symbol", "-i", "perf.data", "perf.data", "401000" }).status)
  end)

  it("says that no recording is named where there is no perf.data", function()
    local got = run.perflua { "stat" }
    assert.are.same({ 2, "" }, { got.status, got.out })
    assert.matches("^perflua: stat: no recording is named, and perf.data: No such file or "
      .. "directory\nusage: perflua stat", got.err)
  end)

  it("reads several recordings as one where that has a meaning", function()
    local function report(...)
      return run.perflua { "report", "--sort", "comm", "-n", "--show-total-period",
        "--no-children", ... }
    end
    local once, twice = report(words_data), report(words_data, words_data)
    local expected = counts_in(once.out)
    assert.are.same({ tree = 456, list = 152, table = 121 }, expected)
    for comm, n in pairs(expected) do expected[comm] = 2 * n end
    assert.are.same(expected, counts_in(twice.out))
    assert.are.same(twice, report("-i", words_data, "-i", words_data))
  end)

  for _, tool in ipairs { "stat", "fold", "dump", "doctor", "fields", "script" } do
    it("says of several recordings which one cannot be read: " .. tool, function()
      local got = run.perflua { tool, words_data, "/no/such.data" }
      assert.are.equal(1, got.status)
      assert.matches("/no/such.data: cannot open: No such file", got.err, 1, true)
    end)
  end

  for _, tool in ipairs { "sched", "syscalls", "header", "gen", "timeline" } do
    it("refuses a second recording where events of one are paired: " .. tool, function()
      for _, words in ipairs { { tool, run.demo, "b" }, { tool, "-i", run.demo, "-i", "b" } } do
        local got = run.perflua(words)
        assert.are.same({ 2, "" }, { got.status, got.out })
        assert.matches("^perflua: " .. tool .. ": one argument too many: 'b'; this tool reads "
          .. "one recording\nusage: perflua " .. tool, got.err)
      end
    end)
  end

  it("refuses a second file of folded stacks", function()
    local got = run.perflua { "flame", "--folded", "a", "b", "-o", "-" }
    assert.are.equal(2, got.status)
    assert.matches("one argument too many: 'b'; --folded reads one file", got.err, 1, true)
  end)
end)

describe("an option of a tool", function()
  local function same(as, words)
    local expected, got = run.perflua(as), run.perflua(words)
    assert.are.equal(0, expected.status)
    assert.is_true(#expected.out > 0)
    assert.are.same(expected, got)
  end

  it("has perf's letter, too", function()
    same({ "report", "--sort", "dso,symbol", "--no-children", "--show-nr-samples", words_data },
      { "report", "-s", "dso,symbol", "--stdio", "--no-child", "-n", words_data })
    same({ "report", "--comm", "tree", "--dso", "words", words_data },
      { "report", "-c", "tree", "-d", "words", words_data })
    local calls = files.fixture "calls.perf.data"
    same({ "script", "--cpu", "0", "--comm", "sh", calls },
      { "script", "-C", "0", "-csh", calls })
    same({ "fold", "--event", "page-faults", run.demo },
      { "fold", "-e", "page-faults", run.demo })
  end)

  it("may be cut short where one begins so", function()
    same({ "report", "--percent-limit", "5", words_data },
      { "report", "--percent-l=5", words_data })
    local got = run.perflua { "report", "--no", words_data }
    assert.are.equal(2, got.status)
    assert.matches("^perflua: report: option '%-%-no' is ambiguous: %-%-no%-branch%-stack, "
      .. "%-%-no%-children, %-%-no%-demangle.*\nusage: ", got.err)
  end)

  it("is named in the message about a misspelt one", function()
    local got = run.perflua { "report", "--sotr", "comm", words_data }
    assert.are.equal(2, got.status)
    assert.matches("unrecognized option '--sotr'; the closest is '--sort'\n", got.err, 1, true)
  end)

  it("shows the help with -h, wherever it stands", function()
    local help = run.perflua { "help", "report" }
    assert.are.same(help, run.perflua { "report", "-h" })
    assert.are.same(help, run.perflua { "report", "--sort", "comm", "--help" })
    assert.matches("\n  %-s, %-%-sort FIELDS ", help.out)
  end)
end)

describe("perflua report --fields", function()
  it("takes perf's lists, where columns are named among fields", function()
    local got = run.perflua { "report", "-F", "overhead,sample,comm", words_data }
    assert.matches("\n# Overhead       Samples  Command\n", got.out, 1, true)
    got = run.perflua { "report", "-F", "overhead,sample", words_data }
    assert.matches("\n# Overhead       Samples\n[^\n]*\n#\n   100.00%%           729\n",
      got.out)
    got = run.perflua { "report", "-F", "comm", "-s", "dso", words_data }
    assert.matches("\n# Command  Shared Object\n", got.out, 1, true)
  end)
end)
