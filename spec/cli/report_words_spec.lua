-- perflua report: every option and every key that perf report of 6.1 to 7.3 has.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local report_lines = require "spec.support.report_lines"
local run = require "spec.cli.run"

local words = files.fixture "words/perf.data"

-- Options that are taken: as perf takes them, or otherwise (docs/topics/reports.md says how).
local taken = {
  ["branch-stack"] = false, comms = "list", cpu = false, dsos = "words", fields = "comm",
  force = true, ["call-graph"] = "caller", inverted = true, input = words,
  kallsyms = "/dev/null", vmlinux = false,
  ["show-nr-samples"] = true,
  ["percent-limit"] = "1", percentage = "relative", pid = "1", quiet = true, sort = "comm",
  symbols = "main", tid = "1", time = "0%-50%", ["time-quantum"] = "10ms", children = true,
  demangle = true, inline = true, ["show-total-period"] = true, ["skip-empty"] = true,
  group = true, hierarchy = true,
  ["max-stack"] = "5", ["mem-mode"] = false, header = true,
  ["header-only"] = true, ["show-info"] = true, stats = true, ["field-separator"] = ",",
  ["column-widths"] = "9,9", ["group-sort-idx"] = false,
  ["show-cpu-utilization"] = true,
  ["socket-filter"] = false, stdio = true, ["stdio-color"] = "never",
  symfs = "spec/fixtures/words",
  ["dump-raw-trace"] = true, ["full-source-path"] = true, mmaps = true, tasks = true,
  parent = "run", ["exclude-other"] = true, ["ignore-callees"] = "run",
  threads = false, ["stitch-lbr"] = false,
  ["branch-history"] = false, ["switch-on"] = false, ["switch-off"] = false,
  ["show-on-off-events"] = false,
  latency = false, parallelism = false, ["total-cycles"] = false, ["raw-trace"] = true,
  ["hide-unresolved"] = true, ["symbol-filter"] = "main", ns = true, verbose = false,
}

local refused = {
  "addr2line", "addr2line-style", "asm-raw", "demangle-kernel",
  "disable-order", "disassembler-style",
  "gtk", "ignore-vmlinux", "itrace", "modules", "objdump",
  "percent-type", "prefix", "prefix-strip", "pretty", "samples",
  "show-ref-call-graph", "source",
  "tui", "unwind-style",
}

-- The letters of options in both versions, with the value that they are tried with; false: this
-- recording, or the letter alone, is not enough for them.
local letters = {
  b = false, c = "list", C = false, d = "words", D = true, F = "comm", f = true, g = "caller",
  G = true, H = true, i = words, I = true, k = false, n = true, p = "run", q = true, s = "comm",
  S = "main", t = ",", T = false, U = true, v = false, w = "9,9", x = false,
}

-- Keys of perf 6.1 to 7.3.
local keys = [[
  pid comm dso symbol sym parent cpu socket srcline srcfile local_weight weight transaction trace
  symbol_size dso_size cgroup cgroup_id ipc_null time code_page_size local_ins_lat ins_lat
  local_p_stage_cyc p_stage_cyc addr dso_from dso_to symbol_from symbol_to mispredict abort
  in_tx cycles srcline_from srcline_to ipc_lbr addr_from addr_to symbol_daddr dso_daddr locked
  tlb mem snoop dcacheline symbol_iaddr phys_daddr data_page_size blocked local_retire_lat
  retire_lat simd type typeoff typecln symoff parallelism comm_nodigit tgid latency
  callchain_branch_predicted callchain_branch_abort callchain_branch_cycles
  weight1 weight2 weight3 op cache memory dtlb latency_children
  overhead overhead_sys overhead_us overhead_guest_sys overhead_guest_us overhead_children
  sample period]]

local function report(...) return run.perflua { "report", ... } end

local function is_refused(name)
  for _, one in ipairs(refused) do
    if one == name then return true end
  end
  return false
end

