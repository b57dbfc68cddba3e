-- built.lua NAME FILE: writes a recording that perf would hardly make.

local builder = require "spec.support.builder"
local files = require "spec.support.files"

local BASE = 0x400000

local state = 1
local function random(n)
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) % n
end

local recordings = {}

-- 80 000 samples with 32 branches each, between functions of the perflua program that runs
-- this. There are 4096 different branches; a few of them are most.
function recordings.branches(b)
  local SAMPLES, BRANCHES, DIFFERENT = 80000, 32, 4096
  local CODE, SIZE = 0x30000, 0xa0000 -- the program's code has these offsets
  local known = {}
  for i = 0, DIFFERENT - 1 do
    known[i] = { from = BASE + CODE + random(SIZE), to = BASE + CODE + random(SIZE),
      cycles = random(50), predicted = true }
  end
  local event = b:event { name = "cycles", type = 0, config = 0, ids = { 1 },
    branch_sample_type = { "any" },
    sample_type = { "identifier", "ip", "tid", "time", "period", "branch_stack" } }
  b:record("comm", { pid = 1, tid = 1, comm = "bench" }, { pid = 1, tid = 1, time = 0 })
  b:record("mmap2", { pid = 1, tid = 1, addr = BASE, len = 0x200000, pgoff = 0, prot = 5,
    filename = assert(os.getenv "PERFLUA"), misc = 2 }, { pid = 1, tid = 1, time = 0 })
  for i = 1, SAMPLES do
    local stack = {}
    for k = 1, BRANCHES do
      stack[k] = known[random(2) == 0 and random(64) or random(DIFFERENT)]
    end
    b:sample(event, { identifier = 1, ip = stack[1].to, pid = 1, tid = 1, time = 1000 * i,
      period = 10000, branch_stack = stack })
  end
end

-- 84 000 samples, each at an address of its own. Their binary is not here; one more has a path
-- of 550 characters.
function recordings.wide(b)
  local SAMPLES = 84000
  local event = b:event { name = "cycles", type = 0, config = 0,
    sample_type = { "ip", "tid", "time", "period" } }
  for i, path in ipairs { "/nowhere/short", "/nowhere/" .. ("x"):rep(541) } do
    b:record("mmap2", { pid = 1, tid = 1, addr = i * BASE, len = BASE, pgoff = 0, prot = 5,
      filename = path, misc = 2 }, { pid = 1, tid = 1, time = 0 })
  end
  for i = 1, SAMPLES do
    b:sample(event, { ip = (i == SAMPLES and 2 or 1) * BASE + 16 * i, pid = 1, tid = 1,
      time = 1000 * i, period = 1 + i % 1000 })
  end
end

-- 60 000 call chains of 126 frames, each frame at an address of its own. Their binary is not
-- here.
function recordings.deep(b)
  local SAMPLES, FRAMES = 60000, 126
  local event = b:event { name = "cycles", type = 0, config = 0,
    sample_type = { "ip", "tid", "time", "period", "callchain" } }
  b:record("mmap2", { pid = 1, tid = 1, addr = BASE, len = 1 << 40, pgoff = 0, prot = 5,
    filename = "/nowhere/binary", misc = 2 }, { pid = 1, tid = 1, time = 0 })
  for i = 1, SAMPLES do
    local chain = { -512 } -- PERF_CONTEXT_USER
    for k = 2, FRAMES + 1 do chain[k] = BASE + random(1 << 40) end
    b:sample(event, { ip = chain[2], pid = 1, tid = 1, time = 1000 * i, period = 1,
      callchain = chain })
  end
end

-- A map of generated code and a sample in it of each of 500 000 processes.
function recordings.pids(b)
  local PROCESSES = 500000
  local event = b:event { name = "cycles", type = 0, config = 0,
    sample_type = { "ip", "tid", "time", "period" } }
  for pid = 1, PROCESSES do
    b:record("mmap2", { pid = pid, tid = pid, addr = BASE, len = 0x1000, pgoff = 0, prot = 5,
      filename = "//anon", misc = 2 }, { pid = pid, tid = pid, time = 1000 * pid })
    b:sample(event, { ip = BASE + pid % 0x1000, pid = pid, tid = pid, time = 1000 * pid + 1,
      period = 1 })
  end
end

local name, path = arg[1], assert(arg[2], "where is the recording written?")
local b = builder.new()
assert(recordings[name], "no such recording")(b)
files.write(path, b:bytes())
