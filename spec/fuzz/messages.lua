-- Inputs for message.c: print fmts for its own fields and a whole format file, each with a
-- sample's raw data.

local fmts = {
  [["%d %u %x %hd %hhu", REC->i, (unsigned int)REC->b, REC->h, REC->h, REC->b]],
  [["l=%lu p=%p %#lx %016llx", REC->l, (void *)REC->p, REC->l, (unsigned long long)REC->l]],
  [["%s %s %-8s|%3s", REC->c, __get_str(s), __get_rel_str(r), REC->p]],
  [["%.*s %*d", (int)REC->b, __get_str(s), REC->b, REC->i]],
  [["%pS %ps %pF", (void *)REC->l, (void *)REC->p, REC->l]],
  [["%pM %pI4 %pI6 %pI6c %pU %pUB", REC->m, REC->q, REC->u, REC->u, REC->u, REC->u]],
  [["%pISpc %*ph %phC", __get_sockaddr(s), 4, __get_dynamic_array(d), __get_dynamic_array(s)]],
  [["%s", __print_flags(REC->i & ~(1 << 3), "|", { 1, "A" }, { (1UL << 1), "B" }, {( unsigned long)(4|8), "C" "D" })]],
  [["%s", __print_symbolic(REC->h >> 2, { 0, "none" }, { -1, "minus" }, { HI_SOFTIRQ, "x" }, { 0, ((void *)0) })]],
  [["%s %s", __print_hex(REC->m, 6), __print_hex_str(__get_dynamic_array(d), __get_dynamic_array_len(d))]],
  [["%s", __print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / sizeof(u32), sizeof(u32))]],
  [["%s", __print_array(REC->a, REC->b, 4)]],
  [["%s %s", __get_cpumask(k), __get_bitmask(k)]],
  [["%u %u %u", REC->a[0], REC->a[REC->b], ((u32 *)__get_dynamic_array(d))[(REC->b + 1)]]
    .. "]",
  [["%s %d", REC->i > 0 ? "yes" : REC->b == 2 ? "two" : "no", REC->i ? REC->a[1] : REC->a[2] + 3]],
  [["%lu %d", (jiffies - REC->l) / 250, !REC->b && REC->h % 64]],
  [["%d", __builtin_expect(!!(REC->i), 0) ? -REC->i : ~REC->b ^ 1]],
  [["a\tb\n%%%c" " and %s", 'x', "text"]],
}

local file =
  "name: x\nID: 7\nformat:\n"
    .. "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
  .. "\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
  .. "\tfield:__u8 x[4];\toffset:16;\tsize:4;\tsigned:0;\n"
  .. "\nprint fmt: \"%s %x\", REC->s, REC->x[3]\n"

-- 108 bytes of fields, then what the last four say lies after them
local function raw(order)
  local fixed = string.pack(order .. "I2I2i4BxhiI8I8", 7, 0, 3, 2, -3, 5, 0x1001, 0x55)
  return fixed .. ("text\0"):rep(3) .. "\0" .. ("\1\2"):rep(4) .. ("\10\0\0\1"):rep(5)
    .. string.pack(order .. "I4I4I4I4I4I4I4I4", 1, 2, 3, 4, 108 | 8 << 16, 16 | 8 << 16,
      124 | 8 << 16, 132 | 8 << 16)
    .. "dynamic\0relative" .. string.pack(order .. "I4I4I8", 7, 9, 0xf5)
    .. "\n0x55 : \"printk\\n\"\n"
end

local seeds = {}
for i, fmt in ipairs(fmts) do
  for flags = 4, 7 do
    seeds[("fmt-%d-%d"):format(i, flags)] = string.pack("<Bs4", flags, fmt)
      .. raw(flags & 1 == 1 and ">" or "<")
  end
end
seeds.file = string.pack("<Bs4", 0, file) .. raw "<"

return seeds
