-- Shows for how long each command ran on each processor, from samples of the cpu-clock: a row
-- for each command, a column for each processor.
--
-- needs: perf record -e cpu-clock --sample-cpu …
--
-- usage: perflua examples/pivot.lua [perf.data [KEY]]     (KEY: another field, "cpumode", say)
--
-- $ perflua examples/pivot.lua spec/fixtures/switches.perf.data
-- comm     cpu=0   cpu=1
-- sort         -   218ms
-- gzip    72.5ms       -
-- md5sum       -  2.50ms

return function(file)
  local key = arg[2] or "cpu"
  return file:samples("cpu-clock"):group_by("comm", key):sum("period"):unit("duration")
    :pivot(key)
end
