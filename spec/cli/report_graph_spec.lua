-- perflua report -g: the calls of each row, as perf report --stdio draws them.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local report_lines = require "spec.support.report_lines"
local run = require "spec.cli.run"

local words = files.fixture "words/perf.data"
local symfs = files.fixture "words"

local function report(...)
  local got = run.perflua { "report", "--symfs", symfs, words, ... }
  assert.are.equal("", got.err)
  assert.are.equal(0, got.status)
  return got.out
end

-- The lines below each row of a report, by the row's, whatever the order of rows with one
-- share. Blanks at the ends of lines are left out.
local function rows_of(text)
  local rows, row = {}, nil
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    line = line:gsub("%s+$", "")
    if line:find "^ +%d+%.%d+%%  " and not line:find "^ {11}" then
      row = {}
      rows[line] = row
    elseif row and line ~= "" and not line:find "^#" then
      row[#row + 1] = line
    end
  end
  return rows
end

describe("perflua report -g", function()
  it("draws the calls of each row below it, from the first caller on", function()
    local text = report("-g", "--no-children", "--sort", "comm,symbol", "--where",
      "comm == 'list'", "--percentage", "relative", "--count", "3")
    assert.are.equal([[
    67.11%  list     [.] compare
            |
            ---_start
               main
               run
               count_with_list
               compare

    28.29%  list     [.] find_in_list
            |
            ---_start
               main
               run
               count_with_list
               find_in_list

     1.97%  list     [.] sort
            |
            ---_start
               main
               run
               sort
               sort
               |
                --1.32%--sort
]], text:gsub(" +\n", "\n"):match "#\n( +67.11.-%-%-1.32%%%-%-sort\n)")
  end)

  it("is of the shares, the forms, the numbers that perf's words ask for", function()
    local text = report("-g", "folded,count,3", "--no-children", "--where", "comm == 'list'",
      "--percentage=relative")
    assert.matches("\n102 compare;count_with_list;run;main;_start\n", text)
    text = report("-g", "fractal,60,caller", "--no-children", "--where", "comm == 'list'",
      "--percentage=relative")
    assert.matches("\n               |%-%-66.67%%%-%-sort\n", text)
    assert.matches("\n                %-%-33.33%%%-%-%[%.%.%.%]\n", text)
  end)

  it("takes -g before a recording, and as perf does before other options", function()
    local plain = run.perflua { "report", "--symfs", symfs, "-g", words }
    assert.are.equal(0, plain.status)
    assert.are.equal(report("--call-graph=graph,caller"), plain.out)
    assert.are.equal(plain.out, report("-g"))
    assert.are.equal(report("-g", "none"), report())
    assert.are.equal(report("-g", "caller", "--no-children"), report("-G", "--no-children"))
  end)

  it("says what is wrong with its words, and that there are no call chains", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "period" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1, period = 1 })
    for _, case in ipairs {
      { "--call-graph=grahp", words, "'grahp' is not a word of it: there are address, branch, "
        .. "callee, caller, count, flat, folded, fractal, function, graph, none, percent, "
        .. "period, srcline; the closest is 'graph'" },
      { "--call-graph=-1", words, "'-1': a share in percent expected" },
      { "--call-graph=1,1.5", words, "'1.5': a share in percent expected, and then a number "
        .. "of calls" },
      { "-g", "--json", words, "--call-graph and --json exclude each other" },
      { "-g", b:write(), "no event has call chains; perf record -g records them" },
    } do
      local message = table.remove(case)
      local got = run.perflua { "report", table.unpack(case) }
      assert.matches(message, got.err, 1, true)
      assert.are.equal(2, got.status)
      assert.are.equal("", got.out)
    end
    local got = run.perflua { "report", "-g", "grahp.data", words } -- taken for a recording
    assert.are.equal(1, got.status)
    assert.matches("grahp.data: cannot open: No such file or directory", got.err, 1, true)
  end)
end)

