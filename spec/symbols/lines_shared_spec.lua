-- Debug information that several files share: dwz moves it to a file of its own.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local perflua = require "perflua"

-- A function "moved" that others say is theirs; its entry is 12 bytes from the start.
local SHARED = [[
	.section .debug_abbrev, ""
	.uleb128 1, 0x3c; .byte 1; .uleb128 0, 0
	.uleb128 2, 0x2e; .byte 0; .uleb128 3, 8, 0, 0
	.byte 0
	.section .debug_info, ""
	.long .Lend - .Lafter
.Lafter: .short 4
	.long 0
	.byte 8
	.uleb128 1
	.uleb128 2; .asciz "moved"
	.byte 0
.Lend:
]]

local PROGRAM = [[
	.text
	.globl _start
	.type _start, @function
_start:	.fill 64, 1, 0x90
	.size _start, .-_start
	.section .debug_abbrev, ""
	.uleb128 1, 0x11; .byte 1; .uleb128 0x11, 1, 0x12, 6, 0, 0
	.uleb128 2, 0x2e; .byte 1; .uleb128 3, 8, 0x11, 1, 0x12, 6, 0, 0
	.uleb128 3, 0x1d; .byte 0; .uleb128 0x31, 0x1f20, 0x11, 1, 0x12, 6, 0, 0
	.byte 0
	.section .debug_info, ""
	.long .Lend - .Lafter
.Lafter: .short 4
	.long 0
	.byte 8
	.uleb128 1; .quad _start; .long 64
	.uleb128 2; .asciz "kept"; .quad _start; .long 64
	.uleb128 3; .long 12; .quad _start; .long 64
	.byte 0, 0
.Lend:
	.section .gnu_debugaltlink, ""
	.asciz "%s"
	.byte %s
]]

describe("debug information that files share", function()
  local function found(name, place, other)
    local tree = binaries.tree()
    tree:write("shared.s", SHARED)
    tree:sh "gcc -nostdlib -shared -Wl,--build-id -o shared shared.s"
    local id = tree:build_id("shared"):gsub("%x%x", "0x%0, "):sub(1, -3)
    if other then
      id = id:gsub("^0x%x%x", "0xff")
    end
    tree:write("x.s", PROGRAM:format(name:gsub("^/", tree.path .. "/"), id))
    tree:sh("gcc -nostdlib -static -no-pie -Wl,--build-id -o x x.s\nmkdir -p sub\n"
      .. (place or "true"))
    local b = binaries.of_here(builder.new())
    local event = b:event { name = "cpu-clock", type = 1,
      sample_type = { "ip", "tid", "time", "callchain" } }
    local ip = 0x400000 + tree:symbols "x"._start
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x100000, prot = 5, flags = 2,
      misc = 2,
      filename = tree.path .. "/x" })
    b:sample(event, { ip = ip, pid = 7, tid = 7, time = 1, callchain = { -512, ip } })
    local file <close> = assert(perflua.open(b:write()))
    local frame = file:samples():first().callchain[1]
    return frame.inlined and (frame.inlined[1].symbol or "unknown")
  end

  it("is found where the file says it is", function()
    assert.equal("moved", found "shared")
    assert.equal("moved", found("sub/shared", "mv shared sub"))
    assert.equal("moved", found "/shared")
  end)

  it("is not taken of another file", function()
    assert.equal("unknown", found("shared", nil, true))
    assert.equal("unknown", found("/shared", nil, true))
  end)

  it("is not known when the file is not there", function()
    assert.equal("unknown", found("gone"))
    assert.equal("unknown", found("/gone"))
  end)

  it("is not waited for", function()
    assert.equal("unknown", found("sub/pipe", "mkfifo sub/pipe"))
    assert.equal("unknown", found("/sub/pipe", "mkfifo sub/pipe"))
  end)
end)
