-- under("symbol"): whose work a sample is, by the functions of its call chain.
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local system = require "spec.support.system"

local KALLSYMS = [[
ffffffff81000000 T _text
ffffffff81000100 T do_read
ffffffff81000200 T sys_read
ffffffff81000300 T sys_write
ffffffff81000400 T _etext
]]
local KERNEL = -128
local READ, SYS_READ, SYS_WRITE = 0xffffffff81000110, 0xffffffff81000210, 0xffffffff81000310

describe("under", function()
  local file

  setup(function()
    local b = system.builder({}, { "ip", "tid", "time", "callchain" })
    mapped.add(b,
      { "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 [kernel.kallsyms]_text" })
    local function sample(time, ip, chain)
      b:sample(b.events[1], { ip = ip, pid = 7, tid = 7, time = time, misc = 1,
        callchain = chain })
    end
    sample(10, READ, { KERNEL, READ, SYS_READ })
    sample(20, READ, { KERNEL, READ, SYS_WRITE })
    sample(30, SYS_READ, {})
    sample(40, READ, { KERNEL, READ, 0xffffffff80000000 })
    file = assert(perflua.open(b:write(), { kallsyms = files.temporary(KALLSYMS) }))
  end)
  teardown(function() file:close() end)

  local function times(filter)
    local list = {}
    for time in file:samples():where(filter):select("time") do list[#list + 1] = time end
    return list
  end

  it("finds a function wherever in the chain it is", function()
    assert.same({ 10, 20, 40 }, times "under('do_read')")
    assert.same({ 20 }, times "under('sys_write')")
    assert.same({}, times "under('sys_rea')")
    assert.same({}, times "under('')")
  end)

  it("takes a glob of names", function()
    assert.same({ 10, 20, 30, 40 }, times "under('*_read')")
    assert.same({ 10, 20, 30 }, times "under('sys_*')")
    assert.same({ 10, 30 }, times "under('[rs]ys_r?ad')")
    assert.same({}, times "under('*rea')")
    assert.same({ 40 }, times "not under('sys_*')")
    assert.same({ 20 }, times "under('sys_w*') and under('do_read')")
  end)

  it("asks for the function of the ip where the chain is empty", function()
    assert.same({ 10, 30 }, times "under('sys_read')")
  end)

  it("is a condition among others", function()
    assert.same({ 20, 40 }, times "under('do_read') and not under('sys_read')")
    assert.same({ 40 }, times "under('do_read') and time in {40, 50}")
  end)

  it("is a key", function()
    local t = file:samples():group_by("under('sys_read')"):as("reads"):count()
      :sort("reads", "asc")
    assert.same({ { event = "cycles:u", reads = false, count = 2 },
      { event = "cycles:u", reads = true, count = 2 } },
      { { event = "cycles:u", reads = t[1].reads, count = t[1].count },
        { event = "cycles:u", reads = t[2].reads,
        count = t[2].count } })
  end)
end)
