-- perflua report --stitch-lbr: call stacks of branches that outgrew the processor's buffer.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local EMPTY <const> = "spec/fixtures/empty"
local USER <const> = -512 & -1

-- Function number i is at 0x400000 + i * 0x100, and calls the next one.
local function call(i) return { from = 0x400010 + i * 0x100, to = 0x400100 + i * 0x100 } end

-- A recording of samples { hw_idx, calls, tid =, change = }: calls by the number of the caller,
-- innermost first.
local function recorded(samples, options)
  options = options or {}
  local b = builder.new()
  local event = b:event { name = "cycles",
    sample_type = { "ip", "tid", "time", "period", "callchain", "branch_stack" },
    branch_sample_type = options.branches or { "user", "call_stack", "hw_index" } }
  b:record("comm", { pid = 7, tid = 7, comm = "prog" })
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x10000, pgoff = 0, prot = 5,
    filename = "/usr/bin/prog" })
  if options.depth ~= false then
    b:feature("cpu_pmu_caps", { { "max_precise", "3" },
      { "branches", tostring(options.depth or 4) } })
  end
  for i, sample in ipairs(samples) do
    local stack = { hw_idx = sample[1] }
    for k, caller in ipairs(sample[2]) do stack[k] = call(caller) end
    if sample.change then sample.change(stack) end
    local ip = 0x400120 + (sample[2][1] or 0) * 0x100
    b:sample(event, { ip = ip, pid = 7, tid = sample.tid or 7, time = sample.time or i,
      period = 1, callchain = { USER, ip }, branch_stack = stack })
  end
  return b:write()
end

local function report(path, ...)
  return run.perflua { "report", "--no-children", "--symfs", EMPTY, "--kallsyms", "/dev/null",
    path, ... }
end

-- The functions of the call stacks, first caller first, by their numbers.
local function stacks_of(path, ...)
  local got = report(path, "-g", "folded,caller,count", "-s", "pid,sym", "--stitch-lbr", ...)
  assert.are.same({ 0, "" }, { got.status, got.err })
  local list = {}
  for n, line in got.out:gmatch "\n(%d+) ([%dx;a-f]+)" do
    local stack = {}
    for address in line:gmatch "[^;]+" do
      stack[#stack + 1] = tostring(tonumber(address) >> 8)
    end
    list[#list + 1] = n .. ": " .. table.concat(stack, " ")
  end
  table.sort(list)
  return list
end

local deep = { 3, { 3, 2, 1, 0 } }
local deeper = { 1, { 5, 4, 3, 2 } }

describe("perflua report --stitch-lbr", function()
  it("takes the callers that were overwritten from the sample before", function()
    assert.are.same({ "1: 0 1 2 3 4", "1: 0 1 2 3 4 5 6" },
      stacks_of(recorded { deep, deeper }))
  end)

  it("goes on from stack to stack, and from returns to calls", function()
    assert.are.same({ "1: 0 1 2 3 4", "1: 0 1 2 3 4 5 6", "1: 0 1 2 3 4 5 6 7 8",
      "1: 0 1 2 3 4 5 6 7 8 9" },
      stacks_of(recorded { deep, deeper, { 3, { 7, 6, 5, 4 } }, { 0, { 8, 7, 6, 5 } } }))
  end)

  it("takes samples in the order of their times", function()
    assert.are.same({ "1: 0 1 2 3 4", "1: 0 1 2 3 4 5 6" },
      stacks_of(recorded { { 1, { 5, 4, 3, 2 }, time = 9 }, { 3, { 3, 2, 1, 0 }, time = 8 } }))
  end)

  it("leaves stacks as they are that do not go on from the sample before", function()
    local function alone(samples, options)
      local list = stacks_of(recorded(samples, options))
      assert.are.same("1: 2 3 4 5 6", list[#list])
      assert.are.equal("1: 0 1 2 3 4", list[1])
      assert.are.equal(2, #list)
    end
    alone { deep, { 1, { 5, 4, 3, 2 }, tid = 8 } } -- another thread
    alone { deep, { 2, { 5, 4, 3, 2 } } } -- another register
    alone { deep, { -1, { 5, 4, 3, 2 } } } -- the register is not known
    alone { { -1, { 3, 2, 1, 0 } }, deeper }
    alone { deep, { 1 << 40, { 5, 4, 3, 2 } } } -- there is no such register
    alone { deep, { 1, { 5, 4, 3, 2 }, change = function(stack) stack[4].cycles = 9 end } }
    alone({ deep, deeper }, { depth = false }) -- the size of the buffer is not known
    alone({ deep, deeper }, { depth = 3 }) -- or wrong
    alone({ deep, deeper }, { depth = 1 << 40 })
    alone({ deep, deeper }, { branches = { "user", "call_stack" } }) -- no register at all
  end)

  it("stitches endless recursion as far as call chains go", function()
    local samples = {}
    for i = 0, 3000 do
      samples[#samples + 1] = { i % 4, { 3, 3, 3, 3 } }
    end
    local got = report(recorded(samples), "--stitch-lbr", "-g", "folded,caller", "-s", "comm")
    assert.are.same({ 0, "" }, { got.status, got.err })
    local longest = 0
    for line in got.out:gmatch "[^\n]+" do
      longest = math.max(longest, select(2, line:gsub("0x310", "")))
    end
    assert.is_true(longest > 100 and longest <= 1024, longest)
  end)

  it("names the option of perf record that records such stacks", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "callchain" } }
    b:sample(event, { ip = 1, pid = 7, time = 1 })
    local got = report(b:write(), "--stitch-lbr")
    assert.are.same({ 2, "perflua: report: --stitch-lbr: no event has call stacks of branches; "
      .. "perf record --call-graph lbr records them\n" }, { got.status, got.err })
  end)

  needs.it("perf", "draws the stacks that perf report does", function()
    local path = recorded { deep, deeper, { 3, { 7, 6, 5, 4 } }, { 1, { 5, 4 } },
      { 1, { 5, 4, 3, 2 } }, { 1, { 5, 4, 3, 2 }, tid = 8 } }
    local text = files.output(("perf report --stdio --stitch-lbr --no-children -s pid,sym "
      .. "-g folded,caller,count --symfs %s -f -i %s 2>/dev/null"):format(EMPTY,
      files.quote(path)))
    local perfs = {}
    for n, line in text:gmatch "\n(%d+) ([%dx;a-f]+)" do
      local stack = {}
      for address in line:gmatch "[^;]+" do
        stack[#stack + 1] = tostring((tonumber(address) >> 8) - 0x4000)
      end
      perfs[#perfs + 1] = n .. ": " .. table.concat(stack, " ")
    end
    table.sort(perfs)
    assert.is_true(#perfs >= 4)
    assert.are.same(perfs, stacks_of(path))
  end)
end)
