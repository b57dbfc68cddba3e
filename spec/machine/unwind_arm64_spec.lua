-- Call chains that are unwound on arm64: from the stack, and from the link register.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"

local USER = -512 & -1

describe("a call chain unwound on arm64", function()
  -- start calls frame, which keeps one, and that leaf, which does not
  local program64 = [[
    .globl _start
    _start: .cfi_startproc
      .cfi_undefined x30
      bl frame
      nop
      .cfi_endproc
    frame: .cfi_startproc
      stp x29, x30, [sp, #-16]!
      .cfi_def_cfa_offset 16
      .cfi_offset 29, -16
      .cfi_offset 30, -8
      bl leaf
      ldp x29, x30, [sp], #16
      ret
      .cfi_endproc
    leaf: .cfi_startproc
      nop
      ret
      .cfi_endproc
  ]]
  local tree, build_id, code

  setup(function()
    if not select(2, files.output "command -v clang ld.lld >/dev/null") then
      return
    end
    tree = binaries.tree()
    tree:write("a.s", program64)
    tree:sh "clang --target=aarch64-linux-gnu -nostdlib -static -fuse-ld=lld -Wl,--build-id -o a a.s"
    build_id, code = tree:build_id "a", {}
    local base = tonumber(tree:sh("readelf -lW a"):match "LOAD%s+0x0+%s+(%x+x%x+)")
    for address, symbol in tree:sh("nm a"):gmatch "(%x+) %a (%S+)" do
      code[symbol] = tonumber(address, 16) - base
    end
    local offset, from = tree:sh("readelf -lW a"):match "LOAD%s+(0x0*[1-9a-f]%x*)%s+(0x%x+)"
    code.shift = 0x400000 - (tonumber(from) - base) + tonumber(offset)
  end)

  local function recorded64(event, sample)
    local b = builder.new()
    event.sample_type[#event.sample_type + 1] = "regs_user"
    event = b:event(event)
    b:feature("arch", "aarch64")
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x100000, prot = 5, flags = 2,
      misc = 2 | 1 << 14, build_id = build_id, filename = tree.path .. "/a" })
    sample.pid, sample.time = 7, 1
    b:sample(event, sample)
    return b:write()
  end

  it("has frames of the stack and of the link register", function()
    if not tree then
      return pending "clang and lld are not installed"
    end
    local regs = { abi = 2 }
    for i = 1, 33 do
      regs[i] = 0
    end
    local shift = code.shift
    regs[31], regs[32], regs[33] = shift + code.frame + 8, 0x7ffe0000, shift + code.leaf
    local path = recorded64({
      sample_type = { "ip", "tid", "time", "callchain", "stack_user" },
      sample_regs_user = 0x1ffffffff, sample_stack_user = 16,
    }, {
      ip = shift + code.leaf, callchain = {}, regs_user = regs,
      -- the upper bits sign the address
      stack_user = string.pack("<I8I8", 0, shift + code._start + 4 | 0x2a << 56),
    })
    assert.same({ shift + code.leaf, shift + code.frame + 7, shift + code._start + 3 }, binaries.chain(path))
  end)

  it("has the caller of a leaf, which frame pointers leave out", function()
    if not tree then
      return pending "clang and lld are not installed"
    end
    local shift = code.shift
    local function chain(ip)
      return binaries.chain(recorded64({
        sample_type = { "ip", "tid", "time", "callchain" }, sample_regs_user = 1 << 30,
      }, {
        ip = ip, callchain = { USER, ip, shift + code._start + 4 },
        regs_user = { abi = 2, shift + code.frame + 8 },
      }))
    end
    assert.same({ shift + code.leaf, shift + code.frame + 7, shift + code._start + 4 }, chain(shift + code.leaf))
    assert.same({ shift + code.frame + 4, shift + code._start + 4 }, chain(shift + code.frame + 4))
  end)
end)
