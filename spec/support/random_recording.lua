-- Small random recordings, from a seed: samples of three events and of a tracepoint, names of
-- threads, switches and lost records, on a few threads and cpus, so that queries over them find
-- groups and spans.
local builder = require "spec.support.builder"
local tracing = require "spec.support.builder_tracing"

local random_recording = {}

local values = {
  0, 1, 2, 3, 5, 63, 64, 127, 128, 1000, 0xffffffff, 0x100000000, 1 << 53, (1 << 53) + 1,
  1 << 62, math.maxinteger,
  math.mininteger, -1, -2, 0xdeadbeefcafe,
}
local names = { "a", "b", "", "swapper", "kworker/u8:2-ev", "sam\u{e9}", "15 bytes and no" }
local texts = { "x", "yy", "", "long enough for more" }

--- Numbers from 0 to n - 1, the same for the same seed.
function random_recording.random_from(seed)
  local state = seed * 2862933555777941757 + 3037000493
  return function(n)
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 33) % n
  end
end

local function add_sample(b, event, random, pick, parts)
  parts.identifier, parts.ip = event.ids[1], pick(values)
  parts.addr, parts.stream_id, parts.period = pick(values), pick(values), random(5)
  parts.callchain = { -512, pick { 1, 2 }, random(4) }
  parts.branch_stack = {}
  for i = 1, random(4) do
    parts.branch_stack[i] = { from = pick(values), to = pick(values), flags = random(64) }
  end
  b:sample(event, parts)
end

--- Writes the recording of a seed; returns its path.
function random_recording.write(seed)
  local random = random_recording.random_from(seed)
  local function pick(list) return list[1 + random(#list)] end
  local endian = random(8) == 0 and "big" or "little"
  local t = tracing.new { endian = endian }
  local point = t:event("sys", "point", { fields = {
    { "int", "fd" }, { "u64", "big" }, { "char", "text", count = 24 },
    { "u16", "list", count = 2 },
  } })
  local b = builder.new { endian = endian }
  local parts = { "identifier", "ip", "tid", "time", "cpu" }
  local more = table.move({ "addr", "stream_id", "period", "callchain", "branch_stack" }, 1, 5,
    #parts + 1,
    { table.unpack(parts) })
  local raw = table.move({ "raw" }, 1, 1, #parts + 1, { table.unpack(parts) })
  local traced = b:event { name = "sys:point", type = 2, config = point.id, sample_type = raw,
    ids = { 4 } }
  b:feature("tracing_data", t:bytes())
  local events = {
    b:event { name = "open", type = 1, config = 1, sample_type = more, ids = { 1 } },
    b:event { name = "close", type = 1, config = 2, sample_type = more, ids = { 2 } },
    b:event { name = "tick", type = 1, config = 3, sample_type = parts, ids = { 3 },
      sample_period = 10 },
  }
  local cpus, threads, time = 1 + random(3), 1 + random(4), 1000
  for _ = 1, 30 + random(90) do
    time = time + random(20)
    local at = random(15) == 0 and time - random(200) or time
    local common = { pid = 1, tid = random(threads), time = at, cpu = random(cpus),
      event = pick(events) }
    local kind = random(40)
    if kind < 3 then
      b:record("comm", { pid = 1, tid = common.tid, comm = pick(names) }, common)
    elseif kind < 5 then
      b:record("switch", { out = random(2) == 1 }, common)
    elseif kind == 5 then
      b:record("lost", { id = 1, lost = random(9) }, random(3) > 0 and common or nil)
    elseif kind < 10 then
      common.identifier = 4
      common.raw = t:raw(point, { fd = random(5) - 2, big = pick(values), text = pick(texts),
        list = { 1, random(3) } })
      if random(6) == 0 then common.raw = common.raw:sub(1, 4 + 8 * random(5)) end
      b:sample(traced, common)
    else
      add_sample(b, common.event, random, pick, common)
    end
  end
  return b:write()
end

return random_recording
