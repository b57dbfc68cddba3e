-- The message of a tracepoint's sample: what perf script prints of it.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local messages = require "spec.support.messages"
local perflua = require "perflua"

-- print fmt, what it makes of these values; newer: perf 6.1 cannot read it, or goes wrong with
-- it
local formats = {
  { [["b=%u h=%d i=%d v=%llu", REC->b, REC->i, -REC->i, REC->v]], "b=3 h=5 i=-5 v=77" },
  { [["%08x|%#x|%5d|%-5d|%o", REC->i, REC->i, REC->i, REC->i, 8]],
    "00000005|0x5|    5|5    |10" },
  { [["%s %s %s", REC->c, __get_str(s), __get_rel_str(r)]], "text dynamic relative" },
  { [["%.*s|%-9s|%.2s", (int)REC->b, __get_str(s), REC->c, REC->c]], "dyn|text     |te" },
  { [["%s", REC->p]], "printk" },
  { [["%pM %pI4 %pI6c", REC->mac, REC->ip, REC->ip6]], "01:02:03:0a:0b:0c 127.0.0.1 fe80::1" },
  { [["%s", __print_flags(REC->i, "|", { 1, "A" }, { (1UL << 1), "B" }, {( u64)4, "C" "D" })]],
    "A|CD" },
  { [["%s", __print_flags(REC->i, "", { 1, "A" }, { 0, ((void *)0) })]], "A0x4" },
  { [["%s %s", __print_symbolic(REC->i, { 5, "five" }), __print_symbolic(REC->b, { 5, "five" })]], "five 0x3" },
  { [["%s", __print_symbolic(REC->b, { BLOCK_SOFTIRQ, "block" }, { NET_RX_SOFTIRQ, "rx" })]],
    "rx" },
  { [["%s %s", __print_hex(REC->mac, 3), __print_hex_str(REC->mac, REC->b)]],
    "01 02 03 010203" },
  { [["%s", __get_cpumask(mask)]], "0,2,4-7", newer = true },
  { [["%u %u %u", REC->a[0], REC->a[REC->b], REC->i ? REC->a[1] : REC->a[2] ]], "11 44 22",
    newer = true },
  { [["%s", REC->b ? "yes" : "no"]], "yes" },
  { [["%d %d %d", REC->v / 10, (REC->v >> 2) & 3, REC->v % 10 + 1]], "7 3 8" },
  { [["%d", __builtin_expect(!!(REC->i), 0)]], "1" },
  { [["a\tb" " %% and" " c"]], "a\tb % and c" },
  { [["size %d %d", (int)sizeof(REC->mac), (int)sizeof(u64)]], "size 6 8", newer = true },
  { [["%lx %p", REC->l, (void *)REC->l]], "1001 0x1001" },
  { [["%p %lx", (void *)(REC->l << 32), REC->l << 32]], "0x100100000000 100100000000" },
  { [["no arguments"]], "no arguments" },
  -- operators are grouped as perf groups them, not as C does
  { [["%d %d %d", REC->i - 2 - 1, REC->i * (REC->b + 1), REC->i - REC->b * 2 + 1]], "4 16 -2" },
  { [["%d %d", 4 % (2 - 2), REC->i / (REC->i - 5)]], "-2 -4" },
  { [["%d %x %d", REC->h, REC->h, (s8)REC->h]], "65534 fffe 254" }, -- no sign is extended
  { [["%-6.3d|%06d|%.0d|%5.3x|%#o|%X|%hhd|%hu|%zu", REC->i, -7, 0, 10, 8, 171, 300, -1, REC->v]],
    "005   |-00007||  00a|010|AB|44|65535|77" },
  { [["%*d|%-*d|%.*d", 4, REC->i, 4, REC->i, 3, REC->i]], "   5|5   |005" },
  { [["%8s|%-4s|", __print_symbolic(REC->i, { 5, "five" }), __print_flags(REC->i, "|", { 1, "A" }, { 4, "C" })]],
    "    five|A   |C   |" },
  { [["%s|%s|%s", __print_symbolic(REC->b, { 1 + 2, 7 }), (char *)__get_str(s), REC->b & 1 ? REC->c : "x"]],
    "7||text" },
  { [["%pm %pMF %pMR %pI4l %pi4 %pi6", REC->mac, REC->mac, REC->mac, REC->ip, REC->ip, REC->ip6]],
    "0102030a0b0c 01-02-03-0a-0b-0c 0c:0b:0a:03:02:01 1.0.0.127 127.000.000.001 "
      .. "fe800000000000000000000000000001" },
  { [["%pU %pUL %pM %pI6", REC->ip6, REC->ip6, REC->ip, REC->i]],
    "fe800000-0000-0000-0000-000000000001 000080FE-0000-0000-0000-000000000001 INVALIDMAC "
      .. "INVALIDIPv6" },
  { [["%pS %ps %p %p", REC->v, REC->v, REC->v, 0]], "0x4d 0x4d 0x4d (nil)" },
  { [["%s", __get_bitmask(mask)]], "00000000,000000f5" },
  { [["%*phC|%ph", __get_dynamic_array_len(s), __get_dynamic_array(s), __get_dynamic_array(s)]],
    "64:79:6e:61:6d:69:63:00|64" },
  { [["%s", __print_array(REC->mac, 3, 1)]], "{0x1,0x2,0x3}", newer = true },
  { [["%c%c|%*c", 'x', REC->i + 60, 3, 65]], "xA|  A", newer = true },
  { [["%+d", REC->i]], "+5", newer = true },
  { [["%d", __get_rel_dynamic_array_len(r)]], "9", newer = true },
}

