-- A small recording of two events with a call chain, for the specs of queries. Its samples are
-- also given as plain tables, so that specs can compute what a query should say.
local assert = require "luassert"
local builder = require "spec.support.builder"

local two_events = {}

local KERNEL = 0xffffffff81000000

-- event, ip, pid, tid, time, cpu, period
local rows = {
  { "cycles:P", KERNEL + 0x10, 7, 7, 1000000000, 0, 100 },
  { "cycles:P", 0x401000, 7, 8, 1000000500, 1, 300 },
  { "faults", 0x401004, 7, 7, 1000001000, 0, 1 },
  { "cycles:P", 0x401000, 9, 9, 1000002000, 3, 200 },
  { "cycles:P", KERNEL + 0x20, 9, 9, 1500000000, 3, 400 },
  { "faults", 0x402000, 9, 9, 1900000000, 1, 2 },
  { "faults", 0x402000, -1, -1, 2000000000, 2, 7 },
}

two_events.names = { "cycles:P", "faults" }

--- The samples as tables, in the order of the file.
function two_events.samples()
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = {
      event = row[1], ip = row[2], pid = row[3], tid = row[4], time = row[5], cpu = row[6],
      period = row[7],
    }
  end
  return list
end

--- Writes the recording; returns its path. change(b) may add to the builder before it is
--- written.
function two_events.write(change)
  local b = builder.new()
  local parts = { "identifier", "ip", "tid", "time", "cpu", "period" }
  local more = table.move(parts, 1, #parts, 2, { "callchain" })
  local events = {
    ["cycles:P"] = b:event { name = "cycles:P", type = 0, config = 0, sample_type = more,
      ids = { 11 } },
    faults = b:event { name = "faults", type = 1, config = 2, sample_type = parts,
      ids = { 12 } },
  }
  b:record("comm", { pid = 7, tid = 7, comm = "sh", exec = true },
    { pid = 7, tid = 7, time = 999999999 })
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x2000, filename = "/bin/sh" })
  for _, s in ipairs(two_events.samples()) do
    local event = events[s.event]
    s.identifier, s.callchain = event.ids[1], { -512, s.ip, 0x1234 }
    b:sample(event, s)
  end
  b:record("exit", { pid = 7, ppid = 1, tid = 7, ptid = 1, time = 2000000001 },
    { pid = 7, time = 2000000001 })
  b:record("finished_round")
  if change then change(b, events) end
  return b:write()
end

--- The rows of a table.
function two_events.rows(t)
  local list = {}
  for row in t:rows() do list[#list + 1] = row end
  return list
end

--- The pids of a query's records.
function two_events.pids(query)
  local list = {}
  for _, record in ipairs(query:collect()) do list[#list + 1] = record.pid end
  return list
end

--- Asserts that fn raises a message that matches.
function two_events.raises(pattern, fn)
  local ok, message = pcall(fn)
  assert.is_false(ok)
  assert.matches(pattern, message)
end

return two_events