describe("perflua report", function()
  it("takes options of perf", function()
    for name, value in pairs(taken) do
      local list = { "--" .. name, type(value) == "string" and value or nil }
      if name ~= "input" then list[#list + 1] = words end
      if value then
        local got = report(table.unpack(list))
        assert.are.same({ 0, "" }, { got.status, got.err }, name)
      end
    end
  end)

  it("takes letters of perf", function()
    for letter, value in pairs(letters) do
      local list = { "-" .. letter, type(value) == "string" and value or nil }
      if letter ~= "i" then list[#list + 1] = words end
      local got = report(table.unpack(list))
      assert.is_nil(got.err:find "unrecognized option", letter)
      if value then assert.are.same({ 0, "" }, { got.status, got.err }, letter) end
    end
  end)

  it("takes the layout that perf names after the directory of --symfs", function()
    local symfs = files.fixture "words"
    assert.are.same(report("--symfs", symfs, words), report("--symfs", symfs .. ",hierarchy",
      words))
    assert.matches("found by their whole path below the directory; --buildid-dir",
      report("--symfs", symfs .. ",flat", words).err, 1, true)
  end)

  it("says of each other option of perf what to use", function()
    for _, name in ipairs(refused) do
      local got = report("--" .. name, words)
      assert.are.same({ 2, "" }, { got.status, got.out }, name)
      local said = ("perflua: report: no option '--%s': "):format(name)
      assert.are.equal(said, got.err:sub(1, #said))
    end
    for letter in ("Mm"):gmatch "." do
      assert.matches(("no option '-%s': "):format(letter), report("-" .. letter, words).err, 1,
        true)
    end
  end)

  it("answers each key of perf, or says why it does not", function()
    for key in keys:gmatch "%S+" do
      local got = report("--sort", key, words)
      assert.are.equal(got.status == 0, got.err == "", key)
      if got.status ~= 0 then
        assert.are.equal(2, got.status, key)
        assert.is_true((got.err:find "no record of this query has a field" or got.err:find
          "is not answered: " or got.err:find "record it with: "
          or got.err:find "%-%-branch%-history") ~= nil, got.err)
      end
    end
  end)

  it("has each option in the manual, and each key in one row", function()
    local text = files.read "docs/topics/reports.md"
    local function check(name)
      assert.is_truthy(text:find("`" .. name .. "`", 1, true), name)
    end
    for name in pairs(taken) do check("--" .. name) end
    for _, name in ipairs(refused) do check("--" .. name) end
    local rows = text:match "\n| | keys |\n(.-)\n\n"
    for key in keys:gmatch "%S+" do
      assert.are.equal(1, select(2, rows:gsub("`" .. key .. "`", "")), key)
    end
  end)

  it("shows branches where all samples have branch stacks", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "branch_stack" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1,
      branch_stack = { { from = 1, to = 2, flags = 2 } } })
    local path = b:write()
    assert.are.same(report("-b", path), report(path))
    assert.matches("Source Symbol", report(path).out)
    assert.matches("\n# Overhead  Command  Shared Object  Symbol\n",
      report("--no-branch-stack", path).out)
    assert.are.equal(2, report("-b", "--no-branch-stack", path).status)
    assert.are.same(report(path), report("-g", "none", path))
  end)

  it("shows branches where the header says that they were recorded", function()
    local function recording(marked)
      local b = builder.new()
      b:event { name = "cs_etm", ids = { 1 }, sample_type = { "identifier", "ip", "tid" } }
      local event = b:event { name = "cycles", ids = { 2 },
        sample_type = { "identifier", "ip", "tid", "branch_stack" } }
      b:sample(event, { identifier = 2, ip = 1, pid = 1, tid = 1,
        branch_stack = { { from = 1, to = 2, flags = 2 } } })
      if marked then b:feature("branch_stack", "") end
      return b:write()
    end
    assert.matches("Source Symbol", report(recording(true)).out)
    assert.is_nil(report(recording(false)).out:find "Source Symbol")
  end)

  it("shows samples where branch stacks are of perf record --call-graph lbr", function()
    local b = builder.new()
    local event = b:event { name = "cycles", branch_sample_type = 1 | 1 << 11,
      sample_type = { "ip", "tid", "time", "callchain", "branch_stack" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1, callchain = { 1 },
      branch_stack = { { from = 1, to = 2, flags = 2 } } })
    assert.matches("\n# Children      Self  Command  Shared Object  Symbol\n",
      report(b:write()).out)
  end)

  it("prints rows alone with -q, and times in nanoseconds with --ns", function()
    assert.are.equal("    62.55%    62.55%  tree\n    20.85%    20.85%  list\n"
      .. "    16.60%    16.60%  table\n", report("-q", "-s", "comm", words).out)
    assert.matches("^     9.74%%  14673.800000000\n", report("-q", "--ns", "-s", "time",
      "--no-children", words).out)
  end)

  it("leaves out samples and callers without a function with -U", function()
    local symfs = files.fixture "words"
    assert.are.equal(report("--symfs", symfs, words).out,
      report("--symfs", symfs, "-U", words).out)
    local empty = report("--symfs", "spec/fixtures/empty", "-U", words)
    assert.are.equal("# no samples\n", (empty.out:gsub(" that the options choose", "")))
    assert.matches("100.00%%   100.00%%  words\n",
      report("--symfs", symfs, "-U", "-s", "dso", words).out)
  end)

  it("tells addresses of a function apart with symoff, as perf 7.3", function()
    local symfs = files.fixture "words"
    local out = report("-q", "--symfs", symfs, "--no-children", "-s", "symoff", words).out
    assert.matches("^    11.25%%  %[.%] compare%+0x3\n     7.41%%  %[.%] compare%+0xb\n", out)
    assert.matches("[.] find_in_table+0x0\n", out, 1, true)
    assert.matches('"symoff":3}', report("--symfs", symfs, "--no-children", "-s", "symoff",
      "--json", words).out, 1, true)
  end)

  it("prints the header before the rows, or alone", function()
    local header = run.perflua({ "header", words }).out
    assert.are.equal(header, report("--header-only", "-I", words).out)
    assert.are.equal(header .. report(words).out, report("--header", words).out)
    assert.are.equal(2, report("--header", "--json", words).status)
  end)

  needs.it("perf", "has the columns that are not fields as perf has them", function()
    local measures = "overhead overhead_sys overhead_us overhead_guest_sys overhead_guest_us "
      .. "overhead_children sample period"
    for key in measures:gmatch "%S+" do
      for _, form in ipairs { "-F %s,comm", "-F comm,%s", "-s comm,%s", "-s comm -F +%s" } do
        for _, children in ipairs { "", "--no-children " } do
          local options = "-g none " .. children .. form:format(key)
          local theirs = report_lines.of_perf(words, options)
          assert.are.same(theirs, report_lines.of_ours(words, options), options)
          assert.are.equal(3, #theirs)
        end
      end
    end
  end)

  needs.it("perf", "prints the numbers of records as perf does", function()
    for _, path in ipairs { words, files.fixture "calls.perf.data" } do
      local theirs = files.output("perf report --stats -f -i " .. path .. " 2>/dev/null")
      assert.are.equal(theirs, report("--stats", "--as", oracle.version, path).out)
    end
  end)

  it("names the closest column, and how to record what is missing", function()
    assert.matches("unknown field 'overheat'; the closest is 'overhead'",
      report("-F", "overheat", words).err, 1, true)
    assert.matches("no event has data sources; perf mem record records them",
      report("--mem-mode", words).err, 1, true)
    assert.matches("no record of this query has a field 'socket'; perf record --sample-cpu",
      report("-s", "socket", words).err, 1, true)
    assert.matches("'grap' is not a word of it", report("-g", "grap", words).err, 1, true)
    assert.matches("no.such.file: cannot open", report("-g", "no.such.file", words).err, 1,
      true)
  end)

  it("prints the numbers of lost samples, and that traces are not counted", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 },
      sample_type = { "ip", "tid", "time", "id" } }
    b:sample(event, { ip = 1, pid = 1, tid = 1, time = 1, id = 1 })
    b:record("lost_samples", { lost = 5 }, { pid = 1, tid = 1, time = 2, id = 1 })
    b:record("lost_samples", { lost = 2 }, { pid = 1, tid = 1, time = 3, id = 1 })
    assert.matches("cycles stats:\n              SAMPLE events:          1\n"
      .. "        LOST_SAMPLES events:          7\n$", report("--stats", b:write()).out)
    b:feature("auxtrace", "")
    assert.matches("^\nAggregated stats: %(excludes AUX area", report("--stats", b:write()).out)
  end)

  it("prints the fields of tracepoints with --raw-trace", function()
    local calls = files.fixture "calls.perf.data"
    local function shown(...)
      local out = report("-q", "-s", "trace", "--where", "args.id == 9 and event == '*enter'",
        "--count", "1", calls, ...).out
      return out:match "^ *%S+  (.-) *\n"
    end
    assert.are.equal("NR 9 (0, 2000, 3, 22, ffffffff, 0)", shown())
    -- as perf 7.3 prints it
    assert.are.equal(" id=9 args=ARRAY[00, 00, 00, 00, 00, 00, 00, 00, 00, 20, 00, 00, 00, 00, "
      .. "00, 00, 03, 00, 00, 00, 00, 00, 00, 00, 22, 00, 00, 00, 00, 00, 00, 00, ff, ff, ff, "
      .. "ff, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00]", shown "--raw-trace")
    assert.matches("Overhead  Trace output", report("-s", "trace", calls).out, 1, true)
  end)

  it("takes the samples of functions and sockets that are asked for", function()
    local out = report("-q", "--symfs", files.fixture "words", "--symbol-filter", "in_",
      "--no-children", "-s", "sym", words).out
    assert.are.equal("    26.06%  [.] find_in_tree\n     5.90%  [.] find_in_list\n",
      out:match "^.-\n.-\n")
    assert.matches("number of a socket expected, got x", report("--socket-filter", "x",
      words).err)
    assert.are.equal(0, report("--socket-filter", "0", files.fixture "calls.perf.data").status)
    assert.matches("%% +000 *\n$", report("-q", "--no-children", "-s", "socket",
      files.fixture "calls.perf.data").out)
  end)

  needs.it("perf", "has all that the installed perf names", function()
    local text = files.output "perf report -h 2>&1"
    for name in text:gmatch "\n    %-?.?,? ?%s*%-%-([%l%d-]+)" do
      assert.is_true(taken[name] ~= nil or is_refused(name), name)
    end
    for letter in text:gmatch "\n    %-(%a)," do
      assert.is_true(letters[letter] ~= nil or letter == "M" or letter == "m", letter)
    end
    local list = (" " .. keys .. " "):gsub("%s+", " ")
    for block in text:gmatch "key%(s%): (.-)\n    %-" do
      for key in block:gmatch "[%l_%d]+" do
        assert.is_truthy(list:find(" " .. key .. " ", 1, true), key)
      end
    end
  end)
end)
