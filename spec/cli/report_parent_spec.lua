-- perflua report: functions that its call chains are searched for, or begin with.
local core = require "perflua.core"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

local words, symfs = files.fixture "words/perf.data", files.fixture "words"

local function report(...)
  return run.perflua { "report", "-q", "--as", "6.1", "--symfs", symfs, words, ... }
end

-- Returns the rows in the order of their texts: perf has equal ones in another order.
local function rows(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("^ +", ""):gsub(" +$", ""):gsub(" +", " ")
    if not line:find "^#" and line ~= "" then list[#list + 1] = line end
  end
  table.sort(list)
  return list
end

local function theirs(options)
  options = options:gsub("%S+", files.quote)
  return rows(files.output(("perf report --stdio -f --symfs %s -i %s %s 2>/dev/null"):format(
    symfs, words, options)))
end

local function ours(options)
  local list = {}
  for word in options:gmatch "%S+" do list[#list + 1] = word end
  local got = report(table.unpack(list))
  assert.are.equal("", got.err)
  return rows(got.out)
end

describe("perflua report --parent", function()
  it("has a column of the first function of each call chain that matches", function()
    assert.are.same({ "0.55% 0.55% [other]", "99.45% 99.45% run" }, ours "-p ^run$ -s parent")
    assert.are.same({ "99.45% 99.45% run" }, ours "-p ^run$ -s parent -x")
  end)

  it("begins with the first caller, or without Children with the callee", function()
    local expression = "-p ^run$|^count_with -s parent "
    assert.are.same({ "0.55% 0.55% [other]", "99.45% 99.45% run" }, ours(expression))
    assert.are.same({ "0.55% [other]", "15.36% count_with_table", "2.19% run",
      "20.16% count_with_list", "61.73% count_with_tree" }, ours(expression .. "--no-children"))
  end)

  it("keeps the expression as long as the file", function()
    local file <close> = assert(perflua.open(words, { symfs = symfs }))
    core.set_chain_options(file, { parent = "^count" })
    collectgarbage()
    assert.are.equal(709, file:samples():where "parent ~= '[other]'":count())
  end)

  it("says what is wrong with an expression", function()
    for _, option in ipairs { "--parent", "--ignore-callees" } do
      for _, explained in ipairs { false, true } do
        local got = report(option, "(", explained and "--explain" or nil)
        assert.are.equal(2, got.status)
        assert.matches("report: '%(' is not a regular expression: ", got.err)
      end
    end
  end)

  needs.it("perf", "prints what perf does", function()
    for _, options in ipairs { "-p run", "-p count", "-p count -x --no-children",
      "-p find|sort -s sym -x", "-p ^run$|^count_with -s parent --no-children",
      "-p list -s comm", "-p ^main$ -F overhead,comm,parent" } do
      assert.are.same(theirs("-g none " .. options), ours(options), options)
    end
  end)
end)

describe("perflua report --ignore-callees", function()
  it("lets call chains begin with a function", function()
    assert.are.same({ "0.14% [.] random_below", "0.41% [.] swap", "99.45% [.] run" },
      ours "--ignore-callees ^run$ --no-children -s sym")
    assert.are.same({ "0.14% 0.14% [.] random_below", "0.41% 0.41% [.] swap",
      "100.00% 0.00% [.] _start", "100.00% 0.00% [.] main", "99.45% 99.45% [.] run" },
      ours "--ignore-callees ^run$ -s sym")
  end)

  it("is refused with fields of a sample's address", function()
    assert.are.equal(2, report("--ignore-callees", "run", "-s", "srcline").status)
  end)

  needs.it("perf", "prints what perf does, which needs the callee first", function()
    for _, options in ipairs { "--ignore-callees=count_with --no-children -g callee",
      "--ignore-callees=find --no-children -g callee -s sym,comm",
      "--ignore-callees=sort|table -g callee -s comm,sym" } do
      assert.are.same(theirs(options), ours(options), options)
    end
  end)
end)
