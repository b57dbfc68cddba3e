-- A recording that is worth several threads: samples of two events, of threads whose names
-- change, out of order here and there.
local builder = require "spec.support.builder"

local many_records = {}

local SAMPLES, ROUND = 4000, 500
local REPEATED = 5

local function random_from(seed)
  return function(n)
    seed = seed * 6364136223846793005 + 1442695040888963407
    return (seed >> 33) % n
  end
end

local function sample(b, event, i, random)
  local pid, frames = 7 + random(3), { -512 & -1 }
  for level = 1, 1 + random(4) do frames[level + 1] = 0x400000 + 64 * random(12) end
  b:sample(event, {
    ip = frames[2], pid = pid, tid = pid + random(2), time = 1000 + 10 * i + random(40),
    cpu = random(4),
    id = event.ids[1], period = random(10) == 0 and random(1 << 40) or 1 + random(8),
    addr = random(2) == 0 and -random(1 << 20) or random(64), callchain = frames,
    weight = random(1 << 30),
    misc = 2,
  })
end

--- Writes it, with a first event of a type and config; gives its path.
function many_records.write(type, config)
  local b, random = builder.new(), random_from(20240611)
  local parts = { "ip", "tid", "time", "addr", "id", "cpu", "period", "callchain", "weight" }
  local events = {
    b:event { name = "cycles", type = type, config = config, sample_type = parts },
    b:event { name = "faults", sample_type = parts } }
  for pid = 7, 10 do
    b:record("comm", { pid = pid, tid = pid, comm = "task" .. pid % 3 }, { time = 1 })
    b:record("mmap2", { pid = pid, tid = pid, addr = 0x400000, len = 0x1000, prot = 5,
      filename = "/bin/a" .. pid % 2 },
      { time = 2 })
  end
  local bytes = b:apart(function(own)
    for i = 1, SAMPLES do
      if i % ROUND == 0 then
        own:record("comm", { pid = 8, tid = 8, comm = "named" .. i % 7 },
          { time = 1000 + 10 * i, event = events[1] })
      end
      sample(own, events[1 + random(2)], i, random)
    end
  end)
  for _ = 1, REPEATED do b.stream[#b.stream + 1] = { bytes = bytes, extra = "" } end
  return b:write()
end

return many_records
