-- perflua script against perf script, with symbols: what is compared, as rows.lua has it.

local perflua = assert(os.getenv "PERFLUA", "start the benchmark by make bench")

local AIM = 3

local function row(add, recording, path, what, ...)
  add {
    "perflua script" .. what, "perf script", recording = recording, faster = AIM, memory = 0.25,
    ours = { perflua, "script", path, ... },
    theirs = { "perf", "script", "-i", path, ... },
  }
end

return function(add, recording, path)
  row(add, recording, path, "")
  row(add, recording, path, ", 8 fields", "-F", "comm,pid,tid,cpu,time,event,period,ip")
end
