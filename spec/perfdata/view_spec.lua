local builder = require "spec.support.builder"
local reading = require "spec.support.reading"

local function sample_of(endian, members, values, arch)
  local b = builder.new { endian = endian }
  if arch then
    b:feature("arch", arch)
  end
  b:sample(b:event(members), values)
  return reading.first(b)
end

reading.either_order(describe, function(endian)
  describe("the call chain", function()
    local function chain_of(ips, misc)
      return sample_of(endian, { sample_type = { "ip", "callchain" } },
        { callchain = ips, misc = misc }).callchain
    end

    it("has frames with the mode their context marker says", function()
      local c = chain_of { -128, 0xffffffff81000001, 0xffffffff81000002, -512, 0x401000 }
      assert.are.equal(3, #c)
      assert.are.equal(0xffffffff81000001, c[1].ip)
      assert.are.equal("kernel", c[1].cpumode)
      assert.are.equal("kernel", c[2].cpumode)
      assert.are.equal("user", c[3].cpumode)
      assert.is_nil(c[4])
      assert.is_nil(c[0])
    end)

    it("keeps the raw array with its markers", function()
      local ips = { -128, 0xffffffff81000001, -512, 0x401000 }
      local c = chain_of(ips)
      assert.are.equal(4, #c.ips)
      for i, ip in ipairs(ips) do
        assert.are.equal(ip, c.ips[i])
      end
    end)

    it("consumes guests' and hypervisors' markers, too", function()
      local c = chain_of { -32, 1, -2176, 2, -2560, 3 }
      local modes = { c[1].cpumode, c[2].cpumode, c[3].cpumode }
      assert.are.same({ "hypervisor", "guest_kernel", "guest_user" }, modes)
    end)

    it("has no frame if it has markers alone", function()
      local c = chain_of { -128, -512 }
      assert.are.equal(0, #c)
      assert.are.equal(2, #c.ips)
    end)

    it("does not take the cookie of a deferred one for a frame", function()
      local s = sample_of(endian, { sample_type = { "ip", "callchain" },
        defer_callchain = true },
        { callchain = { -128, 0xffffffff81000001, -640, 0x12345 } })
      assert.are.equal(1, #s.callchain)
      assert.are.equal(0x12345, s.callchain.cookie)
      assert.are.equal(4, #s.callchain.ips)
    end)
  end)

  describe("the counter values", function()
    local bits = { "time_enabled", "time_running", "id", "lost" }
    local values = { value = 1 << 40, time_enabled = 20, time_running = 10, id = 100, lost = 3 }

    for mask = 0, 15 do
      local formats = {}
      for i, name in ipairs(bits) do
        formats[#formats + 1] = mask >> (i - 1) & 1 == 1 and name or nil
      end
      it("have what read_format asks for: value " .. table.concat(formats, " "), function()
        local members = { sample_type = { "ip", "read", "cgroup" }, read_format = formats }
        local s = sample_of(endian, members, { read = values, cgroup = 3 })
        assert.are.equal(1 << 40, s.read.value)
        for i, name in ipairs(bits) do
          assert.are.equal(mask >> (i - 1) & 1 == 1 and values[name] or nil, s.read[name], name)
        end
        assert.are.equal(3, s.cgroup)
      end)

      it("has what read_format asks for, of a group: values "
        .. table.concat(formats, " "), function()
        local group = { time_enabled = 20, time_running = 10, { value = 5, id = 100, lost = 1 },
          { value = 6, id = 101, lost = 2 },
          { value = 7, id = 102, lost = 3 } }
        local members = { sample_type = { "ip", "read", "cgroup" },
          read_format = { "group", table.unpack(formats) },
          ids = { 100 }, name = "leader" }
        local s = sample_of(endian, members, { read = group, cgroup = 3 })
        assert.are.equal(3, #s.read)
        for i, item in ipairs(group) do
          assert.are.equal(item.value, s.read[i].value)
          assert.are.equal(mask & 4 ~= 0 and item.id or nil, s.read[i].id)
          assert.are.equal(mask & 8 ~= 0 and item.lost or nil, s.read[i].lost)
        end
        assert.are.equal(mask & 1 ~= 0 and 20 or nil, s.read.time_enabled)
        assert.are.equal(mask & 2 ~= 0 and 10 or nil, s.read.time_running)
        assert.are.equal(mask & 4 ~= 0 and "leader" or nil, s.read[1].event
          and s.read[1].event.name)
        assert.is_nil(s.read[4])
        assert.are.equal(3, s.cgroup)
      end)
    end
  end)

  describe("the branch stack", function()
    local function stack_of(branches, kinds)
      local s = sample_of(endian, { sample_type = { "ip", "branch_stack", "cgroup" },
        branch_sample_type = kinds },
        { branch_stack = branches, cgroup = 3 })
      assert.are.equal(3, s.cgroup)
      return s.branch_stack
    end

    it("has every flag of a branch", function()
      local flags = { "mispred", "predicted", "in_tx", "abort" }
      for _, set in ipairs(flags) do
        local branch = stack_of({ { from = 0x401000, to = 0x402000, [set] = true } },
          { "any" })[1]
        for _, name in ipairs(flags) do
          assert.are.equal(name == set, branch[name], name)
        end
        assert.are.equal(0x401000, branch.from)
        assert.are.equal(0x402000, branch.to)
        assert.are.equal(0, branch.cycles)
      end
    end)

    it("has the cycles of a branch", function()
      assert.are.equal(0xfffe, stack_of({ { cycles = 0xfffe } }, { "any" })[1].cycles)
    end)

    it("tells the kinds of branches apart", function()
      local branches, seen = {}, {}
      for kind = 1, 14 do
        branches[kind] = { type = kind }
      end
      local stack = stack_of(branches, { "any", "type_save" })
      for kind = 1, 14 do
        assert.is_string(stack[kind].type)
        assert.is_nil(seen[stack[kind].type])
        seen[stack[kind].type] = true
      end
    end)

    it("tells speculation and privilege", function()
      local stack = stack_of({ { spec = 1 }, { spec = 2 }, { spec = 3 }, { priv = 1 },
        { priv = 2 }, { priv = 3 } },
        { "any", "priv_save" })
      assert.are_not.equal(stack[1].spec, stack[2].spec)
      assert.are_not.equal(stack[2].spec, stack[3].spec)
      assert.matches("user", stack[4].priv:lower())
      assert.matches("kernel", stack[5].priv:lower())
      assert.matches("h", stack[6].priv:lower())
    end)

    it("has the hardware's index where it was asked for", function()
      assert.are.equal(6, stack_of({ hw_idx = 6, { from = 1 } }, { "any", "hw_index" }).hw_idx)
      assert.is_nil(stack_of({ { from = 1 } }, { "any" }).hw_idx)
    end)

    it("has none where the kernel had no branches and left it out", function()
      local empty = stack_of({ hw_idx = false }, { "any", "hw_index" })
      assert.are.equal(0, #empty)
      local real = stack_of({ hw_idx = 4 }, { "any", "hw_index" })
      assert.are.equal(0, #real)
      assert.are.equal(4, real.hw_idx)
    end)

    it("has the counters that follow it", function()
      local stack = stack_of({ hw_idx = 1, { from = 1, counters = 0x21 },
        { from = 2, counters = 0x43 } },
        { "any", "hw_index", "counters" })
      assert.are.equal(0x21, stack[1].counters)
      assert.are.equal(0x43, stack[2].counters)
      assert.are.equal(2, stack[2].from)
    end)

    it("has counters when only another member of its group asked for them", function()
      local b = builder.new { endian = endian }
      local kinds = { "identifier", "ip", "branch_stack", "cgroup" }
      local leader = b:event { name = "leader", sample_type = kinds,
        branch_sample_type = { "any" }, ids = { 1 } }
      b:event { name = "member", sample_type = kinds,
        branch_sample_type = { "any", "counters" }, ids = { 2 } }
      b:feature("group_desc", { { name = "{anon_group}", leader = 0, members = 2 } })
      b:sample(leader, { branch_stack = { counters = true, { from = 1, to = 2, counters = 9 } },
        cgroup = 3 })
      local s = reading.first(b)
      assert.are.equal(9, s.branch_stack[1].counters)
      assert.are.equal(3, s.cgroup)
    end)
  end)

  describe("the source of data", function()
    -- perf script -F data_src prints these texts for these values.
    local texts = {
      "68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A",
      "184 |OP STORE|LVL L1 miss|SNP N/A|TLB N/A|LCK No|BLK  N/A",
      "183200000002 |OP LOAD|LVL Remote socket, same board CXL |SNP N/A|TLB N/A|LCK No|BLK  "
        .. "N/A",
      "4000200002 |OP LOAD|LVL N/A|SNP Hit or Fwd|TLB N/A|LCK No|BLK  N/A",
      "0 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A",
    }
    for _, text in ipairs(texts) do
      it("reads as perf prints it: " .. text, function()
        local value = tonumber(text:match "^%x+", 16)
        local src = sample_of(endian, { sample_type = { "data_src" } },
          { data_src = value }).data_src
        assert.are.equal(value, src.value)
        assert.are.equal(text, tostring(src))
        assert.are.equal(text:match "OP ([^|]*)", src.op)
        assert.are.equal(text:match "SNP ([^|]*)", src.snoop)
      end)
    end
  end)

  describe("the registers", function()
    local names = {
      x86_64 = { [0] = "ax", [1] = "bx", [7] = "sp", [8] = "ip", [16] = "r8", [23] = "r15" },
      aarch64 = { [0] = "x0", [29] = "x29", [30] = "lr", [31] = "sp", [32] = "pc" },
      armv7l = { [0] = "r0", [11] = "fp", [12] = "ip", [13] = "sp", [14] = "lr", [15] = "pc" },
      riscv64 = { [0] = "pc", [1] = "ra", [2] = "sp", [10] = "a0" },
      s390x = { [0] = "r0", [15] = "r15", [32] = "mask", [33] = "pc" },
      ppc64le = { [0] = "r0", [1] = "r1", [32] = "nip", [36] = "link" },
    }
    for arch, by_bit in pairs(names) do
      it("have their names on " .. arch, function()
        local mask, bits, values = 0, {}, { abi = 2 }
        for bit in pairs(by_bit) do
          mask = mask | 1 << bit
          bits[#bits + 1] = bit
        end
        table.sort(bits)
        for i, bit in ipairs(bits) do
          values[i] = 1000 + bit
        end
        local s = sample_of(endian, { sample_type = { "regs_user" }, sample_regs_user = mask },
          { regs_user = values }, arch)
        for bit, name in pairs(by_bit) do
          assert.are.equal(1000 + bit, s.regs_user[name], name)
        end
        local seen = 0
        for name, value in pairs(s.regs_user) do
          seen = seen + (name ~= "abi" and value >= 1000 and 1 or 0)
        end
        assert.are.equal(#bits, seen)
        assert.are.equal(2, s.regs_user.abi)
      end)
    end
  end)
end)
