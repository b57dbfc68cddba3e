-- perflua annotate of BPF programs, whose code the recording has itself.
local builder = require "spec.support.builder"
local builder_features = require "spec.support.builder_features"
local builder_pack = require "spec.support.builder_pack"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

local TAG <const>, NAME <const> = "c391adfe17dead0a", "bpf_prog_c391adfe17dead0a_count"
local START <const> = 0xffffffffc0025c28 - (1 << 64)
local CODE <const> = "\x55\x48\x89\xe5\x31\xc0\xc9\xc3" -- push, mov, xor, leave, ret
local STRINGS <const> = "\0/src/count.bpf.c\0int count(void *ctx)\0\treturn 0;\0"

-- Returns the features of a program of two functions, of which the second is `count`.
-- changes: what differs.
local function program_of(changes)
  local w = builder_pack.writer "little"
  local first = "\x90\xc3"
  local data = { first .. CODE, w:u64(START - 0x40) .. w:u64(START),
    w:u32(#first) .. w:u32(#CODE),
    w:u32(0) .. w:u32(1) .. w:u32(18) .. w:u32(3 << 10 | 1)
      .. w:u32(2) .. w:u32(1) .. w:u32(39) .. w:u32(4 << 10 | 9),
    w:u64(START) .. w:u64(START + 4), ("\0"):rep(8) .. builder_pack.unhex(TAG) }
  local at, offset = {}, 0
  for i, bytes in ipairs(data) do at[i], offset = offset, offset + #bytes end
  local fields = { type = 1, id = 98, tag = TAG, jited_prog_len = #data[1],
    jited_prog_insns = at[1], nr_jited_ksyms = 2, jited_ksyms = at[2], nr_jited_func_lens = 2,
    jited_func_lens = at[3], btf_id = 5, nr_line_info = 2, line_info = at[4],
    line_info_rec_size = 16, nr_jited_line_info = 2, jited_line_info = at[5],
    jited_line_info_rec_size = 8, nr_prog_tags = 2, prog_tags = at[6], name = "count" }
  for name, value in pairs(changes or {}) do fields[name] = value end
  local arrays = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8
  return { { info = builder_features.bpf_info(w, fields), data = table.concat(data),
    arrays = arrays } }
end

local function btf()
  local w = builder_pack.writer "little"
  return w:u16(0xeb9f) .. "\1\0" .. w:u32(24) .. w:u32(0) .. w:u32(0) .. w:u32(0)
    .. w:u32(#STRINGS) .. STRINGS
end

-- A recording of samples at offsets in the program.
local function recorded(options)
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1, ksymbol = true, bpf_event = true,
    sample_type = { "ip", "tid", "time" } }
  b:feature("arch", options.arch or "x86_64")
  b:feature("bpf_prog_info", options.programs or program_of())
  b:feature("bpf_btf", { { id = 5, data = options.btf or btf() } })
  b:record("ksymbol", { addr = START, len = #CODE, ksym_type = 1, name = NAME, misc = 1 },
    { pid = 0, tid = 0, time = 1 })
  for i, offset in ipairs { 0, 4, 4, 6 } do
    b:sample(event, { ip = START + offset, pid = 0, tid = 0, time = 1 + i, misc = 1 })
  end
  return b:write()
end

local function annotate(...)
  local got = run.perflua { "annotate", ... }
  assert.same({ 0, "" }, { got.status, got.err })
  return got.out
end

needs.describe("capstone", "perflua annotate of a BPF program", function()
  it("shows its instructions and source lines", function()
    assert.are.equal([[
# code: the recording itself (x86-64), tag c391adfe17dead0a
# lines: the recording itself
Samples: 4  of event 'cpu-clock', Event count (approx.): 4, [percent: local period]
bpf_prog_c391adfe17dead0a_count() bpf_prog_c391adfe17dead0a_count
Percent
           bpf_prog_c391adfe17dead0a_count():
           int count(void *ctx)
 25.00       pushq %rbp
             movq  %rsp, %rbp
           return 0;
 50.00       xorl  %eax, %eax
 25.00       leave
           ← retq
]], annotate(recorded {}))
  end)

  it("has them in scripts", function()
    local file <close> = assert(perflua.open(recorded {}))
    local listing = assert(file:annotate(NAME))
    assert.are.same({ 5, "tag " .. TAG, START }, { #listing, listing.proof, listing.address })
    assert.are.same({ "/src/count.bpf.c", 4, "count.bpf.c:4", "xorl %eax, %eax" },
      { listing[3].path, listing[3].number, listing[3].srcline, listing[3].text })
  end)

  it("has no lines without type information that has them", function()
    for name, data in pairs { none = "", cut = btf():sub(1, 30), other = ("\0"):rep(60) } do
      local text = annotate(recorded { btf = data })
      assert.matches(" 50.00       xorl  %eax, %eax\n", text, 1, true)
      assert.is_nil(text:find("return 0", 1, true), name)
    end
  end)

  it("says that the code is not there, or is of another program", function()
    for name, changes in pairs {
      ["another tag"] = { prog_tags = 0 },
      ["another address"] = { nr_jited_ksyms = 1 },
      ["no code"] = { jited_prog_len = 0 },
    } do
      local text = annotate(recorded { programs = program_of(changes) })
      assert.matches("# no instructions: the recording does not have the code of this "
        .. "program\n", text, 1, true, name)
    end
    assert.matches("# no instructions: the recording does not have",
      annotate(recorded { arch = "vax" }), 1, true)
  end)
end)
