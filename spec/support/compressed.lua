-- Helpers of the specs of compressed records: records to compress, and what is delivered.
local builder = require "spec.support.builder"

local compressed = {}

--- A builder with one event.
function compressed.start(options)
  local b = builder.new(options)
  b:event { name = "cycles", sample_type = { "ip", "tid", "time" }, ids = { 7 } }
  return b
end

--- The bytes of records from..to: COMM records that are told apart by their pid.
function compressed.records(b, from, to)
  return b:apart(function()
    for i = from, to do
      b:record("comm", { pid = i, tid = i, comm = "number " .. i }, { time = i })
    end
  end)
end

---Returns the pid of each record of a file, of others the type.
function compressed.pids(file, options)
  local list = {}
  for r in file:records(options):each() do
    list[#list + 1] = r.pid or r.type
  end
  return list
end

--- The size of each of these records.
compressed.SIZE = #compressed.records(compressed.start(), 1, 1)

return compressed
