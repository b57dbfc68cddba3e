-- Call chains that are unwound on arm64: from the stack, and from the link register.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"

local USER = -512 & -1

-- Addresses of the functions of spec/fixtures/arm64/frames, mapped at 0x400000. _start calls
-- frame, which keeps a frame record; frame calls leaf, which does not.
local BUILD_ID = "960219c87c5a697883d167513075dbb43e06cef5"
local START <const>, FRAME <const>, LEAF <const> = 0x40023c, 0x400244, 0x400254

describe("a call chain unwound on arm64", function()
  local program = files.output "pwd":match "[^\n]+" .. "/" .. files.fixture "arm64/frames"

  local function recorded(event, sample)
    local b = builder.new()
    event.sample_type[#event.sample_type + 1] = "regs_user"
    event = b:event(event)
    b:feature("arch", "aarch64")
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x100000, prot = 5, flags = 2,
      misc = 2 | 1 << 14, build_id = BUILD_ID, filename = program })
    sample.pid, sample.time = 7, 1
    b:sample(event, sample)
    return b:write()
  end

  it("has frames of the stack and of the link register", function()
    local regs = { abi = 2 }
    for i = 1, 33 do
      regs[i] = 0
    end
    regs[31], regs[32], regs[33] = FRAME + 8, 0x7ffe0000, LEAF
    local path = recorded({
      sample_type = { "ip", "tid", "time", "callchain", "stack_user" },
      sample_regs_user = 0x1ffffffff, sample_stack_user = 16,
    }, {
      ip = LEAF, callchain = {}, regs_user = regs,
      -- the upper bits sign the address
      stack_user = string.pack("<I8I8", 0, START + 4 | 0x2a << 56),
    })
    assert.same({ LEAF, FRAME + 7, START + 3 }, binaries.chain(path))
  end)

  it("has the caller of a leaf, which frame pointers leave out", function()
    local function chain(ip)
      return binaries.chain(recorded({
        sample_type = { "ip", "tid", "time", "callchain" }, sample_regs_user = 1 << 30,
      }, {
        ip = ip, callchain = { USER, ip, START + 4 }, regs_user = { abi = 2, FRAME + 8 },
      }))
    end
    assert.same({ LEAF, FRAME + 7, START + 4 }, chain(LEAF))
    assert.same({ FRAME + 4, START + 4 }, chain(FRAME + 4))
  end)
end)
