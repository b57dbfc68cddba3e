-- perf's view of a recording: parsed from perf itself, when it is installed, or from its kept
-- output.
local core = require "perflua.core"
local files = require "spec.support.files"
local perflua = require "perflua"

local oracle = {}

--- The version to compare it with: its own, or the newest that is known.
oracle.version = core.perf_version(files.output "perf --version 2>/dev/null":match "[%d.]+"
  or "")
  or core.perf_version()

--- The differences of that version: their names (core.perf_differences) → true.
oracle.does = {}
for _, difference in ipairs(core.perf_differences(oracle.version)) do
  oracle.does[difference.name] = true
end

--- Whether it loads plugins of libtraceevent.
oracle.plugins =
  files.output("ls /usr/lib/*/traceevent/plugins/*.so ~/.local/lib/traceevent/plugins/*.so "
    .. "2>/dev/null")
  ~= ""

-- perf must neither resolve with this machine's binaries nor ask anything.
local quiet = " --symfs=spec/fixtures/empty --kallsyms=/dev/null -f -i "

--- The records of `perf script -D` from an iterator over its lines: an array of {offset, size,
--- type_id, name, time} in file order; of samples also pid, tid, ip, period and addr, as the
--- text perf prints. time is perf's: 0, -1 or nil for records without one.
function oracle.parse_dump(lines)
  local list, by_offset = {}, {}
  for line in lines do
    local offset, size, type_id = line:match "^(%w+)@.* %[0x(%x+)%]: event: (%d+)$"
    if offset then
      local record = { offset = tonumber(offset), size = tonumber(size, 16),
        type_id = tonumber(type_id) }
      list[#list + 1] = record
      by_offset[record.offset] = record
    elseif line:find(": PERF_RECORD_", 1, true) then
      local time, at, name = line:match "(%-?%d+) 0x(%x+) %[0x%x+%]: PERF_RECORD_([%w_]+)"
      local record = at and by_offset[tonumber(at, 16)]
      if record then
        record.name = name:lower()
        record.time = math.tointeger(tonumber(time))
        record.pid, record.tid, record.ip, record.period, record.addr =
          line:match "SAMPLE%b(): (%-?%d+)/(%-?%d+): (%w+) period: (%d+) addr: (%w+)"
      end
    end
  end
  table.sort(list, function(a, b) return a.offset < b.offset end)
  return list
end

--- The records perf finds in the file.
function oracle.dump(path)
  return oracle.parse_dump(files.lines("perf script -D" .. quiet .. files.quote(path)
    .. " 2>/dev/null"))
end

--- The records of a kept, compressed `perf script -D`.
function oracle.expected_dump(path)
  return oracle.parse_dump(files.lines("gzip -dc " .. files.quote(path)))
end

--- `perf report --stats`: how many records by perf's name of the type, total; how many samples
--- by event.
function oracle.stats(path)
  local types, events, total, event = {}, {}, nil, nil
  for line in files.lines("perf report --stats" .. quiet .. files.quote(path)
      .. " 2>/dev/null") do
    local name, n = line:match "^%s+([%w_]+) events:%s+(%d+)"
    event = line:match "^(%S.*) stats:$" or event
    if name == "TOTAL" then
      total = tonumber(n)
    elseif name and event and event ~= "Aggregated" then
      events[event] = (events[event] or 0) + tonumber(n)
    elseif name then
      types[name:lower()] = tonumber(n)
    end
  end
  return { types = types, events = events, total = total }
end

--- The lines of `perf script -F fields`, without symbols of this machine.
function oracle.script(path, fields)
  local list = {}
  local command = "perf script --ns -F " .. fields .. quiet .. files.quote(path)
    .. " 2>/dev/null"
  for line in files.lines(command) do
    list[#list + 1] = line
  end
  return list
end

-- Returns whether perf reads a recording to its end. Where several processes record all
-- processors, the kernel now and then writes samples with the id of another process' event,
-- which the recording does not describe: perf 6.1 stops there, and says "Bad address".
local function is_read_by_perf(path)
  local _, ok = files.output(("perf script -F event -i %s 2>&1 >/dev/null"):format(path))
  return ok
end

--- Records a command with perf, quickly and without touching its build-id cache; returns the
--- path. All processors are recorded again, at most five times, until perf reads the recording
--- to its end. Raises what perf said if it cannot record: a spec that records says what it
--- needs (see needs.lua).
function oracle.record(arguments, command)
  for _ = 1, 5 do
    local path = files.temporary()
    local text, ok = files.output("perf record -q -N -m 64 --no-bpf-event -o " .. path .. " "
      .. arguments
      .. " -- " .. command .. " 2>&1 >/dev/null")
    assert(ok, text)
    if not (" " .. arguments):find " %-a " or is_read_by_perf(path) then return path end
  end
  error("perf cannot read what it records: " .. arguments)
end

-- Returns the number of records that a recording lost.
local function count_lost(path)
  local file <close> = assert(perflua.open(path))
  return file:records("lost"):sum "lost" + file:records("lost_samples"):sum "lost"
end

--- Records a command into buffers of `pages`; with larger ones, at most five times, until the
--- machine is quick enough for them. perf takes what comes after lost records for what
--- followed, and perflua does not.
function oracle.record_whole(pages, arguments, command)
  local lost
  for i = 0, 4 do
    local path = oracle.record(("-m %d %s"):format(pages << i, arguments), command)
    lost = count_lost(path)
    if lost == 0 then return path end
  end
  error(("%d records were lost, also with large buffers: %s"):format(lost, arguments))
end

--- Counts of records by type number.
function oracle.count(list)
  local counts = {}
  for _, r in ipairs(list) do
    counts[r.type_id] = (counts[r.type_id] or 0) + 1
  end
  return counts
end

return oracle
