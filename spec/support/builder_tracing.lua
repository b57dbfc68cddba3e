-- Tracing data and the raw data of tracepoints' samples, in either byte order, with longs of 4
-- or 8 bytes.
--
--   local t = tracing.new { endian = "big", long_size = 4 }
--   local switch = t:event("sched", "sched_switch", {
--     fields = { { "char", "prev_comm", count = 16 }, { "pid_t", "prev_pid" },
--       { "__data_loc char[]", "name" } },
--   })
--   t:bytes()   -- of the feature, or of the payload of a record 66
--   t:raw(switch, { prev_comm = "sh", prev_pid = 7, name = "x" }) -- of a sample
--   local b, events = t:recording { container = "pipe" }      -- a builder that has all of it
--
-- Written from trace_event_read_header and what is around it in
-- tools/perf/util/trace-event-info.c, and from include/trace/stages/ of the kernel; it shares
-- nothing with the reader it tests.
local builder = require "spec.support.builder"
local pack = require "spec.support.builder_pack"

local tracing = {}

local Tracing = {}
Tracing.__index = Tracing

-- C's types: signed or not, and bytes; "l" is a long.
local kinds = {
  char = "s8", ["signed char"] = "s8", ["unsigned char"] = "u8", bool = "u8", u8 = "u8",
  s8 = "s8", __u8 = "u8",
  short = "s16", ["unsigned short"] = "u16", u16 = "u16", s16 = "s16",
  int = "s32", pid_t = "s32", ["unsigned int"] = "u32", unsigned = "u32", u32 = "u32",
  s32 = "s32", dev_t = "u32",
  long = "sl", ["unsigned long"] = "ul", size_t = "ul",
  ["long long"] = "s64", ["unsigned long long"] = "u64", u64 = "u64", s64 = "s64",
  sector_t = "u64",
  cpumask_t = "ul",
}

local common = {
  { "unsigned short", "common_type" }, { "unsigned char", "common_flags" },
  { "unsigned char", "common_preempt_count" }, { "int", "common_pid" },
}

-- Returns header_page of the kernel, whose `commit` has the size of the kernel's long.
local function header_page(long_size)
  return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    .. ("\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"):format(long_size)
    .. ("\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n")
    .. ("\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n"):format(8 + long_size,
      4096 - 8 - long_size)
end

--- options: endian ("little"), long_size (8), page_size (4096), version ("0.6"), header_page,
--- header_event, ftrace (format texts), kallsyms, printk_formats, cmdlines (texts).
function tracing.new(options)
  local t = setmetatable({ endian = "little", long_size = 8, page_size = 4096,
    version = "0.6" }, Tracing)
  for k, v in pairs(options or {}) do
    t[k] = v
  end
  t.w = pack.writer(t.endian)
  t.header_page = t.header_page or header_page(t.kernel_long_size or t.long_size)
  t.header_event = t.header_event or "# compressed entry header\n\ttype_len    :    5 bits\n"
  t.ftrace, t.systems, t.events = t.ftrace or {}, {}, {}
  return t
end

--- A kind's writer and size.
function Tracing:kind(kind)
  kind = kind:gsub("l$", tostring(self.long_size * 8))
  return kind, tonumber(kind:match "%d+") // 8
end

-- One field with its place; `at` is where the field before ended.
local function place(t, how, at)
  local base = how[1]:gsub("^__data_loc ", ""):gsub("^__rel_loc ", ""):gsub("%[%]$",
    ""):gsub("^const ", "")
  local pointer = base:find("*", 1, true) ~= nil
  local kind, unit = t:kind(how.kind or pointer and "ul" or kinds[base] or "s32")
  local dynamic = how[1]:match "^__(%a+)_loc"
  local rest = how.rest or false
  local size = dynamic and (how.short and 2 or 4) or rest and 0 or unit * (how.count or 1)
  local align = dynamic and (how.short and 2 or 4) or unit
  local f = { name = how[2], kind = kind, unit = unit, dynamic = dynamic, rest = rest,
    count = how.count }
  f.size = size
  f.at = how.packed and at or at + -at % align
  f.signed = how.signed
  if f.signed == nil then
    f.signed = not dynamic and kind:sub(1, 1) == "s" and not (base == "char" and how.count)
  end
  f.text = how.text or base == "char" and (dynamic ~= nil or how.count ~= nil or rest)
  local brackets = how.brackets or how.count and ("[%s]"):format(how.symbol or how.count)
    or rest and "[]" or ""
  f.decl = how.decl or ("%s %s%s"):format(how[1], how[2], brackets)
  f.lie = how.lie or {}
  return f
end

--- A line of a format; lies about offset and size are for the text alone.
local function line(f)
  local offset, size = f.lie.offset or f.at, f.lie.size or f.size
  local signed = f.signed == "missing" and "" or ("\tsigned:%d;"):format(f.signed and 1 or 0)
  return f.lie.line or ("\tfield:%s;\toffset:%s;\tsize:%s;%s\n"):format(f.decl, offset, size,
    signed)
end

