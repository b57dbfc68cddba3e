-- Samples with copies of user stacks, of a program whose frames are known.
local builder = require "spec.support.builder"

local stacked = {}

-- bottom() calls itself without end; its frame is a return address, and what is said of it. The
-- frame of based() is found by rbx, as that of the dynamic linker's resolver.
stacked.program = [[
  __asm__(".globl bottom\nbottom:\n.cfi_startproc\nnop\nnop\ncall bottom\nnop\n.cfi_endproc\n"
          ".globl lost\nlost:\n.cfi_startproc\n.cfi_undefined rip\nnop\nnop\n.cfi_endproc\n"
          ".globl based\nbased:\n.cfi_startproc\n.cfi_def_cfa rbx, 16\n.cfi_offset rbx, -16\n"
          "nop\nnop\n.cfi_endproc\n"
          ".globl bare\nbare:\nnop\nnop\nnop\nnop\n");
]]

local AX, SP, IP, MASK = 1, 8, 9, 0xff0fff
stacked.BX = AX + 1

--- Registers as perf has them in its mask.
function stacked.registers(sp, ip, bp)
  local regs = { abi = 2 }
  for i = AX, 20 do
    regs[i] = 0
  end
  regs[SP - 1], regs[SP], regs[IP] = bp or 0, sp, ip
  return regs
end

--- A recording of samples with stacks of words at 0x7ffe0000, of the program that was mapped at
--- 0x400000. `like`: further members of its attr; more: a function that adds records.
function stacked.recorded(tree, build_id, samples, like, more)
  local b = builder.new()
  local attr = { sample_type = { "ip", "tid", "time", "callchain", "regs_user", "stack_user" },
    sample_regs_user = MASK, sample_stack_user = 8192 }
  for k, v in pairs(like or {}) do attr[k] = v end
  local event = b:event(attr)
  b:feature("arch", "x86_64")
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x100000, prot = 5, flags = 2,
    misc = 2 | 1 << 14,
    build_id = build_id, filename = tree.path .. "/a" })
  for i, sample in ipairs(samples) do
    for k, v in pairs { ip = sample.regs_user[IP] or 0, pid = 7, tid = 7, time = i,
      callchain = {} } do
      sample[k] = sample[k] or v
    end
    if type(sample.stack_user) == "table" then
      sample.stack_user = string.pack("<" .. ("I8"):rep(#sample.stack_user),
        table.unpack(sample.stack_user))
    end
    b:sample(event, sample)
  end
  if more then more(b, event) end
  return b:write()
end

return stacked
