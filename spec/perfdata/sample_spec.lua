local builder = require "spec.support.builder"
local builder_attr = require "spec.support.builder_attr"
local reading = require "spec.support.reading"

--- Everything a sample can have, so that what stands before a part moves it. See each part
--- below.
local everything = {
  identifier = 77, ip = 0xffffffff81234567, pid = 7, tid = 9, time = 8590143543210,
  addr = 0x7ffe00001000,
  id = 77, stream_id = 79, cpu = 3, period = 1 << 33,
  read = { value = 5, time_enabled = 20, time_running = 10, id = 77, lost = 1 },
  callchain = { -128, 0xffffffff81234567, -512, 0x401000, 0x402000 },
  raw = "raw bytes of 20 chars",
  branch_stack = { hw_idx = 6, { from = 1, to = 2, predicted = true },
    { from = 3, to = 4, mispred = true } },
  regs_user = { abi = 2, 100, 101, 102 },
  stack_user = ("s"):rep(64), dyn_size = 40,
  weight = 250, data_src = 0x68100142, transaction = 3 | 5 << 32,
  regs_intr = { abi = 2, 200, 201 },
  phys_addr = 0x123456000, cgroup = 0x100000003, data_page_size = 4096,
  code_page_size = 2 << 20,
  aux = "auxauxau",
}

local scalars = {
  "ip", "pid", "tid", "time", "addr", "stream_id", "cpu", "period", "weight", "transaction",
  "phys_addr",
  "cgroup", "data_page_size", "code_page_size",
}

local function event_members(names)
  return {
    sample_type = names, ids = { 77 }, branch_sample_type = { "any", "hw_index" },
    read_format = { "time_enabled", "time_running", "id", "lost" },
    sample_regs_user = 1 << 0 | 1 << 7 | 1 << 8, sample_regs_intr = 1 << 0 | 1 << 16,
    sample_stack_user = 64,
  }
end

local function sample_of(endian, names, values, members)
  local b = builder.new { endian = endian }
  b:feature("arch", "x86_64")
  members = members or event_members(names)
  members.sample_type = names
  b:sample(b:event(members), values or everything)
  return reading.first(b)
end

-- Which bit of sample_type brings a field.
local bit_of = { pid = "tid" }

