-- Call chains recorded by the processor as a stack of branches.
local builder = require "spec.support.builder"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

local KERNEL, USER = -128 & -1, -512 & -1

local samples = {
  { "takes the place of the user's part", {
    callchain = { KERNEL, 0xffff1000, 0xffff2000, USER, 0x1111, 0x2222 },
    branch_stack = { { from = 0x500010, to = 0x500100 }, { from = 0x500020, to = 0x500000 } },
  }, { 0xffff1000, 0xffff2000, 0x1111, 0x500010, 0x500020 } },
  { "begins with the sample's address, as from perf 7.2 on", {
    callchain = { USER, 0x1111 },
    branch_stack = { { from = 0x500010, to = 0x500100 } },
  }, { 0x1111, 0x500010 } },
  { "is left as recorded when it has no user's part", {
    callchain = { KERNEL, 0xffff1000, 0xffff2000 },
    branch_stack = { { from = 0x500010, to = 0x500100 } },
  }, { 0xffff1000, 0xffff2000 } },
  { "follows a user's part that is empty", {
    callchain = { KERNEL, 0xffff1000, USER },
    branch_stack = { { from = 0x500010, to = 0x500100 } },
  }, { 0xffff1000, 0x1111, 0x500010 } },
}

local function recorded(branches, hw_idx)
  local b = builder.new()
  local event = b:event { sample_type = { "ip", "tid", "time", "callchain", "branch_stack" },
    branch_sample_type = branches }
  for i, sample in ipairs(samples) do
    sample[2].branch_stack.hw_idx = hw_idx
    sample[2].ip, sample[2].pid, sample[2].time = 0x1111, 7, i
    b:sample(event, sample[2])
  end
  return b:write()
end

local function chains_of(path, as)
  local list = {}
  local file <close> = assert(perflua.open(path, { as = as }))
  for s in file:samples() do
    local chain = {}
    for i, frame in ipairs(s.callchain) do
      chain[i] = frame.ip
    end
    list[#list + 1] = chain
  end
  return list
end

describe("a call chain with a call stack of branches", function()
  for i, case in ipairs(samples) do
    it(case[1], function()
      assert.same(case[3], chains_of(recorded { "user", "call_stack" })[i])
      assert.same(case[3], chains_of(recorded({ "user", "call_stack", "hw_index" }, 3))[i])
    end)
  end

  it("begins where the latest call went to, as before perf 7.2", function()
    local chains = chains_of(recorded { "user", "call_stack" }, "6.12")
    assert.same({ 0xffff1000, 0xffff2000, 0x500100, 0x500010, 0x500020 }, chains[1])
    assert.same({ 0x500100, 0x500010 }, chains[2])
  end)

  it("begins where the latest call went to, if the sample was taken in the kernel", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "callchain", "branch_stack" },
      branch_sample_type = { "user", "call_stack" } }
    b:sample(event, { ip = 0xffff1000, pid = 7, misc = 1,
      callchain = { KERNEL, 0xffff1000, USER, 0x1111 },
      branch_stack = { { from = 0x500010, to = 0x500100 } } })
    assert.same({ { 0xffff1000, 0x500100, 0x500010 } }, chains_of(b:write()))
  end)

  needs.it("perf", "is as perf script has it", function()
    local path = recorded { "user", "call_stack" }
    local perfs = {}
    for _, line in ipairs(oracle.script(path, "time,ip")) do
      if line:find ":" then
        perfs[#perfs + 1] = {}
      elseif line ~= "" then
        table.insert(perfs[#perfs], tonumber(line, 16))
      end
    end
    assert.same(perfs, chains_of(path, oracle.version))
  end)

  it("is left as recorded when the branches are none, or are not a call stack", function()
    local b = builder.new()
    local types = { "ip", "tid", "time", "callchain", "branch_stack" }
    local event = b:event { sample_type = types, branch_sample_type = { "user", "call_stack" } }
    b:sample(event, { ip = 1, pid = 7, callchain = { USER, 0x1111, 0x2222 },
      branch_stack = {} })
    assert.same({ { 0x1111, 0x2222 } }, chains_of(b:write()))
    local plain = chains_of(recorded { "user", "any_call" })
    assert.same({ 0xffff1000, 0xffff2000, 0x1111, 0x2222 }, plain[1])
  end)

  it("keeps ips as the file has them", function()
    local file <close> = assert(perflua.open(recorded { "user", "call_stack" }))
    local chain = file:samples():first().callchain
    assert.equal(6, #chain.ips)
    assert.equal(USER, chain.ips[4])
  end)
end)
