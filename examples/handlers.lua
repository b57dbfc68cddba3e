-- Which commands ran, when, and for how long: a script that is a table of handlers.
--
-- usage: perflua examples/handlers.lua [perf.data]
--
-- $ perflua examples/handlers.lua spec/fixtures/demo.perf.data
-- time           pid        ran  command
-- 1718.320633   10662   365.8 ms  sh
-- 1718.322446   10664    20.7 ms  find
-- 1718.322761   10665    36.6 ms  sort
-- 1718.325012   10666    40.1 ms  gzip
-- 1718.325428   10667    39.5 ms  wc
-- 1718.365902   10669    56.0 ms  gzip
-- 1718.366489   10670    55.6 ms  md5sum
-- 1718.367297   10668    53.8 ms  head
-- 1718.422379   10671    21.1 ms  sleep
-- 1718.444454   10673   241.6 ms  sort
-- 1718.444727   10672     3.3 ms  seq
-- 1718.446757   10674   239.5 ms  awk

local runs, ended = {}, {}

return {
  meta = {
    description = "which commands ran, when, and for how long",
    needs = "any recording that follows processes, as perf record does by itself",
    record = "perf record -- make",
  },

  -- A handler may be a list of fields and a function of their values: an absent value is false.
  comm = { "pid", "time", "comm", "exec", function(pid, time, comm, exec)
    if exec then
      runs[#runs + 1] = { pid = pid, start = time or 0, comm = comm }
    end
  end },

  -- Or just a function, which gets the record.
  exit = function(record)
    if record.pid == record.tid then
      ended[record.pid] = record.time
    end
  end,

  finish = function()
    table.sort(runs, function(a, b) return a.start < b.start end)
    print("time           pid        ran  command")
    for _, run in ipairs(runs) do
      local ran = ended[run.pid] and ("%.1f ms"):format((ended[run.pid] - run.start) / 1e6)
        or "-"
      print(("%s  %6d  %9s  %s"):format(perflua.seconds(run.start), run.pid, ran, run.comm))
    end
  end,
}
