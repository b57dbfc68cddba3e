-- The names of samples as perf script prints them, beside ours.
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"

local names = {}

-- "comm tid sec.ns:" of a sample; what else there is in a line is not asked for, or is no sample's.
local LINE = "^%s*(.-)%s+(%-?%d+)%s+(%d+)%.(%d%d%d%d%d%d%d%d%d):%s*$"
local WITHOUT_TIME = "^%s*(.-)%s+(%-?%d+)%s*$"

--- "time tid comm" of each sample perf prints of a recording, or "tid comm" without times.
function names.of_perf(path, without_time)
  local list = {}
  for _, line in ipairs(oracle.script(path, without_time and "comm,tid" or "comm,tid,time")) do
    local comm, tid, sec, ns = line:match(without_time and WITHOUT_TIME or LINE)
    if comm then
      list[#list + 1] = (without_time and "" or math.tointeger(tonumber(sec .. ns)) .. " ") .. tid .. " " .. comm
    end
  end
  return list
end

--- The same of ours; order: of the query.
function names.of_file(file, without_time, order)
  local list, fields = {}, { "tid", "comm", not without_time and "time" or nil }
  for tid, comm, time in file:samples({ order = order }):select(table.unpack(fields)):each() do
    -- perf's columns have no ends of their own
    comm = comm and comm:match "^%s*(.-)%s*$"
    list[#list + 1] = (time and time .. " " or "") .. tid .. " " .. tostring(comm)
  end
  return list
end

local function unnamed(line)
  return line and line:gsub("(%d+) [^ ]+$", "%1 :%1")
end

--- Raises if two lists differ in more than the order of what is of the same time; `more`: or where perf has no name.
function names.same(theirs, ours, more)
  table.sort(theirs)
  table.sort(ours)
  for i = 1, math.max(#theirs, #ours) do
    if theirs[i] ~= ours[i] and not (more and theirs[i] == unnamed(ours[i])) then
      error(("%d and %d samples; perf has %s, we %s"):format(#theirs, #ours, theirs[i], ours[i]), 2)
    end
  end
end

local function by_moment(list)
  local found = {}
  for _, line in ipairs(list) do
    local moment = line:match "^%d+ %-?%d+"
    found[moment] = found[moment] or {}
    found[moment][line] = true
  end
  return found
end

--- Raises if a thread has another name at a time that both lists have; returns how many such times there are. perf
--- makes more samples of a group's counters and of traces, and drops those of guests.
function names.agree(theirs, ours)
  local other, n = by_moment(theirs), 0
  for moment, lines in pairs(by_moment(ours)) do
    for line in pairs(other[moment] or {}) do
      if not lines[line] then
        error(("perf has %s, we %s"):format(line, next(lines)), 2)
      end
    end
    n = n + (other[moment] and 1 or 0)
  end
  return n
end

--- Records with perf; returns the path, raises with what it said. `work` is a shell script.
function names.record(options, work)
  local path = files.temporary()
  local text, ok = files.output("perf record -q -N -m 64 --no-bpf-event " .. options .. " -o " .. path .. " -- sh -c "
    .. files.quote(work) .. " 2>&1 >/dev/null")
  assert(ok, text)
  return path
end

return names
