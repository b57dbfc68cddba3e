-- branches.lua FILE SAMPLES: writes a recording of samples with 32 branches each, between
-- functions of the perflua program that runs this. There are 4096 different branches; a few of
-- them are most.

local builder = require "spec.support.builder"
local files = require "spec.support.files"

local path, n_samples = assert(arg[1]), assert(tonumber(arg[2]))
local program = assert(os.getenv "PERFLUA")
local BASE, CODE, SIZE = 0x400000, 0x30000, 0xa0000 -- the program's code has these offsets
local BRANCHES, DIFFERENT = 32, 4096

local state = 1
local function random(n)
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) % n
end

local known = {}
for i = 0, DIFFERENT - 1 do
  known[i] = { from = BASE + CODE + random(SIZE), to = BASE + CODE + random(SIZE),
    cycles = random(50), predicted = true }
end

local b = builder.new()
local event = b:event { name = "cycles", type = 0, config = 0, ids = { 1 },
  branch_sample_type = { "any" },
  sample_type = { "identifier", "ip", "tid", "time", "period", "branch_stack" } }
b:record("comm", { pid = 1, tid = 1, comm = "bench" }, { pid = 1, tid = 1, time = 0 })
b:record("mmap2", { pid = 1, tid = 1, addr = BASE, len = 0x200000, pgoff = 0, prot = 5,
  filename = program, misc = 2 }, { pid = 1, tid = 1, time = 0 })
for i = 1, n_samples do
  local stack = {}
  for k = 1, BRANCHES do
    stack[k] = known[random(2) == 0 and random(64) or random(DIFFERENT)]
  end
  b:sample(event, { identifier = 1, ip = stack[1].to, pid = 1, tid = 1, time = 1000 * i,
    period = 10000, branch_stack = stack, misc = 2 })
end
files.write(path, b:bytes())
