-- The names of samples as perf script prints them, beside ours.
local files = require "spec.support.files"
local lines = require "spec.script.lines"
local oracle = require "spec.support.oracle"

local names = {}

-- "comm tid sec.ns:" of a sample; anything else in a line was not asked for, or does not
-- belong to a sample.
local LINE = "^%s*(.-)%s+(%-?%d+)%s+(%d+)%.(%d%d%d%d%d%d%d%d%d):%s*$"
local WITHOUT_TIME = "^%s*(.-)%s+(%-?%d+)%s*$"

--- "time tid comm" of each sample perf prints of a recording, or "tid comm" without times.
function names.of_perf(path, without_time)
  local list = {}
  for _, line in ipairs(oracle.script(path, without_time and "comm,tid" or "comm,tid,time")) do
    local comm, tid, sec, ns = line:match(without_time and WITHOUT_TIME or LINE)
    if comm then
      list[#list + 1] = (without_time and "" or math.tointeger(tonumber(sec .. ns)) .. " ")
        .. tid .. " " .. comm
    end
  end
  return list
end

--- Returns these lines of our samples, and which of them are of a thread that had ended; order:
--- of the query.
function names.of_file(file, order)
  local list, ended = {}, {}
  for tid, comm, time in file:samples({ order = order }):select("tid", "comm", "time"):each() do
    -- perf's columns have no ends of their own
    local line = ("%d %d %s"):format(time, tid, comm:match "^%s*(.-)%s*$")
    list[#list + 1] = line
    if oracle.does.forgets_exited then
      -- perf goes by when the record of the end was written
      local exit = (file:thread(tid, time) or {}).exit
      ended[line] = exit and exit < time + 1000000
        or tid == 0 -- in a container, any process outside that ended
    end
  end
  return list, ended
end

--- Returns "tid comm" of each sample of a recording without times, as perflua script has them.
function names.of_script(path)
  local list = {}
  for _, line in ipairs((lines.of_ours(path, "-G -F comm,tid"))) do
    local comm, tid = line:match(WITHOUT_TIME)
    list[#list + 1] = tid .. " " .. comm
  end
  return list
end

-- "5 3 name" → "5 3 :3"
local function unnamed(line)
  return line and line:gsub("^(%d+ (%-?%d+)) .*$", "%1 :%2")
end

--- Returns {["tid comm"] = true} of the names that perf itself recorded at the end, which have
--- no time.
function names.untimed(file)
  local found = {}
  for r in file:records { type = "comm", order = "file" } do
    if not r.time then found[("%d %s"):format(r.tid, r.comm)] = true end
  end
  return found
end

--- Raises if two lists differ in more than the order of records of the same time. perf has no
--- name of those of ours that are in `ended`. With `untimed` names at the end of a recording it
--- has no name before, or that one in the last round, as it takes records without a time when
--- it reads them.
function names.same(theirs, ours, ended, untimed)
  table.sort(theirs)
  table.sort(ours)
  for i = 1, math.max(#theirs, #ours) do
    local may_lack = untimed or ended and ended[ours[i]]
    local is_late = untimed and theirs[i] and untimed[theirs[i]:match "^%d+ (.*)$"]
    if theirs[i] ~= ours[i] and not is_late
        and not (may_lack and theirs[i] == unnamed(ours[i])) then
      error(("%d and %d samples; perf has %s, we %s"):format(#theirs, #ours, theirs[i],
        ours[i]), 2)
    end
  end
end

local function by_moment(list, ended)
  local found = {}
  for _, line in ipairs(list) do
    local moment = line:match "^%d+ %-?%d+"
    found[moment] = found[moment] or {}
    found[moment][line] = true
    if ended and ended[line] then found[moment][unnamed(line)] = true end
  end
  return found
end

--- Raises if a thread has another name at a time that both lists have; returns how many such
--- times there are. perf makes more samples of a group's counters and of traces, and drops
--- those of guests. `ended` as in names.same.
function names.agree(theirs, ours, ended)
  local other, n = by_moment(theirs), 0
  for moment, found in pairs(by_moment(ours, ended)) do
    for line in pairs(other[moment] or {}) do
      if not found[line] then
        error(("perf has %s, we %s"):format(line, next(found)), 2)
      end
    end
    n = n + (other[moment] and 1 or 0)
  end
  return n
end

--- Records with perf; returns the path, raises with what it said. `work` is a shell script.
function names.record(options, work)
  local path = files.temporary()
  local text, ok = files.output("perf record -q -N -m 64 --no-bpf-event " .. options .. " -o "
    .. path .. " -- sh -c "
    .. files.quote(work) .. " 2>&1 >/dev/null")
  assert(ok, text)
  return path
end

return names