local all_parts = {}
for name in pairs(builder_attr.sample_bits) do
  if name ~= "weight_struct" then
    all_parts[#all_parts + 1] = name
  end
end

---Returns what is wrong with a sample that should hold these parts of `everything`; nil if
---nothing is.
local function check(s, has)
  for _, name in ipairs(scalars) do
    if has[bit_of[name] or name] then
      assert.are.equal(everything[name], s[name], name)
    elseif name ~= "period" then
      assert.is_nil(s[name], name)
    end
  end
  assert.are.equal(has.read and 5 or nil, s.read and s.read.value)
  assert.are.equal(has.read and 1 or nil, s.read and s.read.lost)
  -- with registers and stack, frames are unwound
  local chain = s.callchain
  assert.are.equal(has.callchain and #everything.callchain or nil, chain and #chain.ips)
  if chain and not (has.regs_user and has.stack_user) then
    assert.are.equal(3, #chain)
    assert.are.equal(0x402000, chain[3].ip)
  end
  assert.are.equal(has.raw and "raw bytes of 20 chars" or nil, s.raw and s.raw:sub(1, 21))
  assert.are.equal(has.branch_stack and 2 or nil, s.branch_stack and #s.branch_stack)
  assert.are.equal(has.branch_stack and 4 or nil, s.branch_stack and s.branch_stack[2].to)
  assert.are.equal(has.regs_user and 101 or nil, s.regs_user and s.regs_user.sp)
  assert.are.equal(has.stack_user and ("s"):rep(40) or nil, s.stack_user)
  assert.are.equal(has.data_src and everything.data_src or nil, s.data_src and s.data_src.value)
  assert.are.equal(has.regs_intr and 201 or nil, s.regs_intr and s.regs_intr.r8)
  assert.are.equal(has.aux and "auxauxau" or nil, s.aux)
end

reading.either_order(describe, function(endian)
  it("has every part when all are there", function()
    local s = sample_of(endian, all_parts)
    local has = {}
    for _, name in ipairs(all_parts) do
      has[name] = true
    end
    check(s, has)
    assert.are.equal("sample", s.type)
    assert.are.equal(9, s.type_id)
    assert.are.equal(77, s.id)
  end)

  for _, name in ipairs(all_parts) do
    it("has " .. name .. " when it is the only part", function()
      check(sample_of(endian, { name }), { [name] = true })
    end)

    it("has all the others when " .. name .. " is missing", function()
      local names, has = {}, {}
      for _, other in ipairs(all_parts) do
        if other ~= name then
          names[#names + 1] = other
          has[other] = true
        end
      end
      check(sample_of(endian, names), has)
    end)
  end

  it("has its parts in whatever combination", function()
    local random = 12345
    for _ = 1, 60 do
      local names, has = {}, {}
      for _, name in ipairs(all_parts) do
        random = (random * 1103515245 + 12345) & 0x7fffffff
        if random >> 16 & 1 == 1 then
          names[#names + 1] = name
          has[name] = true
        end
      end
      check(sample_of(endian, names), has)
    end
  end)

  it("has its id from either place", function()
    assert.are.equal(77, sample_of(endian, { "identifier" }).id)
    assert.are.equal(77, sample_of(endian, { "ip", "id", "cpu" }).id)
  end)

  it("has three weights when the hardware gives them", function()
    local s = sample_of(endian, { "ip", "weight_struct", "cgroup" },
      { weight = 0xfffffffe, ins_lat = 0xfff0, retire_lat = 3, cgroup = 5 })
    assert.are.equal(0xfffffffe, s.weight)
    assert.are.equal(0xfff0, s.ins_lat)
    assert.are.equal(3, s.retire_lat)
    assert.are.equal(5, s.cgroup)
    assert.is_nil(sample_of(endian, { "weight" }).ins_lat)
  end)

  it("has the event's period where it records none, and 1 where the event has a "
    .. "frequency", function()
    assert.are.equal(5000, sample_of(endian, { "ip" }, { ip = 1 },
      { sample_period = 5000 }).period)
    assert.are.equal(1, sample_of(endian, { "ip" }, { ip = 1 },
      { freq = true, sample_freq = 4000 }).period)
    assert.are.equal(9, sample_of(endian, { "period" }, { period = 9 },
      { sample_period = 5000 }).period)
  end)

  it("shows unset processes and cpus as -1", function()
    local s = sample_of(endian, { "tid", "cpu" }, { pid = -1, tid = -1, cpu = -1 })
    assert.are.equal(-1, s.pid)
    assert.are.equal(-1, s.tid)
    assert.are.equal(-1, s.cpu)
  end)

  it("knows whether its address is exact", function()
    assert.is_true(sample_of(endian, { "ip" }, { misc = 2 | 1 << 14 }).exact_ip)
    assert.is_false(sample_of(endian, { "ip" }, { misc = 2 }).exact_ip)
  end)

  it("has empty parts", function()
    local s = sample_of(endian, { "callchain", "raw", "stack_user", "aux", "cgroup" },
      { cgroup = 3 })
    assert.are.equal(0, #s.callchain)
    assert.are.equal("\0\0\0\0", s.raw)
    assert.are.equal("", s.stack_user)
    assert.are.equal("", s.aux)
    assert.are.equal(3, s.cgroup)
  end)

  it("has registers without values in a kernel thread", function()
    local s = sample_of(endian, { "regs_user", "stack_user", "regs_intr", "cgroup" },
      { regs_user = { abi = 0 }, regs_intr = { abi = 1, 5, 6 }, cgroup = 3 })
    assert.are.equal(0, s.regs_user.abi)
    assert.is_nil(s.regs_user.ax)
    assert.are.equal(1, s.regs_intr.abi)
    assert.are.equal(6, s.regs_intr.r8)
    assert.are.equal(3, s.cgroup)
  end)

  it("reads nil, not another's bytes, where a length is not true", function()
    warn "@off"
    local lies = {
      { { "callchain", "cgroup" }, { callchain = { nr = 1 << 40, 1, 2 }, cgroup = 3 } },
      { { "callchain", "cgroup" }, { callchain = { nr = -1, 1, 2 }, cgroup = 3 } },
      { { "callchain", "cgroup" }, { callchain = { nr = 1 << 61, 1, 2 }, cgroup = 3 } },
      { { "raw", "cgroup" }, { raw = "abcd", raw_size = 0xfffffffc, cgroup = 3 } },
      { { "branch_stack", "cgroup" },
        { branch_stack = { nr = 1 << 60, { from = 1 } }, cgroup = 3 } },
      { { "branch_stack", "cgroup" },
        { branch_stack = { nr = -1, { from = 1 } }, cgroup = 3 } },
      { { "stack_user", "cgroup" }, { stack_user = "12345678", stack_size = -8, cgroup = 3 } },
      { { "stack_user", "cgroup" }, { stack_user = "12345678", stack_size = 1 << 32,
        cgroup = 3 } },
      { { "aux", "ip" }, { aux = "12345678", aux_size = 1 << 63 } },
      { { "regs_user", "cgroup" }, { regs_user = { abi = 2, 1 }, cgroup = 3 } },
    }
    for i, lie in ipairs(lies) do
      local s = sample_of(endian, lie[1], lie[2])
      assert.is_nil(s[lie[1][1]], "lie " .. i)
      assert.is_nil(s.cgroup, "lie " .. i)
    end
    local group = event_members {}
    group.read_format = { "id", "group" }
    for _, nr in ipairs { 1 << 40, -1, 1 << 60, 1 << 63 } do
      local s = sample_of(endian, { "read", "cgroup" },
        { read = { nr = nr, { value = 1, id = 2 } } }, group)
      assert.is_nil(s.read)
      assert.is_nil(s.cgroup)
    end
  end)

  it("shows no more stack than was valid, whatever dyn_size says", function()
    local s = sample_of(endian, { "stack_user", "cgroup" },
      { stack_user = ("s"):rep(16), dyn_size = 1 << 40, cgroup = 3 })
    assert.is_true(s.stack_user == nil or #s.stack_user <= 16)
    assert.are.equal(3, s.cgroup)
  end)
end)