local function format_text(event, n_common)
  local out = { ("name: %s\nID: %s\nformat:\n"):format(event.name, event.id) }
  for i, f in ipairs(event.fields) do
    out[#out + 1] = (i == n_common + 1 and "\n" or "") .. line(f)
  end
  out[#out + 1] = "\nprint fmt: " .. event.print_fmt .. "\n"
  return table.concat(out)
end

--- Adds an event. how: id, fields (in order, each { type, name, count =, symbol = (of the
--- count), kind = ("u32", "sl" …), signed = (false, true or "missing"), brackets =, decl =,
--- rest = (all that is left), short = (a descriptor of 2 bytes), packed =, lie = { offset =,
--- size =, line = } }), common (fields before them), print_fmt, format (another text).
function Tracing:event(system, name, how)
  how = how or {}
  local event = { system = system, name = name, id = how.id or 300 + #self.events, fields = {} }
  event.print_fmt = how.print_fmt or '"' .. name .. '"'
  local at, before = 0, how.common or common
  for _, list in ipairs { before, how.fields or {} } do
    for _, field in ipairs(list) do
      local f = place(self, field, at)
      event.fields[#event.fields + 1] = f
      at = f.at + f.size
    end
  end
  event.size = at
  event.format = how.format or format_text(event, #before)
  if not self.systems[system] then
    self.systems[system] = {}
    self.systems[#self.systems + 1] = system
  end
  table.insert(self.systems[system], event)
  self.events[#self.events + 1] = event
  return event
end

---Writes the tracing data;
function Tracing:bytes(wrong)
  wrong = wrong or {}
  local w, out = self.w, {}
  local counts, sizes = wrong.counts or {}, wrong.sizes or {}
  local function put(...)
    for _, s in ipairs { ... } do
      out[#out + 1] = s
    end
  end
  put("\x17\x08\x44tracing", self.version, "\0",
    string.char(self.endian == "big" and 1 or 0, self.long_size))
  put(w:u32(self.page_size))
  put("header_page\0", w:u64(sizes.header_page or #self.header_page), self.header_page)
  put("header_event\0", w:u64(sizes.header_event or #self.header_event), self.header_event)
  put(w:u32(counts.ftrace or #self.ftrace))
  for _, text in ipairs(self.ftrace) do
    put(w:u64(#text), text)
  end
  put(w:u32(counts.systems or #self.systems))
  for _, system in ipairs(self.systems) do
    local events = self.systems[system]
    put(system, "\0", w:u32(counts.events or #events))
    for _, event in ipairs(events) do
      put(w:u64(sizes.format or #event.format), event.format)
    end
  end
  local kallsyms, printk = self.kallsyms or "", self.printk_formats or ""
  put(w:u32(sizes.kallsyms or #kallsyms), kallsyms)
  put(w:u32(sizes.printk_formats or #printk), printk)
  if self.version >= "0.6" then
    local cmdlines = self.cmdlines or ""
    put(w:u64(sizes.cmdlines or #cmdlines), cmdlines)
  end
  local bytes = table.concat(out)
  return wrong.truncate and bytes:sub(1, wrong.truncate) or bytes
end

-- The bytes of a value: text and raw bytes are strings, arrays are lists.
local function value_bytes(t, f, v)
  if type(v) == "string" then
    return f.text and f.dynamic and v .. "\0" or v
  elseif type(v) == "table" then
    return t.w:array(f.kind, v)
  end
  return t.w[f.kind](t.w, v)
end

local function place_bytes(out, at, bytes)
  for i = 1, #bytes do
    out[at + i] = bytes:sub(i, i)
  end
end

--- The raw data of a sample. values: by name; of a dynamic field also { descriptor = n }, which
--- is written as it is.
function Tracing:raw(event, values)
  values = setmetatable({ common_type = event.id }, { __index = values or {} })
  local out, after = {}, event.size
  for i = 1, event.size do
    out[i] = "\0"
  end
  for _, f in ipairs(event.fields) do
    local v = values[f.name]
    if f.dynamic then
      local descriptor = type(v) == "table" and v.descriptor
      local bytes = not descriptor and v and value_bytes(self, f, v) or ""
      local from = f.dynamic == "rel" and after - (f.at + f.size) or after
      place_bytes(out, after, bytes)
      after = after + #bytes
      descriptor = descriptor or f.size == 2 and from or from | #bytes << 16
      place_bytes(out, f.at, f.size == 2 and self.w:u16(descriptor) or self.w:u32(descriptor))
    elseif f.rest then
      place_bytes(out, after, value_bytes(self, f, v or ""))
    elseif v ~= nil then
      place_bytes(out, f.at, pack.chars(value_bytes(self, f, v), f.size))
    end
  end
  return table.concat(out)
end

--- A builder with the tracing data and an event of each of these tracepoints; options are the
--- builder's. Returns it, and the builder's events in the order of t.events.
function Tracing:recording(options, wrong)
  local own = { endian = self.endian }
  for k, v in pairs(options or {}) do
    own[k] = v
  end
  local b = builder.new(own)
  local list = {}
  for i, event in ipairs(self.events) do
    list[i] = b:event {
      name = event.system .. ":" .. event.name, type = 2, config = event.config or event.id,
      sample_period = 1,
      sample_type = own.sample_type
        or { "ip", "tid", "time", "cpu", "period", "raw", "identifier" },
      ids = { 100 + i },
    }
  end
  b:feature("tracing_data", self:bytes(wrong))
  return b, list
end

return tracing
