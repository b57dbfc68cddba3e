-- Exports by perflua.export() to files that go away with the run.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"

local HOSTILE <const> = "<b>\"\\;\27[2J\xff\n"

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

return exported
