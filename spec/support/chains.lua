-- Recordings of call chains in a kernel and in programs, whose samples are written one by one.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"

local chains = {
  KERNEL = -128, USER = -512,
  READ = 0xffffffff81000104, TWICE = 0xffffffff81000204, OTHER = 0xffffffff81000304,
  kernel = "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 [kernel.kallsyms]_text",
  -- Two functions of one name, one whose name would part frames, one with a name that no text
  -- shows as it is.
  KALLSYMS = [[
ffffffff81000000 T _text
ffffffff81000100 T read
ffffffff81000200 T twice
ffffffff81000300 t twice
ffffffff81000400 T part;ing
ffffffff81000500 T part:ing
ffffffff81001000 T _end
]],
}

---@return table options for perflua.open: symbols of this kernel, and of no program
function chains.options()
  return { symfs = "spec/fixtures/empty", kallsyms = files.temporary(chains.KALLSYMS) }
end

---Begins a recording with maps as spec.support.mapped takes them.
---@param lines string[]
---@return table b the builder
---@return fun(time: integer, pid: integer, chain: integer[], ip: integer?) sample adds one,
--- whose period is its time
function chains.recording(lines)
  local b = builder.new()
  local event = b:event {
    name = "cpu-clock", type = 1, sample_type = { "ip", "tid", "time", "callchain", "period" },
    ids = { 7 }, use_clockid = true, clockid = 1,
  }
  mapped.add(b, lines)
  return b, function(time, pid, chain, ip)
    local mode = chain[1] == chains.KERNEL and 1 or 2
    b:sample(event, {
      ip = ip or chain[2] or 0x1000, pid = pid, tid = pid, time = time, period = time,
      misc = mode, callchain = chain,
    })
  end
end

---Returns a chain of `n` addresses of one program.
---@param n integer
---@param leaf integer?
---@return integer[]
function chains.of(n, leaf)
  local list = { chains.USER, leaf or 0x1010 }
  for i = 2, n do list[#list + 1] = 0x1000 + 0x20 * i end
  return list
end

---Returns a recording, as recording() does, of chains of `n` frames in processes that map
---binaries and fork, not in the order of their times.
---@param n integer
---@return table b, function sample
function chains.of_processes(n)
  local b, sample = chains.recording { chains.kernel, "- map 7 1000-3000 /bin/old",
    "- map 9 1000-3000 /bin/nine" }
  for i = 1, 3 do sample(i, 7, chains.of(n)) end
  mapped.add(b, { "10 map 7 1000-2000 /bin/new", "20 fork 8 from 7",
    "30 map 7 1000-2000 /bin/newest" })
  for _, time in ipairs { 40, 11, 25, 41, 9, 12 } do
    for pid = 7, 10 do sample(time, pid, chains.of(n)) end
  end
  return b, sample
end

return chains
