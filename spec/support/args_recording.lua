-- A recording of tracepoints with arguments of all kinds: two that have fields of the same
-- names but not of the same kinds, and samples of which the raw data are cut.
local builder = require "spec.support.builder"
local tracing = require "spec.support.builder_tracing"

local args_recording = {}

local enter_fields = {
  { "long", "id" }, { "unsigned long", "args", count = 3 }, { "u8", "flags" },
  { "s8", "level" }, { "u16", "port" },
  { "short", "delta" }, { "u32", "len" }, { "int", "fd" }, { "u64", "big" }, { "s64", "small" },
  { "void *", "ptr" }, { "char", "comm", count = 16 }, { "__data_loc char[]", "name" },
  { "u64", "mixed" },
  { "u32", "fits" }, { "char", "either", count = 8 }, { "u16", "list", count = 2 },
}
local exit_fields = {
  { "long", "ret" }, { "long", "id" }, { "s64", "mixed" }, { "int", "fits" },
  { "long", "either" }, { "u32", "list" },
}

local big = math.mininteger -- without a sign 2^63

--- Makes a builder with samples of sys:enter, sys:leave and an event that is not a tracepoint.
--- options: endian, long_size, container, sample_type.
function args_recording.of(options)
  options = options or {}
  local t = tracing.new(options)
  local enter = t:event("sys", "enter", { fields = enter_fields })
  local leave = t:event("sys", "leave", { fields = exit_fields })
  local b = builder.new { endian = options.endian, container = options.container }
  local parts = options.sample_type
    or { "ip", "tid", "time", "cpu", "period", "raw", "identifier" }
  local events = {}
  for i, event in ipairs(t.events) do
    local how = { name = "sys:" .. event.name, type = 2, config = event.id, sample_type = parts,
      ids = { 100 + i } }
    events[i] = b:event(how)
  end
  b:feature("tracing_data", t:bytes())
  local other = b:event { name = "cycles", sample_type = parts, ids = { 7 } }
  local function add(event, i, raw)
    b:sample(event, { time = 10 * i, pid = i % 3, tid = i % 3, cpu = 0, period = 1, ip = i,
      callchain = { i, i + 1 },
      identifier = event.ids[1], raw = raw })
  end
  for i = 1, 24 do
    local sign = i % 2 == 0 and -1 or 1
    add(events[1], 3 * i, t:raw(enter, {
      id = i % 7 - 1, args = { i, big + i, i * i }, flags = 200 + i % 5, level = sign * i,
      port = 65000 + i,
      delta = sign * i, len = 0xffffff00 + i, fd = sign * i, big = big + i % 4,
      small = sign * i, ptr = big | i,
      comm = "thread" .. i % 4, name = ("n"):rep(i % 5), mixed = big + i, fits = 0xffffffff,
      either = "e" .. i,
      list = { i, i + 1 },
    }))
    add(events[2], 3 * i + 1, t:raw(leave, {
      ret = i % 3 == 0 and -2 or i, id = i % 7 - 1, mixed = -i, fits = -1, either = i, list = i,
    }))
    add(other, 3 * i + 2, "12345678")
  end
  -- as the kernel cuts and fills up: what follows the size ends at a multiple of 8
  for cut = 4, enter.size, 8 do
    add(events[1], 300 + cut, t:raw(enter, { id = 5, fd = -3, comm = "cut" }):sub(1, cut))
  end
  return b
end

return args_recording
