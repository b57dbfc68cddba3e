-- Recordings of tracepoints with a print fmt each, and the messages of their samples.
local files = require "spec.support.files"
local perflua = require "perflua"
local tracing = require "spec.support.builder_tracing"

local messages = {}

messages.fields = {
  { "u8", "b" }, { "short", "h" }, { "int", "i" }, { "unsigned long", "l" },
  { "const char *", "p" },
  { "u64", "v" }, { "char", "c", count = 16 }, { "u8", "mac", count = 6 },
  { "u8", "ip", count = 4 },
  { "u8", "ip6", count = 16 }, { "u32", "a", count = 4 }, { "__data_loc char[]", "s" },
  { "__rel_loc char[]", "r" }, { "__data_loc u32[]", "d", kind = "u32" },
  { "__data_loc cpumask_t", "mask" },
}

messages.values = {
  b = 3, h = -2, i = 5, l = 0x1001, p = 0x55, v = 77, c = "text",
  mac = { 1, 2, 3, 0xa, 0xb, 0xc },
  ip = { 127, 0, 0, 1 }, ip6 = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
  a = { 11, 22, 33, 44 },
  s = "dynamic", r = "relative", d = { 7, 9 }, mask = { 0xf5 },
}

---Text of these values without a print fmt, but for what follows the first fields.
messages.plain = " b=3 h=-2 i=5 l=0x1001 p=0x55 v=77 c=text mac=ARRAY[01, 02, 03, 0a, 0b, 0c]"

--- A recording of one sample for each of a list: { print fmt, values = others than those, cut =
--- bytes of raw data }.
function messages.recording(list, options)
  local t = tracing.new(options)
  t.printk_formats = '0x55 : "printk\\n"\n0x56 : ""\nnone\n0x57'
  for i, one in ipairs(list) do
    t:event("test", "e" .. i, { id = 100 + i, fields = messages.fields, print_fmt = one[1] })
  end
  local b, events = t:recording(options)
  for i, event in ipairs(events) do
    local values = setmetatable(list[i].values or {}, { __index = messages.values })
    local raw = t:raw(t.events[i], values)
    if list[i].cut then raw = raw:sub(1, list[i].cut) end
    b:sample(event, { ip = 0, pid = 7, tid = 7, time = 1000 + i, cpu = 0, period = 1,
      raw = raw })
  end
  return files.temporary(b:bytes())
end

--- The messages of all samples; false for nil.
function messages.of(path)
  local file <close> = assert(perflua.open(path))
  local list = {}
  for s in file:samples() do
    list[#list + 1] = s.message or false
  end
  return list
end

--- The message of one sample.
function messages.one(one, options)
  return messages.of(messages.recording({ one }, options))[1]
end

return messages
