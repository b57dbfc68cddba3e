-- A tour of a recording: who used the processor, faulted and switched, who started whom, and when.
--
-- usage: perflua examples/demo.lua [perf.data]     (make demo runs it on the recording below)
--
-- $ perflua examples/demo.lua spec/fixtures/demo.perf.data
-- Who did what, by event:
--
-- # cpu-clock
-- process       count     period   share
-- sort (10673)    288  239999904  63.02%
-- gzip (10669)     65   54166645  14.22%
-- head (10668)     28   23333324   6.13%
--
-- # page-faults
-- process       count  period   share
-- find (10664)      6   14527  90.12%
-- sh (10662)       22     521   3.23%
-- head (10668)      1     436   2.70%
--
-- # context-switches
-- process       count  period   share
-- head (10668)     78     242  47.83%
-- sort (10665)     30     104  20.55%
-- awk (10674)      29      94  18.58%
--
-- Who started whom:
--
--   sh (10662)
--     find (10664)
--     sort (10665)
--     gzip (10666)
--     wc (10667)
--     head (10668)
--     gzip (10669)
--     md5sum (10670)
--     sleep (10671)
--     seq (10672)
--     sort (10673)
--     awk (10674)
--
-- Processor time, in steps of 25 ms:
--
--     0   29.2 ms  #############################
--    25   26.7 ms  ##########################
--    50   34.2 ms  ##################################
--    75   37.5 ms  #####################################
--   100    4.2 ms  ####
--   125   25.0 ms  ########################
--   150   25.0 ms  ########################
--   175   25.0 ms  ########################
--   200   25.0 ms  ########################
--   225   25.0 ms  ########################
--   250   25.0 ms  ########################
--   275   25.0 ms  ########################
--   300   25.0 ms  ########################
--   325   26.7 ms  ##########################
--   350   22.5 ms  ######################

local file <close> = assert(perflua.open(arg[1]))

-- What processes are called: the latest name of each. Nil is the time of what ran before.
local names, since = {}, {}
for record in file:records("comm"):where "pid == tid" do
  local pid, time = record.pid, record.time or 0
  if time >= (since[pid] or 0) then
    names[pid], since[pid] = record.comm, time
  end
end

local function process(pid)
  return ("%s (%d)"):format(names[pid] or "?", pid)
end

print "Who did what, by event:\n"
print(file:samples()
  :group_by { process = function(sample) return process(sample.pid) end }
  :count():sum("period"):share("period"):as("share")
  :top(3, "period"))

print "\nWho started whom:\n"
local children, parent = {}, {}
for pid, ppid in file:records("fork"):where("pid == tid"):select("pid", "ppid") do
  children[ppid] = children[ppid] or {}
  table.insert(children[ppid], pid)
  parent[pid] = ppid
end

local function show(pid, indent)
  print(indent .. process(pid))
  for _, child in ipairs(children[pid] or {}) do
    show(child, indent .. "  ")
  end
end
for pid in pairs(children) do
  if not parent[pid] then
    show(pid, "  ")
  end
end

print "\nProcessor time, in steps of 25 ms:\n"
local start = file.first_time
local steps = file:samples("cpu-clock")
  :group_by { ms = function(sample) return (sample.time - start) // 25000000 * 25 end }
  :sum("period"):sort("ms", "asc")
for row in steps:rows() do
  local ms = row.period / 1e6
  print(("%5d  %5.1f ms  %s"):format(row.ms, ms, ("#"):rep(math.floor(ms))))
end
