-- perflua report --latency and --parallelism: perf 7.3 prints the same of these recordings, but
-- for the letters of callers.
local builder = require "spec.support.builder"
local run = require "spec.cli.run"

local OUT <const>, USER <const> = 1 << 13, -512

-- Writes a recording, which thread 7 begins, of lines: { time, what, tid, chain }. what: "in",
-- "out", or the period of a sample.
local function recording(lines, options)
  options = options or {}
  local b = builder.new { container = options.container }
  local parts = { "ip", "tid", "period" }
  if not options.timeless then parts[#parts + 1] = "time" end
  if options.chains then parts[#parts + 1] = "callchain" end
  if options.branches then parts[#parts + 1] = "branch_stack" end
  if options.weighed then table.move({ "weight", "data_src" }, 1, 2, #parts + 1, parts) end
  local event = b:event { name = "cpu-clock", type = 1, config = 0, sample_type = parts,
    branch_sample_type = options.branches and 1 or 0, sample_id_all = true,
    context_switch = not options.alone }
  for tid, comm in pairs { [7] = "main", [8] = "work" } do
    b:record("comm", { pid = 7, tid = tid, comm = comm }, { pid = 7, tid = tid, time = 1 })
  end
  for _, line in ipairs(lines) do
    local time, what, tid, chain = table.unpack(line)
    local id = { pid = 7, tid = tid, time = time, ip = chain and chain[2] or 0x10,
      callchain = chain, branch_stack = { { from = 0x10, to = 0x20, flags = 0 } },
      weight = tid, data_src = 0x68100142 }
    if math.type(what) then
      id.period = what
      b:sample(event, id)
    else
      b:record(options.processors and "switch_cpu_wide" or "switch",
        { misc = what == "out" and OUT or 0, next_prev_pid = 7, next_prev_tid = 8 }, id)
    end
  end
  return b:write()
end

local busy = {
  { 20, 300, 7 }, { 30, "in", 8 }, { 40, 200, 7 }, { 50, 101, 8 },
  { 60, "out", 7 }, { 70, 400, 8 },
}

local function report(path, ...)
  local got = run.perflua { "report", "-q", "--as", "7.3", "--symfs", "spec/fixtures/empty",
    path, ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return got.out
end

local function title_of(path, ...)
  local out = run.perflua { "report", "--symfs", "spec/fixtures/empty", path, ... }.out
  return (out:match "\n# ([^\n]+)\n# %.%.%.")
end

describe("perflua report --latency", function()
  it("divides periods by the threads that run, and sorts by the quotients", function()
    local path = recording(busy)
    -- of 850.5 (300 + 100 + 50.5 + 400), and of 1001
    assert.are.equal("    52.97%    50.05%  work\n    47.03%    49.95%  main\n",
      report(path, "--latency", "-s", "comm"))
    assert.are.equal("Latency  Overhead  Command",
      title_of(path, "--latency", "-s", "comm"):match "^ *(.*)$")
    assert.are.equal("    52.97%  work\n    47.03%  main\n", report(path, "-s", "latency,comm"))
    assert.are.equal("    49.95%    47.03%  main\n    50.05%    52.97%  work\n",
      report(path, "-F", "overhead,latency,comm", "-s", "comm"))
  end)

  it("counts callers, too", function()
    local path = recording({
      { 20, 300, 7, { USER, 0x10, 0x30 } }, { 30, "in", 8 },
      { 40, 200, 8, { USER, 0x20, 0x30 } },
    }, { chains = true })
    assert.are.equal("  100.00%     0.00%  [.] 0x0000000000000030\n"
      .. "   75.00%    75.00%  [.] 0x0000000000000010\n"
      .. "   25.00%    25.00%  [.] 0x0000000000000020\n",
      report(path, "-F", "latency_children,latency,sym"))
    assert.are.equal("  100.00%   100.00%     0.00%     0.00%  [.] 0x0000000000000030\n"
      .. "   75.00%    60.00%    75.00%    60.00%  [.] 0x0000000000000010\n"
      .. "   25.00%    40.00%    25.00%    40.00%  [.] 0x0000000000000020\n",
      report(path, "--latency", "-s", "sym"))
    assert.are.equal("Latency  Children   Latency      Self  Symbol",
      title_of(path, "--latency", "-s", "sym"))
  end)

  it("is beside Overhead where threads ran beside one another, from 7.2 on", function()
    local path = recording(busy)
    assert.are.equal("    50.05%    52.97%  work\n    49.95%    47.03%  main\n",
      report(path, "-s", "comm"))
    assert.are.equal("Overhead   Latency  Command", title_of(path, "--as", "7.2", "-s", "comm"))
    assert.are.equal("Overhead  Command", title_of(path, "--as", "6.12", "-s", "comm"))
    assert.are.equal("Overhead  Command", title_of(path, "--as", "7.3", "-s", "overhead,comm"))
    local apart = recording { { 20, 300, 7 }, { 30, "out", 7 },
      { 40, "in", 8 }, { 50, 100, 8 } }
    assert.are.equal("    75.00%  main\n    25.00%  work\n", report(apart, "-s", "comm"))
    assert.are.equal("    75.00%    75.00%  main\n    25.00%    25.00%  work\n",
      report(apart, "--latency", "-s", "comm"))
  end)

  it("is not added where switches are of processors (-a) or have no time, or in pipe mode",
    function()
      for _, options in ipairs { { processors = true }, { timeless = true },
        { container = "pipe" } } do
        assert.are.equal("    50.05%  work\n    49.95%  main\n",
          report(recording(busy, options), "-s", "comm"))
      end
    end)

  it("is not added to several recordings if the switches of one are of processors", function()
    assert.are.equal("    50.05%  work\n    49.95%  main\n",
      report(recording(busy), "-s", "comm", recording(busy, { processors = true })))
  end)

  it("calls no function of Lua for samples where threads ran one after the other", function()
    local apart = recording { { 20, 300, 7 }, { 30, "out", 7 }, { 40, "in", 8 },
      { 50, 100, 8 } }
    for path, is_called in pairs { [apart] = false, [recording(busy)] = true } do
      local got = run.perflua { "report", "--as", "7.3", "--explain", path }
      assert.equal(is_called, got.out:find("is a function of Lua", 1, true) ~= nil, got.out)
    end
  end)

  it("adds the period of its sample for each branch", function()
    local path = recording({ { 20, 300, 7 }, { 30, "in", 8 }, { 40, 200, 8 } },
      { branches = true })
    assert.are.equal("    50.00%    75.00%  main\n    50.00%    25.00%  work\n",
      report(path, "-s", "comm"))
    assert.are.equal("    75.00%    50.00%  main\n    25.00%    50.00%  work\n",
      report(path, "-b", "--latency", "-s", "comm"))
  end)

  it("adds the period of a sample with --mem-mode", function()
    local path = recording({ { 20, 300, 7 }, { 30, "in", 8 }, { 40, 200, 8 } },
      { weighed = true })
    assert.are.equal("    53.33%    25.00%  work\n    46.67%    75.00%  main\n",
      report(path, "--mem-mode", "-s", "comm"))
    assert.are.equal("    75.00%    46.67%  main\n    25.00%    53.33%  work\n",
      report(path, "--mem-mode", "--latency", "-s", "comm"))
  end)

  it("is a share in CSV and JSON", function()
    local got = run.perflua { "report", "--csv", "--latency", "-s", "comm", recording(busy) }
    assert.matches("^event,percent,comm,samples,period,latency\n"
      .. "cpu%-clock,50%.04995%d*,work,2,501,52%.968%d*\n"
      .. "cpu%-clock,49%.95004%d*,main,2,500,47%.0311%d*\n$", got.out)
  end)

  it("says how to record what it needs", function()
    for _, option in ipairs { "--latency", "--parallelism=2", "--sort=latency" } do
      local got = run.perflua { "report", option, recording(busy, { alone = true }) }
      assert.are.same({ 2, "perflua: parallelism: this recording has no records of switches; "
        .. "record it with: perf record --switch-events -- COMMAND\n" },
        { got.status, got.err })
    end
  end)
end)

describe("perflua report --parallelism", function()
  it("takes the samples while so many threads ran; shares stay those of all", function()
    local path = recording(busy)
    assert.are.equal("    19.98%  main\n    10.09%  work\n",
      report(path, "--parallelism", "2", "-s", "overhead,comm"))
    assert.are.equal("    11.76%    19.98%  main\n     5.94%    10.09%  work\n",
      report(path, "--parallelism", "2,8", "--latency", "-s", "comm"))
    assert.are.equal("    66.45%  main\n    33.55%  work\n", report(path, "--parallelism",
      "2-3", "--percentage", "relative", "-s", "overhead,comm"))
    assert.are.equal("    69.93%            1\n    30.07%            2\n",
      report(path, "--parallelism", "1-2", "-s", "overhead,parallelism"))
  end)

  it("expects numbers of threads", function()
    for _, text in ipairs { "0", "x", "3-", "4-2", "" } do
      local got = run.perflua { "report", "--parallelism", text, recording(busy) }
      assert.are.equal(2, got.status)
      assert.matches("--parallelism: numbers of threads expected", got.err, 1, true)
    end
  end)
end)
