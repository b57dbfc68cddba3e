-- A tour of a recording: who used the processor, faulted and switched, who started whom, and
-- when.
--
-- usage: perflua examples/demo.lua [perf.data]     (make demo runs it on the recording below)
--
-- $ perflua examples/demo.lua spec/fixtures/demo.perf.data
-- Who did what, by event:
--
-- # cpu-clock
-- comm    pid  count     period   share
-- sort  10673    288  239999904  63.02%
-- gzip  10669     65   54166645  14.22%
-- head  10668     28   23333324   6.13%
--
-- # page-faults
-- comm    pid  count  period   share
-- find  10664      1   14381  89.21%
-- sh    10662     22     521   3.23%
-- sh    10668      1     436   2.70%
--
-- # context-switches
-- comm    pid  count  period   share
-- head  10668     77     241  47.63%
-- sort  10665     30     104  20.55%
-- awk   10674     28      93  18.38%
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

print "Who did what, by event:\n"
print(file:samples()
  :group_by("comm", "pid")
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
  local thread = file:thread(pid) -- as it was last
  print(("%s%s (%d)"):format(indent, thread and thread.comm or "?", pid))
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
