local everything = require "spec.support.everything"
local perflua = require "perflua"

describe("a view of a part of a record", function()
  local file, sample

  before_each(function()
    file = assert(perflua.open(everything.builder("little"):write()))
    sample = file:samples():first()
  end)
  after_each(function() file:close() end)

  it("has items by number and nil beyond them", function()
    local chain = sample.callchain
    assert.are.equal(2, #chain)
    assert.are.equal(1, chain[1].ip)
    assert.are.equal("user", chain[2].cpumode)
    for _, i in ipairs { 0, -1, 3, 1.5, 0 / 0, math.huge, 2 ^ 53, math.maxinteger,
        math.mininteger, 1 << 32 } do
      assert.is_nil(chain[i], tostring(i))
    end
    assert.are.equal(1, chain[1.0].ip)
  end)

  it("has members by name and raises for others", function()
    assert.are.same({ -128, 1, -512, 2 }, table.move(sample.callchain.ips, 1, 4, 1, {}))
    assert.error_matches(function() return sample.callchain.ipss end, "'ipss'")
    assert.error_matches(function() return sample.callchain[1].ipp end, "'ipp'")
    for _, key in ipairs { "1", "", "\0", ("x"):rep(100000), true, {}, print } do
      assert.has_error(function() return sample.callchain[key] end)
      assert.has_error(function() return sample.callchain[1][key] end)
    end
    assert.has_error(function() sample.callchain[1] = 5 end)
    assert.has_error(function() sample.callchain[1].ip = 5 end)
  end)

  it("has named items where the format names them", function()
    local regs = sample.regs_user
    assert.are.equal(2, regs.abi)
    assert.are.equal(2, #regs)
    local names = {}
    for name in pairs(regs) do
      names[#names + 1] = name
    end
    assert.are.same({ "abi", "ax", "bx" }, names)
    assert.is_nil(regs.cx)
    assert.is_nil(regs[1])
  end)

  it("goes through members and items with pairs, items with ipairs", function()
    local keys = {}
    for key, value in pairs(sample.read) do
      keys[#keys + 1] = key
      assert.is_not_nil(value)
    end
    assert.are.same({ 1, 2 }, keys)
    local n = 0
    for i, branch in ipairs(sample.branch_stack) do
      n = i
      assert.are.equal(1, branch.from)
    end
    assert.are.equal(1, n)
  end)

  it("goes on in an item's pairs wherever it is asked to", function()
    local step, item = pairs(sample.branch_stack[1])
    assert.are.equal("from", (step(item)))
    assert.are.equal("to", (step(item, "from")))
    assert.is_nil((step(item, "no such member")))
    assert.error_matches(function() step(sample) end, "perflua.item expected")
    assert.error_matches(function() step(item, {}) end, "string expected")
  end)

  it("keeps its record, and an item its view", function()
    local item
    do
      item = assert(perflua.open(everything.builder("little"):write())):samples()
        :first().branch_stack[1]
    end
    collectgarbage()
    collectgarbage()
    assert.are.equal(2, item.to)
  end)

  it("raises when the file of its record is closed", function()
    local chain, regs = sample.callchain, sample.regs_user
    local frame, step = chain[1], pairs(regs)
    local next_member = pairs(frame)
    file:close()
    local reads = {
      function()
        return chain[1]
      end, function() return #chain end, function() return chain.ips end,
      function()
        return frame.ip
      end, function() return regs.ax end, function() pairs(chain) end,
      function()
        pairs(frame)
      end, step, function() next_member(frame) end, function() tostring(chain) end,
    }
    for i, read in ipairs(reads) do
      assert.error_matches(read, "closed file", 1, false, "read " .. i)
    end
  end)

  it("has values that are the view's own tables of nothing", function()
    assert.are.equal(7, sample.read[1].event.ids[1])
    assert.are.equal(file.events[1], sample.read[1].event)
    assert.are.equal(sample.event, sample.read[1].event)
  end)

  it("is text as perf prints it, or its name and length", function()
    assert.matches("|OP LOAD", tostring(sample.data_src), 1, true)
    assert.are.equal("callchain (2)", tostring(sample.callchain))
  end)
end)
