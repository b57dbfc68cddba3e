-- Names the thread that ran on a processor at a time, which is given in seconds as perf script
-- prints it, or since the start.
--
-- needs: perf record -a --switch-events … or perf sched record
--
-- usage: perflua examples/who_ran.lua perf.data CPU TIME…     (TIME: 8590.143543, or +20ms)
--
-- $ perflua examples/who_ran.lua spec/fixtures/switches.perf.data 1 +4ms +10ms 36479.405001
-- 36479.314856  cpu 1  md5sum (21840)
-- 36479.320856  cpu 1  not recorded
-- 36479.405001  cpu 1  sort (21845)
-- 36480.754112  cpu 1  sort: its last sample

local path, cpu = arg[1], math.tointeger(tonumber(arg[2]))
if not cpu or #arg < 3 then
  error("usage: perflua examples/who_ran.lua perf.data CPU TIME…", 0)
end
local file <close> = assert(perflua.open(path))

-- "8590.143543" or "+20ms" in ns.
local function nanoseconds(text)
  local ms = tonumber(text:match "^%+(.+)ms$")
  if ms then return file.first_time + math.floor(ms * 1e6 + 0.5) end
  return math.floor((tonumber(text) or error(text .. " is not a time", 0)) * 1e9 + 0.5)
end

for i = 3, #arg do
  local time = nanoseconds(arg[i])
  local thread = file:running(cpu, time)
  local who = thread and ("%s (%d)"):format(thread.comm, thread.tid) or "not recorded"
  print(("%s  cpu %d  %s"):format(perflua.seconds(time), cpu, who))
end

local last = file:samples():where(("cpu == %d"):format(cpu)):last()
if last then
  print(("%s  cpu %d  %s: its last sample"):format(perflua.seconds(last.time), cpu, last.comm))
end
