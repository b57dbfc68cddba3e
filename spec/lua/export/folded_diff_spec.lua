-- perflua.export(query, "folded-diff", out, { before = … }): two columns of weights.
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- A recording of these: { period, name of a function … }, callee first.
local function recording(list)
  local b, sample = chains.recording { chains.kernel }
  b:record("comm", { pid = 7, tid = 7, comm = "a b" }, { time = 1 })
  for _, one in ipairs(list) do
    sample(one[1], 7, { chains.KERNEL, table.unpack(one, 2) })
  end
  return b:write()
end

local before = recording { { 10, chains.READ, chains.TWICE }, { 5, chains.READ } }
local after = recording { { 12, chains.READ, chains.TWICE }, { 3, chains.TWICE } }

-- The rules of FlameGraph's scripts for a line with two columns: the stack, which may have
-- spaces, then two numbers.
local function columns_of(line) return line:match "^(.*)%s+(%d+%.?%d*)%s+(%d+%.?%d*)$" end

describe("perflua.export of folded stacks of two recordings", function()
  it("has a line for each stack of either one", function()
    local first <close> = assert(perflua.open(before, chains.options()))
    local second <close> = assert(perflua.open(after, chains.options()))
    local out = files.temporary()
    local written = assert(perflua.export(second:samples(), "folded-diff", out,
      { before = first:samples() }))
    assert.same({ samples = 4, set_aside = 0 }, written)
    local lines = {}
    for line in files.read(out):gmatch "[^\n]+" do lines[#lines + 1] = { columns_of(line) } end
    assert.same({ { "a b;read", "5", "0" }, { "a b;twice", "0", "3" },
      { "a b;twice;read", "10", "12" } }, lines)
    assert.has_error(function() perflua.export(second:samples(), "folded-diff", out) end,
      "export: folded-diff: the option before is a query of samples")
  end)

  it("takes two recordings on the command line", function()
    local options = chains.options()
    local function export(...)
      return run.perflua { "export", "--to", "folded-diff", "--symfs", options.symfs,
        "--kallsyms", options.kallsyms, ... }
    end
    assert.equal("a b;read 5 0\na b;twice 0 3\na b;twice;read 10 12\n",
      export(before, after).out)
    assert.equal("a b;read 1 0\na b;twice 0 1\na b;twice;read 1 1\n",
      export("--count", before, after).out)
    local got = export(before)
    assert.equal(2, got.status)
    assert.equal("perflua: export: folded-diff compares two recordings: BEFORE and AFTER\n",
      got.err)
    assert.matches("^perflua: export: folded%-diff: the events differ: cpu%-clock",
      export(before, "spec/fixtures/calls.perf.data").err:match "[^\n]+\n$")
  end)
end)
