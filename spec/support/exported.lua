-- Exports by perflua.export() to files that go away with the run, and recordings to export.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"

local HOSTILE <const> = "<b>\"\\;\27[2J\xff\n"
local MS <const> = 1000000

local exported = {}

---@param query perflua.Query
---@param format string
---@param options table?
---@return string # the path of the written file
---@return any ... # what perflua.export() returned
function exported.query(query, format, options)
  local out = files.temporary()
  return out, perflua.export(query, format, out, options)
end

---Exports the samples of a recording, with the symbols of spec.support.chains.
---@param path string
---@param format string
---@param options table?
---@return string
---@return any ...
function exported.samples(path, format, options)
  local file <close> = assert(perflua.open(path, chains.options()))
  return exported.query(file:samples(), format, options)
end

---Records two events of two threads: `read` called by two callers in the kernel.
---@return string # the path
function exported.recording()
  local b = builder.new()
  local sample_type = { "ip", "tid", "time", "callchain", "period", "id" }
  local clock = b:event { name = "cpu-clock", type = 1, config = 0, ids = { 1 },
    sample_type = sample_type }
  local faults = b:event { name = "page-faults", type = 1, config = 2, ids = { 2 },
    sample_type = sample_type }
  mapped.add(b, { chains.kernel })
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
  b:record("comm", { pid = 7, tid = 8, comm = HOSTILE:sub(1, 15) }, { time = 1 })
  local function sample(event, tid, time, period, ...)
    b:sample(event, { ip = chains.READ, pid = 7, tid = tid, time = time, period = period,
      misc = 1, id = event == clock and 1 or 2, callchain = { chains.KERNEL, ... } })
  end
  sample(clock, 7, 10, 100, chains.READ, chains.TWICE)
  sample(clock, 7, 11, 50, chains.READ, chains.TWICE)
  sample(clock, 7, 12, 30, chains.READ)
  sample(clock, 8, 13, 7, chains.TWICE, chains.TWICE, chains.READ)
  sample(faults, 8, 14, 3, chains.READ, chains.TWICE)
  return b:write()
end

---Records a clock and a tracepoint of two threads, `n` times a millisecond. `more` may add
---samples by its first argument, a function of a thread and a time in ms, and rename pid 7 by
---its second one, a function of a name and a time in ms.
---@param n integer
---@param more fun(sample: function, rename: function)?
---@return string # the path
function exported.timed(n, more)
  local b = builder.new()
  local sample_type = { "ip", "tid", "time", "callchain", "period", "id" }
  local clock = b:event { name = "cpu-clock", type = 1, config = 0, ids = { 1 },
    sample_type = sample_type }
  local switch = b:event { name = "sched:sched_switch", type = 2, config = 3, ids = { 2 },
    sample_type = sample_type }
  mapped.add(b, { chains.kernel })
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
  b:record("comm", { pid = 7, tid = 8, comm = "worker" }, { time = 1 })
  local function sample(event, tid, time, period, ...)
    b:sample(event, { ip = chains.READ, pid = 7, tid = tid, time = time * MS, period = period,
      misc = 1, id = event == clock and 1 or 2, callchain = { chains.KERNEL, ... } })
  end
  for i = 1, n do sample(clock, 7, i, MS // 2, chains.READ, chains.TWICE) end
  sample(clock, 8, 3, MS, chains.TWICE)
  sample(switch, 8, 4, 1, chains.READ)
  if more then
    more(function(tid, time) sample(clock, tid, time, MS, chains.TWICE) end,
      function(name, time)
        b:record("comm", { pid = 7, tid = 7, comm = name }, { time = time * MS })
      end)
  end
  return b:write()
end

--- The options of pair() for the spans of exported.spans().
exported.PAIR = { open = "begin", close = "end", key = { "tid", "ip" } }

---Records samples { event, tid, time, ip }, of the events 1 and 2.
---@param list integer[][]
---@return string # the path
function exported.spans(list)
  local b, events = builder.new(), {}
  for i, name in ipairs { "begin", "end" } do
    events[i] = b:event { name = name, ids = { i },
      sample_type = { "ip", "tid", "time", "id" } }
  end
  b:record("comm", { pid = 7, tid = 7, comm = "sh\"\xff" }, { time = 1 })
  for _, s in ipairs(list) do
    b:sample(events[s[1]], { pid = 7, tid = s[2], time = s[3], ip = s[4], id = s[1] })
  end
  return b:write()
end

return exported
