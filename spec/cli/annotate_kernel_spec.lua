-- perflua annotate of the kernel's code: from a kcore, changed while it was recorded.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local START <const> = 0xffffffff81000000 - (1 << 64)
local NOP <const>, JUMP <const> = "\x0f\x1f\x44\x00\x00", "\xe9\x01\x00\x00\x00"

-- Returns a kcore: an ELF file whose segment has this code at START.
local function kcore(code)
  return "\x7fELF\2\1\1" .. ("\0"):rep(9)
    .. string.pack("<I2I2I4I8I8I8I4I2I2I2I2I2I2", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    .. string.pack("<I4I4I8i8I8I8I8I8", 1, 5, 120, START, 0, #code, #code, 4096) .. code
end

-- Annotates `idle`, which has an instruction of five bytes, nop and ret, in a recording of
-- samples at {time, offset} and of text pokes { time, old, new } of it.
local function annotate(code, samples, pokes, ...)
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1, text_poke = #pokes > 0,
    sample_type = { "ip", "tid", "time" } }
  b:record("mmap", { pid = -1, tid = 0, addr = START, len = 0x2000000, pgoff = START,
    filename = "[kernel.kallsyms]_text", misc = 1 }, { pid = 0, tid = 0, time = 0 })
  for _, poke in ipairs(pokes) do
    b:record("text_poke", { addr = START + 0x10, old = poke[2], new = poke[3], misc = 1 },
      { pid = 0, tid = 0, time = poke[1] * 1000000000 })
  end
  for _, one in ipairs(samples) do
    b:sample(event, { ip = START + 0x10 + one[2], pid = 0, tid = 0, time = one[1] * 1000000000,
      misc = 1 })
  end
  local dir = files.directory {
    kallsyms = "ffffffff81000000 T _text\nffffffff81000010 T idle\nffffffff81000017 T next\n",
    kcore = kcore(("\xcc"):rep(16) .. code .. "\xcc\xcc"),
  }
  local got = run.perflua { "annotate", "--kallsyms", dir .. "/kallsyms", b:write(), "idle",
    ... }
  assert.same({ 0, "" }, { got.status, got.err })
  return got.out, dir
end

needs.describe("capstone", "perflua annotate of the kernel", function()
  it("reads its code from the kcore beside the symbols", function()
    local samples = { { 1, 0 }, { 2, 5 }, { 3, 6 } }
    local text, dir = annotate(NOP .. "\x90\xc3", samples, {}, "--stdio")
    assert.matches("# code: " .. dir .. "/kcore (x86-64)", text, 1, true)
    assert.matches("   33.33 :   ffffffff81000010:   nopl   (%rax, %rax)\n", text, 1, true)
    assert.matches("   33.33 :   ffffffff81000016:   retq", text, 1, true)
  end)

  it("shows code as it was at the last sample", function()
    local before, after = { { 1, 0 } }, { { 1, 0 }, { 6, 5 } }
    -- a kcore may be of before or after the change
    for _, code in ipairs { NOP .. "\x90\xc3", JUMP .. "\x90\xc3" } do
      local text = annotate(code, before, { { 5, NOP, JUMP } })
      assert.matches("100.00       nopl (%rax, %rax)\n", text, 1, true)
      text = annotate(code, after, { { 5, NOP, JUMP } })
      assert.matches(" 50.00     ↓ jmp  6\n", text, 1, true)
    end
  end)

  it("says what was changed", function()
    local pokes = { { 5, NOP, JUMP }, { 7, JUMP, NOP } }
    local text = annotate(NOP .. "\x90\xc3", { { 9, 0 } }, pokes)
    assert.matches("# changed at 5.000000 s, +0: 0f 1f 44 00 00 -> e9 01 00 00 00\n"
      .. "# changed at 7.000000 s, +0: e9 01 00 00 00 -> 0f 1f 44 00 00\n", text, 1, true)
    assert.matches("100.00       nopl (%rax, %rax)\n", text, 1, true)
  end)

  it("takes the part of a change that is in the function", function()
    local text = annotate(NOP .. "\x90\xc3", { { 9, 0 } },
      { { 5, NOP .. "\x90\xc3" .. "\xcc", JUMP .. "\xc3\x90" .. "\x90" } })
    assert.matches("↓ jmp  6\n.*← retq\n.* 6:   nop\n$", text)
  end)
end)