describe("a tree of calls that are mostly too light to be drawn", function()
  local chained = { sample_type = { "ip", "tid", "time", "period", "callchain" } }

  -- Runs a report of a recording with one function, and returns its lines without the heading.
  local function drawn(recording, ...)
    local got = run.perflua { "report", "--no-children", "--timing=json", "-s", "sym",
      recording, ... }
    assert.are.equal(0, got.status)
    return got.out:gsub("#[^\n]*\n", ""):gsub(" +\n", "\n"), got.err
  end

  it("has a branch where one call is drawn and others are not", function()
    local b = builder.new()
    local event = b:event(chained)
    for i = 1, 1000 do
      local caller = i > 4 and 0x20 or 0x30 + i
      b:sample(event, { ip = 0x10, pid = 1, tid = 1, time = i, period = 1,
        callchain = { -512, 0x10, caller, 0x40 } })
    end
    assert.are.equal([[
   100.00%  [.] 0x0000000000000010
            |
             --99.60%--0x20
                       0x40

]], (drawn(b:write(), "-g", "callee")))
  end)

  it("takes memory for those that are drawn", function()
    local CHAINS <const>, FRAMES <const> = 10000, 100
    local b = builder.new()
    local event = b:event(chained)
    for i = 1, CHAINS do
      local chain = { -512, 0x10 }
      for k = 1, FRAMES do chain[k + 2] = 0x100000 + 16 * ((i - 1) * FRAMES + k) end
      table.move({ 0x20, 0x30 }, 1, 2, #chain + 1, chain)
      b:sample(event, { ip = 0x10, pid = 1, tid = 1, time = i, period = 1, callchain = chain })
    end
    local text, timing = drawn(b:write(), "-g", "caller")
    assert.are.equal([[
   100.00%  [.] 0x0000000000000010
            |
            ---0x20

]], (text))
    if not run.binary:find("/san/", 1, true) then
      local peak = math.tointeger(tonumber(timing:match '"peak_memory":(%d+)'))
      assert.is_true(peak < 120 * CHAINS * FRAMES, peak)
    end
  end)
end)

describe("perflua report -U -g", function()
  local COMPARE <const>, NEW_ENTRY <const> = 0x401106, 0x401154

  -- Samples of compare, below it new_entry, with a frame without a function between them.
  local function chains_with_a_gap()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "period", "callchain" } }
    b:record("comm", { pid = 7, tid = 7, comm = "x" })
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x401000, len = 0x1000, pgoff = 0x1000,
      prot = 5, filename = "/usr/local/bin/words" })
    for i, gap in ipairs { 0x10, 0x20, 0x401fff0 } do
      b:sample(event, { ip = COMPARE, pid = 7, tid = 7, time = i, period = 1,
        callchain = { -512, COMPARE, gap, NEW_ENTRY, gap } })
    end
    b:sample(event, { ip = 0x30, pid = 7, tid = 7, time = 4, period = 1,
      callchain = { -512, 0x30, NEW_ENTRY } })
    return b:write()
  end

  it("leaves out callers without a function, and samples without one", function()
    local got = run.perflua { "report", "-q", "--symfs", symfs, "-U", "-g", "--no-children",
      "-s", "comm,sym", chains_with_a_gap() }
    assert.are.equal([[
   100.00%  x        [.] compare
            |
            ---new_entry
               compare
]], (got.out:gsub(" +\n", "\n"):gsub("\n+$", "\n")))
  end)

  it("counts frames without a function for --max-stack", function()
    local path = chains_with_a_gap()
    local function rows(...)
      local got = run.perflua { "report", "-q", "--symfs", symfs, "-U", "-s", "sym", ... }
      return (got.out:gsub(" *\n+", "\n"))
    end
    local COMPARED <const> = "   100.00%   100.00%  [.] compare\n"
    assert.are.equal(COMPARED, rows("--max-stack", "1", path))
    assert.are.equal(COMPARED .. "   100.00%     0.00%  [.] new_entry\n",
      rows("--max-stack", "2", path))
    for _, inlined in ipairs { "--inline", "--no-inline" } do
      assert.are.equal(COMPARED .. "   100.00%     0.00%  [.] new_entry\n",
        rows("-g", "caller", inlined, "--max-stack", "2", path))
      assert.are.equal((COMPARED .. "   100.00%     0.00%  [.] new_entry\n"):gsub("\n",
        "\n            |\n            ---compare\n"),
        rows("-g", "caller", inlined, "--max-stack", "4", path))
    end
  end)

  it("counts binaries and addresses of functions alone", function()
    local path = chains_with_a_gap()
    local got = run.perflua { "report", "-q", "--symfs", symfs, "-U", "-s", "dso", path }
    assert.are.equal("   100.00%   100.00%  words\n", got.out)
    got = run.perflua { "report", "-q", "--symfs", symfs, "-U", "-g", "address", "-s", "sym",
      "--no-children", path }
    assert.matches("compare", got.out)
    assert.is_nil(got.out:find("0x", 1, true))
  end)
end)

needs.describe("perf", "the calls below rows, and those of perf report", function()
  it("are none where a call chain has a marker that is not known", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "period", "callchain" } }
    for i, chain in ipairs { { 0x10, 0x11 }, { 0x20, -1, 0x21 },
      { 0x30, 0x31, 0x32, 0x33, 0x34, -5 } } do
      table.insert(chain, 1, -512)
      b:sample(event, { ip = 0x10 * i, pid = 1, tid = 1, time = i, period = 10 + i,
        callchain = chain })
    end
    local path, options = b:write(), report_lines.unresolved .. " -g none"
    local theirs = report_lines.sorted(report_lines.of_perf(path, options))
    assert.are.same(theirs, report_lines.sorted(report_lines.of_ours(path, options)))
    assert.are.equal(4, #theirs)
  end)

  for _, options in ipairs {
    "-g", "-g --no-children", "-G --no-children", "-g callee", "-g callee --no-children",
    "-g -s sym", "-g callee -s sym,comm --no-children", "-g fractal", "-g fractal,5",
    "-g fractal --no-children", "-g flat", "-g flat --no-children", "-g flat,count,1",
    "-g folded", "-g folded,3 --no-children", "-g caller,2,3 --no-children",
    "-g --max-stack 2", "-g callee --max-stack 3", "-G --max-stack 4 --no-children",
    "-g callee --max-stack 6 --no-children", "-g none --max-stack 1",
    "-g count --no-children", "-g period,folded", "-g -s dso --no-children", "-g none",
  } do
    it("are the same with " .. options, function()
      local theirs = rows_of(files.output(
        ("perf report --stdio --symfs %s -f -i %s %s 2>/dev/null"):format(symfs, words,
          options)))
      local list = {}
      for word in options:gmatch "%S+" do list[#list + 1] = word end
      assert.are.same(theirs, rows_of(report(table.unpack(list))))
      assert.is_not_nil(next(theirs))
    end)
  end
end)
