-- perflua report --mem-mode: the columns of perf for accesses of memory, and shares broken down
-- by their kinds.
local builder = require "spec.support.builder"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local report_lines = require "spec.support.report_lines"
local run = require "spec.cli.run"

local CODE <const>, DATA <const> = 0x400000, 0x7f0000000000

-- Returns the value of a data source: its bits as perf_event.h has them.
local function source(bits)
  return bits.op | (bits.lvl or 0) << 5 | (bits.snoop or 0) << 19 | (bits.lock or 0) << 24
    | (bits.dtlb or 0) << 26 | (bits.num or 0) << 33 | (bits.remote or 0) << 37
    | (bits.snoopx or 0) << 38 | (bits.blk or 0) << 40 | (bits.hops or 0) << 43
end

-- Writes a recording of samples: { weight, source, addr, comm, chain, ins_lat, page size }.
local function recording(samples, options)
  options = options or {}
  local b = builder.new()
  local parts = { "ip", "tid", "time", "addr", "period", "data_src", "data_page_size",
    "phys_addr" }
  parts[#parts + 1] = options.plain and "weight" or not options.weightless and "weight_struct"
    or nil
  if options.chains then parts[#parts + 1] = "callchain" end
  local event = b:event { name = "mem-loads", type = 4, config = 0x1cd, sample_type = parts }
  b:feature("arch", options.arch or "x86_64")
  for _, map in ipairs { { CODE, "/bin/prog" }, { DATA, "/lib/libdata.so" } } do
    b:record("mmap", { pid = 7, tid = 7, addr = map[1], len = 0x10000, pgoff = 0,
      filename = map[2] }, { pid = 7, tid = 7, time = 1 })
  end
  for i, sample in ipairs(samples) do
    local tid = 7 + i
    b:record("comm", { pid = 7, tid = tid, comm = sample[4] or "prog" },
      { pid = 7, tid = tid, time = 1 })
    b:sample(event, { ip = CODE + 0x10, pid = 7, tid = tid, time = 10 + i, period = 9,
      addr = sample[3] or 0, weight = sample[1], data_src = source(sample[2]),
      ins_lat = sample[6] or 0, retire_lat = 3, data_page_size = sample[7] or 4096,
      phys_addr = 0x1000 * i, callchain = sample[5] })
  end
  return b:write()
end

local kinds = recording {
  { 500, { op = 2, lvl = 0xa, num = 1, snoop = 2, dtlb = 26, lock = 2 }, DATA + 16, "reader" },
  { 210, { op = 4, lvl = 0x12, num = 12, snoop = 4, dtlb = 10, blk = 4 }, CODE, "writer" },
  { 120, { op = 2, lvl = 0x22, num = 2, snoop = 8, dtlb = 18, blk = 6 }, 0, "writer" },
  { 80, { op = 8, lvl = 0x82, num = 13, snoop = 16, dtlb = 4, lock = 1 }, 0x1000, "reader" },
  { 50, { op = 6, lvl = 0x202, num = 6, remote = 1, hops = 1, snoopx = 2, blk = 2 }, 0x2000,
    "writer" },
  { 30, { op = 16, lvl = 0x802, num = 9, dtlb = 0x22, snoop = 12 }, 0x3000, "reader" },
  { 10, { op = 1, lvl = 1, snoop = 1, dtlb = 1, lock = 1, blk = 1 }, 0x4000, "reader" },
}

local function report(path, ...)
  local got = run.perflua { "report", "--symfs", "spec/fixtures/empty", "--kallsyms",
    "/dev/null", "--mem-mode", path, ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out:gsub("^# %d+ samples[^\n]*\n# Event count[^\n]*\n#\n", "")
end

describe("perflua report --mem-mode", function()
  it("shows what was accessed where as perf does, by weight", function()
    local text = report(kinds, "--as", "7.3", "--count", "2"):gsub("  +", "|"):gsub("%.+", ".")
    assert.are.equal("# Overhead|Local Weight|Memory access|Symbol|Shared Object|Data Symbol|"
      .. "Data Object|Snoop|TLB access|Locked|Blocked|Local INSTR Latency|"
      .. "Local Retire Latency\n# .|.|.|.|.|.|.|.|.|.|.|.|.\n#\n"
      .. "|50.00%|500|L1 hit|[.] 0x0000000000000010|prog|[.] 0x00007f0000000010|libdata.so|"
      .. "None|L1 or L2 hit|Yes|N/A|0|3\n"
      .. "|21.00%|210|LFB/MAB hit|[.] 0x0000000000000010|prog|[.] 0x0000000000400000|prog|"
      .. "Hit|L1 hit|No|Addr|0|3\n", text)
    assert.are.equal(24, #report(kinds, "--as", "6.1", "-s", "mem", "--count", "1")
      :match "\n# %.+  (%.+)\n")
  end)

  it("has no latency of retirement as perf 6.1, nor elsewhere than on x86", function()
    local arm = recording({ { 5, { op = 2, num = 1 } } }, { arch = "aarch64" })
    for path, version in pairs { [kinds] = "6.1", [arm] = "7.3" } do
      assert.is_nil(report(path, "--as", version):find("Retire", 1, true))
    end
  end)

  it("has the level by mask and by number as perf 6.1", function()
    local text = report(kinds, "-q", "-s", "mem", "--as", "6.1")
    assert.are.equal("    50.00%  L1 or L1 hit\n    21.00%  LFB/MAB or LFB/MAB hit\n"
      .. "    12.00%  L2 or L2 hit\n     8.00%  Local RAM or RAM hit\n"
      .. "     5.00%  Remote core, same node L6 hit\n     3.00%  Remote Cache (2 hops) or CXL "
      .. "hit\n     1.00%  N/A\n", text)
  end)

  it("shows 0 for a latency that was not recorded", function()
    local plain = recording({ { 5, { op = 2, num = 1 } } }, { plain = true })
    assert.are.equal("   100.00%  0\n", report(plain, "-q", "-s", "local_ins_lat"))
  end)

  it("counts each sample as 1 where no weights were recorded", function()
    local path = recording({ { nil, { op = 2, lvl = 1 }, 0, "a" },
      { nil, { op = 2, lvl = 1 }, 0, "b" }, { nil, { op = 2, lvl = 1 }, 0, "b" } },
      { weightless = true })
    assert.truthy(report(path, "--sort", "comm,local_weight,local_ins_lat"):find(
      "66.67%%  b +0 +0 *\n +33.33%%  a +0 +0"))
  end)

  it("counts each sample of an event without weights as 1 if another event has weights",
    function()
      local b, parts = builder.new(), { "identifier", "ip", "tid", "time", "data_src" }
      local bare = b:event { name = "bare", ids = { 1 }, sample_type = parts }
      b:event { name = "weighed", ids = { 2 },
        sample_type = { "weight", table.unpack(parts) } }
      for i = 1, 3 do
        b:sample(bare, { identifier = 1, ip = 1, pid = 7, tid = 7 + i // 3, time = i,
          data_src = 2 })
      end
      assert.are.equal("    66.67%  :7       0\n    33.33%  :8       0\n",
        report(b:write(), "-q", "-e", "bare", "-s", "comm,local_weight"))
    end)

  it("shows sizes of pages and physical addresses as perf does", function()
    local pages = recording { { 9, { op = 2 }, 1, nil, nil, 0, 4096 },
      { 8, { op = 2 }, 1, nil, nil, 0, 2 << 20 }, { 7, { op = 2 }, 1, nil, nil, 0, 1 << 30 } }
    assert.are.equal("    37.50%  4K\n    33.33%  2M\n    29.17%  1024M\n",
      report(pages, "-q", "-s", "data_page_size"))
    assert.are.equal("    37.50%  [.] 0x0000000000001000\n",
      report(pages, "-q", "-s", "phys_daddr", "--count", "1"))
  end)

  it("breaks shares down by kinds as perf 7.3", function()
    assert.are.equal([[
#           ----------------- Mem Op -----------------
# Overhead     Load  Store  Ld+St Pfetch   Exec  Other  Command
# ........  ..........................................  .......
#
    62.00%    50.0%   0.0%   0.0%   8.0%   3.0%   1.0%  reader
    38.00%    12.0%  21.0%   5.0%   0.0%   0.0%   0.0%  writer
]], (report(kinds, "--as", "7.3", "-F", "overhead,op,comm")))
    assert.are.equal([[
# ---------- Cache -----------  ---------- Memory ----------
#      L1     L2 L1-buf  Other      RAM    MSC    CXL  Other
]], report(kinds, "--as", "7.3", "-F", "cache,memory"):match "^.-\n.-\n")
  end)

  it("has no column of a kind without samples, and one title if there is one kind", function()
    local loads = recording { { 5, { op = 2, num = 1 } }, { 5, { op = 2, num = 1 } } }
    assert.are.equal("#            Mem Op\n# Overhead     Load  Command\n"
      .. "# ........  .......  .......\n#\n   100.00%   100.0%  prog\n",
      report(loads, "--as", "7.3", "-F", "overhead,op,comm"))
  end)

  it("separates the parts of shares from other columns only", function()
    assert.are.equal("        ,---------- Snoop -----------\n", report(kinds, "--as", "7.3",
      "-t", ",", "-F", "overhead,snoop"):match "^# (.-\n)")
    assert.are.equal(" 62.00% ,reader ,   0.0%   8.0%   0.0%  54.0%\n",
      report(kinds, "-q", "--as", "7.3", "-t", ",", "-F", "overhead,comm,snoop"):match "^.-\n")
  end)

  it("has the parts as columns of CSV", function()
    assert.are.equal("event,percent,comm,samples,period,dtlb_l1_hit,dtlb_l2_hit,dtlb_l_hit,"
      .. "dtlb_miss,dtlb_other\n", report(kinds, "--as", "7.3", "--csv", "-F",
      "overhead,dtlb,comm"):match "^.-\n")
  end)

  it("does not count callers, and draws trees from the first caller on", function()
    local chains = recording({
      { 5, { op = 2, num = 1 }, 0, nil, { -512, CODE, CODE + 0x100, CODE + 0x200 } },
    }, { chains = true })
    assert.are.equal("   100.00%  prog\n            |\n            ---0x200\n"
      .. "               0x100\n               0\n\n", report(chains, "-q", "-g", "caller",
      "-s", "comm"):gsub(" +\n", "\n"))
    assert.are.equal(report(chains, "-q", "-g", "caller", "-s", "comm"),
      (report(chains, "-q", "-g", "graph", "-s", "comm")))
    local got = run.perflua { "report", "--mem-mode", "--children", chains }
    assert.matches("--mem-mode and --children exclude each other", got.err, 1, true)
  end)

  for _, options in ipairs { "", "-s mem", "-s snoop,tlb", "-s locked,blocked", "-s dso_daddr",
    "-s phys_daddr", "-s data_page_size", "-s local_weight,mem",
    "-t , -s snoop,blocked,local_weight" } do
    needs.it("perf", "prints the lines of perf with " .. options, function()
      options = report_lines.unresolved .. " --mem-mode " .. options
      local theirs = report_lines.sorted(report_lines.of_perf(kinds, options))
      assert.is_not_nil(theirs[1])
      assert.are.same(theirs, report_lines.sorted(report_lines.of_ours(kinds, options)))
    end)
  end

  if oracle.does.split_shares then
    for _, options in ipairs { "overhead,op,comm", "cache,memory,comm", "+snoop", "dtlb" } do
      needs.it("perf", "prints the lines of perf with -F " .. options, function()
        options = report_lines.unresolved .. " --mem-mode -F " .. options
        assert.are.same(report_lines.sorted(report_lines.of_perf(kinds, options)),
          report_lines.sorted(report_lines.of_ours(kinds, options)))
      end)
    end
  end
end)
