-- Writes perf.data files: any event, record, sample and feature, in either byte order, whole or
-- wrong.
--
--   local b = builder.new { endian = "big" }
--   local cycles = b:event { name = "cycles", sample_type = { "ip", "tid", "time" },
--     ids = { 1 } }
--   b:feature("hostname", "here")
--   b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 5 })
--   b:sample(cycles, { ip = 0x1000, pid = 7, time = 9 })
--   local path = b:write()
--
-- It is written from the kernel's and perf's own definitions and shares nothing with the reader
-- it tests.
local attr = require "spec.support.builder_attr"
local features = require "spec.support.builder_features"
local files = require "spec.support.files"
local pack = require "spec.support.builder_pack"
local records = require "spec.support.builder_records"
local sample = require "spec.support.builder_sample"

local builder = {}

local Builder = {}
Builder.__index = Builder

local HEADER = 104

--- options: endian ("little"), attr_size (128; 64 in version 1), version (2, or 1 for
--- PERFFILE), container ("file", "pipe" or "directory"), long_size (8: words of the feature
--- bitmap), event_desc (false: no such feature of its own).
function builder.new(options)
  local b = setmetatable({ endian = "little", version = 2, container = "file", long_size = 8 },
    Builder)
  for k, v in pairs(options or {}) do
    b[k] = v
  end
  b.attr_size = b.attr_size or b.version == 1 and 64 or 128
  b.w = pack.writer(b.endian)
  b.events, b.stream, b.sections, b.event_types, b.more = {}, {}, {}, {}, {}
  return b
end

