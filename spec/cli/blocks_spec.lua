-- perflua report --total-cycles and the places of branches, of what perf 7.3 prints of the same
-- recording.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

local path <const> = files.fixture "words/branches.data"
local symfs <const> = files.fixture "words"

local function report(...)
  local got = run.perflua { "report", "-q", "--as", "7.3", ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out
end

-- Returns lines with one blank between words.
local function plain(text) return (text:gsub("\n +", "\n"):gsub("^ +", ""):gsub(" +", " ")) end

local BLOCKS <const> = [[
29.00% 864 1.60% 6 [words.c:88 -> words.c:88] words
23.43% 698 1.06% 4 [words.c:70 -> words.c:70] words
19.57% 583 1.06% 4 [words.c:70 -> words.c:73] words
14.97% 446 0.80% 3 [words.c:85 -> words.c:88] words
4.53% 135 2.39% 9 [words.c:70 -> words.c:70] words
2.58% 77 1.33% 5 [words.c:77 -> words.c:79] words
2.01% 60 2.66% 10 [words.c:43 -> words.c:45] words
0.77% 23 1.86% 7 [words.c:90 -> words.c:93] words
0.70% 21 1.86% 7 [words.c:65 -> words.c:66] words
0.54% 16 2.13% 8 [words.c:88 -> words.c:91] words
0.47% 14 1.86% 7 [words.c:80 -> words.c:82] words
0.40% 12 1.06% 4 [words.c:64 -> words.c:65] words
0.30% 9 0.80% 3 [words.c:128 -> words.c:127] words
0.20% 6 0.53% 2 [words.c:65 -> words.c:65] words
0.20% 6 0.53% 2 [words.c:128 -> words.c:128] words
0.13% 4 0.53% 2 [words.c:91 -> words.c:91] words
0.10% 3 0.27% 1 [words.c:126 -> words.c:128] words
0.07% 2 0.53% 2 [words.c:88 -> words.c:88] words
]]

describe("perflua report --total-cycles", function()
  it("shows the blocks of perf, with most cycles first", function()
    assert.are.equal(BLOCKS, plain(report("--total-cycles", "--symfs", symfs, path)))
    local lines = run.perflua { "report", "--total-cycles", "--symfs", symfs, path }.out
    assert.are.equal([[
# 40 samples of event 'cycles:u', none lost
# Event count: 640
#
# Sampled Cycles%  Sampled Cycles  Avg Cycles%  Avg Cycles  ]] .. (" "):rep(49)
      .. "[Program Block Range]  " .. (" "):rep(7) .. [[Shared Object
# ...............  ..............  ...........  ..........  ]] .. ("."):rep(70)
      .. "  " .. ("."):rep(20) .. [[

#
           29.00%             864        1.60%           6  ]] .. (" "):rep(44)
      .. "[words.c:88 -> words.c:88]  " .. (" "):rep(15) .. "words\n",
      lines:match ".-88%]  +words\n")
  end)

  it("leaves out blocks whose longest form has a smaller share, as perf does", function()
    assert.are.equal("29.00% 864 1.60% 6 [words.c:88 -> words.c:88] words\n"
      .. "23.43% 698 1.06% 4 [words.c:70 -> words.c:70] words\n"
      .. "4.53% 135 2.39% 9 [words.c:70 -> words.c:70] words\n"
      .. "2.01% 60 2.66% 10 [words.c:43 -> words.c:45] words\n",
      plain(report("--total-cycles", "--percent-limit", "2", "--symfs", symfs, path)))
    assert.are.equal("29.00% 864 1.60% 6 [words.c:88 -> words.c:88] words\n",
      plain(report("--total-cycles", "--count", "1", "--symfs", symfs, path)))
  end)

  it("counts samples whose newest branch has cycles, and blocks of known functions", function()
    assert.are.equal("", report("--total-cycles", "--symfs", "spec/fixtures/empty", path))
    local b = builder.new()
    local event = b:event { name = "cycles", branch_sample_type = { "user", "any" },
      sample_type = { "ip", "tid", "time", "branch_stack" } }
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x401000, len = 0x1000, pgoff = 0x1000,
      prot = 5, filename = "/usr/local/bin/words" })
    -- find_in_list+0x29 → compare; compare+0x9 → compare+0x1a; compare+0x22 → find_in_list+0x2e
    local call = { from = 0x40118d, to = 0x4010ff, cycles = 1500 }
    local jump = { from = 0x401108, to = 0x401119, cycles = 50000 }
    local back = { from = 0x401121, to = 0x401192, cycles = 3 }
    for time = 1, 41 do
      local newest = time > 1 and back or { from = back.from, to = back.to }
      b:sample(event, { ip = 0x401121, pid = 7, tid = 7, time = time, misc = 2,
        branch_stack = { newest, jump, call } })
    end
    assert.are.equal("97.08% 2.0M 48.54% 50.0K [words.c:70 -> words.c:70] words\n"
      .. "2.91% 60.0K 1.46% 1.5K [words.c:85 -> words.c:88] words\n"
      .. "0.01% 120 0.00% 3 [words.c:72 -> words.c:73] words\n",
      plain(report("--total-cycles", "--symfs", symfs, b:write())))
  end)

  it("says what it needs", function()
    local got = run.perflua { "report", "--total-cycles", files.fixture "words/perf.data" }
    assert.are.same({ 2, "perflua: --total-cycles: no event has branch stacks; perf record -b "
      .. "records them\n" }, { got.status, got.err })
    for _, option in ipairs { "--csv", "--json", "--hierarchy", "--children", "-g" } do
      got = run.perflua { "report", "--total-cycles", option, path }
      assert.are.equal(2, got.status, option)
      assert.matches("%-%-total%-cycles and %-%-[%l-]+ exclude each other", got.err)
    end
  end)
end)

describe("perflua report -b", function()
  it("shows the places of branches in functions", function()
    assert.are.equal("22.66% [.] compare+0x9 [.] compare+0x1a\n"
      .. "22.66% [.] find_in_list+0x29 [.] compare\n",
      plain(report("-s", "addr_from,addr_to", "--count", "2", "--symfs", symfs, path)))
    assert.are.equal("22.66% [.] 0x0000000000001108\n22.66% [.] 0x000000000000118d\n",
      plain(report("-s", "addr_from", "--count", "2", "--symfs", "spec/fixtures/empty",
        path)))
  end)

  it("shows functions and binaries where there are no lines", function()
    assert.are.equal("22.66% words.c:70 words.c:72\n",
      plain(report("-s", "srcline_from,srcline_to", "--count", "1", "--symfs", symfs, path)))
    assert.are.equal("22.66% words[1108] words[1119]\n",
      plain(report("-s", "srcline_from,srcline_to", "--count", "1", "--symfs",
        "spec/fixtures/empty", path)))
  end)

  it("shows the address of an unknown target as it was recorded", function()
    assert.are.equal("22.66% [.] 0x00000000004010ff\n", plain(report("-s", "sym", "--count",
      "1", "--symfs", "spec/fixtures/empty", path)))
  end)
end)
