-- Inputs to begin with of tracepoints: tracing data, formats with raw data, and recordings of
-- both.
local tracing = require "spec.support.builder_tracing"

local fields = {
  { "char", "comm", count = 16 }, { "pid_t", "pid" }, { "long", "state" }, { "void *", "p" },
  { "u64", "v" },
  { "unsigned long", "args", count = 6 }, { "u8", "mac", count = 6, symbol = "ETH_ALEN" },
  { "__data_loc char[]", "name" }, { "__rel_loc char", "rel", brackets = "[]" },
  { "__data_loc cpumask_t", "mask" },
  { "__data_loc u32[]", "list", kind = "u32" }, { "__data_loc u8[]", "addr", kind = "u8" },
  { "__data_loc unsigned long[]", "bits", kind = "ul" },
  { "__data_loc char[]", "short", short = true },
  { "int", "a", decl = "int __attribute__((user)) a" },
  { "unsigned long", "rest", rest = true },
}

local print_fmt =
  '"comm=%s name=%s %s %pISpc", REC->comm, __get_str(name), __get_bitmask(bits), '
    .. '__get_sockaddr(addr)'

local values = {
  comm = "sh", pid = -1, state = 2, p = 0x1000, v = -1, args = { 1, 2, 3, 4, 5, 6 },
  mac = { 1, 2, 3, 4, 5, 6 },
  name = "name", rel = "relative", mask = { 5 }, list = { 1, 2, 3 },
  addr = "\2\0\0\80\127\0\0\1", bits = { 3 },
  short = "short", rest = { 7, 8 },
}

--- Every form of field at once, and some of them alone.
local function each_form(t)
  local all = t:event("sys", "all", { id = 7, fields = fields, print_fmt = print_fmt })
  local list = { all }
  for i, field in ipairs(fields) do
    list[#list + 1] = t:event("one", "e" .. i,
      { id = 7 + i, fields = { field }, print_fmt = print_fmt })
  end
  return list
end

--- Writes them with write(target, name, bytes).
return function(write)
  write("tracing", "empty", "\x17\x08\x44tracing0.6\0")
  for i, endian in ipairs { "little", "big" } do
    for _, long_size in ipairs { 4, 8 } do
      local name = endian .. long_size
      local t = tracing.new {
        endian = endian, long_size = long_size, ftrace = { "name: f\n" }, kallsyms = "1 T a\n",
        cmdlines = "7 sh\n",
        printk_formats = '0x1 : "a"\n', version = long_size == 4 and "0.5" or "0.6",
      }
      local list = each_form(t)
      write("tracing", name, t:bytes())
      write("feature", "tracing_data" .. name, "\0" .. string.char(i - 1) .. t:bytes())
      for k, event in ipairs(list) do
        local raw = t:raw(event, values)
        local bytes = string.char(i - 1 | (long_size == 4 and 2 or 0)) .. event.format .. "\0"
        for _, n in ipairs { #raw, #raw // 2 } do
          bytes = bytes .. string.char(n) .. raw:sub(1, n)
        end
        write("args", name .. k, bytes)
      end
      for _, container in ipairs { "file", "pipe" } do
        local b, events = t:recording { container = container }
        for k, event in ipairs(list) do
          b:sample(events[k], { time = k, raw = t:raw(event, values) })
        end
        write(container, "tracepoints-" .. name, b:bytes())
      end
    end
  end
end