describe("the message of a sample", function()
  for _, endian in ipairs { "little", "big" } do
    it("is what its print fmt makes of its fields, " .. endian .. "-endian", function()
      local got = messages.of(messages.recording(formats, { endian = endian }))
      for i, one in ipairs(formats) do
        assert.are.equal(one[1] .. "\n" .. one[2], one[1] .. "\n" .. got[i])
      end
    end)
  end

  it("knows longs of four bytes", function()
    local list = { { [["%lx %s %ld %lld", REC->l, REC->c, -REC->l, -REC->v]] },
      { [["%s", REC->p]] } }
    local got = messages.of(messages.recording(list, { endian = "little", long_size = 4 }))
    assert.are.same({ "1001 text -4097 -77", "printk" }, got)
  end)

  it("says that the format could not be read, as perf does", function()
    local got = messages.one { [["%d", unknown_function(REC->i)]] }
    assert.are.equal("[FAILED TO PARSE]" .. messages.plain, got:sub(1, #messages.plain + 17))
  end)

  it("is the fields that are there when the data is short", function()
    local got = messages.one { [["%d", REC->i]], cut = 16 }
    assert.are.equal(" b=3 h=-2 i=5", got)
  end)

  it("is nil without a format", function()
    local b = require("spec.support.builder").new()
    local event = b:event { type = 2, config = 5, sample_type = { "ip", "tid", "time", "raw" } }
    b:sample(event, { ip = 0, pid = 7, tid = 7, time = 1, raw = ("\0"):rep(12) })
    assert.are.same({ false }, messages.of(files.temporary(b:bytes())))
  end)

  it("can be asked for in queries", function()
    local list = { { [["one %s", REC->c]] }, { [["two %s", REC->c]] },
      { [["one %s", REC->c]] } }
    local file <close> = assert(perflua.open(messages.recording(list)))
    assert.are.equal(2, file:samples():where("find(message, 'one text')"):count())
    local seen = {}
    for message in file:samples():select("message") do seen[#seen + 1] = message end
    assert.are.same(messages.of(messages.recording(list)), seen)
    assert.are.equal(2, #file:samples():all_events():group_by("message"):count():collect())
  end)
end)

local function of_perf(path)
  local list = {}
  for line in files.lines(("perf script -F trace -f -i %s 2>/dev/null"):format(
      files.quote(path))) do
    list[#list + 1] = line
  end
  return list
end

needs.describe("perf", "what perf prints", function()
  it("is the message", function()
    local old = {}
    for _, one in ipairs(formats) do
      if not one.newer then old[#old + 1] = one end
    end
    old[#old + 1] = { [["%d", unknown_function(REC->i)]] }
    local path = messages.recording(old)
    local theirs, ours = of_perf(path), messages.of(path)
    assert.are.equal(#old, #theirs)
    for i, one in ipairs(old) do
      assert.are.equal(one[1] .. "\n" .. theirs[i], one[1] .. "\n" .. ours[i])
    end
  end)
end)