--- Adds an event: any member or flag of perf_event_attr by its kernel name; sample_type,
--- read_format and branch_sample_type may be lists of names. ids defaults to one of its own.
function Builder:event(members)
  local event = {}
  for k, v in pairs(members) do
    event[k] = v
  end
  event.sample_type = attr.mask(attr.sample_bits, members.sample_type
    or { "ip", "tid", "time" })
  event.read_format = attr.mask(attr.read_bits, members.read_format)
  event.branch_sample_type = attr.mask(attr.branch_bits, members.branch_sample_type)
  event.attr_size = members.attr_size or self.attr_size
  event.sample_id_all = members.sample_id_all ~= false
  event.ids = members.ids or { 100 + #self.events }
  self.events[#self.events + 1] = event
  event.index = #self.events
  return event
end

--- Adds a feature by name, or by number with its bytes.
function Builder:feature(name, value)
  self.sections[features.bit(name)] = { name = name, value = value }
  return self
end

local function add(b, bytes, extra)
  b.stream[#b.stream + 1] = { bytes = bytes, extra = extra or "" }
  return b
end

--- A record of any bytes; size is theirs unless given, extra follows outside of it.
function Builder:raw(type, misc, body, size, extra)
  local w = self.w
  return add(self, w:u32(type) .. w:u16(misc) .. w:u16(size or 8 + #body) .. body, extra)
end

--- A record by name. id: the values of its sample_id trailer (of id.event, else the first
--- event); nil writes the zeros perf writes for records it makes itself.
function Builder:record(name, fields, id)
  fields = fields or {}
  local event = id and id.event or fields.event or self.events[1]
  local how, misc, body, extra = records.pack(self.w, name, fields, event)
  if how.kernel and event and event.sample_id_all then
    body = body .. sample.trailer(self.w, event, id)
  end
  return self:raw(how.id, misc, body, nil, extra)
end

--- A sample of an event; see builder_sample for the parts. values.misc: 2 (user) unless given.
function Builder:sample(event, values)
  local body = sample.body(self.w, event, values or {})
  return self:raw(9, values and values.misc or 2, body)
end

--- The bytes of the records that fill(b) adds, which the recording is without: for what goes
--- into a compressed record.
function Builder:apart(fill)
  local own, out = self.stream, {}
  self.stream = {}
  fill(self)
  for i, r in ipairs(self.stream) do
    out[i] = r.bytes .. r.extra
  end
  self.stream = own
  return table.concat(out)
end

--- Puts the records that fill(b) adds into the file data.n beside this one, which is then
--- `data` of a directory.
function Builder:beside(n, fill)
  self.more[n] = (self.more[n] or "") .. self:apart(fill)
  return self
end

--- Its own EVENT_DESC, as perf writes it when events have names.
local function add_event_desc(b)
  local named = false
  for _, e in ipairs(b.events) do
    named = named or e.name ~= nil
  end
  if named and b.event_desc ~= false and not b.sections[features.bits.event_desc] then
    b:feature("event_desc", b.events)
  end
end

local function sorted_sections(b)
  local list = {}
  for bit, s in pairs(b.sections) do
    list[#list + 1] = { bit = bit, bytes = features.pack(b.w, s.name, s.value, b) }
  end
  table.sort(list, function(x, y) return x.bit < y.bit end)
  return list
end

local function bitmap(b, sections)
  local words, bits = {}, b.long_size * 8
  for i = 1, 256 // bits do
    words[i] = 0
  end
  for _, s in ipairs(sections) do
    words[s.bit // bits + 1] = words[s.bit // bits + 1] | 1 << s.bit % bits
  end
  return b.w:array("u" .. bits, words)
end

local function stream_bytes(b, at)
  local out = {}
  b.places = {}
  for i, r in ipairs(b.stream) do
    b.places[i] = at
    out[i] = r.bytes .. r.extra
    at = at + #out[i]
  end
  return table.concat(out), at
end

-- One attr as wide as the header says, then where its ids are.
local function attr_entries(b, stride, ids_at)
  local w, out = b.w, {}
  for i, e in ipairs(b.events) do
    out[i] = pack.chars(attr.pack(w, e), stride - 16) .. w:u64(e.ids_offset or ids_at)
      .. w:u64(e.ids_size or 8 * #e.ids)
    ids_at = ids_at + 8 * #e.ids
  end
  return table.concat(out)
end

local function ids_bytes(b)
  local out = {}
  for i, e in ipairs(b.events) do
    out[i] = b.w:array("u64", e.ids)
  end
  return table.concat(out)
end

local function feature_table(b, sections, at, wrong)
  local w, index, bodies = b.w, {}, {}
  at = at + 16 * #sections
  for i, s in ipairs(sections) do
    local lie = wrong.sections and wrong.sections[s.bit] or {}
    index[i] = w:u64(lie.offset or at) .. w:u64(lie.size or #s.bytes)
    bodies[i] = s.bytes
    at = at + #s.bytes
  end
  return table.concat(index) .. table.concat(bodies)
end

-- Version 1 does not tell its byte order.
local function magic(b)
  return b.version == 1 and "PERFFILE" or b.endian == "little" and "PERFILE2" or "2ELIFREP"
end

local function event_types(b)
  return (b.w:list(b.event_types, function(w, e) return w:fields("id:u64 name:c64", e) end,
    function() return "" end))
end

---Members of `wrong`, which may lie about: magic, header_size, attr_size, attrs, data,
---event_types
local function seekable(b, wrong)
  local w = b.w
  local stride = wrong.stride or b.attr_size + 16
  local ids, sections = ids_bytes(b), sorted_sections(b)
  local attrs = attr_entries(b, stride, HEADER)
  local types = event_types(b)
  local attrs_at = HEADER + #ids
  local types_at = attrs_at + #attrs
  local data_at = types_at + #types
  local data, data_end = stream_bytes(b, data_at)
  local function section(name, at, size)
    local lie = wrong[name] or {}
    return w:u64(lie.offset or at) .. w:u64(lie.size or size)
  end
  local header = (wrong.magic or magic(b)) .. w:u64(wrong.header_size or HEADER)
    .. w:u64(wrong.attr_size or stride)
    .. section("attrs", attrs_at, #attrs) .. section("data", data_at, #data)
    .. section("event_types", #types > 0 and types_at or 0, #types)
    .. (wrong.bitmap or bitmap(b, sections))
  local tail = wrong.no_features and "" or feature_table(b, sections, data_end, wrong)
  return header .. ids .. attrs .. types .. data .. tail
end

-- A pipe has the same as records, in perf's order (see perf_event__synthesize_for_pipe,
-- tools/perf/util/ synthetic-events.c), without what perf leaves out: build-ids and features
-- that have no bytes. offsets() is without the records of this head.
local function pipe(b)
  local own = b.stream
  b.stream = {}
  for _, e in ipairs(b.events) do
    b:record("header_attr", { event = e })
  end
  for _, e in ipairs(b.event_types) do
    b:record("event_type", { event_id = e.id, name = e.name })
  end
  local sections, tracing = sorted_sections(b), nil
  for _, s in ipairs(sections) do
    if s.bit == features.bits.tracing_data then
      tracing = s.bytes
    elseif s.bit ~= features.bits.build_id and #s.bytes > 0 then
      b:record("header_feature", { feature = s.bit, data = s.bytes })
    end
  end
  if #sections > 0 then
    -- the end mark has the number after the last one's
    b:record("header_feature", { feature = 35 })
  end
  if tracing then
    b:record("tracing_data", { data = tracing })
  end
  local head = magic(b) .. b.w:u64(16)
  head = head .. stream_bytes(b, #head)
  b.stream = own
  return head .. stream_bytes(b, #head)
end

--- The whole file as a string; wrong: see above.
function Builder:bytes(wrong)
  wrong = wrong or {}
  add_event_desc(self)
  local bytes = self.container == "pipe" and pipe(self) or seekable(self, wrong)
  return wrong.truncate and bytes:sub(1, wrong.truncate) or bytes
end

--- Where each record starts in the file.
function Builder:offsets()
  self:bytes()
  return self.places
end

--- Writes the file to a temporary path, which goes away with the run; returns the path. Of a
--- directory `data` is the file, wrong or not.
function Builder:write(wrong)
  if self.container ~= "directory" then
    return files.temporary(self:bytes(wrong))
  end
  if not self.sections[features.bits.dir_format] then
    self:feature("dir_format", 1)
  end
  local contents = { data = self:bytes(wrong) }
  for n, bytes in pairs(self.more) do
    contents["data." .. n] = bytes
  end
  return files.directory(contents)
end

return builder
