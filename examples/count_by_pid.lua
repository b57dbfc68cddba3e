-- Samples and processor time of each process, counted in a plain Lua table.
--
-- usage: perflua examples/count_by_pid.lua [perf.data]
--
-- $ perflua examples/count_by_pid.lua spec/fixtures/demo.perf.data
--   pid  samples       ms
-- 10673      288    240.0
-- 10669       65     54.2
-- 10668       28     23.3
-- 10666       25     20.8
-- 10664       23     19.2
-- 10674       11      9.2
-- 10665        6      5.0
-- 10662        4      3.3
-- 10672        3      2.5
-- 10667        2      1.7
-- 10670        1      0.8
-- 10671        1      0.8

local file <close> = assert(perflua.open(arg[1]))

-- select() hands over the values themselves: the fastest way through a file.
local samples, time = {}, {}
for pid, period in file:samples("cpu-clock"):select("pid", "period") do
  samples[pid] = (samples[pid] or 0) + 1
  time[pid] = (time[pid] or 0) + period
end

local pids = {}
for pid in pairs(samples) do
  pids[#pids + 1] = pid
end
table.sort(pids, function(a, b)
  return time[a] > time[b] or time[a] == time[b] and a < b
end)
print("  pid  samples       ms")
for _, pid in ipairs(pids) do
  print(("%5d  %7d  %7.1f"):format(pid, samples[pid], time[pid] / 1e6))
end
